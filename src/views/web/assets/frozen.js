// The games of a page without a server: their list, and their way into the viewer.

const WORDS = { black: "1–0", white: "0–1", draw: "½", none: "–" };
const resultOf = (game) => (game.end.counts ? game.end.result : "none");
const uncounted = (game) => (game.end.counts || game.end.result === "none" ? "" : say(", not counted", "（無効）"));
const pliesOf = (count) => say(`${count} plies`, `${count} 手`);

// The games, from gzip in base64: a line for a game, and one for its moves, which are parsed when they are shown.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const lines = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const games = lines.split("\n");
  return games.flatMap((line, at) => (at % 2 || !line ? [] : [{ ...JSON.parse(line), packed: games[at + 1] }]));
}

// The list.

const PAGE = 50;
const list = { all: [], games: [], shown: 0 };
const ending = (game) => causeWords(game.end.cause) + (game.end.counts ? "" : say(", not counted", "（無効）"));

function searchable(game) {
  const result = { draw: say("drawn", "引き分け"), black: say("black wins", "先手の勝ち"), white: say("white wins", "後手の勝ち") }[resultOf(game)] ?? say("not counted", "無効");
  return `#${game.number} ${game.names.join(" ")} ${ending(game)} ${result} ${game.end.reason ?? ""}`.toLowerCase();
}

function listGames() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const orders = {
    new: (a, b) => b.number - a.number,
    old: (a, b) => a.number - b.number,
    long: (a, b) => b.end.plies - a.end.plies,
    short: (a, b) => a.end.plies - b.end.plies,
  };
  list.games = list.all.filter((game) => words.every((word) => game.searched.includes(word)));
  list.games.sort(orders[byId("sort").value]);
  list.shown = 0;
  byId("list").replaceChildren();
  byId("count").textContent = say(`${list.games.length} games`, `${list.games.length} 局`);
  more();
}

function more() {
  const items = document.createDocumentFragment();
  for (const game of list.games.slice(list.shown, list.shown + PAGE)) {
    const button = put(put(items, "li"), "button"), [black, white] = game.names, result = resultOf(game);
    button.type = "button";
    put(button, "span", "number", `#${game.number}`);
    put(button, "span", result === "black" ? "black won" : "black", `☗ ${black}`);
    put(button, "span", "result", WORDS[result]);
    put(button, "span", result === "white" ? "white won" : "white", `☖ ${white}`);
    put(button, "span", "ending", ending(game)).title = game.end.reason ?? "";
    put(button, "span", "plies", pliesOf(game.end.plies));
    button.addEventListener("click", () => { location.hash = `game-${game.number}`; });
  }
  byId("list").append(items);
  list.shown += PAGE;
  byId("more").hidden = list.shown >= list.games.length;
}

// Into the viewer and out of it.

function openGame(number, ply) {
  const shown = list.all.find((game) => game.number === number);
  if (!shown) {
    const there = state.elsewhere.find(([first, last]) => first <= number && number <= last);
    if (there) location.href = `./${encodeURIComponent(there[2])}${location.hash}`;
    return;
  }
  const game = readGame({ ...shown, moves: JSON.parse(shown.packed) }, true);
  const timed = game.plies.some((ply) => ply.time), lines = game.plies.some((ply) => ply.line.length);
  if (!timed) game.plies.forEach((ply) => { ply.time = null; });
  const title = `#${number} ☗ ${game.names[0]} – ☖ ${game.names[1]}`;
  const result = `${endWords(game)}${uncounted(game)}, ${pliesOf(game.end.plies)}${game.end.reason ? `: ${game.end.reason}` : ""}`;
  if (!byId("viewer").open) byId("viewer").showModal();
  byId("board").focus({ preventScroll: true });
  openView({ ...game, shown, timed, lines, title, result }, ply);
}

view.neighbour = (by) => {
  const game = list.games[list.games.indexOf(view.open.shown) + by] ?? view.open.shown;
  location.hash = `game-${game.number}`;
};
view.close = () => byId("viewer").close();

byId("viewer").addEventListener("close", () => {
  stop();
  if (location.hash.startsWith("#game-")) history.replaceState(null, "", "#games");
});

function followHash() {
  const game = location.hash.match(/^#game-(\d+)(?:-(\d+))?$/);
  if (game) openGame(Number(game[1]), Number(game[2] ?? 0));
  else if (byId("viewer").open) byId("viewer").close();
}

// A click beside the dialog closes it.
byId("viewer").addEventListener("click", (event) => {
  const box = byId("viewer").getBoundingClientRect();
  const beside = event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom;
  if (event.target === byId("viewer") && beside) byId("viewer").close();
});

async function begin() {
  if (!byId("filter")) return;
  if (!globalThis.DecompressionStream) {
    byId("count").textContent = say("this browser is too old to unpack the games", "このブラウザは古く、棋譜を展開できません");
    return;
  }
  list.all = await unpack(state.games);
  list.all.forEach((game) => { game.searched = searchable(game); });
  addEventListener("hashchange", followHash);
  byId("filter").addEventListener("input", listGames);
  byId("filter").form.addEventListener("submit", (event) => event.preventDefault());
  byId("sort").addEventListener("change", listGames);
  byId("more").addEventListener("click", more);
  listGames();
  followHash();
}
begin();

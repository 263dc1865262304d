// The list of games, and their way into the viewer.

const WORDS = { "-1": "–", 0: "½", 1: "1–0", 2: "0–1" };
const ending = (game) => data.causes[game.cause] + (game.result < 0 ? say(", not counted", "（無効）") : "");
const named = (game) => game.players.map((player) => data.players[player]);
const plies = (game) => (game.moves.length - (game.moves.match(/\+/g)?.length ?? 0)) / 2;
const pliesOf = (count) => say(`${count} plies`, `${count} 手`);

// The list.

const PAGE = 50;
const list = { games: [], shown: 0 };
const searched = games.map((game) => {
  const result = [say("drawn", "引き分け"), say("black wins", "先手の勝ち"), say("white wins", "後手の勝ち")][game.result] ?? say("not counted", "無効");
  return `#${game.number} ${named(game).join(" ")} ${ending(game)} ${result} ${game.why}`.toLowerCase();
});

function listGames() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const orders = {
    new: (a, b) => b.number - a.number,
    old: (a, b) => a.number - b.number,
    long: (a, b) => b.moves.length - a.moves.length,
    short: (a, b) => a.moves.length - b.moves.length,
  };
  list.games = games.filter((_, at) => words.every((word) => searched[at].includes(word)));
  list.games.sort(orders[byId("sort").value]);
  list.shown = 0;
  byId("list").replaceChildren();
  byId("count").textContent = say(`${list.games.length} games`, `${list.games.length} 局`);
  more();
}

function more() {
  const items = document.createDocumentFragment();
  for (const game of list.games.slice(list.shown, list.shown + PAGE)) {
    const button = put(put(items, "li"), "button"), [black, white] = named(game);
    button.type = "button";
    put(button, "span", "number", `#${game.number}`);
    put(button, "span", game.result === 1 ? "black won" : "black", `☗ ${black}`);
    put(button, "span", "result", WORDS[game.result]);
    put(button, "span", game.result === 2 ? "white won" : "white", `☖ ${white}`);
    put(button, "span", "ending", ending(game)).title = game.why;
    put(button, "span", "plies", pliesOf(plies(game)));
    button.addEventListener("click", () => { location.hash = `game-${game.number}`; });
  }
  byId("list").append(items);
  list.shown += PAGE;
  byId("more").hidden = list.shown >= list.games.length;
}

// Into the viewer and out of it.

function openGame(number, ply) {
  const game = games.find((game) => game.number === number);
  if (!game) {
    const there = data.elsewhere.find(([first, last]) => first <= number && number <= last);
    if (there) location.href = `./${encodeURIComponent(there[2])}${location.hash}`;
    return;
  }
  const open = unpack(game);
  const names = named(game);
  const title = `#${number} ☗ ${names[0]} – ☖ ${names[1]}`;
  const winner = names[game.result - 1];
  const won = winner !== undefined ? say(`${winner} won by `, `${winner} の勝ち: `) : game.result === 0 ? say("drawn by ", "引き分け: ") : "";
  const result = `${won}${ending(game)}, ${pliesOf(open.plies.length)}${game.why && `: ${game.why}`}`;
  if (!byId("viewer").open) byId("viewer").showModal();
  byId("board").focus({ preventScroll: true });
  const own = game.players.map((player) => data.scales[player]);
  const scales = own.some((scale) => scale !== null) ? own.map((scale) => scale ?? 1) : null;
  openView({ ...open, names, scales, title, result }, ply);
}

view.neighbour = (by) => {
  const at = list.games.indexOf(view.open.game);
  const game = list.games[at + by] ?? view.open.game;
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
addEventListener("hashchange", followHash);
if (byId("filter")) {
  byId("filter").addEventListener("input", listGames);
  byId("filter").form.addEventListener("submit", (event) => event.preventDefault());
  byId("sort").addEventListener("change", listGames);
  byId("more").addEventListener("click", more);
  listGames();
  followHash();
}

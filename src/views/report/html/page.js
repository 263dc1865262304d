// The list of games, and their way into the viewer.

const WORDS = { "-1": "–", 0: "½", 1: "1–0", 2: "0–1" };
const ending = (game) => (game[RESULT] < 0 ? `${data.causes[game[CAUSE]]}, not counted` : data.causes[game[CAUSE]]);
const plies = (game) => (game[MOVES].length - (game[MOVES].match(/\+/g)?.length ?? 0)) / 2;

// The list.

const PAGE = 50;
const list = { games: [], shown: 0 };
const searched = data.games.map((game) => {
  const result = ["drawn", "black wins", "white wins"][game[RESULT]] ?? "not counted";
  return `#${game[NUMBER]} ${data.players[game[BLACK]]} ${data.players[game[WHITE]]} ${ending(game)} ${result} ${game[WHY]}`.toLowerCase();
});

function listGames() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const orders = {
    new: (a, b) => b[NUMBER] - a[NUMBER],
    old: (a, b) => a[NUMBER] - b[NUMBER],
    long: (a, b) => b[MOVES].length - a[MOVES].length,
    short: (a, b) => a[MOVES].length - b[MOVES].length,
  };
  list.games = data.games.filter((_, at) => words.every((word) => searched[at].includes(word)));
  list.games.sort(orders[byId("sort").value]);
  list.shown = 0;
  byId("list").replaceChildren();
  byId("count").textContent = `${list.games.length} games`;
  more();
}

function more() {
  const items = document.createDocumentFragment();
  for (const game of list.games.slice(list.shown, list.shown + PAGE)) {
    const button = put(put(items, "li"), "button");
    button.type = "button";
    put(button, "span", "number", `#${game[NUMBER]}`);
    put(button, "span", game[RESULT] === 1 ? "black won" : "black", `☗ ${data.players[game[BLACK]]}`);
    put(button, "span", "result", WORDS[game[RESULT]]);
    put(button, "span", game[RESULT] === 2 ? "white won" : "white", `☖ ${data.players[game[WHITE]]}`);
    put(button, "span", "ending", ending(game)).title = game[WHY];
    put(button, "span", "plies", `${plies(game)} plies`);
    button.addEventListener("click", () => { location.hash = `game-${game[NUMBER]}`; });
  }
  byId("list").append(items);
  list.shown += PAGE;
  byId("more").hidden = list.shown >= list.games.length;
}

// Into the viewer and out of it.

function openGame(number, ply) {
  const game = data.games.find((game) => game[NUMBER] === number);
  if (!game) {
    const there = data.elsewhere.find(([first, last]) => first <= number && number <= last);
    if (there) location.href = `./${encodeURIComponent(there[2])}${location.hash}`;
    return;
  }
  const open = unpack(game);
  const names = [BLACK, WHITE].map((side) => data.players[game[side]]);
  const title = `#${number} ☗ ${names[0]} – ☖ ${names[1]}`;
  const won = game[RESULT] > 0 ? `${names[game[RESULT] - 1]} won by ` : game[RESULT] === 0 ? "drawn by " : "";
  const result = `${won}${ending(game)}, ${open.plies.length} plies${game[WHY] && `: ${game[WHY]}`}`;
  if (!byId("viewer").open) byId("viewer").showModal();
  byId("board").focus({ preventScroll: true });
  const own = [BLACK, WHITE].map((side) => data.scales[game[side]]);
  const scales = own.some((scale) => scale !== null) ? own.map((scale) => scale ?? 1) : null;
  openView({ ...open, names, scales, title, result, timed: Boolean(game[TIMES]), lines: Boolean(game[LINES]) }, ply);
}

view.neighbour = (by) => {
  const at = list.games.indexOf(view.open.game);
  const game = list.games[at + by] ?? view.open.game;
  location.hash = `game-${game[NUMBER]}`;
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

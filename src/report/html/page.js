// The list of games, and the viewer: keys, touch and the graph of evaluations.

const byId = (id) => document.getElementById(id);

function put(parent, name, className, words) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (words !== undefined) element.textContent = words;
  parent?.append(element);
  return element;
}

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

// The viewer.

const view = { open: null, ply: 0, flipped: false, letters: false, timer: null };

function openGame(number) {
  const game = data.games.find((game) => game[NUMBER] === number);
  if (!game) return;
  stop();
  view.open = unpack(game);
  view.ply = 0;
  const names = [BLACK, WHITE].map((side) => data.players[game[side]]);
  byId("title").textContent = `#${number} ☗ ${names[0]} – ☖ ${names[1]}`;
  const won = game[RESULT] > 0 ? `${names[game[RESULT] - 1]} won by ` : game[RESULT] === 0 ? "drawn by " : "";
  byId("result").textContent = `${won}${ending(game)}, ${view.open.plies.length} plies${game[WHY] && `: ${game[WHY]}`}`;
  listMoves();
  byId("graph").replaceChildren(drawGraph(view.open));
  byId("thought").hidden = !game[LINES];
  if (!byId("viewer").open) byId("viewer").showModal();
  byId("board").focus({ preventScroll: true });
  show(0);
}

function listMoves() {
  const items = document.createDocumentFragment();
  const row = (ply, words) => {
    const item = put(items, "li");
    words.forEach((word) => put(item, "span", "", word));
    item.addEventListener("click", () => { stop(); show(ply); });
  };
  row(0, ["", "start", "", "", ""]);
  view.open.plies.forEach((ply, at) => {
    const depth = ply.depth === null ? "" : `d${ply.depth}`;
    row(at + 1, [at + 1, spelled(ply.before, ply.move, view.letters), timeWords(ply.time), scoreWords(ply.score), depth]);
  });
  byId("moves").replaceChildren(items);
}

function show(ply) {
  const { boards, plies } = view.open;
  view.ply = Math.max(0, Math.min(plies.length, ply));
  byId("board").replaceChildren(drawBoard(boards[view.ply], view));
  showPlayer(byId("above"), view.flipped ? 0 : 1);
  showPlayer(byId("below"), view.flipped ? 1 : 0);
  const moves = byId("moves");
  moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const row = moves.children[view.ply];
  row.setAttribute("aria-current", "true");
  moves.scrollTop = row.offsetTop - moves.offsetTop - moves.clientHeight / 2;
  const mark = graphX(view.ply, plies.length);
  for (const end of ["x1", "x2"]) byId("mark").setAttribute(end, mark);
  for (const id of ["first", "back"]) byId(id).disabled = view.ply === 0;
  for (const id of ["on", "last"]) byId(id).disabled = view.ply === plies.length;
  const last = plies[view.ply - 1];
  const spelling = last ? spelled(last.before, last.move, false) : "start";
  showThought(last);
  byId("board").setAttribute("aria-label", `Board at ply ${view.ply} of ${plies.length}: ${spelling}`);
}

// The engine's thought on the current move: depth, evaluation, expected line. Moves are not broken across lines.
function showThought(ply) {
  byId("thought").replaceChildren();
  if (!ply) return;
  const facts = [ply.depth === null ? "" : `depth ${ply.depth}`, scoreWords(ply.score)].filter(Boolean);
  for (const words of [...facts.map((fact) => `${fact} ·`), ...lineWords(ply, view.letters)]) {
    put(byId("thought"), "span", "", words);
    byId("thought").append(" ");
  }
}

// Name, last evaluation and the time used so far.
function showPlayer(element, color) {
  const game = view.open.game, own = view.open.plies.slice(0, view.ply).filter((ply) => ply.color === color);
  const turn = view.open.boards[view.ply].turn === color ? "turn" : "";
  const used = own.reduce((sum, ply) => sum + (ply.time ?? 0), 0);
  const facts = [scoreWords(own.at(-1)?.score), game[TIMES] ? `${timeWords(used)}${used < 100000 ? " s" : ""}` : ""];
  element.replaceChildren();
  put(element, "span", turn, `${"☗☖"[color]} ${data.players[game[color === 0 ? BLACK : WHITE]]}`);
  put(element, "span", "", facts.filter(Boolean).join(" · "));
}

// The graph: evaluations as expected score, times below.

const GRAPH = { width: 460, height: 190, left: 40, right: 452, top: 6, bottom: 140, floor: 184 };
const share = (cp) => 1 / (1 + Math.exp(-cp / 600));
const graphX = (ply, count) => GRAPH.left + (GRAPH.right - GRAPH.left) * (count ? ply / count : 0);
const graphY = (cp) => GRAPH.bottom - (GRAPH.bottom - GRAPH.top) * share(cp);

function drawGraph({ plies }) {
  const svg = draw("svg", { viewBox: `0 0 ${GRAPH.width} ${GRAPH.height}`, role: "img", "aria-label": "Evaluations, black above" });
  for (const cp of [-2000, -500, 0, 500, 2000]) {
    const y = graphY(cp);
    draw("line", { class: cp ? "grid" : "zero", x1: GRAPH.left, x2: GRAPH.right, y1: y, y2: y }, svg);
    draw("text", { x: GRAPH.left - 5, y: y + 3 }, svg, `${cp > 0 ? "+" : ""}${cp}`.replace("-", "−"));
  }
  const longest = Math.max(1, ...plies.map((ply) => ply.time ?? 0));
  const wide = Math.max(0.8, (0.7 * (GRAPH.right - GRAPH.left)) / Math.max(1, plies.length));
  ["black", "white"].forEach((name, color) => {
    const group = draw("g", { class: name }, svg), points = [];
    plies.forEach((ply, at) => {
      const x = graphX(at + 1, plies.length);
      if (ply.color !== color) return;
      if (ply.score) points.push(`${x.toFixed(1)},${graphY(ply.score.cp).toFixed(1)}`);
      const high = (ply.time / longest) * (GRAPH.floor - GRAPH.bottom - 8);
      if (high > 0) draw("rect", { x: x - wide / 2, y: GRAPH.floor - high, width: wide, height: high }, group);
    });
    draw("polyline", { points: points.join(" ") }, group);
  });
  draw("line", { id: "mark", class: "mark", y1: GRAPH.top, y2: GRAPH.floor }, svg);
  return svg;
}

function scrub(event) {
  if (event.type === "pointermove" && event.buttons === 0) return;
  stop();
  const box = byId("graph").getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * GRAPH.width;
  show(Math.round(((x - GRAPH.left) / (GRAPH.right - GRAPH.left)) * view.open.plies.length));
}

// Keys, buttons and touch.

function stop() {
  clearInterval(view.timer);
  view.timer = null;
  byId("play").textContent = "play";
}

function play() {
  if (view.timer) return stop();
  if (view.ply === view.open.plies.length) show(0);
  byId("play").textContent = "stop";
  view.timer = setInterval(() => {
    show(view.ply + 1);
    if (view.ply === view.open.plies.length) stop();
  }, 700);
}

function step(by) {
  stop();
  show(view.ply + by);
}

function neighbour(by) {
  const at = list.games.indexOf(view.open.game);
  const game = list.games[at + by] ?? view.open.game;
  location.hash = `game-${game[NUMBER]}`;
}

function letters() {
  view.letters = !view.letters;
  byId("pieces").textContent = view.letters ? "歩" : "A";
  listMoves();
  show(view.ply);
}

function flip() {
  view.flipped = !view.flipped;
  show(view.ply);
}

const keys = {
  ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => step(-10), ArrowDown: () => step(10),
  Home: () => step(-Infinity), End: () => step(Infinity), " ": play, n: () => neighbour(1), p: () => neighbour(-1),
  f: flip, a: letters, h: () => step(-1), l: () => step(1),
};

byId("viewer").addEventListener("keydown", (event) => {
  const act = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
  if (!act || (event.key === " " && event.target.tagName === "BUTTON")) return;
  event.preventDefault();
  act();
});

const clicks = { first: () => step(-Infinity), back: () => step(-1), play, on: () => step(1), last: () => step(Infinity),
  flip, pieces: letters, previous: () => neighbour(-1), next: () => neighbour(1), close: () => byId("viewer").close() };
for (const [id, act] of Object.entries(clicks)) byId(id).addEventListener("click", act);

// A tap on the right half of the board steps forward, on the left half back; a swipe to the left steps forward, to the right back.
const touch = { x: 0, y: 0 };
byId("board").addEventListener("pointerdown", (event) => Object.assign(touch, { x: event.clientX, y: event.clientY }));
byId("board").addEventListener("pointerup", (event) => {
  const across = event.clientX - touch.x, down = event.clientY - touch.y;
  const box = byId("board").getBoundingClientRect();
  if (Math.abs(down) > 24) return;
  if (Math.abs(across) > 24) step(across < 0 ? 1 : -1);
  else if (Math.abs(across) < 8) step(event.clientX > box.left + box.width / 2 ? 1 : -1);
});
for (const type of ["pointerdown", "pointermove"]) byId("graph").addEventListener(type, scrub);

byId("viewer").addEventListener("close", () => {
  stop();
  if (location.hash.startsWith("#game-")) history.replaceState(null, "", "#games");
});

function followHash() {
  const game = location.hash.match(/^#game-(\d+)$/);
  if (game) openGame(Number(game[1]));
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

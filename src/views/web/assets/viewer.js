// The viewer of one game: `view.open` has names, boards and plies, whether moves have times, and whether engines told lines.

const view = { open: null, ply: 0, flipped: false, letters: false, timer: null };

// Shows a game from a ply on.
function openView(open, ply) {
  stop();
  view.open = open;
  byId("title").textContent = open.title;
  byId("result").textContent = open.result;
  listMoves();
  byId("graph").replaceChildren(drawGraph(open));
  byId("thought").hidden = !open.lines;
  show(ply);
}

function moveRow(parent, ply, words) {
  const item = put(parent, "li");
  words.forEach((word) => put(item, "span", "", word));
  item.addEventListener("click", () => { stop(); show(ply); });
}

function plyRow(parent, ply, at) {
  const depth = ply.depth === null ? "" : `d${ply.depth}`;
  moveRow(parent, at + 1, [at + 1, spelled(ply.before, ply.move, view.letters), timeWords(ply.time), scoreWords(ply.score), depth]);
}

function listMoves() {
  const items = document.createDocumentFragment();
  moveRow(items, 0, ["", say("start", "開始"), "", "", ""]);
  view.open.plies.forEach((ply, at) => plyRow(items, ply, at));
  byId("moves").replaceChildren(items);
  byId("moves").title = EVALUATION;
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
  const spelling = last ? spelled(last.before, last.move, false) : say("start", "開始");
  showThought(last);
  const at = say(`Board at ply ${view.ply} of ${plies.length}`, `${plies.length}手中${view.ply}手目の盤面`);
  byId("board").setAttribute("aria-label", `${at}: ${spelling}`);
  view.shown?.();
}

// The engine's thought on the current move: depth, evaluation, expected line. Moves are not broken across lines.
function showThought(ply) {
  byId("thought").replaceChildren();
  if (!ply) return;
  const facts = [ply.depth === null ? "" : `${say("depth", "深さ")} ${ply.depth}`, labelled(ply.score)].filter(Boolean);
  for (const words of [...facts.map((fact) => `${fact} ·`), ...lineWords(ply, view.letters)]) {
    put(byId("thought"), "span", "", words);
    byId("thought").append(" ");
  }
}

// Name, last evaluation and the time used so far.
function showPlayer(element, color) {
  const own = view.open.plies.slice(0, view.ply).filter((ply) => ply.color === color);
  const turn = view.open.boards[view.ply].turn === color ? "turn" : "";
  const used = own.reduce((sum, ply) => sum + (ply.time ?? 0), 0);
  const spent = view.open.timed ? `${timeWords(used)}${used < 100000 ? " s" : ""}` : "";
  const facts = [labelled(own.at(-1)?.score), view.clock?.(color) ?? spent];
  element.replaceChildren();
  put(element, "span", turn, `${"☗☖"[color]} ${view.open.names[color]}`);
  put(element, "span", "", facts.filter(Boolean).join(" · "));
}

// The graph: evaluations as expected score, times below.

const GRAPH = { width: 460, height: 190, left: 40, right: 452, top: 6, bottom: 140, floor: 184 };
const graphX = (ply, count) => GRAPH.left + (GRAPH.right - GRAPH.left) * (count ? ply / count : 0);
const graphY = (cp) => GRAPH.bottom - (GRAPH.bottom - GRAPH.top) * share(cp);

// A long name with both of its ends.
const short = (name) => ([...name].length > 24 ? `${[...name].slice(0, 14).join("")}…${[...name].slice(-9).join("")}` : name);

// `scales`: centipawns of the common scale that one of each player is worth, where scales are given.
function drawGraph({ plies, names, judged, scales }) {
  const svg = draw("svg", { viewBox: `0 0 ${GRAPH.width} ${GRAPH.height}`, role: "img", "aria-label": `${EVALUATION}: ☗ ${names[0]}, ☖ ${names[1]}` });
  for (const cp of [-2000, -500, 0, 500, 2000]) {
    const y = graphY(cp);
    draw("line", { class: cp ? "grid" : "zero", x1: GRAPH.left, x2: GRAPH.right, y1: y, y2: y }, svg);
    draw("text", { x: GRAPH.left - 5, y: y + 3 }, svg, `${cp > 0 ? "+" : ""}${cp}`.replace("-", "−"));
  }
  const longest = Math.max(1, ...plies.map((ply) => ply.time ?? 0));
  const wide = Math.min(12, Math.max(0.8, (0.7 * (GRAPH.right - GRAPH.left)) / Math.max(1, plies.length)));
  ["black", "white"].forEach((name, color) => {
    const group = draw("g", { class: name }, svg), points = [];
    plies.forEach((ply, at) => {
      const x = graphX(at + 1, plies.length);
      if (ply.color !== color) return;
      if (ply.score) points.push(`${x.toFixed(1)},${graphY(ply.score.cp * (scales?.[color] ?? 1)).toFixed(1)}`);
      const high = (ply.time / longest) * (GRAPH.floor - GRAPH.bottom - 8);
      if (high > 0) draw("rect", { x: x - wide / 2, y: GRAPH.floor - high, width: wide, height: high }, group);
    });
    draw("polyline", { points: points.join(" ") }, group);
    draw("text", { class: "owner", x: GRAPH.left + 6, y: color ? GRAPH.bottom - 5 : GRAPH.top + 12 }, group, `${"☗☖"[color]} ${short(names[color])}`);
  });
  if (judged?.length) {
    const points = judged.map(([ply, cp]) => `${graphX(ply, plies.length).toFixed(1)},${graphY(cp).toFixed(1)}`);
    const group = draw("g", { class: "judge" }, svg);
    draw("polyline", { points: points.join(" ") }, group);
    draw("text", { x: GRAPH.right, y: GRAPH.bottom - 5 }, group, "- - judge");
  }
  draw("text", { x: GRAPH.right, y: GRAPH.top + 12 }, svg, scales ? ON_COMMON_SCALE : EVALUATION);
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
  byId("play").textContent = say("Play", "再生");
}

function play() {
  if (view.timer) return stop();
  if (view.ply === view.open.plies.length) show(0);
  byId("play").textContent = say("Stop", "停止");
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
  view.neighbour?.(by);
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

(byId("viewer").showModal ? byId("viewer") : document).addEventListener("keydown", (event) => {
  const act = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
  if (!act || !view.open || ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
  if (event.key === " " && event.target.tagName === "BUTTON") return;
  event.preventDefault();
  act();
});

const clicks = { first: () => step(-Infinity), back: () => step(-1), play, on: () => step(1), last: () => step(Infinity),
  flip, pieces: letters, previous: () => neighbour(-1), next: () => neighbour(1), close: () => view.close?.() };
for (const [id, act] of Object.entries(clicks)) byId(id)?.addEventListener("click", act);

// A tap on the right half of the board steps forward, on the left half back; a swipe to the left steps forward, to the right back.
const touch = { x: 0, y: 0 };
byId("board").addEventListener("pointerdown", (event) => Object.assign(touch, { x: event.clientX, y: event.clientY }));
byId("board").addEventListener("pointerup", (event) => {
  const across = event.clientX - touch.x, down = event.clientY - touch.y;
  const box = byId("board").getBoundingClientRect(), far = Math.max(Math.abs(across), Math.abs(down)) > 24;
  if (far && view.tapped && view.dragged?.({ clientX: touch.x, clientY: touch.y }, event)) return;
  if (Math.abs(down) > 24) return;
  if (Math.abs(across) > 24) step(across < 0 ? 1 : -1);
  else if (Math.abs(across) < 8 && !view.tapped?.(event)) step(event.clientX > box.left + box.width / 2 ? 1 : -1);
});
for (const type of ["pointerdown", "pointermove"]) byId("graph").addEventListener(type, scrub);

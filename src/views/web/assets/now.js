// All running games: boards, clocks, evaluations.

const cards = new Map();
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const card = cards.get(Number(entry.target.dataset.game));
    if (card) { card.visible = entry.isIntersecting; card.dirty = true; }
  }
}, { rootMargin: "200px" });

function newCard(game, element) {
  const card = { game, element: element ?? put(null, "a", "card"), visible: true, dirty: true, blank: true };
  const root = card.element;
  root.replaceChildren();
  root.className = "card";
  root.href = `${base}/games/${game.number}`;
  root.dataset.game = game.number;
  card.sides = [1, 0].map((color) => {
    const line = put(root, "span", "side");
    put(line, "span", "name", `${"☗☖"[color]} ${game.names[color]}`);
    const side = { color, line, clock: put(line, "span", "clock") };
    if (color === 1) {
      const middle = put(root, "span", "middle");
      card.bar = put(put(middle, "span", "gauge"), "span");
      card.board = put(middle, "span", "mini");
    }
    return side;
  });
  const foot = put(root, "span", "foot");
  card.last = put(foot, "span", "last");
  card.facts = put(foot, "span", "facts");
  card.facts.title = EVALUATION;
  return card;
}

const judge = (game) => (game.judged?.length ? { cp: game.judged.at(-1)[1] } : null);
const score = (game) => judge(game) ?? game.ply?.score ?? game.last[1 - game.board.turn]?.score ?? game.last[game.board.turn]?.score ?? null;

function paint(card) {
  const { game } = card;
  card.dirty = card.blank = false;
  card.board.replaceChildren(drawBoard(game.board, { flipped: false, letters: false }));
  const value = score(game);
  card.bar.style.height = `${100 * (value ? share(value.cp) : 0.5)}%`;
  card.last.textContent = game.end ? endWords(game) : game.ply ? `${game.ply.told?.p ?? game.count} ${spelled(game.ply.before, game.ply.move, false)}` : say("start", "開始");
  card.facts.textContent = [scoreWords(value), label(game)].filter(Boolean).join(" · ");
  card.element.classList.toggle("over", Boolean(game.end));
}

function tick() {
  for (const card of cards.values()) {
    if (!card.visible) continue;
    for (const side of card.sides) {
      const shown = clock(card.game, side.color);
      if (side.clock.textContent !== shown.words) side.clock.textContent = shown.words;
      side.line.classList.toggle("turn", shown.runs);
      side.line.classList.toggle("low", Boolean(shown.low));
    }
  }
}

// Boards are drawn at most five times a second, and only those in the window.
let painted = 0;
function draw_all(at) {
  if (at - painted > 200) {
    painted = at;
    for (const card of cards.values()) if (card.dirty && card.visible) paint(card);
  }
  requestAnimationFrame(draw_all);
}

// A new board is drawn with the news that bring it: an empty place would jump.
const fill = () => { for (const card of cards.values()) if (card.blank) paint(card); };

const SHOWN_OVER = 4000;

function begin(json) {
  const known = cards.get(json.number);
  if (json.end) return known && end(json.number, json.end);
  const game = readGame(json, false);
  if (known) { known.game = game; known.dirty = true; return; }
  // A new game takes the place of one that is over, so that nothing moves.
  const free = [...cards.values()].find((card) => card.game.end);
  if (free) cards.delete(free.game.number);
  const card = newCard(game, free?.element);
  cards.set(game.number, card);
  if (!free) { byId("boards").append(card.element); seen.observe(card.element); }
}

function end(number, ended) {
  const card = cards.get(number);
  if (!card) return;
  card.game.end = ended;
  card.dirty = true;
  result(card.game);
  setTimeout(() => {
    if (cards.get(number) !== card) return;
    cards.delete(number);
    seen.unobserve(card.element);
    card.element.remove();
    count();
  }, SHOWN_OVER);
}

// A game of another machine: when it is over it comes again, with its number and its end.
function gone(number) {
  const card = cards.get(number);
  if (!card) return;
  cards.delete(number);
  seen.unobserve(card.element);
  card.element.remove();
}

function result(game) {
  const list = byId("results");
  const row = document.createElement("tr"), cell = (name, words) => put(row, "td", name, words);
  const link = put(cell("", ""), "a", "", label(game));
  link.href = `${base}/games/${game.number}`;
  cell(game.end.result === "black" ? "name won" : "name", `☗ ${game.names[0]}`);
  cell("result", { black: "1–0", white: "0–1", draw: "½" }[game.end.result] ?? "–");
  cell(game.end.result === "white" ? "name won" : "name", `☖ ${game.names[1]}`);
  cell("name", causeWords(game.end.cause));
  cell("", String(game.end.plies));
  list.prepend(row);
  while (list.children.length > 20) list.lastElementChild.remove();
  byId("recent").hidden = false;
}

function count() {
  const running = [...cards.values()].filter((card) => !card.game.end).length;
  byId("running").textContent = running === 0 ? say("no game is running", "対局はありません") : say(`${running} running`, `${running} 局進行中`);
  byId("boards").dataset.few = running <= 6 ? "yes" : "no";
}

// A long game comes as its last position: its moves are counted from there.
const plies = (game) => game.ply?.told?.p ?? game.count;

function sift() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const orders = {
    number: (a, b) => a.number - b.number,
    long: (a, b) => plies(b) - plies(a),
    close: (a, b) => Math.abs(score(a)?.cp ?? 0) - Math.abs(score(b)?.cp ?? 0),
    decided: (a, b) => Math.abs(score(b)?.cp ?? 0) - Math.abs(score(a)?.cp ?? 0),
  };
  for (const card of cards.values()) {
    const text = `${label(card.game)} ${card.game.names.join(" ")}`.toLowerCase();
    card.element.hidden = !words.every((word) => text.includes(word));
  }
  const sorted = [...cards.values()].sort((a, b) => orders[byId("sort").value](a.game, b.game));
  const now = [...byId("boards").children];
  if (sorted.some((card, at) => card.element !== now[at])) byId("boards").append(...sorted.map((card) => card.element));
}

function news(items) {
  for (const item of items) {
    const card = cards.get(item.g);
    if (item.k === "s") begin(item.game);
    else if (item.k === "m" && card) {
      if (!addMove(card.game, item)) { reset(); return; }
      card.dirty = true;
    } else if (item.k === "j" && card) {
      addJudged(card.game, item);
      card.dirty = true;
    } else if (item.k === "e") {
      end(item.g, { ...item });
      table ??= setTimeout(refreshTable, 30000 + 30000 * Math.random());
    } else if (item.k === "x" && item.g === null) for (const known of [...cards.values()]) known.game.machine && gone(known.game.number);
    else if (item.k === "x") gone(item.g);
    else if (item.k === "o") {
      byId("told").textContent = say(item.words, item.ja);
      clearTimeout(table);
      table = setTimeout(refreshTable, 1000 + 4000 * Math.random());
    }
  }
  fill();
  count();
}

function show_all(now) {
  cards.clear();
  byId("boards").replaceChildren();
  now.games.forEach(begin);
  fill();
  count();
  sift();
}

// The table is taken anew when games end: at most once or twice a minute by each viewer who looks, so that thousands cost little.
let table = null;
async function refreshTable() {
  table = null;
  if (document.hidden) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  const fresh = page?.getElementById("standings"), shown = byId("standings");
  if (fresh && shown) shown.replaceWith(fresh);
  if (page) renewHead(page);
}

let resetting = false;
async function reset() {
  if (resetting) return;
  resetting = true;
  try {
    // Without an answer the page stays as it is; the stream says that it is not connected.
    const answer = await fetch(`${base}/api/now`).catch(() => null);
    if (answer?.ok) { const now = await answer.json(); time.ahead = now.now - Date.now(); show_all(now); }
  } finally { resetting = false; }
}

show_all(state);
byId("filter").addEventListener("input", sift);
byId("filter").form.addEventListener("submit", (event) => event.preventDefault());
byId("sort").addEventListener("change", sift);
setInterval(tick, 100);
setInterval(() => { if (byId("sort").value !== "number") sift(); }, 3000);
requestAnimationFrame(draw_all);
follow("", { news, reset });
addEventListener("pageshow", (event) => { if (event.persisted) reset(); });

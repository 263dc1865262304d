// One game, while it is played and afterwards.

const game = readGame(state.game, true);
const open = {
  boards: game.boards, plies: game.plies, names: game.names, judged: game.judged ?? [], scales: game.scales, title: "", result: "", timed: true, lines: false,
};

view.clock = (color) => {
  if (view.ply < game.plies.length) return undefined;
  return clock(game, color).words || undefined;
};
view.neighbour = (by) => { if (!game.machine) location.href = `${base}/games/${Math.max(1, game.number + by)}`; };

// What both engines said last before the ply on the board.
function thoughts() {
  for (const color of [0, 1]) {
    const place = byId(color === 0 ? "black-thought" : "white-thought");
    const ply = game.plies.slice(0, view.ply).filter((ply) => ply.color === color && ply.told).at(-1);
    place.replaceChildren();
    put(place, "h3", "", `${"☗☖"[color]} ${game.names[color]}`);
    if (!ply) continue;
    const told = ply.told, facts = put(place, "dl", "");
    const fact = (name, words) => {
      if (!words) return;
      const pair = put(facts, "div");
      put(pair, "dt", "", name);
      put(pair, "dd", "", words);
    };
    fact(EVALUATION, scoreWords(ply.score));
    fact(say("depth", "深さ"), told.d === undefined ? "" : String(told.d));
    fact(say("nodes", "ノード"), told.n === undefined ? "" : large(told.n));
    fact(say("nodes/s", "NPS"), told.v === undefined ? "" : large(told.v));
    fact(say("time", "消費"), timeWords(ply.time) + " s");
    const line = lineWords(ply, view.letters);
    if (line.length) put(place, "p", "line", line.join(" "));
  }
}

function large(number) {
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (number >= size) return `${(number / size).toFixed(number >= 100 * size ? 0 : 1)}${letter}`;
  return String(number);
}

// The address of the shown ply, such as /games/1#20. Browsers refuse an address for each of many quick steps.
let addressed = null;
function address() {
  clearTimeout(addressed);
  addressed = setTimeout(() => {
    const there = view.ply === game.plies.length ? location.pathname : `#${view.ply}`;
    history.replaceState(null, "", there);
  }, 300);
}
const addressedPly = () => Number(location.hash.match(/^#(\d+)$/)?.[1] ?? game.plies.length);
addEventListener("hashchange", () => { stop(); show(addressedPly()); });

view.shown = () => {
  thoughts();
  address();
  byId("live").hidden = Boolean(game.end) || view.ply === game.plies.length;
  const turn = game.board.turn;
  for (const [id, color] of [["above", view.flipped ? 0 : 1], ["below", view.flipped ? 1 : 0]]) {
    byId(id).classList.toggle("runs", !game.end && color === turn && view.ply === game.plies.length);
  }
};

function words() {
  const running = game.gone ? say("over: it has its number and its result as soon as its pair is over", "終局。ペアの終了後に番号と結果が付きます") : say("running", "対局中");
  open.result = game.end ? `${endWords(game)}, ${say(`${game.end.plies} plies`, `${game.end.plies} 手`)}${game.end.reason ? `: ${game.end.reason}` : ""}` : running;
  byId("result").textContent = open.result;
  document.body.classList.toggle("running", !game.end && !game.gone);
}

function news(items) {
  const before = view.ply, atEnd = before === game.plies.length;
  let grown = false;
  for (const item of items) {
    if (item.k === "s") { location.reload(); return; }
    if (item.k === "m") {
      const known = game.plies.length;
      if (!addMove(game, item)) { reset(); return; }
      if (game.plies.length > known) { plyRow(byId("moves"), game.plies.at(-1), known); grown = true; }
    } else if (item.k === "j") { addJudged(game, item); open.judged = game.judged; grown = true; }
    else if (item.k === "e") game.end = { ...item };
    else if (item.k === "x") game.gone = true;
    else if (item.k === "o") put(byId("remarks"), "li", "", say(item.words, item.ja));
  }
  words();
  if (grown) byId("graph").replaceChildren(drawGraph(open));
  show(atEnd ? game.plies.length : before);
}

const reset = () => location.reload();

openView(open, addressedPly());
words();
byId("live").addEventListener("click", () => show(game.plies.length));
setInterval(() => {
  if (game.end || game.gone || view.ply !== game.plies.length) return;
  for (const [id, color] of [["above", view.flipped ? 0 : 1], ["below", view.flipped ? 1 : 0]]) showPlayer(byId(id), color);
}, 100);
if (!game.end) follow(`&game=${game.number}`, { news, reset });

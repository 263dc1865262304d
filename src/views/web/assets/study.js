// The board of the study: steps without loading, tries moves, asks an engine, copies. Which moves are legal the server says.

const study = byId("viewer"), game = readGame(state.game, true);
const plyFields = document.querySelectorAll("input[name=ply]"), links = document.querySelectorAll("a[data-at]");
const chosen = { from: null, legal: [], of: null };
const thought = { ply: null, best: null, number: null, runs: false };

Object.defineProperty(view, "arrow", { get: () => (view.ply === thought.ply ? thought.best : null) });

// The address of the shown ply. Browsers refuse an address for each of many quick steps.
let addressed = null, refilled = null, followed = null;
function address() {
  clearTimeout(addressed);
  const job = thought.number ? `&job=${thought.number}` : "";
  addressed = setTimeout(() => history.replaceState(null, "", `${study.dataset.address}&ply=${view.ply}${job}`), 300);
}

view.shown = () => {
  plyFields.forEach((field) => { field.value = view.ply; });
  links.forEach((link) => { link.href = link.href.replace(/([?&]ply=)\d*/, `$1${view.ply}`); });
  byId("comment").textContent = state.comments[view.ply] ?? "";
  choose(null);
  address();
  clearTimeout(refilled);
  refilled = setTimeout(refill, 150);
  // An engine that thinks follows the board.
  clearTimeout(followed);
  if (thought.runs && thought.ply !== view.ply && !thought.mates) followed = setTimeout(() => ask("search"), 300);
};

// Steps are links where there is no script.
for (const link of document.querySelectorAll(".keys a")) {
  Object.defineProperty(link, "disabled", { set: (is) => link.setAttribute("aria-disabled", String(is)) });
  link.addEventListener("click", (event) => event.preventDefault());
}
view.neighbour = (by) => document.querySelector(`[data-neighbour="${by}"]`)?.click();

// Moves that are tried.

async function refill() {
  const ply = view.ply, answer = await fetch(`${study.dataset.legal}&ply=${ply}`).catch(() => null);
  if (!answer?.ok || ply !== view.ply) return;
  Object.assign(chosen, { legal: await answer.json(), of: ply });
  const list = document.querySelector("#try select"), board = view.open.boards[ply];
  list.replaceChildren(...chosen.legal.map((mv) => new Option(spelled(board, usiMove(mv), view.letters), mv)));
  document.querySelector("#try button").disabled = !chosen.legal.length;
}

function tryMove(mv) {
  const next = view.open.plies[view.ply]?.move, move = usiMove(mv);
  if (next && next.from === move.from && next.to === move.to && next.promotes === move.promotes) step(1);
  else location.href = `${study.dataset.address}&ply=${view.ply}&try=${encodeURIComponent(mv)}`;
}

const placeOf = (move) => ({ from: move.from, to: move.to });
const ways = (from) => (chosen.of === view.ply ? chosen.legal.filter((mv) => placeOf(usiMove(mv)).from === from) : []);

// Marks the piece that is chosen, and where it can go.
function choose(from) {
  chosen.from = from;
  byId("choice").hidden = true;
  byId("board").replaceChildren(drawBoard(view.open.boards[view.ply], view));
  if (from === null) return;
  const svg = byId("board").firstElementChild;
  const mark = (square, name) => { const [x, y] = middle(square, view.flipped); draw("rect", { class: name, x: x - 20, y: y - 22, width: 40, height: 44 }, svg); };
  if (from < 81) mark(from, "chosen");
  for (const to of new Set(ways(from).map((mv) => usiMove(mv).to))) mark(to, "can");
}

function go(moves) {
  if (moves.length === 1) return tryMove(moves[0]);
  const place = byId("choice"), words = study.dataset.promote.split("/");
  const promoting = moves.find((mv) => mv.endsWith("+")), plain = moves.find((mv) => !mv.endsWith("+"));
  place.replaceChildren();
  for (const [at, mv] of [promoting, plain].entries()) {
    const button = put(place, "button", at ? "" : "main", words[at]);
    button.type = "button";
    button.addEventListener("click", () => tryMove(mv));
  }
  place.hidden = false;
  place.firstElementChild.focus();
}

view.tapped = (event) => {
  const at = squareAt(byId("board").firstElementChild, event, view.open.boards[view.ply], view.flipped);
  if (chosen.from !== null && at !== null) {
    const moves = ways(chosen.from).filter((mv) => usiMove(mv).to === at);
    if (moves.length) { go(moves); return true; }
  }
  const other = at !== null && at !== chosen.from && ways(at).length ? at : null;
  const was = chosen.from;
  if (other !== null || was !== null) choose(other);
  return other !== null || was !== null;
};

// What an engine thinks.

const form = byId("think"), place = byId("thoughts");

function runs(is) {
  thought.runs = is;
  byId("stop").hidden = !is;
}

async function ask(kind) {
  const fields = new URLSearchParams(new FormData(form));
  fields.set("do", kind);
  Object.assign(thought, { ply: view.ply, best: null, mates: kind === "mate" });
  runs(kind !== "stop");
  const answer = await fetch(form.action, { method: "POST", body: fields }).catch(() => null);
  if (!answer) return;
  if (!answer.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    place.replaceChildren(put(null, "p", "wrong", page.querySelector("[role=alert]")?.textContent ?? String(answer.status)));
    runs(false);
    return;
  }
  thought.number = new URL(answer.url).searchParams.get("job");
  form.elements.job.value = thought.number;
  address();
  look();
}

async function look() {
  const mine = thought.number, answer = await fetch(`/study/thoughts?number=${mine}`).catch(() => null);
  if (!answer?.ok || mine !== thought.number) return;
  place.innerHTML = await answer.text();
  const { best, ended } = place.firstElementChild.dataset;
  thought.best = best ? usiMove(best) : null;
  if (view.ply === thought.ply && chosen.from === null) byId("board").replaceChildren(drawBoard(view.open.boards[view.ply], view));
  if (ended === undefined) setTimeout(look, 400);
  else runs(false);
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask(event.submitter?.value ?? "search");
});

// Texts to be copied.
for (const link of navigator.clipboard ? document.querySelectorAll("[data-copies]") : []) {
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    const answer = await fetch(link.href);
    await navigator.clipboard.writeText(await answer.text());
    link.textContent = `✓ ${link.textContent.replace(/^✓ /, "")}`;
  });
}

const timed = game.plies.some((ply) => ply.time !== null);
const begun = Number(form.elements.ply.value);
openView({
  boards: game.boards, plies: game.plies, names: game.names, title: "", result: "", timed, lines: game.plies.some((ply) => ply.line.length),
}, begun);
byId("graph").hidden = !timed && !game.plies.some((ply) => ply.score);
runs(Boolean(place.firstElementChild));
if (thought.runs) {
  Object.assign(thought, { ply: begun, number: form.elements.job.value });
  look();
}

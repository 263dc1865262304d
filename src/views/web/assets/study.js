// The board of the study: steps without loading, tries moves, asks an engine, copies. Which moves are legal the server says.

const study = byId("viewer"), game = readGame(state.game, true);
const plyFields = document.querySelectorAll("input[name=ply]"), links = document.querySelectorAll("a[data-at]");
const thought = { ply: null, best: null, number: null, runs: false };

Object.defineProperty(view, "arrow", { get: () => (view.ply === thought.ply ? thought.best : null) });

// The address of the shown ply. Browsers refuse an address for each of many quick steps.
let addressed = null, followed = null;
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
  refill();
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

// A move that is tried: the next one of the line is a step.
view.act = (mv) => {
  const next = view.open.plies[view.ply]?.move, move = usiMove(mv);
  if (next && next.from === move.from && next.to === move.to && next.promotes === move.promotes) step(1);
  else location.href = `${study.dataset.address}&ply=${view.ply}&try=${encodeURIComponent(mv)}`;
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
  const shown = await answer.text();
  // What somebody is just clicking on, or has the focus on, stays there.
  if (place.dataset.held || place.contains(document.activeElement)) {
    setTimeout(look, 400);
    return;
  }
  place.innerHTML = shown;
  const { best, ended } = place.firstElementChild.dataset;
  thought.best = best ? usiMove(best) : null;
  if (view.ply === thought.ply && hand.from === null) byId("board").replaceChildren(drawBoard(view.open.boards[view.ply], view));
  if (ended === undefined) setTimeout(look, 400);
  else runs(false);
}

place.addEventListener("pointerdown", () => { place.dataset.held = "yes"; });
document.addEventListener("pointerup", () => setTimeout(() => delete place.dataset.held, 100));

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

// A game of the person at this browser: moves by hand, clocks that run, and the opponent's moves as they come.

const place = byId("viewer"), game = readGame(state.game, true);
// What the engine thinks is no help while one plays.
if (place.dataset.known) game.plies.forEach((ply) => Object.assign(ply, { score: null, depth: null }));
const isOwn = place.dataset.turn === "yes";
const clockOf = (color) => clock(game, color).words || undefined;

view.flipped = place.dataset.side === "white";
view.clock = (color) => (view.ply === game.plies.length ? clockOf(color) : undefined);
view.shown = () => { choose(null); if (isOwn && view.ply === game.plies.length) refill(); };
if (!isOwn) view.tapped = undefined;
view.act = (mv) => {
  const form = byId("move");
  form.elements.move.value = mv;
  form.requestSubmit();
};
openView({ boards: game.boards, plies: game.plies, names: game.names, title: "", result: byId("result").textContent, timed: true, lines: false }, game.plies.length);

setInterval(() => {
  if (view.ply !== game.plies.length) return;
  for (const [id, color] of [["above", view.flipped ? 0 : 1], ["below", view.flipped ? 1 : 0]]) showPlayer(byId(id), color);
}, 200);

async function look() {
  const answer = await fetch(place.dataset.now).catch(() => null);
  if (answer?.ok && (await answer.text()) !== place.dataset.known) location.reload();
  else setTimeout(look, 400);
}
if (place.dataset.known) look();

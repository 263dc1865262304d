// A board beside each event that is played: its first game, as it stands.

const drawn = new Map();

async function show(place) {
  const from = place.dataset.board;
  // What was drawn before stays until the next position is here.
  if (drawn.has(from)) place.replaceChildren(...drawn.get(from));
  const answer = await fetch(from).catch(() => null);
  const game = answer?.ok ? (await answer.json()).games[0] : null;
  if (!game) return;
  const moves = [...usiMoves(game.opening), ...game.moves.map((ply) => usiMove(ply.m))];
  const board = moves.reduce(moved, readBoard(game.start));
  const picture = drawBoard(board, { flipped: false, letters: false });
  picture.setAttribute("aria-hidden", "true");
  const names = put(null, "span", "quiet", `☗ ${game.names[0]} – ☖ ${game.names[1]}`);
  place.replaceChildren(picture, names);
  drawn.set(from, [...place.childNodes]);
}

const all = () => document.querySelectorAll("[data-board]").forEach(show);
document.addEventListener("again", all);
all();

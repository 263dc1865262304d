// Moves by hand on the board of a page: a piece is chosen, then its square. Which moves are legal the server says.

const hand = { from: null, legal: [], of: null, waits: null };
const legalMoves = byId("viewer").dataset.legal, promotion = byId("viewer").dataset.promote.split("/");

// Takes the legal moves of the shown position, a moment after the last step.
function refill() {
  clearTimeout(hand.waits);
  hand.waits = setTimeout(async () => {
    const ply = view.ply, answer = await fetch(`${legalMoves}&ply=${ply}`).catch(() => null);
    if (!answer?.ok || ply !== view.ply) return;
    Object.assign(hand, { legal: await answer.json(), of: ply });
    if (hand.from !== null && byId("choice").hidden) choose(hand.from);
    const list = document.querySelector("#try select"), board = view.open.boards[ply];
    if (!list) return;
    list.replaceChildren(...hand.legal.map((mv) => new Option(spelled(board, usiMove(mv), view.letters), mv)));
    document.querySelector("#try button").disabled = !hand.legal.length;
  }, 150);
}

const ways = (from) => (hand.of === view.ply ? hand.legal.filter((mv) => usiMove(mv).from === from) : []);

// Marks the piece that is chosen, and where it can go.
function choose(from) {
  hand.from = from;
  byId("choice").hidden = true;
  byId("board").replaceChildren(drawBoard(view.open.boards[view.ply], view));
  if (from === null) return;
  const svg = byId("board").firstElementChild;
  const mark = (square, name) => { const [x, y] = middle(square, view.flipped); draw("rect", { class: name, x: x - 20, y: y - 22, width: 40, height: 44 }, svg); };
  if (from < 81) mark(from, "chosen");
  for (const to of new Set(ways(from).map((mv) => usiMove(mv).to))) mark(to, "can");
}

function go(moves) {
  if (moves.length === 1) return view.act(moves[0]);
  const place = byId("choice");
  const promoting = moves.find((mv) => mv.endsWith("+")), plain = moves.find((mv) => !mv.endsWith("+"));
  place.replaceChildren();
  for (const [at, mv] of [promoting, plain].entries()) {
    const button = put(place, "button", at ? "" : "main", promotion[at]);
    button.type = "button";
    button.addEventListener("click", () => view.act(mv));
  }
  place.hidden = false;
  place.firstElementChild.focus();
}

view.tapped = (event) => {
  const svg = byId("board").firstElementChild, board = view.open.boards[view.ply], at = squareAt(svg, event, board, view.flipped);
  const moves = hand.from === null || at === null ? [] : ways(hand.from).filter((mv) => usiMove(mv).to === at);
  if (moves.length) {
    go(moves);
    return true;
  }
  const owner = at === null ? null : at > 80 ? handAt(svg, event, view.flipped) : board.squares[at]?.color;
  const was = hand.from, other = at !== was && owner === board.turn ? at : null;
  // A tap on the board never steps: somebody may have missed a piece.
  if (other === null && was === null) return at !== null;
  choose(other);
  return true;
};

// A piece that is drawn to its square.
view.dragged = (from, event) => {
  const svg = byId("board").firstElementChild, board = view.open.boards[view.ply], at = squareAt(svg, from, board, view.flipped);
  const owner = at === null ? null : at > 80 ? handAt(svg, from, view.flipped) : board.squares[at]?.color;
  if (owner !== board.turn) return false;
  choose(at);
  return view.tapped(event);
};

// The editor of positions: pieces are chosen and put; the field has the position, which the server reads.

const field = byId("sfen"), tools = byId("tools"), SIDES = tools.dataset.words.split("/");
const edited = { board: readBoard(field.value), from: null };
const look = { flipped: false, letters: false };

function sfenOf(board) {
  const letter = ({ kind, turned, color }) => (turned ? "+" : "") + (color ? kind.toLowerCase() : kind);
  const rank = (at) => [8, 7, 6, 5, 4, 3, 2, 1, 0].map((file) => { const piece = board.squares[9 * file + at]; return piece ? letter(piece) : "1"; }).join("");
  const ranks = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(rank).join("/").replace(/1+/g, (empty) => empty.length);
  const held = (color) => [...SHOWN].map((kind) => { const count = board.hands[color][kind] ?? 0; return count ? (count > 1 ? count : "") + letter({ kind, color }) : ""; }).join("");
  return `${ranks} ${board.turn ? "w" : "b"} ${held(0) + held(1) || "-"} 1`;
}

// Shows the position; the chosen piece is marked.
function redraw() {
  byId("board").replaceChildren(drawBoard(edited.board, look));
  const square = edited.from?.square;
  if (square !== undefined && square < 81) {
    const [x, y] = middle(square, false);
    draw("rect", { class: "chosen", x: x - 20, y: y - 22, width: 40, height: 44 }, byId("board").firstElementChild);
  }
  field.value = sfenOf(edited.board);
  byId("turn").textContent = SIDES[edited.board.turn];
  tools.querySelectorAll("[data-piece]").forEach((button) => button.setAttribute("aria-pressed", String(edited.from?.piece === button.dataset.piece)));
}

// What was chosen leaves its place; a piece of the box stays there.
function taken() {
  const { square, piece, hand } = edited.from, { squares, hands } = edited.board;
  edited.from = null;
  if (piece) return { kind: piece.toUpperCase(), turned: false, color: piece === piece.toUpperCase() ? 0 : 1 };
  if (hand) {
    hands[hand.color][hand.kind] -= 1;
    return { ...hand, turned: false };
  }
  const moved = squares[square];
  squares[square] = null;
  return moved;
}

// The next face of a piece: promoted, then the other side's.
function next(piece) {
  if (!piece.turned && TURNED[piece.kind]) return { ...piece, turned: true };
  return { ...piece, turned: false, color: 1 - piece.color };
}

function tap(event) {
  const { board, from } = edited, at = squareAt(byId("board").firstElementChild, event, board, false), onHand = handAt(byId("board").firstElementChild, event);
  if (at !== null && at < 81) {
    if (from?.square === at) { board.squares[at] = next(board.squares[at]); edited.from = null; }
    else if (from) { const piece = taken(); board.squares[at] = piece; }
    else if (board.squares[at]) edited.from = { square: at };
  } else if (onHand !== null) {
    if (from) {
      const piece = taken();
      if (piece.kind !== "K") board.hands[onHand][piece.kind] = (board.hands[onHand][piece.kind] ?? 0) + 1;
    } else if (at !== null) edited.from = { hand: { kind: HELD[at - 81], color: onHand }, square: at };
  }
  redraw();
}

function begin() {
  const button = (parent, words, act) => { const made = put(parent, "button", "", words); made.type = "button"; made.addEventListener("click", () => { act(); redraw(); }); return made; };
  for (const color of [0, 1]) {
    const row = put(tools, "div", "buttons");
    for (const kind of `K${SHOWN}`) {
      const piece = color ? kind.toLowerCase() : kind;
      const made = button(row, `${"☗☖"[color]}${piece === "K" ? "玉" : KANJI[kind]}`, () => { edited.from = edited.from?.piece === piece ? null : { piece }; });
      made.dataset.piece = piece;
    }
  }
  const row = put(tools, "div", "buttons");
  button(row, "", () => { edited.board.turn = 1 - edited.board.turn; }).id = "turn";
  button(row, say("Take off", "駒を外す"), () => { if (edited.from && !edited.from.piece) taken(); edited.from = null; });
  button(row, say("Clear", "すべて外す"), () => { edited.board.squares.fill(null); edited.board.hands = [{}, {}]; });
  tools.hidden = false;
  byId("board").addEventListener("pointerup", tap);
  field.addEventListener("change", () => { edited.board = readBoard(field.value); redraw(); });
  redraw();
}
begin();

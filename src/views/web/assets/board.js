"use strict";
// The board. Moves are not checked: the referee has judged them.

const byId = (id) => document.getElementById(id);

function put(parent, name, className, words) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (words !== undefined) element.textContent = words;
  parent?.append(element);
  return element;
}

const HELD = "PLNSBRG";
const SHOWN = "RBGSNLP";
const KANJI = { P: "歩", L: "香", N: "桂", S: "銀", B: "角", R: "飛", G: "金", K: "王" };
const TURNED = { P: "と", L: "杏", N: "圭", S: "全", B: "馬", R: "龍" };
// The same in the notation of records.
const NAMED = { ...TURNED, L: "成香", N: "成桂", S: "成銀" };

// True where a font has the kanji: without one all are the same empty box, and pieces have letters instead.
const HAS_KANJI = (() => {
  const canvas = document.createElement("canvas"), context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return true;
  const drawn = (letter) => {
    context.clearRect(0, 0, 40, 40);
    context.font = "24px serif";
    context.fillText(letter, 4, 30);
    return context.getImageData(0, 0, 40, 40).data.join();
  };
  return drawn("歩") !== drawn("飛");
})();

function readBoard(sfen) {
  const [placed, turn, hands] = sfen.split(" ");
  const board = { squares: Array(81).fill(null), hands: [{}, {}], turn: turn === "w" ? 1 : 0, from: null, to: null };
  placed.split("/").forEach((row, rank) => {
    let file = 8, turned = false;
    for (const letter of row) {
      if (letter === "+") turned = true;
      else if (letter >= "1" && letter <= "9") file -= Number(letter);
      else {
        const kind = letter.toUpperCase();
        board.squares[9 * file + rank] = { kind, turned, color: kind === letter ? 0 : 1 };
        file -= 1;
        turned = false;
      }
    }
  });
  for (const [, count, letter] of (hands ?? "-").matchAll(/(\d*)([A-Za-z])/g)) {
    const kind = letter.toUpperCase();
    board.hands[kind === letter ? 0 : 1][kind] = Number(count || 1);
  }
  return board;
}

function usiMove(usi) {
  const square = (at) => 9 * (Number(usi[at]) - 1) + "abcdefghi".indexOf(usi[at + 1]);
  if (usi[1] === "*") return { from: 81 + HELD.indexOf(usi[0]), to: square(2), promotes: false };
  return { from: square(0), to: square(2), promotes: usi[4] === "+" };
}

const usiMoves = (line) => line.split(" ").filter((word) => /^([1-9][a-i][1-9][a-i]\+?|[PLNSBRG]\*[1-9][a-i])$/.test(word)).map(usiMove);

// The board after a move.
function moved(before, move) {
  const board = { ...before, squares: [...before.squares], hands: before.hands.map((hand) => ({ ...hand })) };
  const hand = board.hands[board.turn];
  if (move.from > 80) {
    const kind = HELD[move.from - 81];
    hand[kind] = (hand[kind] ?? 1) - 1;
    board.squares[move.to] = { kind, turned: false, color: board.turn };
  } else {
    const piece = board.squares[move.from], taken = board.squares[move.to];
    if (taken) hand[taken.kind] = (hand[taken.kind] ?? 0) + 1;
    board.squares[move.from] = null;
    board.squares[move.to] = piece && { ...piece, turned: piece.turned || move.promotes };
  }
  return { ...board, turn: 1 - board.turn, from: move.from > 80 ? null : move.from, to: move.to };
}

const fileOf = (square) => Math.floor(square / 9) + 1;
const rankOf = (square) => (square % 9) + 1;

// A move in Japanese notation, or in letters.
function spelled(board, move, letters) {
  const drop = move.from > 80;
  const piece = drop ? { kind: HELD[move.from - 81], turned: false } : board.squares[move.from];
  if (!piece) return "?";
  if (letters || !HAS_KANJI) {
    const from = drop ? "*" : `${fileOf(move.from)}${"abcdefghi"[move.from % 9]}-`;
    return `${piece.turned ? "+" : ""}${piece.kind} ${from}${fileOf(move.to)}${"abcdefghi"[move.to % 9]}${move.promotes ? "+" : ""}`;
  }
  const place = board.to === move.to ? "同　" : "１２３４５６７８９"[fileOf(move.to) - 1] + "一二三四五六七八九"[rankOf(move.to) - 1];
  const name = piece.turned ? NAMED[piece.kind] : piece.kind === "K" ? "玉" : KANJI[piece.kind];
  const origin = drop ? "打" : `(${fileOf(move.from)}${rankOf(move.from)})`;
  return `${"☗☖"[board.turn]}${place}${name}${move.promotes ? "成" : ""}${origin}`;
}

// The expected line of an engine, up to the first move without a piece: engines print lines unchecked.
function lineWords(ply, letters) {
  const words = [];
  let board = ply.before;
  for (const move of ply.line) {
    if (move.from <= 80 && board.squares[move.from]?.color !== board.turn) break;
    words.push(spelled(board, move, letters));
    board = moved(board, move);
  }
  return words;
}

const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes, parent, words) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (words !== undefined) element.textContent = words;
  parent?.append(element);
  return element;
}

const SQUARE = { width: 40, height: 44 };
const ORIGIN = { x: 8, y: 60 };
const BOARD = { width: 384, height: 60 + 9 * 44 + 62 };

function drawPiece(parent, piece, x, y, options) {
  const upside = (piece.color === 1) !== options.flipped;
  const group = draw("g", { transform: `translate(${x} ${y})${upside ? " rotate(180)" : ""}` }, parent);
  draw("path", { class: "piece", d: "M0-19 12-14 16 18H-16L-12-14Z" }, group);
  const kanji = piece.kind === "K" && piece.color === 0 ? "玉" : piece.turned ? TURNED[piece.kind] : KANJI[piece.kind];
  const letters = options.letters || !HAS_KANJI;
  const words = letters ? (piece.turned ? "+" : "") + piece.kind : kanji;
  const size = letters ? 18 : 23;
  draw("text", { y: 0.36 * size + 2, "font-size": size, class: piece.turned ? "red" : "" }, group, words);
}

function drawHand(parent, board, color, options) {
  const above = (color === 1) !== options.flipped;
  const y = above ? 24 : ORIGIN.y + 9 * SQUARE.height + 38;
  const held = [...SHOWN].filter((kind) => board.hands[color][kind] > 0);
  held.forEach((kind, at) => {
    const x = above ? 20 + 52 * at : BOARD.width - 44 - 52 * (held.length - 1 - at);
    drawPiece(parent, { kind, turned: false, color }, x, y, options);
    const count = board.hands[color][kind];
    if (count > 1) draw("text", { class: "count", x: x + 24, y: y + 6 }, parent, count);
  });
}

function drawBoard(board, options) {
  const svg = draw("svg", { viewBox: `0 0 ${BOARD.width} ${BOARD.height}` });
  const { width, height } = SQUARE, { x: left, y: top } = ORIGIN;
  const at = (square) => {
    const file = Math.floor(square / 9), rank = square % 9;
    return options.flipped ? [left + file * width, top + (8 - rank) * height] : [left + (8 - file) * width, top + rank * height];
  };
  draw("rect", { class: "wood", x: left - 4, y: top - 4, width: 9 * width + 8, height: 9 * height + 8, rx: 3 }, svg);
  for (const [square, name] of [[board.from, "from"], [board.to, "last"]]) {
    if (square !== null) draw("rect", { class: name, x: at(square)[0], y: at(square)[1], width, height }, svg);
  }
  for (let line = 0; line <= 9; line++) {
    draw("line", { class: "line", x1: left + line * width, x2: left + line * width, y1: top, y2: top + 9 * height }, svg);
    draw("line", { class: "line", y1: top + line * height, y2: top + line * height, x1: left, x2: left + 9 * width }, svg);
  }
  for (const [file, rank] of [[3, 3], [6, 3], [3, 6], [6, 6]]) {
    draw("circle", { class: "star", cx: left + file * width, cy: top + rank * height, r: 2.4 }, svg);
  }
  for (let line = 0; line < 9; line++) {
    const name = options.flipped ? line : 8 - line;
    draw("text", { class: "edge", x: left + (line + 0.5) * width, y: top - 7 }, svg, name + 1);
    const rank = options.flipped ? 8 - line : line;
    const words = options.letters || !HAS_KANJI ? "abcdefghi"[rank] : "一二三四五六七八九"[rank];
    draw("text", { class: "edge", x: left + 9 * width + 9, y: top + (line + 0.5) * height + 3 }, svg, words);
  }
  board.squares.forEach((piece, square) => {
    if (piece) drawPiece(svg, piece, at(square)[0] + width / 2, at(square)[1] + height / 2, options);
  });
  drawHand(svg, board, 0, options);
  drawHand(svg, board, 1, options);
  if (options.arrow) drawArrow(svg, board, options.arrow, options.flipped);
  return svg;
}

// The middle of a square.
function middle(square, flipped) {
  const file = Math.floor(square / 9), rank = square % 9;
  return [ORIGIN.x + ((flipped ? file : 8 - file) + 0.5) * SQUARE.width, ORIGIN.y + ((flipped ? 8 - rank : rank) + 0.5) * SQUARE.height];
}

// Where a picture of a board is pointed at, in its own units.
function pointed(svg, event) {
  const box = svg.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * BOARD.width, ((event.clientY - box.top) / box.height) * BOARD.height];
}

// The side whose hand is pointed at.
function handAt(svg, event, flipped) {
  const [, y] = pointed(svg, event);
  if (y >= ORIGIN.y - 14 && y <= ORIGIN.y + 9 * SQUARE.height) return null;
  return (y < ORIGIN.y) !== Boolean(flipped) ? 1 : 0;
}

// The square that is pointed at, or 81 and more for a piece in hand, as moves have them.
function squareAt(svg, event, board, flipped) {
  const [x, y] = pointed(svg, event), color = handAt(svg, event, flipped);
  if (color !== null) {
    const held = [...SHOWN].filter((kind) => board.hands[color][kind] > 0), above = (color === 1) !== Boolean(flipped);
    const kind = held[above ? Math.round((x - 20) / 52) : held.length - 1 - Math.round((BOARD.width - 44 - x) / 52)];
    return kind ? 81 + HELD.indexOf(kind) : null;
  }
  const across = Math.floor((x - ORIGIN.x) / SQUARE.width), down = Math.floor((y - ORIGIN.y) / SQUARE.height);
  if (across < 0 || across > 8 || down < 0 || down > 8) return null;
  return flipped ? 9 * across + 8 - down : 9 * (8 - across) + down;
}

// The arrow of a move: from its square, or from where its side holds pieces.
function drawArrow(svg, board, move, flipped) {
  const above = (board.turn === 1) !== flipped;
  const held = [...SHOWN].filter((kind) => board.hands[board.turn][kind] > 0), place = held.indexOf(HELD[move.from - 81]);
  const inHand = above ? [20 + 52 * place, 24] : [BOARD.width - 44 - 52 * (held.length - 1 - place), BOARD.height - 24];
  const from = move.from > 80 ? inHand : middle(move.from, flipped);
  const to = middle(move.to, flipped), across = to[0] - from[0], down = to[1] - from[1], length = Math.hypot(across, down) || 1;
  const at = (along, beside) => `${from[0] + (across * along - down * beside) / length} ${from[1] + (down * along + across * beside) / length}`;
  const outline = [[0, 3], [length - 16, 4], [length - 16, 11], [length, 0], [length - 16, -11], [length - 16, -4], [0, -3]];
  draw("path", { class: "arrow", d: `M${outline.map(([along, beside]) => at(along, beside)).join("L")}Z` }, svg);
}

// Evaluations are from black's side, whichever engine printed them, as in evaluation.rs.
const share = (cp) => 1 / (1 + Math.exp(-cp / 600));

const JAPANESE = document.documentElement.lang === "ja";
const say = (english, japanese) => (JAPANESE ? japanese : english);
const EVALUATION = say("eval for ☗", "評価値（☗側）");
const ON_COMMON_SCALE = JAPANESE ? "評価値（☗側・共通尺度）" : "eval for ☗, common scale";

// An evaluation in words: a number is good for black if positive, a mate names the side that mates.
function scoreWords(score) {
  if (!score) return "";
  if (score.mate === undefined) return (score.cp > 0 ? "+" : score.cp < 0 ? "−" : "") + Math.abs(score.cp);
  const winner = score.cp > 0 ? "☗" : "☖", known = score.mate > 0 && score.mate < Infinity;
  if (JAPANESE) return known ? `${winner} ${score.mate}手詰` : `${winner} 詰み`;
  return known ? `${winner} mate in ${score.mate}` : `${winner} mate`;
}

// The same where it stands alone.
const labelled = (score) => (score ? (score.mate === undefined ? `${EVALUATION} ${scoreWords(score)}` : scoreWords(score)) : "");

function timeWords(ms) {
  if (ms === null) return "";
  if (ms < 100000) return (ms / 1000).toFixed(ms < 1000 ? 2 : 1);
  return `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;
}

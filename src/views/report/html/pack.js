// Decoder of the games that pack.rs encodes.

const data = JSON.parse(document.getElementById("data").textContent);
const value = new Map([...data.letters].map((letter, at) => [letter, at]));
const games = data.games.map(([number, players, result, cause, start, opening, moves, columns, why, judged]) => (
  { number, players, result, cause, start, opening, moves, columns, why, judged }
));

const two = (text, at) => value.get(text[2 * at]) * 88 + value.get(text[2 * at + 1]);

function unpackMoves(text) {
  const moves = [];
  for (let at = 0; at < text.length; at += 2) {
    const move = { from: value.get(text[at]), to: value.get(text[at + 1]), promotes: text[at + 2] === "+" };
    if (move.promotes) at += 1;
    moves.push(move);
  }
  return moves;
}

// The evaluation from black's side: centipawns, and of a mate its plies; null without one.
function unpackScore(code) {
  if (code === 88 * 88 - 1) return null;
  const signed = code - 3871, size = Math.abs(signed), sign = Math.sign(signed);
  if (size <= 3000) return { cp: signed };
  if (size <= 3700) return { cp: sign * (3000 + 100 * (size - 3000)) };
  return { cp: sign * 100000, mate: size < 3871 ? size - 3701 : Infinity };
}

function unpackTime(code) {
  if (code < 2000) return code;
  if (code < 4000) return 2000 + 10 * (code - 2000);
  return code < 6000 ? 22000 + 100 * (code - 4000) : 222000 + 1000 * (code - 6000);
}

// A game with the board after each of its plies.
function unpack(game) {
  const boards = [readBoard(data.starts[game.start])], [scores, times, depths, told] = game.columns, lines = told.split(" ");
  const plies = unpackMoves(game.moves).map((move, at) => {
    const before = boards[at], own = at - game.opening;
    boards.push(moved(before, move));
    const ply = { move, before, color: before.turn, score: null, time: null, depth: null, line: [] };
    if (own >= 0) {
      if (scores) ply.score = unpackScore(two(scores, own));
      if (times) ply.time = unpackTime(two(times, own));
      if (depths) ply.depth = value.get(depths[own]);
      if (ply.depth === 87) ply.depth = null;
      ply.line = unpackMoves(lines[own] ?? "");
    }
    return ply;
  });
  const judged = Array.from({ length: game.judged.length / 4 }, (_, at) => [two(game.judged, 2 * at), unpackScore(two(game.judged, 2 * at + 1)).cp]);
  return { game, boards, plies, judged, timed: Boolean(times), lines: Boolean(told) };
}

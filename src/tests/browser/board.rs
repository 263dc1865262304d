//! Boards as a viewer sees them, and as they are stored.

use crate::support::Desk;
use rsshogi::{board::Position, types::Move};

/// A function of the page that reads a drawn board: pieces and hands as SFEN. It looks at what is drawn, not at what the
/// page's own script believes.
pub const READ: &str = r#"
const LETTERS = { 歩: "P", 香: "L", 桂: "N", 銀: "S", 角: "B", 飛: "R", 金: "G", 王: "K", 玉: "K",
  と: "+P", 杏: "+L", 圭: "+N", 全: "+S", 馬: "+B", 龍: "+R" };
function readSvg(svg) {
  const rows = Array.from({ length: 9 }, () => Array(9).fill("")), hands = [{}, {}];
  let last = null;
  for (const element of svg.children) {
    if (element.classList.contains("count")) { hands[last.color][last.kind] = Number(element.textContent); continue; }
    const place = element.getAttribute("transform")?.match(/translate\(([\d.]+) ([\d.]+)\)( rotate\(180\))?/);
    if (!place) continue;
    const [x, y, color] = [Number(place[1]), Number(place[2]), place[3] ? 1 : 0];
    const kind = LETTERS[element.querySelector("text").textContent];
    if (y < 50 || y > 460) { last = { color, kind }; hands[color][kind] = 1; continue; }
    rows[Math.round((y - 82) / 44)][Math.round((x - 28) / 40)] = color ? kind.toLowerCase() : kind;
  }
  const board = rows.map((row) => row.map((piece) => piece || ".").join("").replace(/\.+/g, (gap) => gap.length)).join("/");
  const held = hands.flatMap((hand, color) => [..."RBGSNLP"].filter((kind) => hand[kind])
    .map((kind) => (hand[kind] > 1 ? hand[kind] : "") + (color ? kind.toLowerCase() : kind)));
  return board + " " + (held.join("") || "-");
}
"#;

/// The stored game of this number: SFEN without turn and ply, before the first and after each ply.
pub fn stored_boards(desk: &Desk, number: u64) -> Vec<String> {
    let game = format!("SELECT start, opening_moves FROM games WHERE number = {number}");
    let row = desk.query(&game).remove(0);
    let moves = "SELECT m.move FROM moves m JOIN games g ON g.id = m.game";
    let moves = desk.query(&format!("{moves} WHERE g.number = {number} ORDER BY m.ply"));
    let opening = row[1].split_whitespace().map(str::to_owned);
    let mut position = Position::from_sfen(&row[0]).unwrap();
    let mut boards = vec![words(&position)];
    for usi in opening.chain(moves.into_iter().map(|row| row[0].clone())) {
        let mv = position.move32_from_move(Move::from_usi(&usi).unwrap());
        position.try_apply_move32(mv).unwrap();
        boards.push(words(&position));
    }
    boards
}

fn words(position: &Position) -> String {
    let sfen = position.to_sfen(None);
    let words: Vec<&str> = sfen.split(' ').collect();
    format!("{} {}", words[0], words[2])
}

//! Floodgate's comment behind a move: `'* score pv`, the score in centipawns from black's side, the moves that are
//! expected to follow spelled as in CSA.

use notation::csa::move_to_csa;
use referee::entry::{Score, Thought};
use rsshogi::{
    board::Position,
    types::{Color, Move, Move32},
};

/// Score that stands for a mate, as in other clients of floodgate.
const MATE: i32 = 100_000;
/// Most moves in a comment: servers cap their lines.
const MOVES: usize = 24;

/// The comment for `mv`, about to be played in `position`; `None` without a score.
pub fn text(position: &Position, mv: Move, thought: &Thought) -> Option<String> {
    let score = match thought.score? {
        Score::Cp(cp) => cp.clamp(1 - MATE, MATE - 1),
        Score::Mate(plies) if plies <= 0 => -MATE,
        Score::Mate(_) => MATE,
    };
    let score = if position.turn() == Color::BLACK { score } else { -score };
    let mut text = format!("'* {score}");
    for mv in expected(position, mv, thought.pv.as_deref().unwrap_or_default()) {
        text.push(' ');
        text.push_str(&mv);
    }
    Some(text)
}

/// The line of play behind `mv`, as far as it is legal; nothing if it begins with another move.
fn expected(position: &Position, mv: Move, pv: &str) -> Vec<String> {
    let mut words = pv.split_ascii_whitespace().map_while(Move::from_usi);
    let mut position = position.clone();
    let mut line = vec![];
    if words.next() != Some(mv) || !play(&mut position, mv) {
        return line;
    }
    for mv in words.take(MOVES) {
        let Some(text) = move_to_csa(&position, mv) else { break };
        if !play(&mut position, mv) {
            break;
        }
        line.push(text);
    }
    line
}

fn play(position: &mut Position, mv: Move) -> bool {
    let legal = mv.is_normal() && position.is_legal_move(mv);
    let piece = if legal { position.moved_piece_after_move(mv) } else { return false };
    position.try_apply_move32(Move32::from_move_with_piece(mv, piece)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(sfen: &str, mv: &str, score: Score, pv: &str) -> Option<String> {
        rsshogi::board::init();
        let mut position = rsshogi::board::position_from_sfen(sfen).unwrap();
        position.init_stack();
        let thought = Thought { score: Some(score), pv: Some(pv.to_owned()), ..Thought::default() };
        text(&position, Move::from_usi(mv).unwrap(), &thought)
    }

    const EVEN: &str = referee::opening::EVEN;
    const AFTER: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";

    #[test]
    fn scores_are_from_blacks_side_and_the_line_begins_with_the_reply() {
        let black = comment(EVEN, "7g7f", Score::Cp(35), "7g7f 3c3d 2g2f");
        assert_eq!(black.as_deref(), Some("'* 35 -3334FU +2726FU"));
        let white = comment(AFTER, "3c3d", Score::Cp(35), "3c3d 8h2b+");
        assert_eq!(white.as_deref(), Some("'* -35 +8822UM"));
        let mated = comment(AFTER, "3c3d", Score::Mate(-4), "");
        assert_eq!(mated.as_deref(), Some("'* 100000"));
        let scores = [Score::Mate(0), Score::Mate(1), Score::Cp(i32::MIN), Score::Cp(i32::MAX)];
        let shown = scores.map(|score| comment(EVEN, "7g7f", score, "").unwrap());
        assert_eq!(shown, ["'* -100000", "'* 100000", "'* -99999", "'* 99999"]);
    }

    #[test]
    fn a_line_that_is_not_about_the_move_or_leaves_the_rules_is_cut() {
        let other = comment(EVEN, "7g7f", Score::Cp(1), "2g2f 3c3d");
        assert_eq!(other.as_deref(), Some("'* 1"));
        let cut = comment(EVEN, "7g7f", Score::Cp(1), "7g7f 3c3d 5e5d 1a1b");
        assert_eq!(cut.as_deref(), Some("'* 1 -3334FU"));
        let dance = "7g7f ".to_owned() + &"4a4b 4i4h 4b4a 4h4i ".repeat(10);
        let long = comment(EVEN, "7g7f", Score::Cp(1), &dance).unwrap();
        assert_eq!(long.split(' ').count(), 2 + MOVES);
    }
}

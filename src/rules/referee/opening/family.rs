//! Families of openings: what both sides made of rook and bishop.
//!
//! A family follows from the position alone, so that lines of moves and bare positions have one alike, and lines that
//! transpose have the same.

use std::fmt;

/// What a side made of its rook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Rook {
    /// On its own right-hand side: files 1 to 4 for black, 9 to 6 for white.
    Static,
    /// On the fifth file or on its own left-hand side.
    Ranging,
    /// Promoted, captured, or one of several.
    Free,
}

/// A family of openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family {
    /// Black's rook.
    pub black: Rook,
    /// White's rook.
    pub white: Rook,
    /// True if a bishop is in somebody's hand.
    pub bishops_exchanged: bool,
}

impl Family {
    /// The family of a position given as SFEN.
    pub fn of(sfen: &str) -> Self {
        let mut words = sfen.split(' ');
        let (board, hands) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
        let bishops_exchanged = hands.contains(['b', 'B']);
        Self { black: rook(board, 'R'), white: rook(board, 'r'), bishops_exchanged }
    }
}

/// What a side made of its rook, by the board of an SFEN.
fn rook(board: &str, piece: char) -> Rook {
    let mut files = board.split('/').flat_map(|rank| files_of(rank, piece));
    match (files.next(), files.next()) {
        (Some(file), None) => {
            let own = if piece == 'R' { file } else { 10 - file };
            if own <= 4 { Rook::Static } else { Rook::Ranging }
        }
        _ => Rook::Free,
    }
}

/// The files of a rank on which an unpromoted piece stands.
fn files_of(rank: &str, piece: char) -> impl Iterator<Item = u32> {
    let (mut file, mut promoted) = (9_u32, false);
    rank.chars().filter_map(move |letter| {
        if let Some(empty) = letter.to_digit(10) {
            file = file.saturating_sub(empty);
            return None;
        }
        if letter == '+' {
            promoted = true;
            return None;
        }
        let found = (letter == piece && !std::mem::take(&mut promoted)).then_some(file);
        promoted = false;
        file = file.saturating_sub(1);
        found
    })
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bishops = if self.bishops_exchanged { ", bishops exchanged" } else { "" };
        write!(f, "{} - {}{bishops}", self.black, self.white)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opening::EVEN;

    #[test]
    fn a_family_is_what_became_of_rooks_and_bishops() {
        let words = |sfen: &str| Family::of(sfen).to_string();
        assert_eq!(words(EVEN), "static - static");
        assert_eq!(
            words("lnsgkgsnl/1r7/pppppp1pp/6p2/9/2P6/PP1PPPPPP/2R6/LNSGKGSNL w Bb 1"),
            "ranging - static, bishops exchanged"
        );
        assert_eq!(
            words("lnsgkgsnl/4r2b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"),
            "static - ranging"
        );
        assert_eq!(words("lnsgkgsnl/7b1/pppppp+Rpp/9/9/9/PPPPPPP1P/1B7/LNSGKGSNL w r 1"), "free - free");
    }

    /// A board of kings and rooks on these files.
    fn board(black: u32, white: u32) -> String {
        let rank = |piece: char, file: u32| {
            let gap = |empty: u32| if empty == 0 { String::new() } else { empty.to_string() };
            format!("{}{piece}{}", gap(9 - file), gap(file - 1))
        };
        format!("4k4/{}/9/9/9/9/9/{}/4K4 b - 1", rank('r', white), rank('R', black))
    }

    #[test]
    fn a_rook_is_static_on_its_own_four_files_and_ranging_from_the_fifth_on() {
        for file in 1..=9 {
            let black = if file <= 4 { Rook::Static } else { Rook::Ranging };
            let white = if file >= 6 { Rook::Static } else { Rook::Ranging };
            let family = Family::of(&board(file, file));
            assert_eq!((family.black, family.white), (black, white), "file {file}");
        }
    }

    #[test]
    fn a_rook_that_is_promoted_in_hand_or_one_of_two_is_free_and_a_promoted_neighbour_changes_nothing() {
        let black = |rank: &str| Family::of(&format!("4k4/9/9/9/9/9/9/{rank}/4K4 b - 1")).black;
        assert_eq!(black("7R1"), Rook::Static);
        assert_eq!(black("7+R1"), Rook::Free);
        assert_eq!(black("9"), Rook::Free);
        assert_eq!(black("1R5R1"), Rook::Free);
        assert_eq!(black("1+R5R1"), Rook::Static, "the other one is promoted");
        assert_eq!(black("+B1+P3R2"), Rook::Static, "a promoted piece before it is another one");
        assert_eq!(black("5+PR2"), Rook::Static);
        assert_eq!(black("PPPPRPPPP"), Rook::Ranging);
        assert_eq!(black("PPPPPRPPP"), Rook::Static);
    }

    #[test]
    fn bishops_are_exchanged_when_one_is_in_a_hand_and_not_when_a_side_to_move_is_called_b() {
        let exchanged =
            |hands: &str| Family::of(&format!("4k4/9/9/9/9/9/9/7R1/4K4 b {hands} 1")).bishops_exchanged;
        assert_eq!(["-", "b", "B", "2P", "Bb"].map(exchanged), [false, true, true, false, true]);
    }
}

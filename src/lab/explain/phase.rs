//! Phases of a game.

use serde::Serialize;
use std::fmt;

/// Plies of the opening.
const OPENING: u32 = 30;
/// Pieces in hand and promoted pieces, of both sides, from which on a position is an endgame.
const PIECES: usize = 8;

/// A phase of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, strum::VariantArray)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Up to ply 30.
    Opening,
    /// Neither opening nor endgame.
    Middlegame,
    /// Eight or more pieces are in hand or promoted.
    Endgame,
}

impl Phase {
    /// All of them, in their order.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The phase of a position, by the number of the move that is to be made in it and its SFEN.
    pub fn of(ply: u32, sfen: &str) -> Self {
        let mut words = sfen.split_whitespace();
        let promoted = words.next().unwrap_or_default().matches('+').count();
        let hands = words.nth(1).unwrap_or_default();
        match in_hand(hands) + promoted {
            PIECES.. => Self::Endgame,
            _ if ply <= OPENING => Self::Opening,
            _ => Self::Middlegame,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Middlegame => "middlegame",
            Self::Endgame => "endgame",
        }
    }
}

/// Pieces in the hands of an SFEN: `2P` are two.
fn in_hand(hands: &str) -> usize {
    let (mut sum, mut count) = (0, 0);
    for c in hands.chars() {
        match c.to_digit(10) {
            Some(digit) => count = 10 * count + digit as usize,
            None if c.is_ascii_alphabetic() => {
                sum += count.max(1);
                count = 0;
            }
            None => {}
        }
    }
    sum
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_goes_by_the_ply_and_by_what_is_in_hand_or_promoted() {
        let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b";
        assert_eq!(Phase::of(30, &format!("{start} - 30")), Phase::Opening);
        assert_eq!(Phase::of(31, &format!("{start} BPb2p 31")), Phase::Middlegame);
        assert_eq!(Phase::of(25, &format!("{start} RB10P2p 25")), Phase::Endgame);
        assert_eq!(Phase::of(60, "+P+P+P+P+P+P4/9/9/9/9/9/9/9/4k4 b 2P 60"), Phase::Endgame);
    }
}

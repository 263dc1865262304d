//! Evaluations as every screen, page and picture shows them.
//!
//! An engine prints its evaluation from its own side. Everything that is shown is from black's side: a positive number is
//! good for black (☗), whichever engine printed it, and a mate names the side that mates.

use crate::{
    Color,
    entry::{Moved, Score},
};
use std::fmt;

/// An evaluation from black's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// Centipawns; positive is good for black.
    Cp(i32),
    /// A mate.
    Mate {
        /// The side that mates.
        winner: Color,
        /// Plies to the mate, where the engine knows them.
        plies: Option<u32>,
    },
}

/// Centipawns from which an evaluation is a mate of unknown length: engines without a word for it print such numbers, as
/// on floodgate.
const MATE: i32 = 100_000;

/// Plies of a mate that still count in [`Evaluation::centipawns`].
const FARTHEST: u32 = 999;

impl Evaluation {
    /// The evaluation that `mover` printed.
    #[must_use]
    pub fn of(score: Score, mover: Color) -> Self {
        let winner = |for_mover: bool| if for_mover { mover } else { !mover };
        match score {
            Score::Cp(cp) if cp.unsigned_abs() >= MATE.unsigned_abs() => {
                Self::Mate { winner: winner(cp > 0), plies: None }
            }
            Score::Cp(cp) => Self::Cp(if mover == Color::Black { cp } else { -cp }),
            Score::Mate(plies) => {
                let known = Some(plies.unsigned_abs()).filter(|&known| known < i32::MAX.unsigned_abs());
                Self::Mate { winner: winner(plies > 0), plies: known }
            }
        }
    }

    /// The evaluation of a move; `None` where the engine printed none.
    #[must_use]
    pub fn of_move(moved: &Moved) -> Option<Self> {
        Some(Self::of(moved.thought.as_ref()?.score?, moved.color))
    }

    /// Centipawns from black's side, mates beyond every other evaluation: ±(100000 − plies).
    #[must_use]
    pub fn centipawns(self) -> i32 {
        match self {
            Self::Cp(cp) => cp,
            Self::Mate { winner, plies } => {
                let size = MATE - i32::try_from(plies.unwrap_or(FARTHEST).min(FARTHEST)).unwrap_or(0);
                if winner == Color::Black { size } else { -size }
            }
        }
    }

    /// Expected score of black, from 0 to 1. 600 centipawns are one unit of log odds, the convention of shogi programs
    /// since Ponanza.
    #[must_use]
    pub fn black_share(self) -> f64 {
        1.0 / (1.0 + (-f64::from(self.centipawns()) / 600.0).exp())
    }
}

impl fmt::Display for Evaluation {
    /// `+676`, `-676`, `0`, `☗ mate in 5`, `☖ mate`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cp(0) => f.pad("0"),
            Self::Cp(cp) => f.pad(&format!("{cp:+}")),
            Self::Mate { winner, plies } => {
                let length = plies.filter(|&plies| plies > 0).map(|plies| format!(" in {plies}"));
                f.pad(&format!("{} mate{}", winner.sign(), length.unwrap_or_default()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_judgement_reads_the_same_whichever_engine_prints_it() {
        for (own, other, words) in [
            (Score::Cp(-676), Score::Cp(676), "-676"),
            (Score::Cp(120), Score::Cp(-120), "+120"),
            (Score::Cp(0), Score::Cp(0), "0"),
            (Score::Mate(5), Score::Mate(-5), "☗ mate in 5"),
            (Score::Mate(-4), Score::Mate(4), "☖ mate in 4"),
            (Score::Mate(-i32::MAX), Score::Mate(i32::MAX), "☖ mate"),
        ] {
            let said = [Evaluation::of(own, Color::Black), Evaluation::of(other, Color::White)];
            assert_eq!(said.map(|evaluation| evaluation.to_string()), [words; 2]);
            assert_eq!(said[0].centipawns(), said[1].centipawns());
        }
    }

    #[test]
    fn a_number_that_stands_for_a_mate_is_a_mate() {
        let white_mates = Evaluation::of(Score::Cp(1_148_897), Color::White);
        assert_eq!(white_mates, Evaluation::Mate { winner: Color::White, plies: None });
        assert_eq!(white_mates.to_string(), "☖ mate");
        assert_eq!(Evaluation::of(Score::Cp(i32::MIN), Color::Black).to_string(), "☖ mate");
        assert_eq!(Evaluation::of(Score::Cp(99_999), Color::Black).to_string(), "+99999");
    }

    #[test]
    fn the_side_that_is_mated_now_has_lost() {
        let mated = Evaluation::of(Score::Mate(0), Color::Black);
        assert_eq!((mated.to_string().as_str(), mated.centipawns()), ("☖ mate", -100_000));
    }

    #[test]
    fn a_nearer_mate_is_worth_more_than_a_farther_one_and_any_number() {
        let plies = [Some(1), Some(50), None].map(|plies| Evaluation::Mate { winner: Color::Black, plies });
        let worth = plies.map(Evaluation::centipawns);
        assert!(worth[0] > worth[1] && worth[1] > worth[2], "{worth:?}");
        assert!(Evaluation::Cp(600).black_share() > 0.73 && Evaluation::Cp(-600).black_share() < 0.27);
        assert!(plies[2].black_share() > 0.999_999);
    }
}

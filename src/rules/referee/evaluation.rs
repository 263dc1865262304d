//! Evaluations as every screen, page and picture shows them.
//!
//! An engine prints its evaluation from its own side. Everything that is shown is from black's side: a positive number is
//! good for black (☗), whichever engine printed it, and a mate names the side that mates.

use crate::{
    Color,
    entry::{Moved, Score},
};
use serde::{Deserialize, Serialize};
use std::{fmt, num::NonZeroU32};

/// The scale of an engine's scores: its centipawns that are one unit of log odds of the results of its games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScoreScale(NonZeroU32);

impl Default for ScoreScale {
    fn default() -> Self {
        Self::COMMON
    }
}

impl ScoreScale {
    /// The common scale itself, that of an engine of which nothing else is known: 600 centipawns, the convention of shogi
    /// programs since Ponanza.
    pub const COMMON: Self = Self(NonZeroU32::MIN.saturating_add(599));

    /// A scale of so many centipawns; `None` for 0.
    pub fn new(centipawns: u32) -> Option<Self> {
        NonZeroU32::new(centipawns).map(Self)
    }

    /// Centipawns of one unit of log odds.
    pub const fn centipawns(self) -> u32 {
        self.0.get()
    }

    /// Centipawns of the common scale that one of the engine is worth.
    pub fn worth(self) -> f64 {
        f64::from(Self::COMMON.centipawns()) / f64::from(self.centipawns())
    }

    /// A score of the engine on the common scale; a mate is a mate on each, and no number becomes one.
    pub fn common_score(self, score: Score) -> Score {
        match score {
            Score::Cp(cp) if cp.unsigned_abs() < MATE.unsigned_abs() => {
                Score::Cp(self.common(cp).clamp(1 - MATE, MATE - 1))
            }
            mate => mate,
        }
    }

    /// Centipawns of the engine on the common scale, rounded towards zero. Whole numbers alone, so that every machine finds
    /// the same.
    pub fn common(self, centipawns: i32) -> i32 {
        let common = i64::from(centipawns) * i64::from(Self::COMMON.0.get()) / i64::from(self.0.get());
        i32::try_from(common).unwrap_or(if common > 0 { i32::MAX } else { i32::MIN })
    }
}

/// What is known of the scales of the players' scores in a game.
///
/// Whatever shows the curves of a game asks here: where a scale is given, all of them are on the common scale and are marked
/// so; where none is, each is as its engine printed it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameScales([Option<ScoreScale>; 2]);

impl GameScales {
    /// Those of black and of white; `None` where none is given.
    pub fn new(given: [Option<ScoreScale>; 2]) -> Self {
        Self(given)
    }

    /// True if a scale is given, so that the curves of the game are on the common scale.
    pub fn are_given(self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// Those of both, black's first: the common one where none is given.
    pub fn both(self) -> [ScoreScale; 2] {
        self.0.map(Option::unwrap_or_default)
    }

    /// An evaluation that `mover` printed, as curves show it.
    pub fn curve(self, evaluation: Evaluation, mover: Color) -> Evaluation {
        evaluation.on_common(self.both()[mover.index()])
    }

    /// Centipawns of the common scale that one of each player is worth, black's first, for scripts that draw curves;
    /// `None` where no scale is given.
    pub fn worth(self) -> Option<[f64; 2]> {
        self.are_given().then(|| self.both().map(ScoreScale::worth))
    }
}

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

    /// The evaluation on the common scale, where the engine's own scale is this one; a mate is a mate on each.
    #[must_use]
    pub fn on_common(self, scale: ScoreScale) -> Self {
        match self {
            Self::Cp(cp) => Self::of(scale.common_score(Score::Cp(cp)), Color::Black),
            mate @ Self::Mate { .. } => mate,
        }
    }

    /// The evaluation of a move; `None` where the engine printed none.
    pub fn of_move(moved: &Moved) -> Option<Self> {
        Some(Self::of(moved.thought.as_ref()?.score?, moved.color))
    }

    /// Centipawns from black's side, mates beyond every other evaluation: ±(100000 − plies).
    pub fn centipawns(self) -> i32 {
        match self {
            Self::Cp(cp) => cp,
            Self::Mate { winner, plies } => {
                let size = MATE - i32::try_from(plies.unwrap_or(FARTHEST).min(FARTHEST)).unwrap_or(0);
                if winner == Color::Black { size } else { -size }
            }
        }
    }

    /// Expected score of black, from 0 to 1, for an evaluation on the common scale.
    pub fn black_share(self) -> f64 {
        1.0 / (1.0 + (-f64::from(self.centipawns()) / f64::from(ScoreScale::COMMON.centipawns())).exp())
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
    fn scores_of_another_scale_mean_the_same_on_the_common_one() {
        let scale = ScoreScale::new(918).unwrap();
        let common = |cp| Evaluation::Cp(cp).on_common(scale).centipawns();
        assert_eq!([1530, -1530, -1529, 0].map(common), [1000, -1000, -999, 0]);
        assert_eq!(Evaluation::Cp(1234).on_common(ScoreScale::default()), Evaluation::Cp(1234));
        let mate = Evaluation::Mate { winner: Color::White, plies: Some(3) };
        assert_eq!(mate.on_common(scale), mate);
        // However small a scale is, a number does not become a mate.
        let largest = Evaluation::Cp(-99_999).on_common(ScoreScale::new(1).unwrap());
        assert_eq!(largest, Evaluation::Cp(-99_999));
        assert_eq!(ScoreScale::new(0), None);
        assert!(serde_json::from_str::<ScoreScale>("0").is_err());
    }

    #[test]
    fn curves_are_on_the_common_scale_as_soon_as_one_player_has_a_scale() {
        let none = GameScales::default();
        assert!(!none.are_given() && none.worth().is_none());
        assert_eq!(none.curve(Evaluation::Cp(918), Color::White), Evaluation::Cp(918));
        let white = GameScales::new([None, ScoreScale::new(1200)]);
        assert!(white.are_given());
        let curve = |mover| white.curve(Evaluation::Cp(918), mover);
        assert_eq!([curve(Color::Black), curve(Color::White)], [Evaluation::Cp(918), Evaluation::Cp(459)]);
        assert_eq!(white.worth(), Some([1.0, 0.5]));
        // The common scale itself is a scale that was given.
        assert!(GameScales::new([Some(ScoreScale::COMMON), None]).are_given());
        let scale = ScoreScale::new(1200).unwrap();
        let common =
            [Score::Cp(-918), Score::Mate(-3), Score::Cp(1_148_897)].map(|score| scale.common_score(score));
        assert_eq!(common, [Score::Cp(-459), Score::Mate(-3), Score::Cp(1_148_897)]);
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

    #[test]
    fn the_evaluation_of_a_move_is_from_blacks_side() {
        let moved = |color, score| Moved {
            game: crate::ids::GameId(1),
            ply: 1,
            color,
            mv: rsshogi::types::Move::from_usi("7g7f").unwrap(),
            charged: std::time::Duration::ZERO,
            elapsed: std::time::Duration::ZERO,
            left: std::time::Duration::ZERO,
            thought: Some(Box::new(crate::entry::Thought { score, ..Default::default() })),
        };
        let of = |color, score| Evaluation::of_move(&moved(color, score));
        assert_eq!(of(Color::White, Some(Score::Cp(50))), Some(Evaluation::Cp(-50)));
        assert_eq!(of(Color::Black, Some(Score::Cp(50))), Some(Evaluation::Cp(50)));
        assert_eq!(of(Color::Black, None), None);
        assert_eq!(Evaluation::of_move(&Moved { thought: None, ..moved(Color::Black, None) }), None);
        let mates = [100_000, -100_000].map(|cp| Evaluation::of(Score::Cp(cp), Color::Black));
        assert_eq!(mates.map(|mate| mate.centipawns()), [99_001, -99_001]);
    }
}

//! The ending of a game as one value. The winner is part of it and stored nowhere else.

use crate::Color;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The ending of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Outcome {
    /// One side won.
    Win {
        /// The winner.
        winner: Color,
        /// The cause.
        by: WinBy,
    },
    /// Neither side won; the game counts.
    Draw {
        /// The cause.
        by: DrawBy,
    },
    /// The game does not count. It is played again when the event goes on, unless it is left out
    /// ([`AbortBy::Missing`], [`AbortBy::Annulled`], [`AbortBy::NoResult`]).
    Aborted {
        /// The cause.
        by: AbortBy,
    },
}

/// The cause of a win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WinBy {
    /// The loser has no legal move.
    Mate,
    /// The loser resigned.
    Resignation,
    /// The loser's flag fell.
    Time,
    /// The loser played an illegal move.
    IllegalMove(Foul),
    /// The winner declared (or reached the try square) by the rule in force.
    Declaration,
    /// The loser declared without the right to.
    IllegalDeclaration,
    /// The loser gave perpetual check.
    PerpetualCheck,
    /// The loser's process or connection ended, or it never became ready.
    Disconnection,
    /// The scores of the engines passed the resign rule of the event.
    Adjudication,
    /// The loser did not appear.
    Default,
    /// The operator of the event ruled so.
    Ruling,
    /// The loser did what the protocol forbids outside its moves, such as too many keep-alives; only foreign servers
    /// rule so (`#ILLEGAL_ACTION`).
    IllegalAction,
}

impl WinBy {
    /// True if the loser failed outside shogi itself: by time, a lost process or connection, or an illegal move. A loss by
    /// default is none: it was not played, and its loser may have withdrawn.
    pub fn is_fault(self) -> bool {
        match self {
            Self::Time
            | Self::Disconnection
            | Self::IllegalAction
            | Self::IllegalDeclaration
            | Self::IllegalMove(_) => true,
            Self::Mate
            | Self::Resignation
            | Self::Declaration
            | Self::PerpetualCheck
            | Self::Adjudication
            | Self::Default
            | Self::Ruling => false,
        }
    }

    /// True if the loser was not there: it left, or never came.
    pub fn is_walkout(self) -> bool {
        match self {
            Self::Disconnection | Self::Default => true,
            Self::Mate | Self::Resignation | Self::Declaration | Self::PerpetualCheck => false,
            Self::Time | Self::Adjudication | Self::Ruling => false,
            Self::IllegalMove(_) | Self::IllegalAction | Self::IllegalDeclaration => false,
        }
    }

    /// True if the game was won without play: it is no meeting of the two, and says nothing about either engine.
    pub fn is_default(self) -> bool {
        match self {
            Self::Default => true,
            Self::Mate | Self::Resignation | Self::Declaration | Self::PerpetualCheck => false,
            Self::Time | Self::Disconnection | Self::Adjudication | Self::Ruling => false,
            Self::IllegalMove(_) | Self::IllegalAction | Self::IllegalDeclaration => false,
        }
    }
}

/// The rule that an illegal move broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Foul {
    /// Two unpromoted pawns of one side on a file.
    Nifu,
    /// Mate by dropping a pawn.
    Uchifuzume,
    /// The square the move starts from is empty.
    NoPiece,
    /// The piece belongs to the opponent.
    OpponentsPiece,
    /// The target square holds a piece of the mover.
    OwnPieceOnTarget,
    /// A drop onto a square that is not empty.
    DropOnPiece,
    /// The piece cannot move that way, or another piece blocks it.
    Unreachable,
    /// The mover's king is left in check.
    KingLeftInCheck,
    /// A pawn, lance or knight that could never move again.
    DeadPiece,
    /// A promotion of a piece, or in a place, that cannot promote.
    BadPromotion,
    /// A drop of a piece that is not in hand.
    NotInHand,
    /// A move while the opponent was to move.
    OutOfTurn,
    /// The text is not a move.
    Unreadable,
}

/// The cause of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawBy {
    /// Fourfold repetition without perpetual check.
    Sennichite,
    /// The move limit was reached.
    MaxMoves,
    /// A declaration under the 24-point rule with 24 to 30 points.
    Impasse,
    /// The scores of the engines passed the draw rule of the event.
    Adjudication,
    /// The operator of the event ruled so.
    Ruling,
}

/// The reason why a game does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbortBy {
    /// The event was stopped while the game was running.
    Stopped,
    /// A player could not start or turned the game down; no move was made.
    NotStarted,
    /// The foreign server ended the game without a result.
    Server,
    /// Neither player appeared, or one did not and the event does not count that as a loss. The game is left out for
    /// good.
    Missing,
    /// The operator of the event ruled that the game does not count. It is left out for good.
    Annulled,
    /// The record that the game was imported from has no result.
    NoResult,
}

impl Outcome {
    /// A loss of `color` by `by`.
    pub fn loss(color: Color, by: WinBy) -> Self {
        Self::Win { winner: !color, by }
    }

    /// The winner, if there is one.
    pub fn winner(self) -> Option<Color> {
        match self {
            Self::Win { winner, .. } => Some(winner),
            Self::Draw { .. } | Self::Aborted { .. } => None,
        }
    }

    /// Twice black's score: 2 for a win, 1 for a draw, 0 for a loss; `None` when the game does not count.
    pub fn black_half_points(self) -> Option<u8> {
        match self {
            Self::Win { winner: Color::Black, .. } => Some(2),
            Self::Win { winner: Color::White, .. } => Some(0),
            Self::Draw { .. } => Some(1),
            Self::Aborted { .. } => None,
        }
    }

    /// Twice `color`'s score; `None` when the game does not count.
    pub fn half_points(self, color: Color) -> Option<u8> {
        self.black_half_points().map(|black| if color == Color::Black { black } else { 2 - black })
    }

    /// True if the game is left out for good: it does not count, and its place in the schedule is not played again.
    pub fn is_left_out(self) -> bool {
        match self {
            Self::Win { .. } | Self::Draw { .. } => false,
            Self::Aborted { by } => match by {
                AbortBy::Missing | AbortBy::Annulled | AbortBy::NoResult => true,
                AbortBy::Stopped | AbortBy::NotStarted | AbortBy::Server => false,
            },
        }
    }

    /// True if the game counts.
    pub fn counts(self) -> bool {
        !matches!(self, Self::Aborted { .. })
    }

    /// The cause alone, as it is written in the database, in JSON and in reports: `time`, `sennichite`,
    /// `illegal-move:nifu` ...
    pub fn cause(self) -> &'static str {
        match self {
            Self::Win { by, .. } => by.name(),
            Self::Draw { by } => by.name(),
            Self::Aborted { by } => by.name(),
        }
    }

    /// The result in a word: `black`, `white`, `draw`, or `none` for a game that does not count.
    pub fn result(self) -> &'static str {
        match self {
            Self::Win { winner: Color::Black, .. } => "black",
            Self::Win { winner: Color::White, .. } => "white",
            Self::Draw { .. } => "draw",
            Self::Aborted { .. } => "none",
        }
    }

    /// The result as a score: `1-0`, `0-1`, `1/2`, or `---` for a game that does not count.
    pub fn score_words(self) -> &'static str {
        match self {
            Self::Win { winner: Color::Black, .. } => "1-0",
            Self::Win { winner: Color::White, .. } => "0-1",
            Self::Draw { .. } => "1/2",
            Self::Aborted { .. } => "---",
        }
    }

    /// The inverse of [`Outcome::cause`] and [`Outcome::winner`]; `None` for an unknown word.
    pub fn from_cause(cause: &str, winner: Option<Color>) -> Option<Self> {
        match winner {
            Some(winner) => {
                WinBy::ALL.iter().find(|by| by.name() == cause).map(|&by| Self::Win { winner, by })
            }
            None => None
                .or_else(|| DrawBy::ALL.iter().find(|by| by.name() == cause).map(|&by| Self::Draw { by }))
                .or_else(|| {
                    AbortBy::ALL.iter().find(|by| by.name() == cause).map(|&by| Self::Aborted { by })
                }),
        }
    }
}

/// Defines the words of an enum in one place: `name` writes them, and `ALL` lists the values for reading them. A value
/// without a word does not compile.
macro_rules! words {
    ($type:ident { $($variant:ident $(($foul:path))? => $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant $(($foul))?),+];

            /// The word for it in the database, JSON and reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant $(($foul))? => $word),+ }
            }
        }
    };
}

words!(WinBy {
    Mate => "mate",
    Resignation => "resignation",
    Time => "time",
    Declaration => "declaration",
    IllegalDeclaration => "illegal-declaration",
    PerpetualCheck => "perpetual-check",
    Disconnection => "disconnection",
    Adjudication => "adjudication",
    Default => "default",
    IllegalAction => "illegal-action",
    Ruling => "ruling",
    IllegalMove(Foul::Nifu) => "illegal-move:nifu",
    IllegalMove(Foul::Uchifuzume) => "illegal-move:uchifuzume",
    IllegalMove(Foul::NoPiece) => "illegal-move:no-piece",
    IllegalMove(Foul::OpponentsPiece) => "illegal-move:opponents-piece",
    IllegalMove(Foul::OwnPieceOnTarget) => "illegal-move:own-piece-on-target",
    IllegalMove(Foul::DropOnPiece) => "illegal-move:drop-on-piece",
    IllegalMove(Foul::Unreachable) => "illegal-move:unreachable",
    IllegalMove(Foul::KingLeftInCheck) => "illegal-move:king-left-in-check",
    IllegalMove(Foul::DeadPiece) => "illegal-move:dead-piece",
    IllegalMove(Foul::BadPromotion) => "illegal-move:bad-promotion",
    IllegalMove(Foul::NotInHand) => "illegal-move:not-in-hand",
    IllegalMove(Foul::OutOfTurn) => "illegal-move:out-of-turn",
    IllegalMove(Foul::Unreadable) => "illegal-move:unreadable",
});
words!(DrawBy {
    Sennichite => "sennichite",
    MaxMoves => "max-moves",
    Impasse => "impasse",
    Adjudication => "draw-adjudication",
    Ruling => "ruling",
});
words!(AbortBy {
    Stopped => "stopped",
    NotStarted => "not-started",
    Server => "server",
    Missing => "missing",
    Annulled => "annulled",
    NoResult => "no-result",
});

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Win { winner, by } => write!(f, "{winner} wins by {}", by.name()),
            Self::Draw { by } => write!(f, "draw by {}", by.name()),
            Self::Aborted { by } => write!(f, "not counted: {}", by.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_read_back_from_its_words() {
        let wins = WinBy::ALL.iter().map(|&by| Outcome::Win { winner: Color::White, by });
        let draws = DrawBy::ALL.iter().map(|&by| Outcome::Draw { by });
        let aborted = AbortBy::ALL.iter().map(|&by| Outcome::Aborted { by });
        for outcome in wins.chain(draws).chain(aborted) {
            assert_eq!(Outcome::from_cause(outcome.cause(), outcome.winner()), Some(outcome));
        }
        assert_eq!(Outcome::from_cause("boredom", None), None);
    }

    #[test]
    fn half_points_of_both_sides_add_up_to_two() {
        let win = Outcome::loss(Color::Black, WinBy::Time);
        assert_eq!((win.half_points(Color::Black), win.half_points(Color::White)), (Some(0), Some(2)));
        assert_eq!(Outcome::Aborted { by: AbortBy::Stopped }.half_points(Color::Black), None);
    }

    const ALL: [(Outcome, [&str; 3], Option<u8>); 4] = [
        (
            Outcome::Win { winner: Color::Black, by: WinBy::Mate },
            ["black", "1-0", "black wins by mate"],
            Some(2),
        ),
        (
            Outcome::Win { winner: Color::White, by: WinBy::Time },
            ["white", "0-1", "white wins by time"],
            Some(0),
        ),
        (Outcome::Draw { by: DrawBy::MaxMoves }, ["draw", "1/2", "draw by max-moves"], Some(1)),
        (Outcome::Aborted { by: AbortBy::Server }, ["none", "---", "not counted: server"], None),
    ];

    #[test]
    fn an_ending_has_its_words_and_its_half_points_for_either_side() {
        for (outcome, [result, score, text], black) in ALL {
            assert_eq!(
                (outcome.result(), outcome.score_words(), outcome.to_string()),
                (result, score, text.to_owned())
            );
            assert_eq!((outcome.black_half_points(), outcome.half_points(Color::Black)), (black, black));
            assert_eq!(
                outcome.half_points(Color::White),
                black.map(|black| 2 - black),
                "a draw is one half point each"
            );
            assert_eq!(outcome.counts(), black.is_some());
        }
        let winners = ALL.map(|(outcome, ..)| outcome.winner());
        assert_eq!(winners, [Some(Color::Black), Some(Color::White), None, None]);
        assert_eq!(Outcome::loss(Color::Black, WinBy::Mate).winner(), Some(Color::White));
    }

    /// Databases, JSON and reports of years hold these words.
    #[test]
    fn the_words_of_every_ending_are_those_that_are_stored() {
        let wins: Vec<&str> = WinBy::ALL.iter().map(|by| by.name()).collect();
        assert_eq!(
            wins,
            [
                "mate",
                "resignation",
                "time",
                "declaration",
                "illegal-declaration",
                "perpetual-check",
                "disconnection",
                "adjudication",
                "default",
                "illegal-action",
                "ruling",
                "illegal-move:nifu",
                "illegal-move:uchifuzume",
                "illegal-move:no-piece",
                "illegal-move:opponents-piece",
                "illegal-move:own-piece-on-target",
                "illegal-move:drop-on-piece",
                "illegal-move:unreachable",
                "illegal-move:king-left-in-check",
                "illegal-move:dead-piece",
                "illegal-move:bad-promotion",
                "illegal-move:not-in-hand",
                "illegal-move:out-of-turn",
                "illegal-move:unreadable",
            ]
        );
        let draws: Vec<&str> = DrawBy::ALL.iter().map(|by| by.name()).collect();
        assert_eq!(draws, ["sennichite", "max-moves", "impasse", "draw-adjudication", "ruling"]);
        let aborted: Vec<&str> = AbortBy::ALL.iter().map(|by| by.name()).collect();
        assert_eq!(aborted, ["stopped", "not-started", "server", "missing", "annulled", "no-result"]);
        for foul in fouls() {
            let name = WinBy::IllegalMove(foul).name();
            let json = serde_json::to_value(foul).unwrap();
            assert_eq!(Some(name), json.as_str().map(|foul| format!("illegal-move:{foul}")).as_deref());
        }
    }

    /// Every foul: one without a word does not compile.
    fn fouls() -> impl Iterator<Item = Foul> {
        WinBy::ALL.iter().filter_map(|by| if let WinBy::IllegalMove(foul) = by { Some(*foul) } else { None })
    }

    #[test]
    fn faults_wins_without_play_and_games_that_are_left_out_are_those_and_no_others() {
        let named = |is: fn(WinBy) -> bool| -> Vec<&str> {
            WinBy::ALL
                .iter()
                .filter(|by| is(**by))
                .map(|by| by.name())
                .filter(|name| !name.contains(':'))
                .collect()
        };
        assert_eq!(
            named(WinBy::is_fault),
            ["time", "illegal-declaration", "disconnection", "illegal-action"]
        );
        assert_eq!(named(WinBy::is_default), ["default"]);
        assert!(
            fouls().map(WinBy::IllegalMove).all(|by| by.is_fault() && !by.is_default() && !by.is_walkout())
        );
        let left_out: Vec<&str> = AbortBy::ALL
            .iter()
            .filter(|by| Outcome::Aborted { by: **by }.is_left_out())
            .map(|by| by.name())
            .collect();
        assert_eq!(left_out, ["missing", "annulled", "no-result"]);
        assert!(ALL[..3].iter().all(|(outcome, ..)| !outcome.is_left_out()));
    }
}

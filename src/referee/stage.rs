//! What a stage of an event is: its format, the length of its encounters, its entrants.

use serde::{Deserialize, Serialize};

/// One stage of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Who meets whom.
    pub format: Format,
    /// Games of an encounter (a pair of players meeting once): even numbers give both players both colours.
    pub games: u32,
    /// How many players enter: the first so many of the stage before (by its standings) or, in the first stage, of
    /// the list of players; `None`: all.
    pub entrants: Option<u16>,
}

/// Who meets whom in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "format")]
pub enum Format {
    /// Everybody meets everybody, `cycles` times (1: single, 2: double).
    RoundRobin {
        /// How often each pair meets.
        cycles: u32,
    },
    /// The first `challengers` players meet each of the others, `cycles` times.
    Gauntlet {
        /// How many players of the list challenge the rest.
        challengers: u16,
        /// How often each pair meets.
        cycles: u32,
    },
    /// Players of equal score meet; colours are balanced; no rematch until it cannot be avoided.
    Swiss {
        /// How many rounds.
        rounds: u32,
    },
    /// The loser of an encounter is out; seeded by the order of entry (the first and the second can meet only in the
    /// final).
    Knockout {
        /// What decides an encounter that ends level.
        tie: Tie,
    },
    /// The first two players, in colour-swapped pairs, until a sequential test has its verdict or `max_games` are
    /// played; `games` of the stage is not used.
    Sprt {
        /// Games at most.
        max_games: u64,
    },
}

/// What decides a level knock-out encounter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tie {
    /// Two more games at a time, at most `extra` pairs of them, then the higher seed.
    MoreGames {
        /// How many pairs at most.
        extra: u32,
    },
    /// The higher seed goes on.
    #[default]
    HigherSeed,
}

impl Stage {
    /// Games of an encounter before any tie rule, at least one.
    pub(crate) fn encounter_games(&self) -> u64 {
        match self.format {
            Format::Sprt { .. } => 2,
            _ => u64::from(self.games.max(1)),
        }
    }

    /// Indices of an encounter: its games and the extra ones it may need.
    pub(crate) fn stride(&self) -> u64 {
        match self.format {
            Format::Knockout { tie: Tie::MoreGames { extra } } => {
                self.encounter_games() + 2 * u64::from(extra)
            }
            _ => self.encounter_games(),
        }
    }
}

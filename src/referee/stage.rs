//! The stages of an event: format, length of encounters, entrants.

use serde::{Deserialize, Serialize};

/// One stage of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The format.
    pub format: Format,
    /// Games of an encounter (all games of two players who meet once); an even number gives both players both
    /// colours.
    pub games: u32,
    /// Number of players who enter: the first of the ranking of the stage before or, in the first stage, of the list
    /// of players. `None`: all.
    pub entrants: Option<u16>,
}

/// The rule by which players of a stage meet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "format")]
pub enum Format {
    /// Every player meets every other, `cycles` times (1: single, 2: double).
    RoundRobin {
        /// Encounters of each two players.
        cycles: u32,
    },
    /// The first `challengers` players meet each of the others, `cycles` times.
    Gauntlet {
        /// Number of challengers, from the start of the list.
        challengers: u16,
        /// Encounters of each two players.
        cycles: u32,
    },
    /// Every player meets another one in each round, by lot.
    Random {
        /// Number of rounds.
        rounds: u32,
    },
    /// Players of equal score meet; colours are balanced; rematches only where they cannot be avoided.
    Swiss {
        /// Number of rounds.
        rounds: u32,
    },
    /// The loser of an encounter is eliminated; seeded by the order of entry (the first and the second can meet only
    /// in the final).
    Knockout {
        /// Rule for a level encounter.
        tie: Tie,
    },
    /// The first two players, in colour-swapped pairs, until a sequential test has its verdict or `max_games` are
    /// played; `games` of the stage is ignored.
    Sprt {
        /// Most games.
        max_games: u64,
    },
}

/// Rule for a level encounter of a knock-out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tie {
    /// Two more games at a time, at most `extra` pairs of them, then the higher seed.
    MoreGames {
        /// Most pairs of extra games.
        extra: u32,
    },
    /// The higher seed advances.
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

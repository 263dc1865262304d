//! The stages of an event: format, length of encounters, entrants.

use rating::precision::Precision;
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
    /// Where its players come from, if not all from the stage before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub entry: EntryRules,
    /// How players are paired, where that is not the usual way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub pairing: SwissRules,
}

impl Default for Stage {
    /// A round robin of single games between all players.
    fn default() -> Self {
        Self {
            format: Format::RoundRobin { cycles: 1 },
            games: 1,
            entrants: None,
            entry: EntryRules::default(),
            pairing: SwissRules::default(),
        }
    }
}

/// The precision that ends an event; `None` where no stage has one.
pub fn precision(stages: &[Stage]) -> Option<Precision> {
    stages.iter().find_map(|stage| match stage.format {
        Format::Precision { within, .. } => Some(within),
        _ => None,
    })
}

fn is_default<T: Default + PartialEq>(rules: &T) -> bool {
    *rules == T::default()
}

/// Where the players of a stage come from: seeds, then those of an earlier stage by its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntryRules {
    /// Players who enter the event with this stage: the first of the list of players, after the seeds of later stages.
    pub seeded: u16,
    /// The earlier stage whose table the others come from, from 0; `None`: the stage before.
    pub of: Option<u8>,
    /// The first so many of that table do not enter.
    pub skip: u16,
}

impl EntryRules {
    /// The stage whose table the players of stage `at` come from; `None` for the first one.
    pub(crate) fn source(self, at: usize) -> Option<usize> {
        let before = at.checked_sub(1)?;
        Some(self.of.map_or(before, usize::from).min(before))
    }
}

/// The seats of the seeds of a stage in the list of players; in the first stage those of everybody who enters there.
pub(crate) fn seeds(stages: &[Stage], players: usize, at: usize) -> std::ops::Range<usize> {
    let later =
        stages.iter().skip(at + 1).map(|stage| usize::from(stage.entry.seeded)).sum::<usize>().min(players);
    match (at, stages.get(at)) {
        (0, _) | (_, None) => later..players,
        (_, Some(stage)) => later..(later + usize::from(stage.entry.seeded)).min(players),
    }
}

/// How players are paired: all of it in a Swiss, the colours in every format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SwissRules {
    /// Rounds in which the upper half is paired as if it had points more.
    pub accelerated: u32,
    /// Rounds at the start that are paired by lot.
    pub random_rounds: u32,
    /// Rounds after which earlier meetings are forgotten, again and again; 0: never.
    pub forget_rematches: u32,
    /// Who has no opponent in a round of an odd number of players.
    pub sits_out: SitsOut,
    /// Who has black first; in all formats but the SPRT.
    pub colours: Colours,
}

/// Who has no opponent, among those who had the fewest byes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SitsOut {
    /// The lowest by score, then by the order of entry.
    #[default]
    LowestScore,
    /// The last in the order of entry.
    LowestSeed,
    /// Anybody, by lot.
    Lot,
}

/// Who has black in the first game of an encounter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Colours {
    /// By the rule of the format: every player has both colours equally often, as far as possible.
    #[default]
    Balanced,
    /// Either player, by a lot for each encounter.
    Lot,
    /// The player earlier in the order of entry.
    Fixed,
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
    /// In each round those encounters are played that shrink the errors of all ratings most, as many as half the players.
    Information {
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
    /// The first two players, in colour-swapped pairs, until their Elo is known well enough or `max_games` are played;
    /// `games` of the stage is ignored.
    Precision {
        /// Most games.
        max_games: u64,
        /// The largest error.
        within: Precision,
    },
}

impl Format {
    /// The most games of two players whose results end the stage; `None` for the other formats.
    pub fn most_games(self) -> Option<u64> {
        match self {
            Self::Sprt { max_games } | Self::Precision { max_games, .. } => Some(max_games),
            _ => None,
        }
    }

    /// True if two players meet until a test of their results ends the stage.
    pub fn is_sequential(self) -> bool {
        self.most_games().is_some()
    }

    /// True if the pairings of later rounds follow from the results of earlier ones.
    pub(crate) fn follows_results(self) -> bool {
        matches!(self, Self::Swiss { .. } | Self::Information { .. } | Self::Knockout { .. })
    }
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
            Format::Sprt { .. } | Format::Precision { .. } => 2,
            _ => u64::from(self.games.max(1)),
        }
    }

    /// True if so many half points are those of a bye that a player was given, and not by the rules of pairing.
    pub fn is_half_bye(&self, half_points: u8) -> bool {
        (1..2 * self.encounter_games()).contains(&half_points.into())
    }

    /// Number of times that a cycle goes through its encounters: where the games of an encounter are pairs, a pair of each
    /// encounter is played before the next, so that a table in between compares players who have played alike.
    pub(crate) fn passes(&self) -> u64 {
        match self.format {
            Format::RoundRobin { .. } | Format::Gauntlet { .. } if self.games.is_multiple_of(2) => {
                u64::from(self.games / 2).max(1)
            }
            _ => 1,
        }
    }

    /// Indices of an encounter in a pass: its games and the extra ones it may need.
    pub(crate) fn stride(&self) -> u64 {
        match self.format {
            _ if self.passes() > 1 => 2,
            Format::Knockout { tie: Tie::MoreGames { extra } } => {
                self.encounter_games() + 2 * u64::from(extra)
            }
            _ => self.encounter_games(),
        }
    }
}

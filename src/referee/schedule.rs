//! Who plays whom, when, with which colours and from which opening.
//!
//! One lazy [`Schedule::next`] for every format: a million games cost no memory.

use crate::event::PlayerId;
use serde::{Deserialize, Serialize};

/// A game to be played: its place in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pairing {
    /// The stage of the event, from 0 (a Swiss, then a knock-out final, are two stages).
    pub stage: u8,
    /// The game's index in its stage, in schedule order, from 0. (stage, index, attempt) names one game for ever.
    pub index: u64,
    /// 0, and one more each time the game has to be played again (a draw that is replayed, an adjourned game).
    pub attempt: u32,
    /// The round, from 1.
    pub round: u32,
    /// The pair of colour-swapped games this one belongs to, counted through the stage from 0.
    pub pair: u64,
    /// The opening: an index that the book of openings turns into one of its lines (by its order and seed).
    pub opening: u64,
    /// Who plays black.
    pub black: PlayerId,
    /// Who plays white.
    pub white: PlayerId,
}

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

/// Whether a drawn game is played again, in which case the draw does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayDraws {
    /// How often at most; 0: draws count.
    pub times: u32,
    /// With colours swapped, as a sennichite is replayed between people.
    pub swap_colors: bool,
}

/// What the schedule has to say when it is asked for a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Play this.
    Game(Pairing),
    /// Nothing now: a later game waits for one that is still running.
    Wait,
    /// Nothing any more.
    Done,
}

//! One ledger of the games of many events: every build that ever played, in one rating.
//!
//! A [`Ledger`] reads databases, a count at a time. Its players are builds: programs by their contents, with their
//! arguments and options, at a clock. [`Ledger::rate`] rates each set of players that games connect by maximum likelihood
//! ([`referee::rating::fit`], which states its prior), on the scale of anchors where there are any, and
//! [`Group::suggest`] finds the encounters whose games shrink the errors most.

mod node;
mod rate;
mod read;
mod suggest;
#[cfg(test)]
mod tests;

pub use node::{Apart, Node};
pub use rate::{Anchor, AnchorError, Anchored, Group, Rated, Row};
pub use read::{LedgerError, LeftOut, Reason};
pub use suggest::{Aim, Suggestion};

use node::Key;
use referee::distinct::Distinct;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
};

/// The games of many events.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    apart: Apart,
    /// Days in which a game loses half of its weight; `None`: it keeps it.
    half_life: Option<f64>,
    nodes: Vec<Node>,
    keys: HashMap<Key, usize>,
    /// Games by black, white and day.
    meetings: BTreeMap<(usize, usize, i64), Meeting>,
    /// Name and creation time of the events that were read.
    events: HashSet<(String, i64)>,
    /// Database and counted games of the events that were read, by their first games.
    begins: HashMap<u64, (PathBuf, u64)>,
    /// Databases, events and games that were read.
    counts: Counts,
    left_out: Vec<LeftOut>,
    /// The games that were read, by what they consist of.
    distinct: Distinct,
}

/// What a ledger has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Databases with an event.
    pub databases: u64,
    /// Events.
    pub events: u64,
    /// Games that count as evidence.
    pub games: u64,
    /// Games that repeat an earlier one of the same two players move for move; they are left out.
    pub repeats: u64,
    /// Games between two names of one player, which say nothing about strength; they are left out.
    pub own_games: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Meeting {
    results: [u64; 3],
    timed: (u64, f64),
}

impl Ledger {
    /// A ledger without a game. With `half_life`, a game loses half of its weight in so many days before the newest one;
    /// games of unknown date count as the oldest.
    pub fn new(apart: Apart, half_life: Option<f64>) -> Self {
        Self { apart, half_life, ..Self::default() }
    }

    /// The players.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// True if games of two players would count for the same: they have the same clock and the same machine.
    pub fn may_meet(&self, a: usize, b: usize) -> bool {
        let [a, b] = [&self.nodes[a], &self.nodes[b]];
        a.clock == b.clock && a.machine == b.machine
    }

    /// Days in which a game loses half of its weight; `None`: it keeps it.
    pub fn half_life(&self) -> Option<f64> {
        self.half_life
    }

    /// What was read.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Events that were left out, each with its reason.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }
}

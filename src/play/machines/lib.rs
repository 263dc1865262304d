//! One event on many machines.
//!
//! The manager's [desk](desk::MachineDesk) hands the pairs of an event to [workers](work::work) on other machines, over
//! a NATS server that carries messages and keeps none. What makes every game count exactly once:
//!
//! - A [lease](referee::lease) is a random number that is in SQLite before its pair is sent. Only the lease issued last
//!   for a place is taken, and its games, their numbers and the lease itself are stored in one transaction.
//! - A worker keeps each answer on its disk, byte for byte, until it hears that it is stored. It hears so however often it
//!   sends it, and after any restart of either side. Other games under the same lease, or an answer after the lease was
//!   lost, go on record as a fault and do not count.
//! - A worker lists what it has with every sign of life. What it does not list, it has lost.
//!
//! So no message has to arrive, and no server has to remember one: there is no stream beside the two disks.
//!
//! Both sides are pure state machines, [`Manager`](manager::Manager) and [`Worker`](worker::Worker): time, randomness and
//! messages are arguments. [`desk`] and [`work`] carry out what they decide. [`registry`] has machines and leases,
//! [`replay`] rules every game again, [`wire`] carries the messages of a worker over a connection of the [hub], [`depot`] sends engines.

mod carrier;
pub mod depot;
pub mod desk;
mod error;
pub mod hub;
pub mod manager;
pub mod messages;
pub mod outbox;
pub mod playing;
pub mod registry;
pub mod replay;
pub mod scaling;
pub mod wire;
pub mod work;
pub mod worker;

pub use error::{MachineError, Unfit};

use std::time::{Duration, Instant};

/// The random number of a start of a worker.
pub fn new_session() -> u64 {
    rand::random()
}

/// A moment by both clocks of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// By the clock that only goes forward.
    pub steady: Instant,
    /// In ms since 1970-01-01 UTC, by a clock that may be set.
    pub wall: i64,
}

impl Moment {
    /// This moment.
    pub fn now() -> Self {
        Self { steady: Instant::now(), wall: journal::now() }
    }

    /// The time since an earlier moment.
    pub fn since(self, earlier: Self) -> Duration {
        self.steady.saturating_duration_since(earlier.steady)
    }
}

#[cfg(test)]
mod pair_tests;

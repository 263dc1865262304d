//! One event on many machines.
//!
//! The manager's [desk](desk::MachineDesk) hands the pairs of an event to [workers](worker::work) on other machines, over
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
//! [`registry`] knows who has what, [`replay`] rules every game again, [`wire`] has the messages of a connection, which the [`hub`] makes; [`depot`] sends engines.

pub mod depot;
pub mod desk;
pub mod messages;
pub mod outbox;
pub mod playing;
pub mod registry;
pub mod replay;
pub mod scaling;
pub mod wire;
pub mod worker;

/// The random number of a start of a worker.
#[must_use]
pub fn new_session() -> u64 {
    rand::random()
}

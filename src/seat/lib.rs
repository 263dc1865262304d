//! A player: an actor behind two mailboxes. No trait, no shared state; dropping the mailbox ends the actor.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "Renmei runs on Linux only: engines are tied to its life by prctl, pinned by sched_setaffinity and measured in /proc; on Windows it runs in WSL 2, on macOS in a Linux container"
);

pub mod csa_client;
pub mod csa_host;
pub mod lines;
pub mod margin;
mod memory;
pub mod process;
mod session;
mod trace;
pub mod transcript;
pub mod usi;

pub use trace::Trace;

use referee::{
    event::GameId,
    game::{Order, Reply},
};
use tokio::sync::mpsc;

/// A game's hold on one player.
#[derive(Debug)]
pub struct Seat {
    /// What the player is told.
    pub orders: mpsc::Sender<Order>,
    /// What the player says, and in which game.
    pub replies: mpsc::Receiver<(GameId, Reply)>,
    /// Its last words on every channel, for disputes.
    pub trace: Trace,
}

/// Orders and replies that may wait in a mailbox: a game never has more than a few under way.
const MAILBOX: usize = 8;

/// The two ends of a seat: the game's, and the actor's.
#[must_use]
pub fn pair() -> (Seat, ActorEnd) {
    let (orders, inbox) = mpsc::channel(MAILBOX);
    let (outbox, replies) = mpsc::channel(MAILBOX);
    let trace = Trace::default();
    (Seat { orders, replies, trace: trace.clone() }, ActorEnd { inbox, outbox, trace })
}

/// The actor's end of a seat.
#[derive(Debug)]
pub struct ActorEnd {
    /// Orders to obey.
    pub inbox: mpsc::Receiver<Order>,
    /// Where replies go.
    pub outbox: mpsc::Sender<(GameId, Reply)>,
    /// Where the last words are kept.
    pub trace: Trace,
}

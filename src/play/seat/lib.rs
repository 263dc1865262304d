//! Players: each is an actor behind two mailboxes. There is no trait and no shared state; dropping the mailbox ends the
//! actor.

mod alarm;
mod conversation;
pub mod csa_client;
pub mod csa_host;
pub mod far;
pub mod lines;
mod memory;
pub mod process;
pub mod recorder;
mod recording;
pub mod reserve;
mod trace;
pub mod transcript;
pub mod usi;
mod waits;

pub use platform::life::sandbox;
pub use trace::Trace;

use referee::{
    entry::GameId,
    game::{Order, Reply},
};
use tokio::sync::mpsc;

/// The game's end of a player.
#[derive(Debug)]
pub struct Seat {
    /// Orders to the player.
    pub orders: mpsc::Sender<Order>,
    /// Replies of the player, each with its game.
    pub replies: mpsc::Receiver<(GameId, Reply)>,
    /// The last lines on every channel, for disputes.
    pub trace: Trace,
    /// True if answers are timed by their arrival at this machine, so that the lag of this program is no part of them.
    pub timed_by_arrival: bool,
}

/// Orders or replies that fit into a mailbox; a game has never more than a few under way.
const MAILBOX: usize = 8;

/// The two ends of a seat: the game's, and the actor's.
pub fn pair() -> (Seat, ActorEnd) {
    let (orders, inbox) = mpsc::channel(MAILBOX);
    let (outbox, replies) = mpsc::channel(MAILBOX);
    let trace = Trace::default();
    (
        Seat { orders, replies, trace: trace.clone(), timed_by_arrival: false },
        ActorEnd { inbox, outbox, trace },
    )
}

/// The actor's end of a seat.
#[derive(Debug)]
pub struct ActorEnd {
    /// Orders from the game.
    pub inbox: mpsc::Receiver<Order>,
    /// Replies to the game.
    pub outbox: mpsc::Sender<(GameId, Reply)>,
    /// The last lines on every channel.
    pub trace: Trace,
}

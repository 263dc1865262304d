//! Players of an event who log in over the network: the host knows who is here and seats them.

use crate::{actor_thread::ActorThread, play::Fixture, spectators::Spectators};
use plan::serve::Missing;
use referee::entry::PlayerId;
use seat::Seat;
use std::{pin::Pin, sync::Arc, time::Duration};

/// Resolves to the remote players of a game.
pub type Seating = Pin<Box<dyn Future<Output = Option<[Option<Seat>; 2]>> + Send>>;

/// The remote players of an event.
pub trait RemotePlayers: Send + Sync {
    /// True if the player is logged in and waits for a game.
    fn waits(&self, player: PlayerId) -> bool;

    /// Seats the remote players of a game, black first, whose connections come to the thread of the game; `None` when
    /// one of them has left.
    fn seat(&self, fixture: Fixture, thread: ActorThread) -> Seating;

    /// The spectators of the event's games.
    fn spectators(&self) -> &dyn Spectators;

    /// Waits until the transcripts of all games are complete, but no longer than `patience`.
    fn settle(&self, patience: Duration);
}

/// The network side of an event.
#[derive(Clone)]
pub struct Remote {
    /// The source of remote players.
    pub players: Arc<dyn RemotePlayers>,
    /// How long a game waits for a player who is not logged in.
    pub wait: Duration,
    /// What becomes of the game then.
    pub missing: Missing,
}

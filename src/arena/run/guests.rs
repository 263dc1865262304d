//! Players of an event who are somewhere in the network: whoever hosts them tells who is here and seats them.

use crate::play::Table;
use journal::Asides;
use plan::serve::Missing;
use referee::event::PlayerId;
use seat::Seat;
use std::{fmt, sync::Arc, time::Duration};

/// The players of the network.
pub trait Guests: Send + Sync {
    /// Whether the player is here and waits for a game.
    fn waits(&self, player: PlayerId) -> bool;

    /// Seats those players of a game who come over the network, black first; `None` when one of them has left.
    fn seat(&self, table: &Table) -> Option<[Option<Seat>; 2]>;
}

/// An event that players log in to.
#[derive(Clone)]
pub struct Hosting {
    /// They.
    pub guests: Arc<dyn Guests>,
    /// How long a game waits for a player who is not here.
    pub wait: Duration,
    /// What becomes of it then.
    pub missing: Missing,
    /// What is kept of the games beside their events.
    pub asides: Asides,
}

impl fmt::Debug for Hosting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hosting")
            .field("wait", &self.wait)
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

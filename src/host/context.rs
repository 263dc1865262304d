//! What the tasks of a host share.

use super::{admission::Admission, games::SightQueue, lobby::Lobby};
use plan::serve::{Limits, ServeConfig};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Least time between two wake-ups for spectators: fast games are shown several moves at a time.
const BATCH: Duration = Duration::from_millis(10);

/// What the tasks of a host share.
#[derive(Clone, Debug)]
pub struct HostContext {
    lobby: Arc<Mutex<Lobby>>,
    /// What the games have shown and the lobby has not taken in yet.
    pub sights: Arc<SightQueue>,
    /// The limits on what strangers may use.
    pub limits: Limits,
    /// How long a game is kept for a player whose connection dropped.
    pub grace: Duration,
    /// Decides on logins.
    pub admission: Admission,
}

impl HostContext {
    /// The context of a lobby.
    #[must_use]
    pub fn new(config: &ServeConfig, lobby: Lobby, admission: Admission) -> Self {
        let (limits, grace) = (config.limits, config.grace());
        Self { lobby: Arc::new(Mutex::new(lobby)), sights: Arc::default(), limits, grace, admission }
    }

    /// The lobby, in which everything has been seen that the games have shown. The lock is never kept across a wait.
    pub fn lobby(&self) -> MutexGuard<'_, Lobby> {
        let mut lobby = self.lobby.lock().unwrap_or_else(PoisonError::into_inner);
        self.sights.take().iter().for_each(|sight| lobby.see(sight));
        lobby
    }

    /// Shows spectators what the games show, for ever.
    pub async fn show_games(self) {
        loop {
            self.sights.arrived().await;
            drop(self.lobby());
            tokio::time::sleep(BATCH).await;
        }
    }
}

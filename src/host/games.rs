//! The registry of the games that are played, and the way from the games to it.
//!
//! A game never waits for its spectators: it puts its moves and its end into a [`SightQueue`], and every access to the
//! lobby takes in the queue first. So an answer of the lobby contains at least what the players of the game were told.

use super::{
    game_view::{GameView, Shown},
    presence::LoginId,
};
use arena::spectators::{Sight, Spectators};
use referee::entry::GameId;
use std::{
    collections::BTreeMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// The games that are played.
#[derive(Debug, Default)]
pub struct Games(BTreeMap<GameId, GameView>);

impl Games {
    /// Adds a game.
    pub fn add(&mut self, game: GameId, view: GameView) {
        self.0.insert(game, view);
    }

    /// Removes a game that could not be set up.
    pub fn remove(&mut self, game: GameId) {
        self.0.remove(&game);
    }

    /// Whether a game is listed.
    #[must_use]
    pub fn contains(&self, game: GameId) -> bool {
        self.0.contains_key(&game)
    }

    /// The ids of the games, in the order in which they were arranged.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(GameView::id)
    }

    /// The game with that id.
    pub fn named(&mut self, id: &str) -> Option<&mut GameView> {
        self.0.values_mut().find(|view| view.id() == id)
    }

    /// Removes a spectator from all games.
    pub fn forget(&mut self, watcher: LoginId) {
        for view in self.0.values_mut() {
            view.unwatch(watcher, false);
            view.unwatch(watcher, true);
        }
    }

    /// Takes a player's comment on a move that is not made yet.
    pub fn commented(&mut self, game: GameId, mv: &str, comment: &str) {
        if let Some(view) = self.0.get_mut(&game) {
            view.commented(mv, comment);
        }
    }

    /// Takes a sight of a game; returns what its spectators are shown. A game that has ended is removed.
    pub fn see(&mut self, sight: &Sight) -> Vec<Shown> {
        match *sight {
            Sight::Started(_) => None,
            Sight::Moved { game, mv, charged } => self.0.get_mut(&game).map(|view| view.moved(mv, charged)),
            Sight::Declared { game, charged } => self.0.get_mut(&game).map(|view| view.declared(charged)),
            Sight::Ended { game, outcome } => self.0.remove(&game).map(|view| view.ended(outcome)),
        }
        .unwrap_or_default()
    }
}

/// Sights that the lobby has not taken in yet. Unbounded: every access to the lobby empties it.
#[derive(Debug, Default)]
pub struct SightQueue {
    waiting: Mutex<Vec<Sight>>,
    arrived: Notify,
}

impl SightQueue {
    fn lock(&self) -> MutexGuard<'_, Vec<Sight>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes everything that waits, in order.
    pub fn take(&self) -> Vec<Sight> {
        mem::take(&mut *self.lock())
    }

    /// Returns when sights wait, or have waited since the last call.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }
}

impl Spectators for SightQueue {
    fn see(&self, sight: Sight) {
        let mut waiting = self.lock();
        let first = waiting.is_empty();
        waiting.push(sight);
        drop(waiting);
        if first {
            self.arrived.notify_one();
        }
    }
}

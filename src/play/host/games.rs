//! The registry of the games that are played, and the way from the games to it.
//!
//! A game never waits for its spectators: it puts its moves and its end into a [`SightQueue`], and every access to the
//! lobby takes in the queue first. So an answer of the lobby contains at least what the players of the game were told.

use super::{
    game_view::{GameView, Line},
    presence::LoginId,
};
use arena::spectators::{Sight, Spectators};
use parking_lot::Mutex;
use plan::http::is_private;
use referee::entry::GameId;
use std::{collections::BTreeMap, mem, sync::Arc};
use tokio::sync::Notify;

/// The games that are played.
#[derive(Debug, Default)]
pub struct Games {
    views: BTreeMap<GameId, GameView>,
    /// Patterns of names and Game_IDs whose games only their players know of.
    private: Vec<String>,
    /// The answer to `%%LIST`, until a game begins or ends.
    list: Option<Arc<str>>,
}

impl Games {
    /// No games; those that fit one of the patterns will be private.
    pub fn new(private: Vec<String>) -> Self {
        Self { private, ..Self::default() }
    }

    fn is_private(&self, view: &GameView) -> bool {
        !self.private.is_empty() && view.is_known_by(|name| is_private(&self.private, name))
    }

    /// True if a player has a private game.
    pub fn plays_in_private(&self, name: &str) -> bool {
        !self.private.is_empty()
            && self
                .views
                .values()
                .any(|view| view.names().iter().any(|player| player == name) && self.is_private(view))
    }

    /// Adds a game.
    pub fn add(&mut self, game: GameId, view: GameView) {
        self.list = None;
        self.views.insert(game, view);
    }

    /// Removes a game that could not be set up.
    pub fn remove(&mut self, game: GameId) {
        self.list = None;
        self.views.remove(&game);
    }

    /// True if a game is listed.
    pub fn contains(&self, game: GameId) -> bool {
        self.views.contains_key(&game)
    }

    /// True if a game of a player is listed.
    pub fn has_player(&self, name: &str) -> bool {
        self.views.values().any(|view| view.names().iter().any(|player| player == name))
    }

    /// The answer to `%%LIST`: the games in the order in which they were arranged. It is made once for all who ask.
    pub fn list(&mut self) -> Arc<str> {
        let line = |view: &GameView| format!("##[LIST] {}\n", view.id());
        if let Some(list) = &self.list {
            return list.clone();
        }
        let public = self.views.values().filter(|view| !self.is_private(view));
        let list: Arc<str> = (public.map(line).collect::<String>() + "##[LIST] +OK\n").into();
        self.list = Some(list.clone());
        list
    }

    /// The game with that id, if anybody may watch it.
    pub fn named(&mut self, id: &str) -> Option<&mut GameView> {
        let found = self
            .views
            .iter()
            .find(|(_, view)| view.id() == id && !self.is_private(view))
            .map(|(game, _)| *game);
        self.views.get_mut(&found?)
    }

    /// Removes a spectator from all games.
    pub fn forget(&mut self, watcher: LoginId) {
        for view in self.views.values_mut() {
            view.unwatch(watcher, false);
            view.unwatch(watcher, true);
        }
    }

    /// Takes a player's comment on a move that is not made yet.
    pub fn commented(&mut self, game: GameId, mv: &str, comment: &str) {
        if let Some(view) = self.views.get_mut(&game) {
            view.commented(mv, comment);
        }
    }

    /// Takes a sight of a game; returns what its spectators are shown. A game that has ended is removed.
    pub fn see(&mut self, sight: &Sight) -> Vec<Line> {
        match *sight {
            Sight::Started(_) => None,
            Sight::Moved { game, mv, charged } => {
                self.views.get_mut(&game).map(|view| view.moved(mv, charged))
            }
            Sight::Declared { game, charged } => self.views.get_mut(&game).map(|view| view.declared(charged)),
            Sight::Ended { game, outcome } => {
                self.list = None;
                self.views.remove(&game).map(|view| view.ended(outcome))
            }
        }
        .unwrap_or_default()
    }
}

/// What the lobby has not taken in yet.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A sight of a game.
    Sight(Sight),
    /// A player's comment on a move that is not made yet.
    Comment(GameId, String, String),
}

/// What the games have shown and the lobby has not taken in yet. Unbounded: every access to the lobby empties it.
#[derive(Debug, Default)]
pub struct SightQueue {
    waiting: Mutex<Vec<Shown>>,
    arrived: Notify,
}

impl SightQueue {
    /// Takes everything that waits, in order.
    pub fn take(&self) -> Vec<Shown> {
        mem::take(&mut *self.waiting.lock())
    }

    /// Returns when sights wait, or have waited since the last call.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }
}

impl SightQueue {
    /// Takes a player's comment on a move, before the game hears of the move.
    pub fn commented(&self, game: GameId, mv: &str, comment: &str) {
        self.push(Shown::Comment(game, mv.to_owned(), comment.to_owned()));
    }

    fn push(&self, shown: Shown) {
        let mut waiting = self.waiting.lock();
        let first = waiting.is_empty();
        waiting.push(shown);
        drop(waiting);
        if first {
            self.arrived.notify_one();
        }
    }
}

impl Spectators for SightQueue {
    fn see(&self, sight: Sight) {
        self.push(Shown::Sight(sight));
    }
}

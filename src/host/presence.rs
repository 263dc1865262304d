//! The registry of the players who are logged in: their names, states and mailboxes.
//!
//! Plain data: nothing here waits or owns a socket. Messages for a player go into the mailbox of its connection.

use notation::csa::{
    game_name::{GameName, Wish},
    summary::sign,
};
use referee::{Color, entry::GameId};
use seat::csa_host::CsaHost;
use std::collections::{BTreeMap, HashMap};
use tokio::sync::{mpsc, oneshot};

/// A login. No two logins of a host have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoginId(pub u64);

/// A message to a connection.
#[derive(Debug)]
pub enum Message {
    /// Lines to send.
    Lines(String),
    /// A game to be played.
    Game(Box<Offer>),
    /// The same player has logged in again: the connection closes.
    Replaced,
    /// The same player has logged in again to go on with its game: the connection hands the game over and closes.
    HandOver(oneshot::Sender<Box<Offer>>),
    /// The host closes.
    Closing,
}

/// A seat in a game.
#[derive(Debug)]
pub struct Offer {
    /// The conversation.
    pub host: CsaHost,
    /// The game.
    pub game: GameId,
}

/// The state of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Logged in, without a game.
    Connected,
    /// Waiting for an opponent.
    GameWaiting(GameName, Wish),
    /// In a game.
    InGame(GameName, Color, Progress),
}

/// Progress of a game as the protocol distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The summary was sent.
    AgreeWaiting,
    /// The opponent has not agreed yet.
    StartWaiting,
    /// The clocks run.
    Game,
}

impl Status {
    /// The protocol's word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::GameWaiting(..) => "game_waiting",
            Self::InGame(.., Progress::AgreeWaiting) => "agree_waiting",
            Self::InGame(.., Progress::StartWaiting) => "start_waiting",
            Self::InGame(.., Progress::Game) => "game",
        }
    }
}

/// A player who is logged in.
#[derive(Debug)]
pub struct Player {
    /// The name.
    pub name: String,
    /// The name with its trip.
    pub id: String,
    /// The password as it was sent.
    pub password: String,
    /// The part of the password that identifies the player, if there is one.
    pub secret: Option<String>,
    /// Whether the player uses the extended mode.
    pub extended: bool,
    /// The state.
    pub status: Status,
    /// The mailbox of the player's connection.
    pub mailbox: mpsc::Sender<Message>,
}

impl Player {
    /// Sends lines. A connection that leaves its mailbox full is behind on its socket, too, and is closed there.
    pub fn send(&self, lines: String) {
        let _behind = self.mailbox.try_send(Message::Lines(lines));
    }

    /// Whether the player is in a game.
    #[must_use]
    pub fn is_in_game(&self) -> bool {
        matches!(self.status, Status::InGame(..))
    }

    /// The player's line in the answer to `%%WHO`.
    #[must_use]
    pub fn who(&self) -> String {
        let Self { id, extended, status, .. } = self;
        let mode = if *extended { "x1" } else { "CSA" };
        let game = match status {
            Status::Connected => String::new(),
            Status::GameWaiting(game, wish) => format!(" {game} {wish}"),
            Status::InGame(game, color, _) => format!(" {game} {}", sign(*color)),
        };
        format!("##[WHO] {id} {mode} {}{game}\n", status.word())
    }
}

/// The players who are logged in.
#[derive(Debug, Default)]
pub struct Presence {
    players: BTreeMap<LoginId, Player>,
    names: HashMap<String, LoginId>,
    next: u64,
}

impl Presence {
    /// Enters a player under a new number.
    pub fn enter(&mut self, player: Player) -> LoginId {
        let login = LoginId(self.next);
        self.next += 1;
        self.names.insert(player.name.clone(), login);
        self.players.insert(login, player);
        login
    }

    /// Removes a player, and frees the name unless a later login has it.
    pub fn remove(&mut self, login: LoginId) -> Option<Player> {
        let player = self.players.remove(&login)?;
        if self.names.get(&player.name) == Some(&login) {
            self.names.remove(&player.name);
        }
        Some(player)
    }

    /// The player of a login.
    #[must_use]
    pub fn get(&self, login: LoginId) -> Option<&Player> {
        self.players.get(&login)
    }

    /// The player of a login.
    pub fn get_mut(&mut self, login: LoginId) -> Option<&mut Player> {
        self.players.get_mut(&login)
    }

    /// The player of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<(LoginId, &Player)> {
        let login = *self.names.get(name)?;
        Some((login, self.players.get(&login)?))
    }

    /// All players, in the order of their logins.
    pub fn iter(&self) -> impl Iterator<Item = (LoginId, &Player)> {
        self.players.iter().map(|(login, player)| (*login, player))
    }

    /// The players who wait for a game of that name, with their wishes, in the order of their logins.
    pub fn waiting_for<'a>(
        &'a self,
        game: &'a GameName,
    ) -> impl Iterator<Item = (LoginId, &'a Player, Wish)> {
        self.iter().filter_map(move |(login, player)| match &player.status {
            Status::GameWaiting(name, wish) if name == game => Some((login, player, *wish)),
            _ => None,
        })
    }

    /// Sends lines to a player.
    pub fn send(&self, login: LoginId, lines: String) {
        if let Some(player) = self.get(login) {
            player.send(lines);
        }
    }

    /// Changes the state of a player.
    pub fn set_status(&mut self, login: LoginId, status: Status) {
        if let Some(player) = self.get_mut(login) {
            player.status = status;
        }
    }

    /// Changes the progress of the game that a player is in.
    pub fn set_progress(&mut self, login: LoginId, progress: Progress) {
        if let Some(Player { status: Status::InGame(_, _, known), .. }) = self.get_mut(login) {
            *known = progress;
        }
    }
}

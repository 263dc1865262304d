//! The registry of the players who are logged in: their names, states and mailboxes.
//!
//! Plain data: nothing here waits or owns a socket. Messages for a player go into the mailbox of its connection. The
//! answer to `%%WHO` is made once for all who ask until something in it changes.

use super::{
    mailbox::Mailbox,
    places::{Place, Standing},
};
use notation::csa::{
    game_name::{GameName, Wish},
    summary::sign,
};
use referee::Color;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    mem,
    sync::Arc,
};

/// A login. No two logins of a host have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoginId(pub u64);

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
    /// What the player's logins have in common; `None` where the player has no secret.
    pub mark: Option<String>,
    /// The trip of the name and the secret, where no password is checked.
    pub trip: Option<String>,
    /// True if the player uses the extended mode.
    pub extended: bool,
    /// The state.
    pub status: Status,
    /// True if the player hears chat also in a game.
    pub chats_in_games: bool,
    /// The mailbox of the player's connection.
    pub mailbox: Mailbox,
    /// The place of the player's connection.
    pub place: Arc<Place>,
}

impl Player {
    /// True if the player hears what others say: in the extended mode, and in a game only where it asked for it.
    pub fn hears_chat(&self) -> bool {
        self.extended && (self.chats_in_games || !self.is_in_game())
    }

    fn stands(&self) {
        self.place.set_standing(match self.status {
            Status::Connected => Standing::Idle,
            Status::GameWaiting(..) => Standing::Waiting,
            Status::InGame(..) => Standing::Playing,
        });
    }

    /// True if the player is in a game.
    pub fn is_in_game(&self) -> bool {
        matches!(self.status, Status::InGame(..))
    }

    /// The player's line in the answer to `%%WHO`.
    pub fn who(&self) -> String {
        self.who_plays(true)
    }

    /// The line of `%%WHO`; `named`: with the name of the game, where there is one.
    fn who_plays(&self, named: bool) -> String {
        let Self { id, extended, status, .. } = self;
        let mode = if *extended { "x1" } else { "CSA" };
        let game = match status {
            Status::Connected => String::new(),
            Status::GameWaiting(game, wish) => format!(" {game} {wish}"),
            Status::InGame(..) if !named => String::new(),
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
    /// Who waits for a game, by the game's name.
    waiting: HashMap<GameName, BTreeSet<LoginId>>,
    next: u64,
    /// The answer to `%%WHO`, until a player comes, leaves or changes.
    who: Option<Arc<str>>,
}

impl Presence {
    /// Enters a player under a new number.
    pub fn enter(&mut self, player: Player) -> LoginId {
        let login = LoginId(self.next);
        self.next += 1;
        self.who = None;
        player.stands();
        self.names.insert(player.name.clone(), login);
        self.waits(login, &player.status);
        self.players.insert(login, player);
        login
    }

    /// Removes a player, and frees the name unless a later login has it.
    pub fn remove(&mut self, login: LoginId) -> Option<Player> {
        let player = self.players.remove(&login)?;
        self.who = None;
        self.waits_no_more(login, &player.status);
        if self.names.get(&player.name) == Some(&login) {
            self.names.remove(&player.name);
        }
        Some(player)
    }

    /// The player of a login.
    pub fn get(&self, login: LoginId) -> Option<&Player> {
        self.players.get(&login)
    }

    /// The answer to `%%WHO`.
    pub fn who(&mut self) -> Arc<str> {
        let made = || self.players.values().map(Player::who).collect::<String>() + "##[WHO] +OK\n";
        self.who.get_or_insert_with(|| made().into()).clone()
    }

    /// The answer to `%%WHO` without the names of games that `is_private` keeps by a player's name.
    pub fn who_without(&self, is_private: impl Fn(&str) -> bool) -> Arc<str> {
        let lines = self.players.values().map(|player| player.who_plays(!is_private(&player.name)));
        (lines.collect::<String>() + "##[WHO] +OK\n").into()
    }

    /// Whether a player hears chat also in a game.
    pub fn set_chats_in_games(&mut self, login: LoginId, chats: bool) {
        if let Some(player) = self.players.get_mut(&login) {
            player.chats_in_games = chats;
        }
    }

    /// The player of that name.
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
        self.waiting.get(game).into_iter().flatten().filter_map(|login| {
            let player = self.players.get(login)?;
            let Status::GameWaiting(_, wish) = player.status else { return None };
            Some((*login, player, wish))
        })
    }

    /// Changes the state of a player.
    pub fn set_status(&mut self, login: LoginId, status: Status) {
        if let Some(player) = self.players.get_mut(&login) {
            let former = mem::replace(&mut player.status, status.clone());
            player.stands();
            self.who = None;
            self.waits_no_more(login, &former);
            self.waits(login, &status);
        }
    }

    fn waits(&mut self, login: LoginId, status: &Status) {
        if let Status::GameWaiting(game, _) = status {
            self.waiting.entry(game.clone()).or_default().insert(login);
        }
    }

    fn waits_no_more(&mut self, login: LoginId, status: &Status) {
        if let Status::GameWaiting(game, _) = status
            && let Some(waiting) = self.waiting.get_mut(game)
        {
            waiting.remove(&login);
            if waiting.is_empty() {
                self.waiting.remove(game);
            }
        }
    }

    /// Changes the progress of the game that a player is in.
    pub fn set_progress(&mut self, login: LoginId, progress: Progress) {
        if let Some(Player { status: Status::InGame(_, _, known), .. }) = self.players.get_mut(&login) {
            *known = progress;
            self.who = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mailbox::mailbox, places::Places};
    use plan::serve::Limits;

    #[test]
    fn who_waits_is_listed_under_its_game_and_nobody_else_is() {
        let (mut presence, limits) = (Presence::default(), Limits::default());
        let game = |at: usize| format!("t{at}-600-10").parse::<GameName>().unwrap();
        let taken = Places::enter(&Arc::default(), "10.0.0.1".parse().unwrap(), &limits).unwrap();
        let player = |name: usize| Player {
            name: name.to_string(),
            id: name.to_string(),
            password: String::new(),
            mark: None,
            trip: None,
            extended: false,
            status: if name == 3 { Status::Connected } else { Status::GameWaiting(game(0), Wish::Either) },
            chats_in_games: false,
            mailbox: mailbox().0,
            place: taken.place.clone(),
        };
        let logins: Vec<LoginId> = (0..4).map(|name| presence.enter(player(name))).collect();
        let who = |presence: &Presence, at| -> Vec<LoginId> {
            presence.waiting_for(&game(at)).map(|(login, ..)| login).collect()
        };
        assert_eq!(who(&presence, 0), logins[..3]);
        presence.set_status(logins[0], Status::GameWaiting(game(1), Wish::Either));
        presence.set_status(logins[1], Status::InGame(game(0), Color::Black, Progress::Game));
        presence.set_status(logins[3], Status::GameWaiting(game(0), Wish::Either));
        assert_eq!((who(&presence, 0), who(&presence, 1)), (logins[2..].to_vec(), logins[..1].to_vec()));
        logins.iter().for_each(|login| drop(presence.remove(*login)));
        assert!(presence.waiting.is_empty());
    }
}

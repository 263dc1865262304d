//! The players who are here, who waits for what, and which games run. Nothing here waits or owns a socket: lines for a
//! player go into the mailbox of its connection, games to be played go out through a channel.

use super::{
    admission::LoginRequest,
    entrants::Entrants,
    game_view::{GameView, Shown},
    grace::LoggedIn,
    rating_history::RatingHistory,
    record_files::RecordFiles,
    roster::Roster,
};
use arena::play::Fixture;
use notation::csa::{
    game_name::{Entry, GameName, Wish, player_id},
    summary::sign,
    wire::is_player_name,
};
use plan::serve::ServeConfig;
use referee::{Color, Outcome, event::GameId};
use seat::{Seat, csa_host::CsaHost, transcript::Transcripts};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use tokio::sync::{mpsc, oneshot};

/// A login; never given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoginId(pub u64);

/// For a connection, from others.
#[derive(Debug)]
pub enum Message {
    /// Lines to send.
    Lines(String),
    /// A game to be played.
    Game(Box<Offer>),
    /// The same player has logged in again: leave.
    Replaced,
    /// The same player has logged in again, and goes on with its game there: hand it over and leave.
    HandOver(oneshot::Sender<Box<Offer>>),
    /// The league closes.
    Closing,
}

/// A seat in a game.
#[derive(Debug)]
pub struct Offer {
    /// The conversation.
    pub host: CsaHost,
    /// Which game.
    pub game: GameId,
    /// Whether this connection tells the spectators what it hears.
    pub tells: bool,
}

/// A game whose players are to be called.
#[derive(Debug)]
pub struct ArrangedGame {
    /// The game.
    pub fixture: Fixture,
    /// Its players.
    pub seats: [Seat; 2],
}

/// What a player is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing.
    Connected,
    /// Waiting for an opponent.
    GameWaiting(GameName, Wish),
    /// In a game, which has come so far.
    InGame(GameName, Color, Progress),
}

/// How far a player's game has come.
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
    /// The word for it.
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

/// A player who is here.
#[derive(Debug)]
pub struct Player {
    /// The name.
    pub name: String,
    /// The name with its trip.
    pub id: String,
    pub(super) password: String,
    /// What nobody else knows, if anything.
    pub(super) secret: Option<String>,
    /// Whether it speaks the extended mode.
    pub extended: bool,
    /// What it is doing.
    pub status: Status,
    pub(super) mailbox: mpsc::Sender<Message>,
}

/// Moves that games of a name start from.
#[derive(Clone, Debug)]
pub struct Buoy {
    pub(super) moves: Vec<String>,
    pub(super) owner: String,
    pub(super) left: i64,
}

/// The players and games of a league.
#[derive(Debug)]
pub struct Lobby {
    pub(super) config: Arc<ServeConfig>,
    pub(super) players: BTreeMap<LoginId, Player>,
    pub(super) names: HashMap<String, LoginId>,
    pub(super) games: BTreeMap<GameId, GameView>,
    pub(super) buoys: HashMap<String, Buoy>,
    pub(super) roster: Arc<Roster>,
    pub(super) matches: mpsc::UnboundedSender<ArrangedGame>,
    pub(super) next_login: u64,
    pub(super) next_game: GameId,
    /// Stamps given out this second, so that no two games have one id.
    pub(super) stamps: HashMap<String, i64>,
    pub(super) closing: bool,
    /// The transcripts of the games, and where entries are reported.
    pub(super) transcripts: Transcripts,
    pub(super) record_files: RecordFiles,
    /// The event that pairs the players; `None`: whoever asks for the same game meets.
    pub(super) event: Option<Entrants>,
    /// What is remembered of the players.
    pub(super) history: RatingHistory,
}

/// A login that was refused: what is said, and whether the connection may try again.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The lines.
    pub lines: String,
    /// Whether it may try again.
    pub again: bool,
}

impl Lobby {
    /// An empty lobby; games go out through `matches`, numbered from `next_game`.
    #[must_use]
    pub fn new(
        config: Arc<ServeConfig>,
        roster: Arc<Roster>,
        next_game: GameId,
        matches: mpsc::UnboundedSender<ArrangedGame>,
        transcripts: Transcripts,
    ) -> Self {
        Self {
            config,
            players: BTreeMap::new(),
            names: HashMap::new(),
            games: BTreeMap::new(),
            buoys: HashMap::new(),
            roster,
            matches,
            next_login: 0,
            next_game,
            stamps: HashMap::new(),
            closing: false,
            transcripts,
            record_files: RecordFiles::default(),
            event: None,
            history: RatingHistory::default(),
        }
    }

    /// Lets a player in; in CSA mode it waits for its game at once. Whoever is here under that name already leaves if
    /// the password is the same and no game is on.
    ///
    /// # Errors
    /// What is answered instead.
    pub fn login(
        &mut self,
        request: &LoginRequest,
        mailbox: mpsc::Sender<Message>,
    ) -> Result<LoggedIn, Refusal> {
        let LoginRequest { name, password, extended, vouched } = request;
        let extended = *extended;
        let refusal = |more: &str, again| Refusal { lines: format!("LOGIN:incorrect\n{more}"), again };
        if !is_player_name(name) || password.len() > 256 {
            return Err(refusal("", true));
        }
        if let Some(held) = self.held_for(request) {
            return Ok(self.come_back(request, held, mailbox));
        }
        if let Some(other) = self.names.get(name).and_then(|login| self.players.get(login)) {
            if other.password != *password || matches!(other.status, Status::InGame(..)) {
                let why = format!("username {name} is already connected\n");
                return Err(refusal(if extended { &why } else { "" }, false));
            }
            let _leaving_already = other.mailbox.try_send(Message::Replaced);
            let login = self.names[name];
            self.leave(login);
        }
        if let Some(Err(why)) = self.event.as_mut().map(|event| event.admit(name, password, extended)) {
            return Err(refusal(&if extended { format!("{why}\n") } else { String::new() }, false));
        }
        let entry = Entry::read(password);
        let secret = request.secret();
        // A password that the host keeps is not shown to everybody as a trip is.
        let trip = secret.as_deref().filter(|_| !vouched);
        let login = self.welcome(request, &mailbox);
        let id = player_id(name, trip);
        self.enter(login, request, [id, password.clone()], secret, Status::Connected, mailbox);
        if self.event.is_some() {
            self.await_round(login);
        } else if !extended {
            self.seek(login, entry.game, entry.wish, false);
        }
        Ok(LoggedIn { login, seat: None })
    }

    /// A player has left.
    pub fn leave(&mut self, login: LoginId) {
        if let Some(player) = self.players.remove(&login)
            && self.names.get(&player.name) == Some(&login)
        {
            self.names.remove(&player.name);
        }
        self.games
            .values_mut()
            .for_each(|game| [false, true].into_iter().for_each(|only| game.unwatch(login, only)));
    }

    /// Sends lines to a player.
    pub(super) fn say(&self, login: LoginId, lines: String) {
        if let Some(player) = self.players.get(&login) {
            // Who does not read its mailbox is behind on its socket, and is closed there.
            let _behind = player.mailbox.try_send(Message::Lines(lines));
        }
    }

    pub(super) fn error(&self, login: LoginId, text: &str) {
        self.say(login, format!("##[ERROR] {text}\n"));
    }

    /// Tells how far the player's game has come.
    pub fn reached(&mut self, login: LoginId, stage: Progress) {
        if let Some(Player { status: Status::InGame(_, _, known), .. }) = self.players.get_mut(&login) {
            *known = stage;
        }
    }

    /// The player's game is over.
    pub fn free(&mut self, login: LoginId) {
        if let Some(player) = self.players.get_mut(&login) {
            player.status = Status::Connected;
        }
        self.await_round(login);
    }

    /// A player says what it thinks of a move that it wants to make.
    pub fn commented(&mut self, game: GameId, mv: &str, comment: &str) {
        if let Some(view) = self.games.get_mut(&game).filter(|_| self.config.comments) {
            view.commented(mv, comment);
        }
    }

    /// A move was heard in a game.
    pub fn moved(&mut self, game: GameId, mv: String, seconds: u64) {
        let shown = self.games.get_mut(&game).map(|view| view.moved(mv, seconds));
        self.show(shown.unwrap_or_default());
    }

    /// Every move of a game was told.
    pub fn told(&mut self, game: GameId) {
        let end = self.games.get_mut(&game).and_then(GameView::told);
        self.end(game, end);
    }

    /// A game is over; `None`: it could not be set up.
    pub fn over(&mut self, game: GameId, outcome: Option<Outcome>) {
        match outcome {
            Some(outcome) => {
                let end = self.games.get_mut(&game).and_then(|view| view.over(outcome));
                self.end(game, end);
            }
            None => drop(self.games.remove(&game)),
        }
    }

    fn end(&mut self, game: GameId, end: Option<Vec<Shown>>) {
        if let Some(shown) = end {
            self.games.remove(&game);
            self.show(shown);
        }
    }

    fn show(&self, shown: Vec<Shown>) {
        shown.into_iter().for_each(|(login, lines)| self.say(login, lines));
    }

    /// No new games; who is in none is sent away.
    pub fn close(&mut self) {
        self.closing = true;
        for player in self.players.values() {
            let _leaving_already = player.mailbox.try_send(Message::Closing);
        }
    }

    /// Waits for an opponent, or meets one who waits. Why not is told to the player.
    pub(super) fn seek(&mut self, login: LoginId, game: GameName, wish: Wish, challenge: bool) {
        if self.event.is_some() {
            return self.await_round(login);
        }
        if let Err(why) = self.admissible(&game, wish) {
            return self.error(login, &why);
        }
        let rival = self.players.iter().find_map(|(other, player)| match &player.status {
            Status::GameWaiting(name, theirs) if *name == game && *other != login && theirs.fits(wish) => {
                Some((*other, *theirs))
            }
            _ => None,
        });
        match rival.filter(|_| !game.is_floodgate()) {
            Some((rival, theirs)) => self.arrange(game, (rival, theirs), (login, wish)),
            None if challenge => self.error(login, &format!("can't find rival for {game}")),
            None => {
                if let Some(player) = self.players.get_mut(&login) {
                    player.status = Status::GameWaiting(game, wish);
                }
            }
        }
    }

    fn admissible(&self, game: &GameName, wish: Wish) -> Result<(), String> {
        if self.closing {
            Err("As the service is going to shutdown shortly, starting new games is not allowed now."
                .to_owned())
        } else if game.is_stop_watch() && game.time().main.is_zero() {
            Err(format!("a stop-watch needs a main time: {game}"))
        } else if game.is_buoy() && !self.buoys.contains_key(game.as_str()) {
            Err(format!("buoy game not found: {game}"))
        } else if game.is_floodgate() && wish != Wish::Either {
            Err(format!("You are not allowed to specify TEBAN {wish} for the game {game}"))
        } else if game.handicap().is_some() && wish == Wish::Either {
            Err("Random turn preference is not allowed for handicapped games".to_owned())
        } else {
            Ok(())
        }
    }

    /// The game with that id.
    pub(super) fn game(&mut self, id: &str) -> Option<&mut GameView> {
        self.games.values_mut().find(|view| view.id() == id)
    }

    /// A line of `%%WHO`.
    pub(super) fn who(player: &Player) -> String {
        let Player { id, extended, status, .. } = player;
        let mode = if *extended { "x1" } else { "CSA" };
        let game = match status {
            Status::Connected => String::new(),
            Status::GameWaiting(game, wish) => format!(" {game} {wish}"),
            Status::InGame(game, color, _) => format!(" {game} {}", sign(*color)),
        };
        format!("##[WHO] {id} {mode} {}{game}\n", status.word())
    }
}

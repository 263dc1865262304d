//! The host's side of the operator's handle: players, buoys, and the games of an open league.

use super::{
    context::HostContext,
    lobby::Lobby,
    mailbox::Message,
    presence::{LoginId, Player, Status},
};
use arena::{
    Past,
    operations::{
        Asked, Done, GamesDesk, HostDesk, Intervention, Operations, command::Command, request::ListedPlayer,
    },
};
use contest::schedule::Pairing;
use journal::{EventId, Store};
use notation::csa::game_name::{GameName, Wish};
use parking_lot::Mutex;
use plan::http::is_private;
use referee::{
    AbortBy, Color, Outcome,
    entry::{Entry, GameId, PlayerId},
    operation::{Action, Whom},
};
use std::{collections::HashMap, path::PathBuf, sync::Arc};
use words::{Language, refuse};

/// The lobby, as the operator sees it. It is called on the operator's thread, and locks the lobby as its own thread does.
pub(super) struct LobbyDesk {
    pub host: HostContext,
    /// The database of the event, and its name there.
    pub stored: (PathBuf, String),
}

impl LobbyDesk {
    /// The names of the players of a private game; of a game that the database does not have yet nobody's.
    fn players_in_private(&self, game: GameId) -> Option<Vec<String>> {
        let private = self.host.lobby().config.http.private.clone();
        if private.is_empty() {
            return None;
        }
        let (database, event) = &self.stored;
        let names = Store::read(database).and_then(|store| match store.event_named(event)? {
            Some(event) => store.names(event, game),
            None => Ok(None),
        });
        let names = names.ok().flatten().unwrap_or_default();
        (names.is_empty() || names.iter().any(|name| is_private(&private, name))).then_some(names)
    }
}

impl HostDesk for LobbyDesk {
    fn players(&self) -> Vec<ListedPlayer> {
        let lobby = self.host.lobby();
        let players = lobby.presence.iter().map(|(_, player)| ListedPlayer {
            name: player.name.clone(),
            address: player.place.address.to_string(),
            state: player.status.word().to_owned(),
            idle_seconds: player.place.idle_since().elapsed().as_secs(),
            round_trip_ms: player.place.round_trip().map(|time| time.as_secs_f64() * 1000.0),
        });
        players.collect()
    }

    fn absent(&self) -> Vec<String> {
        self.host.lobby().absent()
    }

    fn buoys(&self) -> Vec<String> {
        self.host.lobby().buoys.names()
    }

    fn is_open(&self) -> bool {
        self.host.lobby().is_open()
    }

    fn kick(&self, whom: &Whom, line: &str) -> (usize, usize) {
        let lobby = self.host.lobby();
        let meant = |name: &str, address| whom.is(name, address);
        let players = lobby.presence.iter().filter(|(_, player)| meant(&player.name, player.place.address));
        players.fold((0, 0), |(all, playing), (_, player)| {
            let _leaving_already = player.mailbox.tell(Message::SentAway(line.into()));
            (all + 1, playing + usize::from(player.is_in_game()))
        })
    }

    fn delete_buoy(&self, name: &str) -> bool {
        self.host.lobby().buoys.take_away(name)
    }

    fn swap(&self, out: &str, substitute: &str) -> Result<(PlayerId, Entry), words::Message> {
        self.host.lobby().swap(out, substitute)
    }

    fn pair(&self, black: &str, white: &str) -> Result<String, words::Message> {
        self.host.lobby().pair_by_hand([black, white])
    }

    fn tell(&self, game: Option<GameId>, line: &str) {
        let among = game.and_then(|game| self.players_in_private(game));
        let (lobby, line) = (self.host.lobby(), Arc::<str>::from(line));
        let hears = |player: &Player| {
            among
                .as_ref()
                .is_none_or(|names| names.iter().any(|name| [&player.id, &player.name].contains(&name)))
        };
        let players = lobby.presence.iter().filter(|(_, player)| player.extended && hears(player));
        players.for_each(|(_, player)| player.mailbox.show(line.clone()));
    }

    fn changed(&self) {
        self.host.lobby().switched();
    }
}

impl Lobby {
    /// Gives the place of an entrant to a substitute.
    fn swap(&mut self, out: &str, substitute: &str) -> Result<(PlayerId, Entry), words::Message> {
        if self.presence.named(out).is_some_and(|(_, player)| player.is_in_game())
            || self.games.has_player(out)
        {
            return refuse(|words| words.entrant_plays(out));
        }
        let Some(player) = self.swap_entrant(out, substitute)? else {
            return refuse(Language::league_has_no_places);
        };
        // Who watched as a spectator until now waits for a game, and is known by its secret from then on.
        if let Some((login, Player { id, trip, mailbox, .. })) = self.presence.named(substitute) {
            let (id, trip, mailbox) = (id.clone(), trip.clone(), mailbox.clone());
            match self.admit(substitute, &id, trip.as_deref(), true) {
                Ok(()) => self.await_round(login),
                Err(refusal) => {
                    _ = mailbox.tell(Message::SentAway(refusal.lines.trim().replace('\n', ": ").into()))
                }
            }
        }
        let renamed = self.arranger.roster().rename(out, substitute);
        let name = substitute.to_owned();
        Ok((player, renamed.unwrap_or(Entry::Renamed { player, name })))
    }

    /// Begins a game between two players who wait for the same one, however it would be paired otherwise.
    fn pair_by_hand(&mut self, names: [&str; 2]) -> Result<String, words::Message> {
        if names[0] == names[1] {
            return refuse(Language::needs_two_players);
        }
        if self.operations.is_paused() {
            return refuse(Language::resume_first);
        }
        let [black, white] = [0, 1].map(|side| self.waiting_as(names[side], Color::BOTH[side]));
        let ((black, name), (white, other)) = (black?, white?);
        if name != other {
            let (name, other) = (name.as_str(), other.as_str());
            return refuse(|words| words.wait_for_different_games(names[0], name, names[1], other));
        }
        self.admissible(&name, Wish::Either).map_err(|why| words::Message::of(|_| why.to_string()))?;
        for (login, player) in [black, white].into_iter().zip(names) {
            if self.is_hindered(login) {
                return refuse(|words| words.quota_used_up(player));
            }
        }
        self.begin(&name, [black, white], 1);
        Ok(name.as_str().to_owned())
    }

    /// A player who waits for a game in which it may have that colour.
    fn waiting_as(&self, name: &str, color: Color) -> Result<(LoginId, GameName), words::Message> {
        let Some((login, player)) = self.presence.named(name) else {
            return refuse(|words| words.player_not_here(name));
        };
        let unwanted = if color == Color::Black { Wish::White } else { Wish::Black };
        match &player.status {
            Status::GameWaiting(_, wish) if *wish == unwanted => {
                refuse(|words| words.wants_other_colour(name))
            }
            Status::GameWaiting(game, _) => Ok((login, game.clone())),
            _ => refuse(|words| words.waits_for_no_game(name)),
        }
    }

    /// Hears that the event was paused or resumed: players who wait for the same game meet now.
    fn switched(&mut self) {
        let paused = self.operations.is_paused();
        let word = if paused { "no new game begins for now" } else { "new games begin again" };
        let line: Arc<str> = format!("##[OPERATOR] {word}\n").into();
        let extended = self.presence.iter().filter(|(_, player)| player.extended);
        extended.for_each(|(_, player)| player.mailbox.show(line.clone()));
        if !paused {
            self.seek_again();
        }
    }
}

/// The games of an open league, as the operator sees them.
pub(super) struct LeagueGames {
    operations: Operations,
    database: PathBuf,
    event: EventId,
    /// The orders that running games have yet to carry out.
    orders: Mutex<HashMap<GameId, Asked>>,
}

impl LeagueGames {
    pub fn new(operations: Operations, database: PathBuf, event: EventId) -> Self {
        Self { operations, database, event, orders: Mutex::default() }
    }

    fn intervene(&self, outcome: Outcome, asked: Asked) {
        let game = asked.game;
        let text = format!("the operator, {}", asked.words());
        // Kept before it is sent: the game may end at once.
        let mut orders = self.orders.lock();
        if self.operations.interventions().send(game, Intervention { outcome, text }) {
            orders.insert(game, asked);
            return;
        }
        drop(orders);
        self.answer_past(asked);
    }

    /// Carries out an order about a game that is over.
    fn answer_past(&self, asked: Asked) {
        let past = arena::past(&self.database, self.event, asked.game);
        let done = past.and_then(|Past { pairing, outcome: was }| {
            let done = self.correct(&asked, pairing, was);
            done.map_err(|why| self.operations.about(&why, asked.game, &pairing, was))
        });
        asked.answer(done);
    }

    /// Records the order that a game has carried out; its end is recorded. A game may have ended by itself just before.
    pub fn carried_out(&self, game: GameId, pairing: Pairing, outcome: Option<Outcome>) {
        let Some(asked) = self.orders.lock().remove(&game) else { return };
        let named = self.operations.named(game, &pairing);
        let done = match (&asked.order, outcome) {
            (_, None) => refuse(|words| words.could_not_be_played(game.0)),
            (Command::Adjourn { .. }, Some(Outcome::Aborted { by: AbortBy::Stopped })) => {
                let done = self.done(&asked, None, Action::Adjourned { game: named, held: None });
                let text = format!("{}; its players may ask for another", done.text);
                Ok(Done { text, ..done })
            }
            (Command::Rule { result, .. }, Some(outcome)) if result.outcome() == outcome => {
                Ok(self.done(&asked, None, Action::Ruled { game: named, pairing, was: None, outcome }))
            }
            (_, Some(was)) => self.correct(&asked, pairing, was),
        };
        asked.answer(done);
    }

    fn correct(&self, asked: &Asked, pairing: Pairing, was: Outcome) -> Result<Done, words::Message> {
        let (undoes, action) = asked.correction(&self.operations, pairing, was)?;
        match action {
            Action::Appealed { .. } => return Ok(self.done(asked, None, action)),
            Action::Replayed { .. } => return refuse(Language::league_replays_nothing),
            _ if !was.counts() && !was.is_left_out() => {
                return refuse(|words| words.does_not_count(asked.game.0, &words.outcome(was)));
            }
            _ => {}
        }
        let done = self.done(asked, undoes, action);
        self.operations.tell(Some(asked.game), &format!("##[OPERATOR] {}\n", done.text));
        Ok(done)
    }

    fn done(&self, asked: &Asked, undoes: Option<u64>, action: Action) -> Done {
        self.operations.record(&asked.by, &asked.reason, undoes, action)
    }
}

impl GamesDesk for LeagueGames {
    fn ask(&self, asked: Asked) {
        match asked.order {
            Command::Adjourn { .. } => self.intervene(Outcome::Aborted { by: AbortBy::Stopped }, asked),
            Command::Rule { result, .. } => self.intervene(result.outcome(), asked),
            Command::PlayOn { .. } | Command::Clock { .. } => {
                asked.answer(refuse(Language::league_plays_nothing_on))
            }
            Command::Penalty { .. }
            | Command::Disqualify { .. }
            | Command::Place { .. }
            | Command::Withdraw { .. }
            | Command::Return { .. }
            | Command::Bye { .. } => {
                asked.answer(refuse(Language::league_has_no_rounds));
            }
            Command::DropMachine { .. } | Command::ReadmitMachine { .. } => {
                asked.answer(refuse(Language::league_has_no_machines))
            }
            _ => self.answer_past(asked),
        }
    }

    fn changed(&self) {}
}

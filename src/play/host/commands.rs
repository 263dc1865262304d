//! The commands of the extended mode.

use super::{
    budget::{of_answer, of_chat},
    buoys::forked_name,
    error::HostError,
    lobby::Lobby,
    presence::{LoginId, Status},
    rating_history::Rate,
    requests::clipped,
};
use notation::{
    csa::{
        game_name::{BadGameName, GameName, Wish},
        wire::Command,
    },
    date,
};
use referee::entry::PlayerId;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const HELP: &str =
    "##[HELP] available commands \"%%WHO\", \"%%CHAT str\", \"%%GAME game_name +\", \"%%GAME game_name -\"\n";
/// Characters of a trip that `%%RATING` shows.
const TRIP: usize = 9;
/// For how long an answer to `%%RATING` is good.
const FRESH: Duration = Duration::from_secs(1);
/// The cost of a command whose moves are played on a board, beside its line.
const BOARD: u32 = 5;

impl Lobby {
    /// Carries out a command of a player; returns the cost of the answer, beside that of its line.
    pub fn command(&mut self, login: LoginId, command: Command) -> u32 {
        // What cannot be sent is not made.
        if self.presence.get(login).is_none_or(|player| !player.mailbox.has_room()) {
            return 0;
        }
        let said = command.to_string();
        match command {
            Command::Who => {
                let who = match self.config.http.private.is_empty() {
                    true => self.presence.who(),
                    false => self.presence.who_without(|name| self.games.plays_in_private(name)),
                };
                return self.send_long(login, who);
            }
            Command::List => {
                let list = self.games.list();
                return self.send_long(login, list);
            }
            Command::Rating => {
                let rating = self.rating();
                return self.send_long(login, rating);
            }
            Command::Show(game) => {
                let shown = self.games.named(&game).map(|view| view.show("##[SHOW]"));
                return self.send_long(login, shown.unwrap_or_else(|| "##[SHOW] +OK\n".to_owned()));
            }
            Command::Monitor { game, moves_only, on } => return self.monitor(login, &game, moves_only, on),
            Command::Chat(text) => return self.chat(login, &text),
            Command::SetBuoy { game, moves, count } => {
                self.set_buoy(login, game, &moves, count.unwrap_or(1));
                return BOARD;
            }
            Command::Fork { game, buoy, plies } => {
                self.fork(login, &game, buoy, plies);
                return BOARD;
            }
            Command::Help => self.send(login, HELP.to_owned()),
            Command::Version => {
                let version = env!("CARGO_PKG_VERSION");
                self.send(login, format!("##[VERSION] Renmei {version}\n##[VERSION] +OK\n"));
            }
            Command::Seek { challenge, game, wish } => {
                self.asked(login, challenge, game.as_deref(), wish, &said);
            }
            Command::ChatInGames(on) => {
                self.presence.set_chats_in_games(login, on);
                self.send(login, if on { "##[CHATON] +OK\n" } else { "##[CHATOFF] +OK\n" });
            }
            Command::DeleteBuoy(game) => {
                let deleted = self.buoys.delete(&game, &self.id(login));
                self.answer(login, deleted, "##[DELETEBUOY] +OK\n");
            }
            Command::GetBuoyCount(game) => {
                let left = self.buoys.left(&game).unwrap_or(-1);
                self.send(login, format!("##[GETBUOYCOUNT] {left}\n##[GETBUOYCOUNT] +OK\n"));
            }
            Command::Private(_) => {}
        }
        0
    }

    fn send_long(&self, login: LoginId, lines: impl Into<Arc<str>>) -> u32 {
        let lines = lines.into();
        let cost = of_answer(lines.len());
        self.send(login, lines);
        cost
    }

    /// Answers a line that is not valid in the player's state.
    pub fn untimely(&self, login: LoginId, word: &str, valid: &str) {
        if let Some(player) = self.presence.get(login) {
            let status = player.status.word();
            self.error(login, &format!("you are in {status} status. {word} is valid in {valid} status"));
        }
    }

    /// The answer to `%%RATING`, made once a second for all who ask.
    fn rating(&mut self) -> Arc<str> {
        let fresh =
            self.rated.as_ref().filter(|(at, _)| at.elapsed() < FRESH).map(|(_, rating)| rating.clone());
        fresh.unwrap_or_else(|| {
            let rating = Arc::<str>::from(self.rated_players());
            self.rated = Some((Instant::now(), rating.clone()));
            rating
        })
    }

    /// The rated players, best first, each with the day of its last rated game.
    fn rated_players(&self) -> String {
        let (names, played) = (self.arranger.roster().names(), self.history.read());
        let mut rates: Vec<_> = played.rates.iter().collect();
        rates.sort_by(|a, b| b.1.rate.total_cmp(&a.1.rate).then(a.0.cmp(b.0)));
        let line = |(player, rate): &(&PlayerId, &Rate)| {
            let id = names.get(player.index()).map_or("", String::as_str);
            let shown = id.find('+').map_or(id, |plus| id.get(..plus + 1 + TRIP).unwrap_or(id));
            let day = date::text(rate.at)[..10].replace('/', "-");
            format!("##[RATING] {shown} \t {:4} @{day}\n", rate.rate.round() as i64)
        };
        rates.iter().map(line).collect::<String>() + "##[RATING] +OK\n"
    }

    fn monitor(&mut self, login: LoginId, game: &str, moves_only: bool, on: bool) -> u32 {
        let Some(view) = self.games.named(game) else { return 0 };
        if on {
            let seen = view.watch(login, moves_only);
            self.send_long(login, seen)
        } else {
            view.unwatch(login, moves_only);
            0
        }
    }

    fn asked(&mut self, login: LoginId, challenge: bool, game: Option<&str>, wish: Option<Wish>, said: &str) {
        let Some(player) = self.presence.get(login) else { return };
        if player.is_in_game() {
            let word = if challenge { "CHALLENGE" } else { "GAME" };
            return self.untimely(login, word, "connected or game_waiting");
        }
        let Some(game) = game else {
            return self.presence.set_status(login, Status::Connected);
        };
        match (game.parse::<GameName>(), wish) {
            (Err(bad), _) => self.bad_name(login, game, bad),
            (Ok(_), None) => self.error(login, &format!("A turn identifier is required: {}", clipped(said))),
            (Ok(name), Some(wish)) => self.seek(login, name, wish, challenge),
        }
    }

    fn bad_name(&self, login: LoginId, game: &str, bad: BadGameName) {
        self.error(login, &format!("bad game name: {}.", clipped(game)));
        self.error(login, &bad.to_string());
    }

    /// Sends a line to all players of the extended mode, the sender included. Players in a game are left in peace, and
    /// so are those who do not read fast enough.
    fn chat(&self, login: LoginId, text: &str) -> u32 {
        let Some(sender) = self.presence.get(login) else { return 0 };
        if self.operations.in_force(|in_force| in_force.is_muted(&sender.name)) {
            self.error(login, "the operator has muted you: nobody hears what you say");
            return 0;
        }
        let line: Arc<str> = format!("##[CHAT][{}] {}\n", sender.name, clipped(text)).into();
        let others = self.presence.iter().filter(|(other, player)| *other != login && player.hears_chat());
        let heard = others.map(|(_, player)| player.mailbox.chat(line.clone())).count();
        self.send(login, line);
        of_chat(heard)
    }

    fn set_buoy(&mut self, login: LoginId, game: String, moves: &str, count: i64) {
        let Some(origin) = self.presence.get(login).map(|player| player.place.origin) else { return };
        let set = self.buoys.set(game, moves, count, (self.id(login), origin));
        self.answer(login, set, "##[SETBUOY] +OK\n");
    }

    fn id(&self, login: LoginId) -> String {
        self.presence.get(login).map_or_else(String::new, |player| player.id.clone())
    }

    fn answer(&self, login: LoginId, done: Result<(), HostError>, ok: &str) {
        match done {
            Ok(()) => self.send(login, ok.to_owned()),
            Err(why) => self.error(login, &why.to_string()),
        }
    }

    /// Sets a buoy with the moves of a running game, by default without its last move.
    fn fork(&mut self, login: LoginId, game: &str, buoy: Option<String>, plies: Option<i64>) {
        let Some(view) = self.games.named(game) else {
            return self.error(login, &format!("wrong source game name: {}", clipped(game)));
        };
        let moves = view.moves();
        let plies = plies.unwrap_or_else(|| i64::try_from(moves.len()).unwrap_or(0) - 1);
        let Some(taken) = usize::try_from(plies).ok().filter(|n| (1..=moves.len()).contains(n)) else {
            let count = moves.len();
            return self.error(login, &format!("number of moves to fork is out of range: {count}."));
        };
        let glued = moves[..taken].concat();
        let name = buoy.unwrap_or_else(|| forked_name(game, taken));
        self.send(login, format!("##[FORK]: new buoy game name: {}\n##[FORK] +OK\n", clipped(&name)));
        self.set_buoy(login, name, &glued, 1);
    }
}

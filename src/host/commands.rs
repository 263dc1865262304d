//! The extended mode's commands.

use super::{
    game_view::apply,
    lobby::{Buoy, Lobby, LoginId, Status},
    rating_history::Rate,
};
use notation::csa::{
    game_name::{BadGameName, GameName, Wish},
    wire::Command,
};
use notation::date;
use notation::printable;
use referee::event::PlayerId;
use referee::sink::{self, SideRecord};

const HELP: &str =
    "##[HELP] available commands \"%%WHO\", \"%%CHAT str\", \"%%GAME game_name +\", \"%%GAME game_name -\"\n";
/// Characters of a trip that `%%RATING` shows.
const TRIP: usize = 9;
/// Plies a buoy may have.
const BUOY_PLIES: usize = 512;

impl Lobby {
    /// Carries out a command of a player.
    pub fn command(&mut self, login: LoginId, command: Command) {
        let said = command.to_string();
        match command {
            Command::Help => self.say(login, HELP.to_owned()),
            Command::Version => {
                self.say(
                    login,
                    format!("##[VERSION] Renmei {}\n##[VERSION] +OK\n", env!("CARGO_PKG_VERSION")),
                );
            }
            Command::Who => {
                let lines: String = self.players.values().map(Self::who).collect();
                self.say(login, lines + "##[WHO] +OK\n");
            }
            Command::List => {
                let lines: String =
                    self.games.values().map(|game| format!("##[LIST] {}\n", game.id())).collect();
                self.say(login, lines + "##[LIST] +OK\n");
            }
            Command::Rating => self.say(login, self.rating()),
            Command::Show(game) => {
                let shown = self.game(&game).map(|view| view.show("##[SHOW]"));
                self.say(login, shown.unwrap_or_else(|| "##[SHOW] +OK\n".to_owned()));
            }
            Command::Monitor { game, moves_only, on } => self.monitor(login, &game, moves_only, on),
            Command::Seek { challenge, game, wish } => {
                self.asked(login, challenge, game.as_deref(), wish, &said)
            }
            Command::Chat(text) => self.chat(login, &text),
            Command::SetBuoy { game, moves, count } => self.set_buoy(login, game, &moves, count),
            Command::DeleteBuoy(game) => self.delete_buoy(login, &game),
            Command::GetBuoyCount(game) => {
                let left = self.buoys.get(&game).map_or(-1, |buoy| buoy.left);
                self.say(login, format!("##[GETBUOYCOUNT] {left}\n##[GETBUOYCOUNT] +OK\n"));
            }
            Command::Fork { game, buoy, plies } => self.fork(login, &game, buoy, plies),
            Command::Private(_) => {}
        }
    }

    /// Something that is no line of the protocol.
    pub fn unknown(&self, login: LoginId, line: &str) {
        self.error(login, &format!("unknown command: {}", printable(line.as_bytes())));
    }

    /// A word that is for another moment.
    pub fn untimely(&self, login: LoginId, word: &str, valid: &str) {
        if let Some(player) = self.players.get(&login) {
            let status = player.status.word();
            self.error(login, &format!("you are in {status} status. {word} is valid in {valid} status"));
        }
    }

    /// The rated players, best first, each with the day of its last rated game.
    fn rating(&self) -> String {
        let (names, played) = (self.roster.names(), self.history.read());
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

    fn monitor(&mut self, login: LoginId, game: &str, moves_only: bool, on: bool) {
        let Some(view) = self.game(game) else { return };
        if on {
            let seen = view.watch(login, moves_only);
            self.say(login, seen);
        } else {
            view.unwatch(login, moves_only);
        }
    }

    fn asked(&mut self, login: LoginId, challenge: bool, game: Option<&str>, wish: Option<Wish>, said: &str) {
        let Some(player) = self.players.get_mut(&login) else { return };
        if matches!(player.status, Status::InGame(..)) {
            let word = if challenge { "CHALLENGE" } else { "GAME" };
            return self.untimely(login, word, "connected or game_waiting");
        }
        let Some(game) = game else {
            player.status = Status::Connected;
            return;
        };
        match (game.parse::<GameName>(), wish) {
            (Err(bad), _) => self.bad_name(login, game, bad),
            (Ok(_), None) => {
                self.error(login, &format!("A turn identifier is required: {}", printable(said.as_bytes())))
            }
            (Ok(name), Some(wish)) => self.seek(login, name, wish, challenge),
        }
    }

    fn bad_name(&self, login: LoginId, game: &str, bad: BadGameName) {
        self.error(login, &format!("bad game name: {}.", printable(game.as_bytes())));
        self.error(login, &bad.to_string());
    }

    /// To everybody of the extended mode, the sender as well.
    fn chat(&self, login: LoginId, text: &str) {
        let Some(sender) = self.players.get(&login) else { return };
        let line = format!("##[CHAT][{}] {}\n", sender.name, printable(text.as_bytes()));
        let heard = self.players.iter().filter(|(_, player)| player.extended);
        heard.for_each(|(login, _)| self.say(*login, line.clone()));
    }

    fn set_buoy(&mut self, login: LoginId, game: String, moves: &str, count: Option<i64>) {
        let count = count.unwrap_or(1);
        let is_buoy = game.parse::<GameName>().is_ok_and(|name| name.is_buoy());
        if !is_buoy {
            return self.error(login, &format!("wrong buoy game name: {}", printable(game.as_bytes())));
        } else if self.buoys.contains_key(&game) {
            return self.error(login, &format!("duplicated buoy game name: {game}"));
        } else if count <= 0 {
            return self.error(login, &format!("invalid count: {count}"));
        } else if self.buoys.len() >= self.config.limits.buoys {
            return self.error(login, "too many buoys are set");
        }
        let Some(read) = buoy_moves(moves) else {
            return self.error(login, &format!("wrong moves: {}", printable(moves.as_bytes())));
        };
        let owner = self.players.get(&login).map_or_else(String::new, |player| player.id.clone());
        self.buoys.insert(game.clone(), Buoy { moves: read, owner, left: count });
        self.keep_buoy(&game);
        self.say(login, "##[SETBUOY] +OK\n".to_owned());
    }

    /// The moves of the buoy of that name; it is used up by one.
    pub(super) fn take_buoy(&mut self, name: &GameName) -> Vec<String> {
        let Some(buoy) = self.buoys.get_mut(name.as_str()) else { return vec![] };
        buoy.left -= 1;
        let moves = buoy.moves.clone();
        if buoy.left <= 0 {
            self.buoys.remove(name.as_str());
        }
        self.keep_buoy(name.as_str());
        moves
    }

    /// Takes up the buoys that were there before.
    pub fn know(&mut self, stored: Vec<sink::Buoy>) {
        let buoy = |sink::Buoy { name, moves, owner, left }| (name, Buoy { moves, owner, left });
        self.buoys.extend(stored.into_iter().map(buoy));
    }

    /// What has become of the buoy of that name outlives the program.
    fn keep_buoy(&self, name: &str) {
        let stored = self.buoys.get(name).map(|Buoy { moves, owner, left }| {
            let (moves, owner) = (moves.clone(), owner.clone());
            SideRecord::Buoy(sink::Buoy { name: name.to_owned(), moves, owner, left: *left })
        });
        self.transcripts.sink().keep(stored.unwrap_or_else(|| SideRecord::NoBuoy(name.to_owned())));
    }

    fn delete_buoy(&mut self, login: LoginId, game: &str) {
        let shown = printable(game.as_bytes());
        match (self.buoys.get(game), self.players.get(&login)) {
            (None, _) | (_, None) => self.error(login, &format!("buoy game not found: {shown}")),
            (Some(buoy), Some(player)) if buoy.owner != player.id => self.error(
                login,
                &format!("you are not allowed to delete a buoy game that you did not set: {shown}"),
            ),
            _ => {
                self.buoys.remove(game);
                self.keep_buoy(game);
                self.say(login, "##[DELETEBUOY] +OK\n".to_owned());
            }
        }
    }

    /// A buoy from a running game, by default from before its last move.
    fn fork(&mut self, login: LoginId, game: &str, buoy: Option<String>, plies: Option<i64>) {
        let Some(view) = self.game(game) else {
            return self.error(login, &format!("wrong source game name: {}", printable(game.as_bytes())));
        };
        let moves = view.moves();
        let plies = plies.unwrap_or_else(|| i64::try_from(moves.len()).unwrap_or(0) - 1);
        let Some(taken) = usize::try_from(plies).ok().filter(|n| (1..=moves.len()).contains(n)) else {
            let count = moves.len();
            return self.error(login, &format!("number of moves to fork is out of range: {count}."));
        };
        let glued = moves[..taken].concat();
        let name = buoy.unwrap_or_else(|| forked_name(game, taken));
        self.say(
            login,
            format!("##[FORK]: new buoy game name: {}\n##[FORK] +OK\n", printable(name.as_bytes())),
        );
        self.set_buoy(login, name, &glued, None);
    }
}

/// `event+test-600-10+...` forked after a ply is `buoy_test_1-600-10`.
fn forked_name(id: &str, plies: usize) -> String {
    let name = id.split('+').nth(1).unwrap_or_default();
    let name = name.strip_prefix("buoy_").unwrap_or(name);
    match name.rsplitn(3, '-').collect::<Vec<_>>()[..] {
        [byoyomi, total, name] => format!("buoy_{name}_{plies}-{total}-{byoyomi}"),
        _ => String::new(),
    }
}

/// Glued moves (`+7776FU-3334FU`, each with `,Tn` if need be), legal from the even start.
fn buoy_moves(glued: &str) -> Option<Vec<String>> {
    let mut position = rsshogi::board::position_from_sfen(referee::opening::EVEN).ok()?;
    position.init_stack();
    let mut rest = glued;
    let mut moves = vec![];
    while !rest.is_empty() {
        let (mv, tail) = rest.split_at_checked(7)?;
        rest = match tail.strip_prefix(",T") {
            Some(timed) => timed.trim_start_matches(|c: char| c.is_ascii_digit()),
            None => tail,
        };
        if moves.len() == BUOY_PLIES || !apply(&mut position, mv) {
            return None;
        }
        moves.push(mv.to_owned());
    }
    (!moves.is_empty()).then_some(moves)
}

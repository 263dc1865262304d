//! The commands of the extended mode, `%%...`.

use crate::csa::game_name::Wish;
use std::fmt;

/// A command of the extended mode. Its word is the name of the variant in capitals, unless it says another: a command cannot
/// be without one, and `read` takes every word.
#[derive(Clone, Debug, PartialEq, Eq, strum::EnumDiscriminants)]
#[strum_discriminants(name(Verb), vis(), derive(strum::EnumString, strum::IntoStaticStr))]
#[strum_discriminants(strum(serialize_all = "UPPERCASE"))]
pub enum Command {
    /// `%%HELP`.
    Help,
    /// `%%VERSION`.
    Version,
    /// `%%WHO`: the players.
    Who,
    /// `%%LIST`: the running games.
    List,
    /// `%%RATING`: the rated players, best first.
    Rating,
    /// `%%SHOW id`: the state of a game.
    Show(String),
    /// `%%MONITORON id`, `%%MONITOROFF id`, and the same with MONITOR2.
    #[strum_discriminants(strum(
        serialize = "MONITORON",
        serialize = "MONITOROFF",
        serialize = "MONITOR2ON",
        serialize = "MONITOR2OFF"
    ))]
    Monitor {
        /// The game.
        game: String,
        /// Moves alone (MONITOR2) instead of a summary after each.
        moves_only: bool,
        /// True to begin watching, false to end it.
        on: bool,
    },
    /// `%%GAME name +`: wait for an opponent; without a name, stop waiting. `%%CHALLENGE` does not wait.
    #[strum_discriminants(strum(serialize = "GAME", serialize = "CHALLENGE"))]
    Seek {
        /// True if only a waiting player is accepted as opponent.
        challenge: bool,
        /// The game; `None` stops waiting.
        game: Option<String>,
        /// The colour; the server answers a command without it with an error.
        wish: Option<Wish>,
    },
    /// `%%CHAT text`.
    Chat(String),
    /// `%%CHATON`, `%%CHATOFF`: hear chat in games as well, or not. shogi-server does not know it; it sends chat always.
    #[strum_discriminants(strum(serialize = "CHATON", serialize = "CHATOFF"))]
    ChatInGames(bool),
    /// `%%SETBUOY name moves [count]`: games of that name start after these moves.
    SetBuoy {
        /// Name of the game, such as `buoy_x-600-10`.
        game: String,
        /// The moves without separators.
        moves: String,
        /// Number of games that start so.
        count: Option<i64>,
    },
    /// `%%DELETEBUOY name`.
    DeleteBuoy(String),
    /// `%%GETBUOYCOUNT name`.
    GetBuoyCount(String),
    /// `%%FORK id [name [moves]]`: a buoy from a running game.
    Fork {
        /// The game it starts from.
        game: String,
        /// The buoy's name.
        buoy: Option<String>,
        /// After this many plies.
        plies: Option<i64>,
    },
    /// `%%%...`: private commands of other programs, which are ignored.
    #[strum_discriminants(strum(disabled))]
    Private(String),
}

pub(super) fn read(line: &str) -> Option<Command> {
    let command = line.strip_prefix("%%")?;
    if command.starts_with('%') {
        return Some(Command::Private(line.to_owned()));
    }
    let (word, rest) = command.split_once(' ').map_or((command, None), |(word, rest)| (word, Some(rest)));
    let name = || rest.filter(|rest| !rest.is_empty() && !rest.contains(' ')).map(str::to_owned);
    let alone = |command: Command| rest.is_none().then_some(command);
    match word.parse().ok()? {
        Verb::Help => alone(Command::Help),
        Verb::Version => alone(Command::Version),
        Verb::Who => alone(Command::Who),
        Verb::List => alone(Command::List),
        Verb::Rating => alone(Command::Rating),
        Verb::Show => name().map(Command::Show),
        Verb::Monitor => {
            let (moves_only, on) = (word.contains('2'), word.ends_with("ON"));
            name().map(|game| Command::Monitor { game, moves_only, on })
        }
        Verb::Seek => seek(word == "CHALLENGE", rest),
        Verb::Chat => rest.map(|text| Command::Chat(text.to_owned())),
        Verb::ChatInGames => alone(Command::ChatInGames(word == "CHATON")),
        Verb::SetBuoy => set_buoy(rest?),
        Verb::DeleteBuoy => name().map(Command::DeleteBuoy),
        Verb::GetBuoyCount => name().map(Command::GetBuoyCount),
        Verb::Fork => fork(rest?),
        Verb::Private => None, // its second per cent sign was read above
    }
}

fn seek(challenge: bool, rest: Option<&str>) -> Option<Command> {
    let Some(rest) = rest else { return Some(Command::Seek { challenge, game: None, wish: None }) };
    let (game, wish) = match rest.split_once(' ') {
        Some((game, wish)) => (game, Some(Wish::read(wish)?)),
        None => (rest, None),
    };
    (!game.is_empty()).then(|| Command::Seek { challenge, game: Some(game.to_owned()), wish })
}

fn set_buoy(rest: &str) -> Option<Command> {
    let words: Vec<&str> = rest.split(' ').collect();
    let (game, moves, count) = match words[..] {
        [game, moves] => (game, moves, None),
        [game, moves, count] => (game, moves, Some(number(count)?)),
        _ => return None,
    };
    let complete = !game.is_empty() && !moves.is_empty();
    complete.then(|| Command::SetBuoy { game: game.to_owned(), moves: moves.to_owned(), count })
}

fn fork(rest: &str) -> Option<Command> {
    let words: Vec<&str> = rest.split(' ').collect();
    let (game, buoy, plies) = match words[..] {
        [game] => (game, None, None),
        [game, buoy] => (game, Some(buoy), None),
        [game, buoy, plies] => (game, Some(buoy), Some(number(plies)?)),
        _ => return None,
    };
    let complete = !game.is_empty() && buoy != Some("");
    complete.then(|| Command::Fork { game: game.to_owned(), buoy: buoy.map(str::to_owned), plies })
}

/// A number in canonical form, so that writing it gives the same text.
fn number(word: &str) -> Option<i64> {
    word.parse().ok().filter(|count: &i64| count.to_string() == word)
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = || <&str>::from(Verb::from(self));
        match self {
            Self::Help | Self::Version | Self::Who | Self::List | Self::Rating => write!(f, "%%{}", word()),
            Self::Show(name) | Self::DeleteBuoy(name) | Self::GetBuoyCount(name) => {
                write!(f, "%%{} {name}", word())
            }
            Self::Monitor { game, moves_only, on } => {
                let (which, on) = (if *moves_only { "2" } else { "" }, if *on { "ON" } else { "OFF" });
                write!(f, "%%MONITOR{which}{on} {game}")
            }
            Self::Seek { challenge, game, wish } => {
                f.write_str(if *challenge { "%%CHALLENGE" } else { "%%GAME" })?;
                more(f, game.as_ref())?;
                more(f, wish.as_ref())
            }
            Self::Chat(text) => write!(f, "%%CHAT {text}"),
            Self::ChatInGames(true) => f.write_str("%%CHATON"),
            Self::ChatInGames(false) => f.write_str("%%CHATOFF"),
            Self::SetBuoy { game, moves, count } => {
                write!(f, "%%SETBUOY {game} {moves}")?;
                more(f, count.as_ref())
            }
            Self::Fork { game, buoy, plies } => {
                write!(f, "%%FORK {game}")?;
                more(f, buoy.as_ref())?;
                more(f, plies.as_ref())
            }
            Self::Private(line) => f.write_str(line),
        }
    }
}

fn more(f: &mut fmt::Formatter<'_>, word: Option<&impl fmt::Display>) -> fmt::Result {
    word.map_or(Ok(()), |word| write!(f, " {word}"))
}

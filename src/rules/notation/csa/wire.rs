//! The lines of the CSA server protocol (1.2.1, with shogi-server's extended mode), one enum per direction.
//!
//! Every line parses, if only as [`ClientLine::Unknown`] or [`ServerLine::Text`], and a parsed line is written with
//! the same bytes. A value is no larger than its line, so a limit on the line is a limit on the value.

mod command;

pub use command::Command;

use super::game_name::Wish;
use referee::entry::{Score, Thought};
use std::{convert::Infallible, fmt, num::ParseIntError, str::FromStr, time::Duration};

/// A line of a client, without its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientLine {
    /// `LOGIN name password`, with `x1` for the extended mode.
    Login {
        /// The player's name; see [`is_player_name`].
        name: String,
        /// The password, which contains the name of the game in CSA mode; see [`super::game_name::Entry`].
        password: String,
        /// True for the extended mode.
        extended: bool,
    },
    /// `LOGOUT`.
    Logout,
    /// `AGREE`, with the game's id if given.
    Agree(Option<String>),
    /// `REJECT`, with the game's id if given.
    Reject(Option<String>),
    /// A line that starts with `+` or `-`: a move, not checked.
    Move(Played),
    /// A line that starts with one `%`: `%TORYO`, `%KACHI` ...
    Special(Played),
    /// An empty line: the keep-alive.
    Blank,
    /// A command of the extended mode.
    Command(Command),
    /// `CHALLENGE` alone, which the CSA test server answers.
    Challenge,
    /// Any other line.
    Unknown(String),
}

/// A move or special word, with the text after its first comma.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// `+7776FU`, `%TORYO`; not checked.
    pub text: String,
    /// Floodgate's comment, or any other text after the comma.
    pub rest: Option<String>,
}

/// A line of a server, without its line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLine {
    /// `LOGIN:name OK`.
    LoggedIn(String),
    /// `LOGIN:incorrect`.
    LoginIncorrect,
    /// `LOGOUT:completed`.
    LoggedOut,
    /// `START:id`: the first clock runs.
    Start(String),
    /// `REJECT:id by name`.
    Rejected {
        /// The game.
        game: String,
        /// Name of the player who rejected it, or `the Server (timed out)`.
        by: String,
    },
    /// A move or special word, with its time in the game's time units, if given.
    Played {
        /// `+7776FU`, `%TORYO`.
        text: String,
        /// The time charged.
        time: Option<u64>,
    },
    /// The reason line of an ending.
    Ending(Ending),
    /// The result line for the receiver.
    Result(GameResult),
    /// A line of the extended mode, `##[...`, unchanged.
    Notice(String),
    /// The answer to a keep-alive.
    Blank,
    /// Any other line: those of a Game_Summary, and unknown ones.
    Text(String),
}

/// The time that a server charges for a move, as it stands behind `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargedTime {
    /// A whole number: time units of the game.
    Units(u64),
    /// A number with a decimal point, as record files of version 3 have it: seconds, whatever the time unit.
    Seconds(Duration),
}

impl ChargedTime {
    /// The time, where a unit of the game is that long.
    #[must_use]
    pub fn with_unit(self, unit: Duration) -> Duration {
        match self {
            Self::Units(units) => unit.saturating_mul(u32::try_from(units).unwrap_or(u32::MAX)),
            Self::Seconds(time) => time,
        }
    }
}

/// Reads what follows `T`; at most nine decimals count.
impl FromStr for ChargedTime {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let of_digits = |decimals: &&str| decimals.bytes().all(|byte| byte.is_ascii_digit());
        match text.split_once('.').filter(|(_, decimals)| of_digits(decimals)) {
            None => text.parse().map(Self::Units),
            Some((seconds, decimals)) => {
                let nanos = format!("{decimals:0<9.9}").parse()?;
                Ok(Self::Seconds(Duration::new(seconds.parse::<u32>()?.into(), nanos)))
            }
        }
    }
}

impl fmt::Display for ChargedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Units(units) => write!(f, "{units}"),
            Self::Seconds(time) => {
                let decimals = format!("{:09}", time.subsec_nanos());
                write!(f, "{}.{}", time.as_secs(), decimals.trim_end_matches('0'))
            }
        }
    }
}

/// The reason line at the end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Ending {
    /// `#RESIGN`.
    Resign,
    /// `#TIME_UP`.
    TimeUp,
    /// `#ILLEGAL_MOVE`.
    IllegalMove,
    /// `#ILLEGAL_ACTION`: keep-alives sent too fast.
    IllegalAction,
    /// `#SENNICHITE`.
    Sennichite,
    /// `#OUTE_SENNICHITE`.
    OuteSennichite,
    /// `#JISHOGI`: a valid declaration.
    Jishogi,
    /// `#MAX_MOVES`.
    MaxMoves,
    /// `#CHUDAN`: broken off, without a result line.
    Chudan,
}

/// The result line at the end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum GameResult {
    /// `#WIN`.
    Win,
    /// `#LOSE`.
    Lose,
    /// `#DRAW`.
    Draw,
    /// `#CENSORED`: no result, at the move limit.
    Censored,
}

/// Longest name of a player, in characters (CSA server protocol 1.1, 3).
pub const NAME_MAX: usize = 32;

/// True for a valid name of a player: letters, digits and `_ - @ .`, at most [`NAME_MAX`] of them, not beginning
/// with a dot.
pub fn is_player_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_-@.".contains(&b);
    (1..=NAME_MAX).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(allowed)
}

impl FromStr for ClientLine {
    type Err = Infallible;

    fn from_str(line: &str) -> Result<Self, Infallible> {
        Ok(read_client(line).unwrap_or_else(|| Self::Unknown(line.to_owned())))
    }
}

fn read_client(line: &str) -> Option<ClientLine> {
    let id = |word: &str| line.strip_prefix(word)?.strip_prefix(' ').map(str::to_owned);
    Some(match line.as_bytes() {
        [] => ClientLine::Blank,
        [b'+' | b'-', ..] => ClientLine::Move(Played::read(line)),
        [b'%', b'%', ..] => ClientLine::Command(command::read(line)?),
        [b'%', ..] => ClientLine::Special(Played::read(line)),
        b"LOGOUT" => ClientLine::Logout,
        b"CHALLENGE" => ClientLine::Challenge,
        b"AGREE" => ClientLine::Agree(None),
        b"REJECT" => ClientLine::Reject(None),
        _ if line.starts_with("AGREE") => ClientLine::Agree(Some(id("AGREE")?)),
        _ if line.starts_with("REJECT") => ClientLine::Reject(Some(id("REJECT")?)),
        _ => read_login(line)?,
    })
}

fn read_login(line: &str) -> Option<ClientLine> {
    let words: Vec<&str> = line.split(' ').collect();
    let (name, password, extended) = match words[..] {
        ["LOGIN", name, password] => (name, password, false),
        ["LOGIN", name, password, "x1"] => (name, password, true),
        _ => return None,
    };
    let complete = !name.is_empty() && !password.is_empty();
    complete.then(|| ClientLine::Login { name: name.to_owned(), password: password.to_owned(), extended })
}

impl fmt::Display for ClientLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_id = |f: &mut fmt::Formatter<'_>, word: &str, id: &Option<String>| match id {
            Some(id) => write!(f, "{word} {id}"),
            None => f.write_str(word),
        };
        match self {
            Self::Login { name, password, extended } => {
                write!(f, "LOGIN {name} {password}{}", if *extended { " x1" } else { "" })
            }
            Self::Logout => f.write_str("LOGOUT"),
            Self::Agree(id) => with_id(f, "AGREE", id),
            Self::Reject(id) => with_id(f, "REJECT", id),
            Self::Move(played) | Self::Special(played) => played.fmt(f),
            Self::Blank => Ok(()),
            Self::Command(command) => command.fmt(f),
            Self::Challenge => f.write_str("CHALLENGE"),
            Self::Unknown(line) => f.write_str(line),
        }
    }
}

impl Played {
    fn read(line: &str) -> Self {
        match line.split_once(',') {
            Some((text, rest)) => Self { text: text.to_owned(), rest: Some(rest.to_owned()) },
            None => Self { text: line.to_owned(), rest: None },
        }
    }

    /// Floodgate's comment `'* score pv`: the score in centipawns from black's side, +-100000 for a mate, and the
    /// expected moves in CSA notation. The score of a [`Thought`] is from the mover's side, as everywhere else.
    pub fn thought(&self, by_black: bool) -> Option<Thought> {
        let comment = self.rest.as_deref()?;
        let comment = comment.split(',').find_map(|field| field.strip_prefix("'*"))?.trim();
        let (score, pv) = comment.split_once(' ').unwrap_or((comment, ""));
        let score = score.parse::<i32>().ok().map(|score| score.clamp(-100_000, 100_000));
        let score = score.map(|score| if by_black { score } else { -score }).map(|score| match score {
            100_000 => Score::Mate(i32::MAX),
            -100_000 => Score::Mate(-i32::MAX),
            score => Score::Cp(score),
        });
        let pv = Some(pv.trim()).filter(|pv| !pv.is_empty()).map(str::to_owned);
        (score.is_some() || pv.is_some()).then(|| Thought { score, pv, ..Thought::default() })
    }

    /// Leaves nothing of its comment but the score.
    pub fn drop_text(&mut self) {
        let comment = self.rest.take().and_then(|rest| {
            let comment = rest.split(',').find_map(|field| field.strip_prefix("'*"))?;
            comment.split_whitespace().next()?.parse::<i32>().ok()
        });
        self.rest = comment.map(|score| format!("'* {score}"));
    }
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rest {
            Some(rest) => write!(f, "{},{rest}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl FromStr for ServerLine {
    type Err = Infallible;

    fn from_str(line: &str) -> Result<Self, Infallible> {
        Ok(read_server(line).unwrap_or_else(|| Self::Text(line.to_owned())))
    }
}

fn read_server(line: &str) -> Option<ServerLine> {
    Some(match line.as_bytes() {
        [] => ServerLine::Blank,
        b"LOGIN:incorrect" => ServerLine::LoginIncorrect,
        b"LOGOUT:completed" => ServerLine::LoggedOut,
        [b'#', b'#', b'[', ..] => ServerLine::Notice(line.to_owned()),
        [b'#', ..] => {
            let result = || line[1..].parse().map(ServerLine::Result);
            line[1..].parse().map(ServerLine::Ending).or_else(|_| result()).ok()?
        }
        // `+` and `-` alone are the turn of a position block.
        [b'+' | b'-', _, ..] | [b'%', ..] => read_played(line)?,
        _ if line.starts_with("LOGIN:") => {
            ServerLine::LoggedIn(line["LOGIN:".len()..].strip_suffix(" OK")?.to_owned())
        }
        _ if line.starts_with("START:") => ServerLine::Start(line["START:".len()..].to_owned()),
        _ => {
            let (game, by) = line.strip_prefix("REJECT:")?.split_once(" by ")?;
            ServerLine::Rejected { game: game.to_owned(), by: by.to_owned() }
        }
    })
}

fn read_played(line: &str) -> Option<ServerLine> {
    let Some((text, time)) = line.split_once(",T") else {
        return Some(ServerLine::Played { text: line.to_owned(), time: None });
    };
    let count: u64 = time.parse().ok()?;
    // `T007` and `T+7` are numbers to Rust, but would be written otherwise.
    (count.to_string() == time).then(|| ServerLine::Played { text: text.to_owned(), time: Some(count) })
}

impl fmt::Display for ServerLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LoggedIn(name) => write!(f, "LOGIN:{name} OK"),
            Self::LoginIncorrect => f.write_str("LOGIN:incorrect"),
            Self::LoggedOut => f.write_str("LOGOUT:completed"),
            Self::Start(game) => write!(f, "START:{game}"),
            Self::Rejected { game, by } => write!(f, "REJECT:{game} by {by}"),
            Self::Played { text, time: Some(time) } => write!(f, "{text},T{time}"),
            Self::Played { text, time: None } => f.write_str(text),
            Self::Ending(ending) => write!(f, "#{}", <&str>::from(ending)),
            Self::Result(result) => write!(f, "#{}", <&str>::from(result)),
            Self::Notice(line) | Self::Text(line) => f.write_str(line),
            Self::Blank => Ok(()),
        }
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Black => "+",
            Self::White => "-",
            Self::Either => "*",
        })
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;

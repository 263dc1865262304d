//! What an engine prints.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use super::words::{Words, shortened};
use super::{Info, OptionDecl};

/// One line printed by an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineLine {
    /// `id name ..`
    IdName(String),
    /// `id author ..`
    IdAuthor(String),
    /// `option name ..`
    Option(OptionDecl),
    /// `usiok`
    UsiOk,
    /// `readyok`
    ReadyOk,
    /// `bestmove ..`: the answer to `go`.
    BestMove {
        /// The raw token: a USI move, `resign` or `win`; the referee judges it.
        mv: String,
        /// The reply the engine expects, raw, if it named one.
        ponder: Option<String>,
    },
    /// `checkmate ..`: the answer to `go mate`.
    Checkmate(Checkmate),
    /// `info ..`
    Info(Box<Info>),
    /// Any other line, cut to [`UNKNOWN_KEPT`] bytes.
    Unknown(String),
}

/// The answer to `go mate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkmate {
    /// The mating moves, raw USI tokens.
    Moves(Vec<String>),
    /// There is no mate.
    NoMate,
    /// Not solved in the time given.
    Timeout,
    /// The engine solves no mate problems.
    NotImplemented,
}

impl EngineLine {
    /// Reads a line as it came from the pipe; bytes that are not UTF-8 become U+FFFD, line ends are dropped.
    pub fn parse(line: &[u8]) -> Self {
        Self::of(&String::from_utf8_lossy(line))
    }

    fn of(line: &str) -> Self {
        let line = line.trim();
        let mut words = Words(line);
        let known = match words.next().unwrap_or_default() {
            "info" => Some(Self::Info(Box::new(Info::of(line)))),
            "bestmove" => Self::best_move(words),
            "option" => OptionDecl::of(words).map(Self::Option),
            "id" => Self::id(words),
            "checkmate" => Some(Self::Checkmate(Checkmate::of(words))),
            "usiok" => words.is_empty().then_some(Self::UsiOk),
            "readyok" => words.is_empty().then_some(Self::ReadyOk),
            _ => None,
        };
        known.unwrap_or_else(|| Self::Unknown(shortened(line).to_owned()))
    }

    fn id(mut words: Words) -> Option<Self> {
        match words.next()? {
            "name" => Some(Self::IdName(words.rest().to_owned())),
            "author" => Some(Self::IdAuthor(words.rest().to_owned())),
            _ => None,
        }
    }

    fn best_move(mut words: Words) -> Option<Self> {
        let mv = shortened(words.next()?).to_owned();
        let ponder = match words.next() {
            Some("ponder") => words.next().map(|word| shortened(word).to_owned()),
            _ => None,
        };
        Some(Self::BestMove { mv, ponder })
    }
}

impl Checkmate {
    fn of(mut words: Words) -> Self {
        match words.rest() {
            "nomate" => Self::NoMate,
            "timeout" => Self::Timeout,
            "notimplemented" => Self::NotImplemented,
            _ => Self::Moves(std::iter::from_fn(|| words.next()).map(str::to_owned).collect()),
        }
    }
}

impl FromStr for EngineLine {
    type Err = Infallible;

    fn from_str(line: &str) -> Result<Self, Infallible> {
        Ok(Self::of(line))
    }
}

impl fmt::Display for EngineLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::IdName(name) => write!(f, "id name {name}"),
            Self::IdAuthor(author) => write!(f, "id author {author}"),
            Self::Option(option) => write!(f, "{option}"),
            Self::UsiOk => f.write_str("usiok"),
            Self::ReadyOk => f.write_str("readyok"),
            Self::BestMove { mv, ponder: None } => write!(f, "bestmove {mv}"),
            Self::BestMove { mv, ponder: Some(ponder) } => write!(f, "bestmove {mv} ponder {ponder}"),
            Self::Checkmate(answer) => write!(f, "checkmate {answer}"),
            Self::Info(info) => write!(f, "{info}"),
            Self::Unknown(line) => f.write_str(line),
        }
    }
}

impl fmt::Display for Checkmate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moves(moves) => f.write_str(&moves.join(" ")),
            Self::NoMate => f.write_str("nomate"),
            Self::Timeout => f.write_str("timeout"),
            Self::NotImplemented => f.write_str("notimplemented"),
        }
    }
}

//! Lines of an engine.

use std::borrow::Cow;
use std::fmt;

use rsshogi::types::Move;

use super::words::{Words, bytes_words, shortened};
use super::{Info, InfoLine, OptionDecl};

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
    /// Any other line, cut to [`UNKNOWN_KEPT`](super::UNKNOWN_KEPT) bytes.
    Unknown(String),
}

/// The answer to `go mate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Checkmate {
    /// The mating moves in USI.
    Moves(Vec<String>),
    /// There is no mate.
    NoMate,
    /// Not solved within the time limit.
    Timeout,
    /// The engine solves no mate problems.
    NotImplemented,
}

/// One line printed by an engine, borrowed from the buffer that it was read into.
///
/// For the game loop: recognising `info` and `bestmove` allocates nothing, and an `info` line is parsed only on
/// demand. [`EngineLine::parse`] is built on it, so both agree on every line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineLineRef<'a> {
    /// `info ..`, unread.
    Info(InfoLine<'a>),
    /// `bestmove ..`: the answer to `go`.
    BestMove(BestMoveLine<'a>),
    /// Any other line without the blanks around it, for [`OtherLine::read`].
    Other(OtherLine<'a>),
}

/// A `bestmove` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BestMoveLine<'a> {
    /// The raw word: a USI move, `resign` or `win`; the referee judges it.
    pub mv: Cow<'a, str>,
    /// The reply that the engine expects, raw, if it named one.
    pub ponder: Option<Cow<'a, str>>,
}

/// A line that is neither `info` nor `bestmove`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherLine<'a>(&'a [u8]);

impl<'a> EngineLineRef<'a> {
    /// Reads a line as it came from the pipe. Line ends and blanks around it are dropped.
    pub fn parse(line: &'a [u8]) -> Self {
        let line = line.trim_ascii();
        let mut words = bytes_words(line);
        match words.next() {
            Some(b"info") => Self::Info(InfoLine::of(line)),
            Some(b"bestmove") => match words.next().map(String::from_utf8_lossy) {
                None => Self::Other(OtherLine(line)),
                Some(mv) => {
                    let ponder = if words.next() == Some(b"ponder") { words.next() } else { None };
                    Self::BestMove(BestMoveLine { mv, ponder: ponder.map(String::from_utf8_lossy) })
                }
            },
            _ => Self::Other(OtherLine(line)),
        }
    }
}

impl OtherLine<'_> {
    /// Reads the line; bytes that are not UTF-8 become U+FFFD.
    pub fn read(self) -> EngineLine {
        let line = String::from_utf8_lossy(self.0);
        let mut words = Words(&line);
        let known = match words.next().unwrap_or_default() {
            "option" => OptionDecl::of(words).map(EngineLine::Option),
            "id" => id(words),
            "checkmate" => Checkmate::of(words).map(EngineLine::Checkmate),
            "usiok" => words.is_empty().then_some(EngineLine::UsiOk),
            "readyok" => words.is_empty().then_some(EngineLine::ReadyOk),
            _ => None,
        };
        known.unwrap_or_else(|| EngineLine::Unknown(shortened(&line).to_owned()))
    }
}

fn id(mut words: Words) -> Option<EngineLine> {
    match words.next()? {
        "name" => Some(EngineLine::IdName(words.rest().to_owned())),
        "author" => Some(EngineLine::IdAuthor(words.rest().to_owned())),
        _ => None,
    }
}

impl EngineLine {
    /// Reads a line as it came from the pipe. Bytes that are not UTF-8 become U+FFFD; line ends and blanks around the
    /// line are dropped.
    pub fn parse(line: &[u8]) -> Self {
        match EngineLineRef::parse(line) {
            EngineLineRef::Info(info) => Self::Info(Box::new(info.read())),
            EngineLineRef::BestMove(BestMoveLine { mv, ponder }) => Self::BestMove {
                mv: shortened(&mv).to_owned(),
                ponder: ponder.map(|ponder| shortened(&ponder).to_owned()),
            },
            EngineLineRef::Other(other) => other.read(),
        }
    }
}

impl Checkmate {
    /// Reads what follows the word `checkmate`; `None` when it is neither one of the three words nor a line of moves.
    fn of(mut words: Words) -> Option<Self> {
        match words.rest() {
            "" => None,
            "nomate" => Some(Self::NoMate),
            "timeout" => Some(Self::Timeout),
            "notimplemented" => Some(Self::NotImplemented),
            _ => {
                let moves = std::iter::from_fn(|| words.next());
                moves
                    .map(|word| is_move(word).then(|| word.to_owned()))
                    .collect::<Option<_>>()
                    .map(Self::Moves)
            }
        }
    }
}

fn is_move(word: &str) -> bool {
    Move::from_usi(word).is_some_and(|mv| mv.is_normal())
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

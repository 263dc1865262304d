//! The USI line protocol: [`EngineLine`] is what an engine prints, [`GuiLine`] what it is told.
//!
//! Both round-trip through `FromStr` and `Display`. An engine may print anything, so an [`EngineLine`] always
//! parses: what is not understood is [`EngineLine::Unknown`], cut to [`UNKNOWN_KEPT`] bytes.
//! Reference: <http://shogidokoro.starfree.jp/usi.html>.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use rsshogi::types::{Move, PieceType, Square};

mod gui;
mod info;
mod option;

pub use gui::{GameEnd, GoLimits, GuiFault, GuiLine, MateLimit, PositionLine};
pub use info::{Bound, Info, Score, ScoreValue};
pub use option::{OptionDecl, OptionFault, OptionKind, nearest};

/// How many bytes of an unknown line are kept: enough for a log, too few for a flood to matter.
pub const UNKNOWN_KEPT: usize = 256;

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

/// Appends a move in USI spelling without allocating: a `position` line carries the whole game.
pub fn push_move(out: &mut String, mv: Move) {
    match mv.dropped_piece() {
        Some(piece) => {
            out.push(piece_letter(piece));
            out.push('*');
        }
        None => push_square(out, mv.from_sq()),
    }
    push_square(out, mv.to_sq());
    if mv.is_promotion() {
        out.push('+');
    }
}

fn push_square(out: &mut String, square: Square) {
    out.push(char::from(b'1' + square.file().raw() as u8));
    out.push(char::from(b'a' + square.rank().raw() as u8));
}

const fn piece_letter(piece: PieceType) -> char {
    match piece {
        PieceType::PAWN => 'P',
        PieceType::LANCE => 'L',
        PieceType::KNIGHT => 'N',
        PieceType::SILVER => 'S',
        PieceType::BISHOP => 'B',
        PieceType::ROOK => 'R',
        _ => 'G',
    }
}

fn shortened(line: &str) -> &str {
    let mut end = line.len().min(UNKNOWN_KEPT);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

/// Words parted by blanks, with the unread rest of the line at hand.
#[derive(Clone, Copy)]
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.bytes().position(|b| b == b' ' || b == b'\t').unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }

    fn rest(&self) -> &'a str {
        self.0.trim_start_matches([' ', '\t'])
    }

    fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    fn number<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(line: &str) -> EngineLine {
        EngineLine::parse(line.as_bytes())
    }

    #[test]
    fn every_engine_line_survives_a_round_trip() {
        for line in [
            "id name Fairy-Stockfish 11.1 LB 64",
            "id author Fabian Fichter",
            "usiok",
            "readyok",
            "bestmove 7g7f",
            "bestmove P*5e ponder 8h2b+",
            "bestmove resign",
            "bestmove win",
            "checkmate nomate",
            "checkmate timeout",
            "checkmate notimplemented",
            "checkmate G*5b 4a3a G*4b",
            "info depth 3 score cp -20 pv 7g7f 3c3d",
            "option name Clear Hash type button",
            "option name UCI_Variant type combo default shogi var 3check var shogi",
            "No such option: USI_Hash",
        ] {
            assert_eq!(read(line).to_string(), line);
        }
    }

    #[test]
    fn blanks_and_line_ends_around_a_line_do_not_matter() {
        assert_eq!(EngineLine::parse(b"  usiok \r\n"), EngineLine::UsiOk);
        let best = EngineLine::BestMove { mv: "7g7f".into(), ponder: Some("3c3d".into()) };
        assert_eq!(read("bestmove   7g7f  ponder\t3c3d "), best);
    }

    #[test]
    fn a_best_move_without_a_move_is_an_unknown_line() {
        assert_eq!(read("bestmove"), EngineLine::Unknown("bestmove".into()));
        assert_eq!(read("bestmove 7g7f ponder"), EngineLine::BestMove { mv: "7g7f".into(), ponder: None });
    }

    #[test]
    fn a_flood_of_garbage_is_kept_only_in_part() {
        let EngineLine::Unknown(kept) = EngineLine::parse("金".repeat(100_000).as_bytes()) else {
            panic!("garbage is an unknown line");
        };
        assert_eq!(kept.len(), UNKNOWN_KEPT - 1);
    }

    #[test]
    fn bytes_that_are_not_utf8_do_not_stop_the_parser() {
        assert_eq!(EngineLine::parse(b"readyok\xff"), EngineLine::Unknown("readyok\u{fffd}".into()));
        assert_eq!(EngineLine::parse(b"id name \x8f\xab"), EngineLine::IdName("\u{fffd}\u{fffd}".into()));
    }

    #[test]
    fn moves_are_appended_as_rsshogi_spells_them() {
        for usi in ["7g7f", "8h2b+", "P*5e", "G*1a", "R*9i"] {
            let mut out = String::new();
            push_move(&mut out, Move::from_usi(usi).unwrap());
            assert_eq!(out, usi);
        }
    }

    proptest! {
        #[test]
        fn no_line_of_an_engine_panics(line in "(info|option|bestmove|checkmate|id)?( name| type| score| mate| cp| pv| default| var|[ -~]|\\PC){0,40}") {
            let once = read(&line);
            prop_assert_eq!(&read(&once.to_string()).to_string(), &once.to_string());
        }

        #[test]
        fn no_line_for_an_engine_panics(line in "(position|go|setoption|gameover)( startpos| sfen| moves| btime| name| value|[ -~]|\\PC){0,40}") {
            if let Ok(read) = line.parse::<GuiLine>() {
                prop_assert_eq!(read.to_string().parse::<GuiLine>().unwrap(), read);
            }
        }
    }
}

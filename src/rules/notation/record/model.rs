//! The neutral record that every format is read into and written from.

use referee::{Foul, WinBy};
use rsshogi::board::STARTPOS_SFEN;
use rsshogi::types::{Color, Move};
use std::time::Duration;
use thiserror::Error;

use super::{Ending, clock};

/// A game record: start position, moves, players, ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The start position as SFEN, with its move number.
    pub start: String,
    /// The moves of the main line.
    pub plies: Vec<Ply>,
    /// Black's name.
    pub black: Option<String>,
    /// White's name.
    pub white: Option<String>,
    /// Name of the event.
    pub event: Option<String>,
    /// Site of the game.
    pub site: Option<String>,
    /// When the game started, as the file spells it (usually `YYYY/MM/DD HH:MM:SS`).
    pub started: Option<String>,
    /// When the game ended, likewise.
    pub ended: Option<String>,
    /// The time control: `main+byoyomi+increment` in seconds if understood, otherwise the text of the file; `black ..,
    /// white ..` where they differ, and one of them alone where the other is unknown.
    pub time_control: Option<String>,
    /// Comment on the start position, lines separated by `\n`.
    pub comment: String,
    /// The ending; `None` if the record has none.
    pub ending: Option<Ending>,
    /// Time used before the ending, in milliseconds (of a resignation, for example).
    pub ending_time_ms: Option<u32>,
    /// Comment on the ending, lines separated by `\n`.
    pub ending_comment: String,
    /// The variations, each behind the line that it branches off; those of a line from its end to its start.
    pub variations: Vec<Variation>,
    /// Doubts of the reader: contradictions about the ending, and variations left out. One sentence each.
    pub doubts: Vec<String>,
}

/// A line of play that branches off the game or off another variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// The line that it branches off: 0 is the game, `n` the `n`-th variation of the record, from 1.
    pub parent: usize,
    /// Number of its first move, counted from 1 at the start position of the record. A variation of a variation begins
    /// behind the first move of that.
    pub ply: usize,
    /// Its moves, from that number on.
    pub plies: Vec<Ply>,
    /// Its ending; `None` if the record has none.
    pub ending: Option<Ending>,
    /// Time used before the ending, in milliseconds.
    pub ending_time_ms: Option<u32>,
    /// Comment on the ending, lines separated by `\n`.
    pub ending_comment: String,
}

/// The score of a mate of unknown length, from the side of the winner, as floodgate has it. One in so many plies has as much
/// less.
pub const DISTANT_MATE: i32 = 100_000;

/// No mate of so many plies or more has a score of its own.
pub const LONGEST_MATE: i32 = 1000;

/// A move of the game or of a variation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The move.
    pub mv: Move,
    /// Time used for it, in milliseconds.
    pub time_ms: Option<u32>,
    /// The mover's evaluation in centipawns from black's side, mates as about ±100000, as on floodgate.
    pub score: Option<i32>,
    /// The line expected after the move, from the opponent's reply on.
    pub pv: Vec<Move>,
    /// Comment on the move, lines separated by `\n`.
    pub comment: String,
}

impl Default for GameRecord {
    fn default() -> Self {
        Self {
            start: STARTPOS_SFEN.to_owned(),
            plies: Vec::new(),
            black: None,
            white: None,
            event: None,
            site: None,
            started: None,
            ended: None,
            time_control: None,
            comment: String::new(),
            ending: None,
            ending_time_ms: None,
            ending_comment: String::new(),
            variations: Vec::new(),
            doubts: Vec::new(),
        }
    }
}

impl From<Move> for Ply {
    fn from(mv: Move) -> Self {
        Self { mv, time_ms: None, score: None, pv: Vec::new(), comment: String::new() }
    }
}

impl GameRecord {
    /// The side to move after the last move.
    pub fn side_to_move(&self) -> Color {
        let white_starts = self.start.split_whitespace().nth(1) == Some("w");
        if white_starts == self.plies.len().is_multiple_of(2) { Color::WHITE } else { Color::BLACK }
    }

    /// The winner; `None` for draws and unfinished games.
    pub fn winner(&self) -> Option<Color> {
        self.ending.as_ref()?.winner(self.side_to_move())
    }

    /// Main time, byoyomi and increment of each side, black first, where they are known.
    pub fn clocks(&self) -> [Option<[Duration; 3]>; 2] {
        let sides = self.time_control.as_deref().map(clock::sides).unwrap_or_default();
        sides.map(|text| Some(clock::of_spec(text?)?.map(|ms| Duration::from_millis(ms.into()))))
    }

    /// The record of a line of play alone, from the start position on: 0 is the game, `n` the `n`-th variation. Its headers
    /// and its comment are those of the record; variations are left out. A line that does not exist is empty.
    pub fn line(&self, line: usize) -> Self {
        let mut plies = Vec::new();
        let (mut at, mut end) = (line, usize::MAX);
        while let Some(variation) = at.checked_sub(1).and_then(|at| self.variations.get(at)) {
            let kept = variation.plies.iter().take(end.saturating_sub(variation.ply)).rev().cloned();
            plies.extend(kept);
            // A parent that does not precede its variation would never end.
            (at, end) = (variation.parent.min(at - 1), variation.ply);
        }
        plies.extend(self.plies.iter().take(end.saturating_sub(1)).rev().cloned());
        plies.reverse();
        let own = line.checked_sub(1).and_then(|at| self.variations.get(at));
        let (ending, ending_time_ms, ending_comment) = match own {
            Some(own) => (own.ending.clone(), own.ending_time_ms, own.ending_comment.clone()),
            None => (self.ending.clone(), self.ending_time_ms, self.ending_comment.clone()),
        };
        let (variations, doubts) = (Vec::new(), Vec::new());
        Self { plies, ending, ending_time_ms, ending_comment, variations, doubts, ..self.clone() }
    }

    /// The numbers of the variations, from 1, so that each follows the line that it branches off, and a line's variations
    /// go from its end to its start: the order of KIF.
    pub(super) fn variations_in_order(&self) -> Vec<usize> {
        let mut children = vec![Vec::new(); self.variations.len() + 1];
        for (at, variation) in self.variations.iter().enumerate() {
            if let Some(list) = children.get_mut(variation.parent.min(at)) {
                list.push(at + 1);
            }
        }
        let (mut order, mut open) = (Vec::new(), vec![0]);
        while let Some(line) = open.pop() {
            order.extend((line > 0).then_some(line));
            // The last one pushed comes next: descending numbers, and the order of the record where they are equal.
            let mut list = std::mem::take(&mut children[line]);
            list.sort_by_key(|line| {
                (self.variations.get(line - 1).map(|variation| variation.ply), std::cmp::Reverse(*line))
            });
            open.extend(list);
        }
        order
    }

    /// The moves in USI notation, separated by blanks.
    pub fn usi_moves(&self) -> String {
        let mut out = String::new();
        for ply in &self.plies {
            if !out.is_empty() {
                out.push(' ');
            }
            crate::usi::push_move(&mut out, ply.mv);
        }
        out
    }
}

/// A file format of game records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::VariantArray)]
pub enum Format {
    /// CSA 2.2, written as UTF-8 (it is ASCII but for names and comments).
    Csa,
    /// CSA 3.0 with its encoding line and milliseconds.
    Csa3,
    /// KIF in CP932.
    Kif,
    /// KIF in UTF-8.
    Kifu,
    /// KI2 in CP932.
    Ki2,
    /// KI2 in UTF-8.
    Ki2u,
    /// JSON Kifu Format.
    Jkf,
    /// One game a line: `startpos moves ..`, `sfen .. moves ..`.
    Usi,
    /// YaneuraOu's packed positions, 40 bytes a ply.
    Psv,
    /// Apery's huffman-coded positions with evaluation, 38 bytes a ply.
    Hcpe,
}

/// Further extensions of formats, beside [`Format::extension`].
const ALIASES: [(&str, Format); 3] = [("csa3", Format::Csa3), ("json", Format::Jkf), ("sfen", Format::Usi)];

impl Format {
    /// Every format.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The format of a file extension, ignoring case.
    pub fn from_extension(extension: &str) -> Option<Self> {
        let mut known = Self::ALL.iter().map(|&format| (format.extension(), format)).chain(ALIASES);
        known.find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, format)| format)
    }

    /// The extension of its files: that of CSA, whatever its version is.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csa | Self::Csa3 => "csa",
            Self::Kif => "kif",
            Self::Kifu => "kifu",
            Self::Ki2 => "ki2",
            Self::Ki2u => "ki2u",
            Self::Jkf => "jkf",
            Self::Usi => "usi",
            Self::Psv => "psv",
            Self::Hcpe => "hcpe",
        }
    }
}

/// A fault in a record.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {what}")]
pub struct RecordFault {
    /// The line at fault, from 1. In a binary format, and when a record is written, the entry or ply at fault.
    pub line: usize,
    /// What is wrong.
    pub what: Flaw,
}

/// What is wrong in a record.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Flaw {
    /// A move that breaks the rules, its number from 1, and the rule.
    #[error("illegal move {0} at ply {1}{rule}", rule = named(.2))]
    Illegal(Move, usize, Option<Foul>),
    /// The same in JKF: the number of the entry, from 1.
    #[error("illegal move in entry {0}")]
    IllegalEntry(usize),
    /// The same of a training position.
    #[error("illegal move")]
    IllegalLabel,
    /// A statement of CSA that does not belong there, and the rule that it breaks if it is a move.
    #[error("{0}: `{1}`{rule}", rule = named(.2))]
    Statement(&'static str, String, Option<Foul>),
    /// A text or bytes of another form than the format has.
    #[error("{0}")]
    Form(String),
}

impl Flaw {
    /// True if it is certainly an illegal move.
    pub fn is_illegal(&self) -> bool {
        matches!(
            self,
            Self::Illegal(..) | Self::IllegalEntry(_) | Self::IllegalLabel | Self::Statement(.., Some(_))
        )
    }
}

fn named(foul: &Option<Foul>) -> String {
    foul.map_or_else(String::new, |foul| format!(" ({})", WinBy::IllegalMove(foul).name()))
}

impl RecordFault {
    /// A fault in words.
    pub fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, what: Flaw::Form(reason.into()) }
    }
}

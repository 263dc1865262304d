//! A game as pages and scripts read it: JSON, short where it is sent again and again.

use journal::{FullGame, GameRow};
use records::ShownVariation;
use referee::{
    Color, Outcome,
    annotations::{Annotations, Comment},
    clock::TimeControl,
    entry::{GameEnded, GameId, GameStarted, Moved},
    evaluation::Evaluation,
    reason::reason,
};
use report::plot::plain;
use rsshogi::{board::Position, types::Move};
use serde::Serialize;
use std::time::Duration;

/// Letters of an expected line that are kept: engines print lines of any length.
const LINE: usize = 400;

/// A game.
#[derive(Clone, Debug, Serialize)]
pub struct Game {
    /// Number of the game.
    pub number: u64,
    /// The machine that plays it now, if it is another one: then it has no number of the event yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Stage, from 0.
    pub stage: u8,
    /// Round, from 1.
    pub round: u32,
    /// The players by their numbers, black first.
    pub players: [u32; 2],
    /// Their names.
    pub names: [String; 2],
    /// Start position as SFEN.
    pub start: String,
    /// Moves of the opening in USI, separated by blanks.
    pub opening: String,
    /// Start in ms since 1970-01-01 UTC; `None`: the record that the game was imported from has no date.
    pub started: Option<i64>,
    /// The clocks, black's first.
    pub clocks: [ClockRule; 2],
    /// Moves of the players.
    pub moves: Vec<Ply>,
    /// The end; `None` while it runs.
    pub end: Option<End>,
    /// What the operator made of it: lines in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Whether its moves were dropped as those of old games.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pruned: bool,
    /// Comments of the record that it was imported from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Note>,
    /// Variations of that record, numbered from 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<ShownVariation>,
}

/// A comment of an imported record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// 0 for the game, `n` for its `n`-th variation.
    pub line: u32,
    /// The ply; the one after the last is the ending.
    pub ply: u32,
    /// The lines, printable.
    pub text: Vec<String>,
}

/// The time of a player, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClockRule {
    main: u64,
    byoyomi: u64,
    increment: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
}

impl From<TimeControl> for ClockRule {
    fn from(time: TimeControl) -> Self {
        Self {
            main: millis(time.main),
            byoyomi: millis(time.byoyomi),
            increment: millis(time.increment),
            fixed: time.fixed.map(millis),
            nodes: time.nodes,
            depth: time.depth,
        }
    }
}

/// A move: ply, USI, time charged and left in ms, wall time; then what the engine said: centipawns from black's side,
/// plies to the mate (the mover mates if positive; ±2147483647 for an unknown number), depth, nodes, nodes a second,
/// expected line.
#[derive(Clone, Debug, Serialize)]
pub struct Ply {
    /// Number of the ply, from 1, the opening's included.
    pub p: u32,
    m: String,
    c: u64,
    l: u64,
    at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<u64>,
    /// Expected line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pv: Option<String>,
}

impl Ply {
    /// A move with its wall time.
    #[must_use]
    pub fn new(at: i64, moved: &Moved) -> Self {
        let thought = moved.thought.as_deref();
        let evaluation = Evaluation::of_move(moved);
        Self {
            p: moved.ply,
            m: moved.mv.to_usi(),
            c: millis(moved.charged),
            l: millis(moved.left),
            at,
            s: evaluation.map(Evaluation::centipawns),
            x: evaluation.and_then(|evaluation| mate(evaluation, moved.color)),
            d: thought.and_then(|thought| thought.depth),
            n: thought.and_then(|thought| thought.nodes),
            v: thought.and_then(|thought| thought.nps),
            pv: thought.and_then(|thought| thought.pv.as_deref()).map(line),
        }
    }

    /// The same without the expected line, for lists.
    #[must_use]
    pub fn short(&self) -> Self {
        Self { pv: None, ..self.clone() }
    }
}

/// Plies to the mate, of the mover if positive.
fn mate(evaluation: Evaluation, mover: Color) -> Option<i32> {
    let Evaluation::Mate { winner, plies } = evaluation else { return None };
    let plies = plies.and_then(|plies| i32::try_from(plies).ok()).unwrap_or(i32::MAX);
    Some(if winner == mover { plies } else { -plies })
}

/// The beginning of an expected line, printable.
fn line(pv: &str) -> String {
    let end = pv.char_indices().nth(LINE).map_or(pv.len(), |(at, _)| at);
    plain(&pv[..end])
}

/// The end of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct End {
    /// `black`, `white`, `draw` or `none`.
    pub result: &'static str,
    /// The cause, as in the column `cause`.
    pub cause: &'static str,
    /// Plies on the board.
    pub plies: u32,
    /// Time in ms since 1970-01-01 UTC.
    pub at: i64,
    /// Why it ended so, where more is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it counts.
    pub counts: bool,
}

impl End {
    fn new(outcome: Outcome, plies: u32, at: i64, evidence: &str, replayed: bool) -> Self {
        Self {
            result: result(outcome),
            cause: outcome.cause(),
            plies,
            at,
            reason: reason(outcome, evidence).map(|reason| plain(&reason)),
            counts: outcome.counts() && !replayed,
        }
    }

    /// The end of an entry.
    #[must_use]
    pub fn of(end: &GameEnded, at: i64) -> Self {
        Self::new(end.outcome, end.plies, at, &end.evidence, end.replayed)
    }

    /// The end of a stored game.
    #[must_use]
    pub fn stored(row: &GameRow) -> Option<Self> {
        let at = row.ended_at.unwrap_or_default();
        Some(Self::new(row.outcome?, row.plies.unwrap_or(0), at, &row.evidence, row.replayed))
    }
}

fn result(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win { winner: Color::Black, .. } => "black",
        Outcome::Win { .. } => "white",
        Outcome::Draw { .. } => "draw",
        Outcome::Aborted { .. } => "none",
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Game {
    /// A game at its start.
    #[must_use]
    pub fn begun(started: &GameStarted, at: i64, names: [String; 2], times: [TimeControl; 2]) -> Self {
        let pairing = started.pairing;
        Self {
            number: started.game.0,
            machine: None,
            stage: pairing.stage,
            round: pairing.round,
            players: [pairing.black.0, pairing.white.0],
            names,
            start: started.start.clone(),
            opening: started.opening.clone(),
            started: Some(at),
            clocks: times.map(ClockRule::from),
            moves: vec![],
            end: None,
            remarks: vec![],
            pruned: false,
            comments: vec![],
            variations: vec![],
        }
    }

    /// A stored game.
    #[must_use]
    pub fn stored(game: &FullGame, names: [String; 2], times: [TimeControl; 2]) -> Self {
        let row = &game.row;
        let ruled =
            row.ruling.as_ref().map(|ruled| format!("ruled by {}; it had ended: {}", ruled.by, ruled.was));
        Self {
            number: row.game.0,
            machine: None,
            stage: row.pairing.stage,
            round: row.pairing.round,
            players: [row.pairing.black.0, row.pairing.white.0],
            names,
            start: row.start.clone().unwrap_or_else(|| referee::opening::EVEN.to_owned()),
            opening: row.opening.clone().unwrap_or_default(),
            started: if row.is_undated() { None } else { row.started_at.or(row.ended_at) },
            clocks: row.times.as_deref().copied().unwrap_or(times).map(ClockRule::from),
            moves: game.moves.iter().map(|(at, moved)| Ply::new(*at, moved)).collect(),
            end: End::stored(row),
            remarks: ruled.iter().map(|words| plain(words)).collect(),
            pruned: row.pruned_at.is_some(),
            comments: vec![],
            variations: vec![],
        }
    }

    /// Adds the comments and variations of the record that the game was imported from.
    #[must_use]
    pub fn annotated(self, game: &FullGame, annotations: &Annotations) -> Self {
        let note = |comment: &Comment| Note {
            line: comment.line,
            ply: comment.ply,
            text: comment.text.lines().map(plain).collect(),
        };
        let comments = annotations.comments.iter().map(note).collect();
        Self { comments, variations: records::shown_variations(game, annotations), ..self }
    }

    /// Adds a move; whether it was the next one.
    pub fn take(&mut self, ply: Ply) -> bool {
        let next = self.moves.last().is_none_or(|last| last.p < ply.p);
        if next {
            self.moves.push(ply);
        }
        next
    }

    /// What the game is called: its number, or the machine that plays it.
    #[must_use]
    pub fn label(&self) -> String {
        self.machine.clone().unwrap_or_else(|| format!("#{}", self.number))
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> GameId {
        GameId(self.number)
    }

    /// The game as lists show it, however long it is: the position before its last two moves, and these without
    /// expected lines.
    #[must_use]
    pub fn listed(&self) -> Self {
        let first = self.moves.len().saturating_sub(2);
        let (start, opening, first) = match self.position_before(first) {
            Some(start) if first > 0 => (start, String::new(), first),
            _ => (self.start.clone(), self.opening.clone(), 0),
        };
        Self {
            number: self.number,
            machine: self.machine.clone(),
            stage: self.stage,
            round: self.round,
            players: self.players,
            names: self.names.clone(),
            start,
            opening,
            started: self.started,
            clocks: self.clocks,
            moves: self.moves[first..].iter().map(Ply::short).collect(),
            end: self.end.clone(),
            remarks: self.remarks.clone(),
            pruned: self.pruned,
            comments: vec![],
            variations: vec![],
        }
    }

    /// The position after the opening and so many moves, as SFEN.
    fn position_before(&self, moves: usize) -> Option<String> {
        let mut position = Position::from_sfen(&self.start).ok()?;
        let played = self.moves.iter().take(moves).map(|ply| ply.m.as_str());
        for word in self.opening.split_whitespace().chain(played) {
            let mv = position.move32_from_move(Move::from_usi(word)?);
            position.try_apply_move32(mv).ok()?;
        }
        Some(position.to_sfen(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_game_is_no_longer_in_a_list_than_a_short_one_and_stands_where_it_stood() {
        rsshogi::board::init();
        let ply = |p: u32, m: &str| Ply {
            p,
            m: m.to_owned(),
            c: 0,
            l: 0,
            at: 0,
            s: None,
            x: None,
            d: None,
            n: None,
            v: None,
            pv: Some("7g7f".to_owned()),
        };
        let cycle = ["2h3h", "8b7b", "3h2h", "7b8b"];
        let mut game = Game {
            number: 1,
            machine: None,
            stage: 0,
            round: 1,
            players: [0, 1],
            names: ["a".to_owned(), "b".to_owned()],
            start: referee::opening::EVEN.to_owned(),
            opening: "7g7f 3c3d".to_owned(),
            started: Some(0),
            clocks: Default::default(),
            moves: vec![],
            end: None,
            remarks: vec![],
            pruned: false,
            comments: vec![],
            variations: vec![],
        };
        assert_eq!(game.listed().opening, "7g7f 3c3d", "a game without moves comes as it is");
        game.moves = (0..301).map(|at| ply(at + 3, cycle[at as usize % 4])).collect();
        let listed = game.listed();
        assert_eq!(
            listed.moves.iter().map(|ply| (ply.p, ply.m.as_str())).collect::<Vec<_>>(),
            [(302, "7b8b"), (303, "2h3h")]
        );
        assert!(listed.opening.is_empty() && listed.moves[0].pv.is_none());
        assert_eq!(listed.start, "lnsgkgsnl/2r4b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 302");
        let whole = game.position_before(301).unwrap();
        assert_eq!(listed.position_before(2), Some(whole), "the last moves lead to the same board");
    }
}

//! A game as pages and scripts read it: JSON, short where it is sent again and again.

use journal::{FullGame, GameRow};
use notation::record::{self, GameRecord};
use records::ShownVariation;
use referee::{
    Color, Outcome,
    annotations::{Annotations, Comment},
    clock::TimeControl,
    entry::{GameEnded, GameId},
    evaluation::Evaluation,
    operation::Operation,
    reason::reason,
    running::{self, RunningGame},
};
use report::plot::plain;
use rsshogi::types::Move;
use serde::{Serialize, Serializer};
use std::time::Duration;
use words::Language;

/// Letters of an expected line that are kept: engines print lines of any length.
const LINE: usize = 400;

/// A game.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// What the judge says: plies before the position, and centipawns from black's side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<(u32, i32)>,
    /// Where the event gives a scale to the scores of one of them: centipawns of the common scale that one of each player is
    /// worth, black's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scales: Option<[f64; 2]>,
    /// The end; `None` while it runs.
    pub end: Option<End>,
    /// The operations about it; in JSON their English text.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "in_english")]
    pub remarks: Vec<Operation>,
    /// True if its moves were dropped as those of old games.
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
    /// `None`: the record of the game has no times.
    c: Option<u64>,
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
    /// A move by its number.
    pub fn new(number: usize, ply: &running::Ply) -> Self {
        let thought = ply.thought.as_deref();
        let evaluation = ply.evaluation();
        Self {
            p: u32::try_from(number).unwrap_or(u32::MAX),
            m: ply.mv.to_usi(),
            c: Some(millis(ply.charged.unwrap_or_default())),
            l: millis(ply.left),
            at: ply.at,
            s: evaluation.map(Evaluation::centipawns),
            x: evaluation.and_then(|evaluation| mate(evaluation, ply.color)),
            d: thought.and_then(|thought| thought.depth),
            n: thought.and_then(|thought| thought.nodes),
            v: thought.and_then(|thought| thought.nps),
            pv: thought.and_then(|thought| thought.pv.as_deref()).map(line),
        }
    }

    /// A move of a record, which says less.
    fn recorded(number: u32, ply: &record::Ply) -> Self {
        let distance = |score: i32| record::DISTANT_MATE - score.abs();
        let mate = ply.score.map(distance).filter(|distance| *distance < record::LONGEST_MATE);
        let line = std::iter::once(&ply.mv).chain(&ply.pv).take(LINE / 4).map(|mv| mv.to_usi());
        Self {
            p: number,
            m: ply.mv.to_usi(),
            c: ply.time_ms.map(u64::from),
            l: 0,
            at: 0,
            s: ply.score,
            x: mate.map(|plies| if plies > 0 { plies } else { i32::MAX }),
            d: None,
            n: None,
            v: None,
            pv: (!ply.pv.is_empty()).then(|| line.collect::<Vec<_>>().join(" ")),
        }
    }

    /// The same without the expected line, for lists.
    pub fn short(&self) -> Self {
        Self { pv: None, ..self.clone() }
    }

    /// The same for a page without clocks and speed, with so many moves of the expected line.
    pub fn frozen(self, moves: usize) -> Self {
        let pv = self.pv.filter(|_| moves > 0).map(|pv| {
            let line = pv.split_whitespace().take(moves).map_while(Move::from_usi);
            line.map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ")
        });
        Self { l: 0, at: 0, n: None, v: None, pv, ..self }
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
    /// True if it counts.
    pub counts: bool,
}

impl End {
    fn new(outcome: Outcome, plies: u32, at: i64, evidence: &str, replayed: bool) -> Self {
        Self {
            result: outcome.result(),
            cause: outcome.cause(),
            plies,
            at,
            reason: reason(outcome, evidence).map(|reason| plain(&reason)),
            counts: outcome.counts() && !replayed,
        }
    }

    /// The end of an entry.
    pub fn of(end: &GameEnded, at: i64) -> Self {
        Self::new(end.outcome, end.plies, at, &end.evidence, end.replayed)
    }

    /// The end of a stored game.
    pub fn stored(row: &GameRow) -> Option<Self> {
        let at = row.ended_at.unwrap_or_default();
        Some(Self::new(row.outcome?, row.plies.unwrap_or(0), at, &row.evidence, row.replayed))
    }
}

/// What the judge said of the positions that are shown: a viewer who is behind the game has not seen the others.
fn seen(game: &RunningGame) -> Vec<(u32, i32)> {
    let plies = u32::try_from(game.plies.len()).unwrap_or(u32::MAX);
    game.judged.range(..=plies).map(|(ply, evaluation)| (*ply, evaluation.centipawns())).collect()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl Game {
    /// A running game.
    pub fn of(game: &RunningGame, names: [String; 2]) -> Self {
        Self::since(game, names, (game.start.clone(), game.opening.clone(), 0))
    }

    /// The game as lists show it, however long it is: the position before its last two moves, and these without
    /// expected lines.
    pub fn listed(game: &RunningGame, names: [String; 2]) -> Self {
        let played = game.plies.iter().filter(|ply| ply.charged.is_some()).count();
        let first = game.plies.len().saturating_sub(2);
        let listed = match played > 2 {
            true => Self::since(game, names, (game.position_at(first).to_sfen(None), String::new(), first)),
            false => Self::of(game, names),
        };
        let judged = listed.judged.last().copied().into_iter().collect();
        Self { moves: listed.moves.iter().map(Ply::short).collect(), judged, ..listed }
    }

    /// A running game from a position on, with the opening after that and the number of plies before it.
    fn since(
        game: &RunningGame,
        names: [String; 2],
        (start, opening, first): (String, String, usize),
    ) -> Self {
        let numbered = (1..).zip(&game.plies).skip(first).filter(|(_, ply)| ply.charged.is_some());
        Self {
            number: game.id.0,
            machine: game.machine.as_deref().map(plain),
            stage: game.pairing.stage,
            round: game.pairing.round,
            players: game.players().map(|player| player.0),
            names,
            start,
            opening,
            started: Some(game.started),
            clocks: game.times.map(ClockRule::from),
            moves: numbered.map(|(number, ply)| Ply::new(number, ply)).collect(),
            judged: seen(game),
            ..Self::default()
        }
    }

    /// A stored game.
    pub fn stored(game: &FullGame, names: [String; 2], times: [TimeControl; 2]) -> Self {
        let row = &game.row;
        Self {
            number: row.game.0,
            stage: row.pairing.stage,
            round: row.pairing.round,
            players: [row.pairing.black.0, row.pairing.white.0],
            names,
            start: row.start.clone().unwrap_or_else(|| referee::opening::EVEN.to_owned()),
            opening: row.opening.clone().unwrap_or_default(),
            started: if row.is_undated() { None } else { row.started_at.or(row.ended_at) },
            clocks: row.times.as_deref().copied().unwrap_or(times).map(ClockRule::from),
            moves: game
                .moves
                .iter()
                .map(|(at, moved)| Ply::new(moved.ply as usize, &(*at, moved).into()))
                .collect(),
            judged: game.judged.iter().map(|judged| (judged.ply, judged.evaluation().centipawns())).collect(),
            end: End::stored(row),
            remarks: vec![],
            pruned: row.pruned_at.is_some(),
            ..Self::default()
        }
    }

    /// The game of a record, without its variations.
    pub fn of_record(record: &GameRecord, names: [String; 2]) -> Self {
        let moves = (1..).zip(&record.plies).map(|(number, ply)| Ply::recorded(number, ply)).collect();
        Self { names, start: record.start.clone(), moves, ..Self::default() }
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

    /// What the game is called: its number, or the machine that plays it.
    pub fn label(&self) -> String {
        self.machine.clone().unwrap_or_else(|| format!("#{}", self.number))
    }

    /// The id.
    pub fn id(&self) -> GameId {
        GameId(self.number)
    }
}

fn in_english<S: Serializer>(operations: &[Operation], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(operations.iter().map(|operation| plain(&Language::English.operation(operation))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use referee::{
        entry::{GameStarted, Moved, PlayerId, Thought},
        running::play,
    };
    use rsshogi::{board::Position, types::Move};

    #[test]
    fn a_long_game_is_no_longer_in_a_list_than_a_short_one_and_stands_where_it_stood() {
        let (game, black, white) = (GameId(1), PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let (start, opening) = (referee::opening::EVEN.to_owned(), "7g7f 3c3d".to_owned());
        let started = GameStarted { game, pairing, start, opening, times: None };
        let mut running = RunningGame::new(&started, Default::default(), 0);
        let listed = |running: &RunningGame| Game::listed(running, ["a".to_owned(), "b".to_owned()]);
        assert_eq!(listed(&running).opening, "7g7f 3c3d", "a game without moves comes as it is");
        let cycle = ["2h3h", "8b7b", "3h2h", "7b8b"];
        for at in 0..301 {
            let (color, mv) = (Color::BOTH[at % 2], Move::from_usi(cycle[at % 4]).unwrap());
            let thought = Thought { pv: Some("7g7f".to_owned()), ..Thought::default() };
            let (ply, thought, [charged, elapsed, left]) =
                (at as u32 + 3, Some(Box::new(thought)), [Duration::ZERO; 3]);
            assert!(running.moved(&Moved { game, ply, color, mv, charged, elapsed, left, thought }, 0));
        }
        let listed = listed(&running);
        assert_eq!(
            listed.moves.iter().map(|ply| (ply.p, ply.m.as_str())).collect::<Vec<_>>(),
            [(302, "7b8b"), (303, "2h3h")]
        );
        assert!(listed.opening.is_empty() && listed.moves[0].pv.is_none());
        assert_eq!(listed.start, "lnsgkgsnl/2r4b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 302");
        let mut position = Position::from_sfen(&listed.start).unwrap();
        let is_legal = |ply: &Ply| play(&mut position, Move::from_usi(&ply.m).unwrap());
        assert!(listed.moves.iter().all(is_legal));
        let whole = running.position().to_sfen(None);
        assert_eq!(position.to_sfen(None), whole, "the last moves lead to the same board");
    }
}

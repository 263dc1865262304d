//! `renmei import --verify`: our referee on games that were refereed elsewhere.
//!
//! Legality, repetition and mate follow from the rules alone; the move limit and the clock are checked only where the
//! record has them. A declaration is accepted under the CSA 27-point rule or the 24-point rule.

use super::{ending, game::clocks, import::plies};
use notation::record::GameRecord;
use referee::{
    Color, DrawBy, Outcome, WinBy,
    history::{History, Repetition},
    running::play,
};
use rsshogi::{
    board::{DeclarationDetail, DeclarationEvaluation, Position},
    types::EnteringKingRule,
};
use serde::Serialize;
use std::{
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

/// A disagreement between a record and the referee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file.
    pub file: PathBuf,
    /// Index of the record in its file, from 1.
    pub record: usize,
    /// Number of the record's moves before the disagreement.
    pub ply: usize,
    /// The disagreement, as a lowercase sentence.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: record {}, ply {}: {}", self.file.display(), self.record, self.ply, self.text)
    }
}

/// All disagreements about one record, in the order of the game.
pub(super) fn findings(file: &Path, number: usize, record: &GameRecord, limit: Option<u32>) -> Vec<Finding> {
    let Some(game) = Replayed::of(record) else { return vec![] };
    let mut found: Vec<(usize, String)> = overruns(record);
    found.extend(game.repeated(record));
    found.extend(limit.and_then(|limit| beyond(record, limit)));
    found.extend(game.ended(record).map(|text| (record.plies.len(), text)));
    found.sort_by_key(|(ply, _)| *ply);
    let own =
        found.into_iter().map(|(ply, text)| Finding { file: file.to_owned(), record: number, ply, text });
    own.chain(doubts(file, number, record)).collect()
}

/// Contradictions within a record, which every import reports.
pub(super) fn doubts(file: &Path, number: usize, record: &GameRecord) -> Vec<Finding> {
    let (file, ply) = (file.to_owned(), record.plies.len());
    let finding = |text: &String| Finding { file: file.clone(), record: number, ply, text: text.clone() };
    record.doubts.iter().map(finding).collect()
}

/// True if the start and all moves of a record are legal.
pub(super) fn is_playable(record: &GameRecord) -> bool {
    let Ok(mut position) = Position::from_sfen(&record.start) else { return false };
    position.init_stack();
    record.plies.iter().all(|ply| play(&mut position, ply.mv))
}

/// Outcome of a record without an ending, if the rules give one: mate or repetition.
pub(super) fn ruling(record: &GameRecord) -> Option<Outcome> {
    let game = Replayed::of(record)?;
    match game.repetition {
        Some((ply, kind)) if ply == record.plies.len() => Some(repetition(kind)),
        _ => game.last.is_mated().then(|| Outcome::loss(game.to_move, WinBy::Mate)),
    }
}

fn repetition(kind: Repetition) -> Outcome {
    match kind {
        Repetition::Sennichite => Outcome::Draw { by: DrawBy::Sennichite },
        Repetition::PerpetualCheck(side) => Outcome::loss(side, WinBy::PerpetualCheck),
    }
}

/// A record, replayed.
struct Replayed {
    last: Position,
    /// The first fourfold repetition, and the number of moves before it.
    repetition: Option<(usize, Repetition)>,
    outcome: Outcome,
    to_move: Color,
}

impl Replayed {
    /// `None` for an illegal start or move; the readers reject those.
    fn of(record: &GameRecord) -> Option<Self> {
        let mut position = Position::from_sfen(&record.start).ok()?;
        position.init_stack();
        let mut history = History::new(&position, true);
        let mut repetition = None;
        for (at, ply) in record.plies.iter().enumerate() {
            if !play(&mut position, ply.mv) {
                return None;
            }
            let repeated = history.push(&position);
            repetition = repetition.or(repeated.map(|kind| (at + 1, kind)));
        }
        let to_move = Color::from(position.turn());
        Some(Self { last: position, repetition, outcome: ending::outcome(record), to_move })
    }

    fn repeated(&self, record: &GameRecord) -> Option<(usize, String)> {
        let plies = record.plies.len();
        let Some((ply, kind)) = self.repetition else {
            return self.not_repeated().map(|text| (plies, text));
        };
        let ruling = repetition(kind);
        if ply < plies {
            return Some((ply, format!("{ruling} was not noticed; {} more moves follow", plies - ply)));
        }
        record.ending.as_ref()?;
        // CSA writes a loss by perpetual check as an illegal move.
        let foul = matches!(self.outcome, Outcome::Win { by: WinBy::IllegalMove(_), .. });
        let agrees = self.outcome == ruling || foul && self.outcome.winner() == ruling.winner();
        (!agrees).then(|| (ply, format!("{ruling}; the record has: {}", self.outcome)))
    }

    fn not_repeated(&self) -> Option<String> {
        let called = match self.outcome {
            Outcome::Draw { by: DrawBy::Sennichite } => "sennichite",
            Outcome::Win { by: WinBy::PerpetualCheck, .. } => "perpetual check",
            _ => return None,
        };
        Some(format!("called {called}, but no position occurred four times"))
    }

    /// A wrong ending, repetition and move limit aside.
    fn ended(&self, record: &GameRecord) -> Option<String> {
        let (mated, side) = (self.last.is_mated(), self.to_move);
        match self.outcome {
            Outcome::Win { winner, by: WinBy::Declaration } if winner == side => self.declared(),
            Outcome::Win { winner, by: WinBy::IllegalDeclaration } if winner != side => self.refused(),
            Outcome::Win { by: WinBy::Mate, .. } if !mated => {
                Some(format!("called mate, but {side} has a legal move"))
            }
            Outcome::Win { winner, by: WinBy::IllegalMove(_) }
                if winner == side && self.repetition.is_none() =>
            {
                Some(format!("called a foul of {}, but its last move is legal", !side))
            }
            // A record without an ending claims nothing that could be wrong.
            outcome
                if mated
                    && record.ending.is_some()
                    && outcome.winner() != Some(!side)
                    && !is_limit(outcome) =>
            {
                Some(format!("{side} is mated; the record has: {}", self.outcome))
            }
            _ => None,
        }
    }

    /// The judgement of a declaration under the 27-point rule and under the 24-point rule.
    fn judged(&self) -> [DeclarationEvaluation; 2] {
        [EnteringKingRule::Point27Handicap, EnteringKingRule::Point24Handicap].map(|rule| {
            let mut position = self.last.clone();
            position.set_entering_king_rule(rule);
            position.evaluate_declaration()
        })
    }

    fn refused(&self) -> Option<String> {
        let allowed = self.judged().iter().all(|judged| judged.can_declare);
        allowed.then(|| format!("the declaration of {} was refused, but it has the right to", self.to_move))
    }

    fn declared(&self) -> Option<String> {
        let [by_27, by_24] = self.judged();
        if by_27.can_declare || by_24.can_declare {
            return None;
        }
        Some(match by_27.detail {
            DeclarationDetail::PointRule {
                points, required_points, pieces_in_camp, not_in_check, ..
            } => format!(
                "{} declares without the right to: {points} of {required_points} points, {pieces_in_camp} of 11 \
                 pieces in the camp with the king{}",
                self.to_move,
                if not_in_check { "" } else { ", in check" }
            ),
            _ => format!("{} declares without the right to", self.to_move),
        })
    }
}

fn is_limit(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Draw { by: DrawBy::MaxMoves | DrawBy::Sennichite })
}

fn beyond(record: &GameRecord, limit: u32) -> Option<(usize, String)> {
    let (all, plies) = (plies(record), record.plies.len());
    let called = ending::outcome(record) == (Outcome::Draw { by: DrawBy::MaxMoves });
    if all > limit {
        let over = usize::try_from(all - limit).unwrap_or(plies);
        return Some((
            plies.saturating_sub(over),
            format!("the limit of {limit} moves was not noticed; {over} follow"),
        ));
    }
    (called && all < limit)
        .then(|| (plies, format!("called a draw by the limit of {limit} moves after {all}")))
}

/// Moves and losses on time that contradict the record's own time control; only the first of each side, because the
/// clock is uncertain after it.
fn overruns(record: &GameRecord) -> Vec<(usize, String)> {
    let (mut clocks, mut found) = (clocks(record), Vec::new());
    let first = usize::from(record.start.split(' ').nth(1) == Some("w"));
    for (at, ply) in record.plies.iter().enumerate() {
        let side = (first + at) % 2;
        let (Some(clock), Some(time_ms)) = (&mut clocks[side], ply.time_ms) else { continue };
        let (spent, allowed) = (Duration::from_millis(time_ms.into()), clock.allowance());
        if clock.charge(spent).is_err() {
            let (spent, allowed) = (spent.as_secs_f64(), allowed.as_secs_f64());
            found.push((at + 1, format!("{} used {spent} s of {allowed} s and went on", Color::BOTH[side])));
            clocks[side] = None;
        }
    }
    let late = (clocks[(first + record.plies.len()) % 2], record.ending_time_ms);
    if let (Outcome::Win { by: WinBy::Time, winner }, (Some(clock), Some(time_ms))) =
        (ending::outcome(record), late)
    {
        let (spent, allowed) = (Duration::from_millis(time_ms.into()), clock.allowance());
        // Times are written without fractions, and CSA servers count a fully used allowance as lost.
        if spent + Duration::from_secs(1) < allowed {
            let (spent, allowed) = (spent.as_secs_f64(), allowed.as_secs_f64());
            let text = format!("{} lost on time after {spent} s of {allowed} s", !winner);
            found.push((record.plies.len(), text));
        }
    }
    found
}

/// The move limit that servers write into a comment, `'Max_Moves:256`.
pub(super) fn move_limit(bytes: &[u8]) -> Option<u32> {
    let line = bytes.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"'Max_Moves:"))?;
    str::from_utf8(line).ok()?.trim().parse().ok().filter(|limit| *limit > 0)
}

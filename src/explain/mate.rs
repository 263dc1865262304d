//! Mate problems: a proof of a line of moves by our own rules, and `go mate` of an engine.

use crate::{AskFault, NoResult};
use check::Talk;
use notation::usi::{Checkmate, EngineLine};
use plan::EnginePlan;
use referee::{Color, Foul, Outcome, WinBy, legality::foul};
use rsshogi::{
    board::{LegalAll, MoveList, Position, generate_moves},
    types::Move,
};
use serde::Serialize;
use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

/// Most positions that are looked at to see whether a mate is forced.
const POSITIONS: u64 = 200_000;
/// Plies by which a defence may last longer than a line: interpositions that change nothing are left out of solutions.
const LONGER: usize = 4;
/// Most time for an engine to answer `usi`, `isready` and `stop`.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time for an answer after the time of a problem is over.
const GRACE: Duration = Duration::from_secs(2);

/// Why a line of moves is no mate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// No move.
    #[error("no move")]
    Empty,
    /// The start cannot be read.
    #[error("its start is no position")]
    Start,
    /// A move, counted from 1, breaks a rule.
    #[error("move {at} is illegal ({})", Outcome::loss(Color::Black, WinBy::IllegalMove(*foul)).cause())]
    Illegal {
        /// The move.
        at: usize,
        /// The rule.
        foul: Foul,
    },
    /// A move of the attacker gives no check.
    #[error("move {0} gives no check")]
    NoCheck(usize),
    /// The last position is no mate.
    #[error("the last position is no mate")]
    Open,
}

/// What our own rules say of a line that mates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// Every defence is mated, and no later than four plies after the end of the line.
    Forced,
    /// The line mates, and a defence exists that escapes for so long.
    Helped,
    /// The line mates; the other defences were too many to look at.
    Line,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Forced => "forced",
            Self::Helped => "not forced",
            Self::Line => "line mates",
        })
    }
}

/// Whether a line of moves is a mate: every move legal, every move of the side to move a check, the last position a mate.
/// Then every other defence is tried, within a bound.
///
/// # Errors
/// Why the line is no mate.
pub fn proof(sfen: &str, moves: &[Move]) -> Result<Proof, Flaw> {
    let start = Position::from_sfen(sfen).map_err(|_| Flaw::Start)?;
    let mut position = start.clone();
    for (at, &mv) in moves.iter().enumerate() {
        if let Some(foul) = foul(&position, mv) {
            return Err(Flaw::Illegal { at: at + 1, foul });
        }
        position.apply_move(mv);
        if at % 2 == 0 && position.checkers().is_empty() {
            return Err(Flaw::NoCheck(at + 1));
        }
    }
    match moves.len() {
        0 => Err(Flaw::Empty),
        odd if odd % 2 == 1 && position.is_mated() => Ok(forced(&start, moves.len())),
        _ => Err(Flaw::Open),
    }
}

fn forced(start: &Position, plies: usize) -> Proof {
    let mut search = Search { left: POSITIONS, known: HashMap::new() };
    let mut position = start.clone();
    match search.attack(&mut position, plies + LONGER) {
        Some(true) => Proof::Forced,
        Some(false) => Proof::Helped,
        None => Proof::Line,
    }
}

/// All checks and all defences to a depth. `None`: too many positions.
struct Search {
    left: u64,
    known: HashMap<(String, usize), bool>,
}

impl Search {
    fn attack(&mut self, position: &mut Position, plies: usize) -> Option<bool> {
        if plies == 0 {
            return Some(false);
        }
        self.left = self.left.checked_sub(1)?;
        let key = (position.to_sfen(None), plies);
        if let Some(&known) = self.known.get(&key) {
            return Some(known);
        }
        // The nearest mates first: most checks are answered by few moves.
        let mut checks: Vec<(usize, Move)> = vec![];
        for mv in legal(position) {
            if position.gives_check_move(mv) {
                position.apply_move(mv);
                checks.push((legal(position).len(), mv));
                position.undo_move(mv).ok()?;
            }
        }
        checks.sort_by_key(|(answers, _)| *answers);
        let mut mates = false;
        for (_, mv) in checks {
            position.apply_move(mv);
            let lost = self.defend(position, plies - 1);
            position.undo_move(mv).ok()?;
            mates = lost?;
            if mates {
                break;
            }
        }
        self.known.insert(key, mates);
        Some(mates)
    }

    fn defend(&mut self, position: &mut Position, plies: usize) -> Option<bool> {
        let answers = legal(position);
        if plies == 0 {
            return Some(answers.is_empty());
        }
        for mv in answers {
            position.apply_move(mv);
            let lost = self.attack(position, plies - 1);
            position.undo_move(mv).ok()?;
            if !lost? {
                return Some(false);
            }
        }
        Some(true)
    }
}

fn legal(position: &Position) -> Vec<Move> {
    let mut moves = MoveList::new();
    generate_moves::<LegalAll>(position, &mut moves);
    moves.iter().copied().collect()
}

/// The answer of an engine to a mate problem.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Solved {
    /// `mate`, `nomate`, `timeout` or `notimplemented`.
    pub answer: &'static str,
    /// The mating moves in USI.
    pub moves: Vec<String>,
    /// Time until the answer, in seconds.
    pub seconds: f64,
    /// Nodes searched, as the engine counts them.
    pub nodes: Option<u64>,
}

/// An engine that is asked mate problems, one at a time.
pub struct Solver {
    plan: Arc<EnginePlan>,
    talk: Option<Talk>,
}

impl fmt::Debug for Solver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver").field("plan", &self.plan).finish_non_exhaustive()
    }
}

impl Solver {
    /// An engine that is started at the first question.
    #[must_use]
    pub fn new(plan: Arc<EnginePlan>) -> Self {
        Self { plan, talk: None }
    }

    /// Asks for a mate of the side to move, within so much time.
    ///
    /// # Errors
    /// Why there is no answer; the next question starts the engine anew.
    pub async fn solve(&mut self, sfen: &str, time: Duration) -> Result<Solved, AskFault> {
        let mut talk = match self.talk.take() {
            Some(talk) => talk,
            None => self.start().await.map_err(|how| self.fault(how))?,
        };
        match asked(&mut talk, sfen, time).await {
            Ok(solved) => {
                self.talk = Some(talk);
                Ok(solved)
            }
            Err(how) => {
                talk.kill().await;
                Err(self.fault(how))
            }
        }
    }

    fn fault(&self, how: NoResult) -> AskFault {
        AskFault { engine: self.plan.name.clone(), how }
    }

    /// Ends the engine.
    pub async fn end(self) {
        if let Some(talk) = self.talk {
            talk.kill().await;
        }
    }

    async fn start(&self) -> Result<Talk, NoResult> {
        let mut talk = Talk::start(&self.plan).await.map_err(|why| NoResult::Start(Arc::new(why)))?;
        let since = talk.send(&["usi"]);
        let usi = talk.wait(since + PATIENCE, |line| *line == EngineLine::UsiOk).await;
        let options =
            self.plan.options.iter().map(|(name, value)| format!("setoption name {name} value {value}"));
        let options: Vec<String> = options.collect();
        talk.send(&options.iter().map(String::as_str).collect::<Vec<_>>());
        if usi.is_err() || talk.ready(PATIENCE).await.is_err() {
            talk.kill().await;
            return Err(NoResult::Mute);
        }
        talk.send(&["usinewgame"]);
        Ok(talk)
    }
}

async fn asked(talk: &mut Talk, sfen: &str, time: Duration) -> Result<Solved, NoResult> {
    let is_answer =
        |line: &EngineLine| matches!(line, EngineLine::Checkmate(_) | EngineLine::BestMove { .. });
    talk.infos.clear();
    let since = talk.send(&[&format!("position sfen {sfen}"), &format!("go mate {}", time.as_millis())]);
    let mut answer = talk.wait(since + time + GRACE, is_answer).await;
    if answer.is_err() {
        let now = talk.send(&["stop"]);
        answer = talk.wait(now + GRACE, is_answer).await;
    }
    let line = answer.map_err(|_| NoResult::Late(time))?;
    let seconds = line.at.saturating_duration_since(since).as_secs_f64();
    let nodes = talk.infos.iter().rev().find_map(|info| nodes(info));
    let (answer, moves) = match line.parsed {
        EngineLine::Checkmate(Checkmate::Moves(moves)) => ("mate", moves),
        EngineLine::Checkmate(Checkmate::NoMate) => ("nomate", vec![]),
        EngineLine::Checkmate(Checkmate::Timeout) => ("timeout", vec![]),
        // An engine that does not know `go mate` searches for a move instead.
        _ => ("notimplemented", vec![]),
    };
    Ok(Solved { answer, moves, seconds, nodes })
}

fn nodes(info: &str) -> Option<u64> {
    let mut words = info.split_whitespace().skip_while(|word| *word != "nodes");
    words.nth(1)?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn judged(sfen: &str, moves: &str) -> Result<Proof, Flaw> {
        rsshogi::board::init();
        let moves: Vec<Move> = moves.split_whitespace().map(|mv| Move::from_usi(mv).unwrap()).collect();
        proof(sfen, &moves)
    }

    #[test]
    fn a_line_is_a_mate_only_by_the_rules_and_forced_only_against_every_defence() {
        let one = "8k/9/8P/9/9/9/9/9/4K4 b G 1";
        assert_eq!(judged(one, "G*1b"), Ok(Proof::Forced));
        // Without a king of the attacker, as problems are.
        assert_eq!(judged("8k/9/8P/9/9/9/9/9/9 b G 1", "G*1b"), Ok(Proof::Forced));
        assert_eq!(judged(one, "G*2b"), Err(Flaw::Open));
        assert_eq!(judged(one, "G*9i"), Err(Flaw::NoCheck(1)));
        assert_eq!(judged(one, "P*1b"), Err(Flaw::Illegal { at: 1, foul: Foul::NotInHand }));
        assert_eq!(judged(one, ""), Err(Flaw::Empty));
        assert_eq!(judged("nowhere", "G*1b"), Err(Flaw::Start));
        // A pawn must not be dropped to mate.
        let pawn = "7nk/7pl/9/8N/9/9/9/9/4K4 b P 1";
        assert!(judged(pawn, "P*1c").is_err());
    }

    #[test]
    fn a_mate_that_needs_the_help_of_the_defender_is_not_forced() {
        let start = "9/8k/9/8P/9/9/9/9/4K4 b GS 1";
        // The king may step to 2a and then leave the edge, but steps into the corner.
        assert_eq!(judged(start, "G*1c 1b1a S*1b"), Ok(Proof::Helped));
        assert_eq!(judged(start, "G*1c 1b2a S*1b"), Err(Flaw::Open));
    }

    #[test]
    fn nodes_are_read_from_the_line_of_an_engine() {
        assert_eq!(nodes("info depth 5 nodes 1234 time 7"), Some(1234));
        assert_eq!(nodes("info string nodes"), None);
    }
}

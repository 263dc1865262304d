//! One engine that is asked for searches.

use notation::clipped;
use plan::{EnginePlan, Sandbox};
use referee::{
    AbortBy, Color, Outcome,
    clock::Budget,
    entry::{GameId, Score, Thought},
    evaluation::Evaluation,
    game::{Answer, Order, Reply, Said},
};
use seat::{
    Seat,
    usi::{self, UsiPlayer},
};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// Processes that may fail in a row at one question. That of another machine is not tried again: others take the question.
const TRIES: usize = 2;
/// Most characters of an answer that is no move, and of a line of play.
const LONGEST: usize = 600;
/// Last lines shown of an engine that failed.
const LAST: usize = 8;
/// How an engine in a strict sandbox is told from one that fails everywhere.
const CONFINED: &str =
    ", in a strict sandbox that hides the files outside of its directory (`explain --trust` does without),";

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The move in USI, `resign` or `win`.
    pub mv: String,
    /// Evaluation from the side to move.
    pub score: Option<Score>,
    /// Depth in plies.
    pub depth: Option<u32>,
    /// Nodes searched, as the engine counts them.
    pub nodes: Option<u64>,
    /// Principal variation in USI, the move included; empty if the engine printed none.
    pub pv: String,
}

impl Found {
    /// Evaluation from black's side; `mover` is the side to move. An engine that resigns or declares without a score has
    /// lost or won.
    pub fn evaluation(&self, mover: Color) -> Option<Evaluation> {
        Some(Evaluation::of(self.judgement()?, mover))
    }

    /// Evaluation from the side to move, with what an engine that resigns or declares thereby says.
    pub fn judgement(&self) -> Option<Score> {
        self.score.or(match self.mv.as_str() {
            "resign" => Some(Score::Mate(-i32::MAX)),
            "win" => Some(Score::Mate(i32::MAX)),
            _ => None,
        })
    }
}

/// How much is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// So many nodes.
    Nodes(u64),
    /// So long.
    Time(Duration),
}

impl From<u64> for Effort {
    fn from(nodes: u64) -> Self {
        Self::Nodes(nodes)
    }
}

impl Effort {
    fn budget(self) -> Budget {
        match self {
            Self::Nodes(nodes) => Budget { nodes: Some(nodes), ..Budget::default() },
            Self::Time(time) => Budget { fixed: Some(time), ..Budget::default() },
        }
    }
}

/// A search without a result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("engine `{engine}`{} {how}", if *is_confined { CONFINED } else { "" })]
pub struct AskFault {
    /// Name of the engine.
    pub engine: String,
    /// True if it ran in a strict sandbox, which hides what a script may start or read.
    pub is_confined: bool,
    /// How it failed.
    pub how: NoResult,
}

/// How a search has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoResult {
    /// The process is gone.
    #[error("has ended")]
    Ended,
    /// No answer in time.
    #[error("has not answered within {} s", .0.as_secs_f64())]
    Late(Duration),
    /// A fault as a game would store it, and the last lines of the engine.
    #[error("failed: {how}{}", last.iter().map(|line| format!("\n  {line}")).collect::<String>())]
    Failed {
        /// The fault.
        how: String,
        /// The lines, `>` sent, `<` received and `!` of stderr.
        last: Vec<String>,
    },
    /// A reply to another question.
    #[error("answers what it was not asked: {0:?}")]
    Unasked(Box<Reply>),
    /// A line that is no move.
    #[error("answers no move: {}", clipped(.0, LONGEST))]
    NoMove(String),
}

/// An engine that is asked for searches, one at a time. Its process is started at the first question, and again after a
/// fault.
#[derive(Debug)]
pub struct Asker {
    plan: Arc<EnginePlan>,
    /// Most time for the answer to a question.
    patience: Duration,
    actors: TaskTracker,
    seat: Option<Seat>,
    asked: u64,
}

impl Asker {
    /// An engine whose processes are tasks of `actors`.
    pub fn new(plan: Arc<EnginePlan>, patience: Duration, actors: &TaskTracker) -> Self {
        Self { plan, patience, actors: actors.clone(), seat: None, asked: 0 }
    }

    /// An engine whose start may take no longer than a search.
    pub fn impatient(plan: &EnginePlan, patience: Duration, actors: &TaskTracker) -> Self {
        let mut plan = plan.clone();
        let limits = &mut plan.limits;
        for limit in [&mut limits.start, &mut limits.ready, &mut limits.new_game] {
            *limit = patience.min(*limit);
        }
        Self::new(Arc::new(plan), patience, actors)
    }

    /// Searches `position`, the argument of USI `position`, with so many nodes or so long. Each search begins with
    /// `usinewgame`, so that its result does not depend on those before it.
    ///
    /// # Errors
    /// When the engine does not start, or ends or does not answer in time twice in a row, or once on another machine.
    pub async fn ask(
        &mut self,
        position: &str,
        mover: Color,
        effort: impl Into<Effort>,
    ) -> Result<Found, AskFault> {
        let effort = effort.into();
        let mut tries = if self.plan.host.is_some() { 1 } else { TRIES };
        loop {
            let is_new = self.seat.is_none();
            let ready = self.ready(mover).await;
            // A start that has failed takes as long when it is repeated.
            tries = if is_new && ready.is_err() { 0 } else { tries - 1 };
            let found = match ready {
                Ok(()) => self.search(position, effort).await,
                Err(how) => Err(how),
            };
            match found {
                Ok(found) => return Ok(found),
                Err(how) => {
                    // Without its mailbox the process is ended, and the next question starts another.
                    self.seat = None;
                    if tries == 0 {
                        let is_confined = self.plan.sandbox.kind == Sandbox::Strict;
                        return Err(AskFault { engine: self.plan.name.clone(), is_confined, how });
                    }
                }
            }
        }
    }

    /// The seat itself limits the time to the start of a game.
    async fn ready(&mut self, mover: Color) -> Result<(), NoResult> {
        self.asked += 1;
        let game = GameId(self.asked);
        let seat = self.seat.get_or_insert_with(|| open(&self.plan, &self.actors));
        order(seat, Order::NewGame { game, color: mover }).await?;
        match reply(seat, game).await? {
            Reply::Ready => Ok(()),
            other => Err(unexpected(seat, other)),
        }
    }

    async fn search(&mut self, position: &str, effort: Effort) -> Result<Found, NoResult> {
        let (game, patience) = (GameId(self.asked), self.patience);
        let seat = self.seat.as_mut().ok_or(NoResult::Ended)?;
        let budget = effort.budget();
        order(seat, Order::Go { position: position.to_owned(), last: None, budget }).await?;
        let late = |_| NoResult::Late(patience);
        let answered = timeout(patience, reply(seat, game)).await.map_err(late)??;
        let Reply::Answer(answer) = answered else { return Err(unexpected(seat, answered)) };
        order(seat, Order::Over(Outcome::Aborted { by: AbortBy::Stopped })).await?;
        found(answer)
    }
}

fn open(plan: &Arc<EnginePlan>, actors: &TaskTracker) -> Seat {
    let (seat, actor) = usi::open(UsiPlayer::alone(plan.clone()));
    actors.spawn(actor);
    seat
}

async fn order(seat: &Seat, order: Order) -> Result<(), NoResult> {
    seat.orders.send(order).await.map_err(|_| NoResult::Ended)
}

/// The next reply of this question; late ones of an earlier question are passed over.
async fn reply(seat: &mut Seat, game: GameId) -> Result<Reply, NoResult> {
    while let Some((of, reply)) = seat.replies.recv().await {
        if of == game {
            return Ok(reply);
        }
    }
    Err(NoResult::Ended)
}

fn unexpected(seat: &Seat, reply: Reply) -> NoResult {
    match reply {
        Reply::Gone(how) | Reply::Unseated(how) => {
            let report = seat.trace.report();
            let lines: Vec<_> = report.lines().map(|line| clipped(line.trim(), LONGEST)).collect();
            NoResult::Failed { how, last: lines[lines.len().saturating_sub(LAST)..].to_vec() }
        }
        other => NoResult::Unasked(Box::new(other)),
    }
}

fn found(answer: Answer) -> Result<Found, NoResult> {
    let mv = match answer.said {
        Said::Move(mv) => mv.to_usi(),
        Said::Resign => "resign".to_owned(),
        Said::Win => "win".to_owned(),
        Said::Unreadable(line) => return Err(NoResult::NoMove(line)),
    };
    let Thought { depth, score, nodes, pv, .. } = answer.thought.map(|thought| *thought).unwrap_or_default();
    let pv = pv.filter(|pv| pv.split_whitespace().next() == Some(&mv)).unwrap_or_default();
    let pv = pv.chars().take(LONGEST).collect();
    Ok(Found { mv, score, depth, nodes, pv })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_engine_that_fails_in_its_sandbox_is_named_with_the_sandbox_and_the_way_without() {
        let directory = tempfile::tempdir().unwrap();
        let mut plan = EnginePlan { name: "script".to_owned(), ..EnginePlan::default() };
        plan.command = directory.path().join("missing");
        let mut words = vec![];
        for kind in [Sandbox::Default, Sandbox::Strict] {
            plan.sandbox.kind = kind;
            let actors = TaskTracker::new();
            let mut asker = Asker::new(Arc::new(plan.clone()), Duration::from_secs(60), &actors);
            words.push(asker.ask("startpos", Color::Black, 1).await.unwrap_err().to_string());
        }
        assert!(words[0].starts_with("engine `script` "), "{}", words[0]);
        assert!(words[1].starts_with("engine `script`, in a strict sandbox "), "{}", words[1]);
        assert!(words[1].contains("`explain --trust`"), "{}", words[1]);
    }
}

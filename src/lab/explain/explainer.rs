//! A game that was lost, searched again.

use super::{
    AskFault, Asker, Cache, CacheFault, Cause, Course, Found, Line, Phase, Trial, Turn, cause::median,
    suite::Task,
};
use plan::EnginePlan;
use referee::{Color, Outcome, WinBy, evaluation::Evaluation};
use serde::Serialize;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio_util::task::TaskTracker;

/// Moves whose positions are searched with all nodes.
const CANDIDATES: usize = 3;
/// How often the candidates are chosen anew after they were searched.
const ROUNDS: usize = 6;
/// Expected score in the last position from which on a game that ends by a fault was open.
const OPEN: f64 = 0.25;
/// The same for a game that is resigned.
const RESIGNED: f64 = 0.4;
/// Highest lasting expected score from the first own move on with which the opening had lost the game.
const LOST: f64 = 0.3;
/// Own moves on each side of a move that show the usual number of nodes.
const AROUND: usize = 10;
/// The coarse pass over a game has this share of the nodes.
const COARSE: u64 = 8;

/// How a game is searched.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Nodes of the judge around a turning point; the pass over the whole game has an eighth of them.
    pub nodes: u64,
    /// The loser itself is given up to so many times its nodes.
    pub times: u64,
    /// Most time for one search.
    pub patience: Duration,
}

/// The judge's opinion of a position.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The position: 0 is the start of the game.
    pub at: usize,
    /// Nodes that it was given.
    pub limit: u64,
    /// Evaluation from black's side in centipawns, mates beyond ±99,000.
    pub centipawns: Option<i32>,
    /// The search.
    #[serde(flatten)]
    pub found: Found,
    /// The evaluation.
    #[serde(skip)]
    pub evaluation: Option<Evaluation>,
}

/// The move that lost a game.
#[derive(Clone, Debug, Serialize)]
pub struct Move {
    /// In USI.
    pub played: String,
    /// The judge's choice in USI; absent if it is the same.
    pub better: Option<String>,
    /// The judge's evaluations before and after it, from black's side in centipawns.
    pub evaluations: [Option<i32>; 2],
}

/// Why a game was lost.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Number of the game.
    pub game: u64,
    /// Names of black and white.
    pub players: [String; 2],
    /// The side that lost.
    pub loser: Color,
    /// The ending in a word.
    pub ending: &'static str,
    /// Moves of the game, those of the opening included.
    pub moves: usize,
    /// The cause.
    pub cause: Cause,
    /// Number of the move that lost, as records count; of a fault or a resignation, the move that was not made.
    pub ply: u32,
    /// The phase of the game there.
    pub phase: Phase,
    /// The position in which the move was to be made, as SFEN.
    pub sfen: String,
    /// Number of that position.
    pub at: usize,
    /// The move; absent where none was made.
    #[serde(rename = "move")]
    pub mv: Option<Move>,
    /// Expected score of the loser before, and what lasted after.
    pub shares: [f64; 2],
    /// What the loser found when it searched again; absent if it did not.
    pub trial: Option<Trial>,
    /// What is remarkable, as a sentence without a period; may be empty.
    pub remark: String,
    /// The judge's opinions of all positions.
    pub judged: Vec<Judged>,
}

/// A game could not be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainFault {
    /// An engine does not answer.
    #[error(transparent)]
    Ask(#[from] AskFault),
    /// Searches cannot be kept.
    #[error(transparent)]
    Cache(#[from] CacheFault),
}

/// An engine that is asked only what was not searched before.
#[derive(Debug)]
pub struct Engine<'a> {
    asker: Asker,
    digest: String,
    cache: &'a Cache,
}

impl<'a> Engine<'a> {
    /// An engine with its digest, whose processes are tasks of `actors`.
    pub fn new(
        engine: &(Arc<EnginePlan>, String),
        cache: &'a Cache,
        patience: Duration,
        actors: &TaskTracker,
    ) -> Self {
        Self { asker: Asker::impatient(&engine.0, patience, actors), digest: engine.1.clone(), cache }
    }

    /// A search of `position`, the argument of USI `position`, with so many nodes.
    ///
    /// # Errors
    /// When the engine does not answer, or the search cannot be kept.
    pub async fn ask(&mut self, position: &str, mover: Color, nodes: u64) -> Result<Found, ExplainFault> {
        if let Some(found) = self.cache.get(&self.digest, position, nodes) {
            return Ok(found);
        }
        let found = self.asker.ask(position, mover, nodes).await?;
        self.cache.put(&self.digest, position, nodes, &found)?;
        Ok(found)
    }

    /// Its opinion of a position of a game.
    ///
    /// # Errors
    /// Those of [`Engine::ask`].
    pub async fn judge(&mut self, line: &Line, at: usize, nodes: u64) -> Result<Judged, ExplainFault> {
        let found = self.ask(&line.position(at), line.mover(at), nodes).await?;
        let evaluation = found.evaluation(line.mover(at));
        let centipawns = evaluation.map(Evaluation::centipawns);
        Ok(Judged { at, limit: nodes, centipawns, found, evaluation })
    }
}

/// Explains games, one at a time, with a judge of its own.
#[derive(Debug)]
pub struct Explainer<'a> {
    judge: Engine<'a>,
    own: BTreeMap<String, Engine<'a>>,
    cache: &'a Cache,
    settings: Settings,
    actors: TaskTracker,
}

/// A game while it is searched.
struct Study<'a> {
    line: &'a Line,
    loser: Color,
    judged: Vec<Judged>,
    /// By position, the expected score after the judge's move in it.
    held: BTreeMap<usize, f64>,
}

/// What has lost a game.
struct Loss {
    cause: Option<Cause>,
    /// The position in which the move was made or missing.
    at: usize,
    shares: [f64; 2],
    has_move: bool,
    remark: String,
}

impl<'a> Explainer<'a> {
    /// An explainer with this judge; its engines are tasks of `actors`.
    pub fn new(
        judge: &(Arc<EnginePlan>, String),
        cache: &'a Cache,
        settings: Settings,
        actors: &TaskTracker,
    ) -> Self {
        let judge = Engine::new(judge, cache, settings.patience, actors);
        Self { judge, own: BTreeMap::new(), cache, settings, actors: actors.clone() }
    }

    /// Explains the loss of `loser` in a game with this number; `own` is the loser's engine with its digest, if it is here.
    ///
    /// # Errors
    /// When an engine does not answer, or the searches cannot be kept.
    pub async fn explain(
        &mut self,
        game: u64,
        line: &Line,
        loser: Color,
        own: Option<&(Arc<EnginePlan>, String)>,
    ) -> Result<Explanation, ExplainFault> {
        let mut study = Study { line, loser, judged: vec![], held: BTreeMap::new() };
        self.pass(&mut study).await?;
        let turn = self.narrow(&mut study).await?;
        let loss = study.loss(turn);
        let (cause, trial) = match (loss.cause, own) {
            (Some(cause), _) => (cause, None),
            (None, None) => (Cause::Unsearched, None),
            (None, Some(own)) => {
                let trial = self.try_again(&study, &loss, own).await?;
                (trial.cause(), Some(trial))
            }
        };
        Ok(study.explanation(game, loss, cause, trial))
    }

    /// Searches every position with few nodes.
    async fn pass(&mut self, study: &mut Study<'_>) -> Result<(), ExplainFault> {
        let nodes = (self.settings.nodes / COARSE).max(1);
        for at in 0..=study.line.moves() {
            study.judged.push(self.judge.judge(study.line, at, nodes).await?);
        }
        Ok(())
    }

    /// Searches the positions around the moves that cost most with all nodes, and what the judge's moves in their place hold,
    /// until those that cost most are among them.
    async fn narrow(&mut self, study: &mut Study<'_>) -> Result<Option<Turn>, ExplainFault> {
        for _ in 0..ROUNDS {
            let mut searched = 0;
            for turn in study.turns().into_iter().take(CANDIDATES) {
                let last = study.line.moves();
                let around = turn.at.saturating_sub(2)..=turn.at + 1;
                for at in around.chain([turn.lasting, turn.lasting + 1]).filter(|at| *at <= last) {
                    if study.judged[at].limit < self.settings.nodes {
                        study.judged[at] = self.judge.judge(study.line, at, self.settings.nodes).await?;
                        searched += 1;
                    }
                }
                if !turn.is_held {
                    let at = turn.at - 1;
                    let mv = study.judged[at].found.mv.clone();
                    let held = self.after(study, at, &mv).await?.unwrap_or_else(|| study.course().at(at));
                    study.held.insert(at, held);
                    searched += 1;
                }
            }
            if searched == 0 {
                break;
            }
        }
        Ok(study.course().turning_point(|at| study.is_own(at)))
    }

    /// The loser's expected score after a move in a position of the game, by the judge with all nodes.
    async fn after(&mut self, study: &Study<'_>, at: usize, mv: &str) -> Result<Option<f64>, ExplainFault> {
        let mover = study.line.mover(at);
        let won = f64::from(u8::from(mover == study.loser));
        match mv {
            "win" => return Ok(Some(won)),
            "resign" => return Ok(Some(1.0 - won)),
            _ => {}
        }
        let joint = if at == 0 { " moves " } else { " " };
        let position = format!("{}{joint}{mv}", study.line.position(at));
        let found = self.judge.ask(&position, !mover, self.settings.nodes).await?;
        Ok(found.evaluation(!mover).map(|evaluation| share(evaluation, study.loser)))
    }

    /// Lets the loser search the position before its mistake again, with more and more nodes, until its move is a good one.
    async fn try_again(
        &mut self,
        study: &Study<'_>,
        loss: &Loss,
        own: &(Arc<EnginePlan>, String),
    ) -> Result<Trial, ExplainFault> {
        let mut trial = study.trial(loss.at);
        let (position, mover) = (study.line.position(loss.at), study.line.mover(loss.at));
        let Settings { nodes, times, patience } = self.settings;
        let (cache, actors) = (self.cache, &self.actors);
        let mut engine = self.own.remove(&own.1).unwrap_or_else(|| Engine::new(own, cache, patience, actors));
        for nodes in trial.steps(times, nodes) {
            let found = engine.ask(&position, mover, nodes).await?;
            trial.tried = nodes;
            if self.is_better(study, loss, &found.mv).await? {
                (trial.found_with, trial.found) = (Some(nodes), Some(found.mv));
                break;
            }
        }
        self.own.insert(own.1.clone(), engine);
        Ok(trial)
    }

    /// Whether a move in place of the one that lost keeps at least half of what was lost.
    async fn is_better(&mut self, study: &Study<'_>, loss: &Loss, mv: &str) -> Result<bool, ExplainFault> {
        let played = study.line.to(loss.at + 1);
        if played.as_deref() == Some(mv) || mv == "resign" {
            return Ok(false);
        }
        let [before, after] = loss.shares;
        let keeps_half = |kept: f64| kept >= (before + after) / 2.0;
        if study.judged[loss.at].found.mv == mv {
            return Ok(study.held.get(&loss.at).is_none_or(|held| keeps_half(*held)));
        }
        Ok(self.after(study, loss.at, mv).await?.is_some_and(keeps_half))
    }
}

/// The expected score of a side.
fn share(evaluation: Evaluation, side: Color) -> f64 {
    let black = evaluation.black_share();
    if side == Color::Black { black } else { 1.0 - black }
}

impl Study<'_> {
    fn course(&self) -> Course {
        let shares = self.judged.iter().map(|judged| Some(share(judged.evaluation?, self.loser)));
        Course::new(shares).holding(self.held.clone())
    }

    fn turns(&self) -> Vec<Turn> {
        self.course().turns(|at| self.is_own(at))
    }

    /// True if the loser made the move to a position.
    fn is_own(&self, at: usize) -> bool {
        self.line.mover(at - 1) == self.loser
    }

    /// What has lost the game, without the cause of a move.
    fn loss(&self, turn: Option<Turn>) -> Loss {
        let course = self.course();
        if let Some(loss) = self.missed_declaration(&course).or_else(|| self.ended_open(&course)) {
            return loss;
        }
        let Some(turn) = turn else { return self.lost_at_once(&course) };
        let first = self.first_searched();
        let kept = course.lasting(first);
        if kept <= LOST && 0.5 - kept > turn.drop() {
            return self.lost_in_book(&course, first);
        }
        let cause = (turn.at <= first).then_some(Cause::Book);
        let remark = match turn.drop() {
            ..0.1 => "no single move lost the game; this one cost most",
            _ if !turn.is_held => "the judge finds no move that holds what it saw",
            _ => "",
        };
        let remark = remark.to_owned();
        Loss { cause, at: turn.at - 1, shares: [turn.before, turn.after], has_move: true, remark }
    }

    /// A win by declaration that was possible and not declared.
    fn missed_declaration(&self, course: &Course) -> Option<Loss> {
        let at = self.line.undeclared(self.loser)?;
        let remark = "a win by declaration was possible".to_owned();
        let has_move = at < self.line.moves();
        let shares = [1.0, course.at(at + usize::from(has_move))];
        Some(Loss { cause: Some(Cause::Rules), at, shares, has_move, remark })
    }

    /// A game that was open when it ended.
    fn ended_open(&self, course: &Course) -> Option<Loss> {
        let Some(Outcome::Win { by, .. }) = self.line.outcome else { return None };
        let last = self.line.moves();
        let (cause, least, what) = match by {
            WinBy::PerpetualCheck => {
                (Cause::Rules, OPEN, "the last move repeats the position with perpetual check")
            }
            WinBy::IllegalDeclaration => (Cause::Rules, OPEN, "the declaration was not valid"),
            WinBy::Time | WinBy::IllegalMove(_) | WinBy::Disconnection | WinBy::IllegalAction => {
                (Cause::Fault, OPEN, "the game was open when it ended")
            }
            WinBy::Resignation | WinBy::Adjudication => {
                (Cause::Evaluation, RESIGNED, "the judge does not hold the last position for lost")
            }
            WinBy::Mate | WinBy::Declaration | WinBy::Default | WinBy::Ruling => return None,
        };
        // The move that repeats is on the board; every other ending is a move that was not made.
        let repeats = by == WinBy::PerpetualCheck && self.line.mover(last) != self.loser;
        let at = last - usize::from(repeats);
        let before = course.at(at);
        (before >= least).then(|| Loss {
            cause: Some(cause),
            at,
            shares: [before, 0.0],
            has_move: repeats,
            remark: what.to_owned(),
        })
    }

    /// A game in which the loser has made no move.
    fn lost_at_once(&self, course: &Course) -> Loss {
        let (at, remark) = (self.line.moves(), "the loser has made no move".to_owned());
        Loss { cause: Some(Cause::Book), at, shares: [course.end(), 0.0], has_move: false, remark }
    }

    fn lost_in_book(&self, course: &Course, first: usize) -> Loss {
        let at = course.steepest(first);
        let (has_move, at) = (at > 0, at.saturating_sub(1));
        let remark = "the game was lost before the first move that the loser searched".to_owned();
        Loss { cause: Some(Cause::Book), at, shares: [course.at(at), course.at(first)], has_move, remark }
    }

    /// The position before the first move that the loser searched, or made if it never said what it searched.
    fn first_searched(&self) -> usize {
        let mut own = self.line.own.iter().filter(|own| own.color == self.loser).peekable();
        let made = own.peek().map(|own| own.at);
        let first = own.find(|own| own.is_searched()).map(|own| own.at).or(made);
        first.map_or(0, |at| at - 1)
    }

    /// What the loser has said of its move in a position, and of those around it.
    fn trial(&self, at: usize) -> Trial {
        let own: Vec<_> = self.line.own.iter().filter(|own| own.color == self.loser).collect();
        let here = own.iter().position(|own| own.at == at + 1);
        let played = here.and_then(|here| own[here].nodes);
        let usual = here.and_then(|here| {
            let around = own.iter().enumerate().skip(here.saturating_sub(AROUND)).take(2 * AROUND + 1);
            median(around.filter(|(at, _)| *at != here).filter_map(|(_, own)| own.nodes).collect())
        });
        Trial { played, usual, ..Trial::default() }
    }

    fn explanation(self, game: u64, loss: Loss, cause: Cause, trial: Option<Trial>) -> Explanation {
        let Loss { at, shares, has_move, remark, .. } = loss;
        let evaluation = |at: usize| self.judged.get(at).and_then(|judged| judged.centipawns);
        let mv = self.line.to(at + 1).filter(|_| has_move).map(|played| {
            let better = self.judged.get(at).map(|judged| judged.found.mv.clone());
            let better = better.filter(|better| *better != played && better != "resign");
            Move { better, evaluations: [evaluation(at), evaluation(at + 1)], played }
        });
        let ply = self.line.ply(at + 1);
        Explanation {
            game,
            players: self.line.names.clone(),
            loser: self.loser,
            ending: self.line.outcome.map_or("none", Outcome::cause),
            moves: self.line.moves(),
            cause,
            ply,
            phase: Phase::of(ply, self.line.sfen(at)),
            sfen: self.line.sfen(at).to_owned(),
            at,
            mv,
            shares,
            trial,
            remark,
            judged: self.judged,
        }
    }
}

impl Explanation {
    /// Name of the player that lost.
    pub fn name(&self) -> &str {
        &self.players[self.loser.index()]
    }

    /// Expected score that was lost for good.
    pub fn cost(&self) -> f64 {
        self.shares[0] - self.shares[1]
    }

    /// The position as a task of a suite: to avoid the move that was played, and to find the judge's. `None` where no move
    /// was made, or the judge knows no better one.
    pub fn task(&self) -> Option<Task> {
        let mv = self.mv.as_ref()?;
        let better = mv.better.clone().filter(|better| better != "win")?;
        let found = self.trial.iter().filter_map(|trial| trial.found.clone());
        let mut best = vec![better];
        best.extend(found.filter(|found| !best.contains(found) && found != "win").collect::<Vec<_>>());
        let id = format!("{}: game {}, ply {}, {}", self.name(), self.game, self.ply, self.cause);
        let cost = format!("\"{:.0} % lost\"", 100.0 * self.cost());
        let (avoid, more) = (vec![mv.played.clone()], vec![("c0".to_owned(), cost)]);
        Some(Task { sfen: self.sfen.clone(), best, avoid, id: super::suite::plain(&id), more })
    }
}

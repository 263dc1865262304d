//! Monte Carlo softmax search.
//!
//! A playout descends from the root and chooses a move at each position with softmax probabilities of the
//! moves' values in centipawns. At a position without expanded moves, all successors are sent to the network,
//! which evaluates them on another thread while playouts continue. In the backup, the value of each position
//! becomes the mean of its moves' values, weighted by a softmax of lower temperature. At the end the move with
//! the best value is played.
//!
//! Two faults of the original are corrected. It did not finish won games, because win probabilities of 98% and
//! 99% are nearly equal: centipawns distinguish them, and proven results are kept. And repetitions corrupted
//! the table: here a playout ends at a repetition with the value that the rules give it.
//!
//! Two features are added. If the network has a policy, the logarithms of the priors, times `PolicyWeight`, are
//! added to the values in every softmax and in the choice of the move; without them the move played is often
//! the one that the network overrates most. And replies with a prior far below the highest (`PolicyCut`) are
//! not evaluated, which saves evaluations for the others. With both options 0, or without a policy, the search
//! is the original one.

mod playout;
mod table;

use super::{Player, REPORT_INTERVAL, Turn, choice::choose, priors, score};
use crate::{
    evaluator::{Evaluator, EvaluatorError, Pending},
    usi::options,
};
use playout::{Expansion, Parameters, PlayoutEnd, Playouts, RankedMove};
use rsshogi::{mate::solve_mate_in_one, types::Move};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use table::Table;
use usi_shell::{BestMove, Info, Score, SplitMix64};

/// Number of consecutive playouts that may end at pending positions before the thread waits for an evaluation.
const MAX_PENDING_PLAYOUTS: usize = 8;

pub(super) struct SoftmaxPlayer {
    evaluator: Arc<dyn Evaluator>,
    table: Table,
}

/// Time to wait for the network before polling the clock.
const POLL: Duration = Duration::from_millis(5);

/// A running search.
struct Session<'a> {
    playouts: Playouts<'a>,
    evaluator: &'a dyn Evaluator,
    /// Questions that were handed to the evaluator, the oldest first.
    out: VecDeque<(Expansion, Pending)>,
    turn: &'a Turn<'a>,
    /// Evaluated positions, plus playouts that ended without an evaluation.
    nodes: u64,
    limit: Option<u64>,
    reported: Duration,
    deterministic: bool,
    /// The move with the highest prior, for a search too short to expand a move.
    fallback: Option<Move>,
}

impl SoftmaxPlayer {
    pub(super) fn new(evaluator: Arc<dyn Evaluator>, memory: usize) -> Self {
        Self { evaluator, table: Table::new(memory) }
    }
}

impl Player for SoftmaxPlayer {
    fn new_game(&mut self) {
        self.table.clear();
    }

    fn think(&mut self, turn: &Turn<'_>, rng: &mut SplitMix64) -> Result<BestMove, EvaluatorError> {
        if let Some(mv) = solve_mate_in_one(turn.game.position()) {
            let info = turn.info(1.0, 1, vec![mv.to_move()]);
            turn.out.info(&Info { depth: Some(1), score: Some(Score::Mate(1)), ..info });
            return Ok(BestMove::play(mv));
        }
        let (likely, answer) = priors(&*self.evaluator, turn)?;
        let options = turn.options();
        let encoding = self.evaluator.encoding();
        let playouts = Playouts::new(&mut self.table, turn.game, &answer, parameters(turn), encoding);
        let limits = [turn.search.limits.nodes, options.limit("PlayoutsLimit")];
        let mut session = Session {
            playouts,
            evaluator: &*self.evaluator,
            out: VecDeque::new(),
            turn,
            nodes: 0,
            limit: limits.into_iter().flatten().min(),
            reported: Duration::ZERO,
            deterministic: options.check("Deterministic"),
            fallback: likely.first().map(|&(mv, _)| mv),
        };
        session.run(rng)?;
        Ok(session.answer(rng))
    }
}

fn parameters(turn: &Turn<'_>) -> Parameters {
    let options = turn.options();
    Parameters {
        descent: options.spin("WalkTemperature") as f32,
        policy: options::permille(options, "PolicyWeight"),
        cut: options::permille(options, "PolicyCut"),
        backup: options.spin("BackupTemperature") as f32,
        mate: options.spin("LeafMate") != 0,
        terms: options::terms(options),
    }
}

impl Session<'_> {
    fn run(&mut self, rng: &mut SplitMix64) -> Result<(), EvaluatorError> {
        let mut blocked = 0;
        let mut unknown = true;
        while self.continues() {
            let idle = self.deterministic || unknown || blocked >= MAX_PENDING_PLAYOUTS;
            let pending: usize = self.out.iter().map(|(expansion, _)| expansion.asked.len()).sum();
            if pending > if idle { 0 } else { 3 * self.evaluator.batch() } {
                // The wait is short so that a stop is noticed while the network is busy.
                blocked = if self.take_answers(POLL)? { 0 } else { blocked };
            } else {
                match self.playouts.run(rng) {
                    PlayoutEnd::Expanded(expansion, questions) => {
                        self.out.push_back((expansion, self.evaluator.submit(questions)));
                    }
                    PlayoutEnd::Terminal => self.nodes += 1,
                    PlayoutEnd::Pending => blocked += 1,
                }
                self.take_answers(Duration::ZERO)?;
            }
            unknown = unknown && self.playouts.moves().is_empty();
            self.report_at_interval();
        }
        Ok(())
    }

    fn continues(&self) -> bool {
        let search = self.turn.search;
        // Without the first evaluations there is no move to choose.
        let begun = self.nodes > 0;
        let enough = begun && self.limit.is_some_and(|limit| self.nodes >= limit)
            || search.limits.depth.is_some_and(|depth| self.playouts.deepest >= depth);
        let timed = search.clock.spending().is_some();
        let settled = self.playouts.proof().is_some() || self.playouts.is_full();
        let forced = timed && self.turn.legal().len() == 1;
        !(search.clock.is_winding_up() || enough || settled || forced)
    }

    /// Processes evaluations that have arrived; returns whether there were any.
    fn take_answers(&mut self, patience: Duration) -> Result<bool, EvaluatorError> {
        let mut any = false;
        while let Some((expansion, pending)) = self.out.pop_front() {
            let Some(values) = pending.poll(if any { Duration::ZERO } else { patience }) else {
                self.out.push_front((expansion, pending));
                break;
            };
            let values = values?;
            self.nodes += values.len() as u64;
            self.playouts.evaluated(&expansion, &values);
            any = true;
        }
        Ok(any)
    }

    fn report_at_interval(&mut self) {
        let elapsed = self.turn.search.clock.elapsed();
        if elapsed >= self.reported + REPORT_INTERVAL {
            self.reported = elapsed;
            self.report();
        }
    }

    /// Prints the moves, best first, and returns them.
    fn report(&mut self) -> Vec<RankedMove> {
        let moves = self.playouts.moves();
        let Some(&RankedMove { mv: best, value, .. }) = moves.first() else { return moves };
        let line = self.playouts.line(best);
        self.turn.out.info(&Info {
            depth: Some(line.len() as u32),
            seldepth: Some(self.playouts.deepest),
            hashfull: Some(self.playouts.fullness().min(1000)),
            score: Some(score(self.playouts.proof(), value)),
            ..self.turn.info(value, self.nodes, line)
        });
        moves
    }

    fn answer(mut self, rng: &mut SplitMix64) -> BestMove {
        let moves = self.report();
        let Some(&RankedMove { mv: best, value, merit }) = moves.first() else {
            return self.fallback.map_or(BestMove::Resign, BestMove::play);
        };
        if self.turn.is_hopeless(value) {
            return BestMove::Resign;
        }
        let weighed: Vec<(Move, f32)> = moves.iter().map(|one| (one.mv, (one.merit - merit).exp())).collect();
        let mv = choose(&weighed, self.turn.temperature(), rng).unwrap_or(best);
        let reply = self.playouts.line(mv).get(1).copied();
        BestMove::Play { mv, ponder: reply.filter(|_| self.turn.options().check("USI_Ponder")) }
    }
}

#[cfg(test)]
mod tests;

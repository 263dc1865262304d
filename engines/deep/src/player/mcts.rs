//! The player that searches with [`Searcher`]: limits, time management, and the choice of the move.

use super::{Player, REPORT_INTERVAL, Turn, choice::choose, score};
use crate::{
    evaluator::{Evaluator, EvaluatorError},
    search::{Outcome, Progress, Proven, RootMove, Searcher, Task},
    time::{Plan, Reason, Savings},
    usi::options,
};
use rsshogi::types::Move;
use std::{sync::Arc, time::Duration};
use usi_shell::{BestMove, Info, SplitMix64};

pub(super) struct MctsPlayer {
    searcher: Searcher,
    batch: usize,
    savings: Savings,
}

impl MctsPlayer {
    pub(super) fn new(evaluator: Arc<dyn Evaluator>, memory: usize) -> Self {
        let batch = evaluator.batch();
        Self { searcher: Searcher::new(evaluator, memory), batch, savings: Savings::default() }
    }

    fn task(&self, turn: &Turn<'_>) -> Task {
        let (options, search) = (turn.options(), turn.search);
        Task {
            clock: Some(search.clock.clone()),
            playouts: playouts(turn),
            depth: search.limits.depth,
            lines: options.number("MultiPV"),
            threads: options::threads(options),
            batch: self.batch,
            constants: options::constants(options),
            terms: options::terms(options),
            leaf_mate: options::leaf_mate(options),
            root_mate: options.check("RootMate"),
            deterministic: options.check("Deterministic"),
            ..Task::default()
        }
    }

    fn search(&mut self, turn: &Turn<'_>) -> Result<Outcome, EvaluatorError> {
        let task = self.task(turn);
        let plan = plan(&self.savings, turn);
        let (mut reported, mut reason) = (Duration::ZERO, None);
        let outcome = self.searcher.think(turn.game, &task, &mut |progress| {
            if progress.elapsed >= reported + REPORT_INTERVAL {
                reported = progress.elapsed;
                report(progress, task.lines, turn);
            }
            reason = plan.verdict(progress, turn.search.clock.spending());
            reason.is_none()
        })?;
        // Unused time is saved for later moves; a forced move is no measure of the time that others need.
        if let Some(spending) = turn.search.clock.spending().filter(|_| reason != Some(Reason::Forced)) {
            let base = plan.base(&spending);
            self.savings.note(spending.spent, base);
        }
        Ok(outcome)
    }
}

impl Player for MctsPlayer {
    fn new_game(&mut self) {
        self.searcher.new_game();
        self.savings = Savings::default();
    }

    fn think(&mut self, turn: &Turn<'_>, rng: &mut SplitMix64) -> Result<BestMove, EvaluatorError> {
        let outcome = self.search(turn)?;
        report(&outcome.progress, turn.options().number("MultiPV"), turn);
        Ok(answer(&outcome, turn, rng))
    }
}

fn plan(savings: &Savings, turn: &Turn<'_>) -> Plan {
    let factor = if turn.options().check("SpendSaved") { savings.factor() } else { 1.0 };
    Plan { factor, playouts: playouts(turn) }
}

/// The limit of playouts of this search.
fn playouts(turn: &Turn<'_>) -> Option<u64> {
    let limits = [turn.search.limits.nodes, turn.options().limit("PlayoutsLimit")];
    // A search without a playout has no best move.
    limits.into_iter().flatten().min().map(|most| most.max(1))
}

fn report(progress: &Progress, lines: usize, turn: &Turn<'_>) {
    for (index, best) in progress.moves.iter().take(lines).enumerate().rev() {
        turn.out.info(&Info {
            depth: Some(progress.depth),
            seldepth: Some(progress.deepest),
            multipv: (lines > 1).then_some(index as u32 + 1),
            hashfull: Some(progress.fullness),
            score: Some(score(best.proven, best.value)),
            wdl: Some(wdl(best, turn)),
            ..turn.info(best.value, progress.playouts, best.line.clone())
        });
    }
}

/// The value counts draws at their value for the side to move, so their share is taken out for `wdl`.
fn wdl(best: &RootMove, turn: &Turn<'_>) -> [u32; 3] {
    let worth = options::terms(turn.options()).draw_value(turn.game.position().turn());
    let draw = (best.draw.clamp(0.0, 1.0) * 1000.0).round() as u32;
    let win = ((best.value - worth * best.draw).clamp(0.0, 1.0) * 1000.0).round() as u32;
    let win = win.min(1000 - draw);
    [win, draw, 1000 - draw - win]
}

fn answer(outcome: &Outcome, turn: &Turn<'_>, rng: &mut SplitMix64) -> BestMove {
    let moves = &outcome.progress.moves;
    // A search that was stopped before the network answered knows no move, and has to play one.
    let Some(best) = moves.first() else {
        return turn.legal().first().map_or(BestMove::Resign, |&mv| BestMove::play(mv));
    };
    if turn.is_hopeless(best.value) {
        return BestMove::Resign;
    }
    let weighed: Vec<(Move, f32)> =
        moves.iter().filter(|mv| mv.visits > 0).map(|mv| (mv.mv, mv.visits as f32)).collect();
    let warm = turn.temperature();
    let proven = matches!(best.proven, Some(Proven::Win(_)));
    let mv = if warm > 0.0 && !proven { choose(&weighed, warm, rng).unwrap_or(best.mv) } else { best.mv };
    let line = moves.iter().find(|one| one.mv == mv).and_then(|one| one.line.get(1).copied());
    let reply = if mv == best.mv { outcome.reply } else { line };
    BestMove::Play { mv, ponder: reply.filter(|_| turn.options().check("USI_Ponder")) }
}

//! The player without search: plays by the network's policy.

use super::{Player, Turn, choice::choose, priors};
use crate::evaluator::{Evaluator, EvaluatorError};
use rsshogi::types::Move;
use std::sync::Arc;
use usi_shell::{BestMove, Info, SplitMix64};

pub(super) struct PolicyPlayer {
    evaluator: Arc<dyn Evaluator>,
}

impl PolicyPlayer {
    pub(super) fn new(evaluator: Arc<dyn Evaluator>) -> Self {
        Self { evaluator }
    }
}

impl Player for PolicyPlayer {
    fn think(&mut self, turn: &Turn<'_>, rng: &mut SplitMix64) -> Result<BestMove, EvaluatorError> {
        let (ranked, answer) = priors(&*self.evaluator, turn)?;
        report(&ranked, answer.value, 1, turn);
        if turn.is_hopeless(answer.value) {
            return Ok(BestMove::Resign);
        }
        Ok(choose(&ranked, turn.temperature(), rng).map_or(BestMove::Resign, BestMove::play))
    }
}

/// Prints each move with its number, best first, and the value of the position.
pub(super) fn report(ranked: &[(Move, f32)], value: f32, asked: u64, turn: &Turn<'_>) {
    for (mv, number) in ranked {
        turn.out.say(format_args!("{mv} : {number:.5}"));
    }
    let line = ranked.first().map(|&(mv, _)| mv).into_iter().collect();
    turn.out.info(&Info { depth: Some(1), ..turn.info(value, asked, line) });
}

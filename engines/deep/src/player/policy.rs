//! The player without a search: what the network finds likeliest.

use super::{Player, Turn, choice::choose};
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
        let moves = turn.legal();
        let seen = u8::try_from(turn.game.path().seen()).unwrap_or(u8::MAX);
        let question = self.evaluator.encoding().question(turn.game.position(), &moves, seen);
        let answers = self.evaluator.evaluate(&[question])?;
        let Some(answer) = answers.first() else { return Ok(BestMove::Resign) };
        let mut ranked: Vec<(Move, f32)> = moves.into_iter().zip(answer.priors.iter().copied()).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        tell(&ranked, answer.value, 1, turn);
        if turn.is_hopeless(answer.value) {
            return Ok(BestMove::Resign);
        }
        Ok(choose(&ranked, turn.temperature(), rng).map_or(BestMove::Resign, BestMove::play))
    }
}

/// Each move with its number, the best first, and what the position is worth.
pub(super) fn tell(ranked: &[(Move, f32)], value: f32, asked: u64, turn: &Turn<'_>) {
    for (mv, number) in ranked {
        turn.out.say(format_args!("{mv} : {number:.5}"));
    }
    let line = ranked.first().map(|&(mv, _)| mv).into_iter().collect();
    turn.out.info(&Info { depth: Some(1), ..turn.info(value, asked, line) });
}

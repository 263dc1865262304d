//! The player that looks one move ahead: all positions after a legal move are evaluated in one batch.

use super::{Player, Turn, choice::choose, draw_value, legal, policy::tell, repeated};
use crate::{
    evaluator::{Evaluator, EvaluatorError, Question},
    search::Terms,
    usi::options,
};
use rsshogi::types::{Move, Move32};
use std::sync::Arc;
use usi_shell::{BestMove, Path, SplitMix64};

pub(super) struct ValuePlayer {
    evaluator: Arc<dyn Evaluator>,
}

/// What a move leads to.
enum After {
    /// The rules say what it is worth to the one who made it.
    Known(f32),
    /// The network is to say it.
    Asked(Box<Question>),
}

impl ValuePlayer {
    pub(super) fn new(evaluator: Arc<dyn Evaluator>) -> Self {
        Self { evaluator }
    }

    fn after(&self, turn: &Turn<'_>, mv: Move, path: &mut Path, terms: &Terms) -> After {
        let mut position = turn.game.position().clone();
        position.set_entering_king_rule(terms.declaration);
        let mover = position.turn();
        position.apply_move32(position.move32_from_move(mv));
        path.push(&position);
        let (repetition, seen) = (path.repetition(), path.seen());
        path.pop();
        let replies = legal(&position);
        if replies.is_empty() {
            return After::Known(1.0);
        }
        if let Some(repetition) = repetition {
            return After::Known(repeated(repetition, terms, mover));
        }
        if terms.max_moves > 0 && turn.game.ply() >= terms.max_moves {
            return After::Known(draw_value(terms, mover));
        }
        if position.declaration_win_move() != Move32::MOVE_NONE {
            return After::Known(0.0);
        }
        let seen = u8::try_from(seen).unwrap_or(u8::MAX);
        After::Asked(Box::new(self.evaluator.encoding().question(&position, &replies, seen)))
    }

    fn values(&self, after: Vec<After>) -> Result<Vec<f32>, EvaluatorError> {
        let mut questions = Vec::with_capacity(after.len());
        let known: Vec<Option<f32>> = after
            .into_iter()
            .map(|after| match after {
                After::Known(value) => Some(value),
                After::Asked(question) => {
                    questions.push(*question);
                    None
                }
            })
            .collect();
        // The network speaks for the one to move, who is the opponent.
        let mut asked = self.evaluator.evaluate(&questions)?.into_iter().map(|answer| 1.0 - answer.value);
        Ok(known.into_iter().filter_map(|value| value.or_else(|| asked.next())).collect())
    }
}

impl Player for ValuePlayer {
    fn think(&mut self, turn: &Turn<'_>, rng: &mut SplitMix64) -> Result<BestMove, EvaluatorError> {
        let terms = options::terms(turn.options());
        let (moves, mut path) = (turn.legal(), turn.game.path());
        let after = moves.iter().map(|&mv| self.after(turn, mv, &mut path, &terms)).collect();
        let values = self.values(after)?;
        let mut ranked: Vec<(Move, f32)> = moves.into_iter().zip(values).collect();
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        let Some(&(_, best)) = ranked.first() else { return Ok(BestMove::Resign) };
        tell(&ranked, best, ranked.len() as u64, turn);
        if turn.is_hopeless(best) {
            return Ok(BestMove::Resign);
        }
        let odds = |&(mv, value): &(Move, f32)| (mv, value.max(1e-5) / (1.0 - value).max(1e-5));
        let weighed: Vec<(Move, f32)> = ranked.iter().map(odds).collect();
        Ok(choose(&weighed, turn.temperature(), rng).map_or(BestMove::Resign, BestMove::play))
    }
}

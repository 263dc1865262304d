//! The player with a one-ply search: evaluates the positions after all legal moves in batches.

use super::{Player, Turn, choice::choose, legal, policy::report, priors, repeated};
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

/// The position after a move: decided by the rules, with the value for the player who moved, or a question for the network.
type After = Result<f32, Question>;

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
        let (returned, seen) = (path.returned(), path.seen());
        path.pop();
        let replies = legal(&position);
        if replies.is_empty() {
            return Ok(1.0);
        }
        if let Some(returned) = returned {
            return Ok(repeated(returned.means, terms, mover));
        }
        if terms.max_moves > 0 && turn.game.ply() >= terms.max_moves {
            return Ok(terms.draw_value(mover));
        }
        if position.declaration_win_move() != Move32::MOVE_NONE {
            return Ok(0.0);
        }
        Err(self.evaluator.encoding().question(&position, &replies, seen))
    }

    /// The values of the moves, as many as time allows; if it allows none, the first with that of an even game.
    fn values(&self, after: Vec<(Move, After)>, turn: &Turn<'_>) -> Result<Vec<(Move, f32)>, EvaluatorError> {
        let (mut known, mut asked) = (Vec::new(), Vec::new());
        for (mv, after) in after {
            match after {
                Ok(value) => known.push((mv, value)),
                Err(question) => asked.push((mv, question)),
            }
        }
        let unknown = asked.first().map(|&(mv, _)| (mv, 0.5));
        for batch in asked.chunks(self.evaluator.batch().max(1)) {
            if !known.is_empty() && turn.search.clock.is_stopped() {
                break;
            }
            let questions: Vec<Question> = batch.iter().map(|(_, question)| question.clone()).collect();
            // The network's value is for the side to move, which is the opponent.
            let answers = match self.evaluator.evaluate(&questions) {
                Err(EvaluatorError::Stopped) => break,
                answers => answers?,
            };
            let values = answers.into_iter().map(|answer| 1.0 - answer.value);
            known.extend(batch.iter().map(|(mv, _)| *mv).zip(values));
        }
        if known.is_empty() {
            known.extend(unknown);
        }
        Ok(known)
    }
}

impl Player for ValuePlayer {
    fn think(&mut self, turn: &Turn<'_>, rng: &mut SplitMix64) -> Result<BestMove, EvaluatorError> {
        let terms = options::terms(turn.options());
        let mut path = turn.game.path();
        // In order of priors: on a short clock only the first moves may be evaluated.
        let (likely, _) = priors(&*self.evaluator, turn)?;
        let after = likely.into_iter().map(|(mv, _)| (mv, self.after(turn, mv, &mut path, &terms))).collect();
        let mut ranked = self.values(after, turn)?;
        ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
        let Some(&(_, best)) = ranked.first() else { return Ok(BestMove::Resign) };
        report(&ranked, best, ranked.len() as u64, turn);
        if turn.is_hopeless(best) {
            return Ok(BestMove::Resign);
        }
        let odds = |&(mv, value): &(Move, f32)| (mv, value.max(1e-5) / (1.0 - value).max(1e-5));
        let weighed: Vec<(Move, f32)> = ranked.iter().map(odds).collect();
        Ok(choose(&weighed, turn.temperature(), rng).map_or(BestMove::Resign, BestMove::play))
    }
}

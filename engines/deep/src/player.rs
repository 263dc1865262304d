//! Players: methods of choosing a move. All use the same evaluator.
//!
//! - `mcts`: the PUCT search of [`crate::search`], with time management, mate solver and pondering; the strongest.
//! - `softmax`: Monte Carlo softmax search, as in Nene-shogi: random playouts over a transposition table.
//! - `policy`: no search; the move with the highest prior.
//! - `value`: a one-ply search; the move with the best value after it.
//!
//! All of them apply the rules before the network: mates, declarations and repetitions.

mod choice;
mod mcts;
mod policy;
mod softmax;
mod value;

use crate::{
    evaluator::{Answer, Evaluator, EvaluatorError, uniform},
    search::{Proven, Terms},
    usi::options,
};
use rsshogi::{
    board::{MoveList, Position},
    movegen::generate_legal_all,
    types::{Color, Move},
};
use std::{sync::Arc, time::Duration};
use usi_shell::{BestMove, Game, Info, Options, Output, Repetition, Score, Search, SplitMix64};

/// Minimum interval between `info` lines of a running search.
const REPORT_INTERVAL: Duration = Duration::from_millis(500);

/// A position to choose a move in, with the search's limits and options.
pub(crate) struct Turn<'a> {
    pub(crate) game: &'a Game,
    pub(crate) search: &'a Search,
    pub(crate) out: &'a Output,
}

/// A method of choosing a move. The position must have a legal move.
pub(crate) trait Player: Send {
    fn new_game(&mut self) {}

    fn think(&mut self, turn: &Turn<'_>, rng: &mut SplitMix64) -> Result<BestMove, EvaluatorError>;
}

/// The player called `name`, with `memory` bytes for its tables.
pub(crate) fn create(name: &str, evaluator: Arc<dyn Evaluator>, memory: usize) -> Box<dyn Player> {
    match name {
        "policy" => Box::new(policy::PolicyPlayer::new(evaluator)),
        "value" => Box::new(value::ValuePlayer::new(evaluator)),
        "softmax" => Box::new(softmax::SoftmaxPlayer::new(evaluator, memory)),
        _ => Box::new(mcts::MctsPlayer::new(evaluator, memory)),
    }
}

impl Turn<'_> {
    fn options(&self) -> &Options {
        &self.search.options
    }

    fn legal(&self) -> Vec<Move> {
        legal(self.game.position())
    }

    /// The temperature of the choice at this ply; 0 for the best move.
    fn temperature(&self) -> f32 {
        let warm = u64::from(self.game.ply()) <= self.options().spin("MovesWithTemperature").unsigned_abs();
        if warm { options::permille(self.options(), "MoveTemperature") } else { 0.0 }
    }

    /// An `info` line without depth.
    fn info(&self, value: f32, nodes: u64, line: Vec<Move>) -> Info {
        Info {
            score: Some(score(None, value)),
            nodes: Some(nodes),
            time: Some(self.search.clock.elapsed()),
            pv: line,
            ..Info::default()
        }
    }

    /// True if a win probability is below the resignation threshold.
    fn is_hopeless(&self, value: f32) -> bool {
        value < options::permille(self.options(), "ResignValue")
    }
}

/// The network's evaluation of the position, and its moves by descending prior. Equal priors if the search is stopped
/// before the network answers: a move has to be played.
fn priors(evaluator: &dyn Evaluator, turn: &Turn<'_>) -> Result<(Vec<(Move, f32)>, Answer), EvaluatorError> {
    let moves = turn.legal();
    let question = evaluator.encoding().question(turn.game.position(), &moves, turn.game.path().seen());
    let unknown = || Answer { priors: uniform(moves.len()), value: 0.5 };
    let answer = match evaluator.evaluate(&[question]) {
        Err(EvaluatorError::Stopped) => unknown(),
        answers => answers?.pop().unwrap_or_else(unknown),
    };
    let mut ranked: Vec<(Move, f32)> = moves.into_iter().zip(answer.priors.iter().copied()).collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    Ok((ranked, answer))
}

fn legal(position: &Position) -> Vec<Move> {
    let mut moves = MoveList::new();
    generate_legal_all(position, &mut moves);
    moves.as_slice().to_vec()
}

/// A proven win or loss as a mate, else a win probability as centipawns: 600 ln(p / (1 - p)), the project's win probability
/// law.
fn score(proven: Option<Proven>, value: f32) -> Score {
    match proven {
        Some(Proven::Win(plies)) => Score::Mate(plies as i32),
        Some(Proven::Loss(plies)) => Score::Mate(-(plies as i32)),
        Some(Proven::Draw) | None => {
            let value = f64::from(value).clamp(1e-5, 1.0 - 1e-5);
            Score::Cp((600.0 * (value / (1.0 - value)).ln()).round() as i32)
        }
    }
}

/// The value of a repetition for the player who caused it; `repetition` is from the view of the side to move
/// after it.
fn repeated(repetition: Repetition, terms: &Terms, mover: Color) -> f32 {
    match repetition {
        Repetition::Win => 0.0,
        Repetition::Loss => 1.0,
        Repetition::Draw => terms.draw_value(mover),
    }
}

#[cfg(test)]
mod stopping_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_probability_of_one_half_is_0_centipawns_and_certainty_is_finite() {
        assert_eq!(score(None, 0.5), Score::Cp(0));
        assert_eq!(score(None, 1.0 / (1.0 + (-1.0_f32).exp())), Score::Cp(600));
        assert_eq!(score(None, 0.0), Score::Cp(-6908));
    }
}

//! Who chooses the moves. All players ask the same evaluator.
//!
//! - `mcts`: the search of [`search`], with time, mate solver and pondering; the one to play with.
//! - `softmax`: Monte Carlo softmax search, as Nene-shogi had it: a table of positions that random walks fill.
//! - `policy`: no search; the network's likeliest move.
//! - `value`: no search; the move after which the network likes the position best.
//!
//! All of them keep the rules: mated or winning by declaration are not guessed, repetition counts as the rules have it.

mod choice;
mod mcts;
mod policy;
mod softmax;
mod value;

use crate::{
    evaluator::{Answer, Evaluator, EvaluatorError},
    search::{self, Mate, Terms},
    usi::options,
};
use rsshogi::{
    board::{MoveList, Position},
    movegen::generate_legal_all,
    types::{Color, Move},
};
use std::{sync::Arc, time::Duration};
use usi_shell::{
    BestMove, Checkmate, Game, Info, NotReady, Options, Output, Repetition, Score, Search, SplitMix64,
};

/// How often a running search tells what it has found.
const TELL: Duration = Duration::from_millis(500);

/// One's turn to move.
pub(crate) struct Turn<'a> {
    pub(crate) game: &'a Game,
    pub(crate) search: &'a Search,
    pub(crate) out: &'a Output,
}

/// Someone who chooses moves. The position has a legal move when it is asked.
pub(crate) trait Player: Send {
    fn ready(&mut self, _options: &Options) -> Result<(), NotReady> {
        Ok(())
    }

    fn new_game(&mut self) {}

    fn think(&mut self, turn: &Turn<'_>, rng: &mut SplitMix64) -> Result<BestMove, EvaluatorError>;
}

/// The player of that name. `memory`: bytes for what it remembers.
pub(crate) fn seat(name: &str, evaluator: Arc<dyn Evaluator>, memory: usize) -> Box<dyn Player> {
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

    fn legal_count(&self) -> usize {
        let mut moves = MoveList::new();
        generate_legal_all(self.game.position(), &mut moves);
        moves.len()
    }

    /// The temperature with which a move is chosen now; 0 for the best one.
    fn temperature(&self) -> f32 {
        let warm = u64::from(self.game.ply()) <= self.options().spin("MovesWithTemperature").unsigned_abs();
        if warm { options::permille(self.options(), "MoveTemperature") } else { 0.0 }
    }

    /// `info` about a line, without its depth.
    fn info(&self, value: f32, nodes: u64, line: Vec<Move>) -> Info {
        Info {
            score: Some(score(value)),
            nodes: Some(nodes),
            time: Some(self.search.clock.elapsed()),
            pv: line,
            ..Info::default()
        }
    }

    /// Whether a chance to win is worth playing on for.
    fn is_hopeless(&self, value: f32) -> bool {
        value < options::permille(self.options(), "ResignValue")
    }
}

/// What the network says of the position itself, and its moves, the likeliest first.
fn priors(evaluator: &dyn Evaluator, turn: &Turn<'_>) -> Result<(Vec<(Move, f32)>, Answer), EvaluatorError> {
    let moves = turn.legal();
    let question = evaluator.encoding().question(turn.game.position(), &moves, turn.game.path().seen());
    let unknown = Answer { priors: Vec::new(), value: 0.5 };
    let answer = evaluator.evaluate(&[question])?.pop().unwrap_or(unknown);
    let mut ranked: Vec<(Move, f32)> = moves.into_iter().zip(answer.priors.iter().copied()).collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    Ok((ranked, answer))
}

fn legal(position: &Position) -> Vec<Move> {
    let mut moves = MoveList::new();
    generate_legal_all(position, &mut moves);
    moves.as_slice().to_vec()
}

/// A chance to win in centipawns, by the law with 600 that all of this project uses.
fn score(value: f32) -> Score {
    let value = f64::from(value).clamp(1e-5, 1.0 - 1e-5);
    Score::Cp((600.0 * (value / (1.0 - value)).ln()).round() as i32)
}

/// What a draw is worth to a side.
fn draw_value(terms: &Terms, side: Color) -> f32 {
    if side == Color::BLACK { terms.draw_black } else { terms.draw_white }
}

/// What a repetition is worth to the player who brought it about; it is told for the one to move then.
fn repeated(repetition: Repetition, terms: &Terms, mover: Color) -> f32 {
    match repetition {
        Repetition::Win => 0.0,
        Repetition::Loss => 1.0,
        Repetition::Draw => draw_value(terms, mover),
    }
}

/// Answers `go mate`.
pub(crate) fn solve_mate(game: &Game, search: &Search) -> Checkmate {
    let nodes = search.limits.nodes;
    match search::solve(game, &search.clock, nodes) {
        Mate::Moves(line) => Checkmate::Moves(line),
        Mate::NoMate => Checkmate::NoMate,
        Mate::Unknown => Checkmate::Timeout,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_chance_is_no_centipawn_and_certainty_is_finite() {
        assert_eq!(score(0.5), Score::Cp(0));
        assert_eq!(score(1.0 / (1.0 + (-1.0_f32).exp())), Score::Cp(600));
        assert_eq!(score(0.0), Score::Cp(-6908));
    }
}

//! The value of a position once its captures are played out, for other searches: `renmei-deep` mixes it with what its
//! network says of a leaf.

use rsshogi::board::Position;

use crate::{
    evaluation::Weights,
    learn::search::{MATE_BOUND, Searcher},
};

/// Values positions by quiescence search: captures, pawn promotions and evasions, without a table, so that a value depends
/// on nothing but the position.
pub struct QuietEvaluator<'a> {
    weights: &'a Weights,
    searcher: Searcher<'a>,
}

impl<'a> QuietEvaluator<'a> {
    /// An evaluator that knows `weights`.
    pub fn new(weights: &'a Weights) -> Self {
        Self { weights, searcher: Searcher::new(weights) }
    }

    /// The value for the side to move, in centipawns within +-29,000. The position is unchanged afterwards. It takes some
    /// dozen nodes, tens of microseconds.
    pub fn value(&mut self, position: &mut Position) -> i32 {
        let sums = self.weights.accumulate(position);
        self.searcher.quiet_value(position, &sums).clamp(-MATE_BOUND, MATE_BOUND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use usi_shell::Game;

    #[test]
    fn a_hanging_piece_counts_as_taken_and_the_position_is_unchanged() {
        let weights = Weights::material();
        let mut evaluator = QuietEvaluator::new(&weights);
        // Black to move takes an undefended rook.
        let game = Game::from_sfen("4k4/9/9/9/4r4/9/4L4/9/4K4 b - 1").unwrap();
        let mut position = game.position().clone_compact();
        position.init_stack();
        let before = position.key();
        let standing = weights.value(&weights.accumulate(&position), &position);
        assert!(evaluator.value(&mut position) > standing + 500);
        assert_eq!(position.key(), before);
        assert_eq!(evaluator.value(&mut position), QuietEvaluator::new(&weights).value(&mut position));
    }
}

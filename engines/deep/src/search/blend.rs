//! A leaf's value from two sources: the network, and the quiescence search of `renmei-pairwise`, which sees what hangs.

use pairwise::{evaluation::Weights, quiet::QuietEvaluator};
use rsshogi::board::Position;
use std::sync::OnceLock;

/// The weights that come with `renmei-pairwise`, expanded when they are first needed.
static WEIGHTS: OnceLock<Weights> = OnceLock::new();

/// Quiescence values beyond this are cut off, in centipawns: a mate by captures alone decides no leaf.
const MAX_SCORE: i32 = 3000;

/// Win probabilities of the network are kept so far from 0 and 1.
const EDGE: f32 = 1e-4;

/// How much of a leaf's value comes from the quiescence search: of the logit, 1 - `share` is the network's and `share` is
/// centipawns / `scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// Share of the quiescence search, 0 to 1.
    pub share: f32,
    /// Centipawns of it that are worth a factor of e in the odds.
    pub scale: f32,
}

impl Blend {
    /// Expands the weights, which takes some milliseconds, so that the first search need not.
    pub fn prepare() {
        weights();
    }

    /// The value of a position for the side to move: the network's `value` mixed with the quiescence value, in centipawns.
    #[must_use]
    pub fn mixed(&self, value: f32, quiet: i32) -> f32 {
        let value = value.clamp(EDGE, 1.0 - EDGE);
        let network = (value / (1.0 - value)).ln();
        let quiet = quiet.clamp(-MAX_SCORE, MAX_SCORE) as f32 / self.scale;
        1.0 / (1.0 + (self.share * (network - quiet) - network).exp())
    }
}

/// The quiescence search of one thread.
pub struct Quiet(QuietEvaluator<'static>);

impl Default for Quiet {
    fn default() -> Self {
        Self(QuietEvaluator::new(weights()))
    }
}

impl Quiet {
    /// The quiescence value for the side to move, in centipawns. The position is unchanged afterwards.
    pub fn value(&mut self, position: &mut Position) -> i32 {
        self.0.value(position).clamp(-MAX_SCORE, MAX_SCORE)
    }
}

fn weights() -> &'static Weights {
    WEIGHTS.get_or_init(Weights::embedded)
}

//! Loss functions of move comparisons and of position values.

use super::settings::Loss;

/// A score of this many centipawns corresponds to a win probability of 73 %: sigmoid(1).
const SCORE_SCALE: f32 = 600.0;

/// The loss of a move comparison and its derivative by each value, with values in units of the temperature. The
/// first value is the teacher's move.
pub fn of_choice(values: &[f32], loss: Loss, temperature: f32) -> (f32, Vec<f32>) {
    match loss {
        Loss::Sigmoid => of_near_misses(values, temperature),
        Loss::Softmax => of_softmax(values, temperature),
    }
}

fn of_near_misses(values: &[f32], temperature: f32) -> (f32, Vec<f32>) {
    let mut slopes = vec![0.0; values.len()];
    let mut loss = 0.0;
    for at in 1..values.len() {
        let chance = sigmoid((values[at] - values[0]) / temperature);
        let slope = chance * (1.0 - chance);
        loss += chance;
        slopes[at] = slope;
        slopes[0] -= slope;
    }
    (loss, slopes)
}

fn of_softmax(values: &[f32], temperature: f32) -> (f32, Vec<f32>) {
    let best = values.iter().copied().fold(f32::MIN, f32::max);
    let mut slopes: Vec<f32> = values.iter().map(|value| ((value - best) / temperature).exp()).collect();
    let sum: f32 = slopes.iter().sum();
    slopes.iter_mut().for_each(|slope| *slope /= sum);
    let loss = -slopes[0].max(f32::MIN_POSITIVE).ln();
    slopes[0] -= 1.0;
    (loss, slopes)
}

/// The win probability of a value.
pub fn chances(centipawns: f32) -> f32 {
    sigmoid(centipawns / SCORE_SCALE)
}

/// The loss of a value (cross-entropy of win probabilities) and its derivative.
pub fn of_score(value: f32, target: f32) -> (f32, f32) {
    let expected = chances(value);
    let inside = expected.clamp(1e-6, 1.0 - 1e-6);
    (-target * inside.ln() - (1.0 - target) * (1.0 - inside).ln(), expected - target)
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

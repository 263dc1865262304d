//! Random choice by weights.

use rsshogi::types::Move;
use usi_shell::SplitMix64;

/// The move of the highest weight at temperature 0, the first of equals; else a random move, with probability
/// proportional to weight^(1 / temperature). `None` without moves.
pub(super) fn choose(moves: &[(Move, f32)], temperature: f32, rng: &mut SplitMix64) -> Option<Move> {
    if temperature <= 0.0 {
        return moves.iter().rev().max_by(|one, other| one.1.total_cmp(&other.1)).map(|&(mv, _)| mv);
    }
    let logits: Vec<f32> = moves.iter().map(|&(_, weight)| weight.max(f32::MIN_POSITIVE).ln()).collect();
    draw(&logits, temperature, rng).map(|index| moves[index].0)
}

/// A random index, with the softmax of `numbers` as probabilities.
pub(super) fn draw(numbers: &[f32], temperature: f32, rng: &mut SplitMix64) -> Option<usize> {
    let weights = softmax(numbers, temperature);
    let mut left = (rng.next_u64() >> 40) as f32 / (1_u64 << 24) as f32;
    let found = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave the sum below the random number.
    found.or_else(|| numbers.len().checked_sub(1))
}

/// The softmax of numbers divided by a temperature.
pub(super) fn softmax(numbers: &[f32], temperature: f32) -> Vec<f32> {
    let highest = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut weights: Vec<f32> =
        numbers.iter().map(|number| ((number - highest) / temperature).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves() -> Vec<(Move, f32)> {
        ["1g1f", "7g7f", "2g2f"].iter().zip([0.1, 0.6, 0.3]).map(|(mv, w)| (mv.parse().unwrap(), w)).collect()
    }

    fn shares(temperature: f32) -> Vec<f32> {
        let mut rng = SplitMix64::new(7);
        let drawn: Vec<Move> = (0..4000).map(|_| choose(&moves(), temperature, &mut rng).unwrap()).collect();
        let share = |mv: Move| drawn.iter().filter(|&&one| one == mv).count() as f32 / 4000.0;
        moves().into_iter().map(|(mv, _)| share(mv)).collect()
    }

    #[test]
    fn without_temperature_the_heaviest_move_is_chosen() {
        assert_eq!(shares(0.0), [0.0, 1.0, 0.0]);
        assert_eq!(choose(&[], 0.0, &mut SplitMix64::new(1)), None);
        assert_eq!(choose(&[], 1.0, &mut SplitMix64::new(1)), None);
    }

    #[test]
    fn at_temperature_1_frequencies_follow_the_weights() {
        for (share, (_, weight)) in shares(1.0).iter().zip(moves()) {
            assert!((share - weight).abs() < 0.03, "{share} {weight}");
        }
    }

    #[test]
    fn cold_is_nearly_greedy_and_hot_nearly_even() {
        assert!(shares(0.1)[1] > 0.99);
        assert!(shares(100.0).iter().all(|share| (share - 0.333).abs() < 0.04));
    }
}

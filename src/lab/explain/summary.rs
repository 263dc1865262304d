//! The losses of one player, by cause.

use super::{Cause, Explanation, Phase};
use serde::Serialize;

/// 97.5 % of the normal distribution: for 95 % intervals.
const Z: f64 = 1.959_963_985;
/// Positions of a summary.
const WORST: usize = 10;

/// How many losses have a cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The cause.
    pub cause: Cause,
    /// Losses with it, by phase.
    pub phases: [usize; Phase::ALL.len()],
    /// All losses with it.
    pub losses: usize,
    /// Their share of all losses.
    pub share: f64,
    /// The 95 % interval of the share, by E. B. Wilson (1927).
    pub interval: [f64; 2],
}

/// The losses of a player.
#[derive(Clone, Debug, Serialize)]
pub struct Summary<'a> {
    /// The player.
    pub player: &'a str,
    /// Losses that were explained.
    pub losses: usize,
    /// By cause, those that occur.
    pub causes: Vec<Share>,
    /// The moves that cost most, the worst first, at most ten.
    #[serde(skip)]
    pub worst: Vec<&'a Explanation>,
}

impl<'a> Summary<'a> {
    /// Summarizes the losses of each player, in the order of their names.
    pub fn of(explanations: &'a [Explanation]) -> Vec<Self> {
        let mut players: Vec<&str> = explanations.iter().map(Explanation::name).collect();
        players.sort_unstable();
        players.dedup();
        let own = |player: &'a str| explanations.iter().filter(|one| one.name() == player).collect();
        players.into_iter().map(|player| Self::one(player, own(player))).collect()
    }

    fn one(player: &'a str, own: Vec<&'a Explanation>) -> Self {
        let counted = |&cause: &Cause| {
            let mut phases = [0; Phase::ALL.len()];
            own.iter().filter(|one| one.cause == cause).for_each(|one| phases[one.phase as usize] += 1);
            let losses = phases.iter().sum();
            let (share, interval) = wilson(losses, own.len());
            Share { cause, phases, losses, share, interval }
        };
        let causes = Cause::ALL.iter().map(counted).filter(|share| share.losses > 0).collect();
        let mut worst: Vec<_> = own.iter().copied().filter(|one| one.mv.is_some()).collect();
        worst.sort_by(|a, b| b.cost().total_cmp(&a.cost()));
        worst.truncate(WORST);
        Self { player, losses: own.len(), causes, worst }
    }
}

/// A share and its 95 % interval.
fn wilson(count: usize, of: usize) -> (f64, [f64; 2]) {
    if of == 0 {
        return (0.0, [0.0, 1.0]);
    }
    let (n, share) = (of as f64, count as f64 / of as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = (share + Z * Z / (2.0 * n)) / scale;
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    (share, [(middle - half).max(0.0), (middle + half).min(1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_share_is_that_of_wilson() {
        let (share, [low, high]) = wilson(3, 10);
        assert!((share - 0.3).abs() < 1e-9);
        assert!((low - 0.1078).abs() < 1e-3 && (high - 0.6032).abs() < 1e-3, "{low} {high}");
        assert_eq!(wilson(0, 5).1[0], 0.0);
        assert_eq!(wilson(5, 5).1[1], 1.0);
    }
}

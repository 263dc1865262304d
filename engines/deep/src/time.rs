//! Time management.
//!
//! The shell plans a base time for the move from remaining time, byoyomi and increment. A search ends earlier
//! when further search is useless:
//!
//! - there is only one legal move, or the best one is proven to win;
//! - the second move cannot catch up with the best one in the remaining playouts.
//!
//! It is extended to up to twice the base time when the best move is not clearly the best. Saved time is spent
//! on later moves: the base time is lengthened by the share that moves have not used so far.

use crate::search::{Progress, Proven, RootMove};
use std::time::Duration;
use usi_shell::Spending;

/// No early end before this share of the time is spent: the first playouts are not reliable.
const TOO_EARLY: f64 = 0.1;

/// Maximum factor on the base time due to saved time.
const LONGEST: f64 = 2.0;

/// Weight of the last move in the exponential mean of the time used.
const FORGETTING: f64 = 0.2;

/// The share of their base times that the moves of a game have used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Savings {
    used: f64,
}

impl Default for Savings {
    fn default() -> Self {
        Self { used: 1.0 }
    }
}

impl Savings {
    /// The factor on the base time that uses up the saved time on average.
    pub fn factor(&self) -> f64 {
        (1.0 / self.used.max(f64::MIN_POSITIVE)).clamp(1.0, LONGEST)
    }

    /// Records a move: time spent, and its base time including the factor.
    pub fn note(&mut self, spent: Duration, base: Duration) {
        if base > Duration::ZERO {
            let used = (spent.as_secs_f64() / base.as_secs_f64()).clamp(0.0, LONGEST);
            self.used += FORGETTING * (used - self.used);
        }
    }
}

/// Why a search ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is only one legal move.
    Forced,
    /// The best move is proven to win, or all others to lose.
    Proven,
    /// No other move can reach as many visits in the remaining playouts.
    Ahead,
    /// The planned time is spent.
    Spent,
}

/// The stopping rules of one search.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The factor on the base time.
    pub factor: f64,
    /// The limit of playouts of this search.
    pub playouts: Option<u64>,
}

impl Plan {
    /// The reason to end the search now, if any. `spending` is the time used, if time is limited.
    pub fn verdict(&self, progress: &Progress, spending: Option<Spending>) -> Option<Reason> {
        let best = progress.moves.first()?;
        let limited = spending.is_some() || self.playouts.is_some();
        if !limited {
            return None;
        }
        if progress.moves.len() == 1 {
            return Some(Reason::Forced);
        }
        let lost = |other: &RootMove| matches!(other.proven, Some(Proven::Loss(_)));
        if matches!(best.proven, Some(Proven::Win(_))) || progress.moves[1..].iter().all(lost) {
            return Some(Reason::Proven);
        }
        let (left, share) = self.future(progress, spending)?;
        if share < TOO_EARLY {
            return None;
        }
        let second = progress.moves[1..].iter().map(|other| other.visits).max().unwrap_or(0);
        if best.visits as f64 - second as f64 > left {
            return Some(if left > 0.0 { Reason::Ahead } else { Reason::Spent });
        }
        let spending = spending.filter(can_be_saved)?;
        (spending.spent >= self.target(&spending, progress)).then_some(Reason::Spent)
    }

    /// The remaining playouts, and the share of time or playouts already spent.
    fn future(&self, progress: &Progress, spending: Option<Spending>) -> Option<(f64, f64)> {
        let by_time = spending.map(|spending| {
            let (spent, target) =
                (spending.spent.as_secs_f64(), self.target(&spending, progress).as_secs_f64());
            let rate = progress.playouts as f64 / progress.elapsed.as_secs_f64().max(1e-3);
            (rate * (target - spent).max(0.0), spent / target.max(1e-6))
        });
        let by_number = self.playouts.map(|most| {
            (most.saturating_sub(progress.playouts) as f64, progress.playouts as f64 / most.max(1) as f64)
        });
        by_time.into_iter().chain(by_number).min_by(|one, other| one.0.total_cmp(&other.0))
    }

    /// The planned time for this move.
    fn target(&self, spending: &Spending, progress: &Progress) -> Duration {
        let budget = spending.budget;
        if !can_be_saved(spending) {
            return budget.hard;
        }
        let base = self.base(spending);
        // A search with a doubtful best move is extended.
        let time = if is_doubtful(progress) { base * 2 } else { base };
        time.min(budget.hard)
    }

    /// The base time with its factor.
    pub fn base(&self, spending: &Spending) -> Duration {
        spending.budget.soft.mul_f64(self.factor).min(spending.budget.hard)
    }
}

/// With byoyomi or an exact time, unused time is lost.
fn can_be_saved(spending: &Spending) -> bool {
    spending.budget.soft < spending.budget.hard
}

/// True if another move has nearly as many visits, or a better value.
fn is_doubtful(progress: &Progress) -> bool {
    let [best, others @ ..] = &progress.moves[..] else { return false };
    let near = |other: &RootMove| other.visits * 3 > best.visits * 2;
    let better = |other: &RootMove| other.visits * 4 > best.visits && other.value > best.value;
    others.iter().any(|other| near(other) || better(other))
}

#[cfg(test)]
mod tests;

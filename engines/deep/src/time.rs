//! How long to think.
//!
//! The shell plans a base time for the move from the remaining time, byoyomi and increment. A search ends before that
//! when nothing more can come of it:
//!
//! - there is only one legal move, or the best one is proven to win;
//! - the second move cannot catch up with the best one in the playouts that are left;
//! - by the [stopping model](crate::time_model) the best move changes with a probability of 5% or less.
//!
//! It goes on for up to twice the base time when the best move is not clearly the best. What is saved is spent on later
//! moves: the base time is lengthened by the share of it that moves have not needed so far. Where time cannot be saved,
//! in byoyomi, only what is certain ends a search.

use crate::{
    search::{Progress, Proven, RootMove},
    time_model::{Features, Model},
};
use std::time::Duration;
use usi_shell::Spending;

/// No judgement before this share of the time is spent: the first playouts say little.
const TOO_EARLY: f64 = 0.1;

/// The most that the base time is lengthened by what earlier moves have saved.
const LONGEST: f64 = 2.0;

/// How much the last move counts in the mean of what moves have used.
const FORGETTING: f64 = 0.2;

/// What the moves of a game have used of their base times.
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
    /// By how much the base time can be lengthened so that all of it is used, on average.
    #[must_use]
    pub fn factor(&self) -> f64 {
        (1.0 / self.used.max(f64::MIN_POSITIVE)).clamp(1.0, LONGEST)
    }

    /// Takes note of a move: what was spent of its base time, lengthening included.
    pub fn note(&mut self, spent: Duration, base: Duration) {
        if base > Duration::ZERO {
            let used = (spent.as_secs_f64() / base.as_secs_f64()).clamp(0.0, LONGEST);
            self.used += FORGETTING * (used - self.used);
        }
    }
}

/// Why a search ends before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// There is only one legal move.
    Forced,
    /// The best move is proven to win, or every move but the best to lose.
    Proven,
    /// No other move can get as many visits in what is left.
    Ahead,
    /// The best move changes with this probability only.
    Settled(f64),
    /// The planned time is used up.
    Spent,
}

/// When one search ends.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The stopping model, if it is to be asked.
    pub model: Option<&'a Model>,
    /// A change of the best move that is no likelier than this is not waited for.
    pub change: f64,
    /// By how much the base time is lengthened.
    pub factor: f64,
    /// The most playouts of this search.
    pub playouts: Option<u64>,
}

impl Plan<'_> {
    /// Whether to end the search now. `spending`: its time, if it is limited.
    #[must_use]
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
        if spending.spent >= self.target(&spending, progress) {
            return Some(Reason::Spent);
        }
        let change = self.model?.change(&Features::of(progress, left)?);
        (change <= self.change).then_some(Reason::Settled(change))
    }

    /// The playouts that are left, and the share of the time or the playouts that is gone.
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

    /// How long to think in all.
    fn target(&self, spending: &Spending, progress: &Progress) -> Duration {
        let budget = spending.budget;
        if !can_be_saved(spending) {
            return budget.hard;
        }
        let base = self.base(spending);
        // A best move that is not clearly the best deserves a second helping.
        let time = if is_doubtful(progress) { base * 2 } else { base };
        time.min(budget.hard)
    }

    /// The planned time, lengthened.
    #[must_use]
    pub fn base(&self, spending: &Spending) -> Duration {
        spending.budget.soft.mul_f64(self.factor).min(spending.budget.hard)
    }
}

/// In byoyomi and with an exact time, what is not used is lost.
fn can_be_saved(spending: &Spending) -> bool {
    spending.budget.soft < spending.budget.hard
}

/// Whether another move has nearly as many visits, or a better value.
fn is_doubtful(progress: &Progress) -> bool {
    let [best, others @ ..] = &progress.moves[..] else { return false };
    let near = |other: &RootMove| other.visits * 3 > best.visits * 2;
    let better = |other: &RootMove| other.visits * 4 > best.visits && other.value > best.value;
    others.iter().any(|other| near(other) || better(other))
}

#[cfg(test)]
mod tests;

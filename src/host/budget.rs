//! Budgets for what clients ask: a line costs 1, a long answer more. Moves in turn and agreements to a game that was
//! offered cost nothing.
//!
//! A connection has [`Limits::lines_per_second`](plan::serve::Limits), all connections of an address together
//! [`ADDRESS`] times as much, and all connections of the host together [`TOTAL`] times. What the lobby has no work with
//! (blank lines, moves out of turn) counts for the connection alone.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// The budget of an address, in budgets of a connection.
pub const ADDRESS: u32 = 4;
/// The budget of all connections, in budgets of a connection.
pub const TOTAL: u32 = 40;
/// Bytes of an answer that cost as much as a line.
const BYTES: usize = 8192;
/// Players to whom a chat goes that cost as much as a line.
const LISTENERS: usize = 16;

/// The cost of an answer of that many bytes, beside its line.
#[must_use]
pub fn of_answer(bytes: usize) -> u32 {
    u32::try_from(bytes / BYTES).unwrap_or(u32::MAX)
}

/// The cost of a chat to that many players, beside its line.
#[must_use]
pub fn of_chat(listeners: usize) -> u32 {
    u32::try_from(listeners / LISTENERS).unwrap_or(u32::MAX)
}

/// A budget that refills steadily up to what a second brings (a token bucket).
#[derive(Debug)]
pub struct Bucket {
    per_second: f64,
    left: f64,
    at: Instant,
}

impl Bucket {
    /// A full budget.
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second);
        Self { per_second, left: per_second, at: Instant::now() }
    }

    /// Takes from it; it may be overdrawn by what one second brings.
    pub fn spend(&mut self, cost: u32, now: Instant) {
        self.refill(now);
        self.left = (self.left - f64::from(cost)).max(-self.per_second);
    }

    /// How long until something is left; zero where something is.
    pub fn wait(&mut self, now: Instant) -> Duration {
        self.refill(now);
        match self.left >= 1.0 {
            true => Duration::ZERO,
            false => Duration::from_secs_f64((1.0 - self.left) / self.per_second),
        }
    }

    fn refill(&mut self, now: Instant) {
        let since = now.saturating_duration_since(self.at);
        self.left = (self.left + since.as_secs_f64() * self.per_second).min(self.per_second);
        self.at = self.at.max(now);
    }
}

/// A budget that many connections share.
#[derive(Clone, Debug)]
pub struct SharedBucket(Arc<Mutex<Bucket>>);

impl SharedBucket {
    /// A full budget.
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        Self(Arc::new(Mutex::new(Bucket::new(per_second))))
    }

    /// Takes from it.
    pub fn spend(&self, cost: u32, now: Instant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spend(cost, now);
    }

    /// How long until something is left.
    #[must_use]
    pub fn wait(&self, now: Instant) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wait(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_lasts_a_second_and_comes_back_in_one() {
        let mut bucket = Bucket::new(50);
        let start = bucket.at;
        for _ in 0..50 {
            assert_eq!(bucket.wait(start), Duration::ZERO);
            bucket.spend(1, start);
        }
        assert_eq!(bucket.wait(start), Duration::from_millis(20));
        assert_eq!(bucket.wait(start + Duration::from_millis(20)), Duration::ZERO);
        bucket.spend(1_000_000, start);
        assert!(bucket.wait(start) <= Duration::from_millis(1020), "a debt lasts a second at most");
        assert_eq!(bucket.wait(start + Duration::from_secs(3)), Duration::ZERO);
    }

    #[test]
    fn long_answers_cost_more_than_short_ones() {
        assert_eq!((of_answer(100), of_answer(400 * 1024)), (0, 50));
        assert_eq!((of_chat(2), of_chat(4096)), (0, 256));
    }
}

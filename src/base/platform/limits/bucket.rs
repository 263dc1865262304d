//! Budgets that refill steadily.

use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// A budget that refills steadily up to a limit (a token bucket).
#[derive(Clone, Debug)]
pub struct Bucket {
    most: f64,
    per_second: f64,
    left: f64,
    at: Instant,
}

impl Bucket {
    /// A full budget, whose limit is what a second brings.
    pub fn new(per_second: u32) -> Self {
        Self::with_limit(per_second, per_second)
    }

    /// A full budget, whose limit is what an hour brings.
    pub fn per_hour(most: u64) -> Self {
        Self::of(most as f64, most as f64 / 3600.0)
    }

    /// A full budget with that limit.
    pub fn with_limit(most: u32, per_second: u32) -> Self {
        Self::of(most.into(), per_second.into())
    }

    fn of(most: f64, per_second: f64) -> Self {
        Self { most, per_second, left: most, at: Instant::now() }
    }

    /// True if nothing of it is used.
    pub fn is_full(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.left >= self.most
    }

    /// Takes from it; it may be overdrawn by what one second brings.
    pub fn spend(&mut self, cost: u32, now: Instant) {
        self.refill(now);
        self.left = (self.left - f64::from(cost)).max(-self.per_second);
    }

    /// Takes so much from it; false if there is not so much.
    #[must_use]
    pub fn take(&mut self, cost: usize, now: Instant) -> bool {
        self.refill(now);
        let fits = cost as f64 <= self.left;
        self.left -= if fits { cost as f64 } else { 0.0 };
        fits
    }

    /// How long until something is left; zero where something is.
    pub fn wait(&mut self, now: Instant) -> Duration {
        self.refill(now);
        match self.left >= 1.0 {
            true => Duration::ZERO,
            false => Duration::from_secs_f64((1.0 - self.left) / self.per_second),
        }
    }

    /// Until when nothing is left for what comes at that instant; `None` where something is. What comes out of the order of
    /// time is taken for as late as what came before it.
    pub fn used_up_until(&mut self, at: Instant) -> Option<Instant> {
        let wait = self.wait(at);
        (!wait.is_zero()).then(|| self.at + wait)
    }

    fn refill(&mut self, now: Instant) {
        let since = now.saturating_duration_since(self.at);
        self.left = (self.left + since.as_secs_f64() * self.per_second).min(self.most);
        self.at = self.at.max(now);
    }
}

/// A budget that all clones share.
#[derive(Clone, Debug)]
pub struct SharedBucket(Arc<Mutex<Bucket>>);

impl From<Bucket> for SharedBucket {
    fn from(bucket: Bucket) -> Self {
        Self(Arc::new(Mutex::new(bucket)))
    }
}

impl SharedBucket {
    /// See [`Bucket::spend`].
    pub fn spend(&self, cost: u32, now: Instant) {
        self.0.lock().spend(cost, now);
    }

    /// See [`Bucket::take`].
    #[must_use]
    pub fn take(&self, cost: usize, now: Instant) -> bool {
        self.0.lock().take(cost, now)
    }

    /// See [`Bucket::wait`].
    pub fn wait(&self, now: Instant) -> Duration {
        self.0.lock().wait(now)
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
    fn a_budget_counts_by_the_stamps_of_what_is_spent() {
        let (mut bucket, ms) = (Bucket::new(50), Duration::from_millis);
        let start = bucket.at;
        for line in 0..200 {
            let arrived = start + ms(20 * line);
            bucket.spend(1, arrived);
            assert_eq!(bucket.used_up_until(arrived), None, "50 lines a second, read however late");
        }
        let last = start + ms(20 * 199);
        bucket.spend(60, last);
        assert!(bucket.used_up_until(start).is_some_and(|free| free > last), "no stamp turns the time back");
    }

    #[tokio::test(start_paused = true)]
    async fn an_allowance_is_shared_and_comes_back_within_an_hour() {
        let allowance = SharedBucket::from(Bucket::per_hour(3600));
        let (other, now) = (allowance.clone(), Instant::now());
        assert!(allowance.take(3000, now) && other.take(600, now));
        assert!(!allowance.take(1, now));
        let later = now + Duration::from_secs(60);
        assert!(!other.take(61, later));
        assert!(other.take(60, later));
        assert!(allowance.take(3600, later + Duration::from_secs(36_000)), "never more than an hour's");
        assert!(!allowance.take(1, later + Duration::from_secs(36_000)));
    }
}

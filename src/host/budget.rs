//! Budgets for what clients ask: a line costs 1, a long answer more. Moves in turn and agreements to a game that was
//! offered cost nothing.
//!
//! A connection has [`Limits::lines_per_second`](plan::serve::Limits), all connections of an address together
//! [`ADDRESS`] times as much, and all connections of the host together [`TOTAL`] times. What the lobby has no work with
//! (blank lines, moves out of turn) counts for the connection alone.

use super::visits::Visits;
use plan::serve::Limits;
use seat::allowance::Allowance;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// The budget of an address, in budgets of a connection.
pub const ADDRESS: u32 = 4;
/// The budget of all connections, in budgets of a connection.
pub const TOTAL: u32 = 40;
/// Lines of an address that do not wait when the budget of all is used up, and how many more there are each second: whoever
/// logs in or plays now and then is not held up by a crowd.
const COURTESY: (u32, u32) = (10, 1);
/// Refused logins of an address that are logged in an hour.
const LOGGED: u32 = 60;
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

/// A budget that refills steadily up to a limit (a token bucket).
#[derive(Debug)]
pub struct Bucket {
    most: f64,
    per_second: f64,
    left: f64,
    at: Instant,
}

impl Bucket {
    /// A full budget, whose limit is what a second brings.
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        Self::with_limit(per_second, per_second)
    }

    /// A full budget, whose limit is what an hour brings.
    #[must_use]
    pub fn per_hour(most: u32) -> Self {
        Self { per_second: f64::from(most) / 3600.0, ..Self::with_limit(most, most) }
    }

    /// Whether nothing of it is used.
    pub fn is_full(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.left >= self.most
    }

    /// A full budget with that limit.
    pub(super) fn with_limit(most: u32, per_second: u32) -> Self {
        let (most, per_second) = (f64::from(most), f64::from(per_second));
        Self { most, per_second, left: most, at: Instant::now() }
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

/// A budget that many connections share.
#[derive(Clone, Debug)]
pub struct SharedBucket(Arc<Mutex<Bucket>>);

impl SharedBucket {
    /// A full budget.
    #[must_use]
    pub fn new(per_second: u32) -> Self {
        Self::of(Bucket::new(per_second))
    }

    pub(super) fn of(bucket: Bucket) -> Self {
        Self(Arc::new(Mutex::new(bucket)))
    }

    /// Takes from it.
    pub fn spend(&self, cost: u32, now: Instant) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spend(cost, now);
    }

    /// Takes one from it, if it is there.
    fn takes_one(&self, now: Instant) -> bool {
        let free = self.wait(now).is_zero();
        if free {
            self.spend(1, now);
        }
        free
    }

    /// How long until something is left.
    #[must_use]
    pub fn wait(&self, now: Instant) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wait(now)
    }
}

/// The budget of an address.
#[derive(Clone, Debug)]
pub struct AddressBudget {
    all: SharedBucket,
    courtesy: SharedBucket,
    logged: SharedBucket,
    visits: SharedBucket,
    kept: Allowance,
}

impl AddressBudget {
    /// A full budget.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let (most, per_second) = COURTESY;
        let courtesy = Bucket::with_limit(most, per_second);
        let all = SharedBucket::new(limits.lines_per_second.saturating_mul(ADDRESS));
        let shared = SharedBucket::of;
        let (logged, kept) = (Bucket::per_hour(LOGGED), Allowance::per_hour(limits.kept_mb_per_hour << 20));
        let visits = Visits::of_an_address();
        Self { all, courtesy: shared(courtesy), logged: shared(logged), visits, kept }
    }

    /// What may be kept beside the moves of its games.
    #[must_use]
    pub fn kept(&self) -> &Allowance {
        &self.kept
    }

    /// Whether a line about this address may be logged; nobody fills a log by being refused.
    #[must_use]
    pub fn may_log(&self, now: Instant) -> bool {
        self.logged.takes_one(now)
    }

    /// Whether a login or a departure of this address is logged.
    #[must_use]
    pub fn may_visit(&self, now: Instant) -> bool {
        self.visits.takes_one(now)
    }

    /// Takes from it and from the budget of all.
    pub fn spend(&self, total: &SharedBucket, cost: u32, now: Instant) {
        self.all.spend(cost, now);
        self.courtesy.spend(cost, now);
        total.spend(cost, now);
    }

    /// How long until the address may send another line.
    #[must_use]
    pub fn wait(&self, total: &SharedBucket, now: Instant) -> Duration {
        self.all.wait(now).max(total.wait(now).min(self.courtesy.wait(now)))
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

    #[tokio::test]
    async fn who_asks_little_is_not_held_up_when_the_budget_of_all_is_used_up() {
        let limits = Limits::default();
        let (total, modest, greedy) =
            (SharedBucket::new(2), AddressBudget::new(&limits), AddressBudget::new(&limits));
        let now = Instant::now();
        greedy.spend(&total, 100, now);
        assert!(greedy.wait(&total, now) > Duration::ZERO);
        for _ in 0..COURTESY.0 {
            assert_eq!(modest.wait(&total, now), Duration::ZERO);
            modest.spend(&total, 1, now);
        }
        assert!(modest.wait(&total, now) > Duration::ZERO);
    }

    #[test]
    fn long_answers_cost_more_than_short_ones() {
        assert_eq!((of_answer(100), of_answer(400 * 1024)), (0, 50));
        assert_eq!((of_chat(2), of_chat(4096)), (0, 256));
    }
}

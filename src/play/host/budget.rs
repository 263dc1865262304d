//! Budgets for what clients ask: a line costs 1, a long answer more. Moves in turn and agreements to a game that was
//! offered cost nothing.
//!
//! A connection has [`Limits::lines_per_second`](plan::serve::Limits), all connections of an address together
//! [`ADDRESS`] times as much, and all connections of the host together [`TOTAL`] times. What the lobby has no work with
//! (blank lines, moves out of turn) counts for the connection alone.

use plan::serve::Limits;
use platform::limits::{Bucket, SharedBucket};
use std::time::Duration;
use tokio::time::Instant;

/// The budget of an address, in budgets of a connection.
pub const ADDRESS: u32 = 4;
/// The budget of all connections, in budgets of a connection.
pub const TOTAL: u32 = 40;
/// Lines of an address that do not wait when the budget of all is used up, and how many more there are each second: whoever
/// logs in or plays now and then is not held up by a crowd.
const COURTESY: (u32, u32) = (10, 1);
/// Refused logins of an address that are logged in an hour.
const LOGGED: u64 = 60;
/// Lines about logins and departures of an address in a row, and how many more there are each second.
const VISITS: (u32, u32) = (60, 1);
/// Bytes of an answer that cost as much as a line.
const BYTES: usize = 8192;
/// Players to whom a chat goes that cost as much as a line.
const LISTENERS: usize = 16;

/// The cost of an answer of that many bytes, beside its line.
pub fn of_answer(bytes: usize) -> u32 {
    u32::try_from(bytes / BYTES).unwrap_or(u32::MAX)
}

/// The cost of a chat to that many players, beside its line.
pub fn of_chat(listeners: usize) -> u32 {
    u32::try_from(listeners / LISTENERS).unwrap_or(u32::MAX)
}

/// The budget of an address.
#[derive(Clone, Debug)]
pub struct AddressBudget {
    all: SharedBucket,
    courtesy: SharedBucket,
    logged: SharedBucket,
    visits: SharedBucket,
    /// What may be kept beside the moves of its games.
    pub kept: SharedBucket,
}

impl AddressBudget {
    /// A full budget.
    pub fn new(limits: &Limits) -> Self {
        Self {
            all: Bucket::new(limits.lines_per_second.saturating_mul(ADDRESS)).into(),
            courtesy: Bucket::with_limit(COURTESY.0, COURTESY.1).into(),
            logged: Bucket::per_hour(LOGGED).into(),
            visits: Bucket::with_limit(VISITS.0, VISITS.1).into(),
            kept: Bucket::per_hour(limits.kept_mb_per_hour << 20).into(),
        }
    }

    /// True if a line about this address may be logged; nobody fills a log by being refused.
    pub fn may_log(&self, now: Instant) -> bool {
        self.logged.take(1, now)
    }

    /// True if a login or a departure of this address is logged.
    pub fn may_visit(&self, now: Instant) -> bool {
        self.visits.take(1, now)
    }

    /// Takes from it and from the budget of all.
    pub fn spend(&self, total: &SharedBucket, cost: u32, now: Instant) {
        self.all.spend(cost, now);
        self.courtesy.spend(cost, now);
        total.spend(cost, now);
    }

    /// How long until the address may send another line.
    pub fn wait(&self, total: &SharedBucket, now: Instant) -> Duration {
        self.all.wait(now).max(total.wait(now).min(self.courtesy.wait(now)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_asks_little_is_not_held_up_when_the_budget_of_all_is_used_up() {
        let limits = Limits::default();
        let (total, modest, greedy) =
            (SharedBucket::from(Bucket::new(2)), AddressBudget::new(&limits), AddressBudget::new(&limits));
        let now = Instant::now();
        greedy.spend(&total, 100, now);
        assert!(greedy.wait(&total, now) > Duration::ZERO);
        for _ in 0..COURTESY.0 {
            assert_eq!(modest.wait(&total, now), Duration::ZERO);
            modest.spend(&total, 1, now);
        }
        assert!(modest.wait(&total, now) > Duration::ZERO);
    }

    #[tokio::test]
    async fn the_connections_of_an_address_have_four_budgets_together_and_a_log_is_not_filled_by_one() {
        let limits = Limits { lines_per_second: 10, kept_mb_per_hour: 3, ..Limits::default() };
        let (budget, now) = (AddressBudget::new(&limits), Instant::now());
        let total = SharedBucket::from(Bucket::new(1000));
        let count = |may: &dyn Fn() -> bool| (0..1000).filter(|_| may()).count();
        let spent = count(&|| {
            let is_free = budget.wait(&total, now).is_zero();
            budget.spend(&total, u32::from(is_free), now);
            is_free
        });
        assert_eq!(spent, 40);
        assert_eq!([count(&|| budget.may_log(now)), count(&|| budget.may_visit(now))], [60, 60]);
        assert!(budget.kept.take(3 << 20, now) && !budget.kept.take(1, now));
    }

    #[test]
    fn long_answers_cost_more_than_short_ones() {
        assert_eq!([8191, 8192, 400 * 1024].map(of_answer), [0, 1, 50]);
        assert_eq!([15, 16, 4096].map(of_chat), [0, 1, 256]);
    }
}

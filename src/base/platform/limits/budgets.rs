//! Budgets of many.

use super::Bucket;
use std::{collections::HashMap, hash::Hash};
use tokio::time::Instant;

/// Budgets that are remembered before full ones are forgotten.
const REMEMBERED: usize = 4096;
/// Budgets that are remembered at all; of a crowd of half as many only those that are used up.
const MAX_KEYS: usize = 16 * REMEMBERED;

/// A budget for each key. A full one needs no entry.
#[derive(Debug)]
pub struct Budgets<K> {
    full: Bucket,
    used: HashMap<K, Bucket>,
    /// The number at which some are forgotten.
    bound: usize,
}

impl<K: Eq + Hash> Budgets<K> {
    /// Budgets that are such when they are full.
    pub fn new(full: Bucket) -> Self {
        Self { full, used: HashMap::new(), bound: REMEMBERED }
    }

    /// The budget of a key.
    pub fn of(&mut self, key: K, now: Instant) -> &mut Bucket {
        if self.used.len() >= self.bound {
            self.make_room(now);
        }
        self.used.entry(key).or_insert_with(|| self.full.clone())
    }

    fn make_room(&mut self, now: Instant) {
        self.used.retain(|_, budget| !budget.is_full(now));
        if self.used.len() >= MAX_KEYS / 2 {
            self.used.retain(|_, budget| !budget.wait(now).is_zero());
        }
        if self.used.len() >= MAX_KEYS / 2 {
            self.used.clear();
        }
        self.bound = REMEMBERED.max(2 * self.used.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_crowd_does_not_fill_the_budget_of_one_that_has_used_it_up() {
        let (mut budgets, now) = (Budgets::new(Bucket::per_hour(3)), Instant::now());
        assert!(budgets.of(u32::MAX, now).take(3, now));
        for key in 0..3 * MAX_KEYS as u32 {
            assert!(budgets.of(key, now).take(1, now));
            assert!(budgets.used.len() <= MAX_KEYS);
        }
        assert!(!budgets.of(u32::MAX, now).take(1, now));
    }

    #[tokio::test(start_paused = true)]
    async fn budgets_that_are_full_again_are_forgotten() {
        let (mut budgets, now) = (Budgets::new(Bucket::per_hour(3)), Instant::now());
        (0..REMEMBERED).for_each(|key| assert!(budgets.of(key, now).take(1, now)));
        budgets.of(0, now + std::time::Duration::from_secs(3600));
        assert_eq!(budgets.used.len(), 1);
    }
}

//! Counts within a time.

use std::{collections::HashMap, hash::Hash, time::Duration};
use tokio::time::Instant;

/// Keys that are remembered before those are forgotten whose time is over.
const REMEMBERED: usize = 4096;
/// Keys that are remembered at all: of a crowd of more, those that count least are forgotten.
const MAX_KEYS: usize = 16 * REMEMBERED;

/// Counts what may happen only so often within a time, such as wrong secrets of an address.
#[derive(Debug)]
pub struct Counts<K> {
    /// The count that is too many; 0: none is.
    most: u32,
    time: Duration,
    locks_out: bool,
    counted: HashMap<K, (u32, Instant)>,
}

impl<K: Clone + Eq + Hash> Counts<K> {
    /// Allows `most` within `time` from the first.
    pub fn within((most, time): (u32, Duration)) -> Self {
        Self { most, time, locks_out: false, counted: HashMap::new() }
    }

    /// Locks out for `time` after `most` within it.
    pub fn lockout(most: u32, time: Duration) -> Self {
        Self { locks_out: true, ..Self::within((most, time)) }
    }

    /// True if a key has reached its limit.
    pub fn are_too_many(&self, key: &K) -> bool {
        let counted = self.counted.get(key).filter(|(_, since)| since.elapsed() < self.time);
        self.most > 0 && counted.is_some_and(|(count, _)| *count >= self.most)
    }

    /// Counts one more; true if the key reaches its limit by it.
    pub fn count(&mut self, key: K) -> bool {
        self.make_room();
        let (count, since) = self.counted.entry(key).or_insert((0, Instant::now()));
        if since.elapsed() >= self.time {
            (*count, *since) = (0, Instant::now());
        }
        *count += 1;
        let is_reached = *count == self.most;
        if is_reached && self.locks_out {
            *since = Instant::now(); // the whole time from now on
        }
        is_reached
    }

    fn make_room(&mut self) {
        if self.counted.len() >= REMEMBERED {
            self.counted.retain(|_, (_, since)| since.elapsed() < self.time);
        }
        if self.counted.len() >= MAX_KEYS
            && let Some((least, _)) = self.counted.iter().min_by_key(|(_, (count, _))| *count)
        {
            let least = least.clone();
            self.counted.remove(&least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(600);

    #[test]
    fn only_who_guesses_too_often_is_locked_out() {
        let mut guesses = Counts::lockout(2, TIME);
        assert!(!guesses.count("a") && !guesses.count("b") && !guesses.are_too_many(&"a"));
        assert!(guesses.count("a"));
        assert!(guesses.are_too_many(&"a") && !guesses.are_too_many(&"b"));
        let mut never = Counts::lockout(0, TIME);
        assert!((0..100).all(|_| !never.count("a")) && !never.are_too_many(&"a"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lockout_lasts_its_whole_time_and_a_quota_counts_from_the_first() {
        let (mut lockout, mut quota) = (Counts::lockout(2, TIME), Counts::within((2, TIME)));
        for _ in 0..2 {
            lockout.count("a");
            quota.count("a");
            tokio::time::advance(TIME / 3).await;
        }
        assert!(lockout.are_too_many(&"a") && quota.are_too_many(&"a"));
        tokio::time::advance(TIME / 3).await;
        assert!(lockout.are_too_many(&"a") && !quota.are_too_many(&"a"));
        tokio::time::advance(TIME / 3).await;
        assert!(!lockout.are_too_many(&"a"));
    }

    #[test]
    fn a_crowd_does_not_wash_a_guesser_clean() {
        let mut counts = Counts::within((3, TIME));
        (0..3).for_each(|_| _ = counts.count(u32::MAX));
        let full = (0..MAX_KEYS as u32).map(|key| (key, (1, Instant::now())));
        counts.counted.extend(full);
        (0..20).for_each(|key| _ = counts.count(1_000_000 + key));
        assert!(counts.are_too_many(&u32::MAX));
        assert!(counts.counted.len() <= MAX_KEYS + 1);
    }
}

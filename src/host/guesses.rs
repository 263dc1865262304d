//! Wrong secrets, counted for whoever sent them.

use std::{
    collections::HashMap,
    hash::Hash,
    time::{Duration, Instant},
};

/// Guessers that are remembered before those are forgotten whose time is over.
const REMEMBERED: usize = 4096;
/// Guessers that are remembered at all; a crowd of more is forgotten together.
const MOST: usize = 16 * REMEMBERED;

/// Counts wrong secrets within a time, and locks those out who have sent too many.
#[derive(Debug)]
pub struct Guesses<K> {
    /// Wrong secrets after which a guesser is locked out; 0: never.
    most: u32,
    lockout: Duration,
    counted: HashMap<K, (u32, Instant)>,
}

impl<K: Eq + Hash> Guesses<K> {
    /// Nobody has guessed yet.
    #[must_use]
    pub fn new(most: u32, lockout: Duration) -> Self {
        Self { most, lockout, counted: HashMap::new() }
    }

    /// Whether a guesser is locked out.
    #[must_use]
    pub fn are_too_many(&self, who: &K) -> bool {
        let counted = self.counted.get(who).filter(|(_, since)| since.elapsed() < self.lockout);
        self.most > 0 && counted.is_some_and(|(count, _)| *count >= self.most)
    }

    /// Counts a wrong secret; whether its sender is locked out from now on.
    pub fn count(&mut self, who: K) -> bool {
        if self.counted.len() >= REMEMBERED {
            self.counted.retain(|_, (_, since)| since.elapsed() < self.lockout);
        }
        if self.counted.len() >= MOST {
            self.counted.clear();
        }
        let (count, since) = self.counted.entry(who).or_insert((0, Instant::now()));
        if since.elapsed() >= self.lockout {
            (*count, *since) = (0, Instant::now());
        }
        *count += 1;
        let locked_out = *count == self.most;
        if locked_out {
            *since = Instant::now(); // the whole time from now on
        }
        locked_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_guesses_too_often_is_locked_out() {
        let mut guesses = Guesses::new(2, Duration::from_secs(600));
        assert!(!guesses.count("a") && !guesses.count("b") && !guesses.are_too_many(&"a"));
        assert!(guesses.count("a"));
        assert!(guesses.are_too_many(&"a") && !guesses.are_too_many(&"b"));
        let mut never = Guesses::new(0, Duration::from_secs(600));
        assert!((0..100).all(|_| !never.count("a")) && !never.are_too_many(&"a"));
    }
}

//! Exponential backoff with jitter.

use std::time::Duration;

/// The waiting times of one client.
#[derive(Clone, Debug)]
pub struct Backoff {
    least: Duration,
    most: Duration,
    failures: u32,
}

impl Backoff {
    /// Waiting times from the least to the most.
    pub fn new(least: Duration, most: Duration) -> Self {
        Self { least, most: most.max(least), failures: 0 }
    }

    /// Starts over after a success.
    pub fn reset(&mut self) {
        self.failures = 0;
    }

    /// The time to wait after one more failure; `chance` is from 0 to 1. Each ceiling is twice the one before, up to the
    /// longest. Half of the ceiling is fixed and half is chance, so that clients which lost the same server do not
    /// all come back at once.
    pub fn failed(&mut self, chance: f64) -> Duration {
        let ceiling = self.least.saturating_mul(1 << self.failures.min(20)).min(self.most);
        self.failures = self.failures.saturating_add(1);
        let wait = ceiling.mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0);
        wait.max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(chance: f64) -> Vec<u64> {
        let mut backoff = Backoff::new(Duration::from_secs(10), Duration::from_secs(900));
        (0..9).map(|_| backoff.failed(chance).as_secs()).collect()
    }

    #[test]
    fn each_wait_is_longer_up_to_the_longest_and_half_of_it_is_chance() {
        assert_eq!(waits(1.0), [10, 20, 40, 80, 160, 320, 640, 900, 900]);
        assert_eq!(waits(0.0), [10, 10, 20, 40, 80, 160, 320, 450, 450]);
    }

    #[test]
    fn after_a_success_the_first_wait_is_the_shortest_again() {
        let mut backoff = Backoff::new(Duration::from_secs(10), Duration::from_secs(900));
        (0..5).for_each(|_| _ = backoff.failed(1.0));
        backoff.reset();
        assert_eq!(backoff.failed(1.0), Duration::from_secs(10));
    }
}

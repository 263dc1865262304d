//! How much of its time an engine is not told of, learned from how long the way to the server takes.
//!
//! Two things are known of each move of ours: how long its echo took, and what the server charged beyond the time
//! that passed here between reading the opponent's move and writing ours. The first is too much (the server may be
//! slow to answer what it has stamped long ago), the second too little (it counts whole seconds down); the larger of
//! the two is taken. Kept back is a quarter more than the largest of the last [`WINDOW`] moves, within the bounds
//! that the configuration sets: a bad minute is remembered for a game, not for ever.

use std::{collections::VecDeque, time::Duration};

/// Moves that are remembered.
pub const WINDOW: usize = 64;

/// What is known of the way to a server.
#[derive(Clone, Debug)]
pub struct Margin {
    seen: VecDeque<Duration>,
    least: Duration,
    most: Duration,
}

/// A move of ours, as it was timed on both ends.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// From the read of the opponent's move to the write of ours.
    pub own: Duration,
    /// From the write of ours to the read of its echo.
    pub echo: Duration,
    /// What the server is sure to have measured: what it charged, less what it adds by rule.
    pub charged: Duration,
}

impl Margin {
    /// Nothing is known yet: the least is kept back.
    #[must_use]
    pub fn new(least: Duration, most: Duration) -> Self {
        Self { seen: VecDeque::new(), least, most: most.max(least) }
    }

    /// A move was echoed.
    pub fn observe(&mut self, sample: Sample) {
        if self.seen.len() == WINDOW {
            self.seen.pop_front();
        }
        self.seen.push_back(sample.echo.max(sample.charged.saturating_sub(sample.own)));
    }

    /// What is to be kept back.
    #[must_use]
    pub fn now(&self) -> Duration {
        let worst = self.seen.iter().max().copied().unwrap_or_default();
        (worst + worst / 4).clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn sample(own: u64, echo: u64, charged: u64) -> Sample {
        Sample { own: ms(own), echo: ms(echo), charged: ms(charged) }
    }

    #[test]
    fn the_worst_way_of_the_last_moves_is_kept_back_and_forgotten_in_time() {
        let mut margin = Margin::new(ms(100), ms(3000));
        assert_eq!(margin.now(), ms(100));
        margin.observe(sample(2300, 40, 2000));
        assert_eq!(margin.now(), ms(100), "a quick echo asks for no more than the least");
        margin.observe(sample(2300, 400, 2000));
        assert_eq!(margin.now(), ms(500));
        (0..WINDOW).for_each(|_| margin.observe(sample(2300, 40, 2000)));
        assert_eq!(margin.now(), ms(100));
    }

    #[test]
    fn a_charge_that_the_echo_does_not_explain_is_kept_back() {
        let mut margin = Margin::new(ms(100), ms(3000));
        margin.observe(sample(1200, 40, 2000));
        assert_eq!(margin.now(), ms(1000));
        margin.observe(sample(0, 60_000, 60_000));
        assert_eq!(margin.now(), ms(3000), "but never more than the most");
    }
}

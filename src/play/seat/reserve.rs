//! The network reserve: time that is kept back from an engine, learned from the delay of the way to the server.
//!
//! Each move of ours gives two measures: the time until its echo, and the charge of the server beyond the time between
//! our read of the opponent's move and our write. The first is too large (a server may be slow to answer what it has
//! stamped long ago), the second too small (whole seconds are rounded down); the larger one is taken. The reserve is a
//! quarter more than the largest of the last [`WINDOW`] moves, within the bounds of the configuration: a bad minute
//! counts for a game, not for ever. Before the first move the answers to the login and to our agreement stand in.

use std::{collections::VecDeque, time::Duration};

/// Moves that the reserve is learned from.
pub const WINDOW: usize = 64;

/// The reserve of one server.
#[derive(Clone, Debug)]
pub struct Reserve {
    /// Shortest time until an answer of the server before any move; it stands for the moves until there are some.
    greeting: Option<Duration>,
    seen: VecDeque<Duration>,
    least: Duration,
    most: Duration,
}

/// Times of a move of ours at both ends.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// From the read of the opponent's move to the write of ours.
    pub own: Duration,
    /// From the write of ours to the read of its echo.
    pub echo: Duration,
    /// What the server is sure to have measured: what it charged, less what it adds by rule.
    pub charged: Duration,
}

impl Reserve {
    /// A reserve that has seen no move: the least.
    pub fn new(least: Duration, most: Duration) -> Self {
        Self { greeting: None, seen: VecDeque::new(), least, most: most.max(least) }
    }

    /// Learns from the answer to a login or an agreement. The server may have had other reasons to take its time, such as
    /// an opponent who agrees late: the shortest answer is nearest to the way.
    pub fn greeted(&mut self, answer: Duration) {
        self.greeting = Some(self.greeting.map_or(answer, |known| known.min(answer)));
    }

    /// Learns from a move whose echo has come.
    pub fn observe(&mut self, sample: Sample) {
        if self.seen.len() == WINDOW {
            self.seen.pop_front();
        }
        self.seen.push_back(sample.echo.max(sample.charged.saturating_sub(sample.own)));
    }

    /// The reserve now.
    pub fn now(&self) -> Duration {
        let worst = self.seen.iter().max().copied().or(self.greeting).unwrap_or_default();
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
        let mut reserve = Reserve::new(ms(100), ms(3000));
        assert_eq!(reserve.now(), ms(100));
        reserve.observe(sample(2300, 40, 2000));
        assert_eq!(reserve.now(), ms(100), "a quick echo asks for no more than the least");
        reserve.observe(sample(2300, 400, 2000));
        assert_eq!(reserve.now(), ms(500));
        (0..WINDOW).for_each(|_| reserve.observe(sample(2300, 40, 2000)));
        assert_eq!(reserve.now(), ms(100));
    }

    #[test]
    fn before_the_first_move_the_quickest_answer_of_the_server_is_kept_back() {
        let mut reserve = Reserve::new(ms(100), ms(3000));
        reserve.greeted(ms(800));
        assert_eq!(reserve.now(), ms(1000));
        reserve.greeted(ms(60_000));
        assert_eq!(reserve.now(), ms(1000), "the opponent agreed late");
        reserve.greeted(ms(400));
        assert_eq!(reserve.now(), ms(500));
        reserve.observe(sample(2300, 40, 2000));
        assert_eq!(reserve.now(), ms(100), "a move tells more");
    }

    #[test]
    fn a_charge_that_the_echo_does_not_explain_is_kept_back() {
        let mut reserve = Reserve::new(ms(100), ms(3000));
        reserve.observe(sample(1200, 40, 2000));
        assert_eq!(reserve.now(), ms(1000));
        reserve.observe(sample(0, 60_000, 60_000));
        assert_eq!(reserve.now(), ms(3000), "but never more than the most");
    }
}

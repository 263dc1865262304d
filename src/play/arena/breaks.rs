//! The break between two rounds of an event.

use crate::agenda::RoundOf;
use std::time::{Duration, Instant};

/// When the next round begins.
#[derive(Debug)]
pub(crate) struct Break {
    time: Duration,
    /// The end of the last game; at a restart, the restart. `None` before the first game of an event.
    since: Option<Instant>,
    /// The round that was announced last.
    announced: Option<RoundOf>,
}

impl Break {
    pub fn new(time: Duration, since: Option<Instant>) -> Self {
        Self { time, since, announced: None }
    }

    /// A game has ended.
    pub fn begin(&mut self, now: Instant) {
        self.since = Some(now);
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.left(now).is_zero()
    }

    fn left(&self, now: Instant) -> Duration {
        self.since.map_or(Duration::ZERO, |since| (since + self.time).saturating_duration_since(now))
    }

    /// When a round begins, once for each; the stage is named if there are several.
    pub fn words(&mut self, round: RoundOf, stages: usize, now: Instant) -> Option<String> {
        if self.announced.replace(round) == Some(round) {
            return None;
        }
        let (stage, number) = round;
        let stage = if stages > 1 { format!("stage {}, ", stage + 1) } else { String::new() };
        Some(format!("{stage}round {number} begins in {} s", self.left(now).as_secs_f64().ceil()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_break_lasts_its_time_from_the_end_of_the_last_game_and_is_announced_once() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut rest = Break::new(Duration::from_secs(180), None);
        assert!(rest.is_over(start), "nothing comes before the first round");
        rest.begin(at(10));
        rest.begin(at(40));
        assert!(!rest.is_over(at(219)) && rest.is_over(at(220)));
        assert_eq!(rest.words((1, 4), 2, at(41)).as_deref(), Some("stage 2, round 4 begins in 179 s"));
        assert_eq!(rest.words((1, 4), 2, at(50)), None);
        assert_eq!(rest.words((0, 5), 1, at(50)).as_deref(), Some("round 5 begins in 170 s"));
    }
}

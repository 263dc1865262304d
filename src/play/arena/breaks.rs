//! The break between two rounds of an event.

use crate::agenda::RoundOf;
use plan::RoundBreak;
use std::time::{Duration, Instant};

/// When the next round begins.
#[derive(Debug)]
pub(crate) struct Break {
    rule: RoundBreak,
    /// The end of the break that the end of the last game began, at a restart the restart. `None` before the first game of
    /// an event.
    end: Option<Instant>,
    /// The time of the day at its end, if it has one.
    time: Option<String>,
    /// The round that was announced last.
    announced: Option<RoundOf>,
}

impl Break {
    pub fn new(rule: RoundBreak) -> Self {
        Self { rule, end: None, time: None, announced: None }
    }

    /// A game has ended, now and at this time in ms since 1970-01-01 UTC.
    pub fn begin(&mut self, now: Instant, at: i64) {
        let (lasts, time) = self.rule.from(at);
        (self.end, self.time) = (Some(now + lasts), time);
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.left(now).is_zero()
    }

    fn left(&self, now: Instant) -> Duration {
        self.end.map_or(Duration::ZERO, |end| end.saturating_duration_since(now))
    }

    /// When a round begins, once for each; the stage is named if there are several.
    pub fn words(&mut self, round: RoundOf, stages: usize, now: Instant) -> Option<String> {
        if self.announced.replace(round) == Some(round) {
            return None;
        }
        let (stage, number) = round;
        let stage = if stages > 1 { format!("stage {}, ", stage + 1) } else { String::new() };
        let time = self.time.as_ref().map_or_else(String::new, |time| format!(" at {time},"));
        Some(format!("{stage}round {number} begins{time} in {} s", self.left(now).as_secs_f64().ceil()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_break_lasts_its_time_from_the_end_of_the_last_game_and_is_announced_once() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut rest = Break::new(RoundBreak::Lasts(Duration::from_secs(180)));
        assert!(rest.is_over(start), "nothing comes before the first round");
        rest.begin(at(10), 0);
        rest.begin(at(40), 0);
        assert!(!rest.is_over(at(219)) && rest.is_over(at(220)));
        assert_eq!(rest.words((1, 4), 2, at(41)).as_deref(), Some("stage 2, round 4 begins in 179 s"));
        assert_eq!(rest.words((1, 4), 2, at(50)), None);
        assert_eq!(rest.words((0, 5), 1, at(50)).as_deref(), Some("round 5 begins in 170 s"));
        let mut rest = Break::new(RoundBreak::Until(vec![(13_500_000, "12:45 +09:00".to_owned())]));
        rest.begin(at(0), 13_200_000);
        assert!(!rest.is_over(at(299)) && rest.is_over(at(300)));
        let words = rest.words((0, 2), 1, at(60));
        assert_eq!(words.as_deref(), Some("round 2 begins at 12:45 +09:00, in 240 s"));
        rest.begin(at(0), 13_500_001);
        let words = rest.words((0, 3), 1, at(0));
        assert_eq!(words.as_deref(), Some("round 3 begins at 12:45 +09:00 tomorrow, in 86400 s"));
    }
}

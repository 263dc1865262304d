//! Reports that nothing begins although places are free and games are left.
//!
//! A sequential test waits for a slow machine when it is far ahead, and that is in order; but an event that stands still
//! for another reason looks the same. So the reason is reported: once, and then seldom.

use std::time::{Duration, Instant};

/// Time without a game that begins until the reason is reported.
const STALL: Duration = Duration::from_secs(5);
/// Time until the next report; each one doubles it.
const AGAIN: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(3600)];
/// Time between two looks while places are free.
pub(crate) const LOOK: Duration = Duration::from_secs(1);

/// How long places have been free, and when that was reported.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    since: Option<Instant>,
    looked: Option<Instant>,
    next: Option<(Instant, Duration)>,
}

impl Watchdog {
    /// A game has begun, or no place is free.
    pub fn calm(&mut self) {
        self.since = None;
    }

    /// True if it is time to look again.
    pub fn is_time(&mut self, now: Instant) -> bool {
        let is_time = self.looked.is_none_or(|looked| now.saturating_duration_since(looked) >= LOOK);
        self.looked = if is_time { Some(now) } else { self.looked };
        is_time
    }

    /// How long nothing has begun, once that is long enough for a report.
    pub fn stalled(&mut self, now: Instant) -> Option<Duration> {
        let since = *self.since.get_or_insert(now);
        Some(now.saturating_duration_since(since)).filter(|idle| *idle >= STALL)
    }

    /// True if a report is due.
    pub fn is_due(&mut self, now: Instant) -> bool {
        let (at, pause) = self.next.unwrap_or((now, AGAIN[0]));
        let is_due = now >= at;
        if is_due {
            self.next = Some((now + pause, (pause * 2).min(AGAIN[1])));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_reported_after_some_seconds_once_and_then_seldom() {
        let begun = Instant::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let mut watchdog = Watchdog::default();
        let mut reports = vec![];
        for second in 0..4000 {
            if watchdog.stalled(at(second)).is_some() && watchdog.is_due(at(second)) {
                reports.push(second);
            }
        }
        assert_eq!(reports, [5, 65, 185, 425, 905, 1865, 3785]);
        watchdog.calm();
        assert_eq!(watchdog.stalled(at(4000)), None, "a game has begun meanwhile");
    }

    #[test]
    fn a_look_is_taken_once_a_second_and_reports_come_an_hour_apart_at_most() {
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        let mut watchdog = Watchdog::default();
        assert_eq!(
            [0, 500, 999, 1000, 1999, 2000].map(|ms| watchdog.is_time(at(ms))),
            [true, false, false, true, false, true]
        );
        let due: Vec<u64> = (0..400).filter(|minutes| watchdog.is_due(at(minutes * 60_000))).collect();
        assert_eq!(due[..8], [0, 1, 3, 7, 15, 31, 63, 123]);
        assert!(due[8..].iter().zip(&due[7..]).all(|(next, before)| next - before == 60));
    }
}

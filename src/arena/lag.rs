//! Scheduler lag: how late the threads of this program run.
//!
//! A worker whose thread got no core for 80 ms reads an engine's answer up to 80 ms late. That is not the engine's
//! fault: when an answer would lose on time, the lag measured in that turn is not charged.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::{Instant, sleep_until};

/// Time between two measurements.
const BEAT: Duration = Duration::from_millis(20);
/// Least lag that is recorded; a timer alone is late by a millisecond or two.
const NOTABLE: Duration = Duration::from_millis(4);
/// Records kept.
const MEMORY: usize = 256;

/// The lag of one thread.
#[derive(Debug, Default)]
pub struct SchedulerLag(Mutex<VecDeque<(Instant, Duration)>>);

impl SchedulerLag {
    /// Measures the thread it runs on, for ever.
    pub async fn measure(&self) {
        loop {
            let due = Instant::now() + BEAT;
            sleep_until(due).await;
            self.record(due, Instant::now());
        }
    }

    pub(crate) fn record(&self, due: Instant, now: Instant) {
        let late = now.saturating_duration_since(due);
        if late >= NOTABLE {
            let mut beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if beats.len() == MEMORY {
                beats.pop_front();
            }
            beats.push_back((now, late));
        }
    }

    /// The largest lag recorded since `since`. A measurement that is due is recorded only once it is made.
    #[must_use]
    pub fn late_since(&self, since: Instant) -> Duration {
        let beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        beats.iter().rev().take_while(|(at, _)| *at >= since).map(|&(_, late)| late).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_late_in_the_turn_counts() {
        let lag = SchedulerLag::default();
        let start = Instant::now();
        let ms = Duration::from_millis;
        lag.record(start, start + ms(90));
        lag.record(start + ms(110), start + ms(150));
        lag.record(start + ms(170), start + ms(172));
        assert_eq!(lag.late_since(start), ms(90));
        assert_eq!(lag.late_since(start + ms(100)), ms(40));
        assert_eq!(lag.late_since(start + ms(160)), ms(0));
    }
}

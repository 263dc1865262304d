//! How late this program is itself.
//!
//! A worker whose thread got no core for 80 ms reads an engine's answer up to 80 ms late. That is never the engine's
//! fault: when an answer would lose on time, what this program was late by in that turn is not charged.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::time::sleep_until;

/// From one beat to the next.
const BEAT: Duration = Duration::from_millis(20);
/// A beat this late is remembered; timers alone are late by a millisecond or two.
const NOTABLE: Duration = Duration::from_millis(4);
/// Late beats remembered.
const MEMORY: usize = 256;

/// The pulse of one worker thread.
#[derive(Debug, Default)]
pub struct Pulse(Mutex<VecDeque<(Instant, Duration)>>);

impl Pulse {
    /// Beats for ever on the thread it measures.
    pub async fn beat(&self) {
        loop {
            let due = Instant::now() + BEAT;
            sleep_until(due.into()).await;
            self.record(due, Instant::now());
        }
    }

    fn record(&self, due: Instant, now: Instant) {
        let late = now.saturating_duration_since(due);
        if late >= NOTABLE {
            let mut beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if beats.len() == MEMORY {
                beats.pop_front();
            }
            beats.push_back((now, late));
        }
    }

    /// The latest that a beat was since `since`. A beat that is due and has not come yet counts as soon as it comes.
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
        let pulse = Pulse::default();
        let start = Instant::now();
        let ms = Duration::from_millis;
        pulse.record(start, start + ms(90));
        pulse.record(start + ms(110), start + ms(150));
        pulse.record(start + ms(170), start + ms(172));
        assert_eq!(pulse.late_since(start), ms(90));
        assert_eq!(pulse.late_since(start + ms(100)), ms(40));
        assert_eq!(pulse.late_since(start + ms(160)), ms(0));
    }
}

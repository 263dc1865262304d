//! Scheduler lag: how late the threads of this program run.
//!
//! A worker whose thread got no core for 80 ms reads an engine's answer up to 80 ms late. That is not the engine's
//! fault: when an answer would lose on time, the lag measured in that turn is not charged.

use parking_lot::Mutex;
use std::{collections::VecDeque, time::Duration};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

/// Time between two measurements.
const BEAT: Duration = Duration::from_millis(20);
/// Least lag that is recorded; a timer alone is late by a millisecond or two.
const NOTABLE: Duration = Duration::from_millis(4);
/// Records kept.
const MEMORY: usize = 256;

/// The lag of one thread, which is measured while it plays a game.
#[derive(Debug, Default)]
pub struct SchedulerLag {
    beats: Mutex<Beats>,
    game_begun: Notify,
}

/// A game on the thread; dropping it ends the game.
#[derive(Debug)]
pub struct PlayedHere<'a>(&'a SchedulerLag);

impl Drop for PlayedHere<'_> {
    fn drop(&mut self) {
        self.0.beats.lock().games -= 1;
    }
}

#[derive(Debug, Default)]
struct Beats {
    late: VecDeque<(Instant, Duration)>,
    /// When the beat that is waited for is due.
    due: Option<Instant>,
    games: usize,
}

impl SchedulerLag {
    /// Notes that a game is played on the thread.
    pub fn during_game(&self) -> PlayedHere<'_> {
        self.beats.lock().games += 1;
        self.game_begun.notify_one();
        PlayedHere(self)
    }

    /// Measures the thread it runs on, for ever. It sleeps while no game is played there.
    pub async fn measure(&self) {
        loop {
            match self.next_beat() {
                Some(due) => {
                    sleep_until(due).await;
                    self.record(due, Instant::now());
                }
                None => self.game_begun.notified().await,
            }
        }
    }

    fn next_beat(&self) -> Option<Instant> {
        let mut beats = self.beats.lock();
        beats.due = (beats.games > 0).then(|| Instant::now() + BEAT);
        beats.due
    }

    pub(crate) fn record(&self, due: Instant, now: Instant) {
        let late = now.saturating_duration_since(due);
        if late >= NOTABLE {
            let late_beats = &mut self.beats.lock().late;
            if late_beats.len() == MEMORY {
                late_beats.pop_front();
            }
            late_beats.push_back((now, late));
        }
    }

    /// The largest lag since `since`: what is recorded, and by how much the next beat is overdue.
    pub fn late_since(&self, since: Instant) -> Duration {
        let beats = self.beats.lock();
        let recorded =
            beats.late.iter().rev().take_while(|(at, _)| *at >= since).map(|&(_, late)| late).max();
        let overdue = beats.due.map(|due| Instant::now().saturating_duration_since(due));
        recorded.max(overdue.filter(|late| *late >= NOTABLE)).unwrap_or_default()
    }

    /// The longest time that something which came at `since` can have waited for this thread. A stall that began just
    /// after a beat is seen only from the next beat on.
    pub fn longest_wait(&self, since: Instant) -> Duration {
        self.late_since(since) + BEAT + NOTABLE
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

    #[test]
    fn a_beat_that_is_overdue_counts_before_it_is_recorded() {
        let lag = SchedulerLag::default();
        let now = Instant::now();
        lag.beats.lock().due = now.checked_sub(Duration::from_millis(70));
        assert!(lag.late_since(now) >= Duration::from_millis(70));
        assert!(lag.longest_wait(now) >= Duration::from_millis(90));
    }

    #[tokio::test(start_paused = true)]
    async fn a_thread_without_a_game_does_not_wake_to_be_measured() {
        let lag = std::sync::Arc::new(SchedulerLag::default());
        let measured = lag.clone();
        tokio::spawn(async move { measured.measure().await });
        let passes = async || {
            tokio::time::sleep(10 * BEAT).await;
            tokio::task::yield_now().await;
            lag.beats.lock().due
        };
        assert_eq!(passes().await, None);
        let game = lag.during_game();
        let begun = Instant::now();
        assert!(passes().await.is_some_and(|due| due > begun));
        drop(game);
        assert_eq!(passes().await, None);
    }
}

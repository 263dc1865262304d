//! Reports that nothing begins although places are free and games are left.
//!
//! A sequential test waits for a slow machine when it is far ahead, and that is in order; but an event that stands still
//! for another reason looks the same. So the reason is reported: once, and then seldom.

use crate::dispatcher::Dispatcher;
use referee::schedule::{Next, Pairing};
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

    /// Whether it is time to look again.
    fn is_time(&mut self, now: Instant) -> bool {
        let is_time = self.looked.is_none_or(|looked| now.saturating_duration_since(looked) >= LOOK);
        self.looked = if is_time { Some(now) } else { self.looked };
        is_time
    }

    /// How long nothing has begun, once that is long enough for a report.
    fn stalled(&mut self, now: Instant) -> Option<Duration> {
        let since = *self.since.get_or_insert(now);
        Some(now.saturating_duration_since(since)).filter(|idle| *idle >= STALL)
    }

    /// Whether a report is due.
    fn is_due(&mut self, now: Instant) -> bool {
        let (at, pause) = self.next.unwrap_or((now, AGAIN[0]));
        let is_due = now >= at;
        if is_due {
            self.next = Some((now + pause, (pause * 2).min(AGAIN[1])));
        }
        is_due
    }
}

impl Dispatcher<'_> {
    /// Whether a place is free and new games may begin.
    pub(crate) fn is_idle(&self) -> bool {
        let may_begin = self.goes_on() && !self.operations.is_paused() && !self.has_low_disk();
        may_begin && !self.waits_for_turn() && (self.has_free_slot() || self.has_places_elsewhere())
    }

    /// Looks whether places have been free for long although games are left. Pairs that a machine hoards meanwhile are
    /// taken back.
    pub(crate) fn look_for_a_stall(&mut self) {
        if !self.is_idle() {
            return self.watchdog.calm();
        }
        let now = Instant::now();
        if !self.watchdog.is_time(now) {
            return;
        }
        self.tell_that_others_wait();
        let Some(idle) = self.watchdog.stalled(now) else { return };
        let Some(reason) = self.why_idle() else { return };
        if self.watchdog.is_due(now) {
            (self.say)(&format!(
                "no game has begun for {} s, although places are free and games are left: {reason}",
                idle.as_secs()
            ));
        }
    }

    /// Why no game begins; `None`: none is left, or the reason is one that players and operators know.
    fn why_idle(&self) -> Option<String> {
        if self.standings.verdict().is_some() || !self.standings.halts().is_empty() {
            return None;
        }
        // Asked of a copy, which hands nothing out.
        let next = self
            .pending
            .first()
            .copied()
            .map_or_else(|| self.schedule.clone().next(&self.standings), Next::Game);
        let plays = !self.running.is_empty() || self.awaits_machines();
        match next {
            Next::Game(game) if self.is_far_ahead(&game) => Some(self.why_far_ahead(&game)),
            Next::Game(game) if !self.knows_options(&game) => {
                (!plays).then(|| "its options follow from results of games that nobody plays".to_owned())
            }
            // Missing players are named elsewhere, and a GPU is taken by a game that runs.
            Next::Game(game) if self.has_remote_players() || self.lacks_gpu(&game) => None,
            Next::Game(game) if !plays => Some(format!(
                "the game at place {} of the schedule could begin, and does not",
                game.index + 1
            )),
            Next::Wait if !plays && !self.held.is_empty() => Some(
                "the schedule waits for adjourned games, until `renmei admin play-on` or `replay`".to_owned(),
            ),
            Next::Wait if !plays => {
                Some("the schedule waits for results of games that nobody plays".to_owned())
            }
            _ => None,
        }
    }

    /// Which pair a sequential test waits for, and where it is.
    fn why_far_ahead(&self, next: &Pairing) -> String {
        let pair = self.first_unfinished(next) / 2;
        let of_pair = |game: &&Pairing| (game.stage, game.pair) == (next.stage, pair);
        let here = self.running.iter().find(|(_, game)| of_pair(game)).map(|(game, _)| *game);
        let place = match (here, self.machine_with(|game| of_pair(&game))) {
            (Some(game), _) => format!("is played here (game {})", game.0),
            (None, Some(place)) => place,
            (None, None) => "nobody plays".to_owned(),
        };
        format!("the sequential test is {} pairs ahead of pair {}, which {place}", next.pair - pair, pair + 1)
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
}

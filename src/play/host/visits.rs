//! Lines about who logs in, drops out and leaves, for the people who run a host.
//!
//! Strangers cause these lines, so their number is bounded: for each address, and for all together. Lines that are left out
//! are counted; the next line has their number.

use super::places::Place;
use arena::Say;
use parking_lot::Mutex;
use platform::limits::Bucket;
use std::{fmt, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Lines in a row, and how many more there are each second.
const LINES: (u32, u32) = (120, 2);
/// Least time between two lines about connections that were turned away.
const SILENCE: Duration = Duration::from_secs(60);
/// Lines that wait until somebody reads them.
const WAITING: usize = 64;

/// The lines; clones share them.
#[derive(Clone, Debug)]
pub struct Visits(Arc<Mutex<Lines>>);

struct Lines {
    /// `None` until the host has somewhere to write to.
    say: Option<Say>,
    waiting: Vec<String>,
    budget: Bucket,
    left_out: u64,
    /// Connections that were turned away and not told of, and when the operator heard of some last.
    turned_away: u64,
    told: Option<Instant>,
}

impl Default for Visits {
    fn default() -> Self {
        let (most, per_second) = LINES;
        let budget = Bucket::with_limit(most, per_second);
        let (waiting, left_out, turned_away) = Default::default();
        Self(Arc::new(Mutex::new(Lines { say: None, waiting, budget, left_out, turned_away, told: None })))
    }
}

impl Visits {
    /// Writes the lines there from now on.
    pub fn write_to(&self, say: Say) {
        let mut lines = self.0.lock();
        lines.waiting.drain(..).for_each(|line| say(&line));
        lines.say = Some(say);
    }

    /// Counts a connection that was turned away; the operator hears of them once a minute.
    pub(super) fn turned_away(&self, why: &str, now: Instant) {
        let mut lines = self.0.lock();
        lines.turned_away += 1;
        lines.tell_of_turned_away(why, now);
    }

    /// Takes a line about the connection at that place.
    pub(super) fn happened(&self, place: &Place, now: Instant, line: &str) {
        let allowed = place.budget.may_visit(now);
        let mut lines = self.0.lock();
        lines.tell_of_turned_away("by now there is room", now);
        if !allowed || !lines.budget.wait(now).is_zero() {
            lines.left_out += 1;
            return;
        }
        lines.budget.spend(1, now);
        match std::mem::take(&mut lines.left_out) {
            0 => lines.write(line),
            left_out => {
                lines.write(&format!("{line} (before that {left_out} logins and departures were not logged)"))
            }
        }
    }
}

impl Lines {
    fn tell_of_turned_away(&mut self, why: &str, now: Instant) {
        if self.turned_away > 0 && self.told.is_none_or(|told| now >= told + SILENCE) {
            let turned_away = std::mem::take(&mut self.turned_away);
            self.told = Some(now);
            self.write(&format!("turned away {turned_away} connections: {why}"));
        }
    }

    fn write(&mut self, line: &str) {
        match &self.say {
            Some(say) => say(line),
            None if self.waiting.len() < WAITING => self.waiting.push(line.to_owned()),
            None => self.left_out += 1,
        }
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").field("left_out", &self.left_out).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::{Places, TakenPlace};
    use plan::serve::Limits;

    fn place(places: &Arc<Places>, address: &str) -> TakenPlace {
        Places::enter(places, address.parse().unwrap(), &Limits::default()).unwrap()
    }

    #[tokio::test]
    async fn a_flood_of_logins_neither_fills_the_log_nor_hides_the_logins_of_others() {
        let (visits, places) = (Visits::default(), Arc::default());
        let (flooder, other) = (place(&places, "10.0.0.1"), place(&places, "10.0.0.2"));
        let now = Instant::now();
        visits.happened(&other.place, now, "kuma logged in");
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = said.clone();
        visits.write_to(Arc::new(move |line: &str| heard.lock().push(line.to_owned())));
        assert_eq!(*said.lock(), ["kuma logged in"], "lines wait for a reader");
        for _ in 0..1000 {
            visits.happened(&flooder.place, now, "flood");
        }
        assert_eq!(said.lock().len(), 61);
        visits.happened(&other.place, now, "tora logged in");
        let last = "tora logged in (before that 940 logins and departures were not logged)";
        assert_eq!(said.lock().last().map(String::as_str), Some(last));
        visits.happened(&flooder.place, now + Duration::from_secs(2), "later");
        assert_eq!(said.lock().last().map(String::as_str), Some("later"));
    }

    #[tokio::test]
    async fn the_operator_hears_once_a_minute_how_many_were_turned_away() {
        let (visits, now) = (Visits::default(), Instant::now());
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = said.clone();
        visits.write_to(Arc::new(move |line: &str| heard.lock().push(line.to_owned())));
        (0..1000).for_each(|n| visits.turned_away("the host is full", now + n * SILENCE / 1000));
        assert_eq!(*said.lock(), ["turned away 1 connections: the host is full"]);
        visits.turned_away("the host is full", now + SILENCE);
        assert_eq!(said.lock()[1..], ["turned away 1000 connections: the host is full"]);
    }

    #[tokio::test]
    async fn lines_that_nobody_reads_yet_are_kept_up_to_a_bound_and_the_rest_is_counted() {
        let (visits, places, now) = (Visits::default(), Arc::default(), Instant::now());
        for n in 0..=WAITING {
            let guest = place(&places, &format!("10.0.1.{n}"));
            visits.happened(&guest.place, now, &format!("{n} logged in"));
        }
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = said.clone();
        visits.write_to(Arc::new(move |line: &str| heard.lock().push(line.to_owned())));
        let kept = (0..WAITING).map(|n| format!("{n} logged in")).collect::<Vec<_>>();
        assert_eq!(*said.lock(), kept);
        visits.happened(&place(&places, "10.0.0.9").place, now, "kuma logged in");
        let last = "kuma logged in (before that 1 logins and departures were not logged)";
        assert_eq!(said.lock().last().map(String::as_str), Some(last));
        // All addresses together have 120 lines, of which 66 are used, and two more each second.
        (0..500).for_each(|n| {
            let guest = place(&places, &format!("10.1.{}.{}", n / 250, n % 250));
            visits.happened(&guest.place, now + Duration::from_secs(3), "flood");
        });
        assert_eq!(said.lock().len(), WAITING + 1 + 60);
    }
}

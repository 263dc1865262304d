//! Lines about who logs in, drops out and leaves, for the people who run a host.
//!
//! Strangers cause these lines, so their number is bounded: for each address, and for all together. Lines that are left out
//! are counted; the next line has their number.

use super::places::Place;
use arena::Say;
use parking_lot::Mutex;
use platform::limits::Bucket;
use std::{fmt, sync::Arc};
use tokio::time::Instant;

/// Lines in a row, and how many more there are each second.
const LINES: (u32, u32) = (120, 2);
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
}

impl Default for Visits {
    fn default() -> Self {
        let (most, per_second) = LINES;
        let budget = Bucket::with_limit(most, per_second);
        Self(Arc::new(Mutex::new(Lines { say: None, waiting: vec![], budget, left_out: 0 })))
    }
}

impl Visits {
    /// Writes the lines there from now on.
    pub fn write_to(&self, say: Say) {
        let mut lines = self.0.lock();
        lines.waiting.drain(..).for_each(|line| say(&line));
        lines.say = Some(say);
    }

    /// Takes a line about the connection at that place.
    pub(super) fn happened(&self, place: &Place, now: Instant, line: &str) {
        let allowed = place.budget.may_visit(now);
        let mut lines = self.0.lock();
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
    use std::time::Duration;

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
}

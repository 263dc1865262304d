//! What a worker may send: a budget of bytes for each kind of message, more than any worker needs. What is beyond it is not
//! read, and a worker that sends far more than that hinders the event.

use super::COUNTED;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// What each message costs beside its bytes.
const MESSAGE: f64 = 256.0;
/// Bytes that are left unread until a worker hinders the event, and messages.
const EXCESS: u64 = 16 << 20;
const MESSAGES: u64 = 4096;

/// Arrivals of a worker that are said at once, and the seconds after which one more is.
const ARRIVALS: f64 = 40.0;
const ANOTHER: f64 = 10.0;

/// A kind of message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub(super) enum Kind {
    /// Hellos, signs of life and whatever else lists leases.
    Lists,
    /// Answers to leases that the worker does not have any more. Those to leases that it has cost nothing, as each has one.
    Answers,
    /// Games that are shown while they are played.
    Boards,
    /// Pieces of files, which cost what is sent.
    Files,
}

const KINDS: &[Kind] = <Kind as strum::VariantArray>::VARIANTS;

impl Kind {
    /// Bytes that may come at once, and then in a second. A machine of 1,024 slots with very short pairs lists 330 kB every
    /// five seconds; after a restart of the manager a worker sends all answers that it has kept. Files: four of the largest
    /// engines at once.
    fn limits(self) -> (f64, f64) {
        const MB: f64 = 1_048_576.0;
        match self {
            Self::Lists => (2.0 * MB, MB / 8.0),
            Self::Answers => (64.0 * MB, MB),
            Self::Boards => (32.0 * MB, 4.0 * MB),
            Self::Files => (32_768.0 * MB, 16.0 * MB),
        }
    }
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    /// It is read.
    Read,
    /// It is left unread.
    Left,
    /// It is left unread, and its worker hinders the event: so many messages and bytes of it were left. Returned once.
    Flood { messages: u64, bytes: u64 },
}

#[derive(Debug)]
struct Budget {
    left: Vec<f64>,
    arrivals: f64,
    since: Instant,
    messages: u64,
    bytes: u64,
    is_flood: bool,
}

impl Budget {
    fn new(now: Instant) -> Self {
        let left = KINDS.iter().map(|kind| kind.limits().0).collect();
        Self { left, arrivals: ARRIVALS, since: now, messages: 0, bytes: 0, is_flood: false }
    }

    fn refill(&mut self, now: Instant) {
        let gone: Duration = now.saturating_duration_since(self.since);
        self.since = self.since.max(now);
        self.arrivals = (self.arrivals + gone.as_secs_f64() / ANOTHER).min(ARRIVALS);
        for (left, kind) in self.left.iter_mut().zip(KINDS) {
            let (most, each_second) = kind.limits();
            *left = (*left + gone.as_secs_f64() * each_second).min(most);
        }
    }

    fn spend(&mut self, kind: Kind, bytes: usize) -> Spent {
        let (left, cost) = (&mut self.left[kind as usize], bytes as f64 + MESSAGE);
        if !self.is_flood && *left >= cost {
            *left -= cost;
            return Spent::Read;
        }
        self.messages += 1;
        self.bytes += bytes as u64;
        let is_flood = self.bytes > EXCESS || self.messages > MESSAGES;
        if is_flood && !std::mem::replace(&mut self.is_flood, true) {
            return Spent::Flood { messages: self.messages, bytes: self.bytes };
        }
        Spent::Left
    }
}

/// The budgets of all workers.
#[derive(Debug, Default)]
pub(super) struct Budgets(HashMap<String, Budget>);

impl Budgets {
    /// Takes the cost of a message from its worker's budget.
    pub fn spend(&mut self, now: Instant, worker: &str, kind: Kind, bytes: usize) -> Spent {
        self.of(now, worker).spend(kind, bytes)
    }

    /// What follows the line that a worker is here; `None`: it is not said, as the worker comes without end.
    pub fn arrival(&mut self, now: Instant, worker: &str) -> Option<&'static str> {
        let left = &mut self.of(now, worker).arrivals;
        if *left < 1.0 {
            return None;
        }
        *left -= 1.0;
        Some(if *left < 1.0 { " (further arrivals are left out)" } else { "" })
    }

    fn of(&mut self, now: Instant, worker: &str) -> &mut Budget {
        // Bounded, whatever lets workers in: those beyond the bound share a budget.
        let key = if self.0.len() < 2 * COUNTED || self.0.contains_key(worker) { worker } else { "" };
        let budget = self.0.entry(key.to_owned()).or_insert_with(|| Budget::new(now));
        budget.refill(now);
        budget
    }

    /// Gives a worker a new budget, as it was readmitted.
    pub fn forget(&mut self, worker: &str) {
        self.0.remove(worker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: usize = 1024;

    #[test]
    fn a_machine_of_the_most_slots_with_the_shortest_pairs_is_always_read() {
        let begun = Instant::now();
        let mut budgets = Budgets::default();
        for beat in 0..1000 {
            let now = begun + Duration::from_secs(5 * beat);
            assert_eq!(budgets.spend(now, "ann", Kind::Lists, 330 * KB), Spent::Read);
        }
    }

    #[test]
    fn long_lists_without_a_pause_are_left_unread_and_then_they_are_a_flood_once() {
        let now = Instant::now();
        let mut budgets = Budgets::default();
        let spent: Vec<Spent> = (0..100).map(|_| budgets.spend(now, "evil", Kind::Lists, 600 * KB)).collect();
        assert_eq!(spent.iter().filter(|spent| **spent == Spent::Read).count(), 3);
        let floods = spent.iter().filter(|spent| matches!(spent, Spent::Flood { .. })).count();
        assert_eq!(floods, 1, "{spent:?}");
        assert_eq!(budgets.spend(now, "ann", Kind::Lists, KB), Spent::Read, "others are read");
        let later = now + Duration::from_secs(3600);
        assert_eq!(budgets.spend(later, "evil", Kind::Lists, KB), Spent::Left);
        budgets.forget("evil");
        assert_eq!(budgets.spend(later, "evil", Kind::Lists, KB), Spent::Read, "it was readmitted");
    }

    #[test]
    fn many_small_messages_are_a_flood_too_and_the_number_of_budgets_is_bounded() {
        let now = Instant::now();
        let mut budgets = Budgets::default();
        let floods = (0..30_000)
            .filter(|_| matches!(budgets.spend(now, "evil", Kind::Lists, 10), Spent::Flood { .. }));
        assert_eq!(floods.count(), 1);
        (0..10 * COUNTED).for_each(|at| _ = budgets.spend(now, &at.to_string(), Kind::Lists, 10));
        assert!(budgets.0.len() <= 2 * COUNTED + 1);
    }
}

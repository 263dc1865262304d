//! Lines for stderr with their times, in the order of what happened.
//!
//! Lines about entries come after their commit, others at once. So each of the others waits for the entries that were
//! appended before it.

use crate::output;
use journal::Appended;
use notation::date;
use parking_lot::Mutex;
use std::{collections::VecDeque, sync::Arc};

/// Prints lines in order. Dropping it prints what is still waiting.
#[derive(Default)]
pub struct OrderedLines(Printer);

/// Takes lines; clones share the order.
#[derive(Clone, Default)]
pub struct Printer(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    appended: Option<Appended>,
    /// Entries printed or passed over.
    seen: u64,
    /// Lines with the number of entries that come before them, and their times in ms since 1970.
    waiting: VecDeque<(u64, i64, String)>,
}

impl OrderedLines {
    /// Where the lines go.
    pub fn printer(&self) -> Printer {
        self.0.clone()
    }

    /// Takes the number of entries from here; before, lines are printed at once.
    pub fn follow(&self, appended: Appended) {
        self.0.0.lock().appended = Some(appended);
    }
}

impl Drop for OrderedLines {
    fn drop(&mut self) {
        let mut held = self.0.0.lock();
        held.appended = None;
        held.print_until(u64::MAX);
    }
}

impl Printer {
    /// Takes a line about what happens now.
    pub fn say(&self, line: &str) {
        let mut held = self.0.lock();
        let before = held.appended.as_ref().map_or(0, Appended::count);
        held.waiting.push_back((before, journal::now(), line.to_owned()));
        let seen = held.seen;
        held.print_until(seen);
    }

    /// Takes the next entry, with its time and the line about it, if it is worth one.
    pub fn entry(&self, at: i64, line: Option<&str>) {
        let mut held = self.0.lock();
        line.iter().for_each(|line| print(at, line));
        held.seen += 1;
        let seen = held.seen;
        held.print_until(seen);
    }
}

impl Held {
    fn print_until(&mut self, seen: u64) {
        while let Some((_, at, line)) = self.waiting.pop_front_if(|(before, ..)| *before <= seen) {
            print(at, &line);
        }
    }
}

fn print(at: i64, line: &str) {
    output::say(&format!("{} {line}", date::text(at)));
}

//! The players of a ledger.

use serde::Serialize;

/// What makes two players of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Programs of other contents, arguments or options; without it players are their names.
    pub build: bool,
    /// Other clocks, node counts or depths.
    pub clock: bool,
    /// Other machines.
    pub machine: bool,
}

impl Default for Apart {
    fn default() -> Self {
        Self { build: true, clock: true, machine: false }
    }
}

/// A player of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// The name that it had first.
    pub name: String,
    /// Other names of the same build.
    pub also: Vec<String>,
    /// SHA-256 of its program in hexadecimal digits, where builds are told apart and it is known.
    pub build: Option<String>,
    /// Its arguments and options, where builds are told apart.
    pub settings: String,
    /// Its clock as a configuration has it, where clocks are told apart; empty: unknown.
    pub clock: String,
    /// The machine that it played on, where the ledger distinguishes machines; empty: the manager's.
    pub machine: String,
    /// Number of events.
    pub events: u64,
}

/// What a player is found by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub who: Who,
    pub clock: String,
    pub machine: String,
}

/// What a player is, clock and machine aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    /// SHA-256 of the program and its files, and its settings.
    Build(Vec<String>, String),
    /// Of a player whose program is not known here.
    Name(String),
}

impl Node {
    /// The node of a key under its first name.
    pub(crate) fn new(key: &Key, name: &str) -> Self {
        let (build, settings) = match &key.who {
            Who::Build(sums, settings) => (sums.first().cloned(), settings.clone()),
            Who::Name(_) => (None, String::new()),
        };
        let (clock, machine) = (key.clock.clone(), key.machine.clone());
        Self { name: name.to_owned(), also: vec![], build, settings, clock, machine, events: 0 }
    }

    /// True if the player is called so, by any of its names or by the first digits (at least four) of its build.
    pub fn is_called(&self, word: &str) -> bool {
        let is_build = |build: &String| word.len() >= 4 && build.starts_with(word);
        self.name == word
            || self.also.iter().any(|name| name == word)
            || self.build.as_ref().is_some_and(is_build)
    }
}

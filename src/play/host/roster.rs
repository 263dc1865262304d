//! All players who have ever played in the event, in the order of their first games.

use parking_lot::Mutex;
use referee::entry::{Entry, Opened, PlayerId};
use std::collections::HashMap;

/// The players of the event; it only grows.
#[derive(Debug, Default)]
pub struct Roster(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    numbers: HashMap<String, PlayerId>,
    names: Vec<String>,
    /// How many of them are reported to the journal.
    stored: usize,
}

impl Roster {
    /// A roster of the players of earlier runs.
    pub fn new(names: Vec<String>) -> Self {
        let numbers = names.iter().enumerate().map(|(i, name)| (name.clone(), PlayerId::at(i))).collect();
        Self(Mutex::new(Known { numbers, stored: names.len(), names }))
    }

    /// True if a player is entered.
    pub fn knows(&self, id: &str) -> bool {
        self.0.lock().numbers.contains_key(id)
    }

    /// The number of a player; a new one is entered.
    pub fn player(&self, id: &str) -> PlayerId {
        let mut known = self.0.lock();
        if let Some(number) = known.numbers.get(id) {
            return *number;
        }
        let number = PlayerId::at(known.names.len());
        known.names.push(id.to_owned());
        known.numbers.insert(id.to_owned(), number);
        number
    }

    /// Renames a player who was known under `former` and is not known under `id`; returns the entry of it. The player
    /// keeps its number, and with it games and rating.
    pub fn rename(&self, former: &str, id: &str) -> Option<Entry> {
        let mut known = self.0.lock();
        if known.numbers.contains_key(id) {
            return None;
        }
        let player = known.numbers.remove(former)?;
        known.numbers.insert(id.to_owned(), player);
        known.names[player.index()] = id.to_owned();
        Some(Entry::Renamed { player, name: id.to_owned() })
    }

    /// The ids of all players, by number.
    pub fn names(&self) -> Vec<String> {
        self.0.lock().names.clone()
    }

    /// The players who have come since this was last asked.
    pub fn unreported(&self) -> Vec<Entry> {
        let mut known = self.0.lock();
        let first = known.stored;
        known.stored = known.names.len();
        let new = known.names.iter().enumerate().skip(first);
        new.map(|(at, name)| Entry::Entered { player: PlayerId::at(at), name: name.clone() }).collect()
    }
}

/// The head of an event.
pub fn opened(name: &str, players: Vec<String>, resumed: bool) -> Entry {
    Entry::Opened(Opened { name: name.to_owned(), players, format: "free pairing".to_owned(), resumed })
}

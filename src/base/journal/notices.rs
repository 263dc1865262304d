//! Notices that were delivered to a channel, so that none is delivered twice.

use super::{EventId, Store, StoreError, Writer};
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeSet;

/// The name of the row that tells since when a channel receives notices. No notice has it.
const SINCE: &str = "";

impl Store {
    /// The event of this name, if there is one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn event_named(&self, name: &str) -> Result<Option<EventId>, StoreError> {
        self.database().check(|conn| {
            let id = "SELECT id FROM events WHERE name = ?";
            conn.query_row(id, [name], |row| row.get(0).map(EventId)).optional()
        })
    }

    /// The notices of an event that a channel has received.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn delivered(&self, event: EventId, channel: &str) -> Result<BTreeSet<String>, StoreError> {
        self.database().check(|conn| {
            conn.prepare("SELECT notice FROM notices WHERE event = ? AND channel = ? AND notice <> ?")?
                .query_map(params![event.0, channel, SINCE], |row| row.get(0))?
                .collect()
        })
    }
}

impl Writer {
    /// Since when a channel receives the notices of an event, in ms since 1970-01-01 UTC: `now`, the first time.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn notices_since(&self, event: EventId, channel: &str, now: i64) -> Result<i64, StoreError> {
        self.deliver(event, channel, SINCE, now)?;
        self.database().check(|conn| {
            let since = "SELECT at FROM notices WHERE event = ? AND channel = ? AND notice = ?";
            conn.query_row(since, params![event.0, channel, SINCE], |row| row.get(0))
        })
    }

    /// Records that a channel has received a notice.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn deliver(&self, event: EventId, channel: &str, notice: &str, at: i64) -> Result<(), StoreError> {
        let sql = "INSERT INTO notices VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
        self.database().write(|conn| conn.execute(sql, params![event.0, channel, notice, at]).map(drop))
    }
}

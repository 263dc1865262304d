//! An event that begins anew, or changes its size.

use super::{EventId, Store, StoreError, Writer, adjourn, row::int};
use contest::schedule::Pairing;
use referee::entry::GameId;
use rusqlite::{Connection, OptionalExtension};

/// An event under other sizes of its stages.
#[derive(Clone, Debug)]
pub struct Rescheduled<'a> {
    /// The plan as JSON.
    pub plan: &'a str,
    /// Its fingerprint as JSON.
    pub fingerprint: &'a str,
    /// The games whose place in the schedule changes, with their new places.
    pub games: &'a [(GameId, Pairing)],
    /// True if an event that was over has games left to play.
    pub reopens: bool,
}

impl Store {
    /// The fingerprint of an event that has been played; `None` if there is no such event, or nothing of it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn fingerprint(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT fingerprint FROM events e
                       WHERE name = ? AND EXISTS (SELECT 1 FROM log WHERE log.event = e.id)";
            conn.query_row(sql, [name], |row| row.get(0)).optional()
        })
    }
}

impl Writer {
    /// Stores the plan of another size, and gives the games that were begun their new places, all in one transaction.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn reschedule(&self, event: EventId, to: &Rescheduled<'_>) -> Result<(), StoreError> {
        self.database().write(|conn| {
            let sql = "UPDATE events SET plan = ?2, fingerprint = ?3 WHERE id = ?1";
            conn.execute(sql, (event.0, to.plan, to.fingerprint))?;
            let mut place =
                conn.prepare("UPDATE games SET index_ = ?3, pair = ?4 WHERE event = ?1 AND number = ?2")?;
            for (game, pairing) in to.games {
                place.execute((event.0, int(game.0), int(pairing.index), int(pairing.pair)))?;
            }
            if to.reopens { reopen(conn, event) } else { Ok(()) }
        })
    }

    /// Takes the end of an event back, so that its games go on.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn reopen(&self, event: EventId) -> Result<(), StoreError> {
        self.database().write(|conn| reopen(conn, event))
    }

    /// Gives an event another name, such as `league.1`, so that its own is free for one that begins anew. Returns the
    /// name; `None` if there is no such event, or nothing of it was played.
    ///
    /// # Errors
    /// [`StoreError::Running`] while a process plays the event; other variants when the database cannot be written.
    pub fn set_aside(&mut self, name: &str) -> Result<Option<String>, StoreError> {
        let find =
            "SELECT id FROM events e WHERE name = ? AND EXISTS (SELECT 1 FROM log WHERE log.event = e.id)";
        let found =
            self.database().check(|conn| conn.query_row(find, [name], |row| row.get(0)).optional())?;
        let Some(event) = found.map(EventId) else { return Ok(None) };
        self.lock_event(event)?;
        let renamed = self.database().write(|conn| {
            let aside = free_name(conn, name)?;
            let sql = "UPDATE events SET name = ?2, plan = json_set(plan, '$.name', ?2) WHERE id = ?1";
            conn.execute(sql, (event.0, &aside))?;
            // Nobody will play the games that a dead process left running.
            adjourn(conn, event)?;
            Ok(aside)
        });
        self.lock = None;
        renamed.map(Some)
    }
}

/// The end of an event that grows, or has games to play again, is taken back.
fn reopen(conn: &Connection, event: EventId) -> rusqlite::Result<()> {
    conn.execute("DELETE FROM closings WHERE event = ?", [event.0])?;
    conn.execute("DELETE FROM log WHERE event = ? AND kind = 'closed'", [event.0]).map(drop)
}

/// The first of `NAME.1`, `NAME.2` and so on that no event has.
fn free_name(conn: &Connection, name: &str) -> rusqlite::Result<String> {
    let mut taken = conn.prepare("SELECT EXISTS (SELECT 1 FROM events WHERE name = ?)")?;
    let mut number = 1_u64;
    loop {
        let aside = format!("{name}.{number}");
        if !taken.query_row([&aside], |row| row.get(0))? {
            return Ok(aside);
        }
        number += 1;
    }
}

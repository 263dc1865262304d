#![doc = include_str!("SCHEMA.md")]

mod accounts;
mod adjourned;
mod annotations;
mod archive;
mod database;
mod defence;
mod error;
mod follow;
mod handover;
mod identities;
mod identity;
mod insert;
mod judgements;
mod leases;
mod lock;
mod machines;
mod notices;
mod operations;
mod prune;
mod queue;
mod ratings;
mod read;
mod readers;
mod registrations;
mod replay;
mod reschedule;
mod row;
mod seal;
mod side;
mod stream;
mod tallies;
#[cfg(test)]
mod tests;
mod verify;

pub use accounts::{Account, NoRole, Role, WebAccount};
pub use archive::EndedGame;
pub use database::databases_in;
pub use error::StoreError;
pub use follow::Follower;
pub use identities::KnownIdentity;
pub use leases::{Fleet, KnownLease, MachineCounts};
pub use prune::{Bounds, Prunable};
pub use queue::{MOST_QUEUED, NewTest, QueuedTest, TestChange, Tests};
pub use ratings::RatingRow;
pub use read::{EventSummary, FullGame, GameFilter, GameRow, GameState, RuledGame};
pub use readers::{Read, Reader};
pub use registrations::{Invitation, Registered, Registration};
pub use replay::Moves;
pub use reschedule::Rescheduled;
pub use stream::{Appended, Journal, Opening};
pub use tallies::{Fineness, Tally};
pub use verify::{Alteration, Verified};

use database::Database;
use insert::Rows;
use lock::EventLock;
use referee::{
    AbortBy, Outcome,
    entry::{Entry, GameEnded, GameId, Stamped},
};
use rusqlite::Connection;
use std::{
    ops::Deref,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

/// Version of the schema of databases that are written.
pub const SCHEMA: usize = database::SCHEMA;

/// Row id of an event in `events`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId(pub i64);

/// A database file, open for reading: no method changes it.
#[derive(Debug)]
pub struct Store {
    database: Database,
}

/// A database file, open for writing and reading.
///
/// The entries of an event go through its [`Journal`]. Beside it, each in one short transaction, are written: accounts,
/// registrations and invitations; ratings; delivered notices; the queue of tests; the plan, size and name of an event;
/// the speed of its machines; and the moves of old games are dropped.
#[derive(Debug)]
pub struct Writer {
    store: Store,
    lock: Option<EventLock>,
}

/// The file has all of an event that is played no longer, also while others have it open: who copies it, copies no log beside it.
impl Drop for Writer {
    fn drop(&mut self) {
        if self.lock.is_some() {
            let _a_reader_is_at_it = self.store.database.gather();
        }
    }
}

impl Deref for Writer {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// Identity and plan of an event, for creating it or finding it again.
#[derive(Clone, Copy, Debug)]
pub struct EventHead<'a> {
    /// Name, unique in the database.
    pub name: &'a str,
    /// `run`, `serve`, `floodgate`, or `import` for games of record files.
    pub kind: &'a str,
    /// The whole plan as JSON, for reports.
    pub plan: &'a str,
    /// The parts of the plan, as JSON, that must not change when the event is resumed.
    pub fingerprint: &'a str,
}

/// An event that this process has locked for playing.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenedEvent {
    /// Its row id.
    pub event: EventId,
    /// True if earlier runs have stored entries.
    pub resumed: bool,
    /// Number of the next game.
    pub next_game: GameId,
    /// Fingerprint stored when the event began; resuming under another one would falsify the results.
    pub fingerprint: String,
    /// The faults of indexes that were mended, if the last process died; otherwise `None`.
    pub mended: Option<Vec<String>>,
    /// When the last game that is stored began or ended, as text.
    pub last_at: Option<String>,
    /// Games that were running when the last process died. Their ends ([`AbortBy::Stopped`]) are stored already and
    /// part of every replay; the caller has to play them again.
    pub adjourned: Vec<GameEnded>,
}

impl OpenedEvent {
    /// A sentence about the end of the last process, if it died.
    pub fn recovery(&self) -> Option<String> {
        let state = match &self.mended.as_ref()?[..] {
            [] => "the file was checked and is sound".to_owned(),
            [fault, ..] => format!("indexes of the file were damaged and made anew ({fault})"),
        };
        let last = match &self.last_at {
            Some(at) => format!("what is stored ends at {at}"),
            None => "no game is stored".to_owned(),
        };
        Some(format!("the last process died while it played this event; {state}; {last}"))
    }
}

impl Store {
    /// Faults of the file, a few of them: of its pages, and of indexes that differ from their tables. Reads the whole file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn damage(&self) -> Result<Vec<String>, StoreError> {
        self.database.damage()
    }

    /// Opens a database for reading. Readers and writers do not block each other.
    ///
    /// # Errors
    /// When the file does not exist, is not a database of this program, or has a newer schema.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Ok(Self { database: Database::read(path.as_ref())? })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.database.path
    }

    /// Looks whether the file that was opened still has its name.
    ///
    /// # Errors
    /// When it was deleted, moved or replaced: what is read of it would be shown for ever.
    pub fn check_place(&self) -> Result<(), StoreError> {
        match self.database.is_in_place() {
            true => Ok(()),
            false => Err(StoreError::Gone(self.path().to_owned())),
        }
    }

    fn database(&self) -> &Database {
        &self.database
    }
}

impl Writer {
    /// Moves the log beside the file into the file. Returns the log if not all of it could be moved at once.
    pub fn unmoved_log(&self) -> Option<PathBuf> {
        (!self.database.gather().unwrap_or(false)).then(|| platform::files::beside(self.path(), "-wal"))
    }

    /// Opens or creates a database.
    ///
    /// # Errors
    /// When the file cannot be opened for writing, is not a database of this program, or has a newer schema.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Ok(Self { store: Store { database: Database::open(path.as_ref())? }, lock: None })
    }

    /// Creates or resumes an event, and locks it until this store is dropped.
    ///
    /// # Errors
    /// [`StoreError::Running`] while another process plays the event; other variants when the database cannot be
    /// written.
    pub fn open_event(&mut self, head: &EventHead<'_>) -> Result<OpenedEvent, StoreError> {
        let event = self.database.write(|conn| insert_event(conn, head))?;
        self.lock_event(event)?;
        let died = self.lock.as_ref().is_some_and(|lock| lock.was_left);
        let mended = died.then(|| self.database.recover()).transpose()?;
        self.database.write(|conn| {
            let resumed: bool =
                conn.query_row("SELECT EXISTS (SELECT 1 FROM log WHERE event = ?)", [event.0], |row| {
                    row.get(0)
                })?;
            if !resumed {
                // A process that died before its first entry has left only its plan, so the new plan replaces it.
                let sql = "UPDATE events SET kind = ?2, plan = ?3, fingerprint = ?4 WHERE id = ?1";
                conn.execute(sql, (event.0, head.kind, head.plan, head.fingerprint))?;
            }
            let (next, fingerprint): (i64, _) = conn.query_row(
                "SELECT (SELECT coalesce(max(number), 0) + 1 FROM games WHERE event = ?1), fingerprint
                 FROM events WHERE id = ?1",
                [event.0],
                |row| row.try_into(),
            )?;
            let next_game = GameId(next.unsigned_abs());
            let sql = "SELECT strftime('%Y-%m-%d %H:%M:%S UTC', max(coalesce(ended_at, started_at)) / 1000, 'unixepoch')
                       FROM games WHERE event = ?";
            let last_at = conn.query_row(sql, [event.0], |row| row.get(0))?;
            let adjourned = adjourn(conn, event)?;
            Ok(OpenedEvent { event, resumed, next_game, fingerprint, mended, last_at, adjourned })
        })
    }

    /// Replaces the stored plan of an event, which reports read: facts about its players may have changed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn replan(&self, event: EventId, plan: &str) -> Result<(), StoreError> {
        let sql = "UPDATE events SET plan = ?2 WHERE id = ?1";
        self.database.write(|conn| conn.execute(sql, (event.0, plan)).map(drop))
    }

    fn lock_event(&mut self, event: EventId) -> Result<(), StoreError> {
        if self.lock.as_ref().is_some_and(|lock| lock.event == event) {
            return Ok(());
        }
        let (name, now): (String, String) = self.database.check(|conn| {
            conn.query_row(
                "SELECT name, strftime('%Y-%m-%d %H:%M:%S UTC', 'now') FROM events WHERE id = ?",
                [event.0],
                |row| row.try_into(),
            )
        })?;
        self.lock = Some(EventLock::take(self.path(), event, &name, &now)?);
        Ok(())
    }
}

fn insert_event(conn: &Connection, head: &EventHead<'_>) -> rusqlite::Result<EventId> {
    conn.execute(
        "INSERT INTO events (name, kind, created_at, plan, fingerprint) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (head.name, head.kind, now(), head.plan, head.fingerprint),
    )?;
    conn.query_row("SELECT id FROM events WHERE name = ?", [head.name], |row| row.get(0).map(EventId))
}

/// Ends the games that a dead process left running, so that every replayed game has an end.
fn adjourn(conn: &Connection, event: EventId) -> rusqlite::Result<Vec<GameEnded>> {
    let games: Vec<GameEnded> = conn
        .prepare(&format!(
            "SELECT {}, (SELECT max(ply) FROM moves WHERE game = g.id), coalesce(g.opening_moves, '') FROM games g
             WHERE g.event = ? AND g.ended_at IS NULL ORDER BY g.number",
            row::PAIRING
        ))?
        .query_map([event.0], |row| {
            let (game, pairing) = row::pairing(row, 0)?;
            let outcome = Outcome::Aborted { by: AbortBy::Stopped };
            let evidence = "the program that ran this game ended before the game did".to_owned();
            let of_opening = row.get_ref(10)?.as_str()?.split_whitespace().count();
            let plies = row.get::<_, Option<u32>>(9)?.unwrap_or(u32::try_from(of_opening).unwrap_or(0));
            Ok(GameEnded { evidence, ..GameEnded::new(game, pairing, outcome, plies) })
        })?
        .collect::<Result<_, _>>()?;
    let (mut rows, at) = (Rows::new(conn, event)?, now());
    for game in &games {
        rows.store(&Stamped { at, entry: Entry::GameEnded(game.clone()) })?;
    }
    Ok(games)
}

/// Time of the start of a game whose date nobody knows, as of a record without a date: `started_at` is NULL then. The
/// times of its moves count from its start, and its end has the time at which it was stored.
pub const UNDATED: i64 = i64::MIN;

/// Current time in ms since 1970-01-01 UTC.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

//! The queue of `renmei queue`: tests that wait for their games. The games of a test are an event of the same file, so a
//! test is over when its event is, and nothing here has to be told of it.

use super::{EventId, Store, StoreError, Writer, lock, lock::EventLock, now};
use rusqlite::{Connection, OptionalExtension, Row};

/// The key of the table `meta` that says that the whole queue is paused.
const PAUSED: &str = "queue_paused";
/// The key of the table `meta` that says that tests wait for an approval.
const ASKS: &str = "queue_asks";
/// What stands for the queue in place of an event in the name of its lock file: no event has this number.
const QUEUE: EventId = EventId(0);

/// Tests that may be in a queue and are not over.
pub const MOST_QUEUED: usize = 1000;

/// A test as it is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTest<'a> {
    /// What people call it.
    pub title: &'a str,
    /// The repository: an absolute path, or a URL.
    pub repository: &'a str,
    /// The configuration of its event, as TOML.
    pub config: &'a str,
    /// The directory that its relative paths start from.
    pub base: &'a str,
    /// The commits, as JSON.
    pub commits: &'a str,
    /// Tests of a higher priority are played first.
    pub priority: i64,
    /// Its share of the games, among tests that are played together.
    pub share: u32,
    /// What is to be known of it, in words.
    pub note: &'a str,
    /// Who adds it.
    pub by: &'a str,
}

/// A test of the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedTest {
    /// Its number, from 1.
    pub number: u64,
    /// The name of its event; there is none in the database before the first game.
    pub event: String,
    /// What people call it.
    pub title: String,
    /// When it was added, in ms since 1970-01-01 UTC.
    pub added_at: i64,
    /// The repository.
    pub repository: String,
    /// The configuration of its event, as TOML.
    pub config: String,
    /// The directory that its relative paths start from.
    pub base: String,
    /// The commits, as JSON.
    pub commits: String,
    /// Tests of a higher priority are played first.
    pub priority: i64,
    /// Its share of the games, among tests that are played together.
    pub share: u32,
    /// True if no game of it is to begin.
    pub paused: bool,
    /// Why it cannot be played, if it cannot.
    pub fault: Option<String>,
    /// True if it was taken off the queue.
    pub removed: bool,
    /// True if its games have lost their moves.
    pub pruned: bool,
    /// True if all its games were played.
    pub over: bool,
    /// When its event ended, in ms since 1970-01-01 UTC.
    pub over_at: Option<i64>,
    /// What is to be known of it, in words.
    pub note: String,
    /// The user who added it.
    pub added_by: Option<String>,
    /// True if it was added to a queue whose tests wait for an approval.
    pub asks: bool,
    /// Who approved it.
    pub approved_by: Option<String>,
}

impl QueuedTest {
    /// True if games of it are to be played.
    pub fn waits(&self) -> bool {
        !self.is_settled() && !self.paused && !self.is_unapproved()
    }

    /// True if no game of it begins before somebody approves it.
    pub fn is_unapproved(&self) -> bool {
        self.asks && self.approved_by.is_none()
    }

    /// True if no game of it will be played, unless somebody wants it.
    pub fn is_settled(&self) -> bool {
        self.over || self.removed || self.fault.is_some()
    }
}

/// Which tests are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tests {
    /// All that ever were in the queue.
    All,
    /// Those that are not over, not removed, and can be played as far as is known.
    Open,
}

/// A change of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TestChange<'a> {
    /// No game of it begins.
    Pause,
    /// Games of it begin again, also after a failure.
    Resume,
    /// Another priority.
    Priority(i64),
    /// Another share.
    Share(u32),
    /// It is taken off the queue; games that were played stay.
    Remove,
    /// It cannot be played, and why.
    Fail(&'a str),
    /// Its games have lost their moves.
    Pruned,
    /// What is to be known of it.
    Note(&'a str),
    /// Its games may begin, by the word of somebody.
    Approve(&'a str),
}

impl Store {
    /// The process that plays the queue, if any.
    pub fn queue_holder(&self) -> Option<String> {
        lock::holder_of_event(self.path(), QUEUE)
    }

    /// True if a process has an event open to play it.
    pub fn is_played(&self, event: EventId) -> bool {
        lock::holder_of_event(self.path(), event).is_some()
    }

    /// Tests in the order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn queued_tests(&self, which: Tests) -> Result<Vec<QueuedTest>, StoreError> {
        self.database.check(|conn| {
            let open = "WHERE removed_at IS NULL AND failed_at IS NULL AND over_at IS NULL";
            let sql = format!("{SELECT} {} ORDER BY number", if which == Tests::Open { open } else { "" });
            conn.prepare_cached(&sql)?.query_map([], queued)?.collect()
        })
    }

    /// A test by its number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn queued_test(&self, number: u64) -> Result<Option<QueuedTest>, StoreError> {
        self.database.check(|conn| {
            let sql = format!("{SELECT} WHERE number = ?");
            conn.prepare_cached(&sql)?.query_row([super::row::int(number)], queued).optional()
        })
    }

    /// Whether the whole queue is paused.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn queue_is_paused(&self) -> Result<bool, StoreError> {
        self.has_mark(PAUSED)
    }

    fn has_mark(&self, key: &str) -> Result<bool, StoreError> {
        self.database.check(|conn| {
            let mut mark = conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM meta WHERE key = ?)")?;
            mark.query_row([key], |row| row.get(0))
        })
    }
}

impl Writer {
    /// Takes the right to play the queue of a database, which the system releases with the process, or when this store
    /// is dropped.
    ///
    /// # Errors
    /// [`StoreError::Running`] while another process plays it.
    pub fn lock_queue(&mut self) -> Result<(), StoreError> {
        let now: String = self.database.check(|conn| {
            conn.query_row("SELECT strftime('%Y-%m-%d %H:%M:%S UTC', 'now')", [], |row| row.get(0))
        })?;
        self.lock = Some(EventLock::take(self.path(), QUEUE, "the queue", &now)?);
        Ok(())
    }

    /// Puts a test at the end of the queue; returns its number. `None`: the queue is full ([`MOST_QUEUED`]).
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn queue_test(&self, test: &NewTest<'_>) -> Result<Option<u64>, StoreError> {
        self.database.write(|conn| {
            let waiting = "SELECT count(*) FROM queued_tests q
                           WHERE removed_at IS NULL AND failed_at IS NULL AND NOT EXISTS (
                             SELECT 1 FROM events e JOIN closings c ON c.event = e.id WHERE e.name = q.event)";
            let waiting: i64 = conn.query_row(waiting, [], |row| row.get(0))?;
            if usize::try_from(waiting).unwrap_or(usize::MAX) >= MOST_QUEUED {
                return Ok(None);
            }
            // The number is in the name of the event, and known only afterwards.
            let sql = "INSERT INTO queued_tests
                         (event, title, added_at, repository, config, base, commits, priority, share, note, added_by,
                          asks)
                       VALUES ('', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, EXISTS (SELECT 1 FROM meta WHERE key = ?))";
            let NewTest { title, repository, config, base, commits, priority, share, note, by } = *test;
            let words = (title, now(), repository, config, base, commits, priority, share, note, by, ASKS);
            conn.execute(sql, words)?;
            let number = conn.last_insert_rowid();
            let taken = "SELECT EXISTS (SELECT 1 FROM events WHERE name = ?)";
            let mut event = format!("test-{number}");
            // Somebody may have played an event of that name into this file.
            while conn.query_row(taken, [&event], |row| row.get(0))? {
                event.push('+');
            }
            conn.execute("UPDATE queued_tests SET event = ? WHERE number = ?", (event, number))?;
            Ok(Some(number.unsigned_abs()))
        })
    }

    /// Changes a test; returns whether there is one of that number that is not removed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn change_test(&self, number: u64, change: &TestChange<'_>) -> Result<bool, StoreError> {
        self.database.write(|conn| Ok(alter(conn, super::row::int(number), change)? > 0))
    }

    /// Pauses the whole queue, or lets it go on.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn pause_queue(&self, paused: bool) -> Result<(), StoreError> {
        self.mark(PAUSED, paused)
    }

    /// Lets tests that are added from now on wait for an approval, or begin without one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn let_queue_ask(&self, asks: bool) -> Result<(), StoreError> {
        self.mark(ASKS, asks)
    }

    fn mark(&self, key: &str, is_set: bool) -> Result<(), StoreError> {
        self.database.write(|conn| {
            match is_set {
                true => conn.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, now().to_string())),
                false => conn.execute("DELETE FROM meta WHERE key = ?", [key]),
            }
            .map(drop)
        })
    }
}

/// A test is over when its event has an end; one that becomes longer loses it.
const SELECT: &str = "SELECT number, event, title, added_at, repository, config, base, commits, priority, share, paused,
    CASE WHEN failed_at IS NULL THEN NULL ELSE coalesce(fault, '') END, removed_at IS NOT NULL, pruned_at IS NOT NULL,
    over_at, note, added_by, asks, approved_by
    FROM (SELECT *, (SELECT max(c.at) FROM events e JOIN closings c ON c.event = e.id WHERE e.name = q.event) AS over_at
          FROM queued_tests q)";

fn queued(row: &Row<'_>) -> rusqlite::Result<QueuedTest> {
    let over_at: Option<i64> = row.get(14)?;
    Ok(QueuedTest {
        number: super::row::unsigned(row, 0)?,
        event: row.get(1)?,
        title: row.get(2)?,
        added_at: row.get(3)?,
        repository: row.get(4)?,
        config: row.get(5)?,
        base: row.get(6)?,
        commits: row.get(7)?,
        priority: row.get(8)?,
        share: row.get(9)?,
        paused: row.get(10)?,
        fault: row.get(11)?,
        removed: row.get(12)?,
        pruned: row.get(13)?,
        over: over_at.is_some(),
        over_at,
        note: row.get(15)?,
        added_by: row.get(16)?,
        asks: row.get(17)?,
        approved_by: row.get(18)?,
    })
}

fn alter(conn: &Connection, number: i64, change: &TestChange<'_>) -> rusqlite::Result<usize> {
    let update =
        |set: &str| format!("UPDATE queued_tests SET {set} WHERE number = ?1 AND removed_at IS NULL");
    match change {
        TestChange::Pause => conn.execute(&update("paused = 1"), [number]),
        TestChange::Resume => conn.execute(&update("paused = 0, failed_at = NULL, fault = NULL"), [number]),
        TestChange::Priority(priority) => conn.execute(&update("priority = ?2"), (number, priority)),
        TestChange::Share(share) => conn.execute(&update("share = ?2"), (number, share)),
        // Also of a test that is over: what was learned from it.
        TestChange::Note(note) => conn.execute(&update("note = ?2"), (number, note)),
        TestChange::Approve(by) => {
            conn.execute(&update("approved_by = ?2, approved_at = ?3"), (number, by, now()))
        }
        TestChange::Remove => conn.execute(&update("removed_at = ?2"), (number, now())),
        TestChange::Fail(fault) => {
            conn.execute(&update("failed_at = ?2, fault = ?3"), (number, now(), fault))
        }
        TestChange::Pruned => {
            conn.execute("UPDATE queued_tests SET pruned_at = ?2 WHERE number = ?1", (number, now()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: NewTest<'_> = NewTest {
        title: "a test",
        repository: "/engine",
        config: "",
        base: "/",
        commits: "{}",
        priority: 0,
        share: 100,
        note: "",
        by: "ann",
    };

    #[test]
    fn a_test_of_a_queue_that_asks_waits_for_its_approval_and_those_before_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let store = Writer::open(dir.path().join("queue.db")).unwrap();
        store.queue_test(&TEST).unwrap();
        store.let_queue_ask(true).unwrap();
        store.queue_test(&NewTest { note: "after the fix", ..TEST }).unwrap();
        let waits =
            || store.queued_tests(Tests::Open).unwrap().iter().map(QueuedTest::waits).collect::<Vec<_>>();
        assert_eq!(waits(), [true, false]);
        store.change_test(2, &TestChange::Approve("kai")).unwrap();
        assert_eq!(waits(), [true, true]);
        store.let_queue_ask(false).unwrap();
        store.queue_test(&TEST).unwrap();
        assert_eq!(waits(), [true; 3]);
        let test = store.queued_test(2).unwrap().unwrap();
        assert_eq!((test.added_by.as_deref(), test.approved_by.as_deref()), (Some("ann"), Some("kai")));
        assert_eq!(test.note, "after the fix");
    }

    #[test]
    fn a_queue_that_is_full_takes_no_test_until_one_is_settled() {
        let dir = tempfile::tempdir().unwrap();
        let store = Writer::open(dir.path().join("queue.db")).unwrap();
        assert_eq!(store.queue_test(&TEST).unwrap(), Some(1));
        let fill = "WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < ?)
                    INSERT INTO queued_tests (event, title, added_at, repository, config, base, commits)
                    SELECT 'test-' || n, '', 0, '', '', '', '' FROM n";
        store.database.write(|conn| conn.execute(fill, [MOST_QUEUED as i64])).unwrap();
        assert_eq!(store.queue_test(&TEST).unwrap(), None);
        assert!(store.change_test(7, &TestChange::Fail("it does not build")).unwrap());
        assert_eq!(store.queue_test(&TEST).unwrap(), Some(1001));
        assert_eq!(store.queued_test(7).unwrap().unwrap().fault.as_deref(), Some("it does not build"));
    }

    #[test]
    fn a_test_that_was_removed_is_changed_no_more_and_its_number_is_not_given_again() {
        let dir = tempfile::tempdir().unwrap();
        let store = Writer::open(dir.path().join("queue.db")).unwrap();
        store.queue_test(&TEST).unwrap();
        assert!(store.change_test(1, &TestChange::Remove).unwrap());
        assert!(!store.change_test(1, &TestChange::Resume).unwrap());
        assert!(store.queued_tests(Tests::Open).unwrap().is_empty());
        assert_eq!(store.queue_test(&TEST).unwrap(), Some(2));
        assert_eq!(store.queued_tests(Tests::All).unwrap().len(), 2);
    }
}

//! A disk under SQLite that forgets what was not synced, that fills up, and that fails.
//!
//! A program opens its database as ever: [`Disk::at`] makes a directory such a disk, and a VFS that is SQLite's default from
//! then on takes what SQLite does to files in it. Files elsewhere, and whatever is no file of SQLite, are not touched.
//!
//! The files are ordinary ones, as a process sees them while the system lives. Beside them the disk knows what is **on the
//! platter**: the content of each file at its last sync, the names of files at the last sync of the directory, and the
//! changes since, in their order. After a crash, [`Disk::restart`] leaves what a new process would find: all of it when the
//! process alone was killed; after a power cut, of the changes of each file and of the names, what the seed says. A write
//! that was not synced is there, is not, or is there in some of its sectors; names come and go in their order, as on file
//! systems with a log.
//!
//! Shared memory, locks and reads are those of the VFS below. What this disk does not do: it is never slow, it does not
//! spoil bytes at rest, and what a failed sync has left unsynced can still be synced later.

mod vfs;

use crate::Random;
use rusqlite::ffi;
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::c_int,
    fmt, fs, mem,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Bytes that a disk writes whole or not at all.
const SECTOR: u64 = 512;

/// What goes wrong at an operation: a write, a change of a length, a removal or a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The process dies in the middle of it. Nothing that it does afterwards has an effect.
    Dies,
    /// It fails, in the middle of it; the next one succeeds.
    Fails,
    /// The disk is full: no file grows from now on, until [`Disk::make_room`].
    Fills,
}

/// How a process has died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Death {
    /// It was killed: the system keeps all that was written.
    Killed,
    /// The power was cut: what was not synced may be gone.
    PowerCut,
}

/// What has happened on a disk.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Operations so far.
    pub operations: u64,
    /// Syncs among them that were carried out.
    pub syncs: u64,
    /// The faults, in words.
    pub faults: Vec<String>,
    /// Changes of files that a power cut has taken, whole or in part.
    pub forgotten: u64,
}

/// The disk of a directory, until it is dropped.
pub struct Disk {
    directory: PathBuf,
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The disks of this process, by their directories.
static DISKS: Mutex<BTreeMap<PathBuf, Arc<Mutex<State>>>> = Mutex::new(BTreeMap::new());

impl Disk {
    /// Makes an existing directory a disk whose chances are decided by `seed`.
    ///
    /// # Panics
    /// When there is no such directory, or it is a disk already.
    #[must_use]
    pub fn at(directory: &Path, seed: u64) -> Self {
        vfs::register();
        let directory = directory.canonicalize().unwrap();
        let state = Arc::new(Mutex::new(State::new(seed)));
        let other = lock(&DISKS).insert(directory.clone(), state.clone());
        assert!(other.is_none(), "`{}` is a disk already", directory.display());
        Self { directory, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Plans a fault at an operation: the first one from now on is 1.
    pub fn plan(&self, operation: u64, fault: Fault) {
        let mut state = self.state();
        let at = state.history.operations + operation;
        state.planned.insert(at, fault);
    }

    /// Forgets what was planned and has not happened.
    pub fn plan_nothing(&self) {
        self.state().planned.clear();
    }

    /// The process that uses the disk dies now.
    pub fn die(&self) {
        self.state().dies("between two operations");
    }

    /// True from the death of the process until [`Self::restart`].
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.state().is_dead
    }

    /// True if no file can grow.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.state().is_full
    }

    /// There is room again.
    pub fn make_room(&self) {
        self.state().is_full = false;
    }

    /// From now on files can only be opened for reading, or not so any more.
    pub fn set_read_only(&self, is_read_only: bool) {
        self.state().is_read_only = is_read_only;
    }

    /// From now on syncs are answered and not carried out, as by a drive with a cache that nothing flushes.
    pub fn lie(&self) {
        self.state().lies = true;
    }

    /// What has happened so far.
    #[must_use]
    pub fn history(&self) -> History {
        self.state().history.clone()
    }

    /// Leaves what the next process finds, after one that has died so.
    ///
    /// # Panics
    /// When the dead process has a file open: its locks would hinder the next one.
    pub fn restart(&self, death: Death) {
        let mut state = self.state();
        assert_eq!(state.open, 0, "files are open that a dead process would have closed");
        if death == Death::PowerCut {
            state.forget();
        }
        state.is_dead = false;
        state.planned.clear();
        // Shared memory has no content when nobody shares it.
        let files = fs::read_dir(&self.directory).unwrap().map(|file| file.unwrap().path());
        let shared = files.filter(|file| file.as_os_str().as_bytes().ends_with(b"-shm"));
        shared.for_each(|file| fs::remove_file(file).unwrap());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        lock(&DISKS).remove(&self.directory);
    }
}

/// A panic in a test leaves a state that is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of the content of a file, which outlives its name.
type Inode = u64;

struct State {
    random: Random,
    files: BTreeMap<Inode, File>,
    /// The names of files, as processes see them.
    names: BTreeMap<PathBuf, Inode>,
    /// The same on the platter.
    synced_names: BTreeMap<PathBuf, Inode>,
    /// What has changed since: the file that a name has got, or that it has none any more.
    unsynced_names: Vec<(PathBuf, Option<Inode>)>,
    last_inode: Inode,
    /// Faults by the numbers of their operations.
    planned: BTreeMap<u64, Fault>,
    history: History,
    /// Files that are open.
    open: usize,
    is_dead: bool,
    is_full: bool,
    is_read_only: bool,
    lies: bool,
}

/// The content of a file.
#[derive(Default)]
struct File {
    /// On the platter.
    synced: Vec<u8>,
    unsynced: Vec<Change>,
    /// Length, as processes see it.
    length: u64,
}

/// A change of a file.
enum Change {
    /// Bytes from this place on.
    Bytes(u64, Vec<u8>),
    /// Its length.
    Length(u64),
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Bytes(at, bytes) => {
                let (at, end) = (*at as usize, *at as usize + bytes.len());
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[at..end].copy_from_slice(bytes);
            }
            Self::Length(length) => content.resize(*length as usize, 0),
        }
    }

    /// What some of its sectors are.
    fn torn(&self, random: &mut Random) -> Vec<Self> {
        let Self::Bytes(first, bytes) = self else { return vec![] };
        let mut kept = vec![];
        let (mut at, end) = (*first, first + bytes.len() as u64);
        while at < end {
            let next = ((at / SECTOR + 1) * SECTOR).min(end);
            if random.chance(50) {
                kept.push(Self::Bytes(at, bytes[(at - first) as usize..(next - first) as usize].to_vec()));
            }
            at = next;
        }
        kept
    }
}

impl File {
    fn change(&mut self, change: Change) {
        match &change {
            Change::Bytes(at, bytes) => self.length = self.length.max(at + bytes.len() as u64),
            Change::Length(length) => self.length = *length,
        }
        self.unsynced.push(change);
    }

    fn sync(&mut self) {
        mem::take(&mut self.unsynced).iter().for_each(|change| change.apply(&mut self.synced));
    }

    /// Keeps of what was not synced what the dice say; returns how many changes are not there any more as they were.
    fn forget(&mut self, random: &mut Random) -> u64 {
        // Nothing, everything, each change or not, or parts of each.
        let way = random.below(4);
        let mut forgotten = 0;
        for change in mem::take(&mut self.unsynced) {
            match way {
                1 => change.apply(&mut self.synced),
                2 if random.chance(50) => change.apply(&mut self.synced),
                3 if random.chance(40) => change.apply(&mut self.synced),
                3 => {
                    change.torn(random).iter().for_each(|part| part.apply(&mut self.synced));
                    forgotten += 1;
                }
                _ => forgotten += 1,
            }
        }
        self.length = self.synced.len() as u64;
        forgotten
    }
}

/// What becomes of an operation.
enum Course {
    Succeeds,
    /// It has no effect.
    IsRefused,
    /// It has some effect, and fails.
    BreaksOff,
}

impl State {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed),
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            synced_names: BTreeMap::new(),
            unsynced_names: vec![],
            last_inode: 0,
            planned: BTreeMap::new(),
            history: History::default(),
            open: 0,
            is_dead: false,
            is_full: false,
            is_read_only: false,
            lies: false,
        }
    }

    fn dies(&mut self, when: &str) {
        self.is_dead = true;
        let at = self.history.operations;
        self.history.faults.push(format!("operation {at}: the process dies {when}"));
    }

    /// Counts an operation, and lets happen what was planned for it.
    fn course(&mut self, what: &str) -> Course {
        if self.is_dead {
            return Course::IsRefused;
        }
        self.history.operations += 1;
        let at = self.history.operations;
        match self.planned.remove(&at) {
            None => return Course::Succeeds,
            Some(Fault::Dies) => self.dies(&format!("in {what}")),
            Some(Fault::Fails) => self.history.faults.push(format!("operation {at}: {what} fails")),
            Some(Fault::Fills) => {
                self.is_full = true;
                self.history.faults.push(format!("operation {at}: the disk is full"));
                return Course::Succeeds;
            }
        }
        Course::BreaksOff
    }

    /// The first sectors of a write that breaks off.
    fn part(&mut self, length: usize) -> usize {
        let sectors = (length as u64).div_ceil(SECTOR);
        ((self.random.below(sectors + 1) * SECTOR) as usize).min(length)
    }

    fn write(&mut self, inode: Inode, at: u64, bytes: &[u8], put: impl FnOnce(&[u8]) -> c_int) -> c_int {
        let room = self.files[&inode].length.saturating_sub(at).min(bytes.len() as u64) as usize;
        let (kept, code) = match self.course("a write") {
            Course::Succeeds if self.is_full && room < bytes.len() => (room, ffi::SQLITE_FULL),
            Course::Succeeds => (bytes.len(), ffi::SQLITE_OK),
            Course::IsRefused => (0, ffi::SQLITE_IOERR_WRITE),
            Course::BreaksOff if self.is_full => (0, ffi::SQLITE_IOERR_WRITE),
            Course::BreaksOff => (self.part(bytes.len()), ffi::SQLITE_IOERR_WRITE),
        };
        if kept > 0 {
            let below = put(&bytes[..kept]);
            if below != ffi::SQLITE_OK {
                return below;
            }
            let change = Change::Bytes(at, bytes[..kept].to_vec());
            self.files.get_mut(&inode).unwrap().change(change);
        }
        code
    }

    fn set_length(&mut self, inode: Inode, length: u64, put: impl FnOnce() -> c_int) -> c_int {
        let (is_done, code) = self.is_done("a change of a length", ffi::SQLITE_IOERR_TRUNCATE);
        if is_done {
            let below = put();
            if below != ffi::SQLITE_OK {
                return below;
            }
            self.files.get_mut(&inode).unwrap().change(Change::Length(length));
        }
        code
    }

    fn sync(&mut self, inode: Inode, with_names: bool) -> c_int {
        let (is_done, code) = self.is_done("a sync", ffi::SQLITE_IOERR_FSYNC);
        if is_done && !self.lies {
            self.history.syncs += 1;
            self.files.get_mut(&inode).unwrap().sync();
            if with_names {
                self.sync_names();
            }
        }
        code
    }

    fn remove(&mut self, name: &Path, with_names: bool, put: impl FnOnce() -> c_int) -> c_int {
        let (is_done, code) = self.is_done("a removal", ffi::SQLITE_IOERR_DELETE);
        if is_done {
            let below = put();
            if below != ffi::SQLITE_OK {
                return below;
            }
            self.names.remove(name);
            self.unsynced_names.push((name.to_owned(), None));
            if with_names && !self.lies {
                self.sync_names();
            }
        }
        code
    }

    /// Whether an operation without parts is carried out, and its answer.
    fn is_done(&mut self, what: &str, refusal: c_int) -> (bool, c_int) {
        match self.course(what) {
            Course::Succeeds => (true, ffi::SQLITE_OK),
            Course::IsRefused => (false, refusal),
            // Whoever dies or fails does not know.
            Course::BreaksOff => (self.is_dead && self.random.chance(50), refusal),
        }
    }

    /// The file of a name that was opened; a name without a file gets one.
    fn opened(&mut self, name: &Path, content: impl FnOnce() -> Option<Vec<u8>>) -> Inode {
        if let Some(inode) = self.names.get(name) {
            return *inode;
        }
        self.last_inode += 1;
        let inode = self.last_inode;
        self.names.insert(name.to_owned(), inode);
        let mut file = File::default();
        match content() {
            // It was there before this disk.
            Some(content) => {
                (file.length, file.synced) = (content.len() as u64, content);
                self.synced_names.insert(name.to_owned(), inode);
            }
            None => self.unsynced_names.push((name.to_owned(), Some(inode))),
        }
        self.files.insert(inode, file);
        inode
    }

    fn sync_names(&mut self) {
        self.unsynced_names.clear();
        self.synced_names.clone_from(&self.names);
    }

    /// What a power cut leaves, as files.
    fn forget(&mut self) {
        let Self { random, files, names, synced_names, unsynced_names, history, .. } = self;
        let kept = random.below(unsynced_names.len() as u64 + 1) as usize;
        for (name, inode) in unsynced_names.drain(..).take(kept) {
            match inode {
                Some(inode) => synced_names.insert(name, inode),
                None => synced_names.remove(&name),
            };
        }
        let left: BTreeSet<Inode> = synced_names.values().copied().collect();
        files.retain(|inode, _| left.contains(inode));
        history.forgotten += files.values_mut().map(|file| file.forget(random)).sum::<u64>();
        let gone = names.keys().filter(|name| !synced_names.contains_key(*name));
        gone.for_each(|name| fs::remove_file(name).unwrap());
        synced_names.iter().for_each(|(name, inode)| fs::write(name, &files[inode].synced).unwrap());
        names.clone_from(synced_names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{Connection, ErrorCode};

    /// A database with one row a transaction, of which each is synced or none.
    fn written(disk: &Disk, synchronous: &str, rows: i64) -> rusqlite::Result<()> {
        let conn = Connection::open(disk.directory.join("a.db"))?;
        conn.pragma_update(None, "journal_mode", "wal")?;
        conn.execute_batch("CREATE TABLE IF NOT EXISTS numbers (number INTEGER PRIMARY KEY, text TEXT)")?;
        conn.pragma_update(None, "synchronous", synchronous)?;
        for _ in 0..rows {
            conn.execute("INSERT INTO numbers (text) VALUES (hex(randomblob(600)))", [])?;
        }
        // Nobody closes a file in a process that dies.
        disk.die();
        Ok(())
    }

    /// The rows that are there.
    ///
    /// # Errors
    /// What is damaged.
    fn rows(disk: &Disk) -> Result<i64, String> {
        let conn = Connection::open(disk.directory.join("a.db")).unwrap();
        let check = conn.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        match check.map_err(|error| error.to_string())?.as_str() {
            "ok" => Ok(conn.query_row("SELECT count(*) FROM numbers", [], |row| row.get(0)).unwrap_or(0)),
            fault => Err(fault.to_owned()),
        }
    }

    #[test]
    fn a_power_cut_takes_what_was_not_synced_and_a_kill_takes_nothing() {
        let mut lost = 0;
        for seed in 0..24 {
            for (death, synchronous) in
                [(Death::Killed, "off"), (Death::PowerCut, "full"), (Death::PowerCut, "off")]
            {
                let directory = tempfile::tempdir().unwrap();
                let disk = Disk::at(directory.path(), seed);
                written(&disk, synchronous, 20).unwrap();
                disk.restart(death);
                match (death, synchronous) {
                    (Death::PowerCut, "off") => lost += u64::from(rows(&disk) != Ok(20)),
                    _ => assert_eq!(rows(&disk), Ok(20), "seed {seed}: {death:?}, synchronous {synchronous}"),
                }
            }
        }
        assert!(lost > 6, "rows were lost by {lost} of 24 power cuts");
    }

    #[test]
    fn a_disk_that_lies_about_syncs_loses_what_it_said_to_have() {
        let lost = (0..12).filter(|&seed| {
            let directory = tempfile::tempdir().unwrap();
            let disk = Disk::at(directory.path(), seed);
            disk.lie();
            written(&disk, "full", 20).unwrap();
            disk.restart(Death::PowerCut);
            rows(&disk) != Ok(20)
        });
        assert!(lost.count() > 3);
    }

    #[test]
    fn at_whatever_operation_a_process_dies_each_transaction_is_there_or_is_not() {
        for seed in 0..3 {
            for at in 1.. {
                let directory = tempfile::tempdir().unwrap();
                let disk = Disk::at(directory.path(), seed);
                disk.plan(at, Fault::Dies);
                let written = written(&disk, "full", 4);
                let is_past_the_last = disk.history().operations < at;
                disk.restart(if (seed + at).is_multiple_of(2) { Death::Killed } else { Death::PowerCut });
                let rows = rows(&disk).unwrap_or_else(|fault| panic!("seed {seed}, operation {at}: {fault}"));
                assert!(written.is_err() || rows == 4, "seed {seed}, operation {at}: {rows} rows");
                if is_past_the_last {
                    break;
                }
            }
        }
    }

    #[test]
    fn a_full_disk_takes_what_needs_no_room_and_goes_on_when_there_is_room() {
        let directory = tempfile::tempdir().unwrap();
        let disk = Disk::at(directory.path(), 0);
        let conn = Connection::open(directory.path().join("a.db")).unwrap();
        conn.execute_batch("CREATE TABLE numbers (number INTEGER); INSERT INTO numbers VALUES (1)").unwrap();
        disk.plan(1, Fault::Fills);
        let fill = "INSERT INTO numbers SELECT hex(randomblob(9000))";
        let refused = conn.execute(fill, []).unwrap_err();
        assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::DiskFull));
        assert!(disk.is_full());
        disk.make_room();
        conn.execute(fill, []).unwrap();
        disk.plan(2, Fault::Fails);
        let failed = conn.execute(fill, []).unwrap_err();
        assert_eq!(failed.sqlite_error_code(), Some(ErrorCode::SystemIoFailure));
        conn.execute(fill, []).unwrap();
        let rows: i64 = conn.query_row("SELECT count(*) FROM numbers", [], |row| row.get(0)).unwrap();
        assert_eq!((rows, disk.history().faults.len()), (3, 2));
    }

    #[test]
    fn a_read_only_disk_opens_files_for_reading_and_files_elsewhere_are_not_touched() {
        let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let disk = Disk::at(directory.path(), 0);
        let make = "CREATE TABLE numbers (number INTEGER)";
        Connection::open(directory.path().join("a.db")).unwrap().execute_batch(make).unwrap();
        disk.set_read_only(true);
        let conn = Connection::open(directory.path().join("a.db")).unwrap();
        let refused = conn.execute("INSERT INTO numbers VALUES (1)", []).unwrap_err();
        assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::ReadOnly));
        let operations = disk.history().operations;
        Connection::open(elsewhere.path().join("a.db")).unwrap().execute_batch(make).unwrap();
        assert_eq!(disk.history().operations, operations);
    }
}

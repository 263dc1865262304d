//! Files of the program: private, and never made through a foreign link.
//!
//! A database, its log and its records may lie in a directory that others can write to. A file whose name the program
//! chooses itself, beside a database or in a directory of records or logs, is therefore opened without following a
//! symbolic link: whoever planted it would choose where the program writes. A path that a user names on the command line
//! is the user's own affair: links in it are followed, `/dev/stdout` is one.
//! Files in the directory of an untrusted engine are read through [`Foreign`], and those that somebody has named by
//! [`contents`] and its siblings.
//!
//! [`keep_private`] sets the umask of the program, so that what it makes is readable by its user alone. What a user asks
//! for to show it to others, a page or an export, gets the mode of the user's own umask ([`create_shared`]), and so does
//! whatever a program makes that is started here ([`give_users_umask`]).
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`Access`] | mode | mode | `Private`: an access list of the owner, administrators and the system; others: the list of the directory |
//! | files that libraries make after [`keep_private`] | mode 0600 | mode 0600 | the list of the directory |
//! | no link below a root ([`write_below`]) | `openat` | `openat` | each directory is looked at, then entered by its name |
//! | [`Foreign`] | `openat2`: links that stay inside are followed | no link inside is followed | links are followed, and the place of the open file is compared |
//! | a second name of a file (hard link) is refused | yes | yes | yes |
//! | [`Identity`] | device and inode | device and inode | volume and file index |
//! | time of a change of the file's data by the system ([`Stamp`]) | `st_ctime` | `st_ctime` | `ChangeTime` |
//! | [`exposure`] | mode | mode | error: access lists are not evaluated |
//! | [`is_executable`] | mode | mode | the ending of the name |
//! | [`drives`]: where all paths begin | `/` | `/` | the letters of the disks |
//! | [`sync_directory`] | `fsync` | `fsync` | nothing to do: a directory is written by the file system's journal |

mod foreign;
mod named;
#[cfg_attr(unix, path = "files/unix.rs")]
#[cfg_attr(windows, path = "files/windows.rs")]
mod side;
#[cfg(unix)]
mod umask;

pub use foreign::Foreign;
pub use named::{LARGE, SMALL, append, contents, create_shared, regular, typed, typed_contents, utf8};
pub use side::{
    close_to_others, create_directory, create_new, drives, exposure, give_users_umask, is_executable,
    keep_private, open, owner_alone, read, read_linked, seal, share, symlink, sync_directory, write_below,
};

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// How a SQLite database begins.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// Endings of names that are configurations, databases and the books of engines.
const INPUTS: [&str; 2] = ["toml", "db"];

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Access {
    /// The user that the program runs as.
    #[default]
    Private,
    /// Whoever the user's umask lets read it.
    Shared,
    /// Everybody on the machine, whatever the umask: a web server.
    Everybody,
}

/// What makes a file the one that it is, whatever its names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The file system: its device, or the serial number of its volume.
    pub device: u64,
    /// The number of the file in it.
    pub number: u64,
}

impl Identity {
    /// The identity of an open file.
    ///
    /// # Errors
    /// When the system does not give it.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Stamp::of(file)?.identity)
    }

    /// The identity of what has this name; a link is not followed.
    ///
    /// # Errors
    /// When nothing has the name, or the system does not give it.
    pub fn at(path: &Path) -> io::Result<Self> {
        side::identity_at(path)
    }
}

/// What the system knows of a file without reading it: the file has changed if any of it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The file.
    pub identity: Identity,
    /// Its size.
    pub bytes: u64,
    /// Its mode, or its attributes on Windows.
    pub rights: u32,
    /// Time of modification, as the system counts: seconds and nanoseconds, or intervals of 100 ns and 0 on Windows.
    pub modified: (i64, i64),
    /// Also changes when the time of modification is set back; counted as `modified`.
    pub changed: (i64, i64),
}

impl Stamp {
    /// The stamp of an open file.
    ///
    /// # Errors
    /// When the system does not give it.
    pub fn of(file: &File) -> io::Result<Self> {
        side::stamp(file)
    }

    /// The stamp of a file; links are followed.
    ///
    /// # Errors
    /// When nothing has the name, or the system does not give it.
    pub fn at(path: &Path) -> io::Result<Self> {
        side::stamp_at(path)
    }

    /// Whether the file may be executed; `None` where its name alone decides that.
    pub fn is_executable(&self) -> Option<bool> {
        cfg!(unix).then_some(self.rights & 0o111 != 0)
    }

    /// True for a device of Unix.
    pub fn is_device(&self) -> bool {
        cfg!(unix) && matches!(self.rights & 0o170_000, 0o020_000 | 0o060_000)
    }
}

/// The users beyond its owner for whom a file is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// Every user of the machine may read it.
    pub everybody_reads: bool,
    /// Every user of the machine may write to it; in a directory, make and remove files.
    pub everybody_writes: bool,
    /// Every user of the machine may execute it; in a directory, use the names in it.
    pub everybody_enters: bool,
    /// Anybody but the owner, the group included, may do any of it.
    pub beyond_owner: bool,
}

impl Exposure {
    /// True if every user of the machine may do any of it.
    pub fn to_everybody(self) -> bool {
        self.everybody_reads || self.everybody_writes || self.everybody_enters
    }
}

/// The path whose name has this end behind that of another one, such as `-wal`.
pub fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// True if a path leads to a program: a regular file that may be executed.
pub fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && is_executable(path, &data))
}

/// Creates a file under a name of the program's own choice, or empties the one that is there.
///
/// # Errors
/// When the name is a link, a database or no regular file, or the file cannot be written.
pub fn create(path: &Path) -> io::Result<File> {
    refuse_database(path)?;
    let file = open(path)?;
    file.set_len(0)?;
    Ok(file)
}

/// Refuses a name that is a database or of a database, for a file that would replace what it holds or write into it.
///
/// # Errors
/// When the file of this name is a SQLite database, or the name is one of those that SQLite and the locks of events have
/// beside a database, also beside one that is not there yet.
pub fn refuse_database(path: &Path) -> io::Result<()> {
    if is_database(path) {
        return Err(io::Error::other("it is a database, which is not replaced; give the file another name"));
    }
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.rsplit_once('-'));
    let is_beside = |suffix: &str| matches!(suffix, "wal" | "shm" | "journal") || suffix.starts_with("run");
    let is_name = |name: &str| name.ends_with(".db") || is_database(&path.with_file_name(name));
    match name.filter(|(name, suffix)| is_beside(suffix) && is_name(name)) {
        Some((name, _)) => {
            Err(io::Error::other(format!("it belongs to the database `{name}`; give the file another name")))
        }
        None => Ok(()),
    }
}

/// Refuses a name that no output has: that of a database or a configuration, for a file that a user names.
///
/// # Errors
/// When the name or the file is one of these.
pub fn refuse_input(path: &Path) -> io::Result<()> {
    refuse_database(path)?;
    let is_input = |ending: &OsStr| INPUTS.iter().any(|input| ending.eq_ignore_ascii_case(input));
    match path.extension().is_some_and(is_input) {
        true => {
            Err(io::Error::other("a configuration or a database has such a name; give the file another name"))
        }
        false => Ok(()),
    }
}

/// True if a name is that of a SQLite database.
pub fn is_database(path: &Path) -> bool {
    let mut head = [0; SQLITE.len()];
    regular(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == SQLITE
}

/// Refuses a symbolic link, and what is no file, under a name of the program's own choice, for files that another library opens.
///
/// # Errors
/// When the name is that of one.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(link()),
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) => refused(found.is_file(), 1),
        Err(_) => Ok(()),
    }
}

/// Refuses a name of a database by which SQLite means something else than a file of that name.
///
/// # Errors
/// When the name is empty, `:memory:`, or begins with `file:`.
pub fn refuse_special_name(path: &Path) -> io::Result<()> {
    let is_special = |name: &OsStr| name == ":memory:" || name.as_encoded_bytes().starts_with(b"file:");
    match path.as_os_str().is_empty()
        || is_special(path.as_os_str())
        || path.file_name().is_some_and(is_special)
    {
        true => Err(io::Error::other(
            "`:memory:`, `file:..` and an empty name are no names of files for SQLite; name a file, such as `event.db`",
        )),
        false => Ok(()),
    }
}

/// Refuses a file that has a further name, for files that another library opens. The file is not opened here: to close it
/// would release the locks of the other library.
///
/// # Errors
/// When the file is not regular, has a further name, or the system does not say.
pub fn refuse_second_name(path: &Path) -> io::Result<()> {
    side::refuse_second_name(path)
}

/// True if a file still has this name; a link of that name is another file.
pub fn is_at(file: &File, path: &Path) -> bool {
    matches!((Identity::of(file), Identity::at(path)), (Ok(open), Ok(named)) if open == named)
}

/// Refuses what is not a file of its own: a device, a FIFO, or a further name of some other file.
fn refused(is_file: bool, names: u64) -> io::Result<()> {
    match () {
        () if !is_file => Err(io::Error::other("it is not a regular file, and is not used")),
        () if names > 1 => Err(io::Error::other(
            "the file has a second name elsewhere (a hard link, such as `cp -l` makes), which is not allowed here; \
             remove the other name, or make this a file of its own: `cp FILE NEW`, then `mv NEW FILE`",
        )),
        () => Ok(()),
    }
}

fn link() -> io::Error {
    io::Error::other("it is a symbolic link, which is not followed here; remove it")
}

/// The name under which a file is written before it is complete.
fn unfinished(name: &OsStr) -> OsString {
    let mut unfinished = OsString::from(".");
    unfinished.push(name);
    unfinished.push(".tmp");
    unfinished
}

#[cfg(unix)]
#[cfg(test)]
mod tests;

#[cfg(test)]
mod every_system {
    use super::*;

    #[test]
    fn a_file_is_the_same_under_its_names_and_another_in_its_place() {
        let place = tempfile::tempdir().unwrap();
        let [path, moved] = ["a", "b"].map(|name| place.path().join(name));
        let file = create(&path).unwrap();
        assert!(is_at(&file, &path));
        let stamp = Stamp::of(&file).unwrap();
        assert_eq!((stamp, stamp.identity), (Stamp::at(&path).unwrap(), Identity::at(&path).unwrap()));
        fs::rename(&path, &moved).unwrap();
        assert!(create_new(&moved).is_err());
        let other = create_new(&path).unwrap();
        assert!(is_at(&file, &moved) && is_at(&other, &path) && !is_at(&file, &path));
        drop((file, other));
        fs::hard_link(&path, place.path().join("c")).unwrap();
        assert!(open(&path).unwrap_err().to_string().contains("hard link"));
        assert!(read_linked(&path).is_ok());
        fs::write(&path, "longer").unwrap();
        assert_ne!(Stamp::at(&path).unwrap().bytes, stamp.bytes);
    }

    #[test]
    fn no_file_replaces_a_database() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("cup.db");
        let database = [SQLITE, b"all games"].concat();
        fs::write(&path, &database).unwrap();
        let ways: [fn(&Path) -> io::Result<File>; 2] =
            [create, |path| create_shared(path, "records", |_| true)];
        for create in ways {
            assert!(create(&path).unwrap_err().to_string().contains("it is a database"));
            assert_eq!(fs::read(&path).unwrap(), database);
            for database in ["cup.db", "not-there.db"] {
                for of_it in ["wal", "shm", "journal", "run1"] {
                    let beside = place.path().join(format!("{database}-{of_it}"));
                    let refused = create(&beside).unwrap_err().to_string();
                    assert!(
                        refused.contains(&format!("it belongs to the database `{database}`")),
                        "{refused}"
                    );
                }
            }
            drop(create(&place.path().join("cup-wal")).unwrap());
            drop(create(&place.path().join("page.html")).unwrap());
            drop(create(&place.path().join("page.html")).unwrap());
        }
    }

    #[test]
    fn an_output_replaces_its_own_earlier_contents_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        let create = |name: &str| create_shared(&path(name), "a page", |old| old.starts_with(b"<html>"));
        for (name, text) in [
            ("cup.toml", "[event]"),
            ("new.TOML", ""),
            ("user_book1.db", "#YANEURAOU-DB2016 1.00"),
            ("engine", "\x7fELF and more"),
            ("engine.html", "#!/bin/sh"),
            ("notes.html", "notes"),
            ("engine.c", "int main"),
            ("games.kif", "# KIF"),
        ] {
            fs::write(path(name), text).unwrap();
            let refused = create(name).unwrap_err().to_string();
            assert!(refused.ends_with("; give the file another name"), "{name}: {refused}");
            assert_eq!(fs::read_to_string(path(name)).unwrap(), text);
        }
        assert!(create("other.toml").is_err(), "a hall would play it");
        for (name, text) in [("page.html", "<html>old"), ("none.html", "")] {
            fs::write(path(name), text).unwrap();
            create(name).unwrap();
            assert_eq!(fs::read_to_string(path(name)).unwrap(), "");
        }
        drop(create("new.html").unwrap());
        if symlink(&path("notes.html"), &path("link.html")).is_ok() {
            create("link.html").unwrap_err();
            assert_eq!(fs::read_to_string(path("notes.html")).unwrap(), "notes", "a link is followed");
        }
    }

    #[test]
    fn a_file_is_written_below_a_directory_for_its_owner() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("records");
        for access in [Access::Private, Access::Shared] {
            write_below(&root, Path::new("2026/11/a.csa"), b"record", access).unwrap();
        }
        assert_eq!(fs::read(root.join("2026/11/a.csa")).unwrap(), b"record");
        assert!(write_below(&root, Path::new("../a.csa"), b"record", Access::Private).is_err());
        assert_eq!(fs::read_dir(root.join("2026/11")).unwrap().count(), 1, "nothing unfinished is left");
        owner_alone(&root).unwrap();
        close_to_others(&root.join("2026/11/a.csa")).unwrap();
        share(&create(&root.join("page.html")).unwrap()).unwrap();
        sync_directory(&root).unwrap();
        assert!(is_program(&std::env::current_exe().unwrap()) && !is_program(&root));
    }

    #[test]
    fn a_file_is_written_again_and_again_while_others_read_it_and_they_see_it_whole() {
        let place = tempfile::tempdir().unwrap();
        let text = |turn: usize| turn.to_string().repeat(1000);
        let write =
            |turn| write_below(place.path(), Path::new("list"), text(turn).as_bytes(), Access::Private);
        write(0).unwrap();
        let is_written = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_written.load(std::sync::atomic::Ordering::Relaxed) {
                    let read = fs::read_to_string(place.path().join("list")).unwrap_or_else(|_| text(0));
                    assert!((0..100).any(|turn| read == text(turn)), "{read}");
                }
            });
            (1..100).for_each(|turn| write(turn).unwrap());
            is_written.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }

    #[test]
    fn an_open_file_leads_nowhere_out_of_a_foreign_directory() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().join("engine");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("book"), "moves").unwrap();
        let foreign = Foreign::new([&home]);
        assert!(foreign.open(&home.join("book")).is_ok());
        assert_eq!(foreign.real(&home.join("book")).unwrap(), home.canonicalize().unwrap().join("book"));
        assert!(foreign.open(&home.join("none")).is_err() && foreign.open(&home).is_err());
    }
}

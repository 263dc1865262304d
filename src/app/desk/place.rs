//! The directory of a desk: names of files in it, and how they are written.

use crate::refused;
use notation::{is_hidden, no_device, record::Format};
use parking_lot::{ReentrantMutex, ReentrantMutexGuard};
use plan::Event;
use platform::files::{self, Access};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};
use web::refusals::Refusal;
use words::Language;

/// Most letters of the name of an event.
const LETTERS: usize = 60;
/// Where events go that are deleted.
const BIN: &str = "bin";
/// Names that are no events.
const RESERVED: [&str; 2] = ["hall", "engines"];
/// Where databases and records are that are studied, beside those of the directory itself.
pub const SHELF: &str = "study";
/// The ending of databases.
const DATABASE: &str = "db";
/// What a database begins with.
pub const SQLITE: &[u8] = b"SQLite format 3\0";

/// The directory.
#[derive(Clone, Debug)]
pub struct Place {
    directory: PathBuf,
    /// Held by the one who reads a file in order to write it. One process has the directory.
    writing: Arc<ReentrantMutex<()>>,
}

impl Place {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory, writing: Arc::default() }
    }

    /// Keeps every other form from the files: between what is read and what is written for it, and between a file and the
    /// order about it, nobody else writes.
    pub fn alone(&self) -> ReentrantMutexGuard<'_, ()> {
        self.writing.lock()
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The name of a new event's file without `.toml`, from what the event is called.
    pub fn new_name(&self, title: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
        let name: String = title.trim().chars().take(LETTERS).map(plain).collect();
        let name = name.trim_matches('-');
        let name = no_device(if name.is_empty() { "event" } else { name }.to_owned());
        let is_free = |name: &String| {
            !RESERVED.contains(&name.to_lowercase().as_str())
                && ["toml", "db"].iter().all(|end| !self.directory.join(format!("{name}.{end}")).exists())
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
    }

    /// The file of an event of this directory; `None` if no event can have the name.
    pub fn file(&self, event: &str) -> Option<PathBuf> {
        let is_free = !RESERVED.contains(&event.to_lowercase().as_str());
        (is_name(event) && is_free).then(|| self.directory.join(format!("{event}.toml")))
    }

    /// The file of an event that is there.
    ///
    /// # Errors
    /// When there is no such event.
    pub fn existing(&self, event: &str) -> Result<PathBuf, Refusal> {
        let file = self.file(event).filter(|file| file.is_file());
        file.ok_or_else(|| Refusal::bad(Language::no_such_event))
    }

    /// A database or a record of the directory by its key: `NAME`, or `study/NAME`.
    pub fn shelved(&self, key: &str) -> Option<PathBuf> {
        let name = key.strip_prefix(SHELF).and_then(|rest| rest.strip_prefix('/')).unwrap_or(key);
        kind_of(name).map(|_| self.directory.join(key))
    }

    /// The keys of the databases and records of the directory, in the order of their names.
    pub fn shelf(&self) -> Vec<String> {
        let names = |directory: &Path| -> Vec<String> {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
            let mut names: Vec<_> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.retain(|name| kind_of(name).is_some());
            names.sort_by_key(|name| name.to_lowercase());
            names
        };
        let shelf = names(&self.directory.join(SHELF)).into_iter().map(|name| format!("{SHELF}/{name}"));
        names(&self.directory).into_iter().chain(shelf).collect()
    }

    /// Takes in a file under its own name; none is overwritten, and one with the same contents stays. Returns its key.
    pub fn take_in(&self, name: &str, bytes: &[u8]) -> Result<String, Refusal> {
        let shown = notation::printable(name.as_bytes());
        let kind = kind_of(name).ok_or_else(|| Refusal::bad(|words| words.not_a_record_file(&shown)))?;
        if kind.is_none() && !bytes.starts_with(SQLITE) {
            return Err(Refusal::bad(|words| words.not_a_database(&shown)));
        }
        let (path, key) = (Path::new(SHELF).join(name), format!("{SHELF}/{name}"));
        let there = self.directory.join(&path);
        if files::contents(&there, files::LARGE).is_ok_and(|known| known == bytes) {
            return Ok(key);
        }
        if fs::symlink_metadata(there).is_ok() {
            return Err(Refusal::conflict(|words| words.file_is_there(&shown)));
        }
        let written = files::write_below(&self.directory, &path, bytes, Access::Private);
        written.map_err(|error| refused(format!("{shown}: {error}")))?;
        Ok(key)
    }

    /// Keeps contents in the study under a name, or one like it where another file has it. Returns the key.
    pub fn keep(&self, stem: &str, ending: &str, bytes: &[u8]) -> Result<String, Refusal> {
        let mut number = 1;
        loop {
            let mark = if number == 1 { String::new() } else { format!("-{number}") };
            let name = format!("{stem}{mark}.{ending}");
            match files::contents(&self.directory.join(SHELF).join(&name), files::LARGE) {
                Ok(known) if known != bytes => number += 1,
                _ => return self.take_in(&name, bytes),
            }
        }
    }

    /// Writes a file of the directory in one piece.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        if text.len() as u64 > files::SMALL {
            return Err(io::Error::other(format!(
                "`{name}` would be larger than 1 MB, which is not read again"
            )));
        }
        files::write_below(&self.directory, Path::new(name), text.as_bytes(), Access::Private)
    }

    /// Moves a configuration of the directory into its bin, with a database and what lies beside that under its name.
    /// Returns where they are. What cannot be moved leaves all of them where they were.
    pub fn remove(&self, event: &str, database: Option<&Path>, now: i64) -> io::Result<PathBuf> {
        let file = self.file(event).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let bin = self.new_bin(event, now)?;
        let ends = ["", "-wal", "-shm", ".lock", ".searches"];
        let parts = database.into_iter().flat_map(|database| ends.map(|end| files::beside(database, end)));
        let mut moved: Vec<(PathBuf, PathBuf)> = vec![];
        for from in parts.chain([file]) {
            let to = bin.join(from.file_name().unwrap_or_default());
            match fs::rename(&from, &to) {
                Ok(()) => moved.push((from, to)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    moved.iter().rev().for_each(|(from, to)| drop(fs::rename(to, from)));
                    let _empty = fs::remove_dir(&bin);
                    return Err(error);
                }
            }
        }
        Ok(bin)
    }

    /// A directory of the bin that nothing else was moved into.
    fn new_bin(&self, event: &str, now: i64) -> io::Result<PathBuf> {
        let bins = self.directory.join(BIN);
        files::create_directory(&bins, Access::Private)?;
        let mut number = 1;
        loop {
            let mark = if number == 1 { String::new() } else { format!("-{number}") };
            let bin = bins.join(format!("{event}-{now}{mark}"));
            match fs::create_dir(&bin) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                made => return made.map(|()| bin),
            }
        }
    }

    /// The database that an event has to itself here, by its file; `Err` names one that stays, as it lies elsewhere or another
    /// event of the directory is in it, too.
    pub fn own_database(&self, event: &str) -> Result<PathBuf, PathBuf> {
        let named = |name: &str, path: &Path| {
            let text = plan::text_of(path).unwrap_or_default();
            let base = path.parent().unwrap_or(Path::new("")).to_owned();
            match Event::load(path) {
                Ok(event) => Some(event.database().to_owned()),
                // One that cannot be played names its database all the same.
                Err(_) => database_in(&text, name).map(|database| base.join(database)),
            }
        };
        let file = self.directory.join(format!("{event}.toml"));
        let usual = self.directory.join(format!("{event}.{DATABASE}"));
        let database = named(event, &file).unwrap_or(usual);
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let others = event::hall::event_files(&self.directory).unwrap_or_default();
        let others = others.iter().filter(|other| real(other) != real(&file));
        let is_shared = others.into_iter().any(|other| {
            let stem = other.file_stem().unwrap_or_default().to_string_lossy();
            match named(&stem, other) {
                Some(theirs) => real(&theirs) == real(&database),
                // One that is no TOML says only in words what it is about.
                None => plan::text_of(other).is_ok_and(|text| text.contains(&*file_name(&database))),
            }
        });
        let is_here = real(&database).starts_with(real(&self.directory));
        if is_here && !is_shared { Ok(database) } else { Err(database) }
    }
}

fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The database that the text of an event's file names, or the usual one; `None` if it is no TOML.
fn database_in(text: &str, name: &str) -> Option<String> {
    let document: toml_edit::DocumentMut = text.parse().ok()?;
    let of = |table: &str| document.get(table)?.get("database")?.as_str().map(str::to_owned);
    let is_league = document.contains_key("serve") && !document.contains_key("event");
    let usual = if is_league { "league" } else { name };
    Some(["event", "serve", "floodgate"].into_iter().find_map(of).unwrap_or(format!("{usual}.{DATABASE}")))
}

/// True if a file of the directory can have a name.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.ends_with(['.', ' '])
        && name.chars().count() <= 4 * LETTERS
        && !name.contains(|c: char| c.is_control() || is_hidden(c) || "/\\:*?\"<>|".contains(c))
        && no_device(name.to_owned()) == name
}

/// The format of a record by its name, or `Some(None)` for a database; `None`: a file of another kind, or no name.
pub fn kind_of(name: &str) -> Option<Option<Format>> {
    let (_, ending) = name.rsplit_once('.').filter(|_| is_name(name))?;
    if ending.eq_ignore_ascii_case(DATABASE) {
        return Some(None);
    }
    let format = Format::from_extension(ending).filter(|_| !ending.eq_ignore_ascii_case("json"))?;
    (!matches!(format, Format::Psv | Format::Hcpe)).then_some(Some(format))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_written_in_the_directory_alone_and_under_a_name_that_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        for (title, name) in [
            ("Friday cup", "Friday-cup"),
            ("電竜戦 予選", "電竜戦-予選"),
            ("../../etc/passwd", "etc-passwd"),
            ("///", "event"),
            ("CON", "_CON"),
            ("hall", "hall-2"),
        ] {
            assert_eq!(place.new_name(title), name, "{title}");
        }
        place.write("Friday-cup.toml", "").unwrap();
        assert_eq!(place.new_name("Friday cup"), "Friday-cup-2");
        for hostile in ["", ".x", "../x", "a/b", "a\\b", "c:x", "hall", "ENGINES", "CON", "a\nb", "COM1"] {
            assert_eq!(place.file(hostile), None, "{hostile}");
        }
        assert!(place.file("電竜戦-予選").is_some());
    }

    #[test]
    fn what_is_deleted_lies_in_the_bin() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        for name in ["cup.toml", "cup.db", "cup-2.toml"] {
            place.write(name, name).unwrap();
        }
        let bin = place.remove("cup", Some(&dir.path().join("cup.db")), 7).unwrap();
        assert_eq!(fs::read_to_string(bin.join("cup.db")).unwrap(), "cup.db");
        assert!(!dir.path().join("cup.toml").exists() && dir.path().join("cup-2.toml").exists());
        place.write("cup.toml", "another").unwrap();
        let second = place.remove("cup", None, 7).unwrap();
        assert!(second != bin && bin.join("cup.db").exists() && second.join("cup.toml").exists());
    }

    #[test]
    fn what_belongs_to_an_event_is_what_its_file_says() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        let event = |name: &str, database: &str| {
            let text = format!("[event]\n{database}\nformat = \"round-robin\"\n");
            place.write(&format!("{name}.toml"), &text).unwrap();
        };
        event("main", "database = \"side.db\"");
        event("side", "");
        event("own", "database = \"games/own.db\"");
        event("away", "database = \"/elsewhere/away.db\"");
        let below = |name: &str| dir.path().join(name);
        assert_eq!(place.own_database("side"), Err(below("side.db")), "another event plays it");
        assert_eq!(place.own_database("main"), Err(below("side.db")));
        assert_eq!(place.own_database("own"), Ok(below("games/own.db")));
        assert_eq!(place.own_database("away"), Err("/elsewhere/away.db".into()));
        place.write("main.toml", "database = \"side.db\" [").unwrap();
        assert_eq!(place.own_database("side"), Err(below("side.db")), "a file that is no TOML may mean it");
        fs::remove_file(below("main.toml")).unwrap();
        assert_eq!(place.own_database("side"), Ok(below("side.db")));
    }

    #[test]
    fn only_databases_and_records_are_taken_in_and_none_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        assert_eq!(place.take_in("game.kif", b"one").unwrap(), "study/game.kif");
        let refusal = |name: &str, bytes: &[u8]| place.take_in(name, bytes).unwrap_err().message.to_string();
        assert!(refusal("game.kif", b"two").contains("is there already"));
        assert_eq!(fs::read(dir.path().join("study/game.kif")).unwrap(), b"one");
        assert!(refusal("cup.db", b"MZ").contains("is not a database"));
        assert_eq!(place.take_in("cup.db", SQLITE).unwrap(), "study/cup.db");
        for hostile in [
            "../x.kif",
            "/etc/x.kif",
            "a/b.kif",
            "a\\b.kif",
            "C:x.kif",
            "CON.kif",
            "nul.db",
            ".x.kif",
            "x.kif.",
            "x.toml",
            "x.exe",
            "x",
            "",
            "x.kif\0.db\n",
            "hall.toml",
        ] {
            assert!(refusal(hostile, SQLITE).contains("is not the name of"), "{hostile:?}");
        }
        for hostile in ["../x.db", "study/../x.db", "study/a/x.db", "/x.db", "bin/x.db", "study//x.db"] {
            assert_eq!(place.shelved(hostile), None, "{hostile}");
        }
        assert_eq!(place.shelved("study/cup.db"), Some(dir.path().join("study/cup.db")));
        for (contents, key) in [("one", "game.kif"), ("two", "game-2.kif"), ("two", "game-2.kif")] {
            assert_eq!(place.keep("game", "kif", contents.as_bytes()).unwrap(), format!("study/{key}"));
        }
        place.write("games.csa", "").unwrap();
        assert_eq!(place.shelf(), ["games.csa", "study/cup.db", "study/game-2.kif", "study/game.kif"]);
    }
}

//! The directory of a desk: names of files in it, and how they are written.

use notation::no_device;
use platform::files::{self, Access};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Most letters of the name of an event.
const LETTERS: usize = 60;
/// Where events go that are deleted.
const BIN: &str = "bin";
/// Names that are no events.
const RESERVED: [&str; 2] = ["hall", "engines"];

/// The directory.
#[derive(Clone, Debug)]
pub struct Place {
    directory: PathBuf,
}

impl Place {
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
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
        let is_name = !event.is_empty()
            && !event.starts_with('.')
            && event.chars().count() <= 4 * LETTERS
            && !event.contains(|c: char| c.is_control() || "/\\:*?\"<>|".contains(c))
            && !RESERVED.contains(&event.to_lowercase().as_str())
            && no_device(event.to_owned()) == event;
        is_name.then(|| self.directory.join(format!("{event}.toml")))
    }

    /// Writes a file of the directory in one piece.
    pub fn write(&self, name: &str, text: &str) -> io::Result<()> {
        files::write_below(&self.directory, Path::new(name), text.as_bytes(), Access::Private)
    }

    /// Moves the files of an event into the bin of the directory: its configuration, and what lies beside it under its
    /// name. Returns where they are.
    pub fn remove(&self, event: &str, now: i64) -> io::Result<PathBuf> {
        let file = self.file(event).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let bin = self.directory.join(BIN).join(format!("{event}-{now}"));
        files::create_directory(&bin, Access::Private)?;
        // The configuration goes last: what was moved before it is moved no second time.
        for end in ["db", "db-wal", "db-shm", "db.lock", "toml"] {
            let from = file.with_file_name(format!("{event}.{end}"));
            match fs::rename(&from, bin.join(format!("{event}.{end}"))) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(bin)
    }
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
        let bin = place.remove("cup", 7).unwrap();
        assert_eq!(fs::read_to_string(bin.join("cup.db")).unwrap(), "cup.db");
        assert!(!dir.path().join("cup.toml").exists() && dir.path().join("cup-2.toml").exists());
    }
}

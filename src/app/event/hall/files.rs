//! The files of a hall's directory: which are there, which are new, changed or gone.
//!
//! The directory is looked at again and again, which works on every file system, also over a network. A file is taken up
//! when its size and time have rested, so that one that is still written is never read half.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs, io, mem,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

/// How long the size and the time of a file have to rest.
const REST: Duration = Duration::from_secs(1);

/// Something that happened to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is new, or was written again.
    Written(String),
    /// It is not there any more.
    Removed(String),
}

/// Size and time of a file.
type FileState = (u64, Option<SystemTime>);

/// The files of events in a directory.
#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
    known: BTreeMap<String, File>,
    /// True if the directory could not be read at the last look.
    fails: bool,
}

#[derive(Debug)]
struct File {
    state: FileState,
    /// Since when it has rested in this state.
    since: Instant,
    /// The state that was told.
    told: Option<FileState>,
}

impl Files {
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), known: BTreeMap::new(), fails: false }
    }

    /// True if a file waits until it rests.
    pub fn unsettled(&self) -> bool {
        self.known.values().any(|file| file.told != Some(file.state))
    }

    /// What has happened since the last look, in the order of names.
    ///
    /// # Errors
    /// When the directory cannot be read, at the first look of which that is true.
    pub fn look(&mut self, now: Instant) -> io::Result<Vec<Change>> {
        let there = self.there();
        let failed_before = mem::replace(&mut self.fails, there.is_err());
        if there.is_err() && failed_before {
            return Ok(vec![]);
        }
        let there = there?;
        let gone: Vec<String> =
            self.known.keys().filter(|name| !there.contains_key(*name)).cloned().collect();
        let mut changes = vec![];
        for name in gone {
            let told = self.known.remove(&name).is_some_and(|file| file.told.is_some());
            changes.extend(told.then_some(Change::Removed(name)));
        }
        for (name, state) in there {
            // What was written before the hall began rests.
            let age = state.1.and_then(|at| at.elapsed().ok()).unwrap_or_default();
            let since = if age >= REST { now.checked_sub(REST).unwrap_or(now) } else { now };
            let file = self.known.entry(name.clone()).or_insert(File { state, since, told: None });
            if file.state != state {
                (file.state, file.since) = (state, now);
            }
            if file.told != Some(state) && now.saturating_duration_since(file.since) >= REST {
                file.told = Some(state);
                changes.push(Change::Written(name));
            }
        }
        Ok(changes)
    }

    /// The files of events that are there now.
    fn there(&self) -> io::Result<BTreeMap<String, FileState>> {
        let mut there = BTreeMap::new();
        for entry in fs::read_dir(&self.directory)? {
            let path = entry?.path();
            let Some(name) = name(&path) else { continue };
            // What is no file, or a link to nothing, is named when it is read; what is gone by now is not there.
            if let Ok(data) = fs::metadata(&path).or_else(|_| fs::symlink_metadata(&path)) {
                there.insert(name, (data.len(), data.modified().ok()));
            }
        }
        Ok(there)
    }
}

/// The files of events in a directory, in the order of their names.
///
/// # Errors
/// When the directory cannot be read.
pub fn event_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let there = Files::of(directory).there()?;
    Ok(there.into_keys().map(|name| directory.join(name)).collect())
}

/// The name of an event's file: editors and copying programs begin the names of theirs with a dot.
fn name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let is_own = [plan::hall::FILE, plan::library::FILE].contains(&name);
    let is_event = path.extension() == Some(OsStr::new("toml")) && !name.starts_with('.') && !is_own;
    is_event.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_up_when_it_rests_and_told_again_when_it_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        let mut files = Files::of(dir.path());
        let begun = Instant::now();
        let mut look = |seconds: u64| files.look(begun + Duration::from_secs(seconds)).unwrap();
        let written = |name: &str| vec![Change::Written(name.to_owned())];
        for other in ["hall.toml", "engines.toml", ".cup.toml.swp", ".cup.toml", "cup.txt"] {
            write(other, "");
        }
        write("cup.toml", "[eve");
        assert_eq!(look(0), []);
        write("cup.toml", "[event]\n");
        assert_eq!(look(1), [], "it was written meanwhile");
        assert_eq!(look(2), written("cup.toml"));
        assert_eq!(look(3), []);
        write("cup.toml", "[event]\nseed = 2\n");
        assert_eq!(look(4), []);
        assert_eq!(look(5), written("cup.toml"));
        fs::remove_file(dir.path().join("cup.toml")).unwrap();
        assert_eq!(look(6), [Change::Removed("cup.toml".to_owned())]);
    }

    #[test]
    #[cfg_attr(windows, ignore = "users of Windows may make no links")]
    fn a_directory_or_a_link_to_nothing_with_the_name_of_an_event_is_taken_up_and_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("dir.toml")).unwrap();
        platform::files::symlink(&path("nothing"), &path("link.toml")).unwrap();
        let mut files = Files::of(dir.path());
        let begun = Instant::now();
        let seen = [begun, begun + REST].map(|at| files.look(at).unwrap()).concat();
        let written = |name: &str| Change::Written(name.to_owned());
        assert_eq!(seen, [written("dir.toml"), written("link.toml")]);
        for (name, why) in
            [("dir.toml", "is a directory"), ("link.toml", "a link to a file that is not there")]
        {
            let fault = plan::text_of(&path(name)).unwrap_err().to_string();
            assert!(fault.contains(name) && fault.contains(why), "{fault}");
        }
        fs::remove_file(path("link.toml")).unwrap();
        assert_eq!(files.look(begun + REST).unwrap(), [Change::Removed("link.toml".to_owned())]);
    }
}

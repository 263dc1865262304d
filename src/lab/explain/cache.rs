//! What was searched, in a file: JSON lines, so that a line that was cut off by a kill costs one search.

use super::Found;
use platform::files;
use serde::{Deserialize, Serialize};
use std::{
    cell::RefCell,
    collections::HashMap,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A search: the engine by its digest, the argument of `position`, the nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Key {
    engine: String,
    position: String,
    /// Not `nodes`, which the result has beside it.
    limit: u64,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    key: Key,
    #[serde(flatten)]
    found: Found,
}

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("searches that were kept in `{}`: {source}", path.display())]
pub struct CacheFault {
    path: PathBuf,
    source: io::Error,
}

/// Searches that were done, in memory and in a file.
#[derive(Debug, Default)]
pub struct Cache {
    known: RefCell<HashMap<Key, Found>>,
    file: Option<(PathBuf, RefCell<File>)>,
}

impl Cache {
    /// Opens or creates a file. Lines that are no search are passed over.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is larger than 1 GB.
    pub fn open(path: &Path) -> Result<Self, CacheFault> {
        let fault = |source| CacheFault { path: path.to_owned(), source };
        let (file, known) = read(path).map_err(fault)?;
        Ok(Self { known: RefCell::new(known), file: Some((path.to_owned(), RefCell::new(file))) })
    }

    /// A search that was done before.
    pub fn get(&self, engine: &str, position: &str, nodes: u64) -> Option<Found> {
        let key = Key { engine: engine.to_owned(), position: position.to_owned(), limit: nodes };
        self.known.borrow().get(&key).cloned()
    }

    /// Keeps a search.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn put(&self, engine: &str, position: &str, nodes: u64, found: &Found) -> Result<(), CacheFault> {
        let key = Key { engine: engine.to_owned(), position: position.to_owned(), limit: nodes };
        if let Some((path, file)) = &self.file {
            let entry = Entry { key: key.clone(), found: found.clone() };
            let written = serde_json::to_string(&entry)
                .map_err(io::Error::from)
                .and_then(|line| file.borrow_mut().write_all((line + "\n").as_bytes()));
            written.map_err(|source| CacheFault { path: path.clone(), source })?;
        }
        self.known.borrow_mut().insert(key, found.clone());
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<(File, HashMap<Key, Found>)> {
    files::refuse_link(path)?;
    let kept = if path.exists() { files::contents(path, files::LARGE)? } else { vec![] };
    let mut file = files::append(path, "searches", |_| true)?;
    let entries = kept.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let known = entries.map(|Entry { key, found }| (key, found)).collect();
    // A line that a kill has cut off gets an end, so that the next one stands alone.
    if kept.last().is_some_and(|last| *last != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok((file, known))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn a_pipe_in_the_place_of_the_file_is_refused_and_nobody_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("searches");
        // Not every system has pipes with names.
        let Ok(made) = std::process::Command::new("mkfifo").arg(&path).status() else { return };
        assert!(made.success());
        assert!(Cache::open(&path).unwrap_err().to_string().contains("regular file"));
    }

    #[test]
    fn a_search_is_found_again_behind_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("searches");
        let found = Found { mv: "7g7f".to_owned(), nodes: Some(9), ..Found::default() };
        let cache = Cache::open(&path).unwrap();
        cache.put("a", "startpos", 10, &found).unwrap();
        drop(cache);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"engine\":\"a\",\"posi").unwrap();
        let cache = Cache::open(&path).unwrap();
        cache.put("a", "startpos", 20, &Found::default()).unwrap();
        drop(cache);
        let cache = Cache::open(&path).unwrap();
        assert_eq!(cache.get("a", "startpos", 10), Some(found));
        assert_eq!(cache.get("a", "startpos", 20), Some(Found::default()));
        assert_eq!((cache.get("b", "startpos", 10), cache.get("a", "startpos", 11)), (None, None));
    }
}

//! Events of databases that a desk only shows, and whether they are still the ones that were opened.

use journal::{Store, StoreError};
use platform::files::Stamp;
use std::path::PathBuf;

/// An event that is shown, and that nobody plays here.
#[derive(Clone, Debug)]
pub(super) struct Opened {
    database: PathBuf,
    /// Its name in the database.
    event: String,
    stamp: Option<Stamp>,
    /// When it was created, and its games that count.
    known: Option<(i64, u64)>,
}

impl Opened {
    pub fn new(database: PathBuf, event: String) -> Self {
        let stamp = Stamp::at(&database).ok();
        let mut opened = Self { database, event, stamp, known: None };
        opened.known = opened.found().unwrap_or_default();
        opened
    }

    /// The event as the file has it now.
    fn found(&self) -> Result<Option<(i64, u64)>, StoreError> {
        let events = Store::read(&self.database)?.events()?;
        let event = events.iter().find(|event| event.name == self.event);
        Ok(event.map(|event| (event.created_at, event.counted)))
    }

    /// True if the file still has what was read of it: it was not deleted, moved, replaced or overwritten.
    pub fn is_there(&mut self) -> bool {
        let Some(now) = Stamp::at(&self.database).ok() else { return self.stamp.is_none() };
        let Some(was) = self.stamp.filter(|was| was.identity == now.identity) else { return false };
        if was == now {
            return true;
        }
        let found = match self.found() {
            Ok(found) => found,
            Err(error) => return matches!(error, StoreError::Locked(_)),
        };
        let goes_on = match (self.known, found) {
            (Some((created, counted)), Some(found)) => created == found.0 && counted <= found.1,
            (known, found) => known == found,
        };
        (self.stamp, self.known) = (Some(now), found);
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{EventHead, Writer};
    use std::{fs, path::Path};

    fn database(path: &Path, events: &[&str]) {
        let mut writer = Writer::open(path).unwrap();
        for name in events {
            let head = EventHead { name, kind: "run", plan: "{}", fingerprint: "" };
            writer.open_event(&head).unwrap();
        }
    }

    #[test]
    fn an_event_is_there_until_its_file_is_deleted_replaced_or_overwritten_by_another() {
        let dir = tempfile::tempdir().unwrap();
        let [path, other, same] = ["study.db", "other.db", "same.db"].map(|name| dir.path().join(name));
        database(&path, &["cup"]);
        let opened = || Opened::new(path.clone(), "cup".to_owned());
        let mut first = opened();
        assert!(first.is_there());
        database(&path, &["another"]);
        assert!(first.is_there(), "another event of its file begins");
        fs::copy(&path, &same).unwrap();
        fs::rename(&same, &path).unwrap();
        assert!(!first.is_there(), "replaced");
        let mut second = opened();
        assert!(second.is_there());
        database(&other, &["another"]);
        fs::copy(&other, &path).unwrap();
        assert!(!second.is_there(), "overwritten");
        let mut third = opened();
        fs::remove_file(&path).unwrap();
        assert!(!third.is_there(), "deleted");
    }
}

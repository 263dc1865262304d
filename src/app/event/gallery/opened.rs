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
    /// When it was created, and its last entry.
    known: Option<(i64, Option<i64>)>,
}

impl Opened {
    pub fn new(database: PathBuf, event: String) -> Self {
        let stamp = Stamp::at(&database).ok();
        let mut opened = Self { database, event, stamp, known: None };
        opened.known = opened.found().unwrap_or_default();
        opened
    }

    /// The event as the file has it now.
    fn found(&self) -> Result<Option<(i64, Option<i64>)>, StoreError> {
        let store = Store::read(&self.database)?;
        let event = store.events()?.into_iter().find(|event| event.name == self.event);
        event.map(|event| Ok((event.created_at, store.last_sealed(event.id)?))).transpose()
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
            (Some((created, last)), Some(found)) => created == found.0 && last <= found.1,
            (known, found) => known == found,
        };
        (self.stamp, self.known) = (Some(now), found);
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{EventHead, Journal, Writer};
    use referee::{
        Color, Outcome, WinBy,
        entry::{self, Entry, GameEnded},
        ids::{GameId, PlayerId},
        operation::{Action, NamedGame, Operation},
        pairing::Pairing,
    };
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

    #[test]
    fn an_event_is_there_when_a_game_of_it_does_not_count_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cup.db");
        let play = |entry| {
            let head = EventHead { name: "cup", kind: "run", plan: "{}", fingerprint: "{}" };
            let journal = Journal::open(&path, &head).unwrap().start(vec![], || ()).unwrap();
            journal.happened(entry);
            drop(journal.finish().unwrap());
        };
        let (black, white) = (PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let was = Outcome::loss(Color::White, WinBy::Resignation);
        let players = ["a", "b"].map(str::to_owned).to_vec();
        let head = entry::Opened { name: "cup".to_owned(), players, format: String::new(), resumed: false };
        play(Entry::Opened(head));
        play(Entry::GameEnded(GameEnded::new(GameId(1), pairing, was, 9)));
        let mut opened = Opened::new(path.clone(), "cup".to_owned());
        let game = NamedGame { game: GameId(1), black: "a".to_owned(), white: "b".to_owned(), round: 1 };
        let action = Action::Replayed { game, pairing, was };
        let (by, reason) = ("kai".to_owned(), String::new());
        play(Entry::Operator(Box::new(Operation { number: 1, by, reason, undoes: None, action })));
        assert!(opened.is_there());
    }
}

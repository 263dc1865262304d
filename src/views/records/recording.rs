//! The records of an event in one file, each as its game ends.

use super::{Joint, RecordsError, event, export::bytes_of, game::Frame};
use journal::{EventSummary, Store};
use notation::record::{self, Format};
use platform::files;
use referee::entry::{Entry, Stamped};
use std::{
    fs::File,
    io::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// Appends the record of every game that counts to a file, after it was committed.
#[derive(Debug)]
pub struct Recording {
    database: PathBuf,
    event: String,
    format: Format,
    path: PathBuf,
    to: File,
    open: Option<(Store, EventSummary)>,
}

/// The format of a file by the end of its name; CSA by default.
fn format_of(path: &Path) -> Format {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.and_then(Format::from_extension).unwrap_or(Format::Csa)
}

/// Whether a file of this beginning holds a game in a format.
pub(crate) fn holds_a_game(head: &[u8], format: Format) -> bool {
    let mut holds = false;
    record::each(head, Some(format), |_, read| {
        holds = read.is_ok_and(|record| !record.plies.is_empty() || record.ending.is_some());
        if holds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    holds
}

impl Recording {
    /// Opens the file for appending.
    ///
    /// # Errors
    /// When the format of its name holds one game a file, it holds something else than games, or it cannot be opened.
    pub fn append(path: &Path, database: &Path, event: &str) -> Result<Self, RecordsError> {
        let format = format_of(path);
        if Joint::of(format) == Joint::Single {
            return Err(RecordsError::OneGame(path.to_owned()));
        }
        let to = files::append(path, "records", |head| holds_a_game(head, format))
            .map_err(RecordsError::io(path))?;
        let (database, event, path) = (database.to_owned(), event.to_owned(), path.to_owned());
        Ok(Self { database, event, format, path, to, open: None })
    }

    /// Appends the games that ended in a committed batch.
    ///
    /// # Errors
    /// When a game cannot be read, or its record not be written.
    pub fn write(&mut self, batch: &[Stamped]) -> Result<(), RecordsError> {
        for Stamped { entry, .. } in batch {
            if let Entry::GameEnded(end) = entry
                && end.outcome.counts()
                && !end.replayed
            {
                self.add(end.game)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, number: referee::entry::GameId) -> Result<(), RecordsError> {
        if self.open.is_none() {
            let store = Store::read(&self.database)?;
            let event = event(&store, Some(&self.event), &self.database)?;
            self.open = Some((store, event));
        }
        let Some((store, event)) = &self.open else { return Ok(()) };
        let Some(game) = store.game(event.id, number)? else {
            return Err(RecordsError::NoGame(event.name.clone(), number.0));
        };
        // A game that never began, such as that of an absent player, has no moves to record.
        if game.row.start.is_none() {
            return Ok(());
        }
        let (name, annotations) = (store.game_name(event.id, number)?, store.annotations(event.id, number)?);
        let bytes = bytes_of(&Frame::of(event)?, &game, name, &annotations, self.format)?;
        let is_first = self.to.metadata().map_err(RecordsError::io(&self.path))?.len() == 0;
        let between = match Joint::of(self.format) {
            Joint::Between(text) if !is_first => text,
            _ => "",
        };
        // One call, so that a game is whole in the file or not there.
        let all = [between.as_bytes(), &bytes].concat();
        self.to.write_all(&all).map_err(RecordsError::io(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_says_the_format() {
        assert_eq!(format_of(Path::new("games.usi")), Format::Usi);
        assert_eq!(format_of(Path::new("games.pgn")), Format::Csa);
        let refused = Recording::append(Path::new("games.kif"), Path::new("x.db"), "x").unwrap_err();
        assert!(refused.to_string().contains("one game"), "{refused}");
    }

    #[test]
    fn a_record_of_every_format_is_known_as_a_record_of_it() {
        rsshogi::board::init();
        let csa = "V2.2\nPI\n+\n+7776FU\n'** 30\n-3334FU\n'** 20\n%TORYO\n";
        let mut read = vec![];
        record::each(csa.as_bytes(), None, |_, record| {
            read.push(record.unwrap());
            ControlFlow::Continue(())
        });
        for format in Format::ALL {
            let bytes = record::write(&read[0], *format).unwrap();
            assert!(holds_a_game(&bytes, *format), "{format:?}");
            assert!(!holds_a_game(b"int main(void) { return 0; }\n", *format), "{format:?}");
        }
    }

    #[test]
    fn records_are_appended_to_records_alone() {
        rsshogi::board::init();
        let place = tempfile::tempdir().unwrap();
        let append = |name: &str, text: &str| {
            let path = place.path().join(name);
            std::fs::write(&path, text).unwrap();
            let appended = Recording::append(&path, Path::new("x.db"), "x").map(drop);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            appended.map_err(|why| why.to_string())
        };
        let event = "[event]\nname = \"cup\"\ngames = 2\n";
        for (name, text) in [
            ("cup.conf", event),
            ("cup.csa", event),
            ("cup.usi", event),
            ("cup.psv", event),
            ("notes.csa", "'notes\n"),
            ("notes.usi", "# notes\n"),
            ("events.csa", "{\"at\":1}\n"),
        ] {
            let refused = append(name, text).expect_err(name);
            assert!(refused.contains("it holds something else than records"), "{name}: {refused}");
        }
        let csa = "V2.2\nPI\n+\n+7776FU\n%TORYO\n";
        for (name, text) in [("a.csa", csa), ("a", csa), ("a.usi", "startpos moves 7g7f\n"), ("b.csa", "")] {
            assert_eq!(append(name, text), Ok(()), "{name}");
        }
    }
}

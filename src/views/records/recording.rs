//! The records of an event in one file, each as its game ends.

use super::{Joint, RecordsError, event, export::bytes_of, game::Frame};
use journal::{EventSummary, Store};
use notation::record::Format;
use platform::files;
use referee::entry::{Entry, Stamped};
use std::{
    fs::{File, OpenOptions},
    io::Write,
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

impl Recording {
    /// Opens the file for appending.
    ///
    /// # Errors
    /// When the format of its name holds one game a file, or it cannot be opened.
    pub fn append(path: &Path, database: &Path, event: &str) -> Result<Self, RecordsError> {
        let format = format_of(path);
        if Joint::of(format) == Joint::Single {
            return Err(RecordsError::OneGame(path.to_owned()));
        }
        let to = files::refuse_input(path)
            .and_then(|()| OpenOptions::new().create(true).append(true).open(path))
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
}

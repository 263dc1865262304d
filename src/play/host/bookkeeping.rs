//! What a host writes besides the event itself, each on a thread of its own: record files and live ratings.

use super::{rating_history::RatingHistory, ratings, record_files::RecordFiles, roster::Roster};
use journal::{EventId, Store};
use plan::serve::ServeConfig;
use referee::entry::Stamped;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
};

/// The threads that write record files and ratings. Dropping it ends them.
#[derive(Debug)]
pub struct Bookkeeping {
    record_files: RecordFiles,
    history: RatingHistory,
    database: PathBuf,
    threads: Vec<JoinHandle<()>>,
}

impl Bookkeeping {
    /// Starts the thread that writes record files, where the configuration wants them.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn open(
        config: &ServeConfig,
        database: &Path,
        event: &str,
        history: RatingHistory,
    ) -> io::Result<Self> {
        let database = database.to_owned();
        let access = if config.share_records {
            platform::files::Access::Everybody
        } else {
            platform::files::Access::Private
        };
        let open = |directory| RecordFiles::open(directory, access, database.clone(), event.to_owned());
        let writing = config.records.clone().map(open).transpose()?;
        let (record_files, threads) =
            writing.map_or_else(Default::default, |(files, thread)| (files, vec![thread]));
        Ok(Self { record_files, history, database, threads })
    }

    /// Starts the thread that rates the players; `event` finds the event in the database, once it has games.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn rate(
        &mut self,
        config: Arc<ServeConfig>,
        roster: Arc<Roster>,
        event: impl Fn(&Store) -> Option<EventId> + Send + 'static,
    ) -> io::Result<()> {
        let (history, database) = (self.history.clone(), self.database.clone());
        let work = move || ratings::keep(&config, &history, &roster, &database, event);
        self.threads.push(thread::Builder::new().name("ratings".to_owned()).spawn(work)?);
        Ok(())
    }

    /// The record files.
    pub fn record_files(&self) -> RecordFiles {
        self.record_files.clone()
    }

    /// The rating history.
    pub fn history(&self) -> RatingHistory {
        self.history.clone()
    }

    /// A reader of committed entries, for the journal.
    pub fn reader(&self) -> impl FnMut(&[Stamped]) + Send + use<> {
        let (files, history) = (self.record_files(), self.history());
        move |batch| {
            files.committed(batch);
            batch.iter().for_each(|stamped| history.fold(stamped));
        }
    }
}

impl Drop for Bookkeeping {
    fn drop(&mut self) {
        self.record_files.close();
        self.history.close();
        for thread in self.threads.drain(..) {
            let _panic_printed = thread.join();
        }
    }
}

//! How an event is played and shown, beside its plan, and the files that it writes.

use crate::{Failure, PagesStay, reread::Reread};
use arena::Say;
use journal::Reader;
use plan::Plan;
use platform::files;
use records::{Recording, RecordsError};
use report::EventFile;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// How an event is played and shown, beside its plan.
#[derive(Clone, Default)]
pub struct Playing {
    /// Begins the event anew; what was played of it stays in the database under another name.
    pub fresh: bool,
    /// Other machines that may play games of the event.
    pub sharing: Sharing,
    /// Addresses of the pages, in place of those of the plan.
    pub http: Vec<SocketAddr>,
    /// How long the pages stay after the event.
    pub http_linger: PagesStay,
    /// File that takes every entry as JSON.
    pub events: Option<PathBuf>,
    /// File that takes the record of every game.
    pub records: Option<PathBuf>,
    /// Begins a new event paused.
    pub paused: bool,
    /// Prints the report at the end.
    pub report: bool,
    /// Prints JSON on stdout, and everything else on stderr.
    pub json: bool,
    /// Prints no line per game.
    pub quiet: bool,
    /// Games between two lines about the score; `None`: paced by time.
    pub rating_interval: Option<u64>,
    /// Prints lines even where there is a terminal for the dashboard.
    pub no_dashboard: bool,
    /// Reads the plan again while it is played; `None`: it has no file.
    pub reread: Option<Reread>,
}

/// How other machines may play games of an event.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// Address for a server of the event's own.
    pub hub: Option<SocketAddr>,
    /// Gives every machine the clocks of the plan, whatever its speed.
    pub equal_clocks: bool,
    /// One pair in so many is played again by another machine; 0: none; `None`: the default.
    pub repeat: Option<u64>,
}

/// Appends the records of games to the file of `--records`. Where that fails the event goes on without it.
pub(crate) fn recorded(path: &Path, plan: &Plan, say: &Say) -> Result<Reader, Failure> {
    let fault = |error: RecordsError| Failure::Usage(format!("--records {error}"));
    let mut recording = Some(Recording::append(path, &plan.database, &plan.name).map_err(fault)?);
    let say = say.clone();
    Ok(Reader::new("records", move |batch| {
        if let Some(Err(error)) = recording.as_mut().map(|recording| recording.write(batch)) {
            say(&format!("records are no longer written, `renmei export` writes all of them: {error}"));
            recording = None;
        }
    }))
}

/// Opens the file of `--events` for appending: a new one, or one of events.
pub(crate) fn event_file(path: &Path) -> Result<EventFile, Failure> {
    files::append(path, "events", |head| head.starts_with(b"{"))
        .map(EventFile::new)
        .map_err(|e| Failure::Usage(format!("--events {}: {e}", path.display())))
}

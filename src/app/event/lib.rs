//! A running event and everything around it, for every command that plays.
//!
//! `EventRunner` leads a checked event to its end, whoever plays in it, and `EventRun` is what surrounds it meanwhile;
//! [`play`] does so on a terminal, and a `Catalogue` plays the events of a [`hall`] and of a [`queue`] beside each other. The
//! orchestration of the laboratory is here, too: [`bisect`], [`tuning`] and [`attribution`] decide which events are played.
//! No command line is known here.

#[macro_use]
pub mod output;

pub mod attribution;
pub mod bisect;
mod catalogue;
pub mod door;
pub mod floodgate;
mod gallery;
pub mod hall;
mod judge;
pub mod league;
#[cfg_attr(not(feature = "machines"), path = "no_machines.rs")]
pub mod machines;
pub mod network;
mod notify;
mod ordered_lines;
mod other_build;
pub mod pages;
pub mod play;
mod playing;
pub mod prepare;
pub mod queue;
pub mod replay;
pub mod reread;
pub mod rerun;
mod run;
mod runner;
mod signals;
pub mod tuning;

pub use gallery::total;
pub use playing::{Playing, Sharing};
pub use prepare::listen;
pub use run::{Linger, OpenScreen, PagesStay, Screen, aloud};

use run::EventRun;

use ::plan::Faults;
use ::report::{EventHistoryError, Report, ReportText, builds, event_info, plan, plot::Plot};
use arena::{IdentityError, dispatcher::RunError};
use client::ratings::{self, Measured};
use contest::standings::Standings;
use explain::losses::LossFault;
use journal::{EventSummary, Moves, Store, StoreError};
use laboratory::{LabError, NotBuilt, params::ParamsFile};
use notation::printable_json;
use records::RecordsError;
use serde::Serialize;
use std::{io::Write as _, path::Path, process::ExitCode};
use tokio::runtime::Runtime;
use tuning::Tuner;
use web::WebError;
use words::Language;

/// How a command exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The request failed.
    Failed = 1,
    /// Wrong command line or configuration.
    Wrong = 2,
    /// Stopped before its end.
    Stopped = 3,
    /// Not played to its end, because engines are halted by their faults.
    Halted = 4,
    /// A worker that the manager does not want.
    Refused = 5,
    /// SPRT accepted H1.
    H1 = 10,
    /// SPRT accepted H0.
    H0 = 11,
    /// SPRT without a verdict, because faults decided.
    ByFaults = 12,
    /// Faults were found.
    Faults = 20,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration is wrong.
    #[error("the configuration is wrong:\n{0}")]
    Config(Faults),
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// The event could not be played.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A database error.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fault in the handling of records.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The files of an engine.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Engines that could not be built.
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    /// A repository that could not be read.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// Any other failure.
    #[error("{0}")]
    Other(String),
}

impl From<LossFault> for Failure {
    fn from(fault: LossFault) -> Self {
        match fault {
            LossFault::Store(fault) => Self::Store(fault),
            LossFault::Nothing(why) => Self::Usage(why),
            fault => Self::Other(fault.to_string()),
        }
    }
}

impl From<&Failure> for Exit {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::NotBuilt(NotBuilt(faults)) => {
                let exits: Vec<_> = faults.iter().map(|(_, _, fault)| exit_of(fault)).collect();
                let or = |exit: Self| exits.contains(&exit).then_some(exit);
                or(Self::Stopped).or(or(Self::Failed)).unwrap_or(Self::Wrong)
            }
            Failure::Lab(fault) => exit_of(fault),
            Failure::Config(_)
            | Failure::Usage(_)
            | Failure::Identity(_)
            | Failure::Run(
                RunError::Changed { .. }
                | RunError::Replaced { .. }
                | RunError::Size { .. }
                | RunError::Joining { .. }
                | RunError::Engines(_),
            ) => Self::Wrong,
            _ => Self::Failed,
        }
    }
}

fn exit_of(fault: &LabError) -> Exit {
    match fault {
        LabError::Interrupted => Exit::Stopped,
        LabError::Io { .. } => Exit::Failed,
        LabError::Git { .. }
        | LabError::NoGit(_)
        | LabError::Build { .. }
        | LabError::NoPlace
        | LabError::History(_) => Exit::Wrong,
    }
}

impl From<WebError> for Failure {
    fn from(error: WebError) -> Self {
        match error {
            WebError::Store(error) => Self::Store(error),
            error => Self::Other(error.to_string()),
        }
    }
}

impl From<EventHistoryError> for Failure {
    fn from(error: EventHistoryError) -> Self {
        match error {
            EventHistoryError::Store(error) => Self::Store(error),
            EventHistoryError::Plan { .. } => Self::Other(error.to_string()),
        }
    }
}

/// Finds an event by name; without a name, the last one.
///
/// # Errors
/// When there is no such event.
pub fn find_event<'a>(events: &'a [EventSummary], name: Option<&str>) -> Result<&'a EventSummary, Failure> {
    let found = match name {
        Some(name) => events.iter().find(|event| event.name == name),
        None => events.last(),
    };
    found.ok_or_else(|| match name {
        Some(name) => {
            let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
            Failure::Usage(format!(
                "there is no event `{name}` in this database; it has: {}",
                names.join(", ")
            ))
        }
        None => Failure::Usage("this database has no event yet".to_owned()),
    })
}

/// Most events that are named to somebody who has to choose one: the database of a queue has hundreds.
const NAMED: usize = 20;

/// Finds the event that a command changes: by name; without a name, the only one, or the only one that is not over. Of several
/// none is guessed.
///
/// # Errors
/// When there is no such event, or several may be meant.
pub fn event_to_change<'a>(
    events: &'a [EventSummary],
    name: Option<&str>,
) -> Result<&'a EventSummary, Failure> {
    let open: Vec<_> = events.iter().filter(|event| !event.closed).collect();
    match (name, &open[..]) {
        (None, [only]) => Ok(only),
        (None, _) if events.len() > 1 => {
            let meant = if open.is_empty() { events.iter().collect() } else { open };
            let newest = meant.iter().rev().take(NAMED).rev();
            let names: Vec<_> = newest.map(|event| format!("`{}`", event.name)).collect();
            let (earlier, names) = (if meant.len() > NAMED { ".., " } else { "" }, names.join(", "));
            Err(Failure::Usage(format!("which event? Name it with `--event`: {earlier}{names}")))
        }
        _ => find_event(events, name),
    }
}

/// Prints the report of an event in a database; without a name, of the last one.
///
/// # Errors
/// When there is no such event.
pub fn report_event(database: &Path, name: Option<&str>, json: bool, words: Language) -> Result<(), Failure> {
    let (report, measured) = looked_up(database, name)?;
    print(&report, json, words);
    if let Some(measured) = measured.filter(|_| !json) {
        out_line!("\n{}", measured.text(words));
    }
    Ok(())
}

/// The report of an event of a database.
///
/// # Errors
/// When there is no such event.
pub fn reported(database: &Path, name: &str) -> Result<Report, Failure> {
    looked_up(database, Some(name)).map(|(report, _)| report)
}

/// The report of an event, and what was measured of our player on a server.
fn looked_up(database: &Path, name: Option<&str>) -> Result<(Report, Option<Measured>), Failure> {
    let store = Store::read(database)?;
    let events = store.events()?;
    let event = find_event(&events, name)?;
    let plan = plan(event)?;
    let info = event_info(event, plan.clone());
    let standings = standings(&store, event)?;
    let report = completed(Report::new(&info, &standings, event.closed), &store, event)?;
    let measured = ratings::measured(&plan, &event.players, &standings);
    Ok((report, measured))
}

/// The standings of an event, by the games that its database has.
pub(crate) fn standings(store: &Store, event: &EventSummary) -> Result<Standings, Failure> {
    let mut standings = event_info(event, plan(event)?).standings();
    store.replay(event.id, Moves::Results, &mut |stamped| standings.fold(&stamped.entry))?;
    Ok(standings)
}

/// A report with what only the database has of the event.
pub(crate) fn completed(report: Report, store: &Store, event: &EventSummary) -> Result<Report, Failure> {
    let mut report = report.with_rows(store, event)?;
    if report.duel().is_some() {
        report.usage = ::report::usage(store, event)?;
    }
    report.played_by = builds(store, event)?;
    report.tuning = Tuner::read(store, event, &plan(event)?)?.map(|tuner| tuner.report());
    Ok(report)
}

pub(crate) fn print(report: &Report, json: bool, words: Language) {
    match (json, serde_json::to_string_pretty(report)) {
        (true, Ok(text)) => out_line!("{}", printable_json(&text)),
        (true, Err(error)) => err_line!("the report cannot be written as JSON: {error}"),
        (false, _) => out!("{}", ReportText(report, words)),
    }
}

/// An event queue for this thread.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
    built.map_err(|error| Failure::Other(error.to_string()))
}

/// JSON for people, safe for a terminal.
///
/// # Errors
/// When the value cannot be serialized.
pub fn pretty(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Other(e.to_string()))?;
    Ok(printable_json(&text).into_owned())
}

/// Whether a picture of this name is PNG; otherwise it is SVG.
///
/// # Errors
/// When its name has another extension.
pub fn is_png(path: &Path) -> Result<bool, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(false),
        Some("png") => Ok(true),
        _ => {
            let path = path.display();
            Err(Failure::Usage(format!("--plot {path}: pictures are written as .svg or .png")))
        }
    }
}

/// Writes a picture, as SVG or PNG by the extension of its name.
///
/// # Errors
/// When it has another extension, or the file cannot be written.
pub fn write_picture(plot: &Plot, path: &Path) -> Result<(), Failure> {
    match is_png(path)? {
        false => write(path, plot.standalone().as_bytes()),
        true => write(path, &plot.png().map_err(|e| Failure::Other(e.to_string()))?),
    }
}

/// What a command writes for people, and how it is known.
type Kind = (&'static str, fn(&[u8]) -> bool);

const KINDS: [Kind; 5] = [
    ("a page of Renmei", |it| it.starts_with(::report::html::BEGINNING.as_bytes())),
    ("a picture", |it| {
        it.starts_with(b"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\"")
            || it.starts_with(b"\x89PNG")
    }),
    ("a table of rounds", |it| it.starts_with(b"name\tr1\t") || it.starts_with(b"012 ")),
    ("tuned options", |it| {
        ParamsFile::parse(&String::from_utf8_lossy(it)).is_ok_and(|it| it.parameters().count() > 0)
    }),
    ("positions", |it| explain::suite::read(&String::from_utf8_lossy(it)).is_ok()),
];

/// Writes a file that others may read. It replaces one of its own kind, and no other.
///
/// # Errors
/// When the file holds something else or cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let kind = KINDS.iter().find(|(_, is_kind)| is_kind(bytes));
    let (what, is_kind) = kind.copied().unwrap_or(("what would be written", |_| false));
    platform::files::create_shared(path, what, is_kind)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|e| Failure::Other(format!("{}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arena::operations::command::Command;
    use journal::EventId;

    #[test]
    fn a_command_that_changes_an_event_asks_which_one_is_meant_where_several_may_be() {
        let event = |(name, closed): (&str, bool)| EventSummary {
            id: EventId(1),
            name: name.to_owned(),
            kind: "run".to_owned(),
            created_at: 0,
            plan: String::new(),
            players: vec![],
            counted: 0,
            running: 0,
            closed,
            ordered: false,
        };
        let meant = |events: &[(&str, bool)], name: Option<&str>| {
            let events: Vec<_> = events.iter().copied().map(event).collect();
            event_to_change(&events, name).map(|event| event.name.clone()).map_err(|why| why.to_string())
        };
        let [open, over] = [("p", false), ("q", true)];
        for (events, name) in [(&[open][..], "p"), (&[over], "q"), (&[open, over], "p"), (&[over, open], "p")]
        {
            assert_eq!(meant(events, None).as_deref(), Ok(name), "{events:?}");
        }
        assert_eq!(meant(&[over, open], Some("q")).as_deref(), Ok("q"));
        for closed in [false, true] {
            let asked = meant(&[("p", closed), ("q", closed)], None).unwrap_err();
            assert_eq!(asked, "which event? Name it with `--event`: `p`, `q`");
            assert!(!words::Language::Japanese.fault(&asked).is_ascii(), "{asked}");
        }
        let asked = meant(&[("t", true); NAMED + 1], None).unwrap_err();
        assert!(asked.contains(": .., `t`") && asked.matches("`t`").count() == NAMED, "{asked}");
        assert!(meant(&[], None).is_err() && meant(&[open, over], Some("r")).is_err());
    }

    #[test]
    fn a_command_that_is_printed_names_the_event_and_can_be_typed_as_it_is() {
        let typed = |event: &str| Command::line(Path::new("two cups.db"), event, "resume");
        #[cfg(unix)]
        assert_eq!(typed("spring cup"), "renmei admin 'two cups.db' --event 'spring cup' resume");
        assert!(typed("p").ends_with(" --event p resume"));
    }
}

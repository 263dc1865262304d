//! A configuration file as a whole: one event, whoever plays in it.

use crate::{
    ClientConfig, HttpConfig, NotifyConfig, Plan, ServeConfig,
    client::client,
    engines::Engines,
    environment::Environment,
    fault::Faults,
    games,
    keys::{CLIENT, ROOT},
    reader::{self, Table},
    serve, stages,
};
use std::path::Path;

/// A checked event. What it is called, where it is kept and who hears of it has one name, whoever its players are.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Engines that are started here, and with `[serve]` programs that log in: for `renmei run` and `renmei serve`.
    Arranged {
        /// The event.
        plan: Box<Plan>,
        /// Its network side, where the file has `[serve]`.
        serve: Option<Box<ServeConfig>>,
    },
    /// Whoever logs in, for `renmei serve`: the file has `[serve]`, but neither `[event]` nor `[[engines]]`.
    League(Box<ServeConfig>),
    /// An engine with a seat on somebody else's server, for `renmei floodgate`: the file has `[floodgate]`.
    Seat(Box<ClientConfig>),
}

impl From<Plan> for Event {
    fn from(plan: Plan) -> Self {
        Self::Arranged { plan: Box::new(plan), serve: None }
    }
}

impl From<ServeConfig> for Event {
    fn from(config: ServeConfig) -> Self {
        Self::League(Box::new(config))
    }
}

impl From<ClientConfig> for Event {
    fn from(config: ClientConfig) -> Self {
        Self::Seat(Box::new(config))
    }
}

/// A field that every kind of event has.
macro_rules! common {
    ($($(#[$meta:meta])* $field:ident: $type:ty;)*) => {
        $($(#[$meta])* #[must_use] pub fn $field(&self) -> &$type {
            match self {
                Self::Arranged { plan, .. } => &plan.$field,
                Self::League(config) => &config.$field,
                Self::Seat(config) => &config.$field,
            }
        })*
    };
}

impl Event {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn load(path: &Path) -> Result<Self, Faults> {
        reader::read_file(path, |text, environment| Self::parse(text, Some(path), environment))
    }

    /// As [`Self::load`]; the one fault of a file for `renmei floodgate` is that it is one.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn load_hosted(path: &Path) -> Result<Self, Faults> {
        reader::read_file(path, |text, environment| {
            reader::read(text, Some(path), environment, &[&ROOT], read)
        })
    }

    /// Reads and checks a configuration. Without a `file` faults name the key alone, as suits a configuration that
    /// was put together from a command line.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(text: &str, file: Option<&Path>, environment: &Environment) -> Result<Self, Faults> {
        reader::read(text, file, environment, &[&ROOT, &CLIENT], read)
    }

    common! {
        /// Its name in its database.
        name: str;
        /// The SQLite file.
        database: Path;
        /// Where notices go.
        notify: NotifyConfig;
        /// Who may watch in a browser.
        http: HttpConfig;
        /// Megabytes of free disk below which no new game begins.
        reserve_mb: u64;
    }

    /// A file or directory that grows with the event, beside its database.
    pub fn grows(&self) -> Option<&Path> {
        match self {
            Self::Arranged { plan, .. } => plan.log.directory(),
            Self::League(config) => config.records.as_deref(),
            Self::Seat(config) => config.records.as_ref().map(|files| files.directory.as_path()),
        }
    }

    /// What a command says that cannot do this with the event.
    pub fn refusal(&self) -> &'static str {
        match self {
            Self::Arranged { .. } => {
                "this file describes an event; play it with `renmei run` or `renmei serve`"
            }
            Self::League(_) => {
                "this file describes an open league, not an event; host it with `renmei serve`"
            }
            Self::Seat(_) => "this file is that of an engine on a server; play it with `renmei floodgate`",
        }
    }
}

impl Plan {
    /// Reads and checks the configuration of an event; see [`Event::parse`].
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(text: &str, file: Option<&Path>, environment: &Environment) -> Result<Self, Faults> {
        reader::read(text, file, environment, &[&ROOT], |root| {
            serve::of_event(root);
            plan(root)
        })
    }
}

fn read(root: &Table<'_>) -> Event {
    if root.has("floodgate") {
        client(root).into()
    } else if root.has("serve") && !root.has("event") && !root.has("engines") {
        serve::league(root).into()
    } else {
        Event::Arranged { plan: Box::new(plan(root)), serve: serve::of_event(root).map(Box::new) }
    }
}

fn plan(root: &Table<'_>) -> Plan {
    let engines = Engines::read(root);
    let rules = games::rules(root);
    let adjudication = games::adjudication(root);
    let openings = games::openings(root, &rules);
    stages::plan(root, engines, rules, adjudication, openings)
}

//! What surrounds a running event: its screen, pages and notices, the watch over the disk, and the operator's door.

use crate::notify::{Notifier, Subject};
use crate::{Failure, door::Door, judge::Judge, pages};
use arena::{
    Say, Shutdown,
    boards::LiveBoards,
    disk::{self, DiskNews, DiskWatch},
    dispatcher::Company,
    operations::Operations,
    resting::RestingThread,
};
use journal::{Read, Reader, now};
use plan::{
    HttpConfig, NoticeKind, NotifyConfig, Plan, ServeConfig, StoredPlan, client::ClientConfig, time_text,
};
use referee::{opening::Openings, sink::Sink, standings::LookUp};
use std::{
    fmt,
    io::{self, IsTerminal as _, Write},
    mem,
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use web::{Office, Server, arbiter::Entrance};

/// Opens the dashboard for an event that is about to be played or resumed; `None` without a suitable terminal.
///
/// `LookUp` is a source of ratings, if they do not follow from the games; `LiveBoards` has the games in progress on other
/// machines, if machines may join.
pub type OpenScreen = fn(&Facts, Option<LookUp>, Option<Arc<LiveBoards>>) -> Result<Option<Screen>, Failure>;

/// A dashboard that follows an event. Dropping it restores the terminal.
pub struct Screen {
    /// Takes committed entries; never blocks on the terminal.
    pub feed: Read,
    /// Destination of the lines about entries: discarded while the dashboard shows the entries itself.
    pub game_lines: Box<dyn Write + Send>,
    /// Destination of other lines: the dashboard's log, and stderr after its end.
    pub say: Say,
    /// The same, for lines that may be many: the dashboard shows them in its log alone.
    pub note: Say,
    /// Keeps the dashboard open at the end of the event until it is closed.
    pub linger: Linger,
}

/// Returns when the dashboard is closed; dropping it restores the terminal at once.
pub type Linger = Box<dyn FnOnce()>;

/// Facts about an event for everything that surrounds it.
pub struct Facts {
    /// Name of the event.
    pub name: String,
    /// The database.
    pub database: PathBuf,
    /// The plan, as stored.
    pub plan: StoredPlan,
    notify: NotifyConfig,
    http: HttpConfig,
    /// A file or directory that grows with the event, beside the database.
    grows: Option<PathBuf>,
    /// Megabytes of free disk below which no new game begins.
    reserve_mb: u64,
}

/// Facts from a plan or a configuration; all three name these things alike.
macro_rules! facts {
    ($of:expr, $stored:expr, $grows:expr) => {
        Facts {
            name: $of.name.clone(),
            database: $of.database.clone(),
            plan: $stored,
            notify: $of.notify.clone(),
            http: $of.http.clone(),
            grows: $grows,
            reserve_mb: $of.reserve_mb,
        }
    };
}

impl From<&Plan> for Facts {
    fn from(plan: &Plan) -> Self {
        facts!(plan, StoredPlan::of_event(plan), plan.log.directory().map(Into::into))
    }
}

impl From<&ServeConfig> for Facts {
    fn from(config: &ServeConfig) -> Self {
        facts!(config, StoredPlan::of_league(config), config.records.clone())
    }
}

impl From<&ClientConfig> for Facts {
    fn from(config: &ClientConfig) -> Self {
        let stored = StoredPlan::of_client(config, config.ratings.clone());
        facts!(config, stored, config.records.as_ref().map(|files| files.directory.clone()))
    }
}

/// A line printer for stderr.
#[must_use]
pub fn aloud() -> Say {
    Arc::new(|line: &str| err_line!("{line}"))
}

/// How long the pages of an event stay after its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PagesStay {
    /// Until a signal where somebody sits at a terminal; elsewhere a script waits for the exit code.
    #[default]
    OnTerminal,
    /// As it was asked for.
    Asked(Stay),
}

/// A time that pages stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// So long.
    For(Duration),
    /// Until a signal.
    Forever,
}

impl PagesStay {
    /// Reads the value of `--http-linger`: a duration, or `forever`.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text == "forever" {
            return Ok(Self::Asked(Stay::Forever));
        }
        let time = time_text::duration(text).map_err(|error| format!("{error}; or write `forever`"))?;
        Ok(Self::Asked(Stay::For(time)))
    }

    /// How long pages stay; `None`: they end with the event.
    #[must_use]
    pub fn after_the_event(self, on_terminal: bool) -> Option<Stay> {
        match self {
            Self::OnTerminal => on_terminal.then_some(Stay::Forever),
            Self::Asked(Stay::For(Duration::ZERO)) => None,
            Self::Asked(stay) => Some(stay),
        }
    }
}

impl fmt::Display for Stay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For(time) => write!(f, "for {}", time_text::text(*time)),
            Self::Forever => f.write_str("until a signal"),
        }
    }
}

/// Everything around a running event. Its parts are closed in the order of the fields: no operator after the last game,
/// and pages until the last notice is delivered.
pub(crate) struct EventRun {
    door: Option<Door>,
    disk: Option<RestingThread>,
    judge: Option<Judge>,
    linger: Option<Linger>,
    pub notifier: Option<Notifier>,
    pages: Option<Server>,
    facts: Facts,
    /// Readers of committed entries, for the journal.
    pub readers: Vec<Reader>,
    /// The dashboard's destination of lines about entries.
    pub game_lines: Option<Box<dyn Write + Send>>,
    /// Destination of lines that are no entries.
    pub say: Say,
    /// Destination of such lines that may be many.
    pub note: Say,
}

impl EventRun {
    /// An event without a screen.
    pub fn plain(facts: impl Into<Facts>, say: Say) -> Self {
        Self {
            door: None,
            disk: None,
            judge: None,
            linger: None,
            notifier: None,
            pages: None,
            game_lines: None,
            readers: vec![],
            facts: facts.into(),
            note: say.clone(),
            say,
        }
    }

    /// An event on the dashboard, if it is wanted and there is a terminal for it.
    pub fn on_screen(
        facts: impl Into<Facts>,
        open: Option<OpenScreen>,
        scale: Option<LookUp>,
        boards: Option<Arc<LiveBoards>>,
    ) -> Result<Self, Failure> {
        let mut run = Self::plain(facts, aloud());
        let screen = open.map(|open| open(&run.facts, scale, boards)).transpose()?.flatten();
        if let Some(Screen { feed, game_lines, say, note, linger }) = screen {
            (run.say, run.note, run.linger, run.game_lines) = (say, note, Some(linger), Some(game_lines));
            run.readers.push(Reader::new("dashboard", feed));
        }
        Ok(run)
    }

    /// Opens the pages, if they are wanted, prints their addresses, and opens the channels of the notices. Addresses of
    /// the command line replace those of the configuration.
    pub fn publish(
        &mut self,
        addresses: &[SocketAddr],
        office: Option<(&Office, Option<Entrance>)>,
        boards: Option<Arc<LiveBoards>>,
    ) -> Result<(), Failure> {
        let Facts { name, database, http, .. } = &self.facts;
        self.pages = pages::open(http, addresses, database, name, office, boards)?;
        if let Some(pages) = &self.pages {
            pages::lines(pages.addresses()).iter().for_each(|line| (self.say)(line));
            self.readers.push(pages.reader());
        }
        self.notify()
    }

    /// Opens the channels of the notices.
    pub fn notify(&mut self) -> Result<(), Failure> {
        let Facts { name, database, plan, notify, .. } = &self.facts;
        let (name, database, stages) = (name.clone(), database.clone(), plan.stages.clone());
        let subject = Subject { database, name, stages, fault_limits: plan.fault_limits().collect() };
        self.notifier = Notifier::open(notify, subject, self.say.clone())?;
        self.readers.extend(self.notifier.as_ref().map(Notifier::reader));
        Ok(())
    }

    /// Watches the disk: each change is printed, and becomes a notice.
    pub fn watch_disk(&mut self) -> Result<DiskWatch, Failure> {
        let (say, notifier) = (self.say.clone(), self.notifier.clone());
        let tell = move |news: &DiskNews| {
            let text = news.to_string();
            say(&text);
            if let Some(notifier) = &notifier {
                notifier.tell(NoticeKind::Disk, now().unsigned_abs(), &text);
            }
        };
        let places = [Some(&self.facts.database), self.facts.grows.as_ref()];
        let places = places.into_iter().flatten().cloned().collect();
        let watched = disk::watch(places, self.facts.reserve_mb, tell);
        let (watch, thread) = watched.map_err(|error| Failure::Other(format!("the disk: {error}")))?;
        self.disk = Some(thread);
        Ok(watch)
    }

    /// Seats the judge of a plan, if it has one. An event goes on without it.
    pub fn judge(&mut self, plan: &Plan, sink: Arc<dyn Sink>) {
        let Some(judge) = &plan.judge else { return };
        match Judge::seat(judge, sink, self.say.clone()) {
            Ok((judge, reader)) => {
                self.judge = Some(judge);
                self.readers.push(reader);
            }
            Err(error) => (self.say)(&format!("the event has no judge: {error}")),
        }
    }

    /// Opens the operator's door. An event goes on without one.
    pub fn admit(&mut self, operations: Operations) {
        match Door::open(&self.facts.database, operations) {
            Ok(door) => self.door = Some(door),
            Err(why) => (self.say)(&why.to_string()),
        }
    }

    /// What games of engines that are started here are played with. From now on the disk is watched.
    pub fn company(&mut self, openings: Openings) -> Result<Company, Failure> {
        let disk = self.watch_disk()?;
        let (readers, say) = (mem::take(&mut self.readers), self.say.clone());
        Ok(Company { openings, remote: None, machines: None, readers, say, disk })
    }

    /// True if the event is on the dashboard.
    pub fn has_screen(&self) -> bool {
        self.linger.is_some()
    }

    /// Closes the door and ends the watch over the disk: the last game is over.
    pub fn close(&mut self) {
        self.door = None;
        self.disk = None;
        self.judge = None;
    }

    /// Keeps the dashboard open until its user closes it, or with `interrupted` restores the terminal at once.
    pub fn linger(&mut self, interrupted: bool) {
        if let Some(linger) = self.linger.take().filter(|_| !interrupted) {
            linger();
        }
    }

    /// Keeps the pages open for those who look at the result, until a signal or for a while.
    pub fn keep_pages(&self, stay: PagesStay, shutdown: &Shutdown) -> Result<(), Failure> {
        let Some(stay) = stay.after_the_event(io::stderr().is_terminal()).filter(|_| self.pages.is_some())
        else {
            return Ok(());
        };
        (self.say)(&format!("the event is over; its pages stay {stay}, and Ctrl-C closes them"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| Failure::Other(error.to_string()))?;
        let stopped = shutdown.finishing().cancelled();
        runtime.block_on(async {
            match stay {
                Stay::Forever => stopped.await,
                Stay::For(time) => _ = tokio::time::timeout(time, stopped).await,
            }
        });
        Ok(())
    }

    /// Delivers the last notices.
    pub fn finish(mut self) {
        if let Some(notifier) = self.notifier.take() {
            notifier.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_stay_on_a_terminal_until_a_signal_and_elsewhere_only_as_long_as_it_was_asked_for() {
        let stay = |text: &str| PagesStay::parse(text).unwrap();
        let ten_minutes = Some(Stay::For(Duration::from_secs(600)));
        for (asked, on_terminal, elsewhere) in [
            (PagesStay::default(), Some(Stay::Forever), None),
            (stay("10m"), ten_minutes, ten_minutes),
            (stay("forever"), Some(Stay::Forever), Some(Stay::Forever)),
            (stay("0"), None, None),
        ] {
            assert_eq!(asked.after_the_event(true), on_terminal, "{asked:?}");
            assert_eq!(asked.after_the_event(false), elsewhere, "{asked:?}");
        }
        assert!(PagesStay::parse("soon").unwrap_err().ends_with("or write `forever`"));
    }
}

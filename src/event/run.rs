//! What surrounds a running event: its screen, pages and notices, the watch over the disk, and the operator's door.

use crate::{Failure, door::Door, judge::Judge, pages};
use arena::{
    Say,
    boards::LiveBoards,
    disk::{self, DiskNews, DiskWatch},
    dispatcher::Company,
    operations::Operations,
    resting::RestingThread,
};
use journal::{Read, Reader, now};
use notify::{Notifier, Subject};
use plan::{HttpConfig, NoticeKind, NotifyConfig, Plan, ServeConfig, StoredPlan, client::ClientConfig};
use referee::{opening::Openings, sink::Sink, standings::LookUp};
use std::{io::Write, mem, net::SocketAddr, path::PathBuf, sync::Arc};
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

    /// Delivers the last notices.
    pub fn finish(mut self) {
        if let Some(notifier) = self.notifier.take() {
            notifier.finish();
        }
    }
}

//! What surrounds a running event: its screen, pages and notices, the watch over the disk, and the operator's door.

use crate::notify::{Notifier, Subject};
use crate::{
    Failure, Playing,
    door::Door,
    gallery::{Gallery, ListedEvent},
    judge::Judge,
    network::{Network, registers_of},
    output::{self, Printable},
    pages,
    playing::event_file,
    runtime,
};
use arena::{
    Say, Shutdown,
    boards::LiveBoards,
    disk::{self, DiskNews, DiskWatch},
    operations::Operations,
    remote::Remote,
    resting::RestingThread,
};
use contest::standings::LookUp;
use journal::{Read, Reader, now};
use plan::{Event, NoticeKind, Plan, StoredPlan, time_text};
use referee::sink::Sink;
use report::{Announcer, EventInfo, progress::Progress};
use std::{
    fmt,
    io::{self, IsTerminal as _, Write},
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::Duration,
};
use web::{Office, Server, arbiter::Entrance};
use words::Language;

/// The terminal of the user: its language, and what opens the dashboard on it.
#[derive(Clone, Copy, Debug)]
pub struct OpenScreen {
    /// The language of the dashboard and of reports.
    pub language: Language,
    /// Opens the dashboard for an event that is about to be played or resumed; `None` without a suitable terminal.
    pub open: Open,
}

/// `LookUp` is a source of ratings, if they do not follow from the games; `LiveBoards` has the games in progress on other
/// machines, if machines may join.
pub type Open =
    fn(Language, &Event, Option<LookUp>, Option<Arc<LiveBoards>>) -> Result<Option<Screen>, Failure>;

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

/// A line printer for stderr.
pub fn aloud() -> Say {
    Arc::new(output::say)
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

/// Where the pages of an event are.
pub(crate) enum PagesAt<'a> {
    /// At addresses of its own: these, or without such those of its configuration.
    Own(&'a [SocketAddr]),
    /// In a gallery, if that is open; otherwise at those of its configuration.
    Gallery(&'a Gallery, ListedEvent<'a>),
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
    event: Event,
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
    /// An event, on the dashboard if that is wanted and there is a terminal for it.
    pub fn new(
        event: Event,
        say: Say,
        open: Option<OpenScreen>,
        scale: Option<LookUp>,
        boards: Option<Arc<LiveBoards>>,
    ) -> Result<Self, Failure> {
        let screen = open.map(|it| (it.open)(it.language, &event, scale, boards)).transpose()?.flatten();
        let mut run = Self {
            door: None,
            disk: None,
            judge: None,
            linger: None,
            notifier: None,
            pages: None,
            game_lines: None,
            readers: vec![],
            event,
            note: say.clone(),
            say,
        };
        if let Some(Screen { feed, game_lines, say, note, linger }) = screen {
            (run.say, run.note, run.linger, run.game_lines) = (say, note, Some(linger), Some(game_lines));
            run.readers.push(Reader::new("dashboard", feed));
        }
        Ok(run)
    }

    /// Prints lines about the games, and writes the file of the entries.
    pub fn announce(
        &mut self,
        info: EventInfo,
        playing: &Playing,
        progress: Option<Progress>,
    ) -> Result<(), Failure> {
        if self.game_lines.is_none() && playing.events.is_none() {
            return Ok(());
        }
        let mut announcer = Announcer::new(info);
        if let Some(lines) = self.game_lines.take() {
            announcer.lines = Some(Box::new(Printable::new(lines)));
        }
        (announcer.progress, announcer.quiet) = (progress, playing.quiet);
        announcer.json = playing.events.as_deref().map(event_file).transpose()?;
        self.readers.push(Reader::new("announcer", move |batch| announcer.announce(batch)));
        Ok(())
    }

    /// Lets remote players see the event; returns their source, and their way in.
    pub fn admit_players(&mut self, network: Network, quiet: bool) -> (Remote, Entrance) {
        let Network { remote, reader, listening, entrance, visits } = network;
        if self.has_screen() {
            // They were printed before there was a screen.
            listening.iter().for_each(|line| (self.say)(line));
        }
        if !quiet {
            visits.write_to(self.note.clone());
        }
        self.readers.push(reader);
        (remote, entrance)
    }

    /// Opens the pages, if they are wanted, and the channels of the notices. Returns the office of the arbiter's pages.
    pub fn publish(
        &mut self,
        at: &PagesAt<'_>,
        entrance: Option<Entrance>,
        boards: Option<Arc<LiveBoards>>,
    ) -> Result<Option<Office>, Failure> {
        let event = &self.event;
        let office = match *at {
            PagesAt::Gallery(gallery, listed) if gallery.is_open() => {
                let (readers, office) = gallery.show(listed, event, entrance)?;
                self.readers.extend(readers);
                office
            }
            _ => {
                let addresses = if let PagesAt::Own(addresses) = *at { addresses } else { &[] };
                let office = registers_of(event).map(|registers| Office::new(event.database(), registers));
                let door = office.clone().map(|office| (office, entrance));
                self.pages =
                    pages::open(event.http(), addresses, event.database(), event.name(), door, boards)?;
                if let Some(pages) = &self.pages {
                    pages::lines(pages.addresses()).iter().for_each(|line| (self.say)(line));
                    self.readers.push(pages.reader());
                }
                office
            }
        };
        self.notify()?;
        Ok(office)
    }

    /// Opens the channels of the notices.
    fn notify(&mut self) -> Result<(), Failure> {
        let stored = StoredPlan::from(&self.event);
        let (name, database) = (self.event.name().to_owned(), self.event.database().to_owned());
        let fault_limits = stored.fault_limits().collect();
        let subject = Subject { database, name, stages: stored.stages, fault_limits };
        self.notifier = Notifier::open(self.event.notify(), subject, self.say.clone())?;
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
        let places = [Some(self.event.database()), self.event.grows()];
        let places = places.into_iter().flatten().map(Path::to_owned).collect();
        let watched = disk::watch(places, *self.event.reserve_mb(), tell);
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
        match Door::open(self.event.database(), self.event.name(), operations) {
            Ok(door) => self.door = Some(door),
            Err(why) => (self.say)(&why.to_string()),
        }
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
        let stopped = shutdown.finishing().cancelled();
        runtime()?.block_on(async {
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

//! A hall: one process that plays the events of all files in a directory, each with its own database, beside each other.
//!
//! One thread looks at the directory and at the clock, and each event is played on a thread of its own, as `renmei run`,
//! `renmei serve` or `renmei floodgate` plays it. What they share is the [`Turnstile`]: cores, priorities, and the licences
//! of engines. All state is in the databases, so that a hall that starts again goes on with every event.

mod files;
mod opened;
mod playing;
mod running;
mod score;

use crate::{
    Exit, Failure,
    catalogue::{Catalogue, Reins},
    gallery::{Gallery, ListedEvent},
    league::SharedPort,
    output, play,
    prepare::listen,
};
use arena::{Say, Shutdown, turnstile::Turnstile};
pub use client::presence::{Seen, Stage};
pub use files::event_files;
use files::{Change, Files};
use journal::{Store, now};
use notation::printable;
use opened::Opened;
use parking_lot::Mutex;
use plan::{
    Environment, Faults, HallConfig, Plan, ServeConfig,
    hall::{HallEvent, too_many},
};
use referee::number::number;
pub use running::{Now, Running};
use score::{Score, Standing};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};
use web::{Doing, Inside};

/// Events that are open at once, each with some dozen threads and files; others wait until one of them ends.
const OPEN: usize = 32;
/// Faults of an event that the pages show, and the letters of each; the terminal has all.
const FAULTS: (usize, usize) = (10, 300);
/// Events that nobody plays here and that stay open to be looked at, the newest: each has its entries in memory.
const SHOWN: usize = 20;
/// Time between two tables of all events.
const TABLE: Duration = Duration::from_secs(60);

/// An order to a hall, about the event of this name: that of its file without `.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Its games begin, or go on.
    Begin(String),
    /// No new game begins; the running ones are finished. The event waits then until it is begun again.
    Finish(String),
    /// The same, and the running games are adjourned.
    Adjourn(String),
    /// Its file has this text now, which is not taken up before the event is begun again; of its games so many are played at
    /// once from now on, if a number is given.
    Changed(String, String, Option<usize>),
    /// What `hall.toml` says of it is read again.
    Terms(String),
    /// The pages for others are at the addresses of its file from now on; the text is that of the file.
    Others(String, String),
    /// An event of a database is shown under this name, and played by nobody: the database, and the name of the event there.
    Show(String, PathBuf, String),
    /// The event is taken off the list, if it is not played: its files are gone.
    Forget(String),
    /// The hall ends: no new game begins, and the running ones are finished, or with `true` adjourned.
    End(bool),
}

/// What makes a hall the desk of one person.
pub struct Personal {
    /// Its pages, and what keeps others out.
    pub inside: Inside,
    /// What it orders.
    pub orders: mpsc::Receiver<Order>,
    /// Hears of the address of the pages, before any event begins.
    pub opened: Box<dyn FnOnce(SocketAddr)>,
    /// Where it sees what events do.
    pub running: Running,
}

/// How a hall is played.
#[derive(Clone, Debug)]
pub struct Options {
    /// Addresses of the pages, in place of those of `hall.toml`.
    pub http: Vec<SocketAddr>,
    /// Cores that all games take together, in place of that of `hall.toml`.
    pub concurrency: Option<usize>,
    /// Takes more cores than there are.
    pub oversubscribe: bool,
    /// Ends when every event is over.
    pub until_done: bool,
    /// Prints no line per game.
    pub quiet: bool,
    /// Fits the limits of a host to what this process may have open.
    pub fit: fn(&mut ServeConfig),
}

/// Plays the events of a directory until a signal, or with `until_done` until they are over; as a desk it can be ordered to
/// end, too.
///
/// # Errors
/// When `hall.toml` is wrong, the directory cannot be read, or an address is taken. A fault of one event is printed, and
/// the others go on.
pub fn run(directory: &Path, options: &Options, desk: Option<Personal>) -> Result<Exit, Failure> {
    let config = HallConfig::load(directory, options.oversubscribe).map_err(Failure::Config)?;
    let usable = thread::available_parallelism().map_or(1, usize::from);
    let cores = options.concurrency.or(config.concurrency).unwrap_or(usable);
    if cores > usable && !config.oversubscribe {
        return Err(Failure::Usage(format!("--concurrency {cores}: {}", too_many(usable))));
    }
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let mut http = config.http.clone();
    if !options.http.is_empty() {
        http.listen.clone_from(&options.http);
    }
    let name = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let name =
        name.file_name().map_or_else(|| "Renmei".to_owned(), |name| name.to_string_lossy().into_owned());
    let (inside, orders, opened, running) = match desk {
        Some(Personal { inside, orders, opened, running }) => {
            (Some(inside), Some(orders), Some(opened), running)
        }
        None => (None, None, None, Running::default()),
    };
    let gallery = Gallery::open(&http, &name, None, inside)?;
    if let (Some(opened), Some(address)) = (opened, gallery.address()) {
        opened(address);
    }
    let licences = config.licences.iter().map(|(name, count)| (name.as_str(), *count));
    let turnstile = Turnstile::new(cores).with_licences(licences);
    let port = config.serve.as_ref().map(SharedPort::open).transpose()?;
    let held = config.event.iter().filter(|event| event.held).map(|event| stem(&event.file)).collect();
    let held = Mutex::new(held);
    let hall = Hall {
        directory,
        options,
        config: &config,
        turnstile,
        shutdown,
        gallery,
        port,
        held,
        running,
        shown: Mutex::default(),
    };
    hall.run(orders.as_ref())
}

struct Hall<'a> {
    directory: &'a Path,
    options: &'a Options,
    config: &'a HallConfig,
    turnstile: Turnstile,
    shutdown: Shutdown,
    gallery: Gallery,
    /// Where the players of all events log in, if they do so at one address.
    port: Option<SharedPort>,
    /// Events that do not begin by themselves.
    held: Mutex<BTreeSet<String>>,
    running: Running,
    /// Events that are only shown, the newest last, each by its database.
    shown: Mutex<Vec<Opened>>,
}

/// An event, as the thread of the hall sees it.
struct Event {
    /// The text of its file when it was begun.
    text: String,
    cue: Cue,
    state: EventState,
    /// It was begun again while its last games are finished: it goes on by its file as it is then, however they end.
    again: bool,
}

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventState {
    /// It waits for its hours, or until fewer events are open.
    Waits,
    /// A thread plays it.
    Plays,
    Over,
    /// Stopped before its end by a signal.
    Stopped,
    Halted,
    /// Its file is faulty, or it cannot be played.
    Failed,
}

/// What the thread of an event and that of the hall share.
#[derive(Clone)]
struct Cue {
    /// Name of the event in the hall: that of its file without `.toml`.
    name: String,
    terms: HallEvent,
    reins: Reins,
    score: Arc<Mutex<Option<Score>>>,
    say: Say,
}

impl Hall<'_> {
    fn run(&self, orders: Option<&mpsc::Receiver<Order>>) -> Result<Exit, Failure> {
        let mut files = Files::of(self.directory);
        let shown = self.directory.display();
        // A directory that is not there is found before anything begins.
        files.look(Instant::now()).map_err(|error| Failure::Usage(format!("{shown}: {error}")))?;
        let mut files = Files::of(self.directory);
        err_line!("{} for the events of {shown}{}", number(self.turnstile.places(), "core"), self.ending());
        self.gallery.lines().iter().for_each(|line| err_line!("{line}"));
        let listening = self.port.iter().flat_map(|port| &port.lines);
        listening.for_each(|line| err_line!("{line} for the players of all events"));
        let mut events = BTreeMap::new();
        thread::scope(|scope| {
            let (mut catalogue, mut told) = (Catalogue::new(scope), Instant::now());
            while self.step(&mut files, &mut events, &mut catalogue) {
                if let Some((name, ended, _)) = catalogue.next_end() {
                    self.note(&mut events, &name, ended);
                }
                orders
                    .iter()
                    .flat_map(|orders| orders.try_iter())
                    .for_each(|order| self.obey(order, &mut events));
                if told.elapsed() >= TABLE {
                    told = Instant::now();
                    score::print(events.values().map(Event::standing));
                }
            }
        });
        Ok(self.conclude(&events))
    }

    fn ending(&self) -> &'static str {
        match self.options.until_done {
            true => "",
            false => "; events whose files are added are played too, until a signal ends this",
        }
    }

    /// Looks at the files and at the clock; false: there is nothing left to do.
    fn step<'scope, 'env>(
        &'env self,
        files: &mut Files,
        events: &mut BTreeMap<String, Event>,
        catalogue: &mut Catalogue<'scope, 'env, String, EventState>,
    ) -> bool {
        let is_ending = self.shutdown.is_finishing();
        self.close_replaced();
        if !is_ending {
            match files.look(Instant::now()) {
                Ok(changes) => self.take_up(changes, events),
                Err(error) if files.fails_anew() => err_line!("{}: {error}", self.directory.display()),
                Err(_told_before) => {}
            }
            self.begin_next(events, catalogue);
        }
        catalogue.pass_on(&self.shutdown);
        let played = events.values().filter(|event| event.state == EventState::Plays);
        played.for_each(|event| self.keep_hours(&event.cue));
        let held = self.held.lock().clone();
        let is_left = || {
            events.values().any(|event| event.state == EventState::Waits && !held.contains(&event.cue.name))
        };
        let waits = !is_ending && (!self.options.until_done || files.unsettled() || is_left());
        !catalogue.playing().is_empty() || waits
    }

    fn obey(&self, order: Order, events: &mut BTreeMap<String, Event>) {
        match order {
            Order::Begin(name) => self.begin(&name, events),
            Order::Finish(name) => self.hold(name, events, Shutdown::finish),
            Order::Adjourn(name) => self.hold(name, events, Shutdown::adjourn),
            Order::Changed(name, text, most) => {
                if let Ok(plan::Event::Arranged { plan, .. }) = self.read(&name, &text) {
                    self.gallery.set_total(&name, crate::total(&plan));
                }
                if let Some(event) = events.get_mut(&name) {
                    event.text = text;
                    let lane = event.cue.reins.lane();
                    lane.iter().zip(most).for_each(|(lane, most)| lane.set_most(most));
                }
            }
            Order::Terms(name) => {
                if let Some(event) = events.get_mut(&name) {
                    event.cue.terms = self.terms(&format!("{name}.toml"));
                }
            }
            Order::Others(name, text) => self.show_others(&name, text, events),
            Order::Show(name, database, event) => self.show_database(&name, database, &event),
            Order::Forget(name) => {
                if events.get(&name).is_none_or(|event| event.state != EventState::Plays) {
                    events.remove(&name);
                    self.held.lock().remove(&name);
                    self.gallery.close(&name);
                }
            }
            Order::End(false) => self.shutdown.finish(),
            Order::End(true) => self.shutdown.adjourn(),
        }
    }

    /// What `hall.toml` says of the event of a file now; while it is faulty, what it said when the hall began.
    fn terms(&self, file: &str) -> HallEvent {
        match HallConfig::load(self.directory, self.config.oversubscribe) {
            Ok(config) => config.of(file),
            Err(faults) => {
                err_line!("{faults}\n{file}: what `{}` said when the hall began counts", plan::hall::FILE);
                self.config.of(file)
            }
        }
    }

    /// Opens the pages for others where the file of an event says now.
    fn show_others(&self, name: &str, text: String, events: &mut BTreeMap<String, Event>) {
        let read = self.read(name, &text).map_err(Failure::Config);
        if let Err(why) = read.and_then(|event| self.gallery.show_others(name, event.http())) {
            said_of(name)(&why.to_string());
        }
        if let Some(event) = events.get_mut(name) {
            event.text = text;
        }
    }

    /// Shows an event that nobody plays here.
    fn show_database(&self, name: &str, database: PathBuf, event: &str) {
        let opened = Opened::new(name.to_owned(), database.clone(), event.to_owned());
        let shown = Plan::of_engines(event, vec![], database).into();
        match self.gallery.show(ListedEvent { name, title: event, note: "", event: &shown }, None) {
            Ok(_) => {
                self.gallery.tell(name, Doing::Stopped);
                self.keep_shown(opened);
            }
            Err(why) => said_of(name)(&why.to_string()),
        }
    }

    /// Closes the oldest of those events that are only shown; whoever asks for one opens it again.
    fn keep_shown(&self, newest: Opened) {
        let mut shown = self.shown.lock();
        shown.retain(|known| known.name != newest.name);
        shown.push(newest);
        while shown.len() > SHOWN {
            self.gallery.close(&shown.remove(0).name);
        }
    }

    /// Closes events that are only shown whose database was deleted, moved or replaced: the desk reads the file that is there
    /// now, and their pages would show the other one for ever.
    fn close_replaced(&self) {
        self.shown.lock().retain_mut(|opened| {
            let stays = opened.is_there();
            if !stays {
                self.gallery.close(&opened.name);
            }
            stays
        });
    }

    /// Lets an event begin, or go on from where it was stopped.
    fn begin(&self, name: &str, events: &mut BTreeMap<String, Event>) {
        self.held.lock().remove(name);
        if let Some(event) = events.get_mut(name).filter(|event| event.state == EventState::Plays) {
            event.again = event.cue.reins.shutdown.is_finishing();
            return;
        }
        let file = format!("{name}.toml");
        let text = plan::text_of(&self.directory.join(&file));
        events.insert(name.to_owned(), self.admit(&file, text, said_of(name)));
    }

    /// Stops an event until it is begun again.
    fn hold(&self, name: String, events: &mut BTreeMap<String, Event>, stop: fn(&Shutdown)) {
        match events.get_mut(&name) {
            Some(event) if event.state == EventState::Plays => {
                event.again = false;
                stop(&event.cue.reins.shutdown);
            }
            _ => self.gallery.tell(&name, Doing::Stopped),
        }
        self.held.lock().insert(name);
    }

    /// Opens and shuts the way to the games by the hours of the event.
    fn keep_hours(&self, cue: &Cue) {
        let open = cue.terms.window.is_open(now());
        if let Some(lane) = cue.reins.lane() {
            lane.set_open(open);
            let doing = if open { Doing::Plays } else { Doing::Waits };
            self.gallery.tell(&cue.name, doing);
        }
    }

    /// Takes up what happened to files, until a signal.
    fn take_up(&self, changes: Vec<Change>, events: &mut BTreeMap<String, Event>) {
        // Hundreds of files may have come at once.
        for change in changes.into_iter().take_while(|_| !self.shutdown.is_finishing()) {
            self.take(change, events);
        }
    }

    fn take(&self, change: Change, events: &mut BTreeMap<String, Event>) {
        let file = match change {
            Change::Removed(file) => return self.removed(&file, events),
            Change::Written(file) => file,
        };
        let name = stem(&file);
        let say = said_of(&name);
        let text = plan::text_of(&self.directory.join(&file));
        match events.get(&name) {
            Some(event) if text.as_ref() == Ok(&event.text) && event.state != EventState::Failed => return,
            Some(event) if event.state == EventState::Plays => {
                return say(&format!(
                    "{file} has changed; the event goes on as it was begun, and takes the file up when the hall is started again; \
                     engines at its end join before by `renmei admin DATABASE reload`"
                ));
            }
            _ => {}
        }
        let event = self.admit(&file, text, say);
        events.insert(name, event);
    }

    /// Reads the file of an event, which waits then, if the file is right.
    fn admit(&self, file: &str, text: Result<String, Faults>, say: Say) -> Event {
        let (name, terms) = (stem(file), self.terms(file));
        let (reins, score) = Default::default();
        let cue = Cue { name, terms, reins, score, say };
        match text.and_then(|text| self.read(&cue.name, &text).map(|_| text)) {
            Ok(text) => {
                let is_held = self.held.lock().contains(&cue.name);
                if is_held {
                    self.show_held(&cue, &text);
                }
                self.gallery.tell(&cue.name, if is_held { Doing::Stopped } else { Doing::Waits });
                Event { text, cue, state: EventState::Waits, again: false }
            }
            Err(faults) => {
                self.refuse(&cue, &faults.to_string(), "the event begins when its file is mended");
                Event { text: String::new(), cue, state: EventState::Failed, again: false }
            }
        }
    }

    /// Shows what was played so far of an event that does not go on by itself.
    fn show_held(&self, cue: &Cue, text: &str) {
        let Ok(event) = self.read(&cue.name, text) else { return };
        let has_begun = event.database().exists()
            && Store::read(event.database())
                .and_then(|store| store.events())
                .is_ok_and(|events| events.iter().any(|known| known.name == event.name()));
        if has_begun && let Err(why) = self.gallery.show(cue.listed(&event), None) {
            (cue.say)(&why.to_string());
        }
    }

    fn read(&self, name: &str, text: &str) -> Result<plan::Event, Faults> {
        read(&self.file(name), text)
    }

    /// The file of an event.
    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.toml"))
    }

    /// Says why an event is not played, here and on the pages.
    fn refuse(&self, cue: &Cue, why: &str, way_on: &str) {
        why.lines().for_each(|line| (cue.say)(line));
        (cue.say)(&format!("the others go on; {way_on}"));
        // The pages of a desk are its owner's alone.
        let shown = if self.gallery.is_desk() { why.to_owned() } else { without_places(why) };
        self.gallery.tell_faulty(&cue.name, for_pages(self.directory, &shown));
    }

    /// Begins waiting events in their hours, each on a thread of its own, as long as fewer than [`OPEN`] are open: those
    /// of a higher priority first, and then by their names.
    fn begin_next<'scope, 'env>(
        &'env self,
        events: &mut BTreeMap<String, Event>,
        catalogue: &mut Catalogue<'scope, 'env, String, EventState>,
    ) {
        let (now, open) = (now(), catalogue.playing().len());
        let held = self.held.lock().clone();
        let may_begin = |event: &&mut Event| event.may_begin(now) && !held.contains(&event.cue.name);
        let mut waiting: Vec<&mut Event> = events.values_mut().filter(may_begin).collect();
        waiting.sort_by_key(|event| Reverse(event.cue.terms.priority));
        for event in waiting.into_iter().take(OPEN.saturating_sub(open)) {
            let cue = event.cue.clone();
            // What the file names may be gone by now.
            event.state = match self.read(&cue.name, &event.text) {
                Ok(described) => {
                    let (name, reins) = (cue.name.clone(), cue.reins.clone());
                    catalogue.begin(name, reins, move || self.play(&cue, described));
                    EventState::Plays
                }
                Err(faults) => {
                    self.refuse(&cue, &faults.to_string(), "the event begins when its file is mended");
                    EventState::Failed
                }
            };
        }
    }

    /// Notes how the playing of an event ended.
    fn note(&self, events: &mut BTreeMap<String, Event>, name: &str, ended: Result<EventState, Failure>) {
        self.running.forget(name);
        let Some(event) = events.get_mut(name) else { return };
        let is_wanted = event.again && !self.shutdown.is_finishing();
        event.state = ended.unwrap_or_else(|failure| {
            if Exit::from(&failure) == Exit::Stopped {
                return EventState::Stopped;
            }
            self.refuse(&event.cue, &failure.to_string(), "it is tried again when its file is written again");
            EventState::Failed
        });
        // That it is over its entries say, when viewers may know; why it was halted is said there already.
        if event.state == EventState::Stopped {
            self.gallery.tell(name, Doing::Stopped);
        }
        let file = format!("{name}.toml");
        if is_wanted {
            self.begin(name, events);
        } else if !self.shutdown.is_finishing() && self.directory.join(&file).try_exists().is_ok_and(|is| !is)
        {
            self.removed(&file, events);
        }
    }

    /// Says what becomes of an event whose file is gone.
    fn removed(&self, file: &str, events: &mut BTreeMap<String, Event>) {
        let name = stem(file);
        match events.get(&name) {
            Some(event) if event.state == EventState::Plays => (event.cue.say)(&format!(
                "{file} is gone; the event goes on to its end, but not when the hall is started again"
            )),
            // Forgotten, so that a file of this name begins again.
            Some(event) => {
                (event.cue.say)(&format!(
                    "{file} is gone; the event is not listed any more, and its database stays"
                ));
                events.remove(&name);
                self.gallery.close(&name);
                // It is stopped no longer, but for what `hall.toml` says of a file of this name.
                if !self.terms(file).held {
                    self.held.lock().remove(&name);
                }
            }
            None => {}
        }
    }

    /// Prints how the events stand, and returns the exit code of all.
    fn conclude(&self, events: &BTreeMap<String, Event>) -> Exit {
        score::print(events.values().map(Event::standing));
        let any = |state| events.values().any(|event| event.state == state);
        let is_left = self.shutdown.is_finishing() && (any(EventState::Stopped) || any(EventState::Waits));
        if is_left {
            play::print_how_to_resume(false);
        }
        match () {
            () if is_left => Exit::Stopped,
            () if any(EventState::Failed) => Exit::Failed,
            () if any(EventState::Halted) => Exit::Halted,
            () => Exit::Done,
        }
    }
}

impl Event {
    /// True if it waits, and not for its hours, at a time in ms since 1970-01-01 UTC.
    fn may_begin(&self, now: i64) -> bool {
        self.state == EventState::Waits && self.cue.terms.window.is_open(now)
    }

    /// How it stands, for the table of all events.
    fn standing(&self) -> Standing {
        let state = match self.state {
            EventState::Plays if !self.cue.terms.window.is_open(now()) => "waits",
            EventState::Waits => "waits",
            EventState::Plays => "plays",
            EventState::Over => "over",
            EventState::Stopped => "stopped",
            EventState::Halted => "halted",
            EventState::Failed => "faulty",
        };
        let score = self.cue.score.lock();
        Standing::new(&self.cue.name, state, score.as_ref())
    }
}

/// The event of a file, or everything that is wrong with it.
fn read(path: &Path, text: &str) -> Result<plan::Event, Faults> {
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    let environment =
        Environment::here(directory).map_err(|error| Faults::of_file(path, error.to_string()))?;
    plan::Event::parse(text, Some(path), &environment)
}

/// Faults as pages show them: the first ones, shortened, and without the directory, which is the operator's.
fn for_pages(directory: &Path, faults: &str) -> Vec<String> {
    let (most, letters) = FAULTS;
    let canonical = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let places = [directory, &canonical].map(|place| format!("{}/", place.display()));
    let shown = |line: &str| {
        let line = places.iter().fold(line.to_owned(), |line, place| line.replace(place.as_str(), ""));
        match line.char_indices().nth(letters) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    };
    let mut listed: Vec<String> = faults.lines().take(most).map(shown).collect();
    listed.extend((faults.lines().count() > most).then(|| "…".to_owned()));
    listed
}

/// A text in which each absolute path is the name of its file: where files lie is the operator's.
fn without_places(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "`'\"():,;=".contains(c);
    let pieces = text.split_inclusive(is_end).map(|piece| {
        let is_path = piece.starts_with('/') && piece.trim_end_matches(is_end).len() > 1;
        piece.rsplit_once('/').filter(|_| is_path).map_or(piece, |(_, name)| name)
    });
    pieces.collect()
}

/// The name of an event in the hall: that of its file without `.toml`.
fn stem(file: &str) -> String {
    file.strip_suffix(".toml").unwrap_or(file).to_owned()
}

/// Prints lines with the name of an event before them.
fn said_of(name: &str) -> Say {
    let name = printable(name.as_bytes());
    Arc::new(move |line: &str| output::say(&format!("{name}: {line}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_on_public_pages_name_files_and_not_where_they_lie() {
        for (fault, shown) in [
            (
                "database `/srv/cups/a/cup.db` cannot grow: the disk is full",
                "database `cup.db` cannot grow: the disk is full",
            ),
            ("/srv/cup.toml:1:2: 1/2 of / and a/b", "cup.toml:1:2: 1/2 of / and a/b"),
            ("command = \"/home/mika/engine\"\nis missing", "command = \"engine\"\nis missing"),
        ] {
            assert_eq!(without_places(fault), shown);
        }
    }

    const CUP: &str = "[event]\nformat = \"round-robin\"\ngames = 2\n[time]\ncontrol = \"byoyomi 1s\"\n";

    /// A hall of one event, `cup`, which a thread is said to play.
    fn playing(look: impl FnOnce(&Hall<'_>, &mut BTreeMap<String, Event>)) {
        let dir = tempfile::tempdir().unwrap();
        let engine = |name: &str| {
            let command = std::env::current_exe().unwrap();
            format!("[[engines]]\nname = \"{name}\"\ncommand = '{}'\n", command.display())
        };
        let text = [CUP, &engine("a"), &engine("b")].concat();
        std::fs::write(dir.path().join("cup.toml"), &text).unwrap();
        let options = Options {
            http: vec![],
            concurrency: None,
            oversubscribe: true,
            until_done: false,
            quiet: true,
            fit: |_| (),
        };
        let hall = Hall {
            directory: dir.path(),
            options: &options,
            config: &HallConfig::load(dir.path(), true).unwrap(),
            turnstile: Turnstile::new(1),
            shutdown: Shutdown::default(),
            gallery: Gallery::on(&[], "hall", None).unwrap(),
            port: None,
            held: Mutex::default(),
            running: Running::default(),
            shown: Mutex::default(),
        };
        let event = hall.admit("cup.toml", Ok(text), Arc::new(|_| ()));
        let mut events = BTreeMap::from([("cup".to_owned(), Event { state: EventState::Plays, ..event })]);
        look(&hall, &mut events);
    }

    #[test]
    fn an_event_that_is_begun_again_during_its_last_game_goes_on_by_its_file() {
        let orders = [Order::Finish("cup".to_owned()), Order::Begin("cup".to_owned())];
        for (given, ended, then) in [
            (&orders[..], EventState::Over, EventState::Waits),
            (&orders, EventState::Stopped, EventState::Waits),
            (&orders[..1], EventState::Stopped, EventState::Stopped),
            (&orders[1..], EventState::Over, EventState::Over),
        ] {
            playing(|hall, events| {
                given.iter().for_each(|order| hall.obey(order.clone(), events));
                hall.note(events, "cup", Ok(ended));
                assert_eq!(events["cup"].state, then, "{given:?} {ended:?}");
            });
        }
    }

    #[test]
    fn an_event_whose_file_is_gone_is_stopped_and_another_of_its_name_is_not() {
        for (terms, is_held) in [("", false), ("[[event]]\nfile = \"cup.toml\"\nheld = true\n", true)] {
            playing(|hall, events| {
                std::fs::write(hall.directory.join(plan::hall::FILE), terms).unwrap();
                std::fs::remove_file(hall.directory.join("cup.toml")).unwrap();
                hall.take(Change::Removed("cup.toml".to_owned()), events);
                hall.obey(Order::Finish("cup".to_owned()), events);
                assert!(events["cup"].cue.reins.shutdown.is_finishing() && hall.held.lock().contains("cup"));
                hall.note(events, "cup", Ok(EventState::Stopped));
                assert!(events.is_empty());
                assert_eq!(hall.held.lock().contains("cup"), is_held, "{terms}");
            });
        }
    }

    #[test]
    fn of_the_events_that_are_only_shown_the_newest_stay_open() {
        playing(|hall, events| {
            for number in (0..SHOWN + 5).chain([7]) {
                let show = Order::Show(format!("study/{number}"), "x.db".into(), "cup".to_owned());
                hall.obey(show, events);
            }
            let shown = hall.shown.lock();
            assert_eq!(
                (shown.len(), shown[0].name.as_str(), shown[SHOWN - 1].name.as_str()),
                (SHOWN, "study/5", "study/7")
            );
        });
    }

    #[test]
    fn an_event_that_is_only_shown_is_closed_when_its_database_is_replaced_and_can_be_shown_again() {
        playing(|hall, events| {
            let [path, other] = ["study.db", "other.db"].map(|name| hall.directory.join(name));
            [&path, &other].into_iter().for_each(|path| drop(journal::Writer::open(path).unwrap()));
            let show = Order::Show("study.db/cup".to_owned(), path.clone(), "cup".to_owned());
            hall.obey(show.clone(), events);
            hall.close_replaced();
            assert_eq!(hall.shown.lock().len(), 1, "the file is the same");
            std::fs::rename(&other, &path).unwrap();
            hall.close_replaced();
            assert!(hall.shown.lock().is_empty());
            hall.obey(show, events);
            hall.close_replaced();
            assert_eq!(hall.shown.lock().len(), 1);
        });
    }

    #[test]
    fn faults_on_pages_are_bounded_and_keep_the_directory_to_the_operator() {
        let line = format!("/srv/cups/cup.toml:1:2: {}", "x".repeat(1000));
        let faults = vec![line; 1000].join("\n");
        let shown = for_pages(Path::new("/srv/cups"), &faults);
        assert_eq!(shown.len(), FAULTS.0 + 1);
        assert!(shown[0].starts_with("cup.toml:1:2: xx") && shown[0].ends_with("x…"), "{}", shown[0]);
        assert_eq!((shown[0].chars().count(), shown[FAULTS.0].as_str()), (FAULTS.1 + 1, "…"));
        assert_eq!(for_pages(Path::new("/srv/cups"), "one\ntwo"), ["one", "two"]);
    }
}

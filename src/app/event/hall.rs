//! A hall: one process that plays the events of all files in a directory, each with its own database, beside each other.
//!
//! One thread looks at the directory and at the clock, and each event is played on a thread of its own, as `renmei run`,
//! `renmei serve` or `renmei floodgate` plays it. What they share is the [`Turnstile`]: cores, priorities, and the licences
//! of engines. All state is in the databases, so that a hall that starts again goes on with every event.

mod files;
mod hosted;
mod playing;
mod score;

use crate::{
    Exit, Failure,
    gallery::{Gallery, Shown},
    league::SharedPort,
    output, play,
    prepare::listen,
};
use arena::{
    Say, Shutdown,
    turnstile::{Lane, Turnstile},
};
pub use client::presence::{Seen, Stage};
pub use files::event_files;
use files::{Change, Files};
pub use hosted::{Now, Running};
use journal::{Store, now};
use notation::printable;
use parking_lot::Mutex;
use plan::{
    Environment, Faults, HallConfig, Plan, ServeConfig,
    hall::{HallEvent, too_many},
};
use referee::number::number;
use score::{Score, Standing};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread::{self, Scope},
    time::{Duration, Instant},
};
use web::{Doing, Inside};

/// Time between two looks at the directory and at the clock.
const GLANCE: Duration = Duration::from_millis(200);
/// Events that are open at once, each with some dozen threads and files; others wait until one of them ends.
const OPEN: usize = 32;
/// Faults of an event that the pages show, and the letters of each; the terminal has all.
const FAULTS: (usize, usize) = (10, 300);
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
pub struct Desk {
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
pub fn run(directory: &Path, options: &Options, desk: Option<Desk>) -> Result<Exit, Failure> {
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
        Some(Desk { inside, orders, opened, running }) => (Some(inside), Some(orders), Some(opened), running),
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
    let hall =
        Hall { directory, options, config: &config, turnstile, shutdown, gallery, port, held, running };
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
}

/// An event, as the thread of the hall sees it.
struct Event {
    /// The text of its file when it was begun.
    text: String,
    cue: Cue,
    state: State,
}

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
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
    shutdown: Shutdown,
    lane: Arc<Mutex<Option<Arc<Lane>>>>,
    score: Arc<Mutex<Option<Score>>>,
    say: Say,
}

/// How the playing of an event ended.
type Ended = (String, Result<State, Failure>);

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
        let (ended, inbox) = mpsc::channel();
        let mut events = BTreeMap::new();
        thread::scope(|scope| {
            let mut told = Instant::now();
            while self.step(&mut files, &mut events, scope, &ended) {
                if let Ok(end) = inbox.recv_timeout(GLANCE) {
                    self.note(&mut events, end);
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
        scope: &'scope Scope<'scope, 'env>,
        ended: &Sender<Ended>,
    ) -> bool {
        let is_ending = self.shutdown.is_finishing();
        if !is_ending {
            match files.look(Instant::now()) {
                Ok(changes) => self.take_up(changes, events),
                Err(error) if files.fails_anew() => err_line!("{}: {error}", self.directory.display()),
                Err(_told_before) => {}
            }
            self.begin_next(events, scope, ended);
        }
        let mut plays = false;
        for event in events.values().filter(|event| event.state == State::Plays) {
            plays = true;
            match self.shutdown.is_adjourning() {
                true => event.cue.shutdown.adjourn(),
                false if is_ending => event.cue.shutdown.finish(),
                false => {}
            }
            self.keep_hours(&event.cue);
        }
        let held = self.held.lock().clone();
        let is_left =
            || events.values().any(|event| event.state == State::Waits && !held.contains(&event.cue.name));
        let waits = !is_ending && (!self.options.until_done || files.unsettled() || is_left());
        plays || waits
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
                    let lane = event.cue.lane.lock();
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
                if events.get(&name).is_none_or(|event| event.state != State::Plays) {
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
        let plan = Plan::of_engines(event, vec![], database);
        match self.gallery.show(Shown::of(name, event, "", &plan), |_| (), None) {
            Ok(_) => self.gallery.tell(name, Doing::Stopped),
            Err(why) => said_of(name)(&why.to_string()),
        }
    }

    /// Lets an event begin, or go on from where it was stopped.
    fn begin(&self, name: &str, events: &mut BTreeMap<String, Event>) {
        self.held.lock().remove(name);
        // One whose games are finished first goes on once they are, when it is begun again.
        if events.get(name).is_some_and(|event| event.state == State::Plays) {
            return;
        }
        let file = format!("{name}.toml");
        let text = plan::text_of(&self.directory.join(&file));
        events.insert(name.to_owned(), self.admit(&file, text, said_of(name)));
    }

    /// Stops an event until it is begun again.
    fn hold(&self, name: String, events: &BTreeMap<String, Event>, stop: fn(&Shutdown)) {
        match events.get(&name) {
            Some(event) if event.state == State::Plays => stop(&event.cue.shutdown),
            _ => self.gallery.tell(&name, Doing::Stopped),
        }
        self.held.lock().insert(name);
    }

    /// Opens and shuts the way to the games by the hours of the event.
    fn keep_hours(&self, cue: &Cue) {
        let open = cue.terms.window.is_open(now());
        if let Some(lane) = &*cue.lane.lock() {
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
            Some(event) if text.as_ref() == Ok(&event.text) && event.state != State::Failed => return,
            Some(event) if event.state == State::Plays => {
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
        let (shutdown, lane, score) = Default::default();
        let cue = Cue { name, terms, shutdown, lane, score, say };
        match text.and_then(|text| self.read(&cue.name, &text).map(|_| text)) {
            Ok(text) => {
                let is_held = self.held.lock().contains(&cue.name);
                if is_held {
                    self.show_held(&cue, &text);
                }
                self.gallery.tell(&cue.name, if is_held { Doing::Stopped } else { Doing::Waits });
                Event { text, cue, state: State::Waits }
            }
            Err(faults) => {
                self.refuse(&cue, &faults.to_string(), "the event begins when its file is mended");
                Event { text: String::new(), cue, state: State::Failed }
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
        if has_begun && let Err(why) = self.gallery.show(cue.shown(&event), |_| (), None) {
            (cue.say)(&why.to_string());
        }
    }

    fn read(&self, name: &str, text: &str) -> Result<plan::Event, Faults> {
        read(&self.directory.join(format!("{name}.toml")), text)
    }

    /// Says why an event is not played, here and on the pages.
    fn refuse(&self, cue: &Cue, why: &str, way_on: &str) {
        why.lines().for_each(|line| (cue.say)(line));
        (cue.say)(&format!("the others go on; {way_on}"));
        self.gallery.tell_faulty(&cue.name, for_pages(self.directory, why));
    }

    /// Begins waiting events in their hours, each on a thread of its own, as long as fewer than [`OPEN`] are open: those
    /// of a higher priority first, and then by their names.
    fn begin_next<'scope, 'env>(
        &'env self,
        events: &mut BTreeMap<String, Event>,
        scope: &'scope Scope<'scope, 'env>,
        ended: &Sender<Ended>,
    ) {
        let now = now();
        let open = events.values().filter(|event| event.state == State::Plays).count();
        let held = self.held.lock().clone();
        let may_begin = |event: &&mut Event| event.may_begin(now) && !held.contains(&event.cue.name);
        let mut waiting: Vec<&mut Event> = events.values_mut().filter(may_begin).collect();
        waiting.sort_by_key(|event| Reverse(event.cue.terms.priority));
        for event in waiting.into_iter().take(OPEN.saturating_sub(open)) {
            let cue = event.cue.clone();
            // What the file names may be gone by now.
            event.state = match self.read(&cue.name, &event.text) {
                Ok(described) => {
                    let ended = ended.clone();
                    scope.spawn(move || {
                        let played = self.play(&cue, described);
                        // The receiver outlives the threads of the scope.
                        let _told = ended.send((cue.name.clone(), played));
                    });
                    State::Plays
                }
                Err(faults) => {
                    self.refuse(&cue, &faults.to_string(), "the event begins when its file is mended");
                    State::Failed
                }
            };
        }
    }

    /// Notes how the playing of an event ended.
    fn note(&self, events: &mut BTreeMap<String, Event>, (name, ended): Ended) {
        let Some(event) = events.get_mut(&name) else { return };
        event.state = ended.unwrap_or_else(|failure| {
            self.refuse(&event.cue, &failure.to_string(), "it is tried again when its file is written again");
            State::Failed
        });
        // That it is over its entries say, when viewers may know; why it was halted is said there already.
        if event.state == State::Stopped {
            self.gallery.tell(&name, Doing::Stopped);
        }
        // It was begun again while its last games were finished.
        let is_wanted = event.state == State::Stopped
            && !self.shutdown.is_finishing()
            && !self.held.lock().contains(&name);
        if is_wanted {
            self.begin(&name, events);
        }
    }

    /// Says what becomes of an event whose file is gone.
    fn removed(&self, file: &str, events: &mut BTreeMap<String, Event>) {
        let name = stem(file);
        match events.get(&name) {
            Some(event) if event.state == State::Plays => (event.cue.say)(&format!(
                "{file} is gone; the event goes on to its end, but not when the hall is started again"
            )),
            // Forgotten, so that a file of this name begins again.
            Some(event) if matches!(event.state, State::Failed | State::Waits) => {
                events.remove(&name);
                self.gallery.forget(&name);
            }
            _ => {}
        }
    }

    /// Prints how the events stand, and returns the exit code of all.
    fn conclude(&self, events: &BTreeMap<String, Event>) -> Exit {
        score::print(events.values().map(Event::standing));
        let any = |state| events.values().any(|event| event.state == state);
        let is_left = self.shutdown.is_finishing() && (any(State::Stopped) || any(State::Waits));
        if is_left {
            play::print_how_to_resume(false);
        }
        match () {
            () if is_left => Exit::Stopped,
            () if any(State::Failed) => Exit::Failed,
            () if any(State::Halted) => Exit::Halted,
            () => Exit::Done,
        }
    }
}

impl Event {
    /// True if it waits, and not for its hours, at a time in ms since 1970-01-01 UTC.
    fn may_begin(&self, now: i64) -> bool {
        self.state == State::Waits && self.cue.terms.window.is_open(now)
    }

    /// How it stands, for the table of all events.
    fn standing(&self) -> Standing {
        let state = match self.state {
            State::Plays if !self.cue.terms.window.is_open(now()) => "waits",
            State::Waits => "waits",
            State::Plays => "plays",
            State::Over => "over",
            State::Stopped => "stopped",
            State::Halted => "halted",
            State::Failed => "faulty",
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

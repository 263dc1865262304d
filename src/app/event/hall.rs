//! A hall: one process that plays the events of all files in a directory, each with its own database, beside each other.
//!
//! One thread looks at the directory and at the clock, and each event is played on a thread of its own, as `renmei run`,
//! `renmei serve` or `renmei floodgate` plays it. What they share is the [`Turnstile`]: cores, priorities, and the licences
//! of engines. All state is in the databases, so that a hall that starts again goes on with every event.

mod events;
mod files;
mod playing;
mod score;

pub use crate::runner::Now;
use crate::{
    Exit, Failure,
    catalogue::{Catalogue, Reins},
    gallery::Gallery,
    network::SharedPort,
    output, play,
    prepare::listen,
};
use arena::{Say, Shutdown, operations::command::Command, turnstile::Turnstile};
pub use client::presence::{Seen, Stage};
use events::EventOfHall;
pub use events::Events;
pub use files::event_files;
use files::{Change, Files};
use journal::{EventSummary, Store, StoreError};
use notation::printable;
use plan::{
    Environment, Faults, HallConfig, ServeConfig,
    hall::{HallEvent, too_many},
};
use referee::number::number;
use std::{
    cmp::Reverse,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};
use web::{EventState, Inside};

/// Events that are open at once, each with some dozen threads and files; others wait until one of them ends.
const OPEN: usize = 32;
/// Faults of an event that the pages show, and the letters of each; the terminal has all.
const FAULTS: (usize, usize) = (10, 300);
/// Time between two tables of all events.
const TABLE: Duration = Duration::from_secs(60);
/// Time between two looks at the files, and at events that have ended; also the longest wait for an order while no event is
/// played.
const LOOK: Duration = Duration::from_secs(1);
/// Events that have ended and are looked at at a time, in turn: a hall of hundreds costs no more than a small one.
const IN_TURN: usize = 16;

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
    pub events: Events,
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
    let cores = cores(&config, options)?;
    let shutdown = Shutdown::default();
    listen(&shutdown)?;
    let mut http = config.http.clone();
    if !options.http.is_empty() {
        http.listen.clone_from(&options.http);
    }
    let (inside, orders, opened, events) = match desk {
        Some(desk) => (Some(desk.inside), Some(desk.orders), Some(desk.opened), desk.events),
        None => Default::default(),
    };
    let gallery = Gallery::open(&http, &title(directory), None, inside)?;
    if let (Some(opened), Some(address)) = (opened, gallery.address()) {
        opened(address);
    }
    let licences = config.licences.iter().map(|(name, count)| (name.as_str(), *count));
    let turnstile = Turnstile::new(cores).with_licences(licences);
    let port = config.serve.as_ref().map(SharedPort::open).transpose()?;
    let hall = Hall { directory, options, config: &config, turnstile, shutdown, gallery, port, events };
    hall.run(orders.as_ref())
}

/// Cores that all games take together.
fn cores(config: &HallConfig, options: &Options) -> Result<usize, Failure> {
    let usable = thread::available_parallelism().map_or(1, usize::from);
    let cores = options.concurrency.or(config.concurrency).unwrap_or(usable);
    if cores > usable && !config.oversubscribe {
        return Err(Failure::Usage(format!("--concurrency {cores}: {}", too_many(usable))));
    }
    Ok(cores)
}

/// The title of the list: the name of the directory.
fn title(directory: &Path) -> String {
    let path = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    path.file_name().map_or_else(|| "Renmei".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// What a hall looks at again and again.
struct Looks {
    files: Files,
    last_time: Option<Instant>,
    /// The last event that was looked at after its end.
    last: String,
}

impl Looks {
    fn of(directory: &Path) -> Self {
        Self { files: Files::of(directory), last_time: None, last: String::new() }
    }

    /// True if it is time to look again, which counts as done then.
    fn are_due(&mut self, now: Instant) -> bool {
        let is_due = self.last_time.is_none_or(|last| now.saturating_duration_since(last) >= LOOK);
        if is_due {
            self.last_time = Some(now);
        }
        is_due
    }
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
    events: Events,
}

impl Hall<'_> {
    fn run(&self, orders: Option<&mpsc::Receiver<Order>>) -> Result<Exit, Failure> {
        let shown = self.directory.display();
        // A directory that is not there is found before anything begins.
        event_files(self.directory).map_err(|error| Failure::Usage(format!("{shown}: {error}")))?;
        let mut looks = Looks::of(self.directory);
        err_line!("{} for the events of {shown}{}", number(self.turnstile.places(), "core"), self.ending());
        self.gallery.lines().iter().for_each(|line| err_line!("{line}"));
        let listening = self.port.iter().flat_map(|port| &port.lines);
        listening.for_each(|line| err_line!("{line} for the players of all events"));
        thread::scope(|scope| {
            let (mut catalogue, mut told) = (Catalogue::new(scope), Instant::now());
            while self.step(&mut looks, &mut catalogue) {
                match catalogue.playing().is_empty() {
                    true => self.rest(orders),
                    false => {
                        catalogue.next_end().into_iter().for_each(|(name, ended, _)| self.note(&name, ended))
                    }
                }
                orders.iter().flat_map(|orders| orders.try_iter()).for_each(|order| self.obey(order));
                if told.elapsed() >= TABLE {
                    told = Instant::now();
                    self.events.print();
                }
            }
        });
        Ok(self.conclude())
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
        looks: &mut Looks,
        catalogue: &mut Catalogue<'scope, 'env, String, EventState>,
    ) -> bool {
        let is_ending = self.shutdown.is_finishing();
        self.gallery.close_replaced();
        if !is_ending {
            if looks.are_due(Instant::now()) {
                self.look(looks);
            }
            self.begin_next(catalogue);
        }
        catalogue.pass_on(&self.shutdown);
        catalogue.playing().iter().for_each(|(name, reins)| self.keep_hours(name, reins));
        let is_left = || self.events.any(|state| *state == EventState::Waits);
        let waits = !is_ending && (!self.options.until_done || looks.files.unsettled() || is_left());
        !catalogue.playing().is_empty() || waits
    }

    /// Waits for an order, or until it is time to look again.
    fn rest(&self, orders: Option<&mpsc::Receiver<Order>>) {
        match orders.map(|orders| orders.recv_timeout(LOOK)) {
            Some(Ok(order)) => self.obey(order),
            Some(Err(mpsc::RecvTimeoutError::Timeout)) => {}
            Some(Err(mpsc::RecvTimeoutError::Disconnected)) | None => thread::sleep(LOOK),
        }
    }

    /// Takes up what has happened to the files, and to events that have ended.
    fn look(&self, looks: &mut Looks) {
        match looks.files.look(Instant::now()) {
            // Hundreds of files may have come at once.
            Ok(changes) => changes
                .into_iter()
                .take_while(|_| !self.shutdown.is_finishing())
                .for_each(|change| self.take(change)),
            Err(error) => err_line!("{}: {error}", self.directory.display()),
        }
        self.take_up_reopened(&mut looks.last);
    }

    fn obey(&self, order: Order) {
        match order {
            Order::Begin(name) => self.begin(&name),
            Order::Finish(name) => self.hold(&name, Shutdown::finish),
            Order::Adjourn(name) => self.hold(&name, Shutdown::adjourn),
            Order::Changed(name, text, most) => {
                if let Ok(plan::Event::Arranged { plan, .. }) = self.read(&name, &text) {
                    self.gallery.set_total(&name, crate::total(&plan));
                }
                self.events.change(&name, |event| {
                    event.text = text;
                    event.reins.lane().iter().zip(most).for_each(|(lane, most)| lane.set_most(most));
                });
            }
            Order::Terms(name) => {
                let terms = self.terms(&name);
                self.events.change(&name, |event| event.terms = terms);
            }
            Order::Others(name, text) => {
                let read = self.read(&name, &text).map_err(Failure::Config);
                report(&name, read.and_then(|event| self.gallery.show_others(&name, event.http())));
                self.events.change(&name, |event| event.text = text);
            }
            Order::Show(name, database, event) => {
                report(&name, self.gallery.show_database(&name, database, &event));
            }
            Order::Forget(name) if self.is_begun(&name) => {}
            Order::Forget(name) => self.forget(&name),
            Order::End(false) => self.shutdown.finish(),
            Order::End(true) => self.shutdown.adjourn(),
        }
    }

    /// What `hall.toml` says of an event now; while it is faulty, what it said when the hall began.
    fn terms(&self, name: &str) -> HallEvent {
        let file = format!("{name}.toml");
        match HallConfig::load(self.directory, self.config.oversubscribe) {
            Ok(config) => config.of(&file),
            Err(faults) => {
                err_line!("{faults}\n{file}: what `{}` said when the hall began counts", plan::hall::FILE);
                self.config.of(&file)
            }
        }
    }

    /// True if a thread has an event.
    fn is_begun(&self, name: &str) -> bool {
        self.events.change(name, |event| event.state.is_begun()).unwrap_or(false)
    }

    /// Sets where an event is, here and on the pages.
    fn set(&self, name: &str, state: EventState) {
        self.events.change(name, |event| event.state = state.clone());
        // That it is over its entries say, when viewers may know.
        if state != EventState::Over {
            self.gallery.tell(name, state);
        }
    }

    /// Lets an event begin, or go on from where it was stopped.
    fn begin(&self, name: &str) {
        if self.is_begun(name) {
            self.events.change(name, |event| event.again = event.reins.shutdown.is_finishing());
        } else {
            let terms = HallEvent { held: false, ..self.terms(name) };
            self.admit(name, terms, plan::text_of(&self.file(name)));
        }
    }

    /// Stops an event until it is begun again.
    fn hold(&self, name: &str, stop: fn(&Shutdown)) {
        match self.events.get(name) {
            Some(event) if event.state.is_begun() => {
                self.events.change(name, |event| event.again = false);
                stop(&event.reins.shutdown);
            }
            Some(event) if event.state == EventState::Waits => self.set(name, EventState::Stopped),
            None if self.file(name).is_file() => {
                let terms = HallEvent { held: true, ..self.terms(name) };
                self.admit(name, terms, plan::text_of(&self.file(name)));
            }
            _ => {}
        }
    }

    /// Opens and shuts the way to the games by the hours of the event.
    fn keep_hours(&self, name: &str, reins: &Reins) {
        let Some(lane) = reins.lane() else { return };
        let is_open = self.events.change(name, |event| event.is_open()).unwrap_or(true);
        lane.set_open(is_open);
        self.set(name, if is_open { EventState::Plays } else { EventState::Begun });
    }

    /// Takes up what happened to a file.
    fn take(&self, change: Change) {
        let file = match change {
            Change::Removed(file) => return self.removed(&stem(&file)),
            Change::Written(file) => file,
        };
        let name = stem(&file);
        let text = plan::text_of(&self.directory.join(&file));
        let mut terms = self.terms(&name);
        if let Some(event) = self.events.get(&name) {
            if text.as_ref() == Ok(&event.text) && !matches!(event.state, EventState::Faulty(_)) {
                return;
            }
            if event.state.is_begun() {
                let joins = self.read(&name, &event.text).map(|begun| {
                    let reload = Command::line(begun.database(), begun.name(), "reload");
                    format!("; engines at its end join before by `{reload}`")
                });
                return (event.say)(&format!(
                    "{file} has changed; the event goes on as it was begun, and takes the file up when the hall is started again{}",
                    joins.unwrap_or_default()
                ));
            }
            terms.held |= event.state == EventState::Stopped;
        }
        self.admit(&name, terms, text);
    }

    /// Lets events go on that have ended, and of which games were opened again since: the next ones behind the `last`.
    fn take_up_reopened(&self, last: &mut String) {
        for mut event in self.events.ended_after(last, IN_TURN) {
            if event.is_reopened() {
                (event.say)("it goes on: games of it are to be played again");
                self.begin(&event.name);
            } else {
                self.events.change(&event.name, |known| known.seen = event.seen);
            }
        }
    }

    /// Reads the file of an event, which waits then, if the file is right. One that is held shows what was played so far.
    fn admit(&self, name: &str, terms: HallEvent, text: Result<String, Faults>) {
        let is_held = terms.held;
        let read = text.and_then(|text| self.read(name, &text).map(|read| (text, read)));
        let (text, read) = match read {
            Ok((text, read)) => (text, Ok(read)),
            Err(faults) => (String::new(), Err(faults)),
        };
        let mut event = EventOfHall::new(name, text, terms, said_of(name));
        event.stored = read.as_ref().ok().map(|read| (read.database().to_owned(), read.name().to_owned()));
        self.events.lock().insert(name.to_owned(), event.clone());
        match read {
            Ok(read) if is_held => {
                if stored(&read).is_ok_and(|stored| stored.is_some()) {
                    report(name, self.gallery.show(event.listed(), &read, None));
                }
                self.set(name, EventState::Stopped);
            }
            Ok(_) => self.set(name, EventState::Waits),
            Err(faults) => self.refuse(name, &faults.to_string(), "the event begins when its file is mended"),
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
    fn refuse(&self, name: &str, why: &str, way_on: &str) {
        let say = said_of(name);
        why.lines().for_each(|line| say(line));
        say(&format!("the others go on; {way_on}"));
        // The pages of a desk are its owner's alone.
        let shown = if self.gallery.is_desk() { why.to_owned() } else { without_places(why) };
        self.set(name, EventState::Faulty(for_pages(self.directory, &shown)));
    }

    /// Begins waiting events in their hours, each on a thread of its own, as long as fewer than [`OPEN`] are open: those
    /// of a higher priority first, and then by their names.
    fn begin_next<'scope, 'env>(&'env self, catalogue: &mut Catalogue<'scope, 'env, String, EventState>) {
        let mut waiting: Vec<EventOfHall> =
            self.events.lock().values().filter(|event| event.may_begin()).cloned().collect();
        waiting.sort_by_key(|event| Reverse(event.terms.priority));
        for event in waiting.into_iter().take(OPEN.saturating_sub(catalogue.playing().len())) {
            // What the file names may be gone by now.
            match self.read(&event.name, &event.text) {
                Ok(described) => {
                    self.set(&event.name, EventState::Begun);
                    let (name, reins) = (event.name.clone(), event.reins.clone());
                    catalogue.begin(name, reins, move || self.play(&event, described));
                }
                Err(faults) => {
                    self.refuse(&event.name, &faults.to_string(), "the event begins when its file is mended");
                }
            }
        }
    }

    /// Notes how the playing of an event ended.
    fn note(&self, name: &str, ended: Result<EventState, Failure>) {
        let again = self.events.change(name, |event| {
            (event.now, event.operations) = (None, None);
            event.again
        });
        match ended {
            Ok(state) => self.set(name, state),
            Err(failure) if Exit::from(&failure) == Exit::Stopped => self.set(name, EventState::Stopped),
            Err(failure) => {
                self.refuse(name, &failure.to_string(), "it is tried again when its file is written again");
            }
        }
        match again {
            _ if self.shutdown.is_finishing() => {}
            Some(true) => self.begin(name),
            _ if self.file(name).try_exists().is_ok_and(|is| !is) => self.removed(name),
            _ => {}
        }
    }

    /// Says what becomes of an event whose file is gone.
    fn removed(&self, name: &str) {
        let Some(event) = self.events.get(name) else { return };
        if event.state.is_begun() {
            return (event.say)(&format!(
                "{name}.toml is gone; the event goes on to its end, but not when the hall is started again"
            ));
        }
        let gone = "is gone; the event is not listed any more, and its database stays";
        (event.say)(&format!("{name}.toml {gone}"));
        self.forget(name);
    }

    /// Takes an event off the list: a file of its name begins again.
    fn forget(&self, name: &str) {
        self.events.lock().remove(name);
        self.gallery.close(name);
    }

    /// Prints how the events stand, and returns the exit code of all.
    fn conclude(&self) -> Exit {
        self.events.print();
        let is_left = |state: &EventState| matches!(state, EventState::Stopped | EventState::Waits);
        if self.shutdown.is_finishing() && self.events.any(is_left) {
            play::print_how_to_resume(false);
            return Exit::Stopped;
        }
        match () {
            () if self.events.any(|state| matches!(state, EventState::Faulty(_))) => Exit::Failed,
            () if self.events.any(|state| matches!(state, EventState::Halted(_))) => Exit::Halted,
            () => Exit::Done,
        }
    }
}

/// An event as its database has it, if it was begun before.
fn stored(event: &plan::Event) -> Result<Option<(Store, EventSummary)>, StoreError> {
    let store = event.database().exists().then(|| Store::read(event.database())).transpose()?;
    let Some(store) = store else { return Ok(None) };
    let known = store.events()?.into_iter().find(|known| known.name == event.name());
    Ok(known.map(|known| (store, known)))
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

/// Says why something was not done for an event.
fn report<T>(name: &str, done: Result<T, Failure>) {
    done.err().iter().for_each(|why| said_of(name)(&why.to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::KEPT;
    use plan::HttpConfig;

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
    fn playing(look: impl FnOnce(&Hall<'_>)) {
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
        let http = HttpConfig { listen: vec!["127.0.0.1:0".parse().unwrap()], ..HttpConfig::default() };
        let hall = Hall {
            directory: dir.path(),
            options: &options,
            config: &HallConfig::load(dir.path(), true).unwrap(),
            turnstile: Turnstile::new(1),
            shutdown: Shutdown::default(),
            gallery: Gallery::open(&http, "hall", None, None).unwrap(),
            port: None,
            events: Events::default(),
        };
        hall.admit("cup", hall.terms("cup"), Ok(text));
        hall.set("cup", EventState::Plays);
        look(&hall);
    }

    fn state(hall: &Hall<'_>) -> Option<EventState> {
        Some(hall.events.get("cup")?.state)
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
            playing(|hall| {
                given.iter().for_each(|order| hall.obey(order.clone()));
                hall.note("cup", Ok(ended.clone()));
                assert_eq!(state(hall), Some(then), "{given:?} {ended:?}");
            });
        }
    }

    #[test]
    fn an_event_whose_file_is_gone_is_stopped_and_another_of_its_name_is_not() {
        let written = || Change::Written("cup.toml".to_owned());
        for (terms, then) in
            [("", EventState::Waits), ("[[event]]\nfile = \"cup.toml\"\nheld = true\n", EventState::Stopped)]
        {
            playing(|hall| {
                let text = std::fs::read_to_string(hall.file("cup")).unwrap();
                std::fs::write(hall.directory.join(plan::hall::FILE), terms).unwrap();
                std::fs::remove_file(hall.file("cup")).unwrap();
                hall.take(Change::Removed("cup.toml".to_owned()));
                hall.obey(Order::Finish("cup".to_owned()));
                assert!(hall.events.get("cup").unwrap().reins.shutdown.is_finishing());
                hall.note("cup", Ok(EventState::Stopped));
                assert_eq!(state(hall), None);
                std::fs::write(hall.file("cup"), &text).unwrap();
                hall.take(written());
                assert_eq!(state(hall), Some(then), "{terms}");
            });
        }
    }

    #[test]
    fn an_event_that_was_stopped_stays_so_when_its_file_is_written_again() {
        playing(|hall| {
            hall.obey(Order::Finish("cup".to_owned()));
            hall.note("cup", Ok(EventState::Stopped));
            let text = std::fs::read_to_string(hall.file("cup")).unwrap();
            std::fs::write(hall.file("cup"), text + "# mine\n").unwrap();
            hall.take(Change::Written("cup.toml".to_owned()));
            assert_eq!(state(hall), Some(EventState::Stopped));
            hall.obey(Order::Begin("cup".to_owned()));
            assert_eq!(state(hall), Some(EventState::Waits));
        });
    }

    #[test]
    fn of_the_events_that_are_only_shown_the_newest_stay_open() {
        playing(|hall| {
            for number in (0..KEPT + 5).chain([7]) {
                let show = Order::Show(format!("study/{number}"), "x.db".into(), "cup".to_owned());
                hall.obey(show);
            }
            let shown = hall.gallery.shown();
            assert_eq!(
                (shown.len(), shown[0].as_str(), shown[KEPT - 1].as_str()),
                (KEPT, "study/5", "study/7")
            );
        });
    }

    #[test]
    fn an_event_that_is_only_shown_is_closed_when_its_database_is_replaced_and_can_be_shown_again() {
        playing(|hall| {
            let [path, other] = ["study.db", "other.db"].map(|name| hall.directory.join(name));
            [&path, &other].into_iter().for_each(|path| drop(journal::Writer::open(path).unwrap()));
            let show = Order::Show("study.db/cup".to_owned(), path.clone(), "cup".to_owned());
            hall.obey(show.clone());
            hall.gallery.close_replaced();
            assert_eq!(hall.gallery.shown().len(), 1, "the file is the same");
            std::fs::rename(&other, &path).unwrap();
            hall.gallery.close_replaced();
            assert!(hall.gallery.shown().is_empty());
            hall.obey(show);
            hall.gallery.close_replaced();
            assert_eq!(hall.gallery.shown().len(), 1);
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

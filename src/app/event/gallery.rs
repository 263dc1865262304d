//! The pages of many events at one address: those of a hall, the tests of a queue, the commits of a search.

mod opened;

use crate::{
    Failure,
    network::registers_of,
    pages::{self, Door},
};
use ::ledger::{Aim, Apart, Ledger};
use contest::schedule::{OpeningsPer, Schedule};
use journal::Reader;
use opened::Opened;
use parking_lot::Mutex;
use plan::{Event, HttpConfig, Plan, http::Delay};
use report::{html::Language, ledger::LedgerPage};
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc};
use web::{EventState, Inside, MakeLedger, MakeTests, Office, Pages, Server, arbiter::Entrance};

/// Events that stay to be looked at although nobody plays them, the newest: each has its entries in memory. They are those of
/// a gallery where events come one after another, and those that are only shown.
pub(crate) const KEPT: usize = 20;
/// Encounters that the ledger names as the next to play.
const SUGGESTIONS: usize = 5;

/// Pages of events at one address, which stay to be looked at when an event is over.
#[derive(Debug)]
pub(crate) struct Gallery {
    web: Option<web::Hall>,
    pages: Mutex<BTreeMap<String, Kept>>,
    /// Events come one after another.
    is_sequence: bool,
    rated: Rateable,
}

/// The pages of an event.
#[derive(Debug)]
struct Kept {
    number: u64,
    own: Pages,
    /// On a desk, the pages for others at an address of their own.
    others: Option<Server>,
    database: PathBuf,
    event: String,
    door: Option<Door>,
    /// What is shown of a database, where nobody plays the event.
    opened: Option<Opened>,
}

impl Kept {
    /// The pages for others, at the addresses that the event's file names, as `renmei run` opens them.
    fn show_others(&mut self, http: &HttpConfig) -> Result<(), Failure> {
        self.others = None;
        // A password is not taken over an open connection, so there the arbiter's pages are for those who log in to play.
        let is_safe = |(_, entrance): &&Door| http.tls.is_some() || entrance.is_some();
        let door = self.door.as_ref().filter(is_safe);
        let door = door.map(|(office, entrance)| (office.outside(), entrance.clone()));
        self.others = pages::open(http, &[], &self.database, &self.event, door, None)?;
        Ok(())
    }
}

/// The events that are shown, by database, and whether viewers may see all of their results: not where pages are delayed,
/// or hide games.
type Rateable = Arc<Mutex<BTreeMap<PathBuf, BTreeMap<String, bool>>>>;

/// The ledger of events that are shown, as the sections of its page in each language.
fn ledger(rated: &Rateable) -> MakeLedger {
    let rated = rated.clone();
    Box::new(move || {
        let mut ledger = Ledger::new(Apart::default(), None);
        let databases = rated.lock().clone();
        for (database, events) in &databases {
            let wanted = |name: &str| events.get(name) == Some(&true);
            ledger.read_some(database, wanted)?;
        }
        let rated = ledger.rate(&[])?;
        let suggestions = rated.suggest(Aim::Everyone, |a, b| ledger.may_meet(a, b), SUGGESTIONS);
        let page =
            |language| LedgerPage { ledger: &ledger, rated: &rated, suggestions: &suggestions, language };
        Ok(Language::ALL.map(|language| page(language).sections()))
    })
}

/// An event as the list names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedEvent<'a> {
    /// The name in its path; unique.
    pub name: &'a str,
    /// What it is called; `None`: by its own name.
    pub title: Option<&'a str>,
    /// What is to be known of it, in words; may be empty.
    pub note: &'a str,
}

/// Games of an event, if their number is known.
pub(crate) fn games_of(event: &Event) -> Option<u64> {
    match event {
        Event::Arranged { plan, .. } => total(plan),
        Event::League(_) => None,
        Event::Seat(config) => config.games,
    }
}

impl Gallery {
    /// Listens, if pages are wanted; `name` is the title of the list, `tests` the list where a queue is played.
    pub fn open(
        config: &HttpConfig,
        name: &str,
        tests: Option<MakeTests>,
        inside: Option<Inside>,
    ) -> Result<Self, Failure> {
        let rated = Rateable::default();
        let web = pages::open_hall(config, name, ledger(&rated), tests, inside)?;
        Ok(Self { web, pages: Mutex::default(), is_sequence: false, rated })
    }

    /// Listens on the addresses of a command line, for events that come one after another: the last ones stay.
    pub fn on(addresses: &[SocketAddr], name: &str, tests: Option<MakeTests>) -> Result<Self, Failure> {
        let config = HttpConfig { listen: addresses.to_vec(), ..HttpConfig::default() };
        let gallery = Self { is_sequence: true, ..Self::open(&config, name, tests, None)? };
        gallery.lines().iter().for_each(|line| err_line!("{line}"));
        Ok(gallery)
    }

    /// True if there are pages.
    pub fn is_open(&self) -> bool {
        self.web.is_some()
    }

    /// The first address of the list without TLS.
    pub fn address(&self) -> Option<SocketAddr> {
        self.web.as_ref().and_then(|web| web.addresses().0.first().copied())
    }

    /// Lines that tell where the list is.
    pub fn lines(&self) -> Vec<String> {
        self.web.iter().flat_map(|web| pages::lines(web.addresses())).collect()
    }

    /// True if the pages are those of a desk.
    pub fn is_desk(&self) -> bool {
        self.web.as_ref().is_some_and(|web| web.gate().is_some())
    }

    /// Shows an event. Returns readers of its journal, and the office of its arbiter's pages. On a desk its pages for others
    /// are opened, too, where its file has addresses for them.
    pub fn show(
        &self,
        ListedEvent { name, title, note }: ListedEvent<'_>,
        event: &Event,
        entrance: Option<Entrance>,
    ) -> Result<(Vec<Reader>, Option<Office>), Failure> {
        let Some(web) = &self.web else { return Ok((vec![], None)) };
        let (database, http, total) = (event.database(), event.http(), games_of(event));
        // Those of an earlier run end first: both would follow the same file.
        drop(self.pages.lock().remove(name));
        let base = web::Hall::base(name);
        let office = registers_of(event)
            .map(|registers| Office::below(&base, database, registers, (web.crowd(), web.gate())));
        let (database, event) = (database.to_owned(), event.name().to_owned());
        let door = office.clone().map(|office| (office, entrance));
        let own = pages::of_hall(web, base, (&database, &event), http, door.clone())?;
        let mut kept = Kept { number: 0, own, others: None, database, event, door, opened: None };
        let shown = if self.is_desk() { kept.show_others(http) } else { Ok(()) };
        // The event is played all the same.
        shown.unwrap_or_else(|why| err_line!("{name}: its pages for others are not open: {why}"));
        web.add(name, (title.unwrap_or(&kept.event), note), &kept.own, total);
        let is_open = http.delay == Delay::None && http.private.is_empty();
        let (database, event) = (kept.database.clone(), kept.event.clone());
        self.rated.lock().entry(database).or_default().insert(event, is_open);
        let readers = [kept.own.reader()].into_iter().chain(kept.others.as_ref().map(Server::reader));
        let readers = readers.collect();
        self.keep(name, kept);
        Ok((readers, office))
    }

    /// Shows an event of a database that nobody plays here.
    pub fn show_database(&self, name: &str, database: PathBuf, event: &str) -> Result<(), Failure> {
        let opened = Opened::new(database.clone(), event.to_owned());
        let shown = Plan::of_engines(event, vec![], database).into();
        self.show(ListedEvent { name, title: None, note: "" }, &shown, None)?;
        self.tell(name, EventState::Stopped);
        self.pages.lock().get_mut(name).into_iter().for_each(|kept| kept.opened = Some(opened.clone()));
        self.make_room();
        Ok(())
    }

    /// Closes events that are only shown whose database was deleted, moved or replaced: the desk reads the file that is there
    /// now, and their pages would show the other one for ever.
    pub fn close_replaced(&self) {
        let is_gone = |kept: &mut Kept| kept.opened.as_mut().is_some_and(|opened| !opened.is_there());
        let gone = |(name, kept): (&String, _)| is_gone(kept).then(|| name.clone());
        let gone: Vec<String> = self.pages.lock().iter_mut().filter_map(gone).collect();
        gone.iter().for_each(|name| self.close(name));
    }

    /// Keeps the pages of an event, and as many others as stay.
    fn keep(&self, name: &str, new: Kept) {
        let mut kept = self.pages.lock();
        let number = kept.values().map(|kept| kept.number + 1).max().unwrap_or(0);
        kept.insert(name.to_owned(), Kept { number, ..new });
        drop(kept);
        self.make_room();
    }

    /// Closes the oldest of those events that make room for others.
    fn make_room(&self) {
        let shown = self.shown();
        for oldest in &shown[..shown.len().saturating_sub(KEPT)] {
            self.web.iter().for_each(|web| web.remove(oldest));
            drop(self.pages.lock().remove(oldest));
        }
    }

    /// The events that make room for others, the oldest first.
    pub(crate) fn shown(&self) -> Vec<String> {
        let pages = self.pages.lock();
        let goes = |kept: &Kept| self.is_sequence || kept.opened.is_some();
        let mut shown: Vec<_> = pages.iter().filter(|(_, kept)| goes(kept)).collect();
        shown.sort_by_key(|(_, kept)| kept.number);
        shown.into_iter().map(|(name, _)| name.clone()).collect()
    }

    /// Opens the pages for others of an event that is shown at these addresses, or closes them.
    pub fn show_others(&self, name: &str, http: &HttpConfig) -> Result<(), Failure> {
        let mut pages = self.pages.lock();
        pages.get_mut(name).map_or(Ok(()), |kept| kept.show_others(http))
    }

    /// Sets where an event is.
    pub fn tell(&self, name: &str, state: EventState) {
        self.web.iter().for_each(|web| web.tell(name, state.clone()));
    }

    /// Sets the number of games of an event that an engine has joined.
    pub fn set_total(&self, name: &str, total: Option<u64>) {
        self.web.iter().for_each(|web| web.set_total(name, total));
    }

    /// Closes the pages of an event whose files are gone, and takes it off the list.
    pub fn close(&self, name: &str) {
        drop(self.pages.lock().remove(name));
        self.web.iter().for_each(|web| web.remove(name));
        self.rated.lock().retain(|database, _| database.exists());
    }
}

/// Games of a plan, if their number is known.
pub fn total(plan: &Plan) -> Option<u64> {
    let (seed, draws) = (plan.seed, plan.replay_draws);
    let total = Schedule::new(&plan.stages, plan.engines.len(), seed, draws, OpeningsPer::Pair).total();
    total.filter(|total| *total > 0)
}

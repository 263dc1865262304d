//! The pages of many events at one address: those of a hall, the tests of a queue, the commits of a search.

use crate::{Failure, pages, run::registers_of};
use ::ledger::{Aim, Apart, Ledger};
use contest::schedule::{OpeningsPer, Schedule};
use journal::Reader;
use parking_lot::Mutex;
use plan::{Event, HttpConfig, Plan, http::Delay};
use report::{html::Language, ledger::LedgerPage};
use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc};
use web::{Doing, Inside, MakeLedger, MakeTests, Office, Pages, Server, arbiter::Entrance};

/// Events that stay to be looked at after their end, in a gallery where they come one after another.
pub(crate) const KEPT: usize = 20;
/// Encounters that the ledger names as the next to play.
const SUGGESTIONS: usize = 5;

/// Pages of events at one address, which stay to be looked at when an event is over.
#[derive(Debug)]
pub(crate) struct Gallery {
    web: Option<web::Hall>,
    pages: Mutex<BTreeMap<String, Kept>>,
    most: usize,
    rated: Rateable,
}

/// The pages of an event.
#[derive(Debug)]
struct Kept {
    number: u64,
    _own: Pages,
    /// On a desk, the pages for others at an address of their own.
    others: Option<Server>,
    setup: Setup,
}

/// What the pages of an event are opened with.
#[derive(Debug)]
struct Setup {
    database: PathBuf,
    event: String,
    office: Option<Office>,
    entrance: Option<Entrance>,
}

impl Setup {
    fn office(&self) -> Option<(Office, Option<Entrance>)> {
        self.office.as_ref().map(|office| (office.clone(), self.entrance.clone()))
    }

    /// The pages for others, at the addresses that the event's file names, as `renmei run` opens them.
    fn open(&self, http: &HttpConfig) -> Result<Option<Server>, Failure> {
        // A password is not taken over an open connection, so there the arbiter's pages are for those who log in to play.
        let has_office = http.tls.is_some() || self.entrance.is_some();
        let office = self.office.as_ref().filter(|_| has_office).map(Office::outside);
        let office = office.as_ref().map(|office| (office, self.entrance.clone()));
        pages::open(http, &[], &self.database, &self.event, office, None)
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
    /// What it is called.
    pub title: &'a str,
    /// What is to be known of it, in words; may be empty.
    pub note: &'a str,
    pub event: &'a Event,
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
        Ok(Self { web, pages: Mutex::default(), most: usize::MAX, rated })
    }

    /// Listens on the addresses of a command line, for events that come one after another: the last ones stay.
    pub fn on(addresses: &[SocketAddr], name: &str, tests: Option<MakeTests>) -> Result<Self, Failure> {
        let config = HttpConfig { listen: addresses.to_vec(), ..HttpConfig::default() };
        let gallery = Self { most: KEPT, ..Self::open(&config, name, tests, None)? };
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
        listed: ListedEvent<'_>,
        entrance: Option<Entrance>,
    ) -> Result<(Vec<Reader>, Option<Office>), Failure> {
        let Some(web) = &self.web else { return Ok((vec![], None)) };
        let ListedEvent { name, title, note, event } = listed;
        let (database, http) = (event.database(), event.http());
        // Those of an earlier run end first: both would follow the same file.
        drop(self.pages.lock().remove(name));
        let base = web::Hall::base(name);
        let office = registers_of(event)
            .map(|registers| Office::below(&base, database, registers, (web.crowd(), web.gate())));
        let (database, event) = (database.to_owned(), event.name().to_owned());
        let setup = Setup { database, event, office: office.clone(), entrance };
        let pages = pages::of_hall(web, base, (&setup.database, &setup.event), http, setup.office())?;
        let others = if self.is_desk() { setup.open(http) } else { Ok(None) };
        // The event is played all the same.
        let others = others.unwrap_or_else(|why| {
            err_line!("{name}: its pages for others are not open: {why}");
            None
        });
        web.add(name, (title, note), &pages, games_of(listed.event));
        let is_open = http.delay == Delay::None && http.private.is_empty();
        let (database, event) = (setup.database.clone(), setup.event.clone());
        self.rated.lock().entry(database).or_default().insert(event, is_open);
        let readers = [pages.reader()].into_iter().chain(others.as_ref().map(Server::reader)).collect();
        self.keep(name, Kept { number: 0, _own: pages, others, setup });
        Ok((readers, office))
    }

    /// Keeps the pages of an event, and as many others as stay.
    fn keep(&self, name: &str, new: Kept) {
        let mut kept = self.pages.lock();
        let number = kept.values().map(|kept| kept.number + 1).max().unwrap_or(0);
        kept.insert(name.to_owned(), Kept { number, ..new });
        while kept.len() > self.most
            && let Some(oldest) =
                kept.iter().min_by_key(|(_, kept)| kept.number).map(|(name, _)| name.clone())
        {
            self.web.iter().for_each(|web| web.remove(&oldest));
            kept.remove(&oldest);
        }
    }

    /// Opens the pages for others of an event that is shown at these addresses, or closes them.
    pub fn show_others(&self, name: &str, http: &HttpConfig) -> Result<(), Failure> {
        let mut pages = self.pages.lock();
        let Some(kept) = pages.get_mut(name) else { return Ok(()) };
        kept.others = None;
        kept.others = kept.setup.open(http)?;
        Ok(())
    }

    /// Sets what an event does now.
    pub fn tell(&self, name: &str, doing: Doing) {
        self.web.iter().for_each(|web| web.tell(name, doing, vec![]));
    }

    /// Sets the number of games of an event that an engine has joined.
    pub fn set_total(&self, name: &str, total: Option<u64>) {
        self.web.iter().for_each(|web| web.set_total(name, total));
    }

    /// Lists an event that is not played, and why.
    pub fn tell_faulty(&self, name: &str, faults: Vec<String>) {
        self.web.iter().for_each(|web| web.tell(name, Doing::Faulty, faults.clone()));
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

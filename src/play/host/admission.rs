//! Admission: whether a login may enter.
//!
//! Checking a password takes tens of milliseconds, making a trip one or two. One thread does nothing else, at a lower priority
//! than the games, and each connection waits for its own check; the wait is a part of its time to log in. Addresses take
//! turns, and an address that guesses is locked out for a while, so that a flood of logins delays its own logins and
//! nothing else.
//!
//! In a league anybody may take any name. A wrong secret is one that does not fit a player who is logged in under the
//! name, or an entrant of the event. It counts for its address, and for the name and the address together, never for the
//! name alone: nobody can lock a player out from elsewhere.

use super::{
    game_threads::yield_to_games,
    places::Place,
    requests::{LoginRequest, PASSWORD, logged},
};
use journal::{Store, StoreError, Writer};
use notation::csa::{game_name::Entry, wire::is_player_name};
use parking_lot::{Condvar, Mutex};
use plan::{
    password,
    serve::{Limits, Login, ServeConfig},
    trip::trip,
};
use platform::limits::{Counts, Origin};
use referee::sink::TripKey;
use std::{
    collections::{HashMap, VecDeque},
    future::ready,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    path::Path,
    pin::Pin,
    sync::Arc,
    thread,
    time::Duration,
};
use tokio::sync::oneshot;

/// Passwords of one address that may wait; more are refused at once.
const WAITING: usize = 64;
/// Wrong secrets for one name from one address after which the address is locked out for the name: a client of one's own
/// that is set up wrongly does not lock out the others of its address.
const NAME_GUESSES: u32 = 5;
/// Trips that are remembered, so that a player who comes again does not wait, for each connection that there may be.
const REMEMBERED: usize = 4;
/// The cost of a login whose trip has to be made, beside its line.
const TRIP: u32 = 1;

/// Whose secrets are looked at, and how they are cut out of the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admits {
    /// The players of an open league.
    League,
    /// The entrants of an event. Without a trip the whole password is the secret.
    Entrants,
}

/// What becomes of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may enter, where no password is checked with this trip.
    Admitted(Option<String>),
    /// The name or the password is wrong.
    Refused,
    /// Its address has guessed too often; the password was not looked at.
    LockedOut,
    /// Too many logins of its address wait; the password was not looked at.
    Crowded,
}

/// Resolves to what becomes of a login.
pub type Decision = Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// Decides on logins.
#[derive(Clone, Debug)]
pub struct Admission(Arc<OpenGate>);

/// The gate of a host; dropping it ends the thread behind it.
#[derive(Debug)]
struct OpenGate(Arc<Gate>);

impl Drop for OpenGate {
    fn drop(&mut self) {
        self.0.queue.lock().over = true;
        self.0.arrived.notify_one();
    }
}

#[derive(Debug)]
struct Check {
    name: String,
    secret: Option<String>,
    address: IpAddr,
    answer: oneshot::Sender<Verdict>,
}

impl Admission {
    /// Admission by the configuration, the accounts in the database and the key of the trips. It starts the thread that
    /// checks passwords and makes trips.
    ///
    /// # Errors
    /// When the accounts cannot be read, or the system has no thread.
    pub fn new(
        config: &ServeConfig,
        admits: Admits,
        database: &Path,
        key: TripKey,
    ) -> Result<Self, StoreError> {
        let list = match config.login {
            Login::Open => List::Anybody(key),
            Login::Accounts => {
                drop(Writer::open(database)?); // a new one has no accounts, but a place for them
                List::Accounts(Box::new(Store::read(database)?))
            }
            Login::Invitation => List::Invited(config.invitations().collect(), key),
        };
        let gate = Arc::new(Gate::new(config.limits, config.login == Login::Open, admits));
        let behind = gate.clone();
        let work = move || {
            yield_to_games();
            while let Some((origin, check)) = behind.next_check() {
                let verdict = list.judge(&check.name, check.secret.as_deref());
                behind.judged(origin, &check, &verdict);
                let _gone_meanwhile = check.answer.send(verdict);
            }
        };
        let thread = thread::Builder::new().name("admission".to_owned()).spawn(work);
        let failed = |source| StoreError::Thread(database.to_owned(), Arc::new(source));
        thread.map(|_| Self(Arc::new(OpenGate(gate)))).map_err(failed)
    }

    /// Checks a login from a place; returns the cost of that as well, beside the login's line.
    pub fn check(&self, request: &LoginRequest, place: &Place) -> (Decision, u32) {
        let gate = &self.0.0;
        let secret = gate.secret(request);
        if let Some(verdict) = gate.known(request, secret.as_deref(), place.origin) {
            return (Box::pin(ready(verdict)), 0);
        }
        let (answer, decision) = oneshot::channel();
        let name = request.name.clone();
        gate.enter(place.origin, Check { name, secret, address: place.address, answer });
        let decision = async move { decision.await.unwrap_or(Verdict::Crowded) };
        (Box::pin(decision), if gate.open { TRIP } else { 0 })
    }

    /// Counts a login with the wrong secret of a player who is logged in, or of an entrant.
    pub fn guessed(&self, name: &str, place: &Place) {
        let (origin, address) = (place.origin, place.address);
        let gate = &self.0.0;
        let locked_out = gate.queue.lock().by_name.count((origin, name.to_owned()));
        gate.failed(origin, name, address);
        if locked_out {
            let seconds = gate.limits.lockout_seconds;
            tracing::warn!(target: "login", "locked out {address} for {:?} for {seconds} s", logged(name));
        }
    }
}

/// The checks that wait, and who has guessed.
#[derive(Debug)]
struct Gate {
    queue: Mutex<Queue>,
    arrived: Condvar,
    limits: Limits,
    /// True if anybody may enter, under a trip.
    open: bool,
    admits: Admits,
}

/// The checks that wait, by address. Addresses take turns, so that many guesses from one of them delay the others by one
/// check at a time.
#[derive(Debug)]
struct Queue {
    waiting: HashMap<Origin, VecDeque<Check>>,
    turns: VecDeque<Origin>,
    by_address: Counts<Origin>,
    by_name: Counts<(Origin, String)>,
    trips: Trips,
    /// True when the host is gone.
    over: bool,
}

/// Trips that were made in this run, by a keyed hash of name and secret; the oldest gives way to a new one.
#[derive(Debug)]
struct Trips {
    keys: [RandomState; 2],
    made: HashMap<[u64; 2], String>,
    order: VecDeque<[u64; 2]>,
    most: usize,
}

impl Trips {
    fn new(most: usize) -> Self {
        Self { keys: Default::default(), made: HashMap::new(), order: VecDeque::new(), most }
    }

    fn hash(&self, name: &str, secret: &str) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one((name, secret)))
    }

    fn get(&self, name: &str, secret: &str) -> Option<&String> {
        self.made.get(&self.hash(name, secret))
    }

    fn keep(&mut self, name: &str, secret: &str, trip: &str) {
        let hash = self.hash(name, secret);
        if self.made.insert(hash, trip.to_owned()).is_some() {
            return;
        }
        self.order.push_back(hash);
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.made.remove(&oldest);
        }
    }
}

impl Gate {
    fn new(limits: Limits, open: bool, admits: Admits) -> Self {
        let lockout = Duration::from_secs(limits.lockout_seconds);
        let queue = Queue {
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            by_address: Counts::lockout(limits.login_failures, lockout),
            by_name: Counts::lockout(limits.login_failures.min(NAME_GUESSES), lockout),
            trips: Trips::new(limits.connections.saturating_mul(REMEMBERED)),
            over: false,
        };
        Self { queue: Mutex::new(queue), arrived: Condvar::new(), limits, open, admits }
    }

    fn secret(&self, request: &LoginRequest) -> Option<String> {
        match self.admits {
            Admits::Entrants if self.open => {
                Some(Entry::read(&request.password).trip.unwrap_or_else(|| request.password.clone()))
            }
            _ => request.secret(),
        }
    }

    /// The verdict on a login about which there is nothing to find out.
    fn known(&self, request: &LoginRequest, secret: Option<&str>, origin: Origin) -> Option<Verdict> {
        let queue = self.queue.lock();
        let name = &request.name;
        if queue.by_address.are_too_many(&origin) || queue.by_name.are_too_many(&(origin, name.clone())) {
            return Some(Verdict::LockedOut);
        }
        if !self.open {
            return None;
        }
        match secret {
            // The lobby refuses what is not a name or too long for a password.
            Some(secret) if is_player_name(name) && secret.len() <= PASSWORD => {
                let made = queue.trips.get(name, secret);
                made.map(|trip| Verdict::Admitted(Some(trip.clone())))
            }
            _ => Some(Verdict::Admitted(None)),
        }
    }

    /// Takes in a check, or drops it, which answers it.
    fn enter(&self, origin: Origin, check: Check) {
        let mut queue = self.queue.lock();
        // In a league all players of an address may come at once, each with one connection.
        let most = if self.open { self.limits.connections_per_address } else { WAITING };
        let waiting = queue.waiting.entry(origin).or_default();
        let first = waiting.is_empty();
        if waiting.len() < most {
            waiting.push_back(check);
        }
        if first {
            queue.turns.push_back(origin);
        }
        self.arrived.notify_one();
    }

    fn judged(&self, origin: Origin, check: &Check, verdict: &Verdict) {
        match (verdict, &check.secret) {
            (Verdict::Refused, _) => self.failed(origin, &check.name, check.address),
            (Verdict::Admitted(Some(trip)), Some(secret)) => {
                self.queue.lock().trips.keep(&check.name, secret, trip);
            }
            _ => {}
        }
    }

    /// Counts a wrong password. The lines are what fail2ban reads; the hosting guide documents them.
    fn failed(&self, origin: Origin, name: &str, address: IpAddr) {
        tracing::warn!(target: "login", "wrong password from {address} for {:?}", logged(name));
        let mut queue = self.queue.lock();
        if queue.by_address.count(origin) {
            // What waits of it is answered by dropping it.
            queue.waiting.remove(&origin);
            queue.turns.retain(|other| *other != origin);
            drop(queue);
            let seconds = self.limits.lockout_seconds;
            tracing::warn!(target: "login", "locked out {address} for {seconds} s");
        }
    }

    /// The next check, in turn; `None` when the host is gone.
    fn next_check(&self) -> Option<(Origin, Check)> {
        let mut queue = self.queue.lock();
        while !queue.over {
            let Some(origin) = queue.turns.pop_front() else {
                self.arrived.wait(&mut queue);
                continue;
            };
            let Some(waiting) = queue.waiting.get_mut(&origin) else { continue };
            // A connection that is gone costs no check.
            let next = std::iter::from_fn(|| waiting.pop_front()).find(|check| !check.answer.is_closed());
            match waiting.is_empty() {
                true => drop(queue.waiting.remove(&origin)),
                false => queue.turns.push_back(origin),
            }
            if next.is_some() {
                return next.map(|check| (origin, check));
            }
        }
        None
    }
}

/// The players whom the host knows.
enum List {
    /// Anybody; a secret makes a trip.
    Anybody(TripKey),
    Accounts(Box<Store>),
    /// Hashes of the secrets by name; `None` where the name alone is enough, and a secret makes a trip.
    Invited(HashMap<String, Option<String>>, TripKey),
}

impl List {
    fn judge(&self, name: &str, secret: Option<&str>) -> Verdict {
        let made = |key| Verdict::Admitted(secret.and_then(|secret| trip(key, name, secret)));
        let known = match self {
            Self::Anybody(key) => return made(key),
            // An account that cannot be read admits nobody.
            Self::Accounts(store) => store.account_hash(name).ok().flatten(),
            Self::Invited(names, key) => match names.get(name) {
                Some(None) => return made(key),
                known => known.cloned().flatten(),
            },
        };
        // Takes as long for an unknown name, so that the time does not tell which names are known.
        let fits = password::fits(secret.unwrap_or_default(), known.as_deref().unwrap_or(DECOY));
        if fits && known.is_some() { Verdict::Admitted(None) } else { Verdict::Refused }
    }
}

/// Hash that no password fits; salt and hash are plain text.
const DECOY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$bm9ib2R5IGhhcyB0aGlzIHBhc3N3b3JkIGF0IGFsbCE";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decoy_costs_what_a_password_costs_and_fits_nothing() {
        assert!(password::is_hash(DECOY));
        let costs = |hash: &str| hash.split('$').nth(3).map(str::to_owned);
        assert_eq!(costs(DECOY), costs(&password::hash("x").unwrap()));
        assert!(!password::fits("", DECOY));
    }

    #[test]
    fn the_oldest_trip_alone_gives_way_to_a_new_one() {
        let mut trips = Trips::new(3);
        for name in ["a", "b", "b", "c", "d"] {
            trips.keep(name, "secret", &format!("trip of {name}"));
        }
        let known = ["a", "b", "c", "d"].map(|name| trips.get(name, "secret").is_some());
        assert_eq!(known, [false, true, true, true]);
        assert_eq!(trips.get("d", "secret").unwrap(), "trip of d");
        assert_eq!((trips.get("d", "other"), trips.order.len()), (None, trips.made.len()));
    }

    #[test]
    fn an_invitation_holds_for_a_name_and_its_trip() {
        let hash = Some(password::hash("trip").unwrap());
        let names = HashMap::from([("a".to_owned(), hash), ("b".to_owned(), None)]);
        let list = List::Invited(names, TripKey([0; 32]));
        let admits = |name, secret| matches!(list.judge(name, secret), Verdict::Admitted(_));
        assert!(admits("a", Some("trip")) && admits("b", None) && admits("b", Some("any")));
        assert!(!admits("a", Some("trap")) && !admits("a", None) && !admits("c", Some("trip")));
    }
}

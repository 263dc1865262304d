//! Admission: whether a login may enter.
//!
//! Checking a password takes tens of milliseconds. One thread does nothing else, at a lower priority than the games, and
//! each connection waits for its own check; the wait is a part of its time to log in. Addresses take turns, and an
//! address that guesses is locked out for a while, so that a flood of logins delays its own logins and nothing else.

use super::{
    places::{Origin, Place},
    requests::yield_to_games,
};
use journal::{Store, StoreError};
use notation::csa::game_name::Entry;
use plan::password;
use plan::serve::{Limits, Login, ServeConfig};
use std::{
    collections::{HashMap, VecDeque},
    net::IpAddr,
    path::Path,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Checks of one address that may wait; more are refused at once.
const WAITING: usize = 64;
/// Addresses with wrong passwords that are remembered before those are forgotten whose time is over.
const FAILURES: usize = 4096;
/// Time between two looks whether the host is still there.
const GLANCE: Duration = Duration::from_secs(1);

/// A request to log in.
#[derive(Clone, Debug)]
pub struct LoginRequest {
    /// The name.
    pub name: String,
    /// The password as it was sent; in CSA mode it contains the name of the game.
    pub password: String,
    /// Whether the request is for the extended mode.
    pub extended: bool,
    /// Whether the host has checked the password.
    pub authenticated: bool,
    /// Whether the place is one of those kept for players who return to their game.
    pub returning_only: bool,
}

impl LoginRequest {
    /// The part of the password that identifies the player: in CSA mode what follows the name of the game.
    #[must_use]
    pub fn secret(&self) -> Option<String> {
        if self.extended { Some(self.password.clone()) } else { Entry::read(&self.password).trip }
    }
}

/// What becomes of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may enter.
    Admitted,
    /// The name or the password is wrong.
    Refused,
    /// Its address has guessed too often, or asks too much at once; the password was not looked at.
    LockedOut,
}

/// Resolves to what becomes of a login.
pub type Decision = Pin<Box<dyn Future<Output = Verdict> + Send>>;

/// Decides on logins.
#[derive(Clone, Debug)]
pub struct Admission(Option<Arc<Gate>>);

#[derive(Debug)]
struct Check {
    name: String,
    secret: Option<String>,
    address: IpAddr,
    answer: oneshot::Sender<Verdict>,
}

impl Admission {
    /// Admission by the configuration and the accounts in the database. With accounts or invitations it starts the thread
    /// that checks passwords.
    ///
    /// # Errors
    /// When the accounts cannot be read, or the system has no thread.
    pub fn new(config: &ServeConfig, database: &Path) -> Result<Self, StoreError> {
        let list = match config.login {
            Login::Open => return Ok(Self(None)),
            Login::Accounts => {
                drop(Store::open(database)?); // a new one has no accounts, but a place for them
                List::Accounts(Box::new(Store::read(database)?))
            }
            Login::Invitation => List::Invited(config.invitations().collect()),
        };
        let gate = Arc::new(Gate::new(config.limits));
        let queue = Arc::downgrade(&gate);
        let work = move || {
            yield_to_games();
            while let Some((origin, check)) = next_check(&queue) {
                let verdict = match list.admits(&check.name, check.secret.as_deref()) {
                    true => Verdict::Admitted,
                    false => Verdict::Refused,
                };
                if let (Verdict::Refused, Some(gate)) = (verdict, queue.upgrade()) {
                    gate.failed(origin, &check);
                }
                let _gone_meanwhile = check.answer.send(verdict);
            }
        };
        let thread = thread::Builder::new().name("admission".to_owned()).spawn(work);
        let failed = |source| StoreError::Thread { path: database.to_owned(), source: Arc::new(source) };
        thread.map(|_| Self(Some(gate))).map_err(failed)
    }

    /// Checks a login from a place; `None` where every login may enter.
    #[must_use]
    pub fn check(&self, request: &LoginRequest, place: &Place) -> Option<Decision> {
        let gate = self.0.as_ref()?;
        let (answer, decision) = oneshot::channel();
        let (name, secret) = (request.name.clone(), request.secret());
        gate.enter(place.origin(), Check { name, secret, address: place.address(), answer });
        Some(Box::pin(async move { decision.await.unwrap_or(Verdict::LockedOut) }))
    }
}

/// The checks that wait, and the addresses that have guessed.
#[derive(Debug)]
struct Gate {
    queue: Mutex<Queue>,
    arrived: Condvar,
    limits: Limits,
}

/// The checks that wait, by address. Addresses take turns, so that many guesses from one of them delay the others by one
/// check at a time.
#[derive(Debug, Default)]
struct Queue {
    waiting: HashMap<Origin, VecDeque<Check>>,
    turns: VecDeque<Origin>,
    failures: HashMap<Origin, (u32, Instant)>,
}

impl Gate {
    fn new(limits: Limits) -> Self {
        Self { queue: Mutex::default(), arrived: Condvar::new(), limits }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a check, or drops it, which answers it as locked out.
    fn enter(&self, origin: Origin, check: Check) {
        let mut queue = self.queue();
        if self.is_locked_out(&mut queue, origin) {
            return;
        }
        let waiting = queue.waiting.entry(origin).or_default();
        let first = waiting.is_empty();
        if waiting.len() < WAITING {
            waiting.push_back(check);
        }
        if first {
            queue.turns.push_back(origin);
        }
        self.arrived.notify_one();
    }

    fn is_locked_out(&self, queue: &mut Queue, origin: Origin) -> bool {
        let most = self.limits.login_failures;
        let failures = queue.failures.get(&origin).filter(|(_, since)| since.elapsed() < self.lockout());
        most > 0 && failures.is_some_and(|(count, _)| *count >= most)
    }

    fn lockout(&self) -> Duration {
        Duration::from_secs(self.limits.lockout_seconds)
    }

    /// Counts a wrong password. The lines are what fail2ban reads; the hosting guide documents them.
    fn failed(&self, origin: Origin, check: &Check) {
        let Check { name, address, .. } = check;
        tracing::warn!(target: "login", "wrong password from {address} for {name:?}");
        let (mut queue, lockout) = (self.queue(), self.lockout());
        if queue.failures.len() >= FAILURES {
            queue.failures.retain(|_, (_, since)| since.elapsed() < lockout);
        }
        let (count, since) = queue.failures.entry(origin).or_insert((0, Instant::now()));
        if since.elapsed() >= lockout {
            (*count, *since) = (0, Instant::now());
        }
        *count += 1;
        if *count == self.limits.login_failures {
            *since = Instant::now(); // the whole time from now on
            // What waits of it is answered by dropping it.
            queue.waiting.remove(&origin);
            queue.turns.retain(|other| *other != origin);
            drop(queue);
            tracing::warn!(target: "login", "locked out {address} for {} s", lockout.as_secs());
        }
    }
}

/// The next check, in turn; `None` when the host is gone.
fn next_check(gate: &Weak<Gate>) -> Option<(Origin, Check)> {
    loop {
        let gate = gate.upgrade()?;
        let mut queue = gate.queue();
        while let Some(origin) = queue.turns.pop_front() {
            let Some(waiting) = queue.waiting.get_mut(&origin) else { continue };
            // A connection that is gone costs no check.
            let next = std::iter::from_fn(|| waiting.pop_front()).find(|check| !check.answer.is_closed());
            match waiting.is_empty() {
                true => drop(queue.waiting.remove(&origin)),
                false => queue.turns.push_back(origin),
            }
            if let Some(check) = next {
                return Some((origin, check));
            }
        }
        let _woken = gate.arrived.wait_timeout(queue, GLANCE);
    }
}

/// The players whom the host knows.
enum List {
    Accounts(Box<Store>),
    /// Hashes of the trips by name; `None` where the name alone is enough.
    Invited(HashMap<String, Option<String>>),
}

impl List {
    fn admits(&self, name: &str, secret: Option<&str>) -> bool {
        let known = match self {
            // An account that cannot be read admits nobody.
            Self::Accounts(store) => store.account_hash(name).ok().flatten().map(Some),
            Self::Invited(names) => names.get(name).cloned(),
        };
        match known {
            Some(None) => true,
            Some(Some(hash)) => secret.is_some_and(|secret| password::fits(secret, &hash)),
            None => {
                // Takes as long as for a known name, so that the time does not tell which names are known.
                let _unknown = password::fits(secret.unwrap_or_default(), DECOY);
                false
            }
        }
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
    fn an_invitation_holds_for_a_name_and_its_trip() {
        let trip = Some(password::hash("trip").unwrap());
        let list = List::Invited(HashMap::from([("a".to_owned(), trip), ("b".to_owned(), None)]));
        assert!(list.admits("a", Some("trip")) && list.admits("b", None) && list.admits("b", Some("any")));
        assert!(
            !list.admits("a", Some("trap")) && !list.admits("a", None) && !list.admits("c", Some("trip"))
        );
    }
}

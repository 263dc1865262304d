//! Admission: whether a login may enter.
//!
//! Checking a password takes tens of milliseconds. One thread does nothing else, at a lower priority than the games, and
//! each connection waits for its own check, so that a flood of logins delays other logins and nothing else.

use journal::{Store, StoreError};
use notation::csa::game_name::Entry;
use plan::password;
use plan::serve::{Login, ServeConfig};
use std::{collections::HashMap, path::Path, pin::Pin, sync::Arc, thread};
use tokio::sync::{mpsc, oneshot};

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
}

impl LoginRequest {
    /// The part of the password that identifies the player: in CSA mode what follows the name of the game.
    #[must_use]
    pub fn secret(&self) -> Option<String> {
        if self.extended { Some(self.password.clone()) } else { Entry::read(&self.password).trip }
    }
}

/// Resolves to whether a login may enter.
pub type Decision = Pin<Box<dyn Future<Output = bool> + Send>>;

/// Decides on logins.
#[derive(Clone, Debug)]
pub struct Admission(Option<mpsc::Sender<Check>>);

#[derive(Debug)]
struct Check {
    name: String,
    secret: Option<String>,
    answer: oneshot::Sender<bool>,
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
        let (checks, mut inbox) = mpsc::channel::<Check>(1);
        let work = move || {
            yield_to_games();
            while let Some(check) = inbox.blocking_recv() {
                // A connection that is gone costs no check.
                if !check.answer.is_closed() {
                    let admitted = list.admits(&check.name, check.secret.as_deref());
                    let _gone_meanwhile = check.answer.send(admitted);
                }
            }
        };
        let thread = thread::Builder::new().name("admission".to_owned()).spawn(work);
        let failed = |source| StoreError::Thread { path: database.to_owned(), source: Arc::new(source) };
        thread.map(|_| Self(Some(checks))).map_err(failed)
    }

    /// Checks a login; `None` where every login may enter.
    #[must_use]
    pub fn check(&self, request: &LoginRequest) -> Option<Decision> {
        let keeper = self.0.clone()?;
        let (name, secret) = (request.name.clone(), request.secret());
        Some(Box::pin(async move {
            let (answer, decision) = oneshot::channel();
            let heard = keeper.send(Check { name, secret, answer }).await.is_ok();
            heard && decision.await.unwrap_or(false)
        }))
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

/// Lowers the priority of this thread. Only Linux has a niceness for each thread; elsewhere nothing changes.
pub(crate) fn yield_to_games() {
    #[cfg(target_os = "linux")]
    let _refused = rustix::process::setpriority_process(None, 5);
}

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

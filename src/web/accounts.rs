//! Accounts of the pages: who is logged in, and what keeps strangers from it.
//!
//! A password is only taken over TLS or from this machine. Wrong passwords for an account lock out their address, or the
//! browser where somebody has logged in before: a crowd behind an arbiter's address locks out nobody but itself. A session
//! is a random token of which only a hash is kept, in memory, and it ends with the password that it began with. A request
//! that changes something has to come from a page of this site, and to carry the session's own token.

use crate::{
    desk::lock,
    limits::Peer,
    origins::is_here,
    server::yield_to_games,
    turns::{Room, Turns},
    visitor::cookie,
};
use ::limits::Counts;
use arena::operations::Operations;
use axum::http::{HeaderMap, HeaderValue};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use journal::{Store, StoreError, WebAccount};
use plan::password;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock},
    time::{Duration, Instant},
};

/// How long a login lasts: a day of games.
pub const SESSION: Duration = Duration::from_secs(12 * 3600);
/// Name of the cookie.
const COOKIE: &str = "renmei_session";
/// Sessions at once.
const SESSIONS: usize = 256;
/// Name of the cookie of a browser where somebody has logged in, how long it lasts, and how many are known.
const KNOWN: (&str, Duration, usize) = ("renmei_known", Duration::from_secs(30 * 24 * 3600), 256);
/// Wrong passwords of an address or a known browser for a name, and for how long they count.
const GUESSES: (u32, Duration) = (10, Duration::from_secs(600));
/// Registrations of an address, and for how long they count.
const REGISTRATIONS: (u32, Duration) = (5, Duration::from_secs(3600));
/// Appeals of an address, and for how long they count.
const APPEALS: (u32, Duration) = (5, Duration::from_secs(3600));
/// Logins that are checked: one at a time, one of an address or a known browser.
const LOGINS: Room = Room { places: 1, places_each: 1, waiting: 256, waiting_each: 1 };
/// Passwords of strangers that are checked or hashed, apart from logins.
const STRANGERS: Room = Room { places: 1, places_each: 1, waiting: 64, waiting_each: 1 };
/// Hash that no password fits; salt and hash are plain text.
pub(crate) const DECOY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGlzIGhlcmU$bm9ib2R5IGhhcyB0aGlzIHBhc3N3b3JkIGF0IGFsbCE";

/// Who gets accounts for the games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// Whoever asks here, when an arbiter approves.
    Accounts,
    /// Nobody needs one.
    Anybody,
    /// The configuration says who plays.
    Configured,
}

/// What the arbiter's pages share. A clone is cheap.
#[derive(Clone, Debug)]
pub struct Office(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    database: PathBuf,
    registers: Registers,
    operations: OnceLock<Operations>,
    sessions: Mutex<HashMap<[u8; 32], Session>>,
    /// Browsers where somebody has logged in, with the account and the time.
    known: Mutex<HashMap<[u8; 32], (String, Instant)>>,
    guesses: Mutex<Counts<(Guesser, String)>>,
    wrong_secrets: Mutex<Counts<(IpAddr, String)>>,
    registrations: Mutex<Counts<IpAddr>>,
    appeals: Mutex<Counts<IpAddr>>,
    logins: Arc<Turns<Guesser>>,
    strangers: Arc<Turns<IpAddr>>,
}

/// For whom logins and wrong passwords count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Guesser {
    /// An address.
    Address(IpAddr),
    /// A browser where somebody has logged in to this account before.
    Browser([u8; 32]),
}

/// A login of a browser.
#[derive(Clone, Debug)]
struct Session {
    account: String,
    /// The hash of the password that it began with.
    hash: String,
    csrf: String,
    until: Instant,
    /// What to show on the next page.
    told: Option<String>,
}

/// Who asks, once it is known.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The account.
    pub account: WebAccount,
    /// The token of the forms of this session.
    pub csrf: String,
    key: [u8; 32],
}

/// Why something is not done, in a sentence.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The connection is open to everybody on its way.
    #[error(
        "passwords are only taken over TLS or from this machine, at the port of the pages: use an address that begins with \
         https://, or ask the host"
    )]
    Open,
    /// The request comes from another site, or from a page that is out of date.
    #[error(
        "this did not come from a page of this site that is up to date; load the page again and repeat it"
    )]
    Forged,
    /// The name or the password is wrong.
    #[error("the name or the password is wrong")]
    Wrong,
    /// There were too many wrong passwords from the address.
    #[error("too many wrong passwords from your address; wait ten minutes")]
    LockedOut,
    /// A password of the address is being checked, or too many are.
    #[error("too many passwords are being checked; try again in a moment")]
    Busy,
    /// Nobody is logged in.
    #[error("you are not logged in, or no longer")]
    Stranger,
    /// The address has registered too often.
    #[error("too many registrations from your address; try again in an hour")]
    TooMany,
    /// The address has appealed too often.
    #[error("too many appeals from your address; try again in an hour, or speak to the arbiter")]
    TooManyAppeals,
    /// Nobody has that name and that secret.
    #[error(
        "this is neither the secret with which a player of this game logs in, nor the password of an account here; an \
         arbiter can file the appeal for you"
    )]
    WrongSecret,
    /// The password cannot be used.
    #[error(transparent)]
    Password(#[from] password::BadPassword),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The work was broken off.
    #[error("the work was broken off: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

impl Office {
    /// The office of an event in a database.
    #[must_use]
    pub fn new(database: &Path, registers: Registers) -> Self {
        Self(Arc::new(Shared {
            database: database.to_owned(),
            registers,
            operations: OnceLock::new(),
            sessions: Mutex::default(),
            known: Mutex::default(),
            guesses: Mutex::new(Counts::within(GUESSES)),
            wrong_secrets: Mutex::new(Counts::within(GUESSES)),
            registrations: Mutex::new(Counts::within(REGISTRATIONS)),
            appeals: Mutex::new(Counts::within(APPEALS)),
            logins: Turns::new(LOGINS),
            strangers: Turns::new(STRANGERS),
        }))
    }

    /// Opens: from now on the event can be run from the page.
    pub fn open(&self, operations: Operations) {
        let _opened_before = self.0.operations.set(operations);
    }

    /// The handle of the event; `None` before it begins.
    #[must_use]
    pub fn operations(&self) -> Option<&Operations> {
        self.0.operations.get()
    }

    /// Who gets accounts for the games.
    #[must_use]
    pub fn registers(&self) -> Registers {
        self.0.registers
    }

    /// Works with the database, on a thread that may wait.
    pub async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refused> {
        let database = self.0.database.clone();
        let done = tokio::task::spawn_blocking(move || {
            yield_to_games();
            work(&Store::open(&database)?)
        });
        Ok(done.await??)
    }

    /// Who is logged in in this browser.
    ///
    /// # Errors
    /// When nobody is any more, or the connection is open to everybody.
    pub async fn signed(&self, peer: Peer, headers: &HeaderMap) -> Result<Signed, Refused> {
        may_speak(peer, headers)?;
        let key = key_of(cookie(headers, COOKIE).ok_or(Refused::Stranger)?);
        let session = self.sessions().get(&key).filter(|session| session.until > Instant::now()).cloned();
        let Some(session) = session else { return Err(Refused::Stranger) };
        let name = session.account.clone();
        let account = self.with_store(move |store| store.web_account(&name)).await?;
        match account.filter(|account| account.hash == session.hash) {
            Some(account) => Ok(Signed { account, csrf: session.csrf, key }),
            None => {
                self.sessions().remove(&key);
                Err(Refused::Stranger)
            }
        }
    }

    /// Who sends a form.
    ///
    /// # Errors
    /// When it does not come from a page of the session.
    pub async fn sends(&self, peer: Peer, headers: &HeaderMap, csrf: &str) -> Result<Signed, Refused> {
        same_site(headers)?;
        let signed = self.signed(peer, headers).await?;
        // Hashes are compared, so that the time tells nothing.
        if key_of(csrf) == key_of(&signed.csrf) { Ok(signed) } else { Err(Refused::Forged) }
    }

    /// Logs in; returns the cookies.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn log_in(
        &self,
        peer: Peer,
        headers: &HeaderMap,
        name: &str,
        password: &str,
    ) -> Result<[HeaderValue; 2], Refused> {
        may_speak(peer, headers)?;
        same_site(headers)?;
        let guesser = self.guesser(peer, headers, name);
        let key = (guesser, clipped(name));
        if lock(&self.0.guesses).are_too_many(&key) {
            return Err(Refused::LockedOut);
        }
        let (asked, secret, database) = (name.to_owned(), password.to_owned(), self.0.database.clone());
        let check = move || -> Result<_, StoreError> {
            let account = Store::open(&database)?.web_account(&asked)?;
            let known = account.as_ref().map_or(DECOY, |account| account.hash.as_str());
            Ok((password::fits(&secret, known), account))
        };
        let (fits, account) = in_turn(&self.0.logins, guesser, check).await??;
        let Some(account) = account.filter(|_| fits) else {
            lock(&self.0.guesses).count(key);
            tracing::warn!(target: "login", "wrong password from {} for {:?} on the pages", peer.address, clipped(name));
            return Err(Refused::Wrong);
        };
        // The browser's former session ends: nobody can have laid out a token for it.
        if let Some(former) = cookie(headers, COOKIE) {
            self.sessions().remove(&key_of(former));
        }
        tracing::info!(target: "login", "{} logged in on the pages from {}", account.name, peer.address);
        let known = self.recognise(&account.name, peer);
        Ok([self.begin(account, peer), known])
    }

    /// For whom a login with this name counts.
    fn guesser(&self, peer: Peer, headers: &HeaderMap, name: &str) -> Guesser {
        let browser = cookie(headers, KNOWN.0).map(key_of);
        let known = lock(&self.0.known);
        let is_of = |key: &[u8; 32]| {
            known.get(key).is_some_and(|(account, since)| account == name && since.elapsed() < KNOWN.1)
        };
        browser.filter(is_of).map_or(Guesser::Address(peer.origin()), Guesser::Browser)
    }

    /// Knows a browser from now on; returns its cookie. A new one at each login: one that was stolen ends with it.
    fn recognise(&self, account: &str, peer: Peer) -> HeaderValue {
        let (token, now) = (random(), Instant::now());
        let mut known = lock(&self.0.known);
        if known.len() >= KNOWN.2 {
            let oldest = known.iter().min_by_key(|(_, (_, since))| *since).map(|(key, _)| *key);
            oldest.map(|key| known.remove(&key));
        }
        known.insert(key_of(&token), (account.to_owned(), now));
        set_cookie(KNOWN.0, &token, KNOWN.1, peer)
    }

    fn begin(&self, account: WebAccount, peer: Peer) -> HeaderValue {
        let token = random();
        let now = Instant::now();
        let session = Session {
            account: account.name,
            hash: account.hash,
            csrf: random(),
            until: now + SESSION,
            told: None,
        };
        let mut sessions = self.sessions();
        sessions.retain(|_, session| session.until > now);
        if sessions.len() >= SESSIONS
            && let Some(oldest) =
                sessions.iter().min_by_key(|(_, session)| session.until).map(|(key, _)| *key)
        {
            sessions.remove(&oldest);
        }
        sessions.insert(key_of(&token), session);
        set_cookie(COOKIE, &token, SESSION, peer)
    }

    /// Logs out; returns the cookie that takes the former away.
    pub fn log_out(&self, signed: &Signed, peer: Peer) -> HeaderValue {
        self.sessions().remove(&signed.key);
        set_cookie(COOKIE, "", Duration::ZERO, peer)
    }

    /// Keeps words for the next page of a session.
    pub fn tell(&self, signed: &Signed, words: String) {
        if let Some(session) = self.sessions().get_mut(&signed.key) {
            session.told = Some(words);
        }
    }

    /// Takes the words for this page.
    pub fn told(&self, signed: &Signed) -> Option<String> {
        self.sessions().get_mut(&signed.key).and_then(|session| session.told.take())
    }

    /// The hash of a stranger's password.
    ///
    /// # Errors
    /// When the address asks too often, or the password cannot be used.
    pub async fn hash(&self, peer: Peer, password: String) -> Result<String, Refused> {
        {
            let mut counts = lock(&self.0.registrations);
            if counts.are_too_many(&peer.origin()) {
                return Err(Refused::TooMany);
            }
            counts.count(peer.origin());
        }
        let hash = move || password::hash(&password);
        Ok(in_turn(&self.0.strangers, peer.origin(), hash).await??)
    }

    /// Whether a stranger may file an appeal: the secret fits by what the database says, and there were not too many from
    /// the address. Wrong secrets count apart from wrong passwords, by address and name.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn may_appeal(
        &self,
        peer: Peer,
        name: &str,
        fits: impl FnOnce(&Store) -> Result<bool, StoreError> + Send + 'static,
    ) -> Result<(), Refused> {
        let key = (peer.origin(), clipped(name));
        if lock(&self.0.wrong_secrets).are_too_many(&key) {
            return Err(Refused::LockedOut);
        }
        if lock(&self.0.appeals).are_too_many(&peer.origin()) {
            return Err(Refused::TooManyAppeals);
        }
        let database = self.0.database.clone();
        let fits =
            in_turn(&self.0.strangers, peer.origin(), move || fits(&Store::read(&database)?)).await??;
        if !fits {
            lock(&self.0.wrong_secrets).count(key);
            tracing::warn!(target: "login", "wrong password from {} for {:?} on the pages", peer.address, clipped(name));
            return Err(Refused::WrongSecret);
        }
        lock(&self.0.appeals).count(peer.origin());
        Ok(())
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<[u8; 32], Session>> {
        lock(&self.0.sessions)
    }
}

/// Does slow work in the turn of somebody.
async fn in_turn<K: crate::turns::Asker + Send + 'static, T: Send + 'static>(
    turns: &Arc<Turns<K>>,
    asker: K,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refused> {
    let turn = turns.take(asker).await.ok_or(Refused::Busy)?;
    let work = move || {
        yield_to_games();
        let done = work();
        drop(turn);
        done
    };
    Ok(tokio::task::spawn_blocking(work).await?)
}

fn clipped(text: &str) -> String {
    text.chars().take(40).collect()
}

/// 256 random bits as text.
#[must_use]
pub fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

fn key_of(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn set_cookie(name: &str, token: &str, lasts: Duration, peer: Peer) -> HeaderValue {
    let secure = if peer.is_secure { "; Secure" } else { "" };
    let text =
        format!("{name}={token}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{secure}", lasts.as_secs());
    // Made of letters alone.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

/// Whether a password may be spoken here: over TLS, or on this machine. A proxy that is not configured makes everybody
/// look like somebody on this machine, but what it says or the name that was asked for gives it away.
///
/// # Errors
/// When it may not.
pub fn may_speak(peer: Peer, headers: &HeaderMap) -> Result<(), Refused> {
    const OF_PROXIES: [&str; 5] = ["forwarded", "via", "x-forwarded-for", "x-forwarded-proto", "x-real-ip"];
    let proxied = OF_PROXIES.iter().any(|name| headers.contains_key(*name));
    let here = peer.address.to_canonical().is_loopback() && !proxied && is_here(headers, peer);
    if peer.is_secure || here { Ok(()) } else { Err(Refused::Open) }
}

/// Whether a request comes from a page of this site, as far as the browser says.
///
/// # Errors
/// When it comes from elsewhere.
pub fn same_site(headers: &HeaderMap) -> Result<(), Refused> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let fetched = text("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let origin = text("origin").is_none_or(|origin| {
        let host = origin.split_once("://").map(|(_, host)| host);
        host.is_some() && host == text("host")
    });
    if fetched && origin { Ok(()) } else { Err(Refused::Forged) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect()
    }

    fn peer(address: &str, is_secure: bool) -> Peer {
        Peer { address: address.parse().unwrap(), is_secure, port: 0 }
    }

    #[test]
    fn passwords_are_spoken_over_tls_and_on_this_machine_alone() {
        let here = [("host", "127.0.0.1:8080")];
        let may = |address, secure, pairs: &[_]| may_speak(peer(address, secure), &headers(pairs)).is_ok();
        assert!(may("127.0.0.1", false, &here) && may("::1", false, &[("host", "[::1]:8080")]));
        assert!(may("127.0.0.1", false, &[("host", "localhost")]));
        assert!(may("192.0.2.1", true, &[("host", "shogi.example.org")]));
        assert!(!may("192.0.2.1", false, &here));
        // A proxy on this machine of which nothing was said.
        assert!(!may("127.0.0.1", false, &[("host", "localhost"), ("x-forwarded-for", "192.0.2.1")]));
        assert!(!may("127.0.0.1", false, &[("host", "shogi.example.org")]));
        assert!(!may("127.0.0.1", false, &[]));
    }

    #[test]
    fn a_form_of_another_site_is_told_by_what_the_browser_says() {
        let may = |pairs: &[_]| same_site(&headers(pairs)).is_ok();
        assert!(may(&[("host", "a:1"), ("origin", "http://a:1"), ("sec-fetch-site", "same-origin")]));
        assert!(may(&[("host", "a:1")]));
        for forged in [
            [("host", "a:1"), ("origin", "http://evil.example")],
            [("host", "a:1"), ("origin", "null")],
            [("host", "a:1"), ("origin", "http://a:2")],
            [("host", "a:1"), ("sec-fetch-site", "cross-site")],
            [("host", "a:1"), ("sec-fetch-site", "same-site")],
        ] {
            assert!(!may(&forged), "{forged:?}");
        }
    }
}

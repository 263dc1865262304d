//! Accounts of the pages: who is logged in, and what keeps strangers from it.
//!
//! A password is only taken over TLS or from this machine. Wrong passwords for an account lock out their address, or the
//! browser where somebody has logged in before: a crowd behind an arbiter's address locks out nobody but itself. A session
//! is a random token of which only a hash is kept, in memory, and it ends with the password that it began with. A request
//! that changes something has to come from a page of this site, and to carry the session's own token.

use crate::{
    crowd::{Crowd, Guesser},
    gate::Gate,
    limits::Peer,
    origins::is_here,
    refusals::Refusal,
    turns::{Turns, yield_to_games},
    visitor::cookie,
};
use arena::operations::Operations;
use axum::http::{HeaderMap, HeaderValue};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use journal::{Role, Store, StoreError, WebAccount, Writer};
use parking_lot::{Mutex, MutexGuard};
use plan::password::{self, BadPassword};
use platform::limits::Counts;
use referee::operation::InForce;
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    net::IpAddr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use words::{Language, Phrase};

/// How long a login lasts: a day of games.
pub const SESSION: Duration = Duration::from_secs(12 * 3600);
/// Name of the cookie of a login, how long it lasts, and sessions at once.
const COOKIE: (&str, Duration, usize) = ("renmei_session", SESSION, 256);
/// Name of the cookie of a browser where somebody has logged in, how long it lasts, and how many are known.
const KNOWN: (&str, Duration, usize) = ("renmei_known", Duration::from_secs(30 * 24 * 3600), 256);
/// Wrong passwords of an address or a known browser for a name, and for how long they count.
const GUESSES: (u32, Duration) = (10, Duration::from_secs(600));
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
    operations: Arc<OnceLock<Operations>>,
    sessions: Tokens<Session>,
    /// Browsers where somebody has logged in, with the account.
    known: Tokens<String>,
    guesses: Mutex<Counts<(Guesser, String)>>,
    wrong_secrets: Mutex<Counts<(IpAddr, String)>>,
    crowd: Crowd,
    /// The gate of a desk, behind which everybody is its owner.
    gate: Option<Arc<Gate>>,
    /// What to show its owner on the next page.
    told: Mutex<Option<String>>,
    /// The path that the cookies are for: that of the event's pages.
    path: String,
}

/// A login of a browser.
#[derive(Clone, Debug)]
struct Session {
    account: String,
    /// The hash of the password that it began with.
    hash: String,
    csrf: String,
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

impl Office {
    /// The office of an event in a database, whose pages are alone at their address.
    pub fn new(database: &Path, registers: Registers) -> Self {
        Self::below("", database, registers, (Crowd::default(), None))
    }

    /// The office of an event whose pages are below a path, with the limits of all who are there, and with the gate of a
    /// desk: whoever is behind it needs no account.
    pub fn below(
        base: &str,
        database: &Path,
        registers: Registers,
        limits: (Crowd, Option<Arc<Gate>>),
    ) -> Self {
        Self::with(base, database, registers, limits, Arc::default())
    }

    fn with(
        base: &str,
        database: &Path,
        registers: Registers,
        (crowd, gate): (Crowd, Option<Arc<Gate>>),
        operations: Arc<OnceLock<Operations>>,
    ) -> Self {
        Self(Arc::new(Shared {
            database: database.to_owned(),
            registers,
            operations,
            sessions: Tokens::default(),
            known: Tokens::default(),
            guesses: Mutex::new(Counts::within(GUESSES)),
            wrong_secrets: Mutex::new(Counts::within(GUESSES)),
            crowd,
            gate,
            told: Mutex::default(),
            path: format!("{base}/"),
        }))
    }

    /// The office of the same event on pages that are alone at their address and have no gate.
    pub fn outside(&self) -> Self {
        let Shared { database, registers, operations, .. } = &*self.0;
        Self::with("", database, *registers, (Crowd::default(), None), operations.clone())
    }

    /// Opens: from now on the event can be run from the page.
    pub fn open(&self, operations: Operations) {
        let _opened_before = self.0.operations.set(operations);
    }

    /// The handle of the event; `None` before it begins.
    pub fn operations(&self) -> Option<&Operations> {
        self.0.operations.get()
    }

    /// The handle of the event.
    ///
    /// # Errors
    /// With these words before the event begins.
    pub fn running(&self, words: Phrase) -> Result<Operations, Refusal> {
        self.operations().cloned().ok_or_else(|| Refusal::conflict(words))
    }

    /// True if no new player may register.
    pub fn is_closed(&self) -> bool {
        self.operations().is_some_and(|operations| operations.in_force(InForce::registration_is_closed))
    }

    /// Who gets accounts for the games.
    pub fn registers(&self) -> Registers {
        self.0.registers
    }

    /// Works with the database, on a thread that may wait.
    pub async fn with_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Writer) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let database = self.0.database.clone();
        let done = tokio::task::spawn_blocking(move || {
            yield_to_games();
            work(&Writer::open(&database)?)
        });
        Ok(done.await??)
    }

    /// The login of this browser; `None` if there is none, or it has ended.
    ///
    /// # Errors
    /// When the connection is open to everybody, or the database cannot be read.
    pub async fn signed(&self, peer: Peer, headers: &HeaderMap) -> Result<Option<Signed>, Refusal> {
        may_speak(peer, headers)?;
        if let Some(gate) = &self.0.gate {
            return Ok(Some(owner(gate)));
        }
        let Some((key, session)) = self.session(headers) else { return Ok(None) };
        let name = session.account.clone();
        let account = self.with_store(move |store| store.web_account(&name)).await?;
        let account = account.filter(|account| account.hash == session.hash);
        if account.is_none() {
            self.sessions().remove(&key);
        }
        Ok(account.map(|account| Signed { account, csrf: session.csrf, key }))
    }

    /// True if these are pages of a desk.
    pub fn is_of_desk(&self) -> bool {
        self.0.gate.is_some()
    }

    /// The session of a request, with its key.
    fn session(&self, headers: &HeaderMap) -> Option<([u8; 32], Session)> {
        let key = key_of(cookie(headers, COOKIE.0)?);
        let session = self.0.sessions.of(&key)?;
        Some((key, session))
    }

    /// The login that sends a form.
    ///
    /// # Errors
    /// When the form does not come from a page of the session.
    pub async fn sends(&self, peer: Peer, headers: &HeaderMap, csrf: &str) -> Result<Signed, Refusal> {
        same_site(headers)?;
        let signed = self.signed(peer, headers).await?;
        let signed = signed.ok_or_else(|| Refusal::forbidden(Language::not_logged_in))?;
        // Hashes are compared, so that the time tells nothing.
        if key_of(csrf) == key_of(&signed.csrf) {
            Ok(signed)
        } else {
            Err(Refusal::forbidden(Language::out_of_date))
        }
    }

    /// The login of a browser, or an earlier one of it, as a key of its own: by it alone nothing is allowed.
    pub fn login(&self, headers: &HeaderMap) -> Option<[u8; 32]> {
        let known = || cookie(headers, KNOWN.0).map(key_of).filter(|key| self.0.known.of(key).is_some());
        self.session(headers).map(|(key, _)| key).or_else(known)
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
    ) -> Result<[HeaderValue; 2], Refusal> {
        may_speak(peer, headers)?;
        let guesser = self.guesser(peer, headers, name);
        let key = (guesser, clipped(name));
        if self.0.guesses.lock().are_too_many(&key) {
            return Err(Refusal::too_many(Language::locked_out));
        }
        let (asked, secret, database) = (name.to_owned(), password.to_owned(), self.0.database.clone());
        let check = move || -> Result<_, StoreError> {
            let account = Store::read(&database)?.web_account(&asked)?;
            let known = account.as_ref().map_or(DECOY, |account| account.hash.as_str());
            Ok((password::fits(&secret, known), account))
        };
        let (fits, account) = in_turn(&self.0.crowd.0.logins, guesser, check).await??;
        let Some(account) = account.filter(|_| fits) else {
            self.0.guesses.lock().count(key);
            tracing::warn!(target: "login", "wrong password from {} for {:?} on the pages", peer.address, clipped(name));
            return Err(Refusal::forbidden(Language::wrong_password));
        };
        // The browser's former session ends: nobody can have laid out a token for it.
        if let Some(former) = cookie(headers, COOKIE.0) {
            self.sessions().remove(&key_of(former));
        }
        tracing::info!(target: "login", "{} logged in on the pages from {}", account.name, peer.address);
        // A new cookie of the browser at each login: one that was stolen ends with it.
        let known = self.0.known.begin(account.name.clone(), KNOWN, (peer, &self.0.path));
        let session = Session { account: account.name, hash: account.hash, csrf: random(), told: None };
        Ok([self.0.sessions.begin(session, COOKIE, (peer, &self.0.path)), known])
    }

    /// For whom a login with this name counts.
    fn guesser(&self, peer: Peer, headers: &HeaderMap, name: &str) -> Guesser {
        let browser = cookie(headers, KNOWN.0).map(key_of);
        let is_of = |key: &[u8; 32]| self.0.known.of(key).is_some_and(|account| account == name);
        browser.filter(is_of).map_or(Guesser::Address(peer.origin()), Guesser::Browser)
    }

    /// Logs out; returns the cookie that takes the former away.
    pub fn log_out(&self, signed: &Signed, peer: Peer) -> HeaderValue {
        self.sessions().remove(&signed.key);
        set_cookie(COOKIE.0, "", Duration::ZERO, (peer, &self.0.path))
    }

    /// Keeps words for the next page of a session.
    pub fn tell(&self, signed: &Signed, words: String) {
        if self.is_of_desk() {
            *self.0.told.lock() = Some(words);
        } else if let Some((session, _)) = self.sessions().get_mut(&signed.key) {
            session.told = Some(words);
        }
    }

    /// Takes the words for this page.
    pub fn told(&self, signed: &Signed) -> Option<String> {
        if self.is_of_desk() {
            return self.0.told.lock().take();
        }
        self.sessions().get_mut(&signed.key).and_then(|(session, _)| session.told.take())
    }

    /// The hash of a stranger's password.
    ///
    /// # Errors
    /// When the address asks too often, or the password cannot be used.
    pub async fn hash(&self, peer: Peer, password: String) -> Result<String, Refusal> {
        {
            let mut counts = self.0.crowd.0.registrations.lock();
            if counts.are_too_many(&peer.origin()) {
                return Err(Refusal::too_many(Language::too_many_registrations));
            }
            counts.count(peer.origin());
        }
        let hash = move || password::hash(&password);
        in_turn(&self.0.crowd.0.strangers, peer.origin(), hash).await?.map_err(|bad| match bad {
            BadPassword::Form => Refusal::bad(Language::password_form),
            other => Refusal::bad(move |_| other.to_string()),
        })
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
    ) -> Result<(), Refusal> {
        let key = (peer.origin(), clipped(name));
        if self.0.wrong_secrets.lock().are_too_many(&key) {
            return Err(Refusal::too_many(Language::locked_out));
        }
        if self.0.crowd.0.appeals.lock().are_too_many(&peer.origin()) {
            return Err(Refusal::too_many(Language::too_many_appeals));
        }
        let database = self.0.database.clone();
        let fits = in_turn(&self.0.crowd.0.strangers, peer.origin(), move || fits(&Store::read(&database)?))
            .await??;
        if !fits {
            self.0.wrong_secrets.lock().count(key);
            tracing::warn!(target: "login", "wrong password from {} for {:?} on the pages", peer.address, clipped(name));
            return Err(Refusal::forbidden(Language::wrong_secret));
        }
        self.0.crowd.0.appeals.lock().count(peer.origin());
        Ok(())
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<[u8; 32], (Session, Instant)>> {
        self.0.sessions.0.lock()
    }
}

/// What the tokens in the cookies of browsers stand for, and until when; by the hashes of the tokens.
#[derive(Debug)]
pub(crate) struct Tokens<T>(Mutex<HashMap<[u8; 32], (T, Instant)>>);

impl<T> Default for Tokens<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Tokens<T> {
    /// What a token stands for; `None` if it is unknown or over.
    pub(crate) fn of(&self, key: &[u8; 32]) -> Option<T> {
        self.0.lock().get(key).filter(|(_, until)| *until > Instant::now()).map(|(of, _)| of.clone())
    }

    /// Begins a token, in the place of the one that ends first where there are many; returns its cookie.
    pub(crate) fn begin(
        &self,
        of: T,
        (name, lasts, most): (&str, Duration, usize),
        place: (Peer, &str),
    ) -> HeaderValue {
        let (token, now, mut tokens) = (random(), Instant::now(), self.0.lock());
        tokens.retain(|_, (_, until)| *until > now);
        if tokens.len() >= most {
            let first = tokens.iter().min_by_key(|(_, (_, until))| *until).map(|(key, _)| *key);
            first.map(|key| tokens.remove(&key));
        }
        tokens.insert(key_of(&token), (of, now + lasts));
        set_cookie(name, &token, lasts, place)
    }
}

/// The owner of a desk, as an account.
fn owner(gate: &Gate) -> Signed {
    let (name, role, hash) = ("desk".to_owned(), Role::Arbiter, String::new());
    Signed {
        account: WebAccount { name, role, hash, created_at: 0 },
        csrf: gate.csrf().to_owned(),
        key: [0; 32],
    }
}

/// Does slow work in the turn of somebody.
async fn in_turn<K: crate::turns::Asker + Send + 'static, T: Send + 'static>(
    turns: &Arc<Turns<K>>,
    asker: K,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    let turn = turns.take(asker).await.ok_or_else(|| Refusal::too_many(Language::passwords_busy))?;
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
pub fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

pub(crate) fn key_of(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A cookie for the pages below a path.
fn set_cookie(name: &str, token: &str, lasts: Duration, (peer, path): (Peer, &str)) -> HeaderValue {
    let secure = if peer.is_secure { "; Secure" } else { "" };
    let age = lasts.as_secs();
    let text = format!("{name}={token}; Path={path}; Max-Age={age}; HttpOnly; SameSite=Strict{secure}");
    // Made of letters and an escaped path alone.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

/// Whether a password may be spoken here: over TLS, or on this machine. A proxy that is not configured makes everybody
/// look like somebody on this machine, but what it says or the name that was asked for gives it away.
///
/// # Errors
/// When it may not.
pub fn may_speak(peer: Peer, headers: &HeaderMap) -> Result<(), Refusal> {
    const OF_PROXIES: [&str; 5] = ["forwarded", "via", "x-forwarded-for", "x-forwarded-proto", "x-real-ip"];
    let proxied = OF_PROXIES.iter().any(|name| headers.contains_key(*name));
    let here = peer.address.to_canonical().is_loopback() && !proxied && is_here(headers, peer);
    if peer.is_secure || here { Ok(()) } else { Err(Refusal::forbidden(Language::open_connection)) }
}

/// Whether a request comes from a page of this site, as far as the browser says.
///
/// # Errors
/// When it comes from elsewhere.
pub fn same_site(headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let fetched = text("sec-fetch-site").is_none_or(|site| site == "same-origin" || site == "none");
    let origin = text("origin").is_none_or(|origin| {
        let host = origin.split_once("://").map(|(_, host)| host);
        host.is_some() && host == text("host")
    });
    if fetched && origin { Ok(()) } else { Err(Refusal::forbidden(Language::out_of_date)) }
}

impl Signed {
    /// The account as it goes on record: it cannot be taken for a user of the system.
    pub fn by(&self) -> String {
        format!("{} ({} on the page)", self.account.name, self.account.role)
    }

    /// True if results, bans, substitutes and what was decided before may be changed.
    pub fn is_arbiter(&self) -> bool {
        self.account.role == Role::Arbiter
    }
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

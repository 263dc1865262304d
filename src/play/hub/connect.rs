//! A connection to a server, as both sides make it.

use crate::{HubError, keys::UserKey, tls, token::ServerAddress};
use async_nats::{Client, ClientError, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerError};
use std::{error::Error as _, io, path::PathBuf, str::FromStr, sync::atomic::Ordering, time::Duration};
use tokio::sync::watch;

/// How long one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(15);
/// How often the other side is asked for a sign of life: two are missed before the connection counts as lost.
const PING: Duration = Duration::from_secs(10);
/// First and longest wait before the next attempt.
const WAIT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Number of attempts before a refusal is believed, and the pause between: a server that takes over new users refuses, or
/// closes, every connection that is just being made, whatever its key.
const REFUSALS: u32 = 4;
/// Connections that the server closes before a worker takes that for more than a busy server.
const BREAKS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(150);
/// Messages of a subscription that wait to be read; what comes after them is lost, so that whoever floods a subject fills
/// no memory.
const WAITING: usize = 1_024;

/// How a connection stands. It is made again by itself for as long as the client exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// It is there.
    Up,
    /// It broke, and is tried again.
    Down,
    /// The server no longer knows this user, and is tried again: whoever joins anew hears why.
    Refused,
}

/// Who connects.
#[derive(Clone, Debug)]
pub(crate) enum User {
    /// Whoever has this key.
    Key(UserKey),
    /// A name and a password.
    Password(Password),
    /// A file with credentials.
    File(PathBuf),
    /// Nobody in particular.
    Anybody,
}

/// A name and its password on somebody else's server.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Password {
    user: String,
    password: String,
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

/// Somebody else's server: `nats://HOST:PORT` or `tls://HOST:PORT`, with `USER:PASSWORD@` before the host if it wants one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignServer {
    pub(crate) address: ServerAddress,
    pub(crate) password: Option<Password>,
}

/// Everything that a connection needs.
#[derive(Clone)]
pub(crate) struct Call<'a> {
    pub server: &'a ServerAddress,
    pub user: User,
    /// SHA-256 of the certificate, on a server of the event's own.
    pub certificate: Option<[u8; 32]>,
    /// What its inboxes begin with.
    pub inbox: &'a str,
    /// What the server calls it in its log.
    pub name: &'a str,
}

impl Call<'_> {
    /// Connects.
    pub async fn connect(self) -> Result<(Client, watch::Receiver<Connection>), HubError> {
        for heard in 1.. {
            match self.clone().attempt().await {
                Err(Failed { believed_after, .. }) if heard < believed_after => {
                    tokio::time::sleep(PAUSE.mul_f64(rand::random_range(0.5..1.5))).await;
                }
                decided => return decided.map_err(|failed| failed.error),
            }
        }
        unreachable!("the last refusal is believed")
    }

    async fn attempt(self) -> Result<(Client, watch::Receiver<Connection>), Failed> {
        let (state, watched) = watch::channel(Connection::Up);
        let options = ConnectOptions::new()
            .name(self.name)
            .custom_inbox_prefix(self.inbox)
            .connection_timeout(ATTEMPT)
            .ping_interval(PING)
            .subscription_capacity(WAITING)
            .ignore_discovered_servers()
            .require_tls(self.server.is_tls())
            .reconnect_delay_callback(delay)
            .event_callback(move |event| {
                state.send_if_modified(|state| follow(state, &event));
                std::future::ready(())
            });
        let mut options = match self.user {
            User::Key(key) => options.nkey(key.seed()),
            User::Password(Password { user, password }) => options.user_and_password(user, password),
            User::File(path) => {
                let read = options.credentials_file(&path).await;
                read.map_err(|error| HubError::Credentials { path, cause: error.to_string() })?
            }
            User::Anybody => options,
        };
        let mut another = None;
        if let Some(sha256) = self.certificate {
            let (config, refused) = tls::pinned(sha256);
            options = options.tls_client_config(config);
            another = Some(refused);
        }
        let server = self.server;
        let client = options.connect(server.url()).await.map_err(|error| {
            let is_another = another.is_some_and(|another| another.load(Ordering::Relaxed));
            if is_another {
                HubError::OtherServer { address: server.to_string() }.into()
            } else {
                failed(server, &error)
            }
        })?;
        Ok((client, watched))
    }
}

/// An attempt that failed.
struct Failed {
    error: HubError,
    /// Attempts after which it is believed. More than one: the server may take over new members at this moment.
    believed_after: u32,
}

impl From<HubError> for Failed {
    fn from(error: HubError) -> Self {
        Self { error, believed_after: 1 }
    }
}

fn failed(server: &ServerAddress, error: &ConnectError) -> Failed {
    let (kind, address) = (error.kind(), server.to_string());
    if kind == ConnectErrorKind::AuthorizationViolation {
        return Failed { error: HubError::Refused { address }, believed_after: REFUSALS };
    }
    let source = error.source().map(|source| format!(" ({source})")).unwrap_or_default();
    let refused = HubError::Connect { address, cause: format!("{kind}{source}") };
    Failed { error: refused, believed_after: if was_broken_off(error) { BREAKS } else { 1 } }
}

/// True if the server accepted the connection and then closed it, which it does while it reloads its members.
fn was_broken_off(error: &ConnectError) -> bool {
    let causes = std::iter::successors(error.source(), |&error| error.source());
    let mut kinds = causes.filter_map(|error| error.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| {
        matches!(
            kind,
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof
        )
    })
}

/// What an event of a connection makes of its state; whether that is another one.
fn follow(state: &mut Connection, event: &Event) -> bool {
    let now = match event {
        Event::Connected => Connection::Up,
        Event::ServerError(ServerError::AuthorizationViolation) => Connection::Refused,
        Event::ClientError(ClientError::Other(text))
            if *text == ConnectErrorKind::AuthorizationViolation.to_string() =>
        {
            Connection::Refused
        }
        Event::Disconnected | Event::Closed if *state == Connection::Up => Connection::Down,
        _ => *state,
    };
    std::mem::replace(state, now) != now
}

/// Doubled from attempt to attempt, and different from worker to worker: a server that comes back is not run down.
fn delay(attempt: usize) -> Duration {
    if attempt <= 1 {
        return Duration::ZERO;
    }
    let doubled = WAIT.0 * 2_u32.saturating_pow(attempt.saturating_sub(2).min(8) as u32);
    doubled.min(WAIT.1).mul_f64(rand::random_range(0.5..1.0))
}

impl FromStr for ForeignServer {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let Some((login, host)) = rest.rsplit_once('@') else {
            return Ok(Self { address: text.parse()?, password: None });
        };
        let wrong = HubError::Token("what stands before `@` is not USER:PASSWORD");
        let (user, password) = login.split_once(':').ok_or(wrong)?;
        let decoded = |text: &str| {
            decode_percent(text)
                .ok_or(HubError::Token("a `%` in USER:PASSWORD is not followed by two hexadecimal digits"))
        };
        let password = Password { user: decoded(user)?, password: decoded(password)? };
        Ok(Self { address: format!("{scheme}://{host}").parse()?, password: Some(password) })
    }
}

fn decode_percent(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>()?;
        bytes.push(crate::hex::decode::<1>(std::str::from_utf8(digits).ok()?)?[0]);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_read_and_never_printed() {
        let server: ForeignServer = "nats://me:p%40ss@box:4300".parse().unwrap();
        assert_eq!(server.address.to_string(), "nats://box:4300");
        assert_eq!(server.password, Some(Password { user: "me".to_owned(), password: "p@ss".to_owned() }));
        assert!(!format!("{server:?}").contains("p@ss"));
        let fault = "nats://me:p%4@box".parse::<ForeignServer>().unwrap_err().to_string();
        assert!(fault.contains('%') && !fault.contains("p%4"), "{fault}");
    }

    #[test]
    fn a_connection_that_was_refused_stays_so_until_it_is_there_again() {
        let mut state = Connection::Up;
        let violation = ConnectErrorKind::AuthorizationViolation.to_string();
        for (event, expected) in [
            (Event::Disconnected, Connection::Down),
            (Event::ClientError(ClientError::Other(violation)), Connection::Refused),
            (Event::Disconnected, Connection::Refused),
            (Event::Connected, Connection::Up),
        ] {
            follow(&mut state, &event);
            assert_eq!(state, expected);
        }
    }
}

//! A connection to a server, as both sides make it.

use crate::hub::{HubError, keys::UserKey, tls, token::ServerAddress};
use async_nats::{Client, ClientError, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerError};
use std::{error::Error as _, io, sync::atomic::Ordering, time::Duration};
use tokio::sync::watch;

/// How long one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(15);
/// How often the other side is asked for a sign of life: two are missed before the connection counts as lost.
const PING: Duration = Duration::from_secs(10);
/// First and longest wait before the next attempt.
const WAIT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// Number of attempts before a refusal is believed, and the pause between: a server that takes over new users refuses, or
/// closes, every connection that is just being made, whatever its key; a busy one many in a row.
const ATTEMPTS: u32 = 20;
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
    /// The server knows this user and forbids the subjects of its event: another event has the server now.
    Elsewhere,
}

/// Everything that a connection needs.
#[derive(Clone)]
pub(crate) struct Call<'a> {
    pub server: &'a ServerAddress,
    pub user: UserKey,
    /// SHA-256 of the server's certificate.
    pub certificate: [u8; 32],
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
        let (config, is_another) = tls::pinned(self.certificate);
        let options = ConnectOptions::new()
            .name(self.name)
            .custom_inbox_prefix(self.inbox)
            .connection_timeout(ATTEMPT)
            .ping_interval(PING)
            .subscription_capacity(WAITING)
            .ignore_discovered_servers()
            .require_tls(true)
            .tls_client_config(config)
            .nkey(self.user.seed())
            .reconnect_delay_callback(delay)
            .event_callback(move |event| {
                state.send_if_modified(|state| follow(state, &event));
                std::future::ready(())
            });
        let server = self.server;
        let client = options.connect(server.url()).await.map_err(|error| {
            if is_another.load(Ordering::Relaxed) {
                HubError::OtherServer(server.to_string()).into()
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
        return Failed { error: HubError::Refused(address), believed_after: ATTEMPTS };
    }
    let source = error.source().map(|source| format!(" ({source})")).unwrap_or_default();
    let refused = HubError::Connect { address, cause: format!("{kind}{source}") };
    Failed { error: refused, believed_after: if was_broken_off(error) { ATTEMPTS } else { 1 } }
}

/// True if the server accepted the connection and then closed it, which it does while it reloads its members.
fn was_broken_off(error: &ConnectError) -> bool {
    let causes = std::iter::successors(error.source(), |&error| error.source());
    let mut kinds = causes.filter_map(|error| error.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| {
        matches!(
            kind,
            // Also a plain word into the middle of the handshake.
            io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::InvalidData
        )
    })
}

/// What an event of a connection makes of its state; whether that is another one.
fn follow(state: &mut Connection, event: &Event) -> bool {
    let now = match event {
        Event::Connected => Connection::Up,
        Event::ServerError(ServerError::AuthorizationViolation) => Connection::Refused,
        Event::ServerError(ServerError::Other(text)) if text.starts_with("Permissions Violation") => {
            Connection::Elsewhere
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const FORBIDDEN: &str = "Permissions Violation for Publish to \"x\"";

    #[test]
    fn a_connection_that_was_refused_stays_so_until_it_is_there_again() {
        let mut state = Connection::Up;
        let violation = ConnectErrorKind::AuthorizationViolation.to_string();
        for (event, expected) in [
            (Event::Disconnected, Connection::Down),
            (Event::ClientError(ClientError::Other(violation)), Connection::Refused),
            (Event::Disconnected, Connection::Refused),
            (Event::Connected, Connection::Up),
            (Event::ServerError(ServerError::Other("Unknown Protocol".to_owned())), Connection::Up),
            (Event::ServerError(ServerError::Other(FORBIDDEN.to_owned())), Connection::Elsewhere),
            (Event::Disconnected, Connection::Elsewhere),
            (Event::Connected, Connection::Up),
        ] {
            follow(&mut state, &event);
            assert_eq!(state, expected);
        }
    }
}

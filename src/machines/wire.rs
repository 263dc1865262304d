//! The wire: a NATS server that carries messages and keeps none of them. What was sent may be lost or come twice.

use async_nats::{Client, ConnectOptions, Subscriber, connection::State};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, str::FromStr, sync::Arc, time::Duration};

/// Time for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a server is, and which event is meant there: `nats://HOST:PORT#EVENT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The server, without the event. It may contain a user and a password.
    pub server: String,
    /// The event's name on the wire; empty if none is given.
    pub event: String,
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (server, event) = text.split_once('#').unwrap_or((text, ""));
        if !server.starts_with("nats://") || server.len() == "nats://".len() {
            return Err(format!("`{text}` is not the address of a server, such as nats://host:4222"));
        }
        if !event.is_empty() && !is_event(event) {
            return Err(format!("`{event}` does not name an event: take the line that `renmei run` prints"));
        }
        Ok(Self { server: server.to_owned(), event: event.to_owned() })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = match self.server.rsplit_once('@') {
            Some((_, host)) => format!("nats://{host}"),
            None => self.server.clone(),
        };
        match self.event.as_str() {
            "" => f.write_str(&server),
            event => write!(f, "{server}#{event}"),
        }
    }
}

/// Whether a text is the name of an event on the wire.
fn is_event(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a text may be the name of a worker on the wire.
#[must_use]
pub fn is_worker(text: &str) -> bool {
    (8..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Nobody listens.
    #[error("no manager plays this event at the moment")]
    Nobody,
    /// No answer came in time, or the connection is gone.
    #[error("the manager does not answer: {0}")]
    Silent(String),
    /// The answer is not one.
    #[error("the manager's answer cannot be read: {0}")]
    Unreadable(String),
}

/// Makes the seal of a message: for a start of a worker, or for all; the manager's epoch; the message.
pub type MakeSeal = dyn Fn(Option<(&str, u64)>, u64, &[u8]) -> Vec<u8> + Send + Sync;
/// Checks the seal of a message, to all workers or to this one; returns the message.
pub type CheckSeal = dyn Fn(&[u8], bool) -> Result<Vec<u8>, String> + Send + Sync;

/// How a worker knows that a message is its manager's.
#[derive(Clone)]
pub enum Seals {
    /// By the server alone, which lets nobody else write.
    None,
    /// The manager's half.
    Made(Arc<MakeSeal>),
    /// The worker's half.
    Checked(Arc<CheckSeal>),
}

/// A connection to a server for the messages of one event.
#[derive(Clone)]
pub struct Wire {
    client: Client,
    event: String,
    seals: Seals,
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("event", &self.event).finish_non_exhaustive()
    }
}

impl Wire {
    /// Uses a connection.
    #[must_use]
    pub fn new(client: Client, event: &str, seals: Seals) -> Self {
        Self { client, event: event.to_owned(), seals }
    }

    /// Connects to a server, which must be there, and stays connected: whenever the connection breaks, it is made anew.
    ///
    /// # Errors
    /// Why it cannot be reached.
    pub async fn connect(address: &Address, name: &str) -> Result<Self, String> {
        let options = ConnectOptions::new()
            .name(name)
            .request_timeout(Some(PATIENCE))
            .connection_timeout(PATIENCE)
            .reconnect_delay_callback(|attempts| Duration::from_millis((100 << attempts.min(5)).min(2000)));
        let connected = options.connect(address.server.as_str()).await;
        let client = connected.map_err(|why| format!("no server can be reached at {address}: {why}"))?;
        Ok(Self::new(client, &address.event, Seals::None))
    }

    /// Whether there is a connection at the moment.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    fn subject(&self, rest: &str) -> String {
        format!("renmei.{}.{rest}", self.event)
    }

    /// Subscribes to what all workers say: subjects that end with the worker's name and the kind of the message.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn all_workers(&self) -> Result<Subscriber, String> {
        self.subscribe("res.*.*").await
    }

    /// Subscribes to `job` or `ctl` of a worker.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn to_worker(&self, worker: &str, kind: &str) -> Result<Subscriber, String> {
        self.subscribe(&format!("w.{worker}.{kind}")).await
    }

    /// Subscribes to what is said to all workers.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn to_all(&self) -> Result<Subscriber, String> {
        self.subscribe("all").await
    }

    async fn subscribe(&self, rest: &str) -> Result<Subscriber, String> {
        self.client.subscribe(self.subject(rest)).await.map_err(|why| format!("the server: {why}"))
    }

    /// Asks the manager, as a worker.
    ///
    /// # Errors
    /// See [`WireError`].
    pub async fn ask<A: DeserializeOwned>(
        &self,
        worker: &str,
        kind: &str,
        message: Vec<u8>,
    ) -> Result<A, WireError> {
        use async_nats::RequestErrorKind::NoResponders;
        let subject = self.subject(&format!("res.{worker}.{kind}"));
        match self.client.request(subject, message.into()).await {
            Ok(answer) => {
                serde_json::from_slice(&answer.payload).map_err(|why| WireError::Unreadable(why.to_string()))
            }
            Err(error) if error.kind() == NoResponders => Err(WireError::Nobody),
            Err(error) => Err(WireError::Silent(error.to_string())),
        }
    }

    /// Says something to a worker, for that start of it.
    pub async fn say_to(&self, worker: &str, session: u64, kind: &str, epoch: u64, message: &impl Serialize) {
        self.say(&format!("w.{worker}.{kind}"), Some((worker, session)), epoch, message).await;
    }

    /// Says something to all workers.
    pub async fn say_to_all(&self, epoch: u64, message: &impl Serialize) {
        self.say("all", None, epoch, message).await;
    }

    async fn say(&self, to: &str, whom: Option<(&str, u64)>, epoch: u64, message: &impl Serialize) {
        let Ok(mut message) = serde_json::to_vec(message) else { return };
        if let Seals::Made(seal) = &self.seals {
            message = seal(whom, epoch, &message);
        }
        // What does not arrive is found missing by the next sign of life.
        let _unsent = self.client.publish(self.subject(to), message.into()).await;
    }

    /// Reads what a manager says, to all workers or to one, once its seal is found right.
    ///
    /// # Errors
    /// Why it is not the manager's, or cannot be read.
    pub fn read<T: DeserializeOwned>(&self, message: &[u8], for_all: bool) -> Result<T, String> {
        let read = |message: &[u8]| serde_json::from_slice(message).map_err(|why| why.to_string());
        match &self.seals {
            Seals::Checked(open) => read(&open(message, for_all)?),
            Seals::None | Seals::Made(_) => read(message),
        }
    }

    /// Answers a request.
    pub async fn answer(&self, reply: async_nats::Subject, message: &impl Serialize) {
        if let Ok(message) = serde_json::to_vec(message) {
            let _unsent = self.client.publish(reply, message.into()).await;
        }
    }

    /// Waits until everything said is on its way.
    pub async fn flush(&self) {
        let _unsent = tokio::time::timeout(PATIENCE, self.client.flush()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_server_and_an_event_and_shows_no_password() {
        let event = "0123456789abcdef0123456789abcdef";
        let address: Address = format!("nats://ann:secret@box:4222#{event}").parse().unwrap();
        assert_eq!((address.server.as_str(), address.event.as_str()), ("nats://ann:secret@box:4222", event));
        assert_eq!(address.to_string(), format!("nats://box:4222#{event}"));
        assert_eq!("nats://box".parse::<Address>().unwrap().event, "");
        for wrong in ["box:4222", "nats://", "http://box", "nats://box#event", "nats://box#*.>"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_worker_on_the_wire_is_letters_and_digits() {
        assert!(
            is_worker("0123abcdEFGH")
                && !is_worker("short")
                && !is_worker("with.dots.in.it")
                && !is_worker("*>*>*>*>")
        );
    }
}

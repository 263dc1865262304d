//! The wire: a NATS server that carries messages and keeps none of them. What was sent may be lost or come twice.

use crate::messages::Sight;
use async_nats::{Client, Request, RequestError, Subject, SubscribeError, Subscriber, connection::State};
use hub::{
    Audience, ForeignServer, Hub, HubError, Joined, SignatureFault, Signer, Subjects, Token, Verifier,
    WorkerId,
};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt, str::FromStr, sync::Arc, time::Duration};

/// Time for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time until a board is given up that cannot be sent.
const SHOWN: Duration = Duration::from_millis(100);
/// Most bytes of a board.
pub const BOARD: usize = 256 << 10;

/// What a worker joins with: the line that a manager prints. On somebody else's server a user and a password may stand
/// before the host, `nats://USER:PASSWORD@HOST:PORT#TOKEN`.
#[derive(Clone, Debug)]
pub struct Line {
    /// The server, the event, and the manager's key.
    pub token: Token,
    /// The same server with a password, if the line has one.
    pub server: Option<ForeignServer>,
    text: Secret,
}

/// A text that is not shown.
#[derive(Clone)]
struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Line {
    /// The line as it was given, with its secrets.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text.0
    }
}

impl FromStr for Line {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        let own = Secret(text.to_owned());
        let Some((address, secret)) = text.split_once('#').filter(|(address, _)| address.contains('@'))
        else {
            return Ok(Self { token: text.parse()?, server: None, text: own });
        };
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        let token = format!("{scheme}://{host}#{secret}").parse()?;
        Ok(Self { token, server: Some(address.parse()?), text: own })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.token.fmt(f)
    }
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Nobody listens.
    #[error("no manager plays this event at the moment")]
    Nobody,
    /// The server has no answer.
    #[error("the manager does not answer: {0}")]
    Silent(#[from] RequestError),
    /// The pipe is gone.
    #[error("the manager does not answer: the connection ended")]
    Ended,
    /// No answer came in time.
    #[error("the manager does not answer: nothing for {} s", .0.as_secs())]
    Late(Duration),
    /// A pipe does not carry it.
    #[error("`{0}` is no question")]
    NoQuestion(String),
    /// The answer is not one.
    #[error("the manager's answer cannot be read: {0}")]
    Unreadable(#[from] MessageFault),
}

/// Why a message is not the manager's, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MessageFault {
    /// Its seal.
    #[error(transparent)]
    Signature(#[from] SignatureFault),
    /// Its text.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// How a worker knows that a message is its manager's.
#[derive(Clone)]
enum Seals {
    /// The manager's half.
    Made(Arc<Signer>),
    /// The worker's half.
    Checked(Arc<Mutex<Verifier>>),
}

/// A connection to a server for the messages of one event.
#[derive(Clone)]
pub struct Wire {
    client: Client,
    subjects: Subjects,
    seals: Seals,
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("subjects", &self.subjects).finish_non_exhaustive()
    }
}

impl Wire {
    /// The manager's wire: what it says is signed.
    #[must_use]
    pub fn of_manager(hub: &Hub) -> Self {
        let seals = Seals::Made(hub.signer().clone());
        Self { client: hub.client().clone(), subjects: hub.subjects(), seals }
    }

    /// A worker's wire: what it hears is checked. `session`: the one of its hello.
    #[must_use]
    pub fn of_worker(joined: &Joined, session: u64) -> Self {
        let seals = Seals::Checked(Arc::new(Mutex::new(joined.verifier(session))));
        Self { client: joined.client().clone(), subjects: joined.subjects(), seals }
    }

    /// True if there is a connection at the moment.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// The subjects of the event.
    #[must_use]
    pub fn subjects(&self) -> Subjects {
        self.subjects
    }

    /// Subscribes to what all workers say: subjects that end with the worker's name and the kind of the message.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn all_workers(&self) -> Result<Subscriber, SubscribeError> {
        self.subscribe(self.subjects.requests()).await
    }

    /// Subscribes to the boards that all workers show: subjects that end with the worker's name and the lease.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn all_boards(&self) -> Result<Subscriber, SubscribeError> {
        self.subscribe(self.subjects.boards()).await
    }

    /// Shows a board, as a worker; whether there is a way for the next one. Whether one arrives does not matter, and
    /// nothing waits for it.
    pub async fn show(&self, worker: &WorkerId, sight: &Sight) -> bool {
        let message = serde_json::to_vec(sight).unwrap_or_default();
        if !self.is_connected() || message.len() > BOARD {
            return self.is_connected();
        }
        let subject = self.subjects.board(worker, sight.lease);
        tokio::time::timeout(SHOWN, self.client.publish(subject, message.into())).await.is_ok()
    }

    /// Subscribes to `job` or `ctl` of a worker.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn to_worker(&self, worker: &WorkerId, kind: &str) -> Result<Subscriber, SubscribeError> {
        self.subscribe(self.subjects.to_worker(worker, kind)).await
    }

    /// Subscribes to what is said to all workers.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn to_all(&self) -> Result<Subscriber, SubscribeError> {
        self.subscribe(self.subjects.all()).await
    }

    async fn subscribe(&self, subject: String) -> Result<Subscriber, SubscribeError> {
        self.client.subscribe(subject).await
    }

    /// Asks the manager, as a worker.
    ///
    /// # Errors
    /// See [`WireError`].
    pub async fn ask<A: DeserializeOwned>(
        &self,
        worker: &WorkerId,
        kind: &str,
        message: Vec<u8>,
    ) -> Result<A, WireError> {
        use async_nats::RequestErrorKind::NoResponders;
        let subject = self.subjects.request(worker, kind);
        let request = Request::new().payload(message.into()).timeout(Some(PATIENCE));
        match self.client.send_request(subject, request).await {
            Ok(answer) => Ok(self.read(&answer.payload, false)?),
            Err(error) if error.kind() == NoResponders => Err(WireError::Nobody),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends a `job` or an order, `ctl`, to that start of a worker.
    pub async fn say_to(
        &self,
        id: &WorkerId,
        session: u64,
        kind: &str,
        epoch: u64,
        message: &impl Serialize,
    ) {
        let to = self.subjects.to_worker(id, kind);
        self.say(to.into(), Audience::Worker { id, session }, epoch, message).await;
    }

    /// Sends an order to all workers.
    pub async fn say_to_all(&self, epoch: u64, message: &impl Serialize) {
        self.say(self.subjects.all().into(), Audience::Everybody, epoch, message).await;
    }

    /// Sends a message under a seal; an answer goes where its request wants it.
    pub async fn say(&self, to: Subject, audience: Audience<'_>, epoch: u64, message: &impl Serialize) {
        let Ok(mut message) = serde_json::to_vec(message) else { return };
        if let Seals::Made(signer) = &self.seals {
            message = signer.seal(self.subjects.event(), audience, epoch, &message);
        }
        // What does not arrive is found missing by the next sign of life.
        let _unsent = self.client.publish(to, message.into()).await;
    }

    /// Reads what a manager says, to all workers or to one, once its seal is found right.
    ///
    /// # Errors
    /// Why it is not the manager's, or cannot be read.
    pub fn read<T: DeserializeOwned>(&self, message: &[u8], for_all: bool) -> Result<T, MessageFault> {
        let Seals::Checked(verifier) = &self.seals else { return Ok(serde_json::from_slice(message)?) };
        let mut verifier = verifier.lock();
        let opened = if for_all { verifier.open_for_all(message) } else { verifier.open(message) };
        Ok(serde_json::from_slice(opened?)?)
    }

    /// Waits until everything said is on its transport.
    pub async fn flush(&self) {
        let _unsent = tokio::time::timeout(PATIENCE, self.client.flush()).await;
    }

    /// Waits until the server has passed on everything that the manager said: it answers in order.
    pub async fn settle(&self) {
        let nobody = self.client.new_inbox();
        let request = Request::new().timeout(Some(PATIENCE));
        let _nobody_answers = self.client.send_request(nobody, request).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_have_a_password_and_shows_neither_it_nor_its_secret() {
        // A token for somebody else's server: its version, an event, a key, and the checksum.
        let secret = "AgEBAQEBAQEBAQEBAQEBAQECAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg";
        let wrong = format!("nats://ann:pass@box:4300#{secret}").parse::<Line>().unwrap_err().to_string();
        assert!(wrong.contains("incomplete or was altered") && !wrong.contains("pass"), "{wrong}");
        let wrong = "nats://ann:pass@box:4300".parse::<Line>().unwrap_err().to_string();
        assert!(wrong.contains("there is no `#`") && !wrong.contains("pass"), "{wrong}");
    }
}

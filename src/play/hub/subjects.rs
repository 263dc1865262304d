//! Names on the wire: the event, its workers, and the subjects that each of them may use.

use crate::HubError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{fmt, str::FromStr};

/// Subject on which a new worker asks to be let in. It belongs to no event, so that a worker with the token of another
/// event gets an answer.
pub const JOIN: &str = "renmei.join";

/// What inboxes of those who ask to be let in begin with.
pub(crate) const JOIN_INBOX: &str = "_INBOX_join";

/// What the manager's own inboxes begin with.
pub(crate) const MANAGER_INBOX: &str = "_INBOX_manager";
/// Where a server's answer goes that was asked to read its configuration again.
pub(crate) const RELOAD_INBOX: &str = "_INBOX_reload";

/// The subject on which a server hears that it shall read its configuration again. (nats-server 2.10)
pub(crate) fn reload(server: &str) -> String {
    format!("$SYS.REQ.SERVER.{server}.RELOAD")
}

/// An event's identity on the wire: 16 random bytes, 32 hexadecimal digits as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventId([u8; 16]);

impl EventId {
    /// A new one.
    #[must_use]
    pub fn random() -> Self {
        Self(rand::random())
    }

    /// The identity with these bytes, those of a UUID.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for EventId {
    type Err = HubError;

    /// Reads hexadecimal digits, with the dashes of a UUID or without.
    fn from_str(text: &str) -> Result<Self, HubError> {
        let digits: String = text.chars().filter(|c| *c != '-').collect();
        crate::hex::decode(&digits)
            .map(Self)
            .ok_or_else(|| HubError::EventId(text.chars().take(64).collect()))
    }
}

impl TryFrom<String> for EventId {
    type Error = HubError;

    fn try_from(text: String) -> Result<Self, HubError> {
        text.parse()
    }
}

impl From<EventId> for String {
    fn from(event: EventId) -> Self {
        event.to_string()
    }
}

/// A worker's identity on the wire, made of the public half of its key: 16 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkerId(String);

impl WorkerId {
    /// The identity of whoever has this public key, in the text form of nkeys (`U...`).
    #[must_use]
    pub fn of(public_key: &str) -> Self {
        let digest = Sha256::digest(public_key.as_bytes());
        Self(crate::hex::encode(&digest[..8]))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for WorkerId {
    type Err = HubError;

    fn from_str(text: &str) -> Result<Self, HubError> {
        match crate::hex::decode::<8>(text) {
            // Upper case would be another subject.
            Some(_) if !text.contains(|c: char| c.is_ascii_uppercase()) => Ok(Self(text.to_owned())),
            _ => Err(HubError::WorkerId(text.chars().take(64).collect())),
        }
    }
}

impl TryFrom<String> for WorkerId {
    type Error = HubError;

    fn try_from(text: String) -> Result<Self, HubError> {
        text.parse()
    }
}

impl From<WorkerId> for String {
    fn from(worker: WorkerId) -> Self {
        worker.0
    }
}

/// The subjects of an event. What a worker may publish carries its identity in the subject, so that the server proves who
/// sent it: [`Subjects::sender`] tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subjects {
    event: EventId,
}

impl Subjects {
    /// Those of an event.
    #[must_use]
    pub fn of(event: EventId) -> Self {
        Self { event }
    }

    /// The event.
    #[must_use]
    pub fn event(&self) -> EventId {
        self.event
    }

    /// Worker to manager: a request of this kind.
    #[must_use]
    pub fn request(&self, worker: &WorkerId, kind: &str) -> String {
        format!("renmei.{}.res.{worker}.{kind}", self.event)
    }

    /// The requests of all workers.
    #[must_use]
    pub fn requests(&self) -> String {
        format!("renmei.{}.res.*.*", self.event)
    }

    /// Manager to one worker: `job`, a signed job, or `ctl`, a signed order.
    #[must_use]
    pub fn to_worker(&self, worker: &WorkerId, kind: &str) -> String {
        format!("renmei.{}.w.{worker}.{kind}", self.event)
    }

    /// Manager to all workers.
    #[must_use]
    pub fn all(&self) -> String {
        format!("renmei.{}.all", self.event)
    }

    /// Worker to manager, lossy: a game in progress.
    #[must_use]
    pub fn board(&self, worker: &WorkerId, lease: impl fmt::Display) -> String {
        format!("renmei.{}.live.{worker}.{lease}", self.event)
    }

    /// The games in progress of all workers.
    #[must_use]
    pub fn boards(&self) -> String {
        format!("renmei.{}.live.*.*", self.event)
    }

    /// Name of the stream of files.
    #[must_use]
    pub fn file_stream(&self) -> String {
        format!("FILES_{}", self.event)
    }

    /// The files of the event: the subject of their stream.
    #[must_use]
    pub fn files(&self) -> String {
        format!("renmei.{}.file.>", self.event)
    }

    /// A piece of a file.
    pub(crate) fn file_piece(&self, sha256: &str, piece: u64) -> String {
        format!("renmei.{}.file.{sha256}.{piece}", self.event)
    }

    /// What says that all pieces of a file are there.
    pub(crate) fn file_complete(&self, sha256: &str) -> String {
        format!("renmei.{}.file.{sha256}.complete", self.event)
    }

    /// Where a worker asks the server for a stored piece of a file.
    pub(crate) fn file_request(&self, sha256: &str, piece: u64) -> String {
        format!("$JS.API.DIRECT.GET.{}.{}", self.file_stream(), self.file_piece(sha256, piece))
    }

    /// The worker whose request or board the server let pass on this subject; `None` for any other subject.
    #[must_use]
    pub fn sender(&self, subject: &str) -> Option<WorkerId> {
        let mut words = subject.split('.');
        (words.next()? == "renmei" && words.next()? == self.event.to_string()).then_some(())?;
        matches!(words.next()?, "res" | "live").then_some(())?;
        words.next()?.parse().ok()
    }

    /// What the inboxes of a worker begin with.
    pub(crate) fn inbox(worker: &WorkerId) -> String {
        format!("_INBOX_{worker}")
    }

    /// True if an answer sent to `reply` goes to the worker itself. Whoever answers a worker's request must ask this
    /// first: the server does not check where a sender wants its answer to go.
    #[must_use]
    pub fn is_inbox_of(worker: &WorkerId, reply: &str) -> bool {
        // On somebody else's server inboxes have their usual names; on a server of the event's own nobody reads those.
        let inboxes = [Self::inbox(worker), "_INBOX".to_owned()];
        let is_below =
            |inbox: &String| reply.strip_prefix(inbox.as_str()).is_some_and(|rest| rest.starts_with('.'));
        reply.len() < 128 && inboxes.iter().any(is_below)
    }

    /// What a worker may publish.
    pub(crate) fn worker_publishes(&self, worker: &WorkerId) -> Vec<String> {
        vec![
            self.request(worker, ">"),
            self.board(worker, "*"),
            // Reading a stored piece by its name, and nothing else of JetStream: who may make a consumer may have the
            // server write into any subject.
            format!("$JS.API.DIRECT.GET.{}.{}", self.file_stream(), self.files()),
        ]
    }

    /// What a worker may subscribe to.
    pub(crate) fn worker_subscribes(&self, worker: &WorkerId) -> Vec<String> {
        vec![self.to_worker(worker, "*"), self.all(), format!("{}.>", Self::inbox(worker))]
    }
}

//! Names on the wire: the event, its workers, and the subjects that each of them may use.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// Subject on which a new worker asks to be let in.
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

/// A new name of an event on the wire: 32 hexadecimal digits.
pub fn new_event() -> String {
    platform::content::hex(&rand::random::<[u8; 16]>())
}

/// A worker's identity on the wire, made of the public half of its key: 16 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(String);

impl WorkerId {
    /// The identity that belongs to this public key, in the text form of nkeys (`U...`).
    pub fn of(public_key: &str) -> Self {
        let digest = Sha256::digest(public_key.as_bytes());
        Self(platform::content::hex(&digest[..8]))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for WorkerId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
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

/// The subjects of an event. What a worker may publish carries its identity in the subject, so that the server proves who
/// sent it; [`Subjects::sender`] reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    event: String,
}

impl Subjects {
    /// Those of an event.
    pub fn of(event: &str) -> Self {
        Self { event: event.to_owned() }
    }

    /// The event.
    pub fn event(&self) -> &str {
        &self.event
    }

    /// Worker to manager: a request of this kind.
    pub fn request(&self, worker: &WorkerId, kind: &str) -> String {
        format!("renmei.{}.res.{worker}.{kind}", self.event)
    }

    /// The requests of all workers.
    pub fn requests(&self) -> String {
        format!("renmei.{}.res.*.*", self.event)
    }

    /// Manager to one start of a worker: `job`, or `ctl`, an order. `session` is drawn at random by each start of a worker,
    /// and stands in its hello.
    pub fn to_worker(&self, worker: &WorkerId, session: u64, kind: &str) -> String {
        format!("renmei.{}.w.{worker}.{session}.{kind}", self.event)
    }

    /// Manager to all workers.
    pub fn all(&self) -> String {
        format!("renmei.{}.all", self.event)
    }

    /// Worker to manager, lossy: a game in progress.
    pub fn board(&self, worker: &WorkerId, lease: impl fmt::Display) -> String {
        format!("renmei.{}.live.{worker}.{lease}", self.event)
    }

    /// The games in progress of all workers.
    pub fn boards(&self) -> String {
        format!("renmei.{}.live.*.*", self.event)
    }

    /// The worker whose request or board the server let pass on this subject; `None` for any other subject.
    pub fn sender(&self, subject: &str) -> Option<WorkerId> {
        let mut words = subject.split('.');
        (words.next()? == "renmei" && words.next()? == self.event).then_some(())?;
        matches!(words.next()?, "res" | "live").then_some(())?;
        words.next().map(WorkerId::from)
    }

    /// What the inboxes of a worker begin with.
    pub(crate) fn inbox(worker: &WorkerId) -> String {
        format!("_INBOX_{worker}")
    }

    /// True if an answer sent to `reply` goes to the worker itself. An answer to a worker's request is sent only where this holds:
    /// the server does not check where a sender wants its answer to go.
    pub fn is_inbox_of(worker: &WorkerId, reply: &str) -> bool {
        let rest = reply.strip_prefix(&Self::inbox(worker));
        reply.len() < 128 && rest.is_some_and(|rest| rest.starts_with('.'))
    }

    /// What a worker may publish.
    pub(crate) fn worker_publishes(&self, worker: &WorkerId) -> Vec<String> {
        vec![self.request(worker, ">"), self.board(worker, "*")]
    }

    /// What a worker may subscribe to.
    pub(crate) fn worker_subscribes(&self, worker: &WorkerId) -> Vec<String> {
        let own = format!("renmei.{}.w.{worker}.*.*", self.event);
        vec![own, self.all(), format!("{}.>", Self::inbox(worker))]
    }
}

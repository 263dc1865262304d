//! What a worker and the manager say to each other before they know each other.

use crate::{EventId, HubError, JobKey, Signer, WorkerId, members::Member};
use serde::{Deserialize, Serialize};

/// Version of these two messages.
const PROTOCOL: u32 = 1;
/// Longest request in bytes.
pub(crate) const LONGEST_REQUEST: usize = 1_024;

/// What a worker asks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub protocol: u32,
    pub event: EventId,
    /// Public half of its key.
    pub key: String,
    /// The name that it would like.
    pub name: String,
    /// Drawn at random: the answer is for this request alone.
    pub nonce: u64,
}

/// What the manager answers, signed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Welcome { key: String, id: WorkerId, name: String },
    No(String),
}

impl Request {
    pub fn new(event: EventId, key: String, name: &str) -> Self {
        Self { protocol: PROTOCOL, event, key, name: name.to_owned(), nonce: rand::random() }
    }

    /// What is wrong with it before the worker is looked at.
    pub fn fault(&self, event: EventId) -> Option<String> {
        if self.protocol != PROTOCOL {
            let (theirs, ours) = (self.protocol, PROTOCOL);
            return Some(format!(
                "it asks in protocol {theirs}, the manager speaks {ours}: install the same version on both"
            ));
        }
        let is_other = self.event != event;
        is_other
            .then(|| "its line is of another event: ask for the line that the manager prints now".to_owned())
    }
}

impl Answer {
    pub fn welcome(member: &Member) -> Self {
        Self::Welcome { key: member.key.clone(), id: member.id.clone(), name: member.name.clone() }
    }

    /// The answer to a request, signed.
    pub fn sealed(&self, signer: &Signer, request: &Request) -> Vec<u8> {
        let body = serde_json::to_vec(self).unwrap_or_default();
        signer.seal_answer(request.event, request.nonce, &body)
    }

    /// The answer to a request, if the manager has signed it.
    pub fn open(message: &[u8], key: JobKey, request: &Request) -> Result<Self, HubError> {
        let bad = |why: &str| HubError::NotAdmitted(format!("its answer is not used: {why}"));
        let body = crate::signing::open_answer(key, request.event, request.nonce, message);
        let body = body.map_err(|fault| bad(&fault.to_string()))?;
        serde_json::from_slice(body).map_err(|_| bad("another version of renmei wrote it"))
    }
}

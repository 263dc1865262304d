//! What a worker and the manager say to each other before they know each other.

use crate::hub::{WorkerId, members::Member};
use serde::{Deserialize, Serialize};

/// Version of these two messages.
const PROTOCOL: u32 = 2;
/// Longest request in bytes.
pub(crate) const LONGEST_REQUEST: usize = 1_024;

/// What a worker asks.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub protocol: u32,
    /// Public half of its key.
    pub key: String,
    /// The name that it would like.
    pub name: String,
}

/// What the manager answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    Welcome { key: String, id: WorkerId, event: String, name: String },
    No(String),
}

impl Request {
    pub fn new(key: String, name: &str) -> Self {
        Self { protocol: PROTOCOL, key, name: name.to_owned() }
    }

    /// What is wrong with it before the worker is looked at.
    pub fn fault(&self) -> Option<String> {
        let (theirs, ours) = (self.protocol, PROTOCOL);
        (theirs != ours).then(|| {
            format!(
                "it asks in protocol {theirs}, the manager speaks {ours}: install the same version on both"
            )
        })
    }
}

impl Answer {
    pub fn welcome(member: Member, event: &str) -> Self {
        Self::Welcome { key: member.key, id: member.id, event: event.to_owned(), name: member.name }
    }
}

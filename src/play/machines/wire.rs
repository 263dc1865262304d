//! A worker's wire to its manager: a NATS server that carries messages and keeps none of them. What was sent may be lost or
//! come twice.

use crate::hub::{Joined, Pieces, Subjects, WorkerId};
use crate::{
    messages::Sight,
    worker::{Audience, Input},
};
use async_nats::{Client, Request, RequestError, SubscribeError, Subscriber, connection::State};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use std::{sync::Arc, time::Duration};

/// Time for an answer; for a piece of a file, which may have much to carry before it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
const PIECE: Duration = Duration::from_secs(60);
/// Time until a board is given up that cannot be sent.
const SHOWN: Duration = Duration::from_millis(100);
/// Most bytes of a board.
pub const BOARD: usize = 256 << 10;

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Nobody listens.
    #[error("no manager plays this event at the moment")]
    Nobody,
    /// The server has no answer.
    #[error("the manager does not answer: {0}")]
    Silent(#[from] RequestError),
    /// The answer is not one.
    #[error("the manager's answer cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// A worker's connection to the server of its event.
#[derive(Clone)]
pub struct Wire {
    client: Client,
    subjects: Subjects,
    worker: WorkerId,
}

impl Wire {
    /// That of a worker that was let in.
    pub fn of(joined: &Joined) -> Self {
        let Joined { client, subjects, id, .. } = joined;
        Self { client: client.clone(), subjects: subjects.clone(), worker: id.clone() }
    }

    /// True if there is a connection at the moment.
    fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Shows a board; whether there is a way for the next one. Whether one arrives does not matter, and nothing waits for it.
    pub async fn show(&self, sight: &Sight) -> bool {
        let message = serde_json::to_vec(sight).unwrap_or_default();
        if !self.is_connected() || message.len() > BOARD {
            return self.is_connected();
        }
        let subject = self.subjects.board(&self.worker, sight.lease);
        tokio::time::timeout(SHOWN, self.client.publish(subject, message.into())).await.is_ok()
    }

    /// Begins to listen to the manager, as this start of the worker.
    ///
    /// # Errors
    /// When the connection is closed.
    pub async fn inbox(&self, session: u64) -> Result<Inbox, SubscribeError> {
        let own = |kind| self.client.subscribe(self.subjects.to_worker(&self.worker, session, kind));
        let orders = own("ctl").await?;
        let to_all = self.client.subscribe(self.subjects.all()).await?;
        Ok(Inbox { orders, to_all, jobs: own("job").await? })
    }

    /// Asks the manager.
    ///
    /// # Errors
    /// See [`WireError`].
    pub async fn ask<A: DeserializeOwned>(&self, kind: &str, message: Vec<u8>) -> Result<A, WireError> {
        use async_nats::RequestErrorKind::NoResponders;
        let subject = self.subjects.request(&self.worker, kind);
        let request = Request::new().payload(message.into()).timeout(Some(PATIENCE));
        match self.client.send_request(subject, request).await {
            Ok(answer) => Ok(serde_json::from_slice(&answer.payload)?),
            Err(error) if error.kind() == NoResponders => Err(WireError::Nobody),
            Err(error) => Err(error.into()),
        }
    }

    /// Where pieces of files come from: the manager, who answers with nothing for one that is not there.
    pub fn pieces(&self) -> Pieces {
        let (client, subject) = (self.client.clone(), self.subjects.request(&self.worker, FETCH));
        Arc::new(move |sha256, piece| {
            let (client, subject) = (client.clone(), subject.clone());
            let request = Request::new().payload(format!("{sha256} {piece}").into()).timeout(Some(PIECE));
            Box::pin(async move {
                let answer = client.send_request(subject, request).await?;
                Ok(Some(answer.payload).filter(|piece| !piece.is_empty()))
            })
        })
    }

    /// Waits until everything said is on its transport.
    pub async fn flush(&self) {
        let _unsent = tokio::time::timeout(PATIENCE, self.client.flush()).await;
    }
}

/// The kind of a request for a piece of a file.
pub const FETCH: &str = "fetch";

/// The file, by its SHA-256, and the number of the piece that a request of the kind [`FETCH`] is for.
pub fn fetched(request: &[u8]) -> Option<(&str, u64)> {
    let (sha256, piece) = str::from_utf8(request).ok()?.split_once(' ')?;
    Some((sha256, piece.parse().ok()?))
}

/// What a worker hears from its manager unasked.
pub struct Inbox {
    /// Orders to this worker.
    orders: Subscriber,
    to_all: Subscriber,
    jobs: Subscriber,
}

impl Inbox {
    /// The next order or job. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Input {
        let Self { orders, to_all, jobs } = self;
        let order = |payload: &[u8], to| Input::Order(serde_json::from_slice(payload), to);
        tokio::select! { biased;
            Some(message) = orders.next() => order(&message.payload, Audience::This),
            Some(message) = to_all.next() => order(&message.payload, Audience::All),
            Some(job) = jobs.next() => Input::Job(serde_json::from_slice(&job.payload)),
            else => std::future::pending().await,
        }
    }
}

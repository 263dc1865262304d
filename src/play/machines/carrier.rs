//! What carries messages between the desk and its machines: the NATS server of the event. Nothing here decides anything, and
//! what is carried may be lost.

use crate::hub::{Hub, Shelf, Subjects, WorkerId};
use crate::{
    manager::{Letter, Sender},
    messages::Order,
    wire::PATIENCE,
};
use arena::Say;
use async_nats::{Message, Request, SubscribeError, Subscriber, connection::State};
use futures_util::StreamExt;
use serde::Serialize;
use std::sync::Arc;
use tokio::{sync::Semaphore, time::timeout};

/// Pieces of files that are read and sent at once.
const PIECES: usize = 4;

/// What comes from machines, or from what carries their messages.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// A worker asks.
    Letter(Letter),
    /// A worker shows a game.
    Sight(Sender, Vec<u8>),
    /// A line for people.
    Say(String),
}

/// The server of an event, and what is heard over it.
pub(crate) struct Carrier {
    hub: Hub,
    /// Files that workers may ask for.
    shelf: Shelf,
    /// Pieces of files that may be read and sent at once.
    pieces: Arc<Semaphore>,
    /// What workers say, and the boards that they show.
    heard: Option<(Subscriber, Subscriber)>,
}

impl Carrier {
    pub fn new(hub: Hub, shelf: Shelf) -> Self {
        Self { hub, shelf, pieces: Arc::new(Semaphore::new(PIECES)), heard: None }
    }

    /// Listens to workers.
    ///
    /// # Errors
    /// When the connection to the server is closed.
    pub async fn open(&mut self) -> Result<(), SubscribeError> {
        let Hub { client, subjects, .. } = &self.hub;
        self.heard =
            Some((client.subscribe(subjects.requests()).await?, client.subscribe(subjects.boards()).await?));
        Ok(())
    }

    /// False if the server cannot be reached.
    pub fn is_connected(&self) -> bool {
        self.hub.client.connection_state() == State::Connected
    }

    /// The next arrival that can be read. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Arrival {
        let Some((up, sights)) = &mut self.heard else { return std::future::pending().await };
        loop {
            tokio::select! { biased;
                Some(message) = up.next() => {
                    if let Some(letter) = letter(&self.hub, message) {
                        return Arrival::Letter(letter);
                    }
                }
                notice = self.hub.next_notice() => return Arrival::Say(notice),
                // Last, as nobody waits for a board.
                Some(sight) = sights.next() => {
                    if let Some(from) = sender(&self.hub, &sight.subject) {
                        return Arrival::Sight(from, sight.payload.to_vec());
                    }
                }
            }
        }
    }

    /// Sends a message; a reply goes where its question wants it.
    pub async fn say(&self, to: String, message: &impl Serialize) {
        let Ok(message) = serde_json::to_vec(message) else { return };
        // What does not arrive is found missing by the next sign of life.
        let _unsent = self.hub.client.publish(to, message.into()).await;
    }

    /// Replies with a piece of a file, once it is read; with nothing if it is not there.
    pub fn piece(&self, to: String, sha256: String, piece: u64, say: &Say) {
        let (client, shelf, pieces) = (self.hub.client.clone(), self.shelf.clone(), self.pieces.clone());
        let say = say.clone();
        tokio::spawn(async move {
            let Ok(_turn) = pieces.acquire().await else { return };
            let found = shelf.piece(&sha256, piece).await.unwrap_or_else(|why| {
                say(&format!("a file cannot be sent: {why}"));
                None
            });
            let _unsent = client.publish(to, found.unwrap_or_default().into()).await;
            let _unsent = timeout(PATIENCE, client.flush()).await;
        });
    }

    /// Sends a `job` or an order, `ctl`, to that start of a worker.
    pub async fn say_to(&self, worker: &WorkerId, session: u64, kind: &str, message: &impl Serialize) {
        self.say(self.hub.subjects.to_worker(worker, session, kind), message).await;
    }

    /// Sends an order to all workers.
    pub async fn order_all(&self, order: &Order) {
        self.say(self.hub.subjects.all(), order).await;
    }

    /// Lets a machine of this name in no more.
    pub async fn close_door(&self, machine: &str, say: &Say) {
        self.settle().await;
        let members = self.hub.members();
        for member in members.into_iter().filter(|member| member.name == machine && !member.expelled) {
            match self.hub.expel(&member.id).await {
                Ok(_) => say(&format!("the key of machine `{machine}` opens the door no more")),
                Err(why) => say(&format!("the key of machine `{machine}` could not be taken away: {why}")),
            }
        }
    }

    /// Lets machines in again that are not dropped any more.
    pub async fn open_doors(&self, is_dropped: impl Fn(&str) -> bool, say: &Say) {
        for member in self.hub.members().into_iter().filter(|member| member.expelled) {
            let name = &member.name;
            if is_dropped(name) {
                continue;
            }
            let text = match self.hub.readmit(&member.id).await {
                Ok(_) => format!("the key of machine `{name}` opens the door again"),
                Err(why) => format!("the key of machine `{name}` could not be given back: {why}"),
            };
            say(&text);
        }
    }

    /// Ends the connection, after what was sent has left.
    pub async fn close(self) {
        self.settle().await;
        self.hub.close().await;
    }

    /// Waits until the server has passed on everything that was sent: it answers in order.
    async fn settle(&self) {
        let request = Request::new().timeout(Some(PATIENCE));
        let _nobody_answers = self.hub.client.send_request(self.hub.client.new_inbox(), request).await;
    }
}

/// A message of a worker that was let in.
fn letter(hub: &Hub, message: Message) -> Option<Letter> {
    let reply = message.reply?;
    let from = sender(hub, &message.subject)?;
    let kind = message.subject.rsplit('.').next()?.to_owned();
    // The server does not check where a sender wants its answer to go.
    Subjects::is_inbox_of(&from.id, &reply).then(|| {
        let payload = message.payload.to_vec();
        Letter { from, kind, payload, reply: reply.to_string() }
    })
}

fn sender(hub: &Hub, subject: &str) -> Option<Sender> {
    let id = hub.subjects.sender(subject)?;
    let name = hub.name_of(&id)?;
    Some(Sender { id, name })
}

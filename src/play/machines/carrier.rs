//! What carries messages between the desk and its machines: the NATS server of the event. Nothing here decides anything, and
//! what is carried may be lost.

use crate::hub::{Hub, HubNotice, MemberNames, Shelf, Subjects, WorkerId};
use crate::{
    manager::{Letter, Sender},
    messages::{Job, Order, Reply},
    wire::Wire,
};
use arena::Say;
use async_nats::{Message, SubscribeError, Subscriber};
use futures_util::StreamExt;
use referee::number::number;
use std::sync::Arc;
use tokio::sync::Semaphore;

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
    /// The names of workers by their keys.
    names: MemberNames,
    wire: Wire,
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
        let (names, wire) = (hub.member_names(), Wire::of_manager(&hub));
        Self { names, wire, hub, shelf, pieces: Arc::new(Semaphore::new(PIECES)), heard: None }
    }

    /// Listens to workers.
    ///
    /// # Errors
    /// When the connection to the server is closed.
    pub async fn open(&mut self) -> Result<(), SubscribeError> {
        self.heard = Some((self.wire.all_workers().await?, self.wire.all_boards().await?));
        Ok(())
    }

    /// False if the server cannot be reached.
    pub fn is_connected(&self) -> bool {
        self.wire.is_connected()
    }

    /// The next arrival that can be read. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Arrival {
        let Some((up, sights)) = &mut self.heard else { return std::future::pending().await };
        loop {
            let (wire, names) = (&self.wire, &self.names);
            tokio::select! { biased;
                Some(message) = up.next() => {
                    if let Some(letter) = letter(wire, names, message) {
                        return Arrival::Letter(letter);
                    }
                }
                notice = self.hub.next_notice() => return Arrival::Say(words(&notice)),
                // Last, as nobody waits for a board.
                Some(sight) = sights.next() => {
                    if let Some(from) = sender(wire, names, &sight.subject) {
                        return Arrival::Sight(from, sight.payload.to_vec());
                    }
                }
            }
        }
    }

    /// Replies to a question of a worker.
    pub async fn reply(&self, to: String, reply: &Reply) {
        self.wire.say(to.into(), reply).await;
    }

    /// Replies with a piece of a file, once it is read; with nothing if it is not there.
    pub fn piece(&self, to: String, sha256: String, piece: u64, say: &Say) {
        let (wire, shelf, pieces) = (self.wire.clone(), self.shelf.clone(), self.pieces.clone());
        let say = say.clone();
        tokio::spawn(async move {
            let Ok(_turn) = pieces.acquire().await else { return };
            let found = shelf.piece(&sha256, piece).await.unwrap_or_else(|why| {
                say(&format!("a file cannot be sent: {why}"));
                None
            });
            wire.send(to.into(), found.unwrap_or_default()).await;
            wire.flush().await;
        });
    }

    /// Sends a job to that start of a worker.
    pub async fn job(&self, worker: &WorkerId, session: u64, job: &Job) {
        self.wire.say_to(worker, session, "job", job).await;
    }

    /// Sends an order to that start of a worker.
    pub async fn order(&self, worker: &WorkerId, session: u64, order: &Order) {
        self.wire.say_to(worker, session, "ctl", order).await;
    }

    /// Sends an order to all workers.
    pub async fn order_all(&self, order: &Order) {
        self.wire.say_to_all(order).await;
    }

    /// Lets a machine of this name in no more.
    pub async fn close_door(&self, machine: &str, say: &Say) {
        self.wire.settle().await;
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
        self.wire.settle().await;
        self.hub.close().await;
    }
}

/// A message of a worker that was let in.
fn letter(wire: &Wire, names: &MemberNames, message: Message) -> Option<Letter> {
    let reply = message.reply?;
    let from = sender(wire, names, &message.subject)?;
    let kind = message.subject.rsplit('.').next()?.to_owned();
    // The server does not check where a sender wants its answer to go.
    Subjects::is_inbox_of(&from.id, &reply).then(|| {
        let payload = message.payload.to_vec();
        Letter { from, kind, payload, reply: reply.to_string() }
    })
}

fn sender(wire: &Wire, names: &MemberNames, subject: &str) -> Option<Sender> {
    let id = wire.subjects().sender(subject)?;
    let name = names.of(&id)?;
    Some(Sender { id, name })
}

/// A notice of a hub as a line for people.
fn words(notice: &HubNotice) -> String {
    match notice {
        HubNotice::Joined { name, .. } => format!("machine `{name}` was let in"),
        HubNotice::NotAdmitted { name, why } => format!("machine `{name}` was not let in: {why}"),
        HubNotice::Refused { times, last } => {
            let times = number(usize::try_from(*times).unwrap_or(usize::MAX), "connection");
            format!("nats-server refused {times} without a valid key, the last one from {last}")
        }
        HubNotice::Lost { why } => format!("nats-server ended, and is started again: {why}"),
        HubNotice::Back => "nats-server is there again".to_owned(),
        HubNotice::Complains(what) => format!("nats-server complains: {what}"),
    }
}

//! Messages over a NATS server.

use super::Arrival;
use crate::{
    manager::{KeyName, Letter, Sender},
    messages::Reply,
    wire::Wire,
};
use arena::Say;
use async_nats::{Message, SubscribeError, Subscriber};
use futures_util::StreamExt;
use hub::{Audience, Hub, HubNotice, MemberNames, Subjects, WorkerId};
use referee::number::number;

/// The server of an event, and what is heard over it.
pub(super) struct Server {
    /// The names of workers, where the server knows their keys.
    names: Option<MemberNames>,
    wire: Wire,
    hub: Hub,
    /// What workers say, and the boards that they show.
    heard: Option<(Subscriber, Subscriber)>,
}

impl Server {
    pub fn new(hub: Hub) -> Self {
        Self { names: hub.member_names(), wire: Wire::of_manager(&hub), hub, heard: None }
    }

    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    pub async fn open(&mut self) -> Result<(), SubscribeError> {
        self.heard = Some((self.wire.all_workers().await?, self.wire.all_boards().await?));
        Ok(())
    }

    pub fn is_connected(&self) -> bool {
        self.wire.is_connected()
    }

    /// The next arrival that can be read.
    pub async fn next(&mut self) -> Arrival {
        let Some((up, sights)) = &mut self.heard else { return std::future::pending().await };
        loop {
            let (wire, names) = (&self.wire, self.names.as_ref());
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

    pub async fn reply(&self, worker: &WorkerId, session: u64, to: String, epoch: u64, reply: &Reply) {
        self.wire.say(to.into(), Audience::Worker { id: worker, session }, epoch, reply).await;
    }

    pub async fn close_door(&self, machine: &str, say: &Say) {
        self.wire.settle().await;
        let members = self.hub.members();
        for member in members.into_iter().filter(|member| member.name == machine && !member.expelled) {
            match self.hub.expel(&member.id).await {
                Ok(_) => say(&format!("the key of machine `{machine}` opens the door no more")),
                // On a server of somebody else there is no key to take away.
                Err(hub::HubError::NoWorker(_)) => {}
                Err(why) => say(&format!("the key of machine `{machine}` could not be taken away: {why}")),
            }
        }
    }

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

    pub async fn close(self) {
        self.wire.settle().await;
        self.hub.close().await;
    }
}

/// A message of a worker, whose name the server has checked where it knows its workers.
fn letter(wire: &Wire, names: Option<&MemberNames>, message: Message) -> Option<Letter> {
    let reply = message.reply?;
    let from = sender(wire, names, &message.subject)?;
    let kind = message.subject.rsplit('.').next()?.to_owned();
    // The server does not check where a sender wants its answer to go.
    Subjects::is_inbox_of(&from.id, &reply).then(|| {
        let payload = message.payload.to_vec();
        Letter { from, kind, payload, reply: reply.to_string() }
    })
}

fn sender(wire: &Wire, names: Option<&MemberNames>, subject: &str) -> Option<Sender> {
    let id = wire.subjects().sender(subject)?;
    let key = match names {
        None => KeyName::Unchecked,
        Some(names) => names.of(&id).map_or(KeyName::Stranger, KeyName::Known),
    };
    Some(Sender { id, key })
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

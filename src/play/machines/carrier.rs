//! What carries messages between the desk and its machines: a server, `ssh`, or both. Nothing here decides anything, and what
//! is carried may be lost.

mod server;

use crate::{
    frame::Kind,
    manager::{Letter, Sender},
    messages::{Job, Order, Reply},
    ssh::Links,
};
use arena::Say;
use async_nats::SubscribeError;
use hub::{Hub, WorkerId};
use server::Server;

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

/// All carriers of an event.
pub(crate) struct Carriers {
    server: Option<Server>,
    links: Option<Links>,
}

impl Carriers {
    pub fn new(hub: Option<Hub>, links: Option<Links>) -> Self {
        Self { server: hub.map(Server::new), links }
    }

    /// Listens to workers.
    ///
    /// # Errors
    /// When the connection to the server is closed.
    pub async fn open(&mut self) -> Result<(), SubscribeError> {
        match &mut self.server {
            Some(server) => server.open().await,
            None => Ok(()),
        }
    }

    /// Begins to connect to hosts. The thread that this is called on has to stay.
    pub fn start(&mut self) {
        self.links.iter_mut().for_each(Links::start);
    }

    /// False if a server cannot be reached.
    pub fn is_connected(&self) -> bool {
        self.server.as_ref().is_none_or(Server::is_connected)
    }

    /// The next arrival. Nothing is lost when this future is dropped.
    pub async fn next(&mut self) -> Arrival {
        let (server, links) = (&mut self.server, &mut self.links);
        let of_server = async {
            match server {
                Some(server) => server.next().await,
                None => std::future::pending().await,
            }
        };
        let of_links = async {
            match links {
                Some(links) => links.next().await,
                None => std::future::pending().await,
            }
        };
        // By turns at random: neither keeps the other waiting.
        tokio::select! {
            arrival = of_server => arrival,
            arrival = of_links => arrival,
        }
    }

    /// The connections, if the worker has one.
    fn links_of(&self, worker: &WorkerId) -> Option<&Links> {
        self.links.as_ref().filter(|links| links.has(worker))
    }

    /// Replies to a question.
    pub async fn reply(&self, worker: &WorkerId, session: u64, to: String, epoch: u64, reply: &Reply) {
        match (self.links_of(worker), &self.server) {
            (Some(links), _) => links.answer(worker, &to, reply),
            (None, Some(server)) => server.reply(worker, session, to, epoch, reply).await,
            (None, None) => {}
        }
    }

    /// Sends a job to that start of a worker.
    pub async fn job(&self, worker: &WorkerId, session: u64, epoch: u64, job: &Job) {
        match (self.links_of(worker), &self.server) {
            (Some(links), _) => links.say_to(worker, session, Kind::Job, job),
            (None, Some(server)) => server.wire().say_to(worker, session, "job", epoch, job).await,
            (None, None) => {}
        }
    }

    /// Sends an order to that start of a worker.
    pub async fn order(&self, worker: &WorkerId, session: u64, epoch: u64, order: &Order) {
        match (self.links_of(worker), &self.server) {
            (Some(links), _) => links.say_to(worker, session, Kind::Order, order),
            (None, Some(server)) => server.wire().say_to(worker, session, "ctl", epoch, order).await,
            (None, None) => {}
        }
    }

    /// Sends an order to all workers.
    pub async fn order_all(&self, epoch: u64, order: &Order) {
        if let Some(links) = &self.links {
            links.say_to_all(order);
        }
        if let Some(server) = &self.server {
            server.wire().say_to_all(epoch, order).await;
        }
    }

    /// Lets a machine of this name in no more.
    pub async fn close_door(&self, machine: &str, say: &Say) {
        if let Some(links) = &self.links {
            links.close_door(machine);
        }
        if let Some(server) = &self.server {
            server.close_door(machine, say).await;
        }
    }

    /// Lets machines in again that are not dropped any more.
    pub async fn open_doors(&self, is_dropped: impl Fn(&str) -> bool, say: &Say) {
        if let Some(links) = &self.links {
            links.open_doors(&is_dropped);
        }
        if let Some(server) = &self.server {
            server.open_doors(&is_dropped, say).await;
        }
    }

    /// Ends the connections, after what was sent has left.
    pub async fn close(self, say: &Say) {
        if let Some(links) = self.links {
            links.close(say).await;
        }
        if let Some(server) = self.server {
            server.close().await;
        }
    }
}

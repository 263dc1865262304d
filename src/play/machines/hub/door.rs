//! The door of an event's own server: a task that lets workers in, and hears what becomes of the server.

use crate::hub::{
    HubError, JOIN, WorkerId,
    admission::{Answer, LONGEST_REQUEST, Request},
    config::Config,
    connect::Call,
    directory::Directory,
    error::TRY_AGAIN,
    keys::Keys,
    leftover::CONFIGURATION,
    members::{Admission, Member, Members},
    server::Server,
    subjects::{JOIN_INBOX, RELOAD_INBOX},
    token::ServerAddress,
};
use async_nats::{Client, Message, Subscriber};
use futures_util::{FutureExt, StreamExt};
use parking_lot::Mutex;
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

/// How long the first of several workers waits for the others, and how many are let in at once.
const COMPANY: Duration = Duration::from_millis(20);
const AT_ONCE: usize = 100;
/// New workers that may come at once, and then in a second: each costs a write and a signal to the server.
const BURST: f64 = 200.0;
const EACH_SECOND: f64 = 10.0;
/// The shortest time between two words about workers that were not let in.
const NOT_ADMITTED_INTERVAL: Duration = Duration::from_secs(1);

/// What the rest of the program wants of the door.
pub(crate) enum Order {
    SetExpelled(WorkerId, bool, oneshot::Sender<Result<Member, HubError>>),
    Close(oneshot::Sender<()>),
}

/// The workers that were let in, as the door and its owner see them.
pub(crate) type SharedMembers = Arc<Mutex<Members>>;

/// The task.
pub(crate) struct Door {
    pub directory: Directory,
    pub keys: Keys,
    pub event: String,
    pub listen: SocketAddr,
    /// The server's address as this machine reaches it.
    pub here: ServerAddress,
    pub members: SharedMembers,
    /// Lines for the operator. What nobody reads in time is lost.
    pub notices: mpsc::Sender<String>,
}

impl Door {
    /// Writes the server's configuration.
    pub fn configure(&self) -> Result<(), HubError> {
        let (manager, join) = (self.keys.manager().public(), self.keys.join().public());
        let reload = self.keys.reload().public();
        let members = self.members.lock();
        let config = Config {
            event: &self.event,
            listen: self.listen,
            directory: self.directory.root(),
            manager: &manager,
            join: &join,
            reload: &reload,
            workers: members.users(),
        };
        self.directory.write(CONFIGURATION, config.text().as_bytes())
    }

    /// Works until it is told to close.
    pub async fn run(
        self,
        server: Server,
        client: Client,
        mut requests: Subscriber,
        mut orders: mpsc::Receiver<Order>,
    ) {
        let mut throttle = Throttle { left: BURST, since: Instant::now() };
        let mut told = None;
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::SetExpelled(id, expelled, done)) => {
                        let _nobody_waits = done.send(self.set_expelled(&server, &id, expelled).await);
                    }
                    Some(Order::Close(done)) => {
                        server.stop().await;
                        let _nobody_waits = done.send(());
                        return;
                    }
                    None => return,
                },
                Some(first) = requests.next() => {
                    tokio::time::sleep(COMPANY).await;
                    let mut batch = vec![first];
                    while batch.len() < AT_ONCE {
                        let Some(Some(next)) = requests.next().now_or_never() else { break };
                        batch.push(next);
                    }
                    self.admit(&server, &client, batch, &mut throttle, &mut told).await;
                }
            }
        }
    }

    /// Answers workers that ask to be let in, after the server knows them.
    async fn admit(
        &self,
        server: &Server,
        client: &Client,
        batch: Vec<Message>,
        throttle: &mut Throttle,
        told: &mut Option<Instant>,
    ) {
        let mut answers = Vec::new();
        let mut new = Vec::new();
        for message in batch {
            let Some((request, inbox)) = read(&message) else { continue };
            let answer = match self.judge(&request, throttle) {
                Ok((member, is_new)) => {
                    new.extend(is_new.then(|| member.clone()));
                    Answer::welcome(member, &self.event)
                }
                Err(why) => {
                    if told.is_none_or(|told| told.elapsed() >= NOT_ADMITTED_INTERVAL) {
                        *told = Some(Instant::now());
                        self.tell(format!("machine `{}` was not let in: {why}", printable(&request.name)));
                    }
                    Answer::No(why)
                }
            };
            answers.push((inbox, answer));
        }
        if let Err(fault) = self.take_over(server, &new).await {
            tracing::warn!(target: "hub", "{fault}");
            for member in &new {
                self.members.lock().forget(&member.id);
            }
            let why = format!("the manager could not let it in just now: {TRY_AGAIN}");
            self.tell(complaint(&fault.to_string()));
            for (_, answer) in &mut answers {
                if matches!(answer, Answer::Welcome { id, .. } if new.iter().any(|new| new.id == *id)) {
                    *answer = Answer::No(why.clone());
                }
            }
            new.clear();
        }
        for (inbox, answer) in answers {
            // A worker that hears nothing asks again.
            let _lost = client.publish(inbox, serde_json::to_vec(&answer).unwrap_or_default().into()).await;
        }
        for member in new {
            self.tell(format!("machine `{}` was let in", member.name));
        }
    }

    /// Whether a worker is let in, and whether it is new.
    fn judge(&self, request: &Request, throttle: &mut Throttle) -> Result<(Member, bool), String> {
        if let Some(fault) = request.fault() {
            return Err(fault);
        }
        let mut members = self.members.lock();
        match members.admit(&request.key, &request.name) {
            Admission::No(why) => Err(why),
            Admission::Welcome { member, is_new } if !is_new || throttle.lets_pass(Instant::now()) => {
                Ok((member, is_new))
            }
            Admission::Welcome { member, .. } => {
                members.forget(&member.id);
                Err(format!("too many new workers come at once: {TRY_AGAIN} in a minute"))
            }
        }
    }

    /// Has the server know new workers.
    async fn take_over(&self, server: &Server, new: &[Member]) -> Result<(), HubError> {
        if new.is_empty() {
            return Ok(());
        }
        self.save()?;
        self.reload(server).await
    }

    async fn reload(&self, server: &Server) -> Result<(), HubError> {
        server.reload(self.call_to_reload()).await
    }

    /// How the server is asked by a message to read its configuration again.
    fn call_to_reload(&self) -> Call<'_> {
        Call {
            server: &self.here,
            user: self.keys.reload(),
            certificate: self.keys.certificate,
            inbox: RELOAD_INBOX,
            name: "reload",
        }
    }

    fn save(&self) -> Result<(), HubError> {
        self.members.lock().write(&self.directory)?;
        self.configure()
    }

    /// Sends a worker away, or lets it come back: the server breaks its connection, or knows its key again.
    async fn set_expelled(&self, server: &Server, id: &WorkerId, expelled: bool) -> Result<Member, HubError> {
        let member = self.members.lock().set_expelled(id, expelled)?;
        self.save()?;
        self.reload(server).await?;
        Ok(member)
    }

    fn tell(&self, notice: String) {
        let _nobody_reads = self.notices.try_send(notice);
    }
}

/// New workers that may still come.
struct Throttle {
    left: f64,
    since: Instant,
}

impl Throttle {
    fn lets_pass(&mut self, now: Instant) -> bool {
        let gained = now.saturating_duration_since(self.since).as_secs_f64() * EACH_SECOND;
        self.left = (self.left + gained).min(BURST);
        self.since = now;
        let passes = self.left >= 1.0;
        self.left -= if passes { 1.0 } else { 0.0 };
        passes
    }
}

/// Where a request wants its answer, and what it asks; none if nobody of us has written it.
fn read(message: &Message) -> Option<(Request, async_nats::Subject)> {
    let inbox = message.reply.clone()?;
    // The server does not check where a sender wants its answer to go.
    let is_fair = inbox.as_str().strip_prefix(JOIN_INBOX).is_some_and(|rest| rest.starts_with('.'));
    let fits = message.payload.len() <= LONGEST_REQUEST && inbox.len() <= 128;
    (is_fair && fits).then_some(())?;
    Some((serde_json::from_slice(&message.payload).ok()?, inbox))
}

/// The subject on which the door hears.
pub(crate) async fn subscribe(client: &Client) -> Result<Subscriber, HubError> {
    let subscribed = client.subscribe(JOIN).await;
    subscribed.map_err(|error| HubError::Connect { address: JOIN.to_owned(), cause: error.to_string() })
}

/// What the operator is told when the server does not do what it should.
pub(crate) fn complaint(what: &str) -> String {
    format!("nats-server complains: {}", printable(what))
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::{
        Hub,
        keys::Keys,
        server::{Server, Setup, ask_to_reload},
    };

    fn door(place: &std::path::Path) -> Door {
        let directory = Directory::take(&Hub::beside(&place.join("event.db"))).unwrap();
        let keys = Keys::of(&directory).unwrap();
        Door {
            members: Arc::new(Mutex::new(Members::of(&directory).unwrap())),
            directory,
            keys,
            event: crate::hub::new_event(),
            listen: ([127, 0, 0, 1], 0).into(),
            here: ServerAddress::of(([127, 0, 0, 1], 0).into()),
            notices: mpsc::channel(1).0,
        }
    }

    #[tokio::test]
    async fn a_server_reads_its_users_again_when_a_message_asks_for_it_if_it_is_new_enough() {
        if !testing::has("nats-server", testing::program("nats-server").is_some()) {
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let mut door = door(place.path());
        door.configure().unwrap();
        let setup = Setup { program: None, directory: door.directory.root().to_owned(), listen: door.listen };
        let server = Server::start(&door.directory, setup, door.notices.clone()).await.unwrap();
        door.listen.set_port(server.port);
        door.here = ServerAddress::of(door.listen);
        door.configure().unwrap();
        if let Err(why) = ask_to_reload(door.call_to_reload()).await {
            assert!(why.to_string().contains("at least version 2.10 of nats-server"), "{why}");
        }
        // The server reports a configuration that it cannot read.
        door.directory.write(CONFIGURATION, b"users: [").unwrap();
        assert!(ask_to_reload(door.call_to_reload()).await.is_err());
        server.stop().await;
    }

    #[test]
    fn new_workers_beyond_two_hundred_at_once_are_let_in_ten_a_second() {
        let start = Instant::now();
        let mut throttle = Throttle { left: BURST, since: start };
        assert_eq!((0..1_000).filter(|_| throttle.lets_pass(start)).count(), 200);
        let later = start + Duration::from_secs(1);
        assert_eq!((0..1_000).filter(|_| throttle.lets_pass(later)).count(), 10);
    }
}

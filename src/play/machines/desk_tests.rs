use super::*;
use crate::{
    manager::tests::{event, fixture, hello},
    messages::{Beat, Hello, Holding, Welcome},
    wire::Wire,
};
use journal::{EventHead, Journal, now};
use referee::entry::{Entry, Opened};
use std::{
    path::Path,
    process::{Command as Program, Stdio},
    sync::mpsc::{Receiver, channel},
};

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// An event, and its journal.
pub(crate) fn event_in(database: &Path, key: &str) -> (EventOfDesk, Journal) {
    let database = database.to_owned();
    let head = EventHead { name: "event", kind: "run", plan: "{}", fingerprint: "{}" };
    let opening = Journal::open(&database, &head).unwrap();
    let id = opening.event().event;
    let fleet = opening.writer().begin_fleet(id, key).unwrap();
    let journal = opening.start(vec![], || ()).unwrap();
    let players = vec!["a".to_owned(), "b".to_owned()];
    let opened = Opened { name: "event".to_owned(), players, format: String::new(), resumed: false };
    journal.happened(Entry::Opened(opened));
    let of_desk = EventOfDesk { database, event: id, fleet, ..event() };
    (of_desk, journal)
}

/// A desk on a server of the event's own, which knows its workers by their keys.
struct Own {
    desk: MachineDesk,
    journal: Journal,
    notes: Receiver<Note>,
    said: Arc<Mutex<Vec<String>>>,
    line: String,
    worker: Runtime,
    directory: tempfile::TempDir,
}

impl Own {
    /// `None` where there is no server to start.
    fn start() -> Option<Self> {
        if Program::new("nats-server").arg("--version").stdout(Stdio::null()).status().is_err() {
            eprintln!("not run: there is no nats-server on the path (apt install nats-server)");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let (database, event) = (directory.path().join("event.db"), crate::hub::new_event());
        let (of_desk, journal) = event_in(&database, &event);
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = said.clone();
        let say: Say = Arc::new(move |line: &str| heard.lock().push(line.to_owned()));
        let listen = "127.0.0.1:0".parse().unwrap();
        let options =
            crate::hub::ServerOptions { directory: Hub::beside(&database), listen, event, program: None };
        let mut line = String::new();
        let open = async {
            let hub = Hub::start(options).await?;
            line = hub.token.line();
            Ok(hub)
        };
        let mut desk = MachineDesk::connect(of_desk, say, open).unwrap();
        let (sender, notes) = channel();
        assert_eq!(desk.open(sender, journal.sink()).unwrap(), []);
        desk.begin().unwrap();
        let worker = Builder::new_current_thread().enable_all().build().unwrap();
        Some(Self { desk, journal, notes, said, line, worker, directory })
    }

    /// Lets a worker in by a key of its own, which lies in this directory.
    fn join(&self, directory: &str, name: &str) -> Result<crate::hub::Joined, crate::hub::HubError> {
        let directory = self.directory.path().join(directory);
        self.worker.block_on(crate::hub::join(&self.line.parse().unwrap(), &directory, name))
    }

    /// Says hello by any name.
    fn says_hello(&self, joined: &crate::hub::Joined, name: &str) -> Welcome {
        let hello = serde_json::to_vec(&Hello { name: name.to_owned(), ..hello() }).unwrap();
        self.worker.block_on(Wire::of(joined).ask("hello", hello)).unwrap()
    }

    fn machines(&self) -> Vec<String> {
        self.desk.shared.manager.lock().registry().machines().map(|machine| machine.name.clone()).collect()
    }

    /// Waits until the desk has said a line with these words.
    fn until_said(&self, words: &str) {
        let begun = Instant::now();
        while !self.said.lock().iter().any(|line| line.contains(words)) {
            assert!(begun.elapsed() < PATIENCE, "not said: {words}: {:?}", self.said.lock());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_worker_has_the_name_that_its_key_was_let_in_with_whatever_its_hello_says() {
    let Some(mut own) = Own::start() else { return };
    let evil = own.join("evil", "evil").unwrap();
    assert!(matches!(own.says_hello(&evil, "box2"), Welcome::Come(_)));
    assert_eq!(own.machines(), ["evil"]);
    own.desk.give(vec![fixture(0), fixture(1)]).unwrap();
    let (event, database) = (own.desk.shared.event, &own.desk.shared.database);
    let (kept, stored) = channel();
    own.journal.sink().when_kept(Box::new(move || _ = kept.send(())));
    stored.recv_timeout(PATIENCE).unwrap();
    let leases = Store::read(database).unwrap().open_leases(event).unwrap();
    assert_eq!(leases.iter().map(|lease| lease.machine.as_str()).collect::<Vec<_>>(), ["evil"]);
    own.until_said("machine `evil`: it calls itself `box2`");
    let honest = own.join("box2", "box2").unwrap();
    assert!(matches!(own.says_hello(&honest, "box2"), Welcome::Come(_)), "nobody has its name");
    let mut machines = own.machines();
    machines.sort();
    assert_eq!(machines, ["box2", "evil"]);
    own.desk.close(Closing::Over);
}

#[test]
fn dropping_a_machine_closes_the_door_to_the_key_that_has_played_and_to_a_new_one_until_it_is_readmitted() {
    let Some(mut own) = Own::start() else { return };
    let (evil, honest) = (own.join("evil", "evil").unwrap(), own.join("box2", "box2").unwrap());
    assert!(matches!(own.says_hello(&evil, "box2"), Welcome::Come(_)));
    assert!(matches!(own.says_hello(&honest, "box2"), Welcome::Come(_)));
    let lease = own.desk.give(vec![fixture(0), fixture(1)]).unwrap();
    let of_evil = own
        .desk
        .shared
        .manager
        .lock()
        .registry()
        .holder(Instant::now(), lease)
        .is_some_and(|(name, _)| name == "evil");
    own.desk.bar("evil", "it lies");
    own.until_said("the key of machine `evil` opens the door no more");
    let lost = own.notes.try_iter().any(|note| matches!(note, Note::Desk(DeskNote::Lost(_))));
    assert_eq!(lost, of_evil, "what evil had is played again, and nothing else");
    assert!(!own.said.lock().iter().any(|line| line.contains("`box2` opens the door no more")));
    assert!(matches!(own.says_hello(&honest, "box2"), Welcome::Come(_)), "the honest key opens the door");
    drop(evil);
    let again = own.join("evil", "evil").unwrap_err().to_string();
    assert!(again.contains("`evil` was sent away"), "{again}");
    let anew = own.join("another", "evil").unwrap_err().to_string();
    assert!(anew.contains("does not come back by a new key") && anew.contains("readmit evil"), "{anew}");
    own.desk.readmit("evil");
    own.until_said("the key of machine `evil` opens the door again");
    assert_eq!(own.join("evil", "evil").unwrap().name, "evil");
    assert_eq!(own.join("another", "evil").unwrap().name, "evil-2");
    own.desk.close(Closing::Over);
}

/// Signs of life that list 30,000 pairs each.
async fn flood(client: &async_nats::Client, event: &str, worker: &str, inbox: &str) {
    let holding = Holding { now: now(), held: (1..30_000).map(LeaseId).collect(), outbox: vec![] };
    let beat = serde_json::to_vec(&Beat { epoch: 1, session: 1, lag: 0, holding }).unwrap();
    for _ in 0..60 {
        let (subject, reply) = (format!("renmei.{event}.res.{worker}.beat"), format!("{inbox}.{worker}"));
        client.publish_with_reply(subject, reply, beat.clone().into()).await.unwrap();
    }
    client.flush().await.unwrap();
}

#[test]
fn a_worker_that_floods_before_it_has_said_hello_is_dropped_by_the_name_of_its_key() {
    let Some(mut own) = Own::start() else { return };
    let evil = own.join("evil", "evil").unwrap();
    let (event, inbox) = (evil.subjects.event(), format!("_INBOX_{}", evil.id));
    own.worker.block_on(flood(&evil.client, event, evil.id.as_str(), &inbox));
    let hinders = own.notes.iter().find_map(|note| match note {
        Note::Desk(DeskNote::Hinders(machine, _)) => Some(machine),
        _ => None,
    });
    assert_eq!(hinders.as_deref(), Some("evil"));
    own.desk.bar("evil", "it floods");
    own.until_said("the key of machine `evil` opens the door no more");
    own.desk.close(Closing::Over);
}

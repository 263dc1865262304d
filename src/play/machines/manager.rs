//! The manager of machines as a pure state machine: [`Manager::handle`] takes one [`Input`] and returns the [`Act`]s that
//! follow. Time, random numbers and messages are arguments; [`crate::desk`] carries the acts out.
//!
//! A job is sent when its lease is on the disk, and an answer is confirmed when its games are.

mod answers;
mod boards;
mod budget;
mod greeting;
mod repeats;
mod showing;
mod words;

use crate::hub::{PIECE, WorkerId};
use crate::{
    Moment,
    messages::{Back, Beat, Beaten, Job, Order, Player, Reply, Taken, Terms, Told, Verdicts},
    registry::{Hoard, LEASE, Part, Registry},
    scaling::Scaling,
    wire::{FETCH, fetched},
};
use arena::{boards::LiveBoards, desk::DeskNote, play::Fixture};
use boards::Boards;
use budget::{Budgets, Kind, Spent};
use journal::{EventId, Fleet, KnownLease};
use referee::{
    clock::Scale,
    entry::{PlayerId, Stamped},
    lease::{Lease, LeaseId},
    number::number,
    sink::SideRecord,
};
use repeats::Repeats;
use serde::de::DeserializeOwned;
use showing::Shown;
use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use words::Said;

/// Time between two looks at who is silent.
pub const LOOK: Duration = Duration::from_secs(1);
/// Most faults that one machine brings on record in a run.
const FAULTS: u32 = 20;
/// Most machines whose faults are counted one by one.
const COUNTED: usize = 1000;

/// The event of a manager.
pub struct EventOfDesk {
    /// Its database.
    pub database: PathBuf,
    /// Its row.
    pub event: EventId,
    /// Its name on the wire, and the start of this manager.
    pub fleet: Fleet,
    /// What it is played with; the epoch and the verdicts are set here.
    pub terms: Terms,
    /// Machines that the operator has dropped, each with the reason.
    pub dropped: Vec<(String, String)>,
    /// One pair in so many is played again on another machine; `None`: engines need not always play the same.
    pub repeats: Option<u64>,
    /// How clocks are scaled.
    pub scaling: Scaling,
    /// By how much the clocks of games that are played here are longer than those of the plan.
    pub scale_here: Scale,
    /// Where games are shown while machines play them.
    pub boards: Arc<LiveBoards>,
}

impl EventOfDesk {
    /// The terms of a plan; identities are by player.
    pub fn terms(plan: &plan::Plan, identities: &[Option<referee::identity::Identity>]) -> Terms {
        let identity = |at: usize| identities.get(at).cloned().flatten();
        Terms {
            epoch: 0,
            event: plan.name.clone(),
            look: plan.look,
            scaled: false,
            players: plan
                .engines
                .iter()
                .enumerate()
                .map(|(at, engine)| Player::new(engine, identity(at)))
                .collect(),
            rules: plan.rules,
            adjudication: plan.adjudication,
            verdicts: Verdicts::default(),
        }
    }
}

/// A worker as the server vouches for it.
#[derive(Clone, Debug)]
pub struct Sender {
    /// Its name on the wire.
    pub id: WorkerId,
    /// The name that its key was let in with.
    pub name: String,
}

/// A request of a worker.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Its sender.
    pub from: Sender,
    /// The last word of its subject.
    pub kind: String,
    /// Its JSON.
    pub payload: Vec<u8>,
    /// The inbox for the reply.
    pub reply: String,
}

/// An answer to a lease that is not of this run, or lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    lease: LeaseId,
    worker: WorkerId,
    sha256: String,
    reply: String,
}

impl Question {
    /// The lease that is to be looked up in the database.
    pub fn lease(&self) -> LeaseId {
        self.lease
    }
}

/// What happens to a manager.
#[derive(Debug)]
pub enum Input {
    /// A lease of an earlier run is taken over, with its games.
    Adopt(Lease, Vec<Fixture>),
    /// All leases were taken over, and there is a connection.
    Begin,
    /// The dispatcher has a pair for a machine. [`Act::Lease`] follows if one has a place.
    Give(Vec<Fixture>),
    /// A lease is on the disk.
    LeaseStored(LeaseId),
    /// Places are free and get no games; with the longest game that was played here, if places are free here, too.
    OthersWait(Option<Duration>),
    /// A worker asks.
    Letter(Letter),
    /// A worker shows a game.
    Sight(Sender, Vec<u8>),
    /// The database has been asked for a lease; `None`: it could not be read.
    LookedUp(Question, Option<Option<KnownLease>>),
    /// The games of a lease are on the disk.
    Stored(LeaseId),
    /// The event has turned the answer of a lease down.
    TurnedDown(LeaseId),
    /// The operator drops the machine of that name, and why.
    Drop(String, String),
    /// The operator lets the machine of that name join again.
    Readmit(String),
    /// [`LOOK`] is over.
    Look {
        /// True if there is a connection to the server.
        is_connected: bool,
    },
    /// No further pair begins.
    Stop,
    /// The run of this manager ends.
    Close,
}

/// What follows.
pub enum Act {
    /// Put a lease on the disk, then hand [`Input::LeaseStored`] in.
    Lease(Lease),
    /// Reply to a worker, for that start of it.
    Reply(WorkerId, u64, String, Reply),
    /// Reply with a piece of a file: its SHA-256, and the number of the piece.
    Piece(String, String, u64),
    /// Send a job to a worker, for that start of it.
    Job(WorkerId, u64, Job),
    /// Send an order to a worker, for that start of it.
    Order(WorkerId, u64, Order),
    /// Send an order to all workers.
    OrderAll(Order),
    /// Ask the database, then hand [`Input::LookedUp`] in.
    LookUp(Question),
    /// Hand the games of a lease to the dispatcher, then [`Input::Stored`] or [`Input::TurnedDown`] in.
    Played(Played),
    /// A note for the dispatcher.
    Note(DeskNote),
    /// A record for the journal.
    Keep(SideRecord),
    /// A line for people.
    Say(String),
    /// The key of the machine of that name opens the door no more.
    CloseDoor(String),
    /// The keys of machines that were dropped and are not any more open the door again.
    OpenDoors,
}

/// The games of a lease, which our referee has replayed.
#[derive(Debug, PartialEq)]
pub struct Played {
    /// The lease.
    pub lease: LeaseId,
    /// Name of the machine.
    pub machine: String,
    /// SHA-256 of the answer.
    pub sha256: String,
    /// The entries of each game.
    pub games: Vec<Vec<Stamped>>,
}

/// The source of the numbers of leases.
pub type Draw = Box<dyn FnMut() -> u64 + Send>;

/// Machines, leases, and what was said to whom.
pub struct Manager {
    event: EventOfDesk,
    registry: Registry,
    dropped: HashMap<String, String>,
    faults: HashMap<String, u32>,
    said: Said,
    budgets: Budgets,
    boards: Boards,
    shown: Shown,
    repeats: Repeats,
    /// Where the word is awaited that an answer is stored.
    awaited: HashMap<LeaseId, (WorkerId, String)>,
    looked: Option<Instant>,
    draw: Draw,
    acts: Vec<Act>,
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl Manager {
    /// The manager of an event. `draw`: random numbers for leases.
    pub fn new(event: EventOfDesk, draw: Draw) -> Self {
        Self {
            dropped: event.dropped.iter().cloned().collect(),
            boards: Boards::of(event.boards.clone()),
            event,
            registry: Registry::default(),
            faults: HashMap::new(),
            said: Said::default(),
            budgets: Budgets::default(),
            shown: Shown::default(),
            repeats: Repeats::default(),
            awaited: HashMap::new(),
            looked: None,
            draw,
            acts: vec![],
        }
    }

    /// Machines and leases.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// True if the operator has dropped the machine of that name.
    pub fn is_dropped(&self, machine: &str) -> bool {
        self.dropped.contains_key(machine)
    }

    /// Decides what follows from an input.
    pub fn handle(&mut self, now: Moment, input: Input) -> Vec<Act> {
        match input {
            Input::Adopt(lease, games) => self.registry.adopt(now.steady, &lease, games),
            Input::Begin => {
                // An earlier manager may have ended before it had opened them.
                self.act(Act::OpenDoors);
                let epoch = self.epoch();
                self.act(Act::OrderAll(Order::Hello { epoch }));
            }
            Input::Give(games) => self.give(now, games),
            Input::LeaseStored(lease) => self.send_job(now, lease, false),
            Input::OthersWait(longest) => self.others_wait(now, longest),
            Input::Letter(letter) => self.letter(now, letter),
            Input::Sight(from, payload) => {
                if self.is_read(now, &from, Kind::Boards, payload.len()) {
                    self.boards.take(&self.registry, from.id.as_str(), now.wall, &payload);
                }
            }
            Input::LookedUp(question, known) => self.looked_up(question, known),
            Input::Stored(lease) => self.stored(lease),
            Input::TurnedDown(lease) => self.turned_down(lease),
            Input::Drop(machine, why) => self.drop_machine(machine, why),
            Input::Readmit(machine) => self.readmit(&machine),
            Input::Look { is_connected } => self.look(now, is_connected),
            Input::Stop => {
                self.repeats.stop();
                self.act(Act::OrderAll(Order::Stop));
            }
            Input::Close => {
                self.boards.clear();
                self.show_end(now);
            }
        }
        std::mem::take(&mut self.acts)
    }

    fn act(&mut self, act: Act) {
        self.acts.push(act);
    }

    fn note(&mut self, note: DeskNote) {
        self.act(Act::Note(note));
    }

    fn say(&mut self, line: String) {
        self.act(Act::Say(line));
    }

    fn epoch(&self) -> u64 {
        self.event.fleet.epoch
    }

    fn reply(&mut self, worker: &WorkerId, to: String, reply: Reply) {
        let session = self.registry.session_of(worker.as_str());
        self.act(Act::Reply(worker.clone(), session, to, reply));
    }

    /// The workers of the machine of that name.
    fn workers_named(&self, machine: &str) -> Vec<WorkerId> {
        self.registry.workers_named(machine).map(WorkerId::from).collect()
    }

    fn give(&mut self, now: Moment, games: Vec<Fixture>) {
        let (lease, epoch) = (LeaseId((self.draw)()), self.epoch());
        if let Some(lease) = self.registry.give(now.steady, epoch, lease, games) {
            self.act(Act::Lease(lease));
        }
    }

    fn send_job(&mut self, now: Moment, lease: LeaseId, repeats: bool) {
        let epoch = self.epoch();
        let Some((worker, job)) = self.registry.job(now.steady, epoch, lease, repeats) else { return };
        let session = self.registry.session_of(&worker);
        self.act(Act::Job(WorkerId::from(&*worker), session, job));
    }

    /// Puts a fault of a machine on record, so many for each machine.
    fn fault(&mut self, worker: &str, player: Option<PlayerId>, text: &str) {
        let name = self.registry.name_of(worker);
        let key = if self.faults.len() < COUNTED || self.faults.contains_key(worker) { worker } else { "" };
        let count = self.faults.entry(key.to_owned()).or_default();
        *count += 1;
        let count = *count;
        self.registry.told(worker, text, true);
        if count <= FAULTS {
            let last = if count == FAULTS { "; further faults of this machine are not shown" } else { "" };
            let text = format!("machine `{name}`: {text}{last}");
            self.say(text.clone());
            self.note(DeskNote::Fault(player, text));
        }
    }

    /// Has leases played again.
    fn lost(&mut self, leases: Vec<LeaseId>) {
        leases.into_iter().for_each(|lease| self.note(DeskNote::Lost(lease)));
    }

    fn others_wait(&mut self, now: Moment, longest_here: Option<Duration>) {
        let hoards = self.registry.hoards(now.steady, longest_here);
        hoards.into_iter().for_each(|hoard| self.taken_back(hoard));
    }

    /// Reports pairs that were taken back from a machine; one that hinders the event is dropped.
    fn taken_back(&mut self, hoard: Hoard) {
        let Hoard { worker, leases, held, usual, is_last } = hoard;
        let text = format!(
            "{} taken back, which it has had for up to {} s, while others wait that need {} s at most; played again",
            number(leases.len(), "pair"),
            held.as_secs(),
            usual.as_secs().max(1)
        );
        self.fault(&worker, None, &text);
        self.lost(leases);
        if is_last {
            let why = "it brings no pair back, and others wait for those that it has";
            self.note(DeskNote::Hinders(self.registry.name_of(&worker), why.to_owned()));
        }
    }

    fn look(&mut self, now: Moment, is_connected: bool) {
        let looked = self.looked.replace(now.steady).unwrap_or(now.steady);
        // A machine that could not be heard, because this program itself was stopped, is not silent.
        if now.steady.saturating_duration_since(looked) > LOOK * 5 || !is_connected {
            self.registry.excuse(now.steady);
        } else {
            self.find_silent(now);
        }
        self.boards.look(&self.registry);
        self.show(now);
        self.repeat(now);
    }

    fn find_silent(&mut self, now: Moment) {
        for (machine, lost) in self.registry.silent(now.steady) {
            let (pairs, seconds) = (number(lost.len(), "pair"), LEASE.as_secs());
            let text =
                format!("machine `{machine}` has been silent for {seconds} s; {pairs} will be played again");
            self.say(text.clone());
            self.note(DeskNote::Fault(None, text));
            self.lost(lost);
        }
    }

    /// Takes everything from a machine, sends it the reason, and closes the door behind it.
    fn drop_machine(&mut self, machine: String, why: String) {
        for worker in self.workers_named(&machine) {
            let lost = self.registry.bar(worker.as_str(), Part::Dropped);
            self.lost(lost);
            let session = self.registry.session_of(worker.as_str());
            self.act(Act::Order(worker, session, Order::Barred { why: dropped_words(&why) }));
        }
        self.dropped.insert(machine.clone(), why);
        self.act(Act::CloseDoor(machine));
    }

    fn readmit(&mut self, machine: &str) {
        self.dropped.remove(machine);
        for worker in self.workers_named(machine) {
            self.registry.readmit(worker.as_str());
            self.budgets.forget(worker.as_str());
        }
        self.act(Act::OpenDoors);
    }

    fn letter(&mut self, now: Moment, letter: Letter) {
        let Letter { from, kind, payload, reply } = letter;
        let worker = from.id.as_str();
        let cost = match kind.as_str() {
            "result" if self.awaits(worker, &payload) => None,
            "result" => Some((Kind::Answers, payload.len())),
            FETCH => Some((Kind::Files, PIECE as usize)),
            _ => Some((Kind::Lists, payload.len())),
        };
        if cost.is_some_and(|(cost, bytes)| !self.is_read(now, &from, cost, bytes)) {
            return;
        }
        match kind.as_str() {
            FETCH => {
                if let Some((sha256, piece)) = fetched(&payload) {
                    self.act(Act::Piece(reply, sha256.to_owned(), piece));
                }
            }
            "hello" => {
                let (session, welcome) = self.hello(now, &from, &payload);
                self.act(Act::Reply(from.id, session, reply, Reply::Welcome(welcome)));
            }
            "beat" => {
                if let Some(beat) = self.read::<Beat>(worker, &payload) {
                    let beaten = self.beat(now, worker, &beat);
                    self.act(Act::Reply(from.id, beat.session, reply, Reply::Beaten(beaten)));
                }
            }
            "result" => {
                if let Some(taken) = self.played(now, &from.id, &payload, &reply) {
                    self.reply(&from.id, reply, Reply::Taken(taken));
                }
            }
            "told" | "back" if self.remark(worker, &kind, &payload).is_some() => {
                self.reply(&from.id, reply, Reply::Taken(Taken::Committed));
            }
            _ => {}
        }
    }

    /// Takes a message that is only confirmed; `None`: it cannot be read.
    fn remark(&mut self, worker: &str, kind: &str, payload: &[u8]) -> Option<()> {
        match kind {
            "told" => {
                let Told { player, text } = self.read(worker, payload)?;
                self.fault_of_engine(worker, player, &text);
            }
            _ => {
                let back = self.read::<Back>(worker, payload)?;
                self.back(worker, &back);
            }
        }
        Some(())
    }

    /// True if a message is within its worker's budget. A worker that sends far more is dropped.
    fn is_read(&mut self, now: Moment, from: &Sender, kind: Kind, bytes: usize) -> bool {
        let worker = from.id.as_str();
        match self.budgets.spend(now.steady, worker, kind, bytes) {
            Spent::Read => true,
            Spent::Left => false,
            Spent::Flood { messages, bytes } => {
                let mb = bytes >> 20;
                let why =
                    format!("it sends more than any worker needs: {messages} messages, {mb} MB left unread");
                self.fault(worker, None, &why);
                self.note(DeskNote::Hinders(from.name.clone(), why));
                false
            }
        }
    }

    fn read<T: DeserializeOwned>(&mut self, worker: &str, payload: &[u8]) -> Option<T> {
        let read = serde_json::from_slice(payload);
        read.map_err(|why| self.fault(worker, None, &format!("a message of it cannot be read: {why}"))).ok()
    }

    fn beat(&mut self, now: Moment, worker: &str, beat: &Beat) -> Beaten {
        let (beaten, missing) = self.registry.beat(now.steady, now.wall, worker, self.epoch(), beat);
        if !missing.is_empty() {
            let text = format!("{} did not reach it: played again", number(missing.len(), "pair"));
            self.fault(worker, None, &text);
        }
        self.lost(missing);
        // A place may have become one again by this sign of life.
        self.note(DeskNote::Free);
        match beaten {
            Beaten::Known(verdicts) => Beaten::Known(self.with_boards(worker, verdicts)),
            Beaten::HelloAgain => beaten,
        }
    }

    /// Verdicts with the number of boards that the worker is asked for.
    fn with_boards(&self, worker: &str, verdicts: Verdicts) -> Verdicts {
        Verdicts { boards: self.boards.asked(&self.registry, worker), ..verdicts }
    }

    /// Puts a fault on record that a worker reports, of an engine if it names one.
    fn fault_of_engine(&mut self, worker: &str, player: Option<PlayerId>, text: &str) {
        let text: String = text.chars().take(2000).collect();
        let player = player.filter(|player| player.index() < self.event.terms.players.len());
        self.fault(worker, player, &notation::printable_lines(&text));
    }

    fn back(&mut self, worker: &str, back: &Back) {
        let lost = self.registry.back(worker, &back.leases, back.leaves);
        if !back.why.is_empty() {
            self.fault_of_engine(worker, back.player, &back.why);
        } else if back.leaves {
            let name = self.registry.name_of(worker);
            self.say(format!("machine `{name}` leaves, and gives {} back", number(lost.len(), "pair")));
        }
        self.lost(lost);
    }
}

/// The reason that a dropped machine is sent.
fn dropped_words(reason: &str) -> String {
    match reason {
        "" => "the operator has dropped this machine".to_owned(),
        reason => format!("the operator has dropped this machine: {reason}"),
    }
}

#[cfg(test)]
#[path = "manager_tests.rs"]
pub(crate) mod tests;

//! One manager and its workers over a simulated network: quinn-proto's `Pair`, with time advanced by hand. Every run is a
//! seed. For its first part the network loses, doubles, reorders and delays messages, connections break, either side is
//! killed and started again, machines freeze, disks are full, and the operator drops and readmits machines; then it is calm,
//! and the event has to end.

use crate::hub::{Connection, WorkerId};
use crate::{
    Moment,
    manager::{
        Act, Input, Letter, Manager, Played, Sender,
        tests::{event, fixture, hello, played},
    },
    messages::{Hello, Holding, Job, Order, Reply, Terms, Welcome},
    worker::{self, Audience, Ended, GameOver, Heard, Request, Worker},
};
use arena::{Unplayed, desk::DeskNote};
use journal::{Fleet, KnownLease};
use referee::{
    AbortBy, Outcome,
    entry::{Entry, GameId, Stamped},
    lease::{Lease, LeaseId, Presence},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
    path::PathBuf,
    sync::LazyLock,
    time::{Duration, Instant},
};
use testing::Random;

/// Pairs of an event, and machines that play it.
const PAIRS: u64 = 6;
const MACHINES: usize = 3;
/// Time of a run, in ms, from which on nothing fails; until which all pairs are counted; and the time after which no answer
/// waits on a disk any more.
const CALM: u64 = 35_000;
const PATIENCE: u64 = CALM + 120_000;
const DELIVERED: u64 = 15_000;
/// Time for a reply, in ms.
const REPLY: u64 = 5_000;
/// The steady clock of all runs begins here.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// The game of each place.
static GAMES: LazyLock<Vec<Vec<Stamped>>> = LazyLock::new(|| (0..2 * PAIRS).map(played).collect());

/// What a worker asked, and waits for.
#[derive(Clone, Copy)]
enum Asked {
    Hello,
    Beat,
    Answer(LeaseId),
}

#[derive(Clone)]
enum Mail {
    Reply(u64, Reply),
    Job(Job),
    Order(Order, Audience),
}

enum Event {
    /// A request arrives, of this start of a worker.
    Up(usize, Letter),
    /// A message arrives for this start of a worker.
    Down(usize, u64, Mail),
    /// No reply has come.
    Silence(usize, u64, u64),
    /// A game ends on a machine: its number, its place, and how.
    Game(usize, u64, GameId, u64, Result<Outcome, Unplayed>),
    Tick(usize, u64),
    /// The connection of a machine is there again.
    Up2(usize, u64),
    Start(usize),
    Kill(usize),
    Freeze(usize),
    Cut(usize),
    Drop(usize),
    Readmit(usize),
    Look(u64),
    KillManager,
    StartManager,
    /// The dispatcher of this manager hears of a lease.
    Note(u64, DeskNote),
    Answered(u64, Played),
    /// The journal has written a lease, or the games of one with this hash.
    Leased(u64, Lease),
    Written(u64, LeaseId, String),
    Tell(u64, Input),
}

/// A machine, whose disk outlives its worker.
struct Machine {
    id: WorkerId,
    name: String,
    session: u64,
    worker: Option<Worker>,
    outbox: BTreeMap<LeaseId, Vec<u8>>,
    asked: HashMap<u64, Asked>,
    frozen: u64,
    cut: u64,
    is_over: bool,
}

/// A row of the leases in the database.
struct Row {
    known: KnownLease,
    pair: u64,
}

struct World {
    random: Random,
    /// Percent of messages that are lost, and that come twice; and most ms on the transport.
    loses: u64,
    doubles: u64,
    delays: u64,
    now: u64,
    queue: BTreeMap<(u64, u64), Event>,
    events: u64,
    asks: u64,
    machines: Vec<Machine>,
    manager: Option<Manager>,
    epoch: u64,
    /// Time at which the dispatcher has heard all notes so far.
    heard: u64,
    /// The database: leases in the order in which they were issued, and those whose games were taken out again.
    rows: BTreeMap<LeaseId, Row>,
    issued: Vec<LeaseId>,
    annulled: BTreeSet<LeaseId>,
    dropped: BTreeMap<String, String>,
    /// The dispatcher's: pairs to be played, pairs that are away, pairs that count.
    pending: Vec<u64>,
    away: BTreeMap<LeaseId, (u64, String)>,
    counted: BTreeMap<u64, LeaseId>,
    complaint: Option<String>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let (loses, doubles) = (random.below(40), random.below(20));
        let delays = [20, 200, 3_000][random.below(3) as usize];
        let machine = |at: usize| Machine {
            id: WorkerId::from(&*format!("{at:016x}")),
            name: format!("box{at}"),
            session: 0,
            worker: None,
            outbox: BTreeMap::new(),
            asked: HashMap::new(),
            frozen: 0,
            cut: 0,
            is_over: false,
        };
        let mut world = Self {
            random,
            loses,
            doubles,
            delays,
            now: 0,
            queue: BTreeMap::new(),
            events: 0,
            asks: 0,
            machines: (0..MACHINES).map(machine).collect(),
            manager: None,
            epoch: 0,
            heard: 0,
            rows: BTreeMap::new(),
            issued: vec![],
            annulled: BTreeSet::new(),
            dropped: BTreeMap::new(),
            pending: vec![],
            away: BTreeMap::new(),
            counted: BTreeMap::new(),
            complaint: None,
        };
        world.plan();
        world
    }

    /// Draws what will go wrong, and when.
    fn plan(&mut self) {
        self.after(0, Event::StartManager);
        (0..MACHINES).for_each(|at| {
            let first = self.random.below(3_000);
            self.after(first, Event::Start(at));
        });
        for _ in 0..self.random.below(10) {
            let (at, machine) =
                (self.random.below(CALM - 5_000), self.random.below(MACHINES as u64) as usize);
            let event = match self.random.below(7) {
                0 => Event::Kill(machine),
                1 => Event::Freeze(machine),
                2 => Event::Cut(machine),
                3 => Event::KillManager,
                _ => Event::Drop(machine),
            };
            self.after(at, event);
        }
        // All machines take part in the calm.
        (0..MACHINES).for_each(|at| self.after(CALM, Event::Readmit(at)));
    }

    fn after(&mut self, ms: u64, event: Event) {
        self.events += 1;
        self.queue.insert((self.now + ms, self.events), event);
    }

    fn moment(&self) -> Moment {
        Moment {
            steady: *BEGUN + Duration::from_millis(self.now),
            wall: 1_700_000_000_000 + self.now.cast_signed(),
        }
    }

    fn is_calm(&self) -> bool {
        self.now >= CALM
    }

    /// Sends something that may be lost, come twice, or late.
    fn carry(&mut self, machine: usize, event: impl Fn() -> Event) {
        let is_calm = self.is_calm();
        if !is_calm && (self.now < self.machines[machine].cut || self.random.chance(self.loses)) {
            return;
        }
        let times = if !is_calm && self.random.chance(self.doubles) { 2 } else { 1 };
        for _ in 0..times {
            let ms = 1 + self.random.below(if is_calm { 20 } else { self.delays });
            self.after(ms, event());
        }
    }

    fn run(&mut self) -> Result<(), String> {
        let mut counted_at = None;
        while let Some(((at, _), event)) = self.queue.pop_first() {
            self.now = at;
            self.happen(event);
            if let Some(why) = self.complaint.take() {
                return Err(why);
            }
            let all = self.counted.len() as u64 == PAIRS && self.pending.is_empty() && self.away.is_empty();
            match counted_at {
                Some(at) if self.now > at + DELIVERED => return self.end(),
                Some(_) => {}
                None if all && self.is_calm() => counted_at = Some(self.now),
                None if self.now > PATIENCE => return Err(self.stuck()),
                None => {}
            }
        }
        Err("nothing happens any more".to_owned())
    }

    fn stuck(&self) -> String {
        format!(
            "the event does not end: {} counted, pending {:?}, away {:?}, manager {:?}",
            self.counted.len(),
            self.pending,
            self.away,
            self.manager.as_ref().map(|manager| manager.registry().states(self.moment().steady, 0))
        )
    }

    /// The event is over: nothing waits for ever, everything is on the disk once, and all hear of it.
    fn end(&mut self) -> Result<(), String> {
        for pair in 0..PAIRS {
            let is_stored = |row: &&Row| {
                row.pair == pair
                    && row.known.sha256.is_some()
                    && !self.annulled.contains(&row.known.lease.lease)
            };
            let times = self.rows.values().filter(is_stored).count();
            if times != 1 {
                return Err(format!("pair {pair} counts {times} times"));
            }
        }
        for machine in &self.machines {
            let name = &machine.name;
            if !machine.outbox.is_empty() {
                return Err(format!("answers of `{name}` wait for ever: {:?}", machine.outbox.keys()));
            }
            let Some(worker) = &machine.worker else { return Err(format!("`{name}` never comes back")) };
            if !worker.leases().is_empty() {
                return Err(format!("`{name}` has pairs that nobody wants: {:?}", worker.leases()));
            }
        }
        let states =
            self.manager.iter().flat_map(|manager| manager.registry().states(self.moment().steady, 0));
        if let Some(left) = states.into_iter().find(|state| state.presence != Presence::Here) {
            return Err(format!("`{}` gets no pair any more, and does not know: {left:?}", left.name));
        }
        for at in 0..MACHINES {
            self.worker(at, worker::Input::Order(Ok(Order::Over), Audience::All));
            if !self.machines[at].is_over {
                return Err(format!("`{}` does not end", self.machines[at].name));
            }
        }
        Ok(())
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Up(at, letter) if self.is_frozen(at) => self.again(at, Event::Up(at, letter)),
            Event::Down(at, session, mail) if self.is_frozen(at) => {
                self.again(at, Event::Down(at, session, mail));
            }
            Event::Tick(at, session) if self.is_frozen(at) => self.again(at, Event::Tick(at, session)),
            Event::Up(_, letter) => self.manager(Input::Letter(letter)),
            Event::Down(at, session, mail) if self.machines[at].session == session => self.mail(at, mail),
            Event::Silence(at, session, ask) if self.machines[at].session == session => {
                self.reply(at, ask, None);
            }
            Event::Game(at, session, game, place, outcome) if self.machines[at].session == session => {
                self.game_over(at, game, place, outcome);
            }
            Event::Tick(at, session) if self.machines[at].session == session => {
                self.after(1_000, Event::Tick(at, session));
                self.worker(at, worker::Input::Tick(Connection::Up));
            }
            Event::Up2(at, session) if self.machines[at].session == session => {
                self.worker(at, worker::Input::Connection(Connection::Up));
            }
            Event::Start(at) => self.start(at),
            Event::Kill(at) => self.kill(at),
            Event::Freeze(at) => self.machines[at].frozen = self.now + 2_000 + self.random.below(12_000),
            Event::Cut(at) => self.cut(at),
            Event::Drop(at) => self.drop_machine(at),
            Event::Readmit(at) => self.readmit(at),
            Event::KillManager => self.kill_manager(),
            Event::StartManager => self.start_manager(),
            Event::Look(epoch) if self.is_run(epoch) => {
                self.after(1_000, Event::Look(epoch));
                self.manager(Input::Look { is_connected: true });
                self.fill();
            }
            Event::Note(epoch, note) if self.is_run(epoch) => self.note(note),
            Event::Answered(epoch, played) if self.is_run(epoch) => self.answered(played),
            Event::Tell(epoch, input) if self.is_run(epoch) => self.manager(input),
            Event::Leased(epoch, lease) if self.is_run(epoch) => {
                let (id, pair) = (lease.lease, lease.games[0].pair);
                self.rows.insert(id, Row { known: KnownLease { lease, sha256: None }, pair });
                self.issued.push(id);
                self.manager(Input::LeaseStored(id));
            }
            Event::Written(epoch, lease, sha256) if self.is_run(epoch) => {
                self.rows.get_mut(&lease).unwrap().known.sha256 = Some(sha256);
                self.manager(Input::Stored(lease));
            }
            // Of a process that is gone.
            _ => {}
        }
    }

    fn is_frozen(&self, at: usize) -> bool {
        self.now < self.machines[at].frozen
    }

    fn again(&mut self, at: usize, event: Event) {
        self.after(self.machines[at].frozen - self.now, event);
    }

    fn is_run(&self, epoch: u64) -> bool {
        self.manager.is_some() && self.epoch == epoch
    }
}

/// The machines.
impl World {
    fn start(&mut self, at: usize) {
        if self.machines[at].worker.is_some() || self.machines[at].is_over {
            return;
        }
        let outbox: BTreeSet<LeaseId> = self.machines[at].outbox.keys().copied().collect();
        let session = self.random.draw();
        let holding =
            Holding { now: self.moment().wall, held: vec![], outbox: outbox.iter().copied().collect() };
        let name = self.machines[at].name.clone();
        let hello = Hello { session, name, slots: 1 + at, ready: false, holding, ..hello() };
        let Some(terms) = self.first_terms(at, &hello) else { return self.after(2_000, Event::Start(at)) };
        let machine = &mut self.machines[at];
        (machine.session, machine.frozen) = (session, 0);
        machine.asked.clear();
        let worker = Worker::new(self.moment(), hello, terms, vec![1; 1 + at], outbox);
        self.machines[at].worker = Some(worker);
        self.worker(at, worker::Input::Begin);
        self.after(1_000, Event::Tick(at, session));
    }

    /// The hello of a worker that looks at its engines first; it waits for the reply.
    fn first_terms(&mut self, at: usize, hello: &Hello) -> Option<Terms> {
        let (kind, payload) = ("hello".to_owned(), serde_json::to_vec(hello).unwrap());
        let letter = Letter { from: self.sender(at), kind, payload, reply: "first".to_owned() };
        let now = self.moment();
        let mut terms = None;
        for act in self.manager.as_mut()?.handle(now, Input::Letter(letter)) {
            match act {
                Act::Reply(_, _, _, Reply::Welcome(Welcome::Come(come))) => terms = Some(*come),
                other => self.perform(other),
            }
        }
        terms
    }

    fn sender(&self, at: usize) -> Sender {
        let machine = &self.machines[at];
        Sender { id: machine.id.clone(), name: machine.name.clone() }
    }

    fn kill(&mut self, at: usize) {
        let machine = &mut self.machines[at];
        (machine.worker, machine.session, machine.frozen) = (None, 0, 0);
        let pause = 500 + self.random.below(10_000);
        self.after(pause, Event::Start(at));
    }

    fn cut(&mut self, at: usize) {
        let ms = 500 + self.random.below(20_000);
        let machine = &mut self.machines[at];
        machine.cut = self.now + ms;
        let session = machine.session;
        self.after(ms, Event::Up2(at, session));
    }

    fn mail(&mut self, at: usize, mail: Mail) {
        match mail {
            Mail::Reply(ask, reply) => self.reply(at, ask, Some(reply)),
            Mail::Job(job) => self.worker(at, worker::Input::Job(Ok(job))),
            Mail::Order(order, audience) => self.worker(at, worker::Input::Order(Ok(order), audience)),
        }
    }

    /// The first reply to a question counts, or that there was none.
    fn reply(&mut self, at: usize, ask: u64, reply: Option<Reply>) {
        let Some(asked) = self.machines[at].asked.remove(&ask) else { return };
        let heard = match (asked, reply) {
            (Asked::Hello, Some(Reply::Welcome(welcome))) => Heard::Welcome(Some(welcome)),
            (Asked::Hello, _) => Heard::Welcome(None),
            (Asked::Beat, Some(Reply::Beaten(beaten))) => Heard::Beaten(Some(beaten)),
            (Asked::Beat, _) => Heard::Beaten(None),
            (Asked::Answer(lease), Some(Reply::Taken(taken))) => Heard::Taken(lease, Some(taken)),
            (Asked::Answer(lease), _) => Heard::Taken(lease, None),
        };
        self.worker(at, worker::Input::Heard(heard));
    }

    fn game_over(&mut self, at: usize, game: GameId, place: u64, outcome: Result<Outcome, Unplayed>) {
        let mut entries = GAMES[place as usize].clone();
        let end = match entries.pop().map(|stamped| stamped.entry) {
            Some(Entry::GameEnded(end)) => end,
            _ => panic!("a game has no end"),
        };
        let ended = (outcome == Ok(end.outcome)).then_some(end);
        self.worker(at, worker::Input::Over(GameOver { game, entries, ended, outcome }));
    }

    fn worker(&mut self, at: usize, input: worker::Input) {
        let now = self.moment();
        let Some(worker) = &mut self.machines[at].worker else { return };
        for act in worker.handle(now, input) {
            self.work(at, act);
        }
        if self.machines[at].worker.as_ref().is_some_and(Worker::is_done) {
            let Some(worker) = self.machines[at].worker.take() else { return };
            let farewell = worker.end();
            if let Some(back) = farewell.back {
                self.work(at, worker::Act::Ask(Request::Back(back)));
            }
            self.machines[at].session = 0;
            match farewell.ended {
                Ok(Ended::Over) => self.machines[at].is_over = true,
                _ => self.after(1_000, Event::Start(at)),
            }
        }
    }

    fn work(&mut self, at: usize, act: worker::Act) {
        let session = self.machines[at].session;
        match act {
            worker::Act::Ask(request) => {
                let asked = match &request {
                    Request::Hello(_) => Some(Asked::Hello),
                    Request::Beat(_) => Some(Asked::Beat),
                    Request::Told(_) | Request::Back(_) => None,
                };
                self.ask(at, request.kind(), serde_json::to_vec(&request).unwrap(), asked);
            }
            worker::Act::Send(lease) => {
                let answer = self.machines[at].outbox[&lease].clone();
                self.ask(at, "result", answer, Some(Asked::Answer(lease)));
            }
            worker::Act::Keep(lease, bytes) => {
                let is_full = !self.is_calm() && self.random.chance(2);
                if !is_full {
                    self.machines[at].outbox.insert(lease, bytes);
                }
                let kept = if is_full {
                    Err(worker::NotKept::Io(PathBuf::new(), io::Error::other("no space left")))
                } else {
                    Ok(())
                };
                self.worker(at, worker::Input::Kept(lease, kept));
            }
            worker::Act::Forget(lease) => _ = self.machines[at].outbox.remove(&lease),
            worker::Act::Play(_, fixture) => {
                let place = fixture.pairing.index;
                let Entry::GameEnded(end) = &GAMES[place as usize].last().unwrap().entry else { panic!() };
                let outcome = match self.random.below(50) {
                    0 if !self.is_calm() => Err(Unplayed::Panicked),
                    _ => Ok(end.outcome),
                };
                let longest = [1_000, 1_000, 8_000, 20_000][self.random.below(4) as usize];
                let ms = 100 + self.random.below(longest);
                self.after(ms, Event::Game(at, session, fixture.setup.game, place, outcome));
            }
            worker::Act::Stop(game) => {
                let stopped = Ok(Outcome::Aborted { by: AbortBy::Stopped });
                self.after(5, Event::Game(at, session, game, 0, stopped));
            }
            worker::Act::Say(_) => {}
        }
    }

    fn ask(&mut self, at: usize, kind: &str, payload: Vec<u8>, asked: Option<Asked>) {
        self.asks += 1;
        let (ask, session, from) = (self.asks, self.machines[at].session, self.sender(at));
        if let Some(asked) = asked {
            self.machines[at].asked.insert(ask, asked);
            self.after(REPLY, Event::Silence(at, session, ask));
        }
        let letter = Letter { from, kind: kind.to_owned(), payload, reply: format!("_INBOX.{ask}") };
        self.carry(at, || Event::Up(at, letter.clone()));
    }
}

/// The manager, its dispatcher, and its journal.
impl World {
    fn start_manager(&mut self) {
        if self.manager.is_some() {
            return;
        }
        self.epoch += 1;
        let fleet = Fleet { key: String::new(), epoch: self.epoch, reference: None };
        let dropped = self.dropped.iter().map(|(name, why)| (name.clone(), why.clone())).collect();
        let mut leases = Random(self.random.draw());
        let event = crate::manager::EventOfDesk { fleet, dropped, ..event() };
        self.manager = Some(Manager::new(event, Box::new(move || leases.draw())));
        let count = |row: &Row| {
            let lease = row.known.lease.lease;
            (row.known.sha256.is_some() && !self.annulled.contains(&lease)).then_some((row.pair, lease))
        };
        self.counted = self.rows.values().filter_map(count).collect();
        self.away.clear();
        let (mut taken, mut adopted) = (BTreeSet::new(), vec![]);
        for lease in self.issued.iter().rev() {
            let row = &self.rows[lease];
            let is_open = row.known.sha256.is_none() && taken.insert(row.pair);
            if is_open && !self.counted.contains_key(&row.pair) {
                adopted.push((row.pair, row.known.lease.clone()));
            }
        }
        for (pair, lease) in adopted {
            self.away.insert(lease.lease, (pair, lease.machine.clone()));
            self.manager(Input::Adopt(lease, vec![fixture(2 * pair), fixture(2 * pair + 1)]));
        }
        let is_away = |pair: &u64| self.away.values().any(|(away, _)| away == pair);
        self.pending = (0..PAIRS).filter(|pair| !self.counted.contains_key(pair) && !is_away(pair)).collect();
        self.manager(Input::Begin);
        self.after(1_000, Event::Look(self.epoch));
    }

    fn kill_manager(&mut self) {
        self.manager = None;
        let pause = 200 + self.random.below(8_000);
        self.after(pause, Event::StartManager);
    }

    fn manager(&mut self, input: Input) {
        let now = self.moment();
        let Some(manager) = &mut self.manager else { return };
        for act in manager.handle(now, input) {
            self.perform(act);
        }
    }

    fn perform(&mut self, act: Act) {
        let epoch = self.epoch;
        match act {
            Act::Lease(lease) => {
                let ms = self.random.below(100);
                self.after(ms, Event::Leased(epoch, lease));
            }
            Act::Reply(worker, session, to, reply) => {
                if let Some(ask) = to.strip_prefix("_INBOX.").and_then(|ask| ask.parse().ok()) {
                    self.send(&worker, session, &Mail::Reply(ask, reply));
                }
            }
            Act::Job(worker, session, job) => self.send(&worker, session, &Mail::Job(job)),
            Act::Order(worker, session, order) => {
                self.send(&worker, session, &Mail::Order(order, Audience::This));
            }
            Act::OrderAll(order) => {
                for at in 0..MACHINES {
                    let (id, session) = (self.machines[at].id.clone(), self.machines[at].session);
                    self.send(&id, session, &Mail::Order(order.clone(), Audience::All));
                }
            }
            Act::LookUp(question) => {
                let known = self.rows.get(&question.lease()).map(|row| row.known.clone());
                self.manager(Input::LookedUp(question, Some(known)));
            }
            Act::Played(played) => self.mailbox(Event::Answered(epoch, played)),
            Act::Note(note) => self.mailbox(Event::Note(epoch, note)),
            Act::Piece(..) | Act::Keep(_) | Act::Say(_) | Act::CloseDoor(_) | Act::OpenDoors => {}
        }
    }

    /// The dispatcher's mailbox keeps the order.
    fn mailbox(&mut self, event: Event) {
        self.heard = self.heard.max(self.now + self.random.below(30));
        self.after(self.heard - self.now, event);
    }

    fn send(&mut self, worker: &WorkerId, session: u64, mail: &Mail) {
        let at = self.machines.iter().position(|machine| machine.id == *worker).unwrap();
        self.carry(at, || Event::Down(at, session, mail.clone()));
    }

    fn note(&mut self, note: DeskNote) {
        match note {
            DeskNote::Lost(lease) => self.lost(lease),
            DeskNote::Hinders(machine, why) => self.complain(format!("`{machine}` hinders: {why}")),
            DeskNote::Free | DeskNote::Fault(..) | DeskNote::Played(_) => {}
        }
        self.fill();
    }

    fn complain(&mut self, why: String) {
        self.complaint = Some(why);
    }

    fn lost(&mut self, lease: LeaseId) {
        match self.away.remove(&lease) {
            Some((pair, _)) => self.pending.push(pair),
            None => self.complain(format!("lease {lease} ends once more")),
        }
    }

    /// The dispatcher takes games into the event, unless their machine was dropped.
    fn answered(&mut self, played: Played) {
        let Played { lease, machine, sha256, .. } = played;
        let (epoch, ms) = (self.epoch, self.random.below(200));
        if self.dropped.contains_key(&machine) {
            self.lost(lease);
            self.after(ms, Event::Tell(epoch, Input::TurnedDown(lease)));
            return;
        }
        let Some((pair, _)) = self.away.remove(&lease) else {
            return self.complain(format!("lease {lease} is answered after its end"));
        };
        if self.counted.insert(pair, lease).is_some() {
            self.complain(format!("pair {pair} is counted twice"));
        }
        self.after(ms, Event::Written(epoch, lease, sha256));
    }

    fn fill(&mut self) {
        let now = self.moment();
        while let Some(pair) = self.pending.last().copied() {
            let Some(manager) = &mut self.manager else { return };
            let games = vec![fixture(2 * pair), fixture(2 * pair + 1)];
            let acts = manager.handle(now, Input::Give(games));
            let Some(Act::Lease(lease)) = acts.first() else { return };
            self.pending.pop();
            self.away.insert(lease.lease, (pair, lease.machine.clone()));
            acts.into_iter().for_each(|act| self.perform(act));
        }
    }

    /// The operator drops a machine: nothing that it has played counts.
    fn drop_machine(&mut self, at: usize) {
        let name = self.machines[at].name.clone();
        if self.manager.is_none() || self.dropped.contains_key(&name) {
            return;
        }
        self.dropped.insert(name.clone(), "a mistake".to_owned());
        let of_it = |lease: &LeaseId| self.rows.get(lease).is_some_and(|row| row.known.lease.machine == name);
        let annulled: Vec<(u64, LeaseId)> = self
            .counted
            .iter()
            .filter(|(_, lease)| of_it(lease))
            .map(|(pair, lease)| (*pair, *lease))
            .collect();
        for (pair, lease) in annulled {
            self.counted.remove(&pair);
            self.annulled.insert(lease);
            self.pending.push(pair);
        }
        self.manager(Input::Drop(name, "a mistake".to_owned()));
        let longest = [300, 10_000][self.random.below(2) as usize];
        let pause = 10 + self.random.below(longest);
        self.after(pause, Event::Readmit(at));
    }

    fn readmit(&mut self, at: usize) {
        if self.manager.is_none() {
            return self.after(1_000, Event::Readmit(at));
        }
        let name = self.machines[at].name.clone();
        if self.dropped.remove(&name).is_some() {
            self.manager(Input::Readmit(name));
        }
    }
}

#[test]
fn whatever_is_lost_doubled_delayed_killed_or_dropped_every_pair_counts_once_and_nobody_waits_for_ever() {
    // An event takes some milliseconds.
    testing::for_each_seed(testing::seeds(10_000, 300), 2, |seed| World::new(seed).run());
}

//! The manager's desk: hands pairs to machines, and takes their answers.
//!
//! The dispatcher gives pairs on its own thread; everything that is sent or received goes through the thread `machines`.
//! A job is sent when its lease is on the disk, and an answer is confirmed when its games are.

mod boards;
mod budget;
mod greeting;
mod repeats;
mod showing;
mod words;

use crate::{
    depot,
    messages::{self, Back, Beat, Beaten, Job, Order, Player, Taken, Terms, Told, Verdicts, Words},
    registry::{Found, Hoard, LEASE, Registry},
    replay,
    scaling::Scaling,
    wire::Wire,
};
use arena::{
    Say,
    boards::LiveBoards,
    desk::{Closing, DeskNote, PlayedJob, RemoteDesk},
    note::Note,
    play::Fixture,
};
use async_nats::{Message, Subject, Subscriber};
use boards::Boards;
use budget::{Budgets, Kind, Spent};
use futures_util::StreamExt;
use hub::{Hub, HubNotice, MemberNames, Subjects, WorkerId};
use journal::{EventId, Fleet, Store, now};
use referee::{
    clock::Scale,
    entry::{Entry, PlayerId, Stamped},
    lease::{Lease, LeaseId},
    number::number,
    sink::{SideRecord, Sink},
};
use repeats::Repeats;
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};
use showing::Shown;
use std::{
    collections::HashMap,
    fmt::Write as _,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::{MissedTickBehavior, interval},
};
use words::Said;

/// Time between two looks at who is silent.
const LOOK: Duration = Duration::from_secs(1);
/// Most faults that one machine brings on record in a run.
const FAULTS: u32 = 20;
/// Most machines whose faults are counted one by one.
const COUNTED: usize = 1000;
/// Why a machine is barred that the operator has dropped.
const DROPPED: &str = "dropped by the operator";

/// The event of a desk.
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
    /// What machines are told of a plan; identities are by player.
    #[must_use]
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

/// The desk of an event.
pub struct MachineDesk {
    shared: Arc<Shared>,
    commands: UnboundedSender<Command>,
    state: State,
}

/// What a desk has before it is opened.
struct Closed {
    runtime: Runtime,
    wire: Wire,
    hub: Option<Hub>,
    inbox: UnboundedReceiver<Command>,
}

enum State {
    Closed(Box<Closed>),
    Open(JoinHandle<()>),
    Over,
}

/// The mailbox of the dispatcher, and the journal.
type Ways = (Sender<Note>, Arc<dyn Sink>);

struct Shared {
    event: EventOfDesk,
    registry: Mutex<Registry>,
    scaling: Mutex<Scaling>,
    dropped: Mutex<HashMap<String, String>>,
    /// The way to the dispatcher and the journal, once the desk is open.
    ways: Mutex<Option<Ways>>,
    faults: Mutex<HashMap<String, u32>>,
    said: Mutex<Said>,
    say: Say,
}

enum Command {
    /// The lease of a job is on the disk.
    Send(String, Job),
    /// The games of a lease are on the disk: its worker, and where it waits for the word.
    Stored(LeaseId, WorkerId, Subject),
    /// The operator has dropped the machine of that name, and why.
    Bar(String, String),
    /// The machine of that name, which was dropped, may join again.
    Readmit(String),
    /// No further pair begins.
    Stop,
    /// The end.
    Close(Closing),
}

impl MachineDesk {
    /// A desk on a hub, whose depot is given the engines; nobody hears of it before it is opened. `open` is run on the
    /// desk's own event queue, and the hub lives as long as the desk.
    ///
    /// # Errors
    /// Why there is no hub.
    pub fn connect(
        mut event: EventOfDesk,
        say: Say,
        open: impl Future<Output = Result<Hub, String>>,
    ) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|why| format!("the system has no event queue: {why}"))?;
        let hub = runtime.block_on(async {
            let hub = open.await?;
            depot::send(&hub, &mut event.terms.players, &say).await;
            Ok::<_, String>(hub)
        })?;
        Ok(Self::on(event, say, runtime, Wire::of_manager(&hub), Some(hub)))
    }

    fn on(event: EventOfDesk, say: Say, runtime: Runtime, wire: Wire, hub: Option<Hub>) -> Self {
        let (commands, inbox) = unbounded_channel();
        let scaling = Mutex::new(event.scaling.clone());
        let dropped = Mutex::new(event.dropped.iter().cloned().collect());
        let shared = Shared {
            event,
            registry: Mutex::default(),
            scaling,
            dropped,
            ways: Mutex::default(),
            faults: Mutex::default(),
            said: Mutex::default(),
            say,
        };
        Self {
            shared: Arc::new(shared),
            commands,
            state: State::Closed(Box::new(Closed { runtime, wire, hub, inbox })),
        }
    }
}

impl RemoteDesk for MachineDesk {
    fn open(&mut self, notes: Sender<Note>, sink: Arc<dyn Sink>) -> Result<Vec<Lease>, String> {
        *lock(&self.shared.ways) = Some((notes, sink));
        let EventOfDesk { database, event, .. } = &self.shared.event;
        Store::read(database).and_then(|store| store.open_leases(*event)).map_err(|why| why.to_string())
    }

    fn adopt(&mut self, lease: Lease, games: Vec<Fixture>) {
        self.shared.registry().adopt(Instant::now(), &lease, games);
    }

    fn begin(&mut self) -> Result<(), String> {
        let State::Closed(closed) = std::mem::replace(&mut self.state, State::Over) else {
            return Ok(());
        };
        let Closed { runtime, wire, hub, inbox } = *closed;
        let up = runtime.block_on(wire.all_workers())?;
        let sights = runtime.block_on(wire.all_boards())?;
        let serving = Serving {
            names: hub.as_ref().and_then(Hub::member_names),
            budgets: Budgets::default(),
            shared: self.shared.clone(),
            boards: Boards::of(self.shared.event.boards.clone()),
            shown: Shown::default(),
            repeats: Repeats::default(),
            wire,
            commands: self.commands.clone(),
            store: None,
        };
        let work = move || runtime.block_on(serving.serve(hub, up, sights, inbox));
        let thread = thread::Builder::new().name("machines".to_owned()).spawn(work);
        self.state = State::Open(thread.map_err(|why| format!("the system has no thread: {why}"))?);
        Ok(())
    }

    fn places(&self) -> usize {
        self.shared.registry().places(Instant::now())
    }

    fn slots(&self) -> usize {
        self.shared.registry().slots(Instant::now())
    }

    fn scale_here(&self) -> Scale {
        self.shared.event.scale_here
    }

    fn give(&mut self, games: Vec<Fixture>) -> Option<LeaseId> {
        let (id, epoch) = (LeaseId(rand::random()), self.shared.event.fleet.epoch);
        let (lease, job) = self.shared.registry().give(Instant::now(), epoch, id, games)?;
        let (_, sink) = lock(&self.shared.ways).clone()?;
        let (commands, worker) = (self.commands.clone(), lease.worker.clone());
        sink.keep(SideRecord::Leased(Box::new(lease)));
        sink.when_kept(Box::new(move || _ = commands.send(Command::Send(worker, job))));
        Some(id)
    }

    fn holder(&self, lease: LeaseId) -> Option<String> {
        let (name, held) = self.shared.registry().holder(Instant::now(), lease)?;
        Some(format!("machine `{name}` has had for {} s", held.as_secs()))
    }

    fn others_wait(&mut self, longest_here: Option<Duration>) {
        let hoards = self.shared.registry().hoards(Instant::now(), longest_here);
        hoards.into_iter().for_each(|hoard| self.shared.taken_back(hoard));
    }

    fn knows(&self, machine: &str) -> bool {
        self.shared.registry().workers_named(machine).next().is_some()
    }

    fn bar(&mut self, machine: &str, why: &str) {
        lock(&self.shared.dropped).insert(machine.to_owned(), why.to_owned());
        let _closed = self.commands.send(Command::Bar(machine.to_owned(), why.to_owned()));
    }

    fn readmit(&mut self, machine: &str) {
        lock(&self.shared.dropped).remove(machine);
        let _closed = self.commands.send(Command::Readmit(machine.to_owned()));
    }

    fn stop(&mut self) {
        let _closed = self.commands.send(Command::Stop);
    }

    fn close(&mut self, closing: Closing) {
        let _closed = self.commands.send(Command::Close(closing));
        if let State::Open(thread) = std::mem::replace(&mut self.state, State::Over) {
            let _panic_printed = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn registry(&self) -> MutexGuard<'_, Registry> {
        lock(&self.registry)
    }

    fn note(&self, note: DeskNote) {
        if let Some((notes, _)) = &*lock(&self.ways) {
            let _dispatcher_gone = notes.send(Note::Desk(note));
        }
    }

    /// Puts a fault of a machine on record, so many for each machine.
    fn fault(&self, worker: &str, player: Option<PlayerId>, text: &str) {
        let name = self.registry().name_of(worker);
        let mut faults = lock(&self.faults);
        let key = if faults.len() < COUNTED || faults.contains_key(worker) { worker } else { "" };
        let count = faults.entry(key.to_owned()).or_default();
        *count += 1;
        let last = if *count == FAULTS { "; further faults of this machine are not told" } else { "" };
        self.registry().told(worker, text, true);
        if *count <= FAULTS {
            let text = format!("machine `{name}`: {text}{last}");
            (self.say)(&text);
            self.note(DeskNote::Fault(player, text));
        }
    }

    /// Reports pairs that were taken back from a machine; one that hinders the event is dropped.
    fn taken_back(&self, hoard: Hoard) {
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
            self.note(DeskNote::Hinders(self.registry().name_of(&worker), why.to_owned()));
        }
    }

    /// Tells the dispatcher that leases are lost.
    fn lost(&self, leases: Vec<LeaseId>) {
        leases.into_iter().for_each(|lease| self.note(DeskNote::Lost(lease)));
    }
}

/// The thread of the desk.
struct Serving {
    /// The names of workers, where the server knows their keys.
    names: Option<MemberNames>,
    budgets: Budgets,
    shared: Arc<Shared>,
    boards: Boards,
    shown: Shown,
    repeats: Repeats,
    wire: Wire,
    commands: UnboundedSender<Command>,
    store: Option<Store>,
}

impl Serving {
    async fn serve(
        mut self,
        mut hub: Option<Hub>,
        mut up: Subscriber,
        mut sights: Subscriber,
        mut inbox: UnboundedReceiver<Command>,
    ) {
        // An earlier manager may have ended before it had done so.
        self.give_keys_back(hub.as_ref()).await;
        self.wire.say_to_all(self.epoch(), &Order::Hello { epoch: self.epoch() }).await;
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut looked = Instant::now();
        loop {
            tokio::select! { biased;
                command = inbox.recv() => match command {
                    Some(Command::Close(closing)) => {
                        self.boards.clear();
                        self.show_end();
                        return self.close(closing, hub).await;
                    }
                    Some(command) => self.command(command, hub.as_ref()).await,
                    None => return,
                },
                Some(message) = up.next() => self.message(message).await,
                notice = next_notice(&mut hub) => (self.shared.say)(&words(&notice)),
                _ = look.tick() => {
                    self.look(looked);
                    self.boards.look(&self.shared.registry());
                    self.show();
                    self.repeat().await;
                    looked = Instant::now();
                }
                // Last, as nobody waits for a board.
                Some(sight) = sights.next() => self.sight(&sight),
            }
        }
    }

    fn epoch(&self) -> u64 {
        self.shared.event.fleet.epoch
    }

    /// Takes what a machine shows of a game.
    fn sight(&mut self, message: &Message) {
        let worker = message.subject.rsplit('.').nth(1).and_then(|id| id.parse::<WorkerId>().ok());
        let Some(worker) = worker else { return };
        if !self.is_read(worker.as_str(), Kind::Boards, message.payload.len()) {
            return;
        }
        self.boards.take(&self.shared.registry(), worker.as_str(), now(), &message.payload);
    }

    /// Finds machines that are silent. One that could not be heard, because this program itself was stopped, is not.
    fn look(&self, looked: Instant) {
        let now = Instant::now();
        if now.saturating_duration_since(looked) > LOOK * 5 || !self.wire.is_connected() {
            return self.shared.registry().excuse(now);
        }
        let lost = self.shared.registry().silent(now);
        if !lost.is_empty() {
            let pairs = number(lost.len(), "pair");
            let text = format!("{pairs} of machines that are silent for {} s: played again", LEASE.as_secs());
            (self.shared.say)(&text);
            self.shared.note(DeskNote::Fault(None, text));
        }
        self.shared.lost(lost);
    }

    async fn command(&mut self, command: Command, hub: Option<&Hub>) {
        match command {
            Command::Send(worker, job) => {
                self.shared.registry().sent(Instant::now(), job.lease);
                let Ok(worker) = worker.parse() else { return };
                self.wire.say_to((&worker, self.session(&worker)), "job", self.epoch(), &job).await;
            }
            Command::Stored(lease, worker, reply) => {
                self.shared.registry().stored(lease);
                // Its games have their numbers now.
                self.boards.end(lease);
                self.answer(&worker, self.session(&worker), reply, &Taken::Committed).await;
                self.shared.note(DeskNote::Free);
            }
            Command::Bar(machine, why) => self.bar(&machine, &why, hub).await,
            Command::Readmit(machine) => {
                let workers: Vec<String> =
                    self.shared.registry().workers_named(&machine).map(str::to_owned).collect();
                for worker in &workers {
                    self.shared.registry().unbar(worker, DROPPED);
                    self.budgets.forget(worker);
                }
                self.give_keys_back(hub).await;
            }
            Command::Stop => {
                self.repeats.stop();
                self.wire.say_to_all(self.epoch(), &Order::Stop).await;
            }
            Command::Close(_) => {}
        }
    }

    /// Takes everything from a machine that the operator has dropped, tells it, and closes the door behind it.
    async fn bar(&self, machine: &str, why: &str, hub: Option<&Hub>) {
        let workers: Vec<String> = self.shared.registry().workers_named(machine).map(str::to_owned).collect();
        for worker in workers {
            let lost = self.shared.registry().bar(&worker, DROPPED);
            self.shared.lost(lost);
            let Ok(id) = worker.parse::<WorkerId>() else { continue };
            let order = Order::Barred { why: dropped_words(why) };
            self.wire.say_to((&id, self.session(&id)), "ctl", self.epoch(), &order).await;
        }
        let Some(hub) = hub else { return };
        self.wire.settle().await;
        for member in hub.members().into_iter().filter(|member| member.name == machine && !member.expelled) {
            match hub.expel(&member.id).await {
                Ok(_) => (self.shared.say)(&format!("the key of machine `{machine}` opens the door no more")),
                // On a server of somebody else there is no key to take away.
                Err(hub::HubError::NoWorker(_)) => {}
                Err(why) => (self.shared.say)(&format!(
                    "the key of machine `{machine}` could not be taken away: {why}"
                )),
            }
        }
    }

    /// Opens the door to every machine that was sent away and is not dropped any more.
    async fn give_keys_back(&self, hub: Option<&Hub>) {
        let Some(hub) = hub else { return };
        for member in hub.members().into_iter().filter(|member| member.expelled) {
            let name = &member.name;
            if lock(&self.shared.dropped).contains_key(name) {
                continue;
            }
            match hub.readmit(&member.id).await {
                Ok(_) => (self.shared.say)(&format!("the key of machine `{name}` opens the door again")),
                Err(why) => {
                    let text = format!("the key of machine `{name}` could not be given back: {why}");
                    (self.shared.say)(&text);
                }
            }
        }
    }

    fn session(&self, worker: &WorkerId) -> u64 {
        self.shared.registry().session_of(worker.as_str())
    }

    async fn answer(&self, worker: &WorkerId, session: u64, reply: Subject, message: &impl Serialize) {
        self.wire.answer((worker, session), reply, self.epoch(), message).await;
    }

    async fn close(&self, closing: Closing, hub: Option<Hub>) {
        if closing == Closing::Over {
            self.wire.say_to_all(self.epoch(), &Order::Over).await;
        }
        self.wire.settle().await;
        if let Some(hub) = hub {
            hub.close().await;
        }
    }

    /// A message of a worker, whose name the server has checked where it knows its workers.
    async fn message(&mut self, message: Message) {
        let Some(reply) = message.reply.clone() else { return };
        let subject = message.subject.to_string();
        let mut ends = subject.rsplitn(3, '.');
        let (Some(kind), Some(Ok(id))) = (ends.next(), ends.next().map(str::parse::<WorkerId>)) else {
            return;
        };
        // The server does not check where a sender wants its answer to go.
        if !Subjects::is_inbox_of(&id, &reply) {
            return;
        }
        let worker = id.as_str();
        let kind_of_cost = match kind {
            "result" if self.awaits(worker, &message.payload) => None,
            "result" => Some(Kind::Answers),
            _ => Some(Kind::Lists),
        };
        if kind_of_cost.is_some_and(|cost| !self.is_read(worker, cost, message.payload.len())) {
            return;
        }
        match kind {
            "hello" => {
                let (session, welcome) = self.hello(&id, &message.payload);
                self.answer(&id, session, reply, &welcome).await;
            }
            "beat" => {
                if let Some(beat) = self.read::<Beat>(worker, &message.payload) {
                    let beaten = self.beat(worker, &beat);
                    self.answer(&id, beat.session, reply, &beaten).await;
                }
            }
            "result" => {
                if let Some(taken) = self.played(&id, &message.payload, &reply) {
                    self.answer(&id, self.session(&id), reply, &taken).await;
                }
            }
            "told" => {
                if let Some(told) = self.read::<Told>(worker, &message.payload) {
                    self.told(worker, &told);
                    self.answer(&id, self.session(&id), reply, &Taken::Committed).await;
                }
            }
            "words" => {
                if let Some(words) = self.read::<Words>(worker, &message.payload) {
                    self.words(worker, &words);
                    self.answer(&id, self.session(&id), reply, &Taken::Committed).await;
                }
            }
            "back" => {
                if let Some(back) = self.read::<Back>(worker, &message.payload) {
                    self.back(worker, &back);
                    self.answer(&id, self.session(&id), reply, &Taken::Committed).await;
                }
            }
            _ => {}
        }
    }

    /// Whether a message is within what its worker may send. One that sends far more is dropped.
    fn is_read(&mut self, worker: &str, kind: Kind, bytes: usize) -> bool {
        match self.budgets.spend(Instant::now(), worker, kind, bytes) {
            Spent::Read => true,
            Spent::Left => false,
            Spent::Flood { messages, bytes } => {
                let mb = bytes >> 20;
                let why =
                    format!("it sends more than any worker needs: {messages} messages, {mb} MB left unread");
                self.shared.fault(worker, None, &why);
                self.shared.note(DeskNote::Hinders(self.name_of(worker), why));
                false
            }
        }
    }

    /// The name of a worker, which may not have said hello.
    fn name_of(&self, worker: &str) -> String {
        let names = self.names.as_ref().zip(worker.parse().ok());
        let member = names.and_then(|(names, id)| names.of(&id));
        member.unwrap_or_else(|| self.shared.registry().name_of(worker))
    }

    /// Whether this is an answer to a lease that its worker has. A worker's answer begins with its lease, so the rest is not
    /// read for that.
    fn awaits(&self, worker: &str, payload: &[u8]) -> bool {
        const BEGINNING: &[u8] = b"{\"lease\":\"";
        let digits = payload.strip_prefix(BEGINNING).and_then(|rest| rest.get(..16));
        let lease = digits.and_then(|digits| str::from_utf8(digits).ok()?.parse().ok());
        lease.is_some_and(|lease| self.shared.registry().awaits(worker, lease))
    }

    fn read<T: DeserializeOwned>(&self, worker: &str, payload: &[u8]) -> Option<T> {
        match serde_json::from_slice(payload) {
            Ok(message) => Some(message),
            Err(why) => {
                self.shared.fault(worker, None, &format!("a message of it cannot be read: {why}"));
                None
            }
        }
    }

    fn beat(&self, worker: &str, beat: &Beat) -> Beaten {
        let (beaten, missing) =
            self.shared.registry().beat(Instant::now(), now(), worker, self.epoch(), beat);
        if !missing.is_empty() {
            let text = format!("{} did not reach it: played again", number(missing.len(), "pair"));
            self.shared.fault(worker, None, &text);
        }
        self.shared.lost(missing);
        // A place may have become one again by this sign of life.
        self.shared.note(DeskNote::Free);
        match beaten {
            Beaten::Known(verdicts) => Beaten::Known(self.with_boards(worker, verdicts)),
            Beaten::HelloAgain => beaten,
        }
    }

    /// What a worker is told, with the boards that it is asked for.
    fn with_boards(&self, worker: &str, verdicts: Verdicts) -> Verdicts {
        Verdicts { boards: self.boards.asked(&self.shared.registry(), worker), ..verdicts }
    }

    /// Puts a fault of an engine on record that happened outside of a game.
    fn told(&self, worker: &str, told: &Told) {
        let text: String = told.text.chars().take(2000).collect();
        let player = told.player.filter(|player| player.index() < self.shared.event.terms.players.len());
        self.shared.fault(worker, player, &notation::printable_lines(&text));
    }

    fn back(&self, worker: &str, back: &Back) {
        let lost = self.shared.registry().back(worker, &back.leases, back.leaves);
        if !back.why.is_empty() {
            let why: String = back.why.chars().take(2000).collect();
            let player = back.player.filter(|player| player.index() < self.shared.event.terms.players.len());
            self.shared.fault(worker, player, &notation::printable_lines(&why));
        } else if back.leaves {
            let name = self.shared.registry().name_of(worker);
            (self.shared.say)(&format!(
                "machine `{name}` leaves, and gives {} back",
                number(lost.len(), "pair")
            ));
        }
        self.shared.lost(lost);
    }

    /// Takes an answer; `None`: it is answered when it is stored.
    fn played(&mut self, id: &WorkerId, payload: &[u8], reply: &Subject) -> Option<Taken> {
        let worker = id.as_str();
        let Ok(answer) = serde_json::from_slice::<messages::Answer>(payload) else {
            self.shared.fault(worker, None, "an answer of it cannot be read");
            return Some(Taken::Refused { why: "it cannot be read".to_owned() });
        };
        let (lease, sha256) = (answer.lease, hex(&Sha256::digest(payload)));
        // An answer that was on its way is no fault of a machine that was dropped meanwhile.
        let name = self.shared.registry().name_of(worker);
        if let Some(reason) = lock(&self.shared.dropped).get(&name) {
            return Some(Taken::Refused { why: dropped_words(reason) });
        }
        let found = self.shared.registry().find(worker, lease);
        match found {
            Found::Answered(stored) if stored == sha256 => Some(Taken::Later),
            Found::Answered(_) => Some(self.contradicts(worker, lease)),
            // It was to be played again for an earlier manager, or is not wanted any more.
            Found::Unknown if answer.repeats => Some(Taken::Committed),
            Found::Unknown => Some(self.stranger(worker, lease, &sha256)),
            Found::Open(fixtures) => self.open_answer(id, answer, &fixtures, sha256, reply.clone()),
        }
    }

    fn open_answer(
        &mut self,
        id: &WorkerId,
        answer: messages::Answer,
        fixtures: &[Fixture],
        sha256: String,
        reply: Subject,
    ) -> Option<Taken> {
        let (worker, lease) = (id.as_str(), answer.lease);
        if let Err(why) = check(&answer, fixtures) {
            let text = format!("{why}; not counted, played again, and this machine gets nothing more");
            self.shared.fault(worker, None, &text);
            let mut registry = self.shared.registry();
            let mut lost = registry.bar(worker, "an answer of it was none");
            lost.extend(registry.lose(lease).then_some(lease));
            drop(registry);
            self.shared.lost(lost);
            return Some(Taken::Refused { why });
        }
        if let Some(repeat) = self.repeats.take(lease) {
            return Some(self.repeated(worker, &answer, &repeat));
        }
        self.repeats.keep(self.shared.event.repeats, worker, &answer, fixtures);
        let mut registry = self.shared.registry();
        let games: Vec<Vec<Stamped>> =
            answer.games.into_iter().map(|game| in_our_time(game, worker, &registry)).collect();
        registry.answered(Instant::now(), lease, &sha256, games.iter().map(|game| duration(game)).sum());
        let machine = registry.name_of(worker);
        drop(registry);
        let (commands, id) = (self.commands.clone(), id.clone());
        let kept = Box::new(move || _ = commands.send(Command::Stored(lease, id, reply)));
        self.shared.note(DeskNote::Played(Box::new(PlayedJob { lease, machine, sha256, games, kept })));
        None
    }

    /// An answer to a lease that is not of this run, or lost.
    fn stranger(&mut self, worker: &str, lease: LeaseId, sha256: &str) -> Taken {
        let EventOfDesk { database, event, .. } = &self.shared.event;
        if self.store.is_none() {
            self.store = Store::read(database).ok();
        }
        let Some(known) = self.store.as_ref().and_then(|store| store.lease(*event, lease).ok()) else {
            return Taken::Later;
        };
        match known {
            Some(known) if known.sha256.as_deref() == Some(sha256) => Taken::Committed,
            Some(known) if known.sha256.is_some() => self.contradicts(worker, lease),
            Some(known) => {
                let pairs: Vec<String> =
                    known.lease.games.iter().map(|game| (game.index + 1).to_string()).collect();
                let places = format!(
                    "{} {} of the schedule",
                    if pairs.len() == 1 { "place" } else { "places" },
                    pairs.join(" and ")
                );
                let why = format!("lease {lease} ({places}) was answered after it was lost: not counted");
                self.shared.fault(worker, None, &why);
                Taken::Refused { why }
            }
            None => {
                let why = format!("lease {lease}, which nobody has issued, was answered: not counted");
                self.shared.fault(worker, None, &why);
                Taken::Refused { why }
            }
        }
    }

    fn contradicts(&self, worker: &str, lease: LeaseId) -> Taken {
        let why = format!("lease {lease} was answered once more with other games: the first answer counts");
        self.shared.fault(worker, None, &why);
        Taken::Refused { why }
    }
}

/// Why a machine gets nothing more that the operator has dropped.
fn dropped_words(reason: &str) -> String {
    match reason {
        "" => "the operator has dropped this machine".to_owned(),
        reason => format!("the operator has dropped this machine: {reason}"),
    }
}

/// The next thing that a hub tells.
async fn next_notice(hub: &mut Option<Hub>) -> HubNotice {
    match hub {
        Some(hub) => hub.next_notice().await,
        None => std::future::pending().await,
    }
}

/// What a hub tells, as a line for people.
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

/// Checks the games of an answer.
fn check(answer: &messages::Answer, fixtures: &[Fixture]) -> Result<(), String> {
    if answer.games.len() != fixtures.len() {
        return Err(format!(
            "lease {} is answered with {} of {}",
            answer.lease,
            answer.games.len(),
            fixtures.len()
        ));
    }
    answer.games.iter().zip(fixtures).try_for_each(|(game, fixture)| {
        let place = fixture.pairing.index + 1;
        replay::check(fixture, game).map_err(|why| format!("the game at place {place} is not one: {why}"))
    })
}

/// The entries of a game by the clock of this machine.
fn in_our_time(game: Vec<Stamped>, worker: &str, registry: &Registry) -> Vec<Stamped> {
    game.into_iter()
        .map(|Stamped { at, entry }| Stamped { at: registry.our_time(worker, at), entry })
        .collect()
}

/// How long a game was.
fn duration(game: &[Stamped]) -> Duration {
    let ends =
        game.iter().filter(|stamped| matches!(stamped.entry, Entry::GameStarted(_) | Entry::GameEnded(_)));
    let times: Vec<i64> = ends.map(|stamped| stamped.at).collect();
    let span = times.last().zip(times.first()).map_or(0, |(last, first)| last.saturating_sub(*first));
    Duration::from_millis(span.max(0).unsigned_abs())
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _writing_to_a_text_never_fails = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;

//! The manager's desk: carries out what a [`Manager`] decides.
//!
//! The dispatcher gives pairs on its own thread; everything that is sent or received goes through the thread `machines`.

pub use crate::manager::EventOfDesk;

use crate::hub::{Hub, HubError};
use crate::{
    MachineError, Moment,
    carrier::{Arrival, Carrier},
    depot,
    manager::{Act, Draw, Input, LOOK, Manager, Played, Question},
    messages::Order,
};
use arena::{
    Say,
    desk::{Closing, DeskNote, PlayedJob, RemoteDesk},
    dispatcher::RunError,
    note::Note,
    play::Fixture,
};
use journal::{EventId, Store};
use parking_lot::Mutex;
use referee::{
    clock::Scale,
    lease::{Lease, LeaseId},
    sink::{SideRecord, Sink},
};
use std::{
    io,
    path::PathBuf,
    sync::{Arc, mpsc::Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::{MissedTickBehavior, interval},
};

/// The desk of an event.
pub struct MachineDesk {
    shared: Arc<Shared>,
    state: State,
}

/// What a desk has before it is opened.
struct Closed {
    runtime: Runtime,
    carrier: Carrier,
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
    manager: Mutex<Manager>,
    database: PathBuf,
    event: EventId,
    scale_here: Scale,
    /// The way to the dispatcher and the journal, once the desk is open.
    ways: Mutex<Option<Ways>>,
    commands: UnboundedSender<Command>,
    say: Say,
}

enum Command {
    /// The manager has an input.
    Handle(Input),
    /// The manager has decided something that needs the network.
    Perform(Act),
    /// The end.
    Close(Closing),
}

impl MachineDesk {
    /// A desk on a hub; machines are given the engines from there, and nobody hears of it before it is opened. `open` is run
    /// on the desk's own event queue, and the hub lives as long as the desk.
    ///
    /// # Errors
    /// Why there is no hub.
    pub fn connect(
        mut event: EventOfDesk,
        say: Say,
        open: impl Future<Output = Result<Hub, HubError>>,
    ) -> Result<Self, MachineError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(MachineError::EventQueue)?;
        let carrier = runtime.block_on(async {
            let hub = open.await?;
            let shelf = depot::send(&mut event.terms.players, &say).await;
            Ok::<_, HubError>(Carrier::new(hub, shelf))
        })?;
        let (commands, inbox) = unbounded_channel();
        let draw: Draw = Box::new(rand::random);
        let shared = Shared {
            database: event.database.clone(),
            event: event.event,
            scale_here: event.scale_here,
            manager: Mutex::new(Manager::new(event, draw)),
            ways: Mutex::default(),
            commands,
            say,
        };
        let closed = Closed { runtime, carrier, inbox };
        Ok(Self { shared: Arc::new(shared), state: State::Closed(Box::new(closed)) })
    }
}

impl RemoteDesk for MachineDesk {
    fn open(&mut self, notes: Sender<Note>, sink: Arc<dyn Sink>) -> Result<Vec<Lease>, RunError> {
        *self.shared.ways.lock() = Some((notes, sink));
        let store = Store::read(&self.shared.database);
        Ok(store.and_then(|store| store.open_leases(self.shared.event))?)
    }

    fn adopt(&mut self, lease: Lease, games: Vec<Fixture>) {
        self.shared.tell(Input::Adopt(lease, games));
    }

    fn begin(&mut self) -> Result<(), RunError> {
        let State::Closed(closed) = std::mem::replace(&mut self.state, State::Over) else {
            return Ok(());
        };
        let Closed { runtime, mut carrier, inbox } = *closed;
        let failed = |why: MachineError| RunError::Io("machines".to_owned(), io::Error::other(why));
        runtime.block_on(carrier.open()).map_err(|why| failed(why.into()))?;
        let serving = Serving { shared: self.shared.clone(), carrier, store: None };
        let work = move || runtime.block_on(serving.serve(inbox));
        let thread = thread::Builder::new().name("machines".to_owned()).spawn(work);
        self.state = State::Open(thread.map_err(|why| failed(MachineError::Thread(why)))?);
        Ok(())
    }

    fn places(&self) -> usize {
        self.shared.manager.lock().registry().places(Instant::now())
    }

    fn slots(&self) -> usize {
        self.shared.manager.lock().registry().slots(Instant::now())
    }

    fn scale_here(&self) -> Scale {
        self.shared.scale_here
    }

    fn give(&mut self, games: Vec<Fixture>) -> Option<LeaseId> {
        self.shared.tell(Input::Give(games))
    }

    fn holder(&self, lease: LeaseId) -> Option<String> {
        let (name, held) = self.shared.manager.lock().registry().holder(Instant::now(), lease)?;
        Some(format!("machine `{name}` has had for {} s", held.as_secs()))
    }

    fn others_wait(&mut self, longest_here: Option<Duration>) {
        self.shared.tell(Input::OthersWait(longest_here));
    }

    fn knows(&self, machine: &str) -> bool {
        self.shared.manager.lock().registry().workers_named(machine).next().is_some()
    }

    fn bar(&mut self, machine: &str, why: &str) {
        self.shared.tell(Input::Drop(machine.to_owned(), why.to_owned()));
    }

    fn readmit(&mut self, machine: &str) {
        self.shared.tell(Input::Readmit(machine.to_owned()));
    }

    fn stop(&mut self) {
        self.shared.tell(Input::Stop);
    }

    fn close(&mut self, closing: Closing) {
        self.shared.command(Command::Close(closing));
        if let State::Open(thread) = std::mem::replace(&mut self.state, State::Over) {
            let _panic_printed = thread.join();
        }
    }
}

impl Shared {
    fn handle(&self, input: Input) -> Vec<Act> {
        self.manager.lock().handle(Moment::now(), input)
    }

    fn command(&self, command: Command) {
        let _thread_gone = self.commands.send(command);
    }

    /// Hands the manager an input of the dispatcher; returns the lease that was issued, if one was.
    fn tell(&self, input: Input) -> Option<LeaseId> {
        let mut issued = None;
        for act in self.handle(input) {
            if let Act::Lease(lease) = &act {
                issued = Some(lease.lease);
            }
            if let Some(act) = self.perform_here(act) {
                self.command(Command::Perform(act));
            }
        }
        issued
    }

    /// Carries out an act that needs no network; returns any other.
    fn perform_here(&self, act: Act) -> Option<Act> {
        match act {
            Act::Lease(lease) => self.lease(lease),
            Act::Played(played) => self.played(played),
            Act::Note(note) => self.note(note),
            Act::Keep(record) => {
                if let Some((_, sink)) = &*self.ways.lock() {
                    sink.keep(record);
                }
            }
            Act::Say(line) => (self.say)(&line),
            other => return Some(other),
        }
        None
    }

    fn note(&self, note: DeskNote) {
        if let Some((notes, _)) = &*self.ways.lock() {
            let _dispatcher_gone = notes.send(Note::Desk(note));
        }
    }

    fn lease(&self, lease: Lease) {
        let Some((_, sink)) = self.ways.lock().clone() else { return };
        let (commands, id) = (self.commands.clone(), lease.lease);
        sink.keep(SideRecord::Leased(Box::new(lease)));
        sink.when_kept(Box::new(move || _ = commands.send(Command::Handle(Input::LeaseStored(id)))));
    }

    fn played(&self, played: Played) {
        let Played { lease, machine, sha256, games } = played;
        let receipt = Receipt { lease, commands: self.commands.clone(), is_stored: false };
        let kept = Box::new(move || receipt.stored());
        self.note(DeskNote::Played(Box::new(PlayedJob { lease, machine, sha256, games, kept })));
    }
}

/// Reports what became of the games of a lease. One that is dropped before they are stored reports that they were turned
/// down.
struct Receipt {
    lease: LeaseId,
    commands: UnboundedSender<Command>,
    is_stored: bool,
}

impl Receipt {
    fn stored(mut self) {
        self.is_stored = true;
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        let end = if self.is_stored { Input::Stored } else { Input::TurnedDown };
        let _thread_gone = self.commands.send(Command::Handle(end(self.lease)));
    }
}

/// The thread of the desk.
struct Serving {
    shared: Arc<Shared>,
    carrier: Carrier,
    store: Option<Store>,
}

impl Serving {
    async fn serve(mut self, mut inbox: UnboundedReceiver<Command>) {
        self.handle(Input::Begin).await;
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! { biased;
                command = inbox.recv() => match command {
                    Some(Command::Handle(input)) => self.handle(input).await,
                    Some(Command::Perform(act)) => self.perform(act).await,
                    Some(Command::Close(closing)) => {
                        self.handle(Input::Close).await;
                        return self.close(closing).await;
                    }
                    None => return,
                },
                // Before what machines send, which may be much.
                _ = look.tick() => {
                    let is_connected = self.carrier.is_connected();
                    self.handle(Input::Look { is_connected }).await;
                }
                arrival = self.carrier.next() => match arrival {
                    Arrival::Letter(letter) => self.handle(Input::Letter(letter)).await,
                    Arrival::Sight(from, sight) => self.handle(Input::Sight(from, sight)).await,
                    Arrival::Say(line) => (self.shared.say)(&line),
                }
            }
        }
    }

    async fn handle(&mut self, input: Input) {
        let mut acts = self.shared.handle(input);
        while !acts.is_empty() {
            let mut further = vec![];
            for act in acts {
                match self.shared.perform_here(act) {
                    Some(Act::LookUp(question)) => {
                        let known = self.look_up(&question);
                        further.extend(self.shared.handle(Input::LookedUp(question, known)));
                    }
                    Some(act) => self.perform(act).await,
                    None => {}
                }
            }
            acts = further;
        }
    }

    /// Carries out an act that needs the network.
    async fn perform(&self, act: Act) {
        let (carrier, say) = (&self.carrier, &self.shared.say);
        match act {
            Act::Reply(_, _, to, reply) => carrier.say(to, &reply).await,
            Act::Piece(to, sha256, piece) => carrier.piece(to, sha256, piece, say),
            Act::Job(worker, session, job) => carrier.say_to(&worker, session, "job", &job).await,
            Act::Order(worker, session, order) => carrier.say_to(&worker, session, "ctl", &order).await,
            Act::OrderAll(order) => carrier.order_all(&order).await,
            Act::CloseDoor(machine) => carrier.close_door(&machine, say).await,
            Act::OpenDoors => {
                let is_dropped = |name: &str| self.shared.manager.lock().is_dropped(name);
                carrier.open_doors(is_dropped, say).await;
            }
            Act::LookUp(_) | Act::Lease(_) | Act::Played(_) | Act::Note(_) | Act::Keep(_) | Act::Say(_) => {}
        }
    }

    /// A lease in the database; `None`: the database cannot be read.
    fn look_up(&mut self, question: &Question) -> Option<Option<journal::KnownLease>> {
        if self.store.is_none() {
            self.store = Store::read(&self.shared.database).ok();
        }
        self.store.as_ref().and_then(|store| store.lease(self.shared.event, question.lease()).ok())
    }

    async fn close(self, closing: Closing) {
        if closing == Closing::Over {
            self.carrier.order_all(&Order::Over).await;
        }
        self.carrier.close().await;
    }
}

#[cfg(test)]
#[path = "desk_tests.rs"]
pub(crate) mod tests;

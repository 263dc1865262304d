//! `renmei worker`: joins an event, looks at its engines, and carries out what its [`Worker`] decides.

mod prepare;

pub use crate::worker::Ended;
pub use prepare::Prepared;

use crate::hub::{Cache, Connection, HubError, Joined, Token, join};
use crate::{
    MachineError, Moment,
    messages::{Back, Hello, Holding, MOST_WORDS, PROTOCOL, Taken, Terms, WORD, Welcome},
    outbox::Outbox,
    playing::Playing,
    registry::BEAT,
    wire::{Inbox, Wire, WireError},
    worker::{Act, Broken, Farewell, GameOver, Heard, Input, Request, TICK, Worker, printable},
};
use arena::{
    Say, Shutdown,
    note::{Note, Over},
    speed::Speed,
};
use journal::now;
use platform::files::{self, Access};
use referee::{entry::PlayerId, lease::LeaseId, number::number};
use serde::de::DeserializeOwned;
use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        watch,
    },
    time::{MissedTickBehavior, interval, sleep},
};

/// Time between two sights of a game.
const SIGHT: Duration = Duration::from_millis(500);
/// Time until a refused or unanswered hello is repeated.
const AGAIN: Duration = Duration::from_secs(2);
/// The file of the line that was joined last, in the directory of a worker.
pub const REMEMBERED: &str = "line";
/// Most bytes of engines that are kept.
const CACHE: u64 = 20 << 30;

/// How a worker is started.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// Name of the machine.
    pub name: String,
    /// Pairs at once; `None`: as many as the cores carry.
    pub slots: Option<usize>,
    /// The directory for what must survive: the key of this machine, answers, and engines that it was sent.
    pub state: PathBuf,
    /// True if to play even if the engines need more cores than the machine has.
    pub oversubscribe: bool,
    /// True if every engine has to be in a strict sandbox, with nothing here to write to.
    pub strict: bool,
    /// Drawn at random by each start of a worker.
    pub session: u64,
}

/// A worker that was let in.
struct Attached {
    wire: Wire,
    cache: Cache,
    connection: watch::Receiver<Connection>,
    outbox: Outbox,
}

/// Works until the event is over, or `shutdown`.
///
/// # Errors
/// Why this machine cannot play.
pub fn work(
    token: &Token,
    options: &WorkerOptions,
    shutdown: &Shutdown,
    say: &Say,
) -> Result<Ended, MachineError> {
    event_queue()?.block_on(async {
        let joined = match reach(token, options, shutdown, say).await {
            Ok(Some(joined)) => joined,
            Ok(None) => return Ok(Ended::Stopped),
            Err(why) if why.is_for_good() => return Ok(Ended::Refused(why.to_string())),
            Err(why) => return Err(why.into()),
        };
        remember(token, options, say);
        // Another machine may have the name that it asked for.
        let options = &WorkerOptions { name: joined.name.clone(), ..options.clone() };
        let wire = Wire::of(&joined);
        let attached = Attached {
            cache: Cache::at(&options.state.join("files"), CACHE, wire.pieces())?,
            wire,
            connection: joined.connection.clone(),
            outbox: Outbox::open(&options.state, joined.subjects.event())?,
        };
        serve(options, attached, shutdown, say).await
    })
}

fn event_queue() -> Result<Runtime, MachineError> {
    Builder::new_current_thread().enable_all().build().map_err(MachineError::EventQueue)
}

/// Asks what is played, gets ready, and plays.
async fn serve(
    options: &WorkerOptions,
    attached: Attached,
    shutdown: &Shutdown,
    say: &Say,
) -> Result<Ended, MachineError> {
    let terms = match first_terms(options, &attached, shutdown, say).await {
        Ok(terms) => terms,
        Err(ended) => return Ok(ended?),
    };
    let prepared = prepare_or_tell(options, &terms, &attached, say).await?;
    play(options, terms, prepared, attached, (shutdown, say)).await
}

/// Keeps the line, so that the next start of this worker needs none.
fn remember(token: &Token, options: &WorkerOptions, say: &Say) {
    let line = format!("{}\n", token.line());
    let kept = files::write_below(&options.state, Path::new(REMEMBERED), line.as_bytes(), Access::Private);
    if let Err(why) = kept {
        say(&format!("the line to join with could not be kept in `{}`: {why}", options.state.display()));
    }
}

/// Joins, as often as it takes; `None`: asked to end.
async fn reach(
    token: &Token,
    options: &WorkerOptions,
    shutdown: &Shutdown,
    say: &Say,
) -> Result<Option<Joined>, HubError> {
    let (mut told, mut in_use) = (false, 0);
    while !shutdown.is_finishing() {
        let joined = tokio::select! {
            joined = join(token, &options.state, &options.name) => joined,
            () = shutdown.finishing().cancelled() => return Ok(None),
        };
        match joined {
            Ok(joined) => return Ok(Some(joined)),
            Err(why @ (HubError::Connect { .. } | HubError::NoManager { .. })) => {
                if !std::mem::replace(&mut told, true) {
                    say(&format!("{why}; trying again"));
                }
            }
            // An engine that a killed worker was just starting holds its lock for a moment.
            Err(HubError::NameInUse { .. }) if in_use < 3 => in_use += 1,
            Err(why) => return Err(why),
        }
        pause(shutdown).await;
    }
    Ok(None)
}

async fn pause(shutdown: &Shutdown) {
    tokio::select! {
        () = sleep(AGAIN) => {}
        () = shutdown.finishing().cancelled() => {}
    }
}

/// Asks what is played, as often as it takes; otherwise how this worker ends.
async fn first_terms(
    options: &WorkerOptions,
    attached: &Attached,
    shutdown: &Shutdown,
    say: &Say,
) -> Result<Terms, Result<Ended, Broken>> {
    let (wire, outbox) = (&attached.wire, &attached.outbox);
    let mut told = String::new();
    while !shutdown.is_finishing() {
        let hello = hello(options, 1, None, false, holding(outbox));
        let words = match ask(wire, &Request::Hello(hello)).await {
            Ok(Welcome::Come(terms)) => return Ok(*terms),
            Ok(Welcome::Refused { why, for_good: true }) => return Err(Ok(Ended::Refused(printable(&why)))),
            Ok(Welcome::Refused { why, for_good: false }) => printable(&why),
            Err(why) => why.to_string(),
        };
        if *attached.connection.borrow() == Connection::Elsewhere {
            return Err(Err(Broken::OtherEvent));
        }
        if words != told {
            say(&format!("{words}; trying again"));
            told = words;
        }
        pause(shutdown).await;
    }
    Err(Ok(Ended::Stopped))
}

/// Looks at the engines; a machine that cannot play says so to its manager, too.
async fn prepare_or_tell(
    options: &WorkerOptions,
    terms: &Terms,
    attached: &Attached,
    say: &Say,
) -> Result<Prepared, MachineError> {
    match prepare::prepare(options, terms, &attached.cache, say).await {
        Ok(prepared) => Ok(prepared),
        Err(why) => {
            let why = MachineError::from(why);
            let back = Back { leases: vec![], why: why.to_string(), player: None::<PlayerId>, leaves: true };
            let _manager_gone = ask::<Taken>(&attached.wire, &Request::Back(back)).await;
            Err(why)
        }
    }
}

fn hello(
    options: &WorkerOptions,
    slots: usize,
    speed: Option<Speed>,
    ready: bool,
    holding: Holding,
) -> Hello {
    Hello {
        protocol: PROTOCOL,
        build: env!("CARGO_PKG_VERSION").to_owned(),
        session: options.session,
        name: options.name.clone(),
        slots,
        cores: cores(),
        speed,
        ready,
        words: vec![],
        holding,
    }
}

fn holding(outbox: &Outbox) -> Holding {
    Holding { now: now(), held: vec![], outbox: outbox.leases() }
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

async fn ask<A: DeserializeOwned>(wire: &Wire, request: &Request) -> Result<A, WireError> {
    wire.ask(request.kind(), serde_json::to_vec(request)?).await
}

/// A worker, and the machine that it plays on.
struct Station<'a> {
    worker: Worker,
    playing: Playing,
    wire: Wire,
    outbox: Outbox,
    shutdown: &'a Shutdown,
    say: &'a Say,
    replies: UnboundedSender<Heard>,
    connection: watch::Receiver<Connection>,
}

/// What a worker hears.
struct Heeds {
    notes: UnboundedReceiver<Note>,
    replies: UnboundedReceiver<Heard>,
    inbox: Inbox,
}

/// Plays until the worker is done.
async fn play(
    options: &WorkerOptions,
    terms: Terms,
    prepared: Prepared,
    attached: Attached,
    (shutdown, say): (&Shutdown, &Say),
) -> Result<Ended, MachineError> {
    let Attached { wire, outbox, connection, .. } = attached;
    let Prepared { slots, speed, threads, plans, engines, words } = prepared;
    let free = threads.iter().map(|thread| thread.slots).collect();
    let words = words.iter().take(MOST_WORDS).map(|line| notation::clipped(line, WORD)).collect();
    let hello = Hello { words, ..hello(options, slots, speed, true, holding(&outbox)) };
    let (games, from_games) = mpsc::channel();
    let (to_us, notes) = unbounded_channel();
    let bridge = move || from_games.into_iter().try_for_each(|note| to_us.send(note).map_err(drop));
    thread::Builder::new().name("notes".to_owned()).spawn(bridge).map_err(MachineError::Thread)?;
    let adjourn = shutdown.adjourning().clone();
    let playing = Playing::start(threads, (plans, engines), adjourn, games).map_err(MachineError::Thread)?;
    let (replies, heard) = unbounded_channel();
    let heeds = Heeds { notes, replies: heard, inbox: wire.inbox(options.session).await? };
    let event = printable(&terms.event);
    say(&format!("`{}` plays in `{event}`: {} at once", options.name, number(slots, "pair")));
    let kept = outbox.leases().into_iter().collect();
    let worker = Worker::new(Moment::now(), hello, terms, free, kept);
    let station = Station { worker, playing, wire, outbox, shutdown, say, replies, connection };
    station.run(heeds, &options.state).await
}

impl Station<'_> {
    async fn run(mut self, mut heeds: Heeds, state: &Path) -> Result<Ended, MachineError> {
        self.handle(Input::Begin);
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sights = interval(SIGHT);
        sights.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (finish, adjourn) = (self.shutdown.finishing(), self.shutdown.adjourning());
        let (mut finishes, mut adjourns) = (false, false);
        while !self.worker.is_done() {
            tokio::select! { biased;
                () = adjourn.cancelled(), if !adjourns => {
                    adjourns = true;
                    self.handle(Input::Finish);
                    self.handle(Input::Adjourn);
                }
                () = finish.cancelled(), if !finishes => {
                    finishes = true;
                    self.handle(Input::Finish);
                }
                input = heeds.inbox.next() => self.handle(input),
                Some(note) = heeds.notes.recv() => self.note(note),
                Some(heard) = heeds.replies.recv() => self.handle(Input::Heard(heard)),
                Ok(()) = self.connection.changed() => {
                    let connection = *self.connection.borrow_and_update();
                    self.handle(Input::Connection(connection));
                }
                _ = ticks.tick() => {
                    self.playing.told().into_iter().for_each(|told| self.handle(Input::Fault(told)));
                    let connection = *self.connection.borrow();
                    self.handle(Input::Tick(connection));
                }
                _ = sights.tick(), if self.worker.is_watched() => self.show().await,
            }
        }
        self.end(state).await
    }

    async fn end(self, state: &Path) -> Result<Ended, MachineError> {
        self.shutdown.adjourn();
        let Farewell { back, kept, ended } = self.worker.end();
        if let Some(back) = back {
            let back = Request::Back(back);
            let told = ask::<Taken>(&self.wire, &back);
            let _manager_gone = tokio::time::timeout(BEAT, told).await;
        }
        if kept > 0 {
            let answers = number(kept, "answer");
            (self.say)(&format!("{answers} not taken yet, kept in `{}`", state.display()));
        }
        self.wire.flush().await;
        self.playing.close();
        Ok(ended?)
    }

    fn handle(&mut self, input: Input) {
        for act in self.worker.handle(Moment::now(), input) {
            self.perform(act);
        }
    }

    fn perform(&mut self, act: Act) {
        match act {
            Act::Ask(request) => self.ask(request),
            Act::Send(lease) => self.send(lease),
            Act::Keep(lease, answer) => {
                let kept = self.outbox.keep(lease, &answer);
                self.handle(Input::Kept(lease, kept));
            }
            Act::Forget(lease) => self.outbox.forget(lease),
            Act::Play(thread, fixture) => {
                let game = fixture.setup.game;
                if !self.playing.play(thread, *fixture) {
                    self.handle(Input::NoThread(game));
                }
            }
            Act::Stop(game) => self.playing.stop(game),
            Act::Say(line) => (self.say)(&line),
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Over(over) => {
                let Over { game, ended, outcome, .. } = *over;
                let entries = self.playing.entries(game);
                self.handle(Input::Over(GameOver { game, entries, ended, outcome }));
            }
            Note::Replaced(_, changes) => self.handle(Input::Replaced(changes)),
            _ => {}
        }
    }

    fn ask(&self, request: Request) {
        let (wire, replies) = (self.wire.clone(), self.replies.clone());
        tokio::spawn(async move {
            let heard = match &request {
                Request::Hello(_) => Heard::Welcome(ask(&wire, &request).await.ok()),
                Request::Beat(_) => Heard::Beaten(ask(&wire, &request).await.ok()),
                Request::Told(_) | Request::Back(_) => {
                    let _unheard = ask::<Taken>(&wire, &request).await;
                    return;
                }
            };
            let _ended = replies.send(heard);
        });
    }

    fn send(&mut self, lease: LeaseId) {
        let Ok(answer) = self.outbox.read(lease) else {
            return self.handle(Input::Heard(Heard::Taken(lease, None)));
        };
        let (wire, replies) = (self.wire.clone(), self.replies.clone());
        tokio::spawn(async move {
            let taken = wire.ask("result", answer).await.ok();
            let _ended = replies.send(Heard::Taken(lease, taken));
        });
    }

    /// Shows games to whoever looks on; what cannot be sent at once is not sent.
    async fn show(&mut self) {
        for sight in self.playing.sights(&self.worker.shown()) {
            if !self.wire.show(&sight).await {
                break;
            }
        }
    }
}

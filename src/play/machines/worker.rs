//! A worker as a pure state machine: [`Worker::handle`] takes one [`Input`] and returns the [`Act`]s that follow. Time and
//! messages are arguments; [`crate::work`] carries the acts out.
//!
//! A worker outlives its manager and its server: it plays what it has, and keeps trying to reach them. Every sign of life
//! lists what it has; a lease that it does not list is lost.

mod pairs;

pub use pairs::GameOver;

use crate::hub::Connection;
use crate::{
    Moment,
    messages::{
        Answer, Back, Beat, Beaten, Hello, Holding, Job, Order, Taken, Terms, Told, Verdicts, Welcome,
    },
    registry::BEAT,
};
use arena::{Unplayed, play::Fixture};
use pairs::{Done, Pairs};
use referee::{entry::GameId, lease::LeaseId};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io,
    path::PathBuf,
    time::Duration,
};

/// Time between two looks at what is due.
pub const TICK: Duration = Duration::from_secs(1);
/// A clock that is off by more between two ticks has jumped: what was measured meanwhile is worth nothing.
const JUMP: Duration = Duration::from_secs(5);
/// Time for which a server has to refuse this worker before that is believed; it is asked again at least every two seconds.
const REFUSED: Duration = Duration::from_secs(7);
/// Signs of life without an answer, after which people are told that the manager is gone.
const MISSED: u32 = 3;
/// Most answers that are kept; then no further pair is begun.
pub(crate) const MOST_KEPT: usize = 10_000;

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The event is over.
    Over,
    /// It was asked to end.
    Stopped,
    /// The manager rejected this machine, for this reason; starting it again is pointless.
    Refused(String),
}

/// Why a worker cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Broken {
    /// Its engines were replaced: what has changed.
    #[error("its engines are others than before: {}", .0.join("; "))]
    OtherEngines(Vec<String>),
    /// The event is not the one that it has looked at.
    #[error(
        "the manager plays another event now, or this one with another configuration: start this worker again"
    )]
    OtherEvent,
    /// Its key opens the door no more.
    #[error("the server does not know this machine any more: join with the line that the manager prints now")]
    Unknown,
}

/// Why an answer is not on the disk.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    /// The disk.
    #[error("`{}`: {}", .0.display(), .1)]
    Io(PathBuf, #[source] io::Error),
    /// It has no JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It is larger than any that is taken.
    #[error("it has {0} bytes")]
    Long(usize),
}

/// What happens to a worker.
#[derive(Debug)]
pub enum Input {
    /// It can talk to its manager.
    Begin,
    /// A job, or why it is malformed.
    Job(serde_json::Result<Job>),
    /// An order of the manager, to this worker or to all, or why it is malformed.
    Order(serde_json::Result<Order>, Audience),
    /// A game is over.
    Over(GameOver),
    /// A game could not begin: its thread is gone.
    NoThread(GameId),
    /// An engine is not the one any more that was looked at: what has changed.
    Replaced(Vec<String>),
    /// A fault of an engine outside of a game.
    Fault(Told),
    /// An answer is on the disk, or why it is not.
    Kept(LeaseId, Result<(), NotKept>),
    /// The manager's reply to a question; `None`: there was none.
    Heard(Heard),
    /// The connection to the server has changed.
    Connection(Connection),
    /// [`TICK`] is over; the connection as it is.
    Tick(Connection),
    /// Somebody wants this worker to finish what has begun.
    Finish,
    /// Somebody wants this worker to end its games now.
    Adjourn,
}

/// The workers that an order is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// This worker alone.
    This,
    /// All workers of the event.
    All,
}

/// A reply of the manager; `None`: no reply came.
#[derive(Clone, Debug)]
pub enum Heard {
    /// To a hello.
    Welcome(Option<Welcome>),
    /// To a sign of life.
    Beaten(Option<Beaten>),
    /// To the answer of a lease.
    Taken(LeaseId, Option<Taken>),
}

/// What follows.
#[derive(Debug)]
pub enum Act {
    /// Ask the manager, then hand [`Input::Heard`] in for a hello or a sign of life.
    Ask(Request),
    /// Send an answer as it lies on the disk, then hand [`Input::Heard`] in.
    Send(LeaseId),
    /// Put an answer on the disk, then hand [`Input::Kept`] in.
    Keep(LeaseId, Vec<u8>),
    /// Remove an answer from the disk.
    Forget(LeaseId),
    /// Play a game on this thread, then hand [`Input::Over`] in.
    Play(usize, Box<Fixture>),
    /// Stop a game.
    Stop(GameId),
    /// A line for people.
    Say(String),
}

/// A request of a worker; the answer to a job is another, whose bytes lie on the disk.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Request {
    /// Its first word, and its word after each start of the manager.
    Hello(Hello),
    /// A sign of life.
    Beat(Beat),
    /// A fault of an engine outside of a game.
    Told(Told),
    /// Leases that it gives back.
    Back(Back),
}

/// What a worker does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// The manager does not know yet that it can play.
    Arriving,
    Playing,
    /// It finishes the pairs that have begun, and delivers its answers.
    Leaving,
    /// It ends its games, and keeps its answers for its next start.
    Adjourning,
    /// The event is over.
    Over,
    /// It cannot go on, for this reason.
    Broken(Broken),
    /// The manager rejected it, for this reason.
    Refused(String),
}

/// The question that waits for its reply, as there is one at a time; and what is asked next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Free,
    Asking,
    BeatNext,
    HelloNext,
}

/// How a worker ends.
#[derive(Debug)]
pub struct Farewell {
    /// Its last word to the manager.
    pub back: Option<Back>,
    /// Answers that stay on the disk.
    pub kept: usize,
    /// How it ended, or why it could not go on.
    pub ended: Result<Ended, Broken>,
}

/// A worker that plays.
#[derive(Debug)]
pub struct Worker {
    /// Its hello; `ready` and the leases are as they were at its start.
    hello: Hello,
    terms: Terms,
    state: State,
    pairs: Pairs,
    /// Answers on the disk.
    outbox: BTreeSet<LeaseId>,
    /// Answers that the disk had no room for. They are kept again with each tick.
    unkept: BTreeMap<LeaseId, Vec<u8>>,
    /// True from the first such answer until the disk has taken all: no pair begins.
    is_full: bool,
    /// Answers on their transport.
    sending: HashSet<LeaseId>,
    line: Line,
    asked: Moment,
    ticked: Option<Moment>,
    refused_since: Option<Moment>,
    /// Time from its last question to the reply.
    lag: Duration,
    missed: u32,
    /// Games that are to be shown while they are played.
    boards: usize,
    acts: Vec<Act>,
}

impl Request {
    /// The last word of its subject.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Beat(_) => "beat",
            Self::Told(_) => "told",
            Self::Back(_) => "back",
        }
    }
}

impl Worker {
    /// A worker that was let in. `slots`: those of each thread; `outbox`: answers that lie on the disk.
    pub fn new(
        now: Moment,
        hello: Hello,
        terms: Terms,
        slots: Vec<usize>,
        outbox: BTreeSet<LeaseId>,
    ) -> Self {
        Self {
            hello,
            terms,
            state: State::Arriving,
            pairs: Pairs::new(slots),
            outbox,
            unkept: BTreeMap::new(),
            is_full: false,
            sending: HashSet::new(),
            line: Line::Free,
            asked: now,
            ticked: None,
            refused_since: None,
            lag: Duration::ZERO,
            missed: 0,
            boards: 0,
            acts: vec![],
        }
    }

    /// Decides what follows from an input.
    pub fn handle(&mut self, now: Moment, input: Input) -> Vec<Act> {
        match input {
            Input::Begin => self.say_hello(now),
            Input::Job(Ok(job)) => self.job(job),
            Input::Job(Err(why)) => self.say(format!("ignored a malformed job: {why}")),
            Input::Order(Ok(order), audience) => self.order(now, order, audience),
            Input::Order(Err(why), _) => self.say(format!("ignored a malformed order: {why}")),
            Input::Over(over) => {
                let done = self.pairs.over(&self.terms, now.wall, over);
                self.done(done);
            }
            Input::NoThread(game) => {
                let (entries, outcome) = (vec![], Err(Unplayed::NoWorker));
                let over = GameOver { game, entries, ended: None, outcome };
                let done = self.pairs.over(&self.terms, now.wall, over);
                self.done(done);
            }
            Input::Replaced(changes) => {
                let why = Broken::OtherEngines(changes);
                let leases = self.drop_all();
                self.give_back(leases, why.to_string(), true);
                self.turn(State::Broken(why));
            }
            Input::Fault(told) => {
                self.say(printable(&told.text));
                self.act(Act::Ask(Request::Told(told)));
            }
            Input::Kept(lease, kept) => self.kept(lease, kept),
            Input::Heard(heard) => self.hear(now, heard),
            Input::Connection(connection) => self.reconnected(now, connection),
            Input::Tick(connection) => self.tick(now, connection),
            Input::Finish => self.leave(),
            Input::Adjourn => self.turn(State::Adjourning),
        }
        std::mem::take(&mut self.acts)
    }

    /// Leases whose games it plays, is going to play, or has played without having kept the answer.
    pub fn leases(&self) -> Vec<LeaseId> {
        let mut leases = self.pairs.leases();
        leases.extend(self.unkept.keys());
        leases
    }

    /// The oldest games that people want to look at: number, lease, and place in the pair.
    pub fn shown(&self) -> Vec<(GameId, LeaseId, usize)> {
        self.pairs.shown(self.boards)
    }

    /// True if people look at its games.
    pub fn is_watched(&self) -> bool {
        self.boards > 0
    }

    /// True if nothing is left to do.
    pub fn is_done(&self) -> bool {
        match self.state {
            State::Arriving | State::Playing => false,
            State::Leaving => self.pairs.is_idle() && self.outbox.is_empty() && self.unkept.is_empty(),
            State::Adjourning | State::Broken(_) | State::Refused(_) => self.pairs.is_idle(),
            // Answers on their way are heard out: the last one may be confirmed just now.
            State::Over => self.sending.is_empty(),
        }
    }

    /// Ends the worker once it [is done](Self::is_done).
    pub fn end(self) -> Farewell {
        let why = match &self.state {
            State::Broken(why) => why.to_string(),
            _ => String::new(),
        };
        let back = Back { leases: self.leases(), why, player: None, leaves: true };
        Farewell {
            back: (self.state != State::Over).then_some(back),
            kept: self.outbox.len(),
            ended: match self.state {
                State::Over => Ok(Ended::Over),
                State::Broken(why) => Err(why),
                State::Refused(why) => Ok(Ended::Refused(why)),
                State::Arriving | State::Playing | State::Leaving | State::Adjourning => Ok(Ended::Stopped),
            },
        }
    }

    fn act(&mut self, act: Act) {
        self.acts.push(act);
    }

    fn say(&mut self, line: impl Into<String>) {
        self.act(Act::Say(line.into()));
    }

    /// Goes on to a later state.
    fn turn(&mut self, state: State) {
        if std::mem::discriminant(&state) != std::mem::discriminant(&self.state) && state > self.state {
            self.state = state;
        }
    }

    /// Takes no more: gives back what has not begun, and finishes the rest.
    fn leave(&mut self) {
        if self.state > State::Playing {
            return;
        }
        self.turn(State::Leaving);
        let leases = self.pairs.not_begun();
        self.give_back(leases, String::new(), true);
        self.say("finishing the pairs that have begun; once more gives them back");
    }

    fn job(&mut self, job: Job) {
        let has_room = self.outbox.len() < MOST_KEPT && !self.is_full;
        // What it does not take it does not list, and so it is handed out again.
        if job.epoch == self.terms.epoch && self.state <= State::Playing && has_room {
            let done = self.pairs.take(&self.terms, job);
            self.done(done);
        }
    }

    fn order(&mut self, now: Moment, order: Order, audience: Audience) {
        match order {
            Order::Hello { epoch } if epoch != self.terms.epoch => self.say_hello(now),
            Order::Stop => {
                let leases = self.pairs.not_begun();
                self.give_back(leases, String::new(), false);
            }
            Order::Over => {
                self.say("the event is over");
                self.turn(State::Over);
            }
            Order::Barred { why } if audience == Audience::This => self.refuse(&why),
            Order::Hello { .. } | Order::Barred { .. } => {}
        }
    }

    /// Ends, because the manager rejected this machine.
    fn refuse(&mut self, why: &str) {
        self.drop_all();
        self.turn(State::Refused(printable(why)));
    }

    fn drop_leases(&mut self, leases: &[LeaseId]) {
        self.unkept.retain(|lease, _| !leases.contains(lease));
        let games = self.pairs.drop_leases(leases);
        games.into_iter().for_each(|game| self.act(Act::Stop(game)));
    }

    /// Gives every pair up; returns the leases.
    fn drop_all(&mut self) -> Vec<LeaseId> {
        let leases = self.leases();
        self.drop_leases(&leases);
        leases
    }

    fn done(&mut self, done: Vec<Done>) {
        for done in done {
            match done {
                Done::Begins(thread, fixture) => self.act(Act::Play(thread, fixture)),
                Done::NotPlayed(lease, why) => self.give_back(vec![lease], why, false),
                // Nobody hears of an answer before it is on the disk.
                Done::Played(answer) => match fitting(&answer) {
                    Ok(bytes) => {
                        self.unkept.insert(answer.lease, bytes.clone());
                        self.act(Act::Keep(answer.lease, bytes));
                    }
                    Err(why) => self.kept(answer.lease, Err(why)),
                },
            }
        }
    }

    fn kept(&mut self, lease: LeaseId, kept: Result<(), NotKept>) {
        match kept {
            Ok(()) => {
                self.unkept.remove(&lease);
                self.outbox.insert(lease);
                self.send(lease);
            }
            Err(NotKept::Io(..)) if self.is_full => {}
            Err(why @ NotKept::Io(..)) => {
                self.is_full = true;
                let why = format!("an answer cannot be kept, and no pair begins before it is: {why}");
                self.say(why.clone());
                let leases = self.pairs.not_begun();
                self.give_back(leases, why, true);
            }
            Err(why) => {
                let why = format!("an answer could not be kept: {why}");
                self.say(why.clone());
                self.give_back(vec![lease], why, false);
            }
        }
    }

    fn send(&mut self, lease: LeaseId) {
        if self.sending.insert(lease) {
            self.act(Act::Send(lease));
        }
    }

    fn send_all(&mut self) {
        self.outbox.clone().into_iter().for_each(|lease| self.send(lease));
    }

    /// Gives leases back. If the manager does not hear it, the next sign of life does not list them either.
    fn give_back(&mut self, leases: Vec<LeaseId>, why: String, leaves: bool) {
        if !leases.is_empty() || leaves {
            self.act(Act::Ask(Request::Back(Back { leases, why, player: None, leaves })));
        }
    }

    fn holding(&self, now: Moment) -> Holding {
        let outbox = self.outbox.iter().copied().take(MOST_KEPT).collect();
        Holding { now: now.wall, held: self.leases(), outbox }
    }

    fn say_hello(&mut self, now: Moment) {
        if self.line != Line::Free {
            self.line = Line::HelloNext;
            return;
        }
        let (ready, holding) = (self.state <= State::Playing && !self.is_full, self.holding(now));
        self.ask(now, Request::Hello(Hello { ready, holding, ..self.hello.clone() }));
    }

    fn ask(&mut self, now: Moment, request: Request) {
        (self.line, self.asked) = (Line::Asking, now);
        self.act(Act::Ask(request));
    }

    /// Gives a sign of life, unless a question waits for its reply, and sends what was not taken.
    fn beat(&mut self, now: Moment) {
        if self.state == State::Arriving || self.is_full {
            // A sign of life does not say whether it can play.
            self.say_hello(now);
        } else if self.line == Line::Free {
            let lag = u32::try_from(self.lag.as_millis()).unwrap_or(u32::MAX);
            let (epoch, session) = (self.terms.epoch, self.hello.session);
            let holding = self.holding(now);
            self.ask(now, Request::Beat(Beat { epoch, session, lag, holding }));
        }
        self.send_all();
    }

    fn tick(&mut self, now: Moment, connection: Connection) {
        let jumped = self.ticked.replace(now).is_some_and(|before| has_jumped(before, now));
        if jumped {
            let leases = self.drop_all();
            let why = "its clock jumped: the games in play are given up".to_owned();
            if !leases.is_empty() {
                self.give_back(leases, why, false);
            }
        }
        self.believe_refusal(now, connection);
        self.keep_again(now);
        let dropped = self.pairs.dropped();
        dropped.into_iter().for_each(|game| self.act(Act::Stop(game)));
        if now.since(self.asked) >= BEAT {
            self.beat(now);
        }
    }

    /// Keeps again what the disk had no room for; plays on once it has taken everything.
    fn keep_again(&mut self, now: Moment) {
        if self.is_full && self.unkept.is_empty() {
            self.is_full = false;
            self.say_hello(now);
        } else if self.is_full {
            self.acts.extend(self.unkept.iter().map(|(lease, bytes)| Act::Keep(*lease, bytes.clone())));
        }
    }

    /// Ends once the server has another event, or refuses this worker for long: while a server takes over new users it
    /// refuses everybody whose connection is just being made.
    fn believe_refusal(&mut self, now: Moment, connection: Connection) {
        if connection == Connection::Elsewhere {
            self.drop_all();
            self.turn(State::Broken(Broken::OtherEvent));
        }
        if connection != Connection::Refused {
            self.refused_since = None;
        } else if now.since(*self.refused_since.get_or_insert(now)) >= REFUSED {
            self.turn(State::Broken(Broken::Unknown));
        }
    }

    /// A manager that comes back with its server hears at once that this worker is there: its first word may have come
    /// before the connection.
    fn reconnected(&mut self, now: Moment, connection: Connection) {
        if connection == Connection::Up {
            // What was on its way may be lost with the connection; a second time does no harm.
            self.sending.clear();
            if self.line == Line::Asking {
                self.line = Line::BeatNext;
            }
            self.beat(now);
        }
    }

    fn hear(&mut self, now: Moment, heard: Heard) {
        let next = match heard {
            Heard::Taken(lease, taken) => return self.taken(lease, taken),
            Heard::Welcome(_) | Heard::Beaten(_) => std::mem::replace(&mut self.line, Line::Free),
        };
        match heard {
            Heard::Welcome(Some(Welcome::Come(terms))) => self.welcomed(*terms),
            Heard::Welcome(Some(Welcome::Refused { why, for_good: true })) => self.refuse(&why),
            Heard::Welcome(Some(Welcome::Refused { why, .. })) => self.say(printable(&why)),
            Heard::Beaten(Some(beaten)) => {
                self.lag = now.since(self.asked);
                match beaten {
                    Beaten::Known(verdicts) => {
                        self.heard_again();
                        self.judged(&verdicts);
                    }
                    Beaten::HelloAgain => self.say_hello(now),
                }
            }
            Heard::Welcome(None) | Heard::Beaten(None) => self.unheard(),
            Heard::Taken(..) => {}
        }
        match next {
            Line::HelloNext if self.line == Line::Free => self.say_hello(now),
            Line::BeatNext if self.line == Line::Free => self.beat(now),
            _ => {}
        }
    }

    fn welcomed(&mut self, terms: Terms) {
        let same =
            Terms { epoch: terms.epoch, verdicts: terms.verdicts.clone(), ..self.terms.clone() } == terms;
        if !same {
            return self.turn(State::Broken(Broken::OtherEvent));
        }
        self.turn(State::Playing);
        self.heard_again();
        self.judged(&terms.verdicts);
        self.terms = terms;
        self.send_all();
    }

    fn judged(&mut self, verdicts: &Verdicts) {
        self.drop_leases(&verdicts.lost);
        self.boards = verdicts.boards;
    }

    fn unheard(&mut self) {
        self.missed += 1;
        if self.missed == MISSED {
            self.say("the manager does not answer; this worker goes on, and goes on trying");
        }
    }

    fn heard_again(&mut self) {
        if std::mem::take(&mut self.missed) >= MISSED {
            self.say("the manager is back");
        }
    }

    fn taken(&mut self, lease: LeaseId, taken: Option<Taken>) {
        self.sending.remove(&lease);
        match taken {
            Some(Taken::Committed) => self.forget(lease),
            Some(Taken::Refused { why }) => {
                self.say(printable(&why));
                self.forget(lease);
            }
            // It is sent again with a later sign of life.
            Some(Taken::Later) | None => {}
        }
    }

    fn forget(&mut self, lease: LeaseId) {
        self.outbox.remove(&lease);
        self.act(Act::Forget(lease));
    }
}

/// A text of the manager, as it may be shown.
pub(crate) fn printable(text: &str) -> String {
    notation::printable_lines(text).into_owned()
}

/// True if one of the clocks has jumped between two ticks, or this program was stopped.
fn has_jumped(before: Moment, now: Moment) -> bool {
    let steady = now.since(before);
    let wall = Duration::from_millis(now.wall.saturating_sub(before.wall).max(0).unsigned_abs());
    steady > TICK + JUMP || steady.abs_diff(wall) > JUMP
}

/// An answer as it is sent; engines that talk much are shortened.
fn fitting(answer: &Answer) -> Result<Vec<u8>, NotKept> {
    /// Most bytes of an answer.
    const MAX_BYTES: usize = 512 * 1024;
    let bytes = serde_json::to_vec(answer)?;
    if bytes.len() <= MAX_BYTES {
        return Ok(bytes);
    }
    let mut short = answer.clone();
    for stamped in short.games.iter_mut().flatten() {
        if let referee::entry::Entry::Moved(moved) = &mut stamped.entry
            && let Some(thought) = &mut moved.thought
        {
            thought.pv = None;
        }
    }
    let bytes = serde_json::to_vec(&short)?;
    if bytes.len() <= MAX_BYTES + 64 * 1024 { Ok(bytes) } else { Err(NotKept::Long(bytes.len())) }
}

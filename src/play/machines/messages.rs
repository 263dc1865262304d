//! What manager and worker say to each other: JSON, one value a message. Every message of a stranger is bounded by the
//! server's largest payload (1 MB), and checked again where it is taken.

use crate::hub::TreeRef;
use arena::{play::Fixture, speed::Speed};
use contest::schedule::{Pairing, ReplayDraws};
use plan::{EnginePlan, SandboxPlan};
use referee::{
    adjudicate::Adjudication,
    clock::TimeControl,
    entry::{GameId, Moved, PlayerId, Stamped},
    evaluation::ScoreScale,
    game::Setup,
    identity::Identity,
    lease::LeaseId,
    rules::Rules,
};
use rsshogi::types::Move;
use serde::{Deserialize, Serialize};

/// Version of these messages. A manager refuses a worker of another version.
pub const PROTOCOL: u32 = 6;
/// Most characters of a machine's name.
pub const NAME: usize = 40;
/// Most slots of a machine.
pub const SLOTS: usize = 1024;
/// Most bytes of what is told of a machine in a line.
pub const WORD: usize = 200;
/// Most lines that a machine has said in a run of the manager.
pub const MOST_WORDS: usize = 20;

/// The first word of a worker, and its word after each start of the manager.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// Version of the program.
    pub build: String,
    /// Drawn at random by each start of a worker: what is sealed for one start is nothing for another.
    pub session: u64,
    /// Name of the machine.
    pub name: String,
    /// Pairs that it plays at once.
    pub slots: usize,
    /// Cores of the machine.
    pub cores: usize,
    /// Its speed, where the event wants it.
    pub speed: Option<Speed>,
    /// True if its engines were looked at and it can play; otherwise it only asks what is played.
    pub ready: bool,
    /// What its look at the engines has found and is no fault, for people: [`MOST_WORDS`] lines at most, of [`WORD`] bytes.
    pub words: Vec<String>,
    /// What it has.
    pub holding: Holding,
}

/// The leases that a worker has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// Time at the worker, in ms since 1970-01-01 UTC.
    pub now: i64,
    /// Leases whose games it plays, or is going to.
    pub held: Vec<LeaseId>,
    /// Leases whose answers wait until they are taken.
    pub outbox: Vec<LeaseId>,
}

/// The answer to a [`Hello`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer")]
pub enum Welcome {
    /// The machine may play.
    Come(Box<Terms>),
    /// It may not.
    Refused {
        /// Why, as a lowercase fragment.
        why: String,
        /// True if asking again is of no use.
        for_good: bool,
    },
}

/// What an event is played with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Terms {
    /// The start of the manager.
    pub epoch: u64,
    /// Name of the event.
    pub event: String,
    /// True if every engine has to make a move before the first game.
    pub look: bool,
    /// True if clocks are scaled by the speed of each machine, which it has to measure.
    pub scaled: bool,
    /// The players.
    pub players: Vec<Player>,
    /// The rules of the games.
    pub rules: Rules,
    /// Endings by score.
    pub adjudication: Adjudication,
    /// What to give up of what the worker has.
    pub verdicts: Verdicts,
}

/// A player, as a worker starts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Player {
    /// The engine.
    pub engine: EnginePlan,
    /// What is kept from it.
    pub sandbox: SandboxPlan,
    /// What it is on the manager's machine; another one does not play.
    pub identity: Option<Identity>,
    /// The engine for machines that do not have it; none if they cannot be sent it.
    pub sent: Option<SentEngine>,
}

/// An engine that machines are sent: the files that are known to belong to it, as they lie below its directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentEngine {
    /// The files.
    pub tree: TreeRef,
    /// Path of the program in it.
    pub program: String,
}

impl Player {
    /// The player of an engine.
    pub fn new(engine: &EnginePlan, identity: Option<Identity>) -> Self {
        let engine = EnginePlan { source: None, ..engine.clone() };
        Self { sandbox: engine.sandbox.clone(), engine, identity, sent: None }
    }

    /// The engine as it is started.
    pub fn engine(&self) -> EnginePlan {
        EnginePlan { sandbox: self.sandbox.clone(), ..self.engine.clone() }
    }
}

/// A sign of life, every few seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Beat {
    /// The start of the manager that the worker knows.
    pub epoch: u64,
    /// The start of the worker, as in its [`Hello`]: a manager that does not know it yet can answer.
    pub session: u64,
    /// Time from its last question to the answer, in ms.
    pub lag: u32,
    /// What it has.
    pub holding: Holding,
}

/// The answer to a [`Beat`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer")]
pub enum Beaten {
    /// The manager knows the worker.
    Known(Verdicts),
    /// It does not, or was started again: say hello.
    HelloAgain,
}

/// What becomes of the leases that a worker has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// Leases that are lost: their games are played by others, or not at all.
    pub lost: Vec<LeaseId>,
    /// Games that somebody wants to look at while they are played.
    pub boards: usize,
}

/// A game as it stands, for those who look on. It is not answered, may be lost, and comes at most twice a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sight {
    /// The lease.
    pub lease: LeaseId,
    /// The place of the game in its pair.
    pub game: usize,
    /// Number of moves before the first one told.
    pub from: usize,
    /// The moves since, each with its time in ms since 1970-01-01 UTC.
    pub moves: Vec<(i64, Moved)>,
}

/// The games of a lease.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The start of the manager.
    pub epoch: u64,
    /// The lease.
    pub lease: LeaseId,
    /// True if they were played before by another machine, and are only compared.
    pub repeats: bool,
    /// The games of one pair, in their order.
    pub games: Vec<JobGame>,
}

/// A game that is to be played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobGame {
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// Time controls, black first.
    pub times: [TimeControl; 2],
    /// Scales of the scores that adjudication reads, black's first.
    pub scales: [ScoreScale; 2],
    /// The start position as SFEN.
    pub start: String,
    /// The moves of the opening in USI.
    pub opening: Vec<String>,
    /// How often it was drawn before without counting.
    pub draws: u32,
    /// Seed of what is drawn in the game.
    pub seed: u64,
    /// Which draws of it will be played again and do not count.
    pub replay: ReplayDraws,
    /// True if its clocks are part of its first entry.
    pub tells_times: bool,
    /// Options of its own that the engines are given for it, black first, as names and values.
    pub options: [Vec<(String, String)>; 2],
}

impl JobGame {
    /// The game of a fixture.
    pub fn of(fixture: &Fixture) -> Self {
        let Setup { times, scales, start, opening, seed, .. } = &fixture.setup;
        Self {
            pairing: fixture.pairing,
            times: *times,
            scales: *scales,
            start: start.clone(),
            opening: opening.iter().map(|mv| mv.to_usi()).collect(),
            draws: fixture.draws,
            seed: *seed,
            replay: fixture.replay,
            tells_times: fixture.tells_times,
            options: fixture.options.each_ref().map(|options| options.to_vec()),
        }
    }

    /// The game as the arena plays it, under a number of the worker's own.
    ///
    /// # Errors
    /// A move of the opening that cannot be read.
    pub fn fixture(
        &self,
        game: GameId,
        rules: Rules,
        adjudication: Adjudication,
    ) -> Result<Fixture, NotAMove> {
        let read = |text: &String| Move::from_usi(text).ok_or_else(|| NotAMove(text.clone()));
        let setup = Setup {
            game,
            rules,
            adjudication,
            scales: self.scales,
            times: self.times,
            start: self.start.clone(),
            opening: self.opening.iter().map(read).collect::<Result<_, _>>()?,
            scores: vec![],
            hears: [false; 2],
            may_reject: false,
            seed: self.seed,
        };
        let Self { pairing, draws, replay, tells_times, .. } = *self;
        let options = self.options.each_ref().map(|options| options.as_slice().into());
        Ok(Fixture { setup, pairing, draws, replay, tells_times, options })
    }
}

/// A move of an opening that is none in USI.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a move in USI")]
pub struct NotAMove(pub String);

/// The answer to a [`Job`]: what was played. Its bytes never change, however often they are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The lease.
    pub lease: LeaseId,
    /// True if the games are only compared, as the job says.
    pub repeats: bool,
    /// The entries of each game, in order.
    pub games: Vec<Vec<Stamped>>,
}

/// What the manager says of an [`Answer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer")]
pub enum Taken {
    /// It is stored, now or before.
    Committed,
    /// It cannot be taken now: send it again later.
    Later,
    /// It will never be taken.
    Refused {
        /// Why, as a lowercase fragment.
        why: String,
    },
}

/// The manager's answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// To a hello.
    Welcome(Welcome),
    /// To a sign of life.
    Beaten(Beaten),
    /// To an answer, and to whatever is only confirmed.
    Taken(Taken),
}

/// A fault of an engine that happened outside of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The engine, if it is about one.
    pub player: Option<PlayerId>,
    /// What happened, with the last lines of the engine.
    pub text: String,
}

/// Leases that a worker gives back: their games were not played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Back {
    /// The leases.
    pub leases: Vec<LeaseId>,
    /// Why, as a lowercase fragment; a fault on record unless it is empty.
    pub why: String,
    /// The engine that cannot be played with here, if that is why.
    pub player: Option<PlayerId>,
    /// True if the worker takes no further games.
    pub leaves: bool,
}

/// What the manager says to all workers, or to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "order")]
pub enum Order {
    /// The manager has begun: say hello.
    Hello {
        /// The start of the manager.
        epoch: u64,
    },
    /// Begin no further pair, and give those back that have not begun.
    Stop,
    /// The event is over.
    Over,
    /// The machine gets nothing more.
    Barred {
        /// Why, as a lowercase fragment.
        why: String,
    },
}

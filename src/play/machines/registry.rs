//! The machines and leases of the current run. Time is an argument.
//!
//! A lease ends once: answered, or lost. It is lost when its machine is silent for [`LEASE`], does not list it, gives it
//! back, answers it with impossible games, hoards it while others wait, or is dropped. Slowness alone loses no lease.

use crate::messages::{Beat, Beaten, Hello, Holding, Job, JobGame, NAME, PROTOCOL, SLOTS, Verdicts, WORD};
use arena::{play::Fixture, speed::Speed};
use notation::is_hidden;
use referee::{
    clock::Scale,
    lease::{Lease, LeaseId, MachineState, Presence},
};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::{Duration, Instant},
};

/// A machine that is silent for so long has lost what it had.
pub const LEASE: Duration = Duration::from_secs(30);
/// Time between two signs of life of a worker.
pub const BEAT: Duration = Duration::from_secs(5);
/// A machine that is silent for so long gets nothing new.
const SILENT: Duration = Duration::from_secs(12);
/// Time for a job to reach its machine, and for the machine to tell of it.
const ON_ITS_WAY: Duration = Duration::from_secs(10);
/// A machine whose pairs take less gets the next pair while it plays.
const SHORT: Duration = Duration::from_secs(30);
/// Play that a machine is given ahead for each slot, where its pairs are shorter than this: the way to it and the disk take
/// a part of a second for each pair, and the next one is to be there. More would be waited for at the end of an event.
const AHEAD: Duration = Duration::from_secs(2);
/// Most pairs that it is given ahead for each slot.
const MOST_AHEAD: u32 = 16;
/// Pairs that a machine has at most before it has brought one back, doubled after each [`RAMP`]: one that says that it has
/// many slots, and plays nothing, does not get all pairs of an event.
const TRIAL: usize = 16;
const RAMP: Duration = Duration::from_secs(10);
/// While others wait, pairs are taken back that were away for so long, and so many times as long as the longest pair that
/// others have brought back, if their machine has brought none back meanwhile.
const HOARD: Duration = Duration::from_secs(30);
const TIMES: u32 = 10;
/// A pair that was away for so many times that time is taken back from a machine that brings others back.
const PATIENT: u32 = 4;
/// A machine from which pairs were taken back so often in a row hinders the event.
const HOARDS: u32 = 3;
/// Most machines of an event.
const MACHINES: usize = 1000;
/// Most leases in an answer that a machine is told to give up; it hears of the others with its next signs of life.
const MOST_LOST: usize = 1000;

/// A machine of the current run.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Pairs that it plays at once.
    pub slots: usize,
    /// Cores.
    pub cores: usize,
    /// Its speed, where it was measured.
    pub speed: Option<Speed>,
    /// By how much its clocks are longer than those of the plan.
    pub scale: Scale,
    /// Faults that it brought on record.
    pub faults: u32,
    /// What was told of it last.
    pub word: String,
    /// Time from its last question to the answer, in ms.
    lag: u32,
    /// The start of its worker.
    session: u64,
    part: Part,
    seen: Instant,
    /// Its clock minus ours, in ms.
    skew: i64,
    leases: HashSet<LeaseId>,
    /// When it came first in this run.
    came: Instant,
    /// Pairs that came back, the time they took together, and the longest of them.
    pairs: u32,
    took: Duration,
    longest: Duration,
    /// When the last one came back.
    brought: Option<Instant>,
    /// How often pairs were taken back from it since it has brought one back.
    hoards: u32,
}

/// A machine's part in the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It asks what is played, or has left.
    Away,
    /// The operator lets it join again: it has to say hello.
    Readmitted,
    /// It plays.
    Here,
    /// It gets no more games: the operator has dropped it.
    Dropped,
    /// It gets no more games: an answer of it was impossible.
    Lied,
}

impl Machine {
    fn new(now: Instant, part: Part) -> Self {
        Self {
            name: String::new(),
            slots: 1,
            cores: 1,
            speed: None,
            scale: Scale::ONE,
            faults: 0,
            word: String::new(),
            lag: 0,
            session: 0,
            part,
            seen: now,
            skew: 0,
            leases: HashSet::new(),
            came: now,
            pairs: 0,
            took: Duration::ZERO,
            longest: Duration::ZERO,
            brought: None,
            hoards: 0,
        }
    }

    /// True if it gets no more games.
    fn is_barred(&self) -> bool {
        matches!(self.part, Part::Dropped | Part::Lied)
    }

    /// Its state; `since`: when it was given its oldest pair.
    fn state(&self, now: Instant, clock: i64, since: Option<Instant>) -> MachineState {
        let silent = now.saturating_duration_since(self.seen);
        let ago = |time: Duration| clock.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let presence = match () {
            () if self.is_barred() => Presence::Barred,
            () if !self.is_here() => Presence::Left,
            () if silent > SILENT => Presence::Silent,
            () => Presence::Here,
        };
        let mean = self.speed.as_ref().and_then(Speed::mean);
        MachineState {
            name: self.name.clone(),
            slots: small(self.slots),
            cores: small(self.cores),
            nps: mean.map(|nps| nps as u64),
            scale: self.scale,
            playing: small(self.leases.len()),
            faults: self.faults,
            lag: self.lag,
            presence,
            word: self.word.clone(),
            seen: ago(silent),
            held_since: since.map(|since| ago(now.saturating_duration_since(since))),
        }
    }

    /// True if it plays, or could.
    fn is_here(&self) -> bool {
        self.part == Part::Here
    }

    /// Pairs that it can be given now.
    fn places(&self, now: Instant) -> usize {
        if !self.is_here() || now.saturating_duration_since(self.seen) > SILENT {
            return 0;
        }
        self.full().min(self.allowed(now)).saturating_sub(self.leases.len())
    }

    /// Pairs that it may have, whatever it says that it can play.
    fn allowed(&self, now: Instant) -> usize {
        match (self.hoards, self.pairs) {
            (1.., _) => 1,
            (0, 1..) => usize::MAX,
            (0, 0) => {
                let steps = now.saturating_duration_since(self.came).as_secs() / RAMP.as_secs();
                TRIAL << steps.min(16)
            }
        }
    }

    /// Pairs that it has when it has enough: those that it plays at once, and those ahead.
    fn full(&self) -> usize {
        self.slots * (1 + self.ahead())
    }

    /// Pairs that it is given ahead for each slot.
    fn ahead(&self) -> usize {
        match self.took.checked_div(self.pairs) {
            Some(pair) if pair < SHORT => {
                let pairs = AHEAD.as_millis() / pair.as_millis().max(1);
                pairs.clamp(1, MOST_AHEAD.into()) as usize
            }
            _ => 0,
        }
    }
}

/// A lease of the current run.
#[derive(Clone, Debug)]
struct Held {
    worker: String,
    fixtures: Vec<Fixture>,
    since: Instant,
    stage: Stage,
}

/// How far a lease is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    /// Its job is on the transport.
    Given,
    /// Its machine has listed it.
    Listed,
    /// The answer with this SHA-256 is being stored. The lease cannot be lost any more.
    Answered(String),
}

impl Held {
    fn is_open(&self) -> bool {
        !matches!(self.stage, Stage::Answered(_))
    }

    /// True if its machine should list it by now.
    fn is_due(&self, now: Instant) -> bool {
        self.stage == Stage::Listed || now.saturating_duration_since(self.since) > ON_ITS_WAY
    }
}

/// What a lease is when an answer comes.
#[derive(Debug)]
pub enum Found {
    /// Its games, to be checked.
    Open(Vec<Fixture>),
    /// Its answer, with this SHA-256, is being stored.
    Answered(String),
    /// Not one of this run, or lost.
    Unknown,
}

/// Pairs that were taken back from a machine, as others wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hoard {
    /// The machine's worker.
    pub worker: String,
    /// The pairs.
    pub leases: Vec<LeaseId>,
    /// How long it has had the oldest of them.
    pub held: Duration,
    /// The longest that others need for a pair.
    pub usual: Duration,
    /// True if it has done so too often to get further pairs.
    pub is_last: bool,
}

/// Why a hello is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why, as a lowercase fragment.
    pub why: String,
    /// True if asking again is of no use.
    pub for_good: bool,
}

/// Machines and leases.
#[derive(Debug, Default)]
pub struct Registry {
    machines: BTreeMap<String, Machine>,
    leases: HashMap<LeaseId, Held>,
    /// Names of machines, by worker, that had leases of an earlier run: an answer may come before the hello.
    earlier: HashMap<String, String>,
}

impl Registry {
    /// Machines, in the order of their names on the wire.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.machines.values()
    }

    /// Name of a machine.
    pub fn name_of(&self, worker: &str) -> String {
        let earlier = || self.earlier.get(worker).cloned().unwrap_or_else(|| format!("worker {worker}"));
        self.machines.get(worker).map_or_else(earlier, |machine| machine.name.clone())
    }

    /// The workers of the machine of that name.
    pub fn workers_named(&self, machine: &str) -> impl Iterator<Item = &str> {
        let named = self.machines.iter().filter(move |(_, known)| known.name == machine);
        named.map(|(worker, _)| worker.as_str())
    }

    /// The start of a worker that was heard last.
    pub fn session_of(&self, worker: &str) -> u64 {
        self.machines.get(worker).map_or(0, |machine| machine.session)
    }

    /// Our time for a time of a machine, in ms since 1970-01-01 UTC.
    pub fn our_time(&self, worker: &str, at: i64) -> i64 {
        at.saturating_sub(self.machines.get(worker).map_or(0, |machine| machine.skew))
    }

    /// Keeps what was told of a machine.
    pub fn told(&mut self, worker: &str, word: &str, is_fault: bool) {
        let Some(machine) = self.machines.get_mut(worker) else { return };
        machine.word = word.chars().take(WORD).collect();
        machine.faults = machine.faults.saturating_add(u32::from(is_fault));
    }

    /// The machines that have asked for games, for whoever looks on. `clock`: the time now, in ms since 1970-01-01 UTC.
    pub fn states(&self, now: Instant, clock: i64) -> Vec<MachineState> {
        let mut oldest: HashMap<&str, Instant> = HashMap::new();
        for held in self.leases.values().filter(|held| held.is_open()) {
            let since = oldest.entry(&held.worker).or_insert(held.since);
            *since = held.since.min(*since);
        }
        let asked = self
            .machines
            .iter()
            .filter(|(_, machine)| machine.is_here() || machine.is_barred() || machine.pairs > 0);
        asked
            .map(|(worker, machine)| machine.state(now, clock, oldest.get(worker.as_str()).copied()))
            .collect()
    }

    /// Sets the clocks of a machine.
    pub fn set_scale(&mut self, worker: &str, scale: Scale) {
        self.machines.get_mut(worker).into_iter().for_each(|machine| machine.scale = scale);
    }

    /// Pairs that can be given now.
    pub fn places(&self, now: Instant) -> usize {
        self.machines().map(|machine| machine.places(now)).sum()
    }

    /// Boards that a machine shows, of so many that all machines show together: the same number each, as far as they go.
    pub fn boards_of(&self, worker: &str, all: usize) -> usize {
        let playing = || self.machines.iter().filter(|(_, machine)| machine.is_here());
        let (count, place) = (playing().count(), playing().position(|(id, _)| id == worker));
        place.map_or(0, |place| all / count + usize::from(place < all % count))
    }

    /// A game of a lease that a machine has, with the name of the machine.
    pub fn game_of(&self, worker: &str, lease: LeaseId, game: usize) -> Option<(&Fixture, &str)> {
        let held = self.leases.get(&lease).filter(|held| held.worker == worker && held.is_open())?;
        Some((held.fixtures.get(game)?, &self.machines.get(worker)?.name))
    }

    /// Pairs that all machines play at once, as far as they have shown that they do.
    pub fn slots(&self, now: Instant) -> usize {
        let here = self.machines().filter(|machine| machine.is_here());
        here.map(|machine| machine.slots.min(machine.allowed(now))).sum()
    }

    /// The name of the machine that has a lease, and for how long it has had it.
    pub fn holder(&self, now: Instant, lease: LeaseId) -> Option<(String, Duration)> {
        let held = self.leases.get(&lease)?;
        Some((self.name_of(&held.worker), now.saturating_duration_since(held.since)))
    }

    /// True if a machine has a lease that it has not answered.
    pub fn awaits(&self, worker: &str, lease: LeaseId) -> bool {
        self.leases.get(&lease).is_some_and(|held| held.worker == worker && held.is_open())
    }

    /// Takes pairs back that machines have had for far longer than others need for one, as others have places and get
    /// none. `here`: the longest that a game took on the manager's machine, if that has places. Such a machine gets one pair
    /// at a time until it brings one back.
    pub fn hoards(&mut self, now: Instant, here: Option<Duration>) -> Vec<Hoard> {
        let waits: Vec<&String> =
            self.machines.iter().filter(|(_, machine)| machine.places(now) > 0).map(|(id, _)| id).collect();
        let usual = |worker: &String| {
            let others = self.machines.iter().filter(|(id, _)| *id != worker);
            let longest = others.map(|(_, machine)| machine.longest).chain(here).max().unwrap_or_default();
            let do_wait = here.is_some() || waits.iter().any(|id| *id != worker);
            Some(longest).filter(|longest| do_wait && !longest.is_zero())
        };
        let limits: HashMap<String, Duration> =
            self.machines.keys().filter_map(|worker| Some((worker.clone(), usual(worker)?))).collect();
        let mut hoards: BTreeMap<String, Hoard> = BTreeMap::new();
        for (lease, held) in &self.leases {
            let Some(&usual) = limits.get(&held.worker).filter(|_| held.is_open()) else { continue };
            let (age, limit) = (now.saturating_duration_since(held.since), HOARD.max(usual * TIMES));
            let brought = self.machines.get(&held.worker).and_then(|machine| machine.brought);
            let plays = brought.is_some_and(|brought| now.saturating_duration_since(brought) <= limit);
            if age <= if plays { limit * PATIENT } else { limit } {
                continue;
            }
            let (worker, held) = (held.worker.clone(), Duration::ZERO);
            let hoard = hoards.entry(worker.clone()).or_insert_with(|| Hoard {
                worker,
                leases: vec![],
                held,
                usual,
                is_last: false,
            });
            hoard.held = hoard.held.max(age);
            hoard.leases.push(*lease);
        }
        hoards.into_values().map(|hoard| self.taken_back(hoard)).collect()
    }

    fn taken_back(&mut self, mut hoard: Hoard) -> Hoard {
        hoard.leases.retain(|lease| self.lose(*lease));
        if let Some(machine) = self.machines.get_mut(&hoard.worker) {
            machine.hoards += 1;
            hoard.is_last = machine.hoards >= HOARDS;
        }
        hoard
    }

    /// A machine comes, or comes again. Leases that it does not have any more are lost; they are returned with what
    /// becomes of those that it has.
    ///
    /// # Errors
    /// Why it may not play.
    pub fn hello(
        &mut self,
        now: Instant,
        clock: i64,
        worker: &str,
        hello: &Hello,
    ) -> Result<(Verdicts, Vec<LeaseId>), Refusal> {
        check(hello)?;
        if !self.machines.contains_key(worker) && self.machines.len() >= MACHINES {
            return Err(Refusal { why: format!("there are {MACHINES} machines already"), for_good: false });
        }
        let open = self.leases.iter().filter(|(_, held)| held.worker == worker && held.is_open());
        let leases = open.map(|(lease, _)| *lease).collect();
        let part = if hello.ready { Part::Here } else { Part::Away };
        let machine = self.machines.entry(worker.to_owned()).or_insert_with(|| Machine::new(now, part));
        machine.part = if machine.is_barred() { machine.part } else { part };
        (machine.name, machine.slots) = (hello.name.clone(), hello.slots);
        (machine.cores, machine.speed) = (hello.cores, hello.speed.clone());
        (machine.session, machine.seen, machine.leases) = (hello.session, now, leases);
        machine.skew = hello.holding.now.saturating_sub(clock);
        // What was sent to a process that is gone will not be played.
        let missing = self.missing(now, worker, &hello.holding);
        Ok((self.verdicts(worker, &hello.holding), missing))
    }

    /// A sign of life. Leases that the machine does not have any more are lost.
    pub fn beat(
        &mut self,
        now: Instant,
        clock: i64,
        worker: &str,
        epoch: u64,
        beat: &Beat,
    ) -> (Beaten, Vec<LeaseId>) {
        // A machine that did not hear that it was dropped hears it with the reply to its hello, and one that is away says
        // whether it can play: its goodbye may have come late. A hello of an earlier start may have come after that of a
        // later one: jobs and replies would be sealed for the wrong start.
        let is_known = |machine: &&mut Machine| {
            let is_same = beat.epoch == epoch && beat.session == machine.session;
            is_same && !matches!(machine.part, Part::Dropped | Part::Readmitted | Part::Away)
        };
        let Some(machine) = self.machines.get_mut(worker).filter(is_known) else {
            return (Beaten::HelloAgain, vec![]);
        };
        machine.seen = now;
        machine.lag = beat.lag;
        machine.skew = beat.holding.now.saturating_sub(clock);
        let missing = self.missing(now, worker, &beat.holding);
        (Beaten::Known(self.verdicts(worker, &beat.holding)), missing)
    }

    /// Takes leases away that a machine should have and does not list. One that it has is known to have arrived.
    fn missing(&mut self, now: Instant, worker: &str, holding: &Holding) -> Vec<LeaseId> {
        let listed: HashSet<LeaseId> = holding.held.iter().chain(&holding.outbox).copied().collect();
        let mut missing = vec![];
        // Its own alone: a thousand machines give a sign of life every few seconds.
        for lease in self.machines.get(worker).map(|machine| &machine.leases).into_iter().flatten() {
            let Some(held) = self.leases.get_mut(lease).filter(|held| held.is_open()) else {
                continue;
            };
            if listed.contains(lease) {
                held.stage = Stage::Listed;
            } else if held.is_due(now) {
                missing.push(*lease);
            }
        }
        missing.into_iter().filter(|lease| self.lose(*lease)).collect()
    }

    /// Leases of a machine that are not its own any more. Answers are judged when they come.
    fn verdicts(&self, worker: &str, holding: &Holding) -> Verdicts {
        let is_own = |lease: &LeaseId| self.leases.get(lease).is_some_and(|held| held.worker == worker);
        let lost = holding.held.iter().copied().filter(|lease| !is_own(lease)).take(MOST_LOST).collect();
        Verdicts { lost, boards: 0 }
    }

    /// Starts the time of every machine and lease anew: nobody could be heard.
    pub fn excuse(&mut self, now: Instant) {
        self.machines.values_mut().for_each(|machine| machine.seen = machine.seen.max(now));
        self.leases.values_mut().for_each(|held| held.since = held.since.max(now));
    }

    /// Leases of machines that have been silent for too long, by the name of the machine.
    pub fn silent(&mut self, now: Instant) -> BTreeMap<String, Vec<LeaseId>> {
        let is_silent = |held: &Held| {
            let seen =
                self.machines.get(&held.worker).map_or(held.since, |machine| machine.seen.max(held.since));
            held.is_open() && now.saturating_duration_since(seen) > LEASE
        };
        let mut silent: BTreeMap<String, Vec<LeaseId>> = BTreeMap::new();
        for (lease, held) in self.leases.iter().filter(|(_, held)| is_silent(held)) {
            silent.entry(self.name_of(&held.worker)).or_default().push(*lease);
        }
        silent.values().flatten().for_each(|lease| _ = self.lose(*lease));
        silent
    }

    /// Gives a pair to the machine with the most places; `None` when there is none.
    pub fn give(
        &mut self,
        now: Instant,
        epoch: u64,
        lease: LeaseId,
        fixtures: Vec<Fixture>,
    ) -> Option<Lease> {
        if self.leases.contains_key(&lease) {
            return None;
        }
        let most =
            |machine: &Machine| (machine.slots.saturating_sub(machine.leases.len()), machine.places(now));
        let (worker, machine) = self
            .machines
            .iter_mut()
            .filter(|(_, machine)| machine.places(now) > 0)
            .max_by_key(|(_, machine)| most(machine))?;
        machine.leases.insert(lease);
        let (worker, scale, machine) = (worker.clone(), machine.scale, machine.name.clone());
        let fixtures: Vec<Fixture> = fixtures.into_iter().map(|fixture| fixture.scaled(scale)).collect();
        let games = fixtures.iter().map(|fixture| fixture.pairing).collect();
        let held = Held { worker: worker.clone(), fixtures, since: now, stage: Stage::Given };
        self.leases.insert(lease, held);
        Some(Lease { lease, epoch, machine, worker, scale, games })
    }

    /// True if a lease is one of this run that is neither stored nor lost.
    pub fn has(&self, lease: LeaseId) -> bool {
        self.leases.contains_key(&lease)
    }

    /// Gives a pair that was played to another machine, to be compared: beyond its places, as these are always taken.
    pub fn give_again(&mut self, now: Instant, lease: LeaseId, fixtures: Vec<Fixture>, first: &str) -> bool {
        let can = |machine: &Machine| {
            let is_heard = now.saturating_duration_since(machine.seen) <= SILENT;
            let full = machine.full().min(machine.allowed(now));
            machine.is_here() && is_heard && machine.leases.len() <= full
        };
        let others = self.machines.iter_mut().filter(|(worker, machine)| *worker != first && can(machine));
        let freest = others.min_by_key(|(_, machine)| machine.leases.len() * 1000 / machine.slots.max(1));
        let Some((worker, machine)) = freest else { return false };
        machine.leases.insert(lease);
        let held = Held { worker: worker.clone(), fixtures, since: now, stage: Stage::Given };
        self.leases.insert(lease, held);
        true
    }

    /// The job of a lease, which is sent now, and the worker that it is for; `None`: the lease is lost by now.
    pub fn job(&mut self, now: Instant, epoch: u64, lease: LeaseId, repeats: bool) -> Option<(String, Job)> {
        let held = self.leases.get_mut(&lease)?;
        held.since = now;
        let games = held.fixtures.iter().map(JobGame::of).collect();
        Some((held.worker.clone(), Job { epoch, lease, repeats, games }))
    }

    /// Takes over a lease of an earlier run: its machine has the time of a lease to come back, and must have it then.
    pub fn adopt(&mut self, now: Instant, lease: &Lease, fixtures: Vec<Fixture>) {
        let fixtures = fixtures.into_iter().map(|fixture| fixture.scaled(lease.scale)).collect();
        let held = Held { worker: lease.worker.clone(), fixtures, since: now, stage: Stage::Listed };
        self.leases.insert(lease.lease, held);
        self.earlier.insert(lease.worker.clone(), lease.machine.clone());
    }

    /// What a lease is when a machine answers it.
    pub fn find(&self, worker: &str, lease: LeaseId) -> Found {
        match self.leases.get(&lease).filter(|held| held.worker == worker) {
            None => Found::Unknown,
            Some(Held { stage: Stage::Answered(sha256), .. }) => Found::Answered(sha256.clone()),
            Some(held) => Found::Open(held.fixtures.clone()),
        }
    }

    /// The answer of a lease is being stored. `took` is how long its games were, as its machine says.
    pub fn answered(&mut self, now: Instant, lease: LeaseId, sha256: &str, took: Duration) {
        let Some(held) = self.leases.get_mut(&lease) else { return };
        held.stage = Stage::Answered(sha256.to_owned());
        let away = now.saturating_duration_since(held.since);
        if let Some(machine) = self.machines.get_mut(&held.worker) {
            machine.leases.remove(&lease);
            machine.pairs = machine.pairs.saturating_add(1);
            machine.took = machine.took.saturating_add(took);
            (machine.longest, machine.hoards) = (machine.longest.max(away), 0);
            machine.brought = Some(now);
        }
    }

    /// An answered lease is over: its games are stored, or the event has turned them down.
    pub fn end(&mut self, lease: LeaseId) {
        self.leases.remove(&lease);
    }

    /// A lease is lost, unless it was answered or lost before.
    pub fn lose(&mut self, lease: LeaseId) -> bool {
        match self.leases.get(&lease) {
            Some(held) if held.is_open() => {
                if let Some(machine) = self.machines.get_mut(&held.worker) {
                    machine.leases.remove(&lease);
                }
                self.leases.remove(&lease);
                true
            }
            _ => false,
        }
    }

    /// A machine gives leases back; those that it had are returned.
    pub fn back(&mut self, worker: &str, leases: &[LeaseId], leaves: bool) -> Vec<LeaseId> {
        if let Some(machine) = self.machines.get_mut(worker).filter(|machine| leaves && machine.is_here()) {
            machine.part = Part::Away;
        }
        let own = |lease: &&LeaseId| self.leases.get(lease).is_some_and(|held| held.worker == worker);
        let own: Vec<LeaseId> = leases.iter().filter(own).copied().collect();
        own.into_iter().filter(|lease| self.lose(*lease)).collect()
    }

    /// A machine that the operator had dropped may play again, once it says hello.
    pub fn readmit(&mut self, worker: &str) {
        if let Some(machine) = self.machines.get_mut(worker).filter(|machine| machine.part == Part::Dropped) {
            machine.part = Part::Readmitted;
        }
    }

    /// Gives a machine nothing more in this run; what it has is lost. `part`: [`Part::Dropped`] or [`Part::Lied`].
    pub fn bar(&mut self, worker: &str, part: Part) -> Vec<LeaseId> {
        let Some(machine) = self.machines.get_mut(worker) else { return vec![] };
        machine.part = part;
        let leases: Vec<LeaseId> = machine.leases.iter().copied().collect();
        leases.into_iter().filter(|lease| self.lose(*lease)).collect()
    }
}

/// Checks what a stranger says of itself.
fn check(hello: &Hello) -> Result<(), Refusal> {
    let refused = |why: String| Err(Refusal { why, for_good: true });
    if hello.protocol != PROTOCOL {
        let (theirs, build) = (hello.protocol, printable(&hello.build));
        let ours = env!("CARGO_PKG_VERSION");
        return refused(format!(
            "this worker ({build}) speaks protocol {theirs} and the manager ({ours}) protocol {PROTOCOL}: start the same \
             version of renmei on both"
        ));
    }
    let is_name = |text: &str| !text.trim().is_empty() && text.len() <= NAME && !text.chars().any(is_hidden);
    if !is_name(&hello.name) {
        return refused(format!("the name of a machine has 1 to {NAME} visible characters"));
    }
    if !(1..=SLOTS).contains(&hello.slots) {
        return refused(format!("a machine has 1 to {SLOTS} slots, not {}", hello.slots));
    }
    Ok(())
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).take(NAME).collect()
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;

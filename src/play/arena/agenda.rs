//! The games of an event that are left to play, and the choice of the next one.
//!
//! Pure: no thread, channel, clock or file. [`Agenda::next`] answers from the plan, the schedule, the results so far and
//! what the dispatcher says of its surroundings ([`Surroundings`]).

use crate::operations::command::Command;
use contest::{
    fault_limit::Halt,
    schedule::{Next, Pairing, Schedule},
    standings::Standings,
};
use plan::Plan;
use referee::{
    entry::{Entry, GameId, PlayerId},
    lease::Lease,
};
use std::{
    collections::{HashMap, HashSet},
    mem,
    sync::Arc,
};

/// Pairs that a sequential test may be ahead of the first one that is not complete, for each slot of every machine: a
/// slow machine holds up the others only when they have played so many.
const WINDOW: u64 = 4;
/// Least of these pairs.
pub(crate) const LEAST_WINDOW: u64 = 32;
/// Most games that are taken from the schedule to find those of earlier leases.
const SEARCHED: usize = 100_000;

/// What else the choice of a game depends on: the operator, the players of the network, the machines.
pub(crate) trait Surroundings {
    /// The adjourned game at this place that waits for the operator.
    fn held(&self, pairing: &Pairing) -> Option<GameId>;

    /// True if a game was ever adjourned.
    fn has_adjourned(&self) -> bool;

    /// True if the options of the game's own are known, if it has any.
    fn knows_options(&self, pairing: &Pairing) -> bool;

    /// True if players log in over the network.
    fn has_network(&self) -> bool;

    /// True if a player of the network is logged in and waits for a game.
    fn waits(&self, player: PlayerId) -> bool;

    /// Pairs that all machines play at once; `None` in an event without machines.
    fn machine_slots(&self) -> Option<usize>;

    /// The machine that has a game of this pair of a stage, in words.
    fn holder(&self, stage: u8, pair: u64) -> Option<String>;

    /// True if the break before a later round than those that have begun is over, and no machine has a game of a round
    /// before it.
    fn break_is_over(&self, before: RoundOf) -> bool;
}

/// A round of a stage: the stage from 0, the round from 1. Later ones are greater.
pub(crate) type RoundOf = (u8, u32);

fn round_of(pairing: &Pairing) -> RoundOf {
    (pairing.stage, pairing.round)
}

/// Where a game is to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a slot of this machine.
    Here,
    /// On another machine.
    Elsewhere,
    /// On another machine that plays the first game of this pair.
    With(Pairing),
}

/// The answer of an agenda.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    /// Play this game.
    Game(Pairing),
    /// Record this bye, then ask again.
    Bye(Entry),
    /// This game is not played, as these players (black first) have withdrawn: record its end, then ask again.
    Default(Pairing, [bool; 2]),
    /// No game can begin now.
    Nothing,
}

/// The search for the games of leases of earlier runs.
pub(crate) struct Search {
    leases: Vec<Lease>,
    wanted: HashSet<(u8, u64)>,
    found: Vec<Pairing>,
}

/// The games of an event that are left to play.
pub(crate) struct Agenda {
    pub(crate) plan: Arc<Plan>,
    schedule: Schedule,
    pub(crate) standings: Standings,
    /// The games that are played on this machine.
    pub(crate) running: HashMap<GameId, Pairing>,
    /// Games that were handed out and cannot begin yet: a GPU is taken, or a player of the network is busy or missing.
    pending: Vec<Pairing>,
    /// Adjourned games that the schedule has handed out again, and that wait for the operator.
    held: Vec<Pairing>,
    /// The halts, and the number of newcomers and of those who have withdrawn, with which the schedule has passed over games of halted players.
    passed_over: (Vec<Halt>, usize),
    /// True if games are played on this machine at all.
    has_slots: bool,
    /// The last round that has begun, in an event with breaks between rounds.
    begun: Option<RoundOf>,
    /// The round that waits for the end of a break.
    resting: Option<RoundOf>,
}

impl Agenda {
    pub(crate) fn new(plan: Arc<Plan>, standings: Standings, has_slots: bool) -> Self {
        let per = plan.openings_per();
        let players = standings.players();
        let schedule = Schedule::new(&plan.stages, players, plan.seed, plan.replay_draws, per);
        let (running, pending, held, passed_over) = (HashMap::new(), vec![], vec![], (vec![], 0));
        // A round that an earlier run has begun goes on without a break.
        let begun = Some(standings.now()).filter(|(_, round)| *round > 0);
        Self {
            plan,
            schedule,
            standings,
            running,
            pending,
            held,
            passed_over,
            has_slots,
            begun,
            resting: None,
        }
    }

    /// The next game that can begin at this place: a pending one, or the next of the schedule.
    pub(crate) fn next(&mut self, place: Place, around: &impl Surroundings) -> Choice {
        self.tidy(around);
        if !self.anybody_plays() {
            self.resting = None;
            return Choice::Nothing;
        }
        let without = |(at, pairing): (usize, &Pairing)| Some((at, self.is_without(pairing)?));
        if let Some((at, out)) = self.pending.iter().enumerate().find_map(without) {
            return Choice::Default(self.pending.remove(at), out);
        }
        if let Some(at) = self.pending.iter().position(|pairing| self.suits(pairing, place, around)) {
            return Choice::Game(self.pending.remove(at));
        }
        while self.pending.len() < self.may_hold(around) && !self.rests(around) {
            match self.schedule.next(&self.standings) {
                Next::Game(pairing) if self.is_halted(&pairing) => self.schedule.pass_over(&pairing),
                Next::Game(pairing) if let Some(out) = self.is_without(&pairing) => {
                    return Choice::Default(pairing, out);
                }
                // So are all games after it.
                Next::Game(pairing) if self.is_far_ahead(&pairing, around) => {
                    self.schedule.withdrawn(&pairing);
                    return Choice::Nothing;
                }
                Next::Game(pairing) if is_held(&pairing, around) => self.held.push(pairing),
                Next::Game(pairing) if !around.knows_options(&pairing) => {
                    self.schedule.withdrawn(&pairing);
                    return Choice::Nothing;
                }
                Next::Game(pairing) if self.suits(&pairing, place, around) => return Choice::Game(pairing),
                Next::Game(pairing) => self.pending.push(pairing),
                Next::Bye { stage, round, player, half_points } => {
                    return Choice::Bye(Entry::Bye { stage, round, player, half_points });
                }
                Next::Wait | Next::Done => return Choice::Nothing,
            }
        }
        Choice::Nothing
    }

    /// True if the next step of the schedule is one of a round that does not begin yet. A copy is asked, so that the
    /// round is paired at the end of the break, by the penalties and withdrawals of that time.
    fn rests(&mut self, around: &impl Surroundings) -> bool {
        if self.plan.round_break.is_zero() || self.resting.is_some_and(|round| !around.break_is_over(round)) {
            return self.resting.is_some();
        }
        self.resting = None;
        let next = match self.schedule.clone().next(&self.standings) {
            Next::Game(game) => round_of(&game),
            Next::Bye { stage, round, .. } => (stage, round),
            Next::Wait | Next::Done => return false,
        };
        let open = self.running.values().chain(&self.pending).chain(&self.held);
        let is_later = self.begun.is_none_or(|begun| begun < next);
        if is_later && (open.map(round_of).any(|round| round < next) || !around.break_is_over(next)) {
            self.resting = Some(next);
            return true;
        }
        self.begun = self.begun.max(Some(next));
        false
    }

    /// A game that was played here is over. Its result may have given its round more games: those of an encounter that is
    /// level.
    pub(crate) fn over(&mut self, game: GameId) {
        self.running.remove(&game);
        self.resting = None;
    }

    /// The round that waits for the end of a break, while no game is played here.
    pub(crate) fn resting(&self) -> Option<RoundOf> {
        self.resting.filter(|_| self.running.is_empty() && self.pending.is_empty())
    }

    /// Takes up adjourned games that wait no longer, and takes back those that are not to be played now.
    fn tidy(&mut self, around: &impl Surroundings) {
        let held = mem::take(&mut self.held).into_iter();
        let (held, free): (Vec<_>, Vec<_>) = held.partition(|pairing| is_held(pairing, around));
        self.pending.splice(0..0, free);
        let players = (0..self.standings.players()).map(PlayerId::at);
        let withdrawn = players.filter(|player| self.standings.arbitration().has_withdrawn(*player)).count();
        let passed_over = (self.standings.halts().to_vec(), self.standings.joined().len() + withdrawn);
        if self.passed_over != passed_over {
            self.passed_over = passed_over;
            self.schedule.take_up();
        }
        self.held = held.into_iter().filter(|game| !self.gives_back(game)).collect();
        // After a verdict the schedule completes pairs, and begins none. A correction of an early result may have brought
        // a test or a tuning back, and games that wait must not keep those from beginning that they wait for.
        let on_machines = around.machine_slots().is_some();
        let decided = on_machines && self.standings.verdict().is_some();
        for game in mem::take(&mut self.pending) {
            let waits = on_machines && self.is_far_ahead(&game, around) || !around.knows_options(&game);
            match () {
                () if self.gives_back(&game) => {}
                () if decided || waits => self.schedule.withdrawn(&game),
                () => self.pending.push(game),
            }
        }
    }

    /// Gives a game back to the schedule that nobody has begun and a player of it cannot begin; false for any other.
    fn gives_back(&mut self, game: &Pairing) -> bool {
        let is_replaced = [game.black, game.white].iter().any(|&player| self.standings.is_replaced(player));
        match () {
            () if is_replaced => self.schedule.withdrawn(game),
            () if self.is_halted(game) => self.schedule.pass_over(game),
            () => return false,
        }
        true
    }

    /// The players of a game (black first) who have withdrawn; `None`: both play. One that the file withdraws is not there, also
    /// in a round that is paired already.
    fn is_without(&self, pairing: &Pairing) -> Option<[bool; 2]> {
        let [black, white] = self.standings.withdrawn(pairing);
        let by_file =
            |player: PlayerId| self.plan.engines.get(player.index()).is_some_and(|engine| engine.withdrawn);
        let out = [black || by_file(pairing.black), white || by_file(pairing.white)];
        Some(out).filter(|out| out.contains(&true))
    }

    fn suits(&self, pairing: &Pairing, place: Place, around: &impl Surroundings) -> bool {
        let suits = match place {
            Place::Here => self.can_begin(pairing, around),
            Place::Elsewhere => !self.stays_here(pairing, around),
            Place::With(first) => is_same_pair(pairing, &first) && !self.stays_here(pairing, around),
        };
        suits && !is_held(pairing, around)
    }

    fn can_begin(&self, pairing: &Pairing, around: &impl Surroundings) -> bool {
        let awaited = |player: PlayerId| around.has_network() && self.is_remote(player);
        let comes = |player: PlayerId| !awaited(player) || !self.plays(player) && around.waits(player);
        !self.lacks_gpu(pairing) && comes(pairing.black) && comes(pairing.white)
    }

    /// The second game of a pair whose first is played here stays here.
    fn stays_here(&self, pairing: &Pairing, around: &impl Surroundings) -> bool {
        self.may_be_played_on(pairing, around)
            || self.has_slots && self.carries_clocks(pairing)
            || self.has_slots && self.running.values().any(|other| is_same_pair(other, pairing))
    }

    /// True if the game at this place may be an adjourned one. Such a game is played here, where its clocks ran.
    pub(crate) fn may_be_played_on(&self, pairing: &Pairing, around: &impl Surroundings) -> bool {
        pairing.attempt > 0 && self.has_slots && around.has_adjourned()
    }

    /// True if the game begins with the clocks that a draw before it has left.
    pub(crate) fn carries_clocks(&self, pairing: &Pairing) -> bool {
        self.plan.replay_draws.keeps_clocks && pairing.attempt > 0 && self.standings.replays(pairing) > 0
    }

    /// True if a player is halted. Where one has withdrawn, the game needs no player.
    fn is_halted(&self, pairing: &Pairing) -> bool {
        let players = [pairing.black, pairing.white];
        self.is_without(pairing).is_none() && players.iter().any(|&player| self.standings.is_halted(player))
    }

    /// Whether two players are left who are neither halted nor replaced. Without them the rest of the schedule, which may be long, is not
    /// asked for.
    fn anybody_plays(&self) -> bool {
        let out =
            |player: &PlayerId| self.standings.is_halted(*player) || self.standings.is_replaced(*player);
        (0..self.plan.engines.len().max(2)).map(PlayerId::at).filter(|player| !out(player)).nth(1).is_some()
    }

    /// Games that may be pending while others overtake them. With remote players there are enough that no player who is
    /// logged in waits for one who is not.
    fn may_hold(&self, around: &impl Surroundings) -> usize {
        match around.machine_slots() {
            _ if around.has_network() => 2 * self.plan.engines.len(),
            // Second games of pairs wait for a slot here while machines get others.
            Some(_) => 1 + self.plan.concurrency,
            None => 1,
        }
    }

    /// True if the players of a game are on a GPU that the running games take up.
    fn lacks_gpu(&self, pairing: &Pairing) -> bool {
        let gpu = |player: PlayerId| self.plan.engines[player.index()].gpu;
        let share = |pairing: &Pairing| gpu(pairing.black) + gpu(pairing.white);
        let needed = share(pairing);
        let used: f64 = self.running.values().map(share).sum();
        needed > 0.0 && used > 0.0 && used + needed > self.plan.gpus
    }

    fn is_remote(&self, player: PlayerId) -> bool {
        self.plan.engines[player.index()].remote
    }

    fn plays(&self, player: PlayerId) -> bool {
        self.running.values().any(|pairing| [pairing.black, pairing.white].contains(&player))
    }

    /// True if a game waits for this player, who has none and has not logged in.
    pub(crate) fn is_absent(&self, player: PlayerId, around: &impl Surroundings) -> bool {
        self.is_remote(player) && !self.plays(player) && !around.waits(player)
    }

    /// Whether a game of a sequential test is too far ahead of the first one that is neither played nor left out. That one
    /// is never too far ahead itself, so somebody plays it, it is the next to begin, or it waits for the operator: without a
    /// bound a test would be played to its last game while an early one is held.
    fn is_far_ahead(&self, pairing: &Pairing, around: &impl Surroundings) -> bool {
        let slots = match around.machine_slots() {
            Some(slots) => slots,
            None if self.held.is_empty() => return false,
            None => 0,
        };
        let stage = self.plan.stages.get(usize::from(pairing.stage));
        if !stage.is_some_and(|stage| stage.format.is_sequential()) {
            return false;
        }
        let slots = (slots + self.plan.concurrency) as u64;
        pairing.pair >= self.first_unfinished(pairing) / 2 + (slots * WINDOW).max(LEAST_WINDOW)
    }

    /// The first index of the stage of this game that is neither played nor left out.
    fn first_unfinished(&self, of: &Pairing) -> u64 {
        self.standings.finished(of.stage.into()).map_or(0, |finished| finished.first_absent(0))
    }

    /// The search for the games of earlier leases that are still to be played. The others were lost, and others have
    /// played their games since: a search for these would take all of the schedule.
    pub(crate) fn search(&self, leases: Vec<Lease>) -> Search {
        let leases = unfinished(leases, |game| {
            self.standings.finished(game.stage.into()).is_some_and(|finished| finished.contains(game.index))
        });
        let games = leases.iter().flat_map(|lease| &lease.games);
        Search { wanted: games.map(|game| (game.stage, game.index)).collect(), leases, found: vec![] }
    }

    /// Takes games from the schedule until those of the search are found. Returns a bye to record before the search goes
    /// on.
    pub(crate) fn find(&mut self, search: &mut Search) -> Option<Entry> {
        while !search.wanted.is_empty() && search.found.len() < SEARCHED {
            match self.schedule.next(&self.standings) {
                Next::Game(pairing) => {
                    search.wanted.remove(&(pairing.stage, pairing.index));
                    search.found.push(pairing);
                }
                Next::Bye { stage, round, player, half_points } => {
                    return Some(Entry::Bye { stage, round, player, half_points });
                }
                Next::Wait | Next::Done => break,
            }
        }
        None
    }

    /// The leases whose games were all found; the other games that were found wait to begin.
    pub(crate) fn adopt(&mut self, search: Search) -> Vec<Lease> {
        let Search { mut leases, mut found, .. } = search;
        leases.retain(|lease| {
            let is_whole = lease.games.iter().all(|game| found.contains(game));
            found.retain(|game| !is_whole || !lease.games.contains(game));
            is_whole
        });
        self.pending.extend(found);
        leases
    }

    /// The games that wait to begin.
    pub(crate) fn pending(&self) -> &[Pairing] {
        &self.pending
    }

    /// True if games wait to begin, or for the operator.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.pending.is_empty() || !self.held.is_empty() || self.resting.is_some()
    }

    /// Hands games out again before all others, as the same attempts.
    pub(crate) fn put_back(&mut self, games: impl IntoIterator<Item = Pairing>) {
        self.pending.splice(0..0, games);
    }

    /// Forgets a pending game, which was ruled on.
    pub(crate) fn drop_pending(&mut self, pairing: &Pairing) {
        self.pending.retain(|pending| pending != pairing);
    }

    /// A game has no result that counts, and is handed out again as the next attempt.
    pub(crate) fn returned(&mut self, pairing: Pairing) {
        self.resting = None;
        self.schedule.returned(pairing);
    }

    /// A game does not count any more, and is handed out again.
    pub(crate) fn reopened(&mut self, pairing: Pairing) {
        self.resting = None;
        self.schedule.reopened(pairing);
    }

    /// True if every game was played.
    pub(crate) fn is_done(&self) -> bool {
        self.running.is_empty()
            && !self.is_waiting()
            && self.schedule.clone().next(&self.standings) == Next::Done
    }

    /// Why no game begins although places are free; `None`: none is left, or players and operators know the reason.
    /// `plays`: whether a game is played, here or elsewhere.
    pub(crate) fn why_idle(&self, plays: bool, around: &impl Surroundings) -> Option<String> {
        if self.standings.verdict().is_some() || !self.standings.halts().is_empty() || self.resting.is_some()
        {
            return None;
        }
        // Asked of a copy, which hands nothing out.
        let next = self.pending.first().copied();
        let next = next.map_or_else(|| self.schedule.clone().next(&self.standings), Next::Game);
        match next {
            Next::Game(game) if self.is_far_ahead(&game, around) => Some(self.why_far_ahead(&game, around)),
            Next::Game(game) if !around.knows_options(&game) => {
                (!plays).then(|| "its options follow from results of games that nobody plays".to_owned())
            }
            // Missing players are named elsewhere, and a GPU is taken by a game that runs.
            Next::Game(game) if around.has_network() || self.lacks_gpu(&game) => None,
            Next::Game(game) if !plays => Some(format!(
                "the game at place {} of the schedule could begin, and does not",
                game.index + 1
            )),
            Next::Wait | Next::Done if !plays && !self.held.is_empty() => {
                Some(format!("the schedule {}", self.waits_for(around.held(&self.held[0]))))
            }
            Next::Wait if !plays => {
                Some("the schedule waits for results of games that nobody plays".to_owned())
            }
            _ => None,
        }
    }

    /// What the operator orders for an adjourned game.
    fn waits_for(&self, held: Option<GameId>) -> String {
        let game = held.map_or(0, |game| game.0);
        let play_on = Command::line(&self.plan.database, &self.plan.name, &format!("play-on {game}"));
        format!("waits for adjourned game {game}, until `{play_on}` or `replay {game}`")
    }

    /// Which pair a sequential test waits for, and where it is.
    fn why_far_ahead(&self, next: &Pairing, around: &impl Surroundings) -> String {
        let pair = self.first_unfinished(next) / 2;
        let of_pair = |game: &Pairing| (game.stage, game.pair) == (next.stage, pair);
        let here = self.running.iter().find(|(_, game)| of_pair(game)).map(|(game, _)| *game);
        let held = self.held.iter().find(|game| of_pair(game));
        let place = match (here, around.holder(next.stage, pair)) {
            _ if let Some(held) = held => self.waits_for(around.held(held)),
            (Some(game), _) => format!("is played here (game {})", game.0),
            (None, Some(place)) => place,
            (None, None) => "nobody plays".to_owned(),
        };
        format!("the sequential test is {} pairs ahead of pair {}, which {place}", next.pair - pair, pair + 1)
    }
}

/// True if a game at this place waits for the operator since it was adjourned.
fn is_held(pairing: &Pairing, around: &impl Surroundings) -> bool {
    pairing.attempt > 0 && around.held(pairing).is_some()
}

fn is_same_pair(one: &Pairing, other: &Pairing) -> bool {
    (one.stage, one.pair) == (other.stage, other.pair)
}

/// Leases whose games are all unfinished.
fn unfinished(leases: Vec<Lease>, is_finished: impl Fn(&Pairing) -> bool) -> Vec<Lease> {
    leases.into_iter().filter(|lease| !lease.games.iter().any(&is_finished)).collect()
}

#[cfg(test)]
#[path = "agenda_tests.rs"]
mod tests;

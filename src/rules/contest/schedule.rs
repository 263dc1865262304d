//! The schedule of an event: opponents, order, colours and openings of its games.
//!
//! [`Schedule::next`] computes the game at an index for every format, so that a million games cost no memory. A
//! schedule remembers only the indices that it has handed out; results come from the [`Standings`]. A resumed run
//! therefore builds a new `Schedule` and folds the stored entries into `Standings`: finished games are not issued
//! again, and an unfinished game that had started is issued as a further attempt. The same seed and results always
//! give the same pairings.
//!
//! **"Why was I paired so?"** The documentation of each format answers ([`round_robin`], [`gauntlet`], [`random`],
//! [`information`], [`swiss`], [`knockout`], [`sprt`]); no format has hidden state. Common to all:
//!
//! - A stage is a list of encounters (two players meeting once), each of a fixed number of indices (its games, and
//!   the extra ones that a tie rule may ask for): index = encounter * that number + game. Round robin, gauntlet,
//!   random pairing and SPRT compute the encounter from its number; the others from the results before it.
//! - A round robin or gauntlet with several pairs an encounter plays one pair of every encounter before the next, as
//!   fastchess and cutechess do with their rounds: the list above then has an encounter once for each of its pairs.
//! - The format gives the colours of the first game of an encounter, unless its stage says otherwise ([`Colours`]); they
//!   alternate within the encounter. Two neighbouring games of it are a pair; the last game of an encounter of
//!   odd length has no partner.
//! - Openings are numbered through the event, stage after stage. Every pair has one of its own, every game if
//!   pairs do not share openings, or every round ([`OpeningsPer`]). Extra games that were not needed leave gaps.
//! - Games come in the order of their indices, but no game waits for a slow one unless it depends on its result.
//! - The best of a stage enter the next one: [`Standings::entrants`].

pub mod gauntlet;
pub mod information;
pub mod joined;
pub mod knockout;
mod lot;
pub(crate) use lot::mixed;
mod matching;
pub mod random;
pub mod round_robin;
pub mod rounds;
pub mod size;
pub mod sprt;
mod step;
pub mod swiss;
mod table;

pub use joined::Joined;

pub use crate::stage::{Colours, EntryRules, Format, SitsOut, Stage, SwissRules, Tie};
pub use referee::pairing::Pairing;

use crate::{
    stage::seeds,
    standings::{Bracket, Progress, Ranges, Standings},
};
use joined::Field;
use referee::{DrawBy, Outcome, WinBy, game::is_starved, ids::PlayerId};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, mem};
use step::{Step, pick};
use table::Table;

/// Most replays of a game that is lost on time for want of a processor: a machine may be too busy for good.
const STARVED: u32 = 10;

/// The rule for replaying draws, and games that a busy machine decided; a replayed game does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayDraws {
    /// Most replays of a game; 0: draws count.
    pub times: u32,
    /// True if colours are swapped, as after a sennichite between professionals.
    pub swap_colors: bool,
    /// True if only a draw by sennichite is replayed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_sennichite: bool,
    /// True if both players have the time that the drawn game left them, instead of all of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_clocks: bool,
    /// True if a game is replayed that an engine lost on time after it had waited for a processor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub starved: bool,
}

impl ReplayDraws {
    /// True if a game that ended so, with this evidence, is replayed, after so many replays at its place in the schedule.
    pub fn replays(&self, outcome: Outcome, evidence: &str, replays: u32) -> bool {
        match outcome {
            Outcome::Draw { by: DrawBy::Sennichite } => replays < self.times,
            Outcome::Draw { .. } => !self.only_sennichite && replays < self.times,
            Outcome::Win { by: WinBy::Time, .. } => self.starved && replays < STARVED && is_starved(evidence),
            _ => false,
        }
    }
}

/// What has an opening of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpeningsPer {
    /// Every game.
    Game,
    /// Every pair of games with colours swapped.
    #[default]
    Pair,
    /// Every round: all its encounters have the same, one for each pair of games.
    Round,
}

/// The answer of a schedule that is asked for a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Play this game.
    Game(Pairing),
    /// `player` has no opponent in this round. The caller records an [`Entry::Bye`](referee::entry::Entry::Bye) with
    /// these fields and folds it into the standings; the next round of a Swiss waits for that.
    Bye {
        /// The stage of the event, from 0.
        stage: u8,
        /// The round, from 1.
        round: u32,
        /// The player without an opponent.
        player: PlayerId,
        /// Twice the score of the bye: that of winning every game of the encounter in a Swiss, half of it where an arbiter
        /// has given the bye, nothing in a knock-out.
        half_points: u8,
    },
    /// No game now: later games depend on one that is still running.
    Wait,
    /// No game any more: every game is played and counts, or the test has a verdict and no game is running.
    Done,
}

/// The order of play of an event; hands out every game once.
///
/// ```
/// use contest::{
///     schedule::{Format, Next, OpeningsPer, ReplayDraws, Schedule, Stage},
///     standings::Standings,
/// };
///
/// let stages = [Stage { format: Format::RoundRobin { cycles: 1 }, games: 2, ..Stage::default() }];
/// let standings = Standings::new(&stages, 3);
/// let mut schedule = Schedule::new(&stages, 3, 1, ReplayDraws::default(), OpeningsPer::Pair);
/// assert_eq!(schedule.total(), Some(6));
/// let (Next::Game(first), Next::Game(second)) = (schedule.next(&standings), schedule.next(&standings)) else {
///     panic!("six games can be played at once");
/// };
/// assert_eq!((first.black, first.white, first.opening), (second.white, second.black, second.opening));
/// ```
#[derive(Clone, Debug)]
pub struct Schedule {
    stages: Vec<Stage>,
    players: usize,
    seed: u64,
    replay: ReplayDraws,
    openings: OpeningsPer,
    /// Players who came after the start.
    joined: Vec<Joined>,
    /// The number of stages that are over.
    over: usize,
    open: Option<OpenStage>,
}

/// The current stage.
#[derive(Clone, Debug)]
struct OpenStage {
    entrants: Vec<PlayerId>,
    first_opening: u64,
    /// Indices handed out by this run and not returned.
    issued: Ranges,
    /// Indices that are not played any more, as a player was replaced.
    left_out: Ranges,
    /// Indices that nobody has begun, as a player is halted; they count as handed out.
    passed_over: Ranges,
    /// Number of the next attempt, by index, of games returned and not handed out again.
    returned: BTreeMap<u64, u32>,
    /// Byes of a knock-out that were handed out.
    byes_issued: Vec<PlayerId>,
    swiss: swiss::Round,
    information: information::Round,
}

impl Schedule {
    /// The schedule of an event of `players` players, from its start or, with the [`Standings`] of an earlier run,
    /// from where that run stopped. `seed` draws lots for colours. Of more than 256 stages, the first 256 are played.
    pub fn new(
        stages: &[Stage],
        players: usize,
        seed: u64,
        replay: ReplayDraws,
        openings: OpeningsPer,
    ) -> Self {
        Self {
            stages: stages.iter().take(1 << u8::BITS).cloned().collect(),
            players,
            seed,
            replay,
            openings,
            joined: vec![],
            over: 0,
            open: None,
        }
    }

    /// Number of games of the whole event; `None` if it depends on results (knock-out, SPRT). Those who came later are
    /// counted from [`Self::follow`] on.
    pub fn total(&self) -> Option<u64> {
        (0..self.stages.len()).try_fold(0_u64, |sum, at| match self.stages[at].format {
            Format::Knockout { .. } | Format::Sprt { .. } | Format::Precision { .. } => None,
            _ => Some(sum.saturating_add(self.indices(at))),
        })
    }

    /// The same, without the games that are not played any more because a player was replaced, or has withdrawn from a Swiss.
    /// In random pairing it is not known how many the former are.
    pub fn total_by(&mut self, standings: &Standings) -> Option<u64> {
        self.follow(standings);
        let total = self.total()?.saturating_sub(self.unpaired(standings));
        if standings.joined().iter().all(|joined| joined.replaces.is_none()) {
            return Some(total);
        }
        let (stage, entrants) = (self.stages.first()?, standings.entrants(0));
        if matches!(stage.format, Format::Random { .. }) {
            return None;
        }
        let (field, running) = (self.field(stage, entrants.len()), |index: u64| {
            standings.running().any(|(_, game)| game.index == index)
        });
        let is_left_out = |index: &u64| {
            let table = field.table(index / stage.stride()).and_then(|table| table.seated(&entrants));
            table.is_some_and(|table| {
                [table.black, table.white].iter().any(|&player| standings.is_replaced(player))
            }) && !standings.finished(0).is_some_and(|finished| finished.contains(*index))
                && !running(*index)
        };
        let left_out = (0..self.indices(0)).filter(is_left_out).count();
        Some(total.saturating_sub(left_out as u64))
    }

    /// Games of Swiss rounds that are not paired, as players have withdrawn.
    fn unpaired(&self, standings: &Standings) -> u64 {
        let (arbitration, mut sum) = (standings.arbitration(), 0_u64);
        if arbitration.is_untouched() {
            return sum;
        }
        for (number, stage) in (0..).zip(&self.stages) {
            let Format::Swiss { rounds } = stage.format else { continue };
            let entrants = standings.entrants(number.into());
            let tables = entrants.len() as u64 / 2;
            let lacking = |round| tables - arbitration.playing(&entrants, (number, round)) / 2;
            sum += (1..=rounds).map(lacking).sum::<u64>() * stage.stride();
        }
        sum
    }

    /// Takes in who has joined the event since.
    pub fn follow(&mut self, standings: &Standings) {
        let known = self.joined.len();
        let Some(new) = standings.joined().get(known..).filter(|new| !new.is_empty()) else { return };
        self.joined.extend_from_slice(new);
        self.players = standings.players();
        match &mut self.open {
            Some(open) if self.over == 0 => open.entrants = standings.entrants(0),
            // The first stage was over, and has games again.
            open => (self.over, *open) = (0, None),
        }
    }

    /// The encounters of a stage. Players join the first one alone.
    fn field<'a>(&'a self, stage: &'a Stage, entrants: usize) -> Field<'a> {
        Field { stage, entrants, joined: &self.joined, seed: self.seed }
    }

    fn indices(&self, at: usize) -> u64 {
        let (stage, entrants) = (&self.stages[at], self.entrants(at));
        match at {
            0 => self.field(stage, entrants).encounters().saturating_mul(stage.stride()),
            _ => indices(stage, entrants),
        }
    }

    /// The next step. Every entry so far must be folded into `standings`; games that were handed out and have not
    /// started may be missing from it.
    pub fn next(&mut self, standings: &Standings) -> Next {
        self.follow(standings);
        while self.over < self.stages.len() {
            match self.step(standings) {
                Step::Over => {
                    self.over += 1;
                    self.open = None;
                }
                Step::Play(index) => match self.issue(index, standings) {
                    Some(pairing) => return Next::Game(pairing),
                    None => return Next::Done,
                },
                Step::Bye { round, player, half_points } => {
                    return Next::Bye { stage: self.over as u8, round, player, half_points };
                }
                Step::Wait => return Next::Wait,
            }
        }
        Next::Done
    }

    /// Takes back a game without a result that counts: aborted, adjourned, or a draw that is to be replayed. The game
    /// is handed out again, before later games and as the next attempt. To be called after its entries are folded.
    pub fn returned(&mut self, pairing: Pairing) {
        let Some(open) = self.open.as_mut().filter(|_| usize::from(pairing.stage) == self.over) else {
            return;
        };
        if open.issued.remove(pairing.index) {
            open.returned.insert(pairing.index, pairing.attempt.saturating_add(1));
        }
    }

    /// Forgets that a game was handed out which nobody has begun: unlike [`Self::returned`] it is handed out again as the
    /// same attempt, and after a verdict not at all.
    pub fn withdrawn(&mut self, pairing: &Pairing) {
        if let Some(open) = self.open.as_mut().filter(|_| usize::from(pairing.stage) == self.over) {
            open.issued.remove(pairing.index);
        }
    }

    /// Passes over a game that nobody has begun, as a player of it is halted: it is handed out again after
    /// [`Self::take_up`], as the same attempt.
    pub fn pass_over(&mut self, pairing: &Pairing) {
        if let Some(open) = self.open.as_mut().filter(|_| usize::from(pairing.stage) == self.over) {
            open.passed_over.insert(pairing.index);
        }
    }

    /// Takes up the games that were passed over: a halt was lifted, or a halted player was replaced.
    pub fn take_up(&mut self) {
        let Some(open) = &mut self.open else { return };
        for index in mem::take(&mut open.passed_over).iter().flatten() {
            open.issued.remove(index);
        }
    }

    /// Takes back a game that had counted and does not count any more. To be called after its entries are folded, and only
    /// while nothing has begun that follows from its result.
    pub fn reopened(&mut self, pairing: Pairing) {
        if usize::from(pairing.stage) < self.over {
            (self.over, self.open) = (usize::from(pairing.stage), None);
        }
        // A round that was complete is not, and a later one whose games were passed over is paired anew.
        self.take_up();
        let rounds = self.open.as_mut().map(|open| (&mut open.swiss, &mut open.information));
        rounds.into_iter().for_each(|(swiss, information)| (*swiss, *information) = Default::default());
        self.returned(pairing);
    }

    fn step(&mut self, standings: &Standings) -> Step {
        let stage = &self.stages[self.over];
        let Some(progress) = standings.progress(self.over) else { return Step::Over };
        let open = match &mut self.open {
            Some(open) => open,
            None => {
                let before = 0..self.over;
                let first_opening = before
                    .map(|at| openings(&self.stages[at], self.entrants(at), self.openings))
                    .fold(0, u64::saturating_add);
                self.open.insert(OpenStage::new(standings.entrants(self.over), first_opening))
            }
        };
        let joined = if self.over == 0 { &self.joined[..] } else { &[] };
        let field = Field { stage, entrants: open.entrants.len(), joined, seed: self.seed };
        open.step(&field, self.over, progress, standings)
    }

    fn entrants(&self, stage: usize) -> usize {
        entrants(&self.stages, self.players, stage)
    }

    /// Hands out the game at `index`. Always `Some`, because indices are picked only where there is a table.
    fn issue(&mut self, index: u64, standings: &Standings) -> Option<Pairing> {
        let (stage, open) = (&self.stages[self.over], self.open.as_mut()?);
        let progress = standings.progress(self.over)?;
        let (encounter, game) = (index / stage.stride(), index % stage.stride());
        let joined = if self.over == 0 { &self.joined[..] } else { &[] };
        let field = Field { stage, entrants: open.entrants.len(), joined, seed: self.seed };
        let table = open.table(&field, progress, encounter)?;
        let before = progress.open.get(&index).copied().unwrap_or_default();
        let replay_swaps = self.replay.swap_colors && !before.draws.is_multiple_of(2);
        let swapped = game.is_multiple_of(2) == replay_swaps;
        let pair = encounter.saturating_mul(stage.stride().div_ceil(2)) + game / 2;
        let opening = open.first_opening.saturating_add(match self.openings {
            OpeningsPer::Game => index,
            OpeningsPer::Pair => pair,
            OpeningsPer::Round => {
                let before =
                    u64::from(table.round.saturating_sub(1)).saturating_mul(stage.stride().div_ceil(2));
                before.saturating_add(game / 2)
            }
        });
        // A pair that was begun keeps its opening, even if its stage has grown since and numbers openings otherwise.
        let is_paired = self.openings != OpeningsPer::Game;
        let opening = progress.halves.get(&pair).filter(|_| is_paired).map_or(opening, |half| half.opening);
        let attempt = before.attempts.max(open.returned.remove(&index).unwrap_or(0));
        open.issued.insert(index);
        let (black, white) = if swapped { (table.white, table.black) } else { (table.black, table.white) };
        let stage = self.over as u8;
        Some(Pairing { stage, index, attempt, round: table.round, pair, opening, black, white })
    }
}

impl OpenStage {
    fn new(entrants: Vec<PlayerId>, first_opening: u64) -> Self {
        Self {
            entrants,
            first_opening,
            issued: Ranges::default(),
            left_out: Ranges::default(),
            passed_over: Ranges::default(),
            returned: BTreeMap::new(),
            byes_issued: Vec::new(),
            swiss: swiss::Round::default(),
            information: information::Round::default(),
        }
    }

    fn step(&mut self, of: &Field<'_>, number: usize, progress: &Progress, standings: &Standings) -> Step {
        let (scoring, arbitration) = (&standings.rules().scoring, standings.arbitration());
        let Field { stage, seed, .. } = *of;
        let entrants = &self.entrants;
        let field = swiss::Entered { stage, number, entrants, progress, scoring, arbitration, seed };
        match stage.format {
            Format::Swiss { rounds } => self.swiss.step(rounds, &field, &self.issued),
            Format::Information { rounds } => self.information.step(rounds, &field, &self.issued),
            Format::Knockout { .. } => self.knockout_step(stage, progress),
            format if format.is_sequential() && standings.verdict().is_some() => {
                sprt::finish_pairs(&self.issued, &self.returned, progress)
            }
            _ => self.fixed_step(of, progress, standings),
        }
    }

    fn fixed_step(&mut self, of: &Field<'_>, progress: &Progress, standings: &Standings) -> Step {
        let games = of.encounters().saturating_mul(of.stage.stride());
        loop {
            match pick(0..games, &self.issued, progress) {
                Some(index) if self.is_left_out(of, index, standings) => {
                    self.issued.insert(index);
                    self.left_out.insert(index);
                }
                Some(index) => return Step::Play(index),
                None if progress.finished.len() + self.left_out.len() >= games => return Step::Over,
                None => return Step::Wait,
            }
        }
    }

    /// True if a player of a game that nobody has begun was replaced.
    fn is_left_out(&self, of: &Field<'_>, index: u64, standings: &Standings) -> bool {
        if of.joined.is_empty() {
            return false;
        }
        let table = of.table(index / of.stage.stride()).and_then(|table| table.seated(&self.entrants));
        table.is_some_and(|table| {
            [table.black, table.white].iter().any(|&player| standings.is_replaced(player))
        })
    }

    fn knockout_step(&mut self, stage: &Stage, progress: &Progress) -> Step {
        let bracket = Bracket::new(stage, &self.entrants, progress);
        let handed_out =
            |player| progress.byes.contains_key(&(1, player)) || self.byes_issued.contains(&player);
        let Some(player) = bracket.byes().find(|&player| !handed_out(player)) else {
            return knockout::step(&bracket, stage.stride(), &self.issued, progress);
        };
        self.byes_issued.push(player);
        Step::Bye { round: 1, player, half_points: 0 }
    }

    /// An encounter, with the colours that its stage wants.
    fn table(&self, of: &Field<'_>, progress: &Progress, encounter: u64) -> Option<Table<PlayerId>> {
        let table = self.paired(of, progress, encounter)?;
        Some(match (of.stage.pairing.colours, of.stage.format) {
            (_, format) if format.is_sequential() => table,
            (Colours::Balanced, _) | (Colours::Lot, Format::Swiss { .. }) => table,
            (Colours::Lot, _) => table.by_lot(mixed(of.seed, encounter)),
            (Colours::Fixed, _) => table.by_entry(&self.entrants),
        })
    }

    /// An encounter, with the colours of its format.
    fn paired(&self, of: &Field<'_>, progress: &Progress, encounter: u64) -> Option<Table<PlayerId>> {
        let entrants = &self.entrants;
        let seats = match of.stage.format {
            Format::Swiss { .. } => return self.swiss.table(encounter),
            Format::Information { .. } => return self.information.table(encounter),
            Format::Knockout { .. } => {
                knockout::table(&Bracket::new(of.stage, entrants, progress), encounter, of.seed)?
            }
            _ => of.table(encounter)?,
        };
        seats.seated(entrants)
    }
}

/// The seats of an encounter that follows from its number; `None` for a format whose pairings follow from results.
fn table_of(stage: &Stage, entrants: usize, encounter: u64, seed: u64) -> Option<Table<usize>> {
    match stage.format {
        Format::RoundRobin { .. } => Some(round_robin::table(entrants, stage.passes(), encounter)),
        Format::Gauntlet { challengers, .. } => {
            Some(gauntlet::table(entrants, challengers, stage.passes(), encounter))
        }
        Format::Random { .. } => Some(random::table(entrants, encounter, seed)),
        Format::Sprt { .. } | Format::Precision { .. } => Some(sprt::table(encounter)),
        Format::Swiss { .. } | Format::Information { .. } | Format::Knockout { .. } => None,
    }
}

/// Encounters of a stage, those of a knock-out bracket that have one player included.
fn encounters(stage: &Stage, entrants: usize) -> u64 {
    let passes = |cycles: u32| stage.passes().saturating_mul(u64::from(cycles));
    match stage.format {
        Format::RoundRobin { cycles } => round_robin::encounters(entrants, passes(cycles)),
        Format::Gauntlet { challengers, cycles } => {
            gauntlet::encounters(entrants, challengers, passes(cycles))
        }
        Format::Random { rounds } => random::encounters(entrants, rounds),
        Format::Swiss { rounds } => swiss::encounters(entrants, rounds),
        Format::Information { rounds } => information::encounters(entrants, rounds),
        Format::Knockout { .. } => knockout::encounters(entrants),
        Format::Sprt { max_games } | Format::Precision { max_games, .. } => {
            sprt::encounters(entrants, max_games)
        }
    }
}

fn indices(stage: &Stage, entrants: usize) -> u64 {
    encounters(stage, entrants).saturating_mul(stage.stride())
}

fn openings(stage: &Stage, entrants: usize, per: OpeningsPer) -> u64 {
    let pairs = stage.stride().div_ceil(2);
    match per {
        OpeningsPer::Game => indices(stage, entrants),
        OpeningsPer::Pair => encounters(stage, entrants).saturating_mul(pairs),
        OpeningsPer::Round => rounds(stage, entrants).saturating_mul(pairs),
    }
}

/// Rounds of a stage.
fn rounds(stage: &Stage, entrants: usize) -> u64 {
    match stage.format {
        Format::Swiss { rounds } | Format::Random { rounds } | Format::Information { rounds } => {
            u64::from(rounds)
        }
        Format::Knockout { .. } => u64::from(entrants.next_power_of_two().trailing_zeros()),
        _ => encounters(stage, entrants).div_ceil((entrants as u64 / 2).max(1)),
    }
}

/// Number of players who enter a stage.
fn entrants(stages: &[Stage], players: usize, stage: usize) -> usize {
    let Some(here) = stages.get(stage) else { return 0 };
    let seeds = seeds(stages, players, stage).len();
    let source = here.entry.source(stage).map(|source| entrants(stages, players, source));
    let others = source.map_or(0, |others| others.saturating_sub(here.entry.skip.into()));
    (seeds + others).min(here.entrants.map_or(usize::MAX, usize::from))
}

#[cfg(test)]
mod tests;

//! Standings: a fold of [`Entry`]s, and the only counter of results.
//!
//! Reports, ratings, the dashboard, the schedule and a sequential test read the same [`Standings`]; a resumed run
//! folds the stored entries to get them again. Memory grows with the pairs of players, the encounters of Swiss and
//! knock-out stages, the running games and the incomplete pairs of games, and by some fifty bytes with each game.
//!
//! A game counts once, by its place in the schedule (stage and index): a second ending of the same place is ignored.
//! Games that repeat an earlier one move for move count for points and places, and are no [`Evidence`] of strength.
//! Games that were aborted, and draws that are played again, are counted among the endings of both players
//! ([`Record::uncounted`]) and nowhere else; a game that is left out for good also occupies its place in the
//! schedule. An operator's ruling takes a game back and counts it anew. Entries with an unknown player or stage are ignored.

mod arbitration;
mod bracket;
mod progress;
mod ranges;
mod ranking;
mod scale;
mod sequence;
mod tally;
mod tie_breaks;

pub use arbitration::Arbitration;
pub(crate) use bracket::Bracket;
pub use bracket::Decided;
pub(crate) use progress::{Encounter, Progress};
use progress::{Half, Taken};
pub use ranges::Ranges;
pub use ranking::Row;
use ranking::TableDecisions;
pub use rating::TestCounts;
pub use scale::{LookUp, Scale};
pub use sequence::Sequence;
pub use tally::{Causes, Evidence, Pentanomial, Record, Tally, Wdl};
pub use tie_breaks::{RankingRules, TieBreak};

use crate::fault_limit::{FaultLimit, FaultWatch, Halt};
use crate::{
    schedule::{Joined, OpeningsPer, ReplayDraws, Schedule},
    stage::{Format, Stage, seeds},
};
use referee::{
    Outcome, WinBy,
    distinct::{Distinct, GameKey},
    entry::{Entry, GameEnded},
    game::{is_starved, lateness},
    ids::{GameId, PlayerId},
    number::number,
    operation::{Action, Operation},
    pairing::Pairing,
    points::Points,
    precision::PRECISE,
    rating::{self, CrossTable, Estimate, Ratings, Results, Trinomial, rounded},
    sprt::BY_FAULTS,
};
use serde::Serialize;
use std::{cell::LazyCell, cmp::Ordering, collections::BTreeMap, ops::RangeInclusive, time::Duration};

/// The recorded verdict of a sequential test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// `H0`, `H1`, or [`BY_FAULTS`]; [`PRECISE`] where Elo is known
    /// well enough; [`REPEATS`] where the games only repeated earlier ones.
    pub verdict: String,
    /// Log-likelihood ratio when the test stopped; 0 where it is no SPRT.
    pub llr: f64,
    /// Complete pairs that the ratio is computed from, in schedule order.
    pub pairs: u64,
}

impl Verdict {
    /// The verdict in a sentence.
    pub fn words(&self) -> String {
        let (pairs, llr) = (number(self.pairs, "pair"), rounded(self.llr, 2));
        match &*self.verdict {
            PRECISE => format!("Elo is known well enough after {pairs}"),
            BY_FAULTS => format!("no verdict after {pairs}: faults decided (LLR {llr})"),
            REPEATS => format!(
                "no verdict after {}: the last {ENOUGH_REPEATS} pairs repeated earlier games move for move, and repeated \
                 games are no evidence; the opening lines are used up",
                number(self.pairs, "distinct pair")
            ),
            verdict => format!("verdict after {pairs}: {verdict} (LLR {llr})"),
        }
    }
}

/// Games lost on time, and by how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeLosses {
    /// Games lost on time that count.
    pub games: u64,
    /// Those with a reply, which came soon after the flag fell; later ones are not waited for.
    pub replied: u64,
    /// How late the latest of these replies was, beyond the margin.
    pub latest: Duration,
    /// Games lost on time in a turn of which the engine had waited for a processor at least as long as it was late.
    pub starved: u64,
}

impl TimeLosses {
    fn add(&mut self, end: &GameEnded) {
        if !matches!(end.outcome, Outcome::Win { by: WinBy::Time, .. }) {
            return;
        }
        self.games += 1;
        self.starved += u64::from(is_starved(&end.evidence));
        if let Some(late) = lateness(&end.evidence) {
            self.replied += 1;
            self.latest = self.latest.max(late);
        }
    }

    /// Takes back a game that counted; how late its reply was stays among what was seen.
    fn take_back(&mut self, was: Outcome) {
        if matches!(was, Outcome::Win { by: WinBy::Time, .. }) {
            self.games = self.games.saturating_sub(1);
            self.replied = self.replied.min(self.games);
            self.starved = self.starved.min(self.games);
        }
    }
}

/// Pairs in a row with a game that repeats an earlier one, after which a sequential test ends without a verdict: with so
/// many, one pair in thirty of those to come brings something new at most (95 %).
pub const ENOUGH_REPEATS: u64 = 100;

/// After every round of every stage.
const ALWAYS: (u8, u32) = (u8::MAX, u32::MAX);

/// The word of a verdict for a test that ended because its games only repeated earlier ones.
pub const REPEATS: &str = "repeats";

/// The state of an event after any number of its entries.
#[derive(Clone, Debug)]
pub struct Standings {
    stages: Vec<Stage>,
    rules: RankingRules,
    total: Tally,
    tallies: Vec<Tally>,
    /// The counts of the event and of its stages without players who are disqualified, where somebody is.
    cleared: Option<Box<(Tally, Vec<Tally>)>>,
    progress: Vec<Progress>,
    running: BTreeMap<GameId, Pairing>,
    distinct: Distinct,
    verdict: Option<Verdict>,
    due: Vec<TestCounts>,
    faults: FaultWatch,
    time_losses: TimeLosses,
    arbitration: Arbitration,
    joined: Vec<Joined>,
}

impl Standings {
    /// The standings before any game. The stages define rankings, pairs of games and entrants.
    pub fn new(stages: &[Stage], players: usize) -> Self {
        Self {
            stages: stages.to_vec(),
            rules: RankingRules::default(),
            total: Tally::new(players),
            tallies: stages.iter().map(|_| Tally::new(players)).collect(),
            cleared: None,
            progress: stages.iter().map(Progress::new).collect(),
            running: BTreeMap::new(),
            distinct: Distinct::default(),
            verdict: None,
            due: Vec::new(),
            faults: FaultWatch::default(),
            time_losses: TimeLosses::default(),
            arbitration: Arbitration::default(),
            joined: vec![],
        }
    }

    /// The standings before any game, with the rules of the tables.
    #[must_use]
    pub fn with_rules(self, rules: RankingRules) -> Self {
        Self { rules, ..self }
    }

    /// What arbiters have decided about players.
    pub fn arbitration(&self) -> &Arbitration {
        &self.arbitration
    }

    /// Whether a player of a game had withdrawn before its round, black first.
    pub fn withdrawn(&self, game: &Pairing) -> [bool; 2] {
        [game.black, game.white].map(|player| self.arbitration.is_out(player, (game.stage, game.round)))
    }

    /// The last stage and round of which something was recorded: what arbiters decide about a player holds for the rounds
    /// after it.
    pub fn now(&self) -> (u8, u32) {
        let last = |progress: &Progress| {
            let bye = progress.byes.last_key_value().map_or(0, |((round, _), _)| *round);
            progress.round.max(bye)
        };
        let begun = self.progress.iter().map(last).enumerate().rfind(|(_, round)| *round > 0);
        begun.map_or((0, 0), |(stage, round)| (u8::try_from(stage).unwrap_or(u8::MAX), round))
    }

    /// The rounds that pairings and byes may be given for, after the last one that was paired; `None`: no round of a Swiss
    /// follows.
    pub fn rounds_to_pair(&self, (stage, paired): (u8, u32)) -> Option<RangeInclusive<u32>> {
        match self.stages.get(usize::from(stage))?.format {
            Format::Swiss { rounds } if paired < rounds => Some(paired + 1..=rounds),
            _ => None,
        }
    }

    /// The rounds of a stage in which a player had no opponent, with twice what that is worth; without players who are
    /// disqualified.
    pub fn byes(&self, stage: usize) -> impl Iterator<Item = (u32, PlayerId, u8)> {
        let out = self.arbitration.disqualified(ALWAYS);
        let byes = self.progress.get(stage).into_iter().flat_map(|progress| &progress.byes);
        let byes = byes.filter(move |((_, player), _)| !out.contains(player));
        byes.map(|(&(round, player), &half_points)| (round, player, half_points))
    }

    /// True if so many half points are those of a bye that a player was given, and not by the rules of pairing.
    pub fn is_half_bye(&self, stage: usize, half_points: u8) -> bool {
        self.stages.get(stage).is_some_and(|stage| stage.is_half_bye(half_points))
    }

    /// True if a player of the game is disqualified, so that it counts for nobody.
    pub fn is_struck(&self, game: &Pairing) -> bool {
        let out = self.arbitration.disqualified(ALWAYS);
        out.contains(&game.black) || out.contains(&game.white)
    }

    /// The rules of the tables.
    pub fn rules(&self) -> &RankingRules {
        &self.rules
    }

    /// The standings before any game, with the limits of faults of the players, by [`PlayerId`]; `None`: no limit.
    #[must_use]
    pub fn with_fault_limits(self, limits: impl IntoIterator<Item = Option<FaultLimit>>) -> Self {
        Self { faults: FaultWatch::new(limits), ..self }
    }

    /// Sets the limit of faults of a player who joined.
    pub fn limit_faults(&mut self, player: PlayerId, limit: Option<FaultLimit>) {
        self.faults.watch(player, limit);
    }

    /// The players whose games are halted because they reached their limit of faults, in the order of the halts.
    pub fn halts(&self) -> &[Halt] {
        self.faults.halts()
    }

    /// True if no further game of this player begins.
    pub fn is_halted(&self, player: PlayerId) -> bool {
        self.halts().iter().any(|halt| halt.player == player)
    }

    /// Folds an entry.
    pub fn fold(&mut self, event: &Entry) {
        self.due.clear();
        match event {
            Entry::Opened(opened) => {
                // Games of a killed run are not running any more.
                if opened.resumed {
                    self.running.clear();
                }
                self.grow(opened.players.len());
            }
            Entry::Entered { player, .. } => self.grow(player.index() + 1),
            Entry::GameStarted(start) if self.knows(&start.pairing) => {
                self.running.insert(start.game, start.pairing);
                self.progress[usize::from(start.pairing.stage)].start(&start.pairing);
            }
            Entry::GameEnded(end) if self.knows(&end.pairing) => self.end(end),
            Entry::Bye { stage, round, player, half_points } => {
                self.bye(usize::from(*stage), *round, *player, *half_points);
            }
            Entry::Operator(operation) => {
                self.arbitration.fold(operation);
                self.correct(&operation.action);
                self.join(&operation.action);
            }
            Entry::Verdict { verdict, llr, pairs } => {
                self.verdict = Some(Verdict { verdict: verdict.clone(), llr: *llr, pairs: *pairs });
            }
            _ => return,
        }
        let out = self.arbitration.disqualified(ALWAYS);
        self.cleared = (!out.is_empty()).then(|| {
            let stages = self.tallies.iter().map(|tally| tally.without(&out)).collect();
            Box::new((self.total.without(&out), stages))
        });
    }

    /// Makes room for players who came.
    fn grow(&mut self, players: usize) {
        for tally in self.tallies.iter_mut().chain([&mut self.total]) {
            tally.grow(players);
        }
    }

    /// Takes in a player who joined. The seats of newcomers follow on each other.
    fn join(&mut self, action: &Action) {
        let Action::Joined { player, replaces, .. } = *action else { return };
        let first = self.joined.first().map_or(player, |joined| joined.player).index();
        if player.index() == first + self.joined.len() {
            self.grow(player.index() + 1);
            self.joined.push(Joined { player, replaces });
        }
    }

    /// The players who joined after the start, in their order.
    pub fn joined(&self) -> &[Joined] {
        &self.joined
    }

    /// Number of games of the event, without those that are not played any more because a player was replaced; `None` if it
    /// depends on results.
    pub fn games_to_play(&self) -> Option<u64> {
        let (replay, openings) = (ReplayDraws::default(), OpeningsPer::Pair);
        Schedule::new(&self.stages, self.players(), 0, replay, openings).total_by(self)
    }

    /// True if another player has replaced this one, which begins no further game.
    pub fn is_replaced(&self, player: PlayerId) -> bool {
        self.replacement(player).is_some()
    }

    /// The player that has replaced this one.
    pub fn replacement(&self, player: PlayerId) -> Option<PlayerId> {
        self.joined.iter().find(|joined| joined.replaces == Some(player)).map(|joined| joined.player)
    }

    /// Number of players.
    pub fn players(&self) -> usize {
        self.total.players.len()
    }

    /// Games lost on time.
    pub fn time_losses(&self) -> TimeLosses {
        self.time_losses
    }

    /// The counts of the whole event.
    pub fn total(&self) -> &Tally {
        self.cleared.as_ref().map_or(&self.total, |cleared| &cleared.0)
    }

    /// The counts of a stage, from 0.
    pub fn stage(&self, stage: usize) -> Option<&Tally> {
        self.cleared.as_ref().map_or(&self.tallies, |cleared| &cleared.1).get(stage)
    }

    /// The schedule indices of a stage that are finished: played and counting, or left out.
    pub fn finished(&self, stage: usize) -> Option<&Ranges> {
        self.progress.get(stage).map(|progress| &progress.finished)
    }

    /// The games that have started and not ended.
    pub fn running(&self) -> impl Iterator<Item = (GameId, &Pairing)> {
        self.running.iter().map(|(&game, pairing)| (game, pairing))
    }

    /// The pairing of a game that has started and not ended.
    pub fn pairing(&self, game: GameId) -> Option<&Pairing> {
        self.running.get(&game)
    }

    /// The counts of a sequential test: those of the first stage with one.
    pub fn sequence(&self) -> Option<&Sequence> {
        self.progress.iter().find_map(|progress| progress.sequence.as_ref())
    }

    /// The counts that a sequential test has to be evaluated on after the last folded entry: one for each pair that
    /// became complete in schedule order. Usually none; several if a slow pair, or one that is now left out, held up
    /// later ones.
    pub fn due(&self) -> &[TestCounts] {
        &self.due
    }

    /// True if the last pairs of a sequential test only repeated earlier games: no more of them will decide it.
    pub fn only_repeats(&self) -> bool {
        self.sequence().is_some_and(|sequence| sequence.repeats_in_a_row >= ENOUGH_REPEATS)
    }

    /// The verdict of a sequential test. After it the schedule starts no new pair in its stage.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.verdict.as_ref()
    }

    /// The entrants of a stage, best seed first: those who enter the event here, in the order of the configuration, then
    /// those of an earlier stage by its ranking (which is final only when that stage is over).
    pub fn entrants(&self, stage: usize) -> Vec<PlayerId> {
        let Some(here) = self.stages.get(stage) else { return Vec::new() };
        let mut entrants: Vec<PlayerId> =
            seeds(&self.stages, self.players(), stage).map(PlayerId::at).collect();
        if let Some(source) = here.entry.source(stage) {
            // A later disqualification changes no stage that has begun.
            let ranked = self.ranked_before(source, (u8::try_from(stage).unwrap_or(u8::MAX), 0));
            let table = ranked.iter().filter(|row| !row.disqualified).map(|row| row.player).collect();
            // All stages that take players of one table count them alike.
            entrants.extend(self.in_line(table, source + 1).into_iter().skip(here.entry.skip.into()));
            entrants = self.in_line(entrants, stage);
        }
        entrants.truncate(here.entrants.map_or(usize::MAX, usize::from));
        entrants
    }

    /// Players with those at the end who had withdrawn before a stage: the next in line enter in their stead.
    fn in_line(&self, players: Vec<PlayerId>, stage: usize) -> Vec<PlayerId> {
        let begin = (u8::try_from(stage).unwrap_or(u8::MAX), 1);
        let (out, mut line): (Vec<_>, Vec<_>) =
            players.into_iter().partition(|player| self.arbitration.is_out(*player, begin));
        line.extend(out);
        line
    }

    /// The table of a stage, best first; empty for a stage that does not exist. [`Row`] documents the tie-breaks.
    pub fn ranking(&self, stage: usize) -> Vec<Row> {
        self.ranked_before(stage, ALWAYS)
    }

    /// The encounters of a knock-out stage that are decided, in the order of the bracket.
    pub fn advances(&self, stage: usize) -> Vec<Decided> {
        match (self.stages.get(stage), self.progress.get(stage)) {
            (Some(here), Some(progress)) if matches!(here.format, Format::Knockout { .. }) => {
                Bracket::new(here, &self.entrants(stage), progress).decided()
            }
            _ => vec![],
        }
    }

    /// The table of a stage with the disqualifications before a round of the event was paired.
    fn ranked_before(&self, stage: usize, round: (u8, u32)) -> Vec<Row> {
        let (Some(here), Some(tally), Some(progress)) =
            (self.stages.get(stage), self.tallies.get(stage), self.progress.get(stage))
        else {
            return Vec::new();
        };
        let at = u8::try_from(stage).unwrap_or(u8::MAX);
        let disqualified = self.arbitration.disqualified(round);
        let mut penalties = self.arbitration.penalties(at);
        penalties.retain(|player, _| !disqualified.contains(player));
        let decided = TableDecisions { penalties, disqualified, places: self.arbitration.places(at) };
        let entrants = self.entrants(stage);
        let out = &decided.disqualified;
        if out.is_empty() || matches!(here.format, Format::Knockout { .. }) {
            return ranking::ranking(here, &entrants, tally, progress, &self.rules, &decided);
        }
        let (tally, progress) = (tally.without(out), progress.without(out));
        ranking::ranking(here, &entrants, &tally, &progress, &self.rules, &decided)
    }

    /// True if the game at this place counts and repeats no earlier one.
    pub fn is_distinct(&self, pairing: &Pairing) -> bool {
        let progress = self.progress(usize::from(pairing.stage));
        progress.is_some_and(|progress| progress.is_new(pairing)) && !self.is_struck(pairing)
    }

    /// Black's advantage by these ratings. The games of a pair are no two independent ones, as both begin from one opening,
    /// which may favour black: where pairs differ more than games alone would, the error grows by as much.
    pub fn black_advantage(&self, ratings: &Ratings) -> Estimate {
        let evidence = &self.total().evidence;
        let black = evidence.met.values().fold(Wdl::default(), |sum, &met| sum + met);
        let games = Trinomial { losses: black.losses, draws: black.draws, wins: black.wins };
        let pairs = evidence
            .pairs_of_black
            .values()
            .fold([0; 5], |sum, pairs| std::array::from_fn(|at| sum[at] + pairs[at]));
        let pairs = rating::Pentanomial(pairs);
        ratings.black_advantage.widened(rating::by_pairs(games, pairs))
    }

    /// Every result that counts and repeats no earlier game, for ratings.
    pub fn cross_table(&self) -> CrossTable {
        let mut table = CrossTable::new(self.players());
        for (&(black, white), met) in &self.total().evidence.met {
            let results = Results {
                black_wins: met.wins as f64,
                draws: met.draws as f64,
                white_wins: met.losses as f64,
            };
            // `add` accepts every pair here: both players exist and differ.
            let _accepted = table.add(black.index(), white.index(), results);
        }
        table
    }

    /// True if points decide who wins the event; else Elo orders its players.
    pub fn by_points(&self) -> bool {
        self.rules.by_points(&self.stages)
    }

    /// True if the table of a stage says more than the results of its players do: not in a match of two, unless it has rules
    /// or decisions of an arbiter of its own.
    pub fn is_ranked(&self, stage: usize) -> bool {
        let is_match = self.players() <= 2 && self.stages.len() == 1 && self.rules.is_usual();
        self.by_points() && (!is_match || self.is_decided(stage))
    }

    /// True if an arbiter has changed the table of a stage.
    pub fn is_decided(&self, stage: usize) -> bool {
        !self.decisions(stage).is_empty()
    }

    /// What arbiters have decided on the table of a stage. A place has no effect while its players are not level.
    pub fn decisions(&self, stage: usize) -> Vec<&Operation> {
        let rows = LazyCell::new(|| self.ranking(stage));
        let row = |of| rows.iter().find(|row| row.player == of);
        let has_effect = |decision: &&Operation| match decision.action {
            Action::Placed { player, below, .. } => {
                row(player).zip(row(below)).is_some_and(|(one, other)| one.compare_played(other).is_eq())
            }
            _ => true,
        };
        self.arbitration.decisions(u8::try_from(stage).unwrap_or(u8::MAX)).filter(has_effect).collect()
    }

    /// The points of a player in the whole event, byes included, less the penalties.
    pub fn points(&self, player: PlayerId) -> Points {
        if self.arbitration.disqualified(ALWAYS).contains(&player) {
            return Points::ZERO;
        }
        let lost = (0..self.stages.len())
            .filter_map(|stage| self.arbitration.penalties(u8::try_from(stage).ok()?).get(&player).copied());
        self.rules.scoring.record(&self.total().players[player.index()]) - lost.sum()
    }

    /// The players of the whole event with their ranks, best first: the one order that every winner and every table reads. By
    /// the tables of the stages, the last one first, where points decide; by Elo otherwise, by points where nobody is rated.
    /// Players who are level share a rank.
    pub fn order(&self, ratings: &Ratings) -> Vec<(u32, PlayerId)> {
        match self.by_points() {
            true => {
                let keys = self.places();
                ranked(self.players(), |a, b| keys[a.index()].cmp(&keys[b.index()]))
            }
            false => ranked(self.players(), |a, b| {
                let elo = |player: PlayerId| ratings.players.get(player.index()).and_then(|r| r.elo.value());
                let [own, other] = [a, b].map(|player| elo(player).unwrap_or(f64::NEG_INFINITY));
                let points = |player: PlayerId| self.total().players[player.index()].half_points();
                other.total_cmp(&own).then_with(|| points(b).cmp(&points(a)))
            }),
        }
    }

    /// The places of each player in the tables of the stages that have begun, the last stage first; the better is less.
    fn places(&self) -> Vec<Vec<u32>> {
        let mut places = vec![vec![]; self.players()];
        for (at, stage) in self.stages.iter().enumerate().filter(|(at, _)| !self.tallies[*at].met.is_empty())
        {
            let ranking = self.ranking(at);
            if stage.entry.skip == 0 {
                places.iter_mut().for_each(|place| place.insert(0, u32::MAX));
                ranking.iter().for_each(|row| places[row.player.index()][0] = row.rank);
                continue;
            }
            // A stage of those who follow, as in a play-off for the fifth place, changes the order of these alone.
            let first =
                ranking.iter().map(|row| places[row.player.index()].clone()).min().unwrap_or_default();
            for row in &ranking {
                places[row.player.index()] = [&first[..], &[row.rank]].concat();
            }
        }
        places
    }

    /// Number of games at this place of the schedule that were replayed.
    pub fn replays(&self, pairing: &Pairing) -> u32 {
        let progress = self.progress.get(usize::from(pairing.stage));
        progress
            .and_then(|progress| progress.open.get(&pairing.index))
            .map_or(0, |open| open.draws + open.starved)
    }

    pub(crate) fn progress(&self, stage: usize) -> Option<&Progress> {
        self.progress.get(stage)
    }

    fn knows(&self, pairing: &Pairing) -> bool {
        usize::from(pairing.stage) < self.stages.len()
            && pairing.black != pairing.white
            && pairing.black.index().max(pairing.white.index()) < self.players()
    }

    fn end(&mut self, end: &GameEnded) {
        self.running.remove(&end.game);
        let pairing = &end.pairing;
        let at = usize::from(pairing.stage);
        if self.progress[at].finished.contains(pairing.index) {
            return;
        }
        if !end.replayed && end.outcome.counts() {
            // A fault stays one, whatever result the game is given; one of an annulled game is none.
            self.faults.end(pairing, end.outcome);
        }
        let counts = !end.replayed && end.outcome.counts();
        let key = GameKey::of(pairing, end.outcome, end.moves_hash);
        let is_new = counts && self.distinct.is_new(key);
        self.count(end, (key, is_new));
    }

    /// Counts the end of a game whose place in the schedule is open.
    fn count(&mut self, end: &GameEnded, (key, is_new): (Option<GameKey>, bool)) {
        let pairing = &end.pairing;
        let at = usize::from(pairing.stage);
        let (tally, progress) = (&mut self.tallies[at], &mut self.progress[at]);
        if end.replayed || !end.outcome.counts() {
            match end.outcome.is_left_out() {
                true => progress.leave_out(pairing, &mut self.due),
                false => progress.reopen(pairing, end.replayed.then_some(end.outcome)),
            }
            tally.add_uncounted(pairing, end.outcome);
            self.total.add_uncounted(pairing, end.outcome);
            return;
        }
        tally.add(pairing, end.outcome, is_new);
        self.total.add(pairing, end.outcome, is_new);
        if let Some(color) = end.gave_up() {
            let player = [pairing.black, pairing.white][color.index()];
            tally.add_given_up(player);
            self.total.add_given_up(player);
        }
        if progress.partner(pairing.index).is_none() {
            tally.add_single(pairing);
            self.total.add_single(pairing);
        }
        self.time_losses.add(end);
        let Some(pair) =
            progress.finish(pairing, end.outcome, (key, is_new), end.moves_hash, &mut self.distinct)
        else {
            return;
        };
        tally.add_pair(pairing, pair);
        self.total.add_pair(pairing, pair);
        if let Some(sequence) = &mut progress.sequence {
            sequence.add_pair(pairing.pair, pair, &mut self.due);
        }
    }

    /// Gives a game that was over another result, or opens its place again.
    fn correct(&mut self, action: &Action) {
        let Some((game, pairing, was, is)) = action.correction() else { return };
        if !self.knows(pairing) || !self.progress[usize::from(pairing.stage)].finished.contains(pairing.index)
        {
            return;
        }
        let taken = self.take_back(pairing, was);
        let Some(outcome) = is else {
            self.faults.take_back(pairing);
            let at = usize::from(pairing.stage);
            self.progress[at].reopen(pairing, None);
            self.tallies[at].add_uncounted(pairing, was);
            self.total.add_uncounted(pairing, was);
            return self.succeed(pairing, taken);
        };
        if outcome.counts() != was.counts() {
            self.faults.annul(pairing, !outcome.counts());
        }
        // A game that another result was given to is as new as it was; one that was left out is evidence from now on.
        let known = taken.game.map_or((None, true), |game| (game.key, game.is_new));
        let moves_hash = taken.game.and_then(|game| game.moves);
        self.count(&GameEnded { moves_hash, ..GameEnded::new(game, *pairing, outcome, 0) }, known);
        if !outcome.counts() {
            self.succeed(pairing, taken);
        }
    }

    /// Takes back a game that was over.
    fn take_back(&mut self, pairing: &Pairing, was: Outcome) -> Taken {
        let at = usize::from(pairing.stage);
        let (tally, progress) = (&mut self.tallies[at], &mut self.progress[at]);
        let taken = progress.take_back(pairing, was);
        if !was.counts() {
            tally.take_back_uncounted(pairing, was);
            self.total.take_back_uncounted(pairing, was);
            return taken;
        }
        let was_new = taken.game.is_some_and(|game| game.is_new);
        tally.take_back(pairing, was, was_new);
        self.total.take_back(pairing, was, was_new);
        if progress.partner(pairing.index).is_none() {
            tally.take_back_single(pairing);
            self.total.take_back_single(pairing);
        }
        self.time_losses.take_back(was);
        if let Some(pair) = taken.pair() {
            tally.take_back_pair(pairing, pair);
            self.total.take_back_pair(pairing, pair);
            if pair.is_new {
                self.distinct.part(taken.keys());
            }
        }
        taken
    }

    /// Lets a game and a pair that repeated those that were taken back be evidence in their stead: a game that does not
    /// count is no earlier one.
    fn succeed(&mut self, pairing: &Pairing, taken: Taken) {
        if let Some(Half { key: Some(key), is_new: true, .. }) = taken.game {
            self.distinct.forget(key);
            let stages = self.progress.iter_mut().zip(&mut self.tallies);
            for (progress, tally) in stages.filter(|_| self.distinct.was_repeated(key)) {
                let Some(next) = progress.renew(key) else { continue };
                self.distinct.is_new(Some(key));
                tally.add_evidence(pairing, next.black_half_points());
                self.total.add_evidence(pairing, next.black_half_points());
                break;
            }
        }
        let keys: Vec<GameKey> = taken.keys().into_iter().flatten().collect();
        let was_evidence = taken.pair().is_some_and(|pair| pair.is_new);
        if !was_evidence || !keys.iter().any(|key| self.distinct.was_repeated(*key)) {
            return;
        }
        for (progress, tally) in self.progress.iter_mut().zip(&mut self.tallies) {
            for pair in progress.renew_pairs(&keys, &mut self.distinct, &mut self.due) {
                tally.add_pair(pairing, pair);
                self.total.add_pair(pairing, pair);
            }
        }
    }

    /// Why the result of a game at this place cannot be changed any more: what follows from it has begun.
    pub fn settled(&self, pairing: &Pairing) -> Option<Settled> {
        let at = usize::from(pairing.stage);
        let begun = |progress: &Progress| progress.round > 0;
        if self.progress.get(at + 1..).is_some_and(|later| later.iter().any(begun)) {
            return Some(Settled::Stage(at + 2));
        }
        let last = self.progress.get(at).map_or(0, |progress| progress.round);
        match self.stages.get(at)?.format {
            format if format.is_sequential() && self.verdict.is_some() => Some(Settled::Verdict),
            _ if last > pairing.round && self.follows_results(pairing) => Some(Settled::Round(last)),
            _ => None,
        }
    }

    /// True if the pairings of later rounds follow from the results of the stage.
    pub fn follows_results(&self, pairing: &Pairing) -> bool {
        let stage = self.stages.get(usize::from(pairing.stage));
        stage.is_some_and(|stage| stage.format.follows_results())
    }

    fn bye(&mut self, stage: usize, round: u32, player: PlayerId, half_points: u8) {
        if stage >= self.stages.len() || player.index() >= self.players() {
            return;
        }
        if self.progress[stage].byes.insert((round, player), half_points).is_none() {
            self.tallies[stage].add_bye(player, half_points);
            self.total.add_bye(player, half_points);
        }
    }
}

/// The players with their ranks, best first; those who compare as equal share a rank, in the order of entry.
fn ranked(players: usize, compare: impl Fn(PlayerId, PlayerId) -> Ordering) -> Vec<(u32, PlayerId)> {
    let mut order: Vec<PlayerId> = (0..players).map(PlayerId::at).collect();
    order.sort_by(|a, b| compare(*a, *b));
    let ranks = ranking::shared_ranks(&order, |a, b| compare(*a, *b).is_eq());
    ranks.into_iter().zip(order).collect()
}

/// The reason why a result cannot change any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// This stage, from 1, has begun with entrants that follow from the result.
    Stage(usize),
    /// The sequential test has its verdict.
    Verdict,
    /// This round has begun with pairings that follow from the result.
    Round(u32),
}

#[cfg(test)]
mod published_tests;
#[cfg(test)]
mod repeats_tests;
#[cfg(test)]
mod tests;

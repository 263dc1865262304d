//! Reports of an event: text for people, JSON for scripts. Both come from one [`Report`], which is computed from the
//! same [`Standings`] as everything else.
//!
//! # The JSON
//! The format is stable: fields are only added. Unknown numbers are `null`, never NaN. Elo values are relative to the
//! mean of the field; the difference between two engines is in `pairs`. `elo_error` is half the 95 % interval;
//! `elo_kind` tells how reliable the value is (`measured`; `tentative`: the games do not bound it, a weak prior does;
//! `unknown`).

pub mod attribution;
mod audit;
pub mod builds;
mod commits;
mod encounters;
mod event_history;
pub mod exhibit;
pub mod html;
mod japanese;
pub mod ledger;
mod live;
mod machines;
pub mod openings;
mod operations;
pub mod plot;
mod precision;
pub mod progress;
pub mod rounds;
pub mod scale;
mod tables;
pub mod test_history;
mod text;
mod tuning;

pub use crate::exhibit::standings::PlayerRow;
pub use audit::Audit;
pub use builds::{PlayedBy, builds};
pub use commits::{Commits, TestedCommit};
pub use encounters::Encounter;
pub use event_history::{EventHistory, EventHistoryError, HistoryFold, event_info, plan, usage};
pub use live::{Announcer, EventFile};
pub use machines::MachineRow;
pub use operations::OperationRow;
pub use precision::{PrecisionReport, error_words};
pub use test_history::{TestHistory, TestLine, TestResult, TestTerms, verdict_phrase, verdict_words};
pub use text::ReportText;
pub use tuning::{ParameterRow, TuningReport};
pub use words::Language;

use contest::{
    fault_limit::{FaultLimit, Halt},
    schedule::Stage,
    standings::{Causes, Decided, REPEATS, RankingRules, Row, Scale, Standings, TestCounts, TimeLosses, Wdl},
};
use exhibit::{Cell, standings::elo_fields};
use journal::{EventSummary, GameRow, Store, StoreError};
use plan::{Plan, SprtModel, SprtPlan, StoredPlan, stored::StoredEngine};
use referee::{
    Color, Outcome,
    clock::TimeControl,
    entry::PlayerId,
    evaluation::ScoreScale,
    operation::Operation,
    precision::Known,
    rating::{Estimate, Pentanomial, Ratings, fit},
    reason::{gave_up, reason},
    sprt::{Sprt, Verdict},
    usage::Usage,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The parts of an event's plan that a report needs.
#[derive(Clone, Debug, Default)]
pub struct EventInfo {
    /// Name of the event.
    pub name: String,
    /// Its stages.
    pub stages: Vec<Stage>,
    /// The rules of its tables.
    pub ranking: RankingRules,
    /// Its sequential test, if any.
    pub sprt: Option<SprtPlan>,
    /// Limits of faults of its players.
    pub fault_limits: Vec<Option<FaultLimit>>,
    /// Its players.
    pub engines: Vec<Named>,
    /// Its format as text.
    pub format: String,
    /// True if it has no end and no schedule: an open league, games on a server, records that were read in.
    pub open: bool,
    /// Pairs of games of a tuning of options, which are no encounters.
    pub tuning: Option<u64>,
    /// The commits that its players were built of.
    pub commits: Option<Commits>,
}

/// A player of a report.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name, short enough for people: of a trip, only what tells two players apart.
    pub name: String,
    /// The whole name, as the database has it.
    pub id: String,
    /// Its clock; untimed where the plan does not say.
    pub time: TimeControl,
    /// The scale of its scores, where it is given.
    pub scale: Option<ScoreScale>,
    /// True if it logs in over the network.
    pub remote: bool,
}

impl EventInfo {
    /// The parts of a checked plan.
    pub fn of(plan: &Plan) -> Self {
        Self::of_stored(StoredPlan::from(plan))
    }

    /// The parts of a stored plan. Where players come and go, it names neither them nor a format.
    pub fn of_stored(plan: StoredPlan) -> Self {
        let open = plan.engines.is_empty();
        Self {
            ranking: plan.ranking(),
            sprt: plan.sprt,
            fault_limits: plan.fault_limits().collect(),
            engines: plan.engines.iter().map(Named::of).collect(),
            open,
            tuning: plan.tune.as_ref().map(|tune| tune.pairs),
            format: if open { String::new() } else { plan.format_words() },
            commits: Commits::of_stored(&plan),
            name: plan.name,
            stages: plan.stages,
        }
    }

    /// The standings of the event before any game.
    pub fn standings(&self) -> Standings {
        Standings::new(&self.stages, self.engines.len())
            .with_rules(RankingRules { open: self.open, ..self.ranking.clone() })
            .with_fault_limits(self.fault_limits.iter().copied())
    }

    /// Its format as text.
    pub fn format_in(&self, language: Language) -> String {
        language.pick(self.format.clone(), self.format_of(&self.stages, Language::Japanese))
    }

    /// The format of some of its stages; an event without a schedule keeps its words.
    fn format_of(&self, stages: &[Stage], language: Language) -> String {
        match (self.tuning, language) {
            (Some(pairs), Language::Japanese) => language.tuning_of(pairs),
            (None, _) if self.open => match self.format.as_str() {
                "open league" => language.open_league().to_owned(),
                "imported records" => language.imported_records().to_owned(),
                other => {
                    let server = other.strip_prefix("games on ");
                    server.map_or_else(|| other.to_owned(), |server| language.games_on(server))
                }
            },
            (Some(_), Language::English) => self.format.clone(),
            (None, Language::English) => plan::format_words(stages),
            (None, Language::Japanese) => words::format_in_japanese(stages),
        }
    }

    fn player(&self, player: PlayerId) -> &str {
        self.engines.get(player.index()).map_or("?", |engine| &engine.name)
    }

    /// The name of a player that is shown, and the whole one.
    fn names(&self, player: PlayerId) -> [String; 2] {
        let id = self.engines.get(player.index()).map_or("", |engine| &engine.id);
        [self.player(player), id].map(str::to_owned)
    }
}

impl Named {
    /// A player whose name is shown whole.
    pub fn whole(name: &str) -> Self {
        let [name, id] = [name; 2].map(str::to_owned);
        Self { name, id, time: TimeControl::default(), scale: None, remote: false }
    }

    /// Gives the player another name; its clock and scale stay.
    pub fn rename(&mut self, name: &str) {
        [self.name, self.id] = [name; 2].map(str::to_owned);
    }

    fn of(engine: &StoredEngine) -> Self {
        let StoredEngine { name, remote, time, scale, .. } = engine;
        Self { time: time.unwrap_or_default(), scale: *scale, remote: *remote, ..Self::whole(name) }
    }
}

/// A report of an event.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Name of the event.
    pub event: String,
    /// Its format as text.
    pub format: String,
    /// The format in Japanese.
    #[serde(skip)]
    pub format_japanese: String,
    /// Games that count.
    pub games: u64,
    /// Those that repeat no earlier one move for move: the evidence of everything but points.
    pub distinct_games: u64,
    /// Opening lines that the games of two players began from, where they are fewer than the pairs: games from one line are less
    /// independent of each other than the interval takes them for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening_lines: Option<u64>,
    /// True if all games were played.
    pub complete: bool,
    /// True if the event has no end and no schedule: an open league, games on a server, records that were read in.
    pub open: bool,
    /// The players, best first: by the tables of the stages, or by Elo where there are no points to win.
    pub standings: Vec<PlayerRow>,
    /// Encounters of any two players who met.
    pub pairs: Vec<Encounter>,
    /// Number of counted endings by cause.
    pub endings: Causes,
    /// Number of endings that do not count, by cause.
    pub uncounted: Causes,
    /// Advantage of the first move.
    pub first_move: FirstMove,
    /// The stages that have begun, with their tables and tie-breaks; without rows where points do not decide.
    pub stages: Vec<StageTable>,
    /// The sequential test, if any.
    pub sprt: Option<TestReport>,
    /// What is known of two players who play until it is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<PrecisionReport>,
    /// The tuning that the games serve, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<TuningReport>,
    /// The commits that the players were built of, if they were.
    pub commits: Option<Commits>,
    /// Optional engines that were not available.
    pub skipped: Vec<String>,
    /// Habits of engines that cost games, each with the line of the configuration that mends it.
    pub warnings: Vec<String>,
    /// Engines whose games are halted because they reached their limit of faults.
    pub halted: Vec<HaltedRow>,
    /// What played, where it was recorded.
    pub played_by: Vec<PlayedBy>,
    /// Games that a player lost because it failed, in the order of their numbers.
    pub failures: Vec<Failure>,
    /// What each machine has played, where there were several.
    pub machines: Vec<MachineRow>,
    /// What the operator did, in its order.
    pub operations: Vec<OperationRow>,
    /// Games lost on time by so little that a margin decided them, if most of those lost on time were.
    pub late: Option<Late>,
    /// What adjudication by score costs, where games are played on to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// How two players used their time, by [`PlayerId`].
    #[serde(skip)]
    pub usage: Vec<Usage>,
    /// The seal of the last entry, which covers everything that was stored before it; `None` where nothing has a seal.
    pub head: Option<String>,
}

/// An engine whose games are halted.
#[derive(Clone, Debug, Serialize)]
pub struct HaltedRow {
    /// Name.
    pub name: String,
    /// Games that its faults had ended by then.
    pub faults: u64,
    /// Its games that counted by then.
    pub games: u64,
    /// The limit that it reached, in words.
    pub reason: String,
}

/// A game that a player lost because it failed: by time, a lost process or connection, or an illegal move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Number of the game.
    pub game: u64,
    /// The player who failed.
    pub name: String,
    /// Its opponent.
    pub opponent: String,
    /// Its colour: `black` or `white`.
    pub color: &'static str,
    /// The cause of the loss.
    pub cause: &'static str,
    /// Why, in a phrase; `None` where nothing is known.
    pub reason: Option<String>,
}

/// Games that were lost on time by little.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Late {
    /// Games lost on time.
    pub games: u64,
    /// Those with a reply soon after the flag fell.
    pub replied: u64,
    /// How late the latest of these replies was, in ms, beyond the margin.
    pub latest_ms: f64,
    /// A margin that forgives them, in ms.
    pub margin_ms: u64,
    /// Those in a turn of which the engine had waited for a processor at least as long as it was late.
    pub starved: u64,
}

/// Advantage of the first move.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FirstMove {
    /// Games won, drawn and lost by black.
    pub black: Wdl,
    /// The distinct ones.
    pub distinct: Wdl,
    /// Black's score over distinct games.
    pub score: Option<f64>,
    /// Elo advantage of black.
    #[serde(flatten, serialize_with = "elo_fields")]
    pub elo: Estimate,
}

/// Table of a stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageTable {
    /// Format of the stage as text.
    pub format: String,
    /// The format in Japanese.
    #[serde(skip)]
    pub format_japanese: String,
    /// True if it says more than the results of its players do.
    #[serde(skip)]
    pub is_ranked: bool,
    /// Rows, best first; `half_points` are halves of a point.
    pub table: Vec<StageRow>,
    /// What arbiters have decided on the table, with their reasons.
    pub decisions: Vec<Operation>,
    /// Who went on in a knock-out, and by what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub advances: Vec<Decided>,
}

/// A row of a stage's table.
#[derive(Clone, Debug, Serialize)]
pub struct StageRow {
    /// Name.
    pub name: String,
    /// Rank, games, score and tie-breaks.
    #[serde(flatten)]
    pub row: Row,
}

/// State of a sequential test.
#[derive(Clone, Debug, Serialize)]
pub struct TestReport {
    /// The hypotheses.
    #[serde(flatten)]
    pub plan: SprtPlan,
    /// Accepts H0 at or below this bound.
    pub lower: f64,
    /// Accepts H1 at or above this bound.
    pub upper: f64,
    /// `H0`, `H1`, `faults` where faults decided the test (no verdict on strength), `repeats` where the games only repeated
    /// earlier ones (none either), or `None` before the verdict.
    pub verdict: Option<String>,
    /// The test when the verdict was reached: whole pairs in schedule order.
    pub at_stop: Option<AtStop>,
    /// Log-likelihood ratio of the whole pairs in schedule order.
    pub llr: f64,
    /// Counts of those pairs.
    pub in_order: TestCounts,
    /// Counts of all finished pairs, including games that were running at the verdict.
    pub finished: TestCounts,
    /// Log-likelihood ratio of all finished pairs.
    pub final_llr: f64,
    /// Logistic Elo, corrected for optional stopping: median-unbiased, with its 95 % interval.
    pub estimate: Option<StopEstimate>,
    /// True if the event was stopped before the verdict: it is not over, and no game of it runs.
    pub stopped: bool,
}

/// What an interval is corrected for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Correction {
    /// Nothing: the interval is of all games of a number that was fixed before.
    No,
    /// The stop of a sequential test.
    Stop,
    /// A look after every pair.
    Looking,
}

impl Correction {
    fn words(self, language: Language) -> &'static str {
        match self {
            Self::No => "",
            Self::Stop => language.corrected_for_stop(),
            Self::Looking => language.corrected_for_looking(),
        }
    }
}

/// Elo of a player against the other one, with its 95 % interval, and what that is corrected for.
struct Difference {
    elo: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    correction: Correction,
}

/// A test at its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct AtStop {
    /// Log-likelihood ratio.
    pub llr: f64,
    /// Number of pairs evaluated.
    pub pairs: u64,
}

/// An Elo estimate corrected for optional stopping.
#[derive(Clone, Debug, Serialize)]
pub struct StopEstimate {
    /// The estimate.
    pub elo: f64,
    /// Lower end of the 95 % interval; `None` if every game was lost.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval; `None` if every game was won.
    pub high: Option<f64>,
    /// Probability that the true value is above zero.
    pub los: f64,
}

/// Players that cross tables and pictures show: more would be neither readable nor, with names of strangers without
/// end, of bounded size.
pub const MOST_DRAWN: usize = 40;

impl Report {
    /// The report of the games played so far.
    pub fn new(info: &EventInfo, standings: &Standings, complete: bool) -> Self {
        Self::rated(info, standings, &fit(&standings.cross_table()), complete)
    }

    /// The report of the games played so far, with ratings made before.
    pub fn rated(info: &EventInfo, standings: &Standings, ratings: &Ratings, complete: bool) -> Self {
        Self {
            event: info.name.clone(),
            format: info.format.clone(),
            format_japanese: info.format_of(&info.stages, Language::Japanese),
            games: standings.total().games(),
            distinct_games: standings.total().distinct_games(),
            complete,
            open: info.open,
            pairs: encounters::rows(info, standings),
            endings: endings(standings),
            uncounted: halved(standings.total().players.iter().map(|record| &record.uncounted)),
            stages: stage_tables(info, standings),
            commits: info.commits.clone(),
            halted: standings.halts().iter().map(|halt| halted_row(info, halt)).collect(),
            late: late(info, standings.time_losses()),
            ..Self::figures(info, standings, ratings, None, complete)
        }
    }

    /// The part of a report that changes from game to game and takes little time: the rows of the standings, on an external
    /// scale where there is one, and the state of a test of two players.
    pub fn figures(
        info: &EventInfo,
        standings: &Standings,
        ratings: &Ratings,
        scale: Option<&Scale>,
        complete: bool,
    ) -> Self {
        let is_duel = standings.players() == 2 && scale.is_none();
        Self {
            standings: exhibit::standings::rows(standings, ratings, scale, |player| info.names(player)),
            pairs: if is_duel { encounters::rows(info, standings) } else { vec![] },
            first_move: first_move(standings, ratings),
            sprt: info.sprt.and_then(|plan| test_report(plan, standings)),
            precision: PrecisionReport::new(&info.stages, standings, complete),
            ..Self::default()
        }
    }

    /// The encounter that is the whole event: where two players meet, its difference is the only Elo that is told.
    pub fn duel(&self) -> Option<&Encounter> {
        self.pairs.first().filter(|_| self.standings.len() == 2)
    }

    /// The difference between two players with its interval in words, and how it came about; `None` in larger fields.
    pub fn duel_words(&self, language: Language) -> Option<String> {
        let Difference { elo, low, high, correction } = self.difference()?;
        let met = self.duel()?;
        let words = language.elo_words(elo, low, high);
        let plain = language.elo_words(met.elo, met.elo_low, met.elo_high);
        let corrected = format!("{words}{}", correction.words(language));
        Some(match correction == Correction::No || plain == words {
            true => corrected,
            false => language.by_score_alone(&corrected, &plain),
        })
    }

    /// The difference between two players; `None` in larger fields.
    fn difference(&self) -> Option<Difference> {
        let met = self.duel()?;
        let stopped = self.sprt.as_ref().and_then(|test| test.estimate.as_ref());
        let known = self.precision.as_ref().and_then(|precision| precision.known);
        Some(match (stopped, known) {
            (Some(stopped), _) => {
                let (low, high) = (stopped.low, stopped.high);
                Difference { elo: Some(stopped.elo), low, high, correction: Correction::Stop }
            }
            (_, Some(Known { elo, low, high })) if low.is_some() || high.is_some() => {
                Difference { elo, low, high, correction: Correction::Looking }
            }
            _ => {
                Difference { elo: met.elo, low: met.elo_low, high: met.elo_high, correction: Correction::No }
            }
        })
    }

    /// The result of an event that is over: its winner, or the verdict of its test; `None` before that.
    pub fn outcome_words(&self, language: Language) -> Option<String> {
        if !self.complete || self.open || self.games == 0 || self.tuning.is_some() {
            return None;
        }
        let [first, second, ..] = &self.standings[..] else { return None };
        if let Some(test) = &self.sprt {
            let met = self.duel()?;
            return test.claim(&met.name, &met.opponent, language).map(|claim| plot::plain(&claim));
        }
        let names = |rows: &[PlayerRow]| {
            let names: Vec<String> = rows.iter().map(|row| plot::plain(&row.name)).collect();
            names.join(language.pick(", ", "、"))
        };
        let name = names(&self.standings[..1]);
        if self.stages.iter().all(|stage| stage.table.is_empty()) {
            return Some(language.first_by_elo(&name, &Cell::elo(first.elo).text()));
        }
        let points = |row: &PlayerRow| row.points.shortest();
        if self.duel().is_some() {
            let score = format!("{} : {}", points(first), points(second));
            let level = || language.level(&name, &plot::plain(&second.name), &score);
            return Some(if second.rank == 1 { level() } else { language.winner(&name, &score) });
        }
        let games = first.games + u64::from(first.byes);
        let score = language.won_and_lost((&points(first), games), [first.wins, first.losses, first.draws]);
        let shared = self.standings.partition_point(|row| row.rank == 1);
        Some(match shared {
            1 => language.winner(&name, &score),
            _ => language.winners(&names(&self.standings[..shared]), &score),
        })
    }

    /// The report with what the database knows beside the entries: games that were lost because a player failed, machines,
    /// what the operator did, and whether a test was stopped.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn with_rows(mut self, store: &Store, summary: &EventSummary) -> Result<Self, StoreError> {
        let event = summary.id;
        store.lost_by_fault(event, |row| self.failures.extend(failure(&row)))?;
        let is_idle = !self.complete && summary.running == 0;
        if let Some(test) = &mut self.sprt {
            test.stopped = is_idle && test.verdict.is_none();
        }
        if let Some(precision) = &mut self.precision {
            precision.stopped = is_idle && precision.reached_after.is_none();
        }
        if self.duel().is_some() && !self.open {
            let lines = store.opening_lines(event)?;
            self.opening_lines =
                Some(lines).filter(|lines| (1..self.distinct_games.div_ceil(2)).contains(lines));
        }
        self.warnings = store.warnings(event)?;
        self.head = store.head(event)?;
        self.audit = Audit::of(store, summary)?;
        self.machines = machines::rows(store.machines(event, i64::MAX)?, self.standings.len());
        self.operations = store.operations(event)?.into_iter().map(OperationRow::of).collect();
        Ok(self)
    }
}

fn failure(row: &GameRow) -> Option<Failure> {
    let Some(outcome @ Outcome::Win { winner, by }) = row.outcome else { return None };
    if !by.is_fault() && gave_up(outcome, &row.evidence).is_none() {
        return None;
    }
    let (name, opponent, color) = match winner {
        Color::White => (&row.black, &row.white, "black"),
        Color::Black => (&row.white, &row.black, "white"),
    };
    Some(Failure {
        game: row.game.0,
        name: name.clone(),
        opponent: opponent.clone(),
        color,
        cause: outcome.cause(),
        reason: reason(outcome, &row.evidence),
    })
}

fn halted_row(info: &EventInfo, halt: &Halt) -> HaltedRow {
    let name = info.player(halt.player).to_owned();
    HaltedRow { name, faults: halt.faults, games: halt.games, reason: halt.to_string() }
}

fn endings(standings: &Standings) -> Causes {
    let players = &standings.total().players;
    let mut causes = Causes::new();
    for record in players {
        for (cause, games) in &record.won_by {
            *causes.entry(cause).or_default() += games;
        }
    }
    for (cause, games) in halved(players.iter().map(|record| &record.drawn_by)) {
        *causes.entry(cause).or_default() += games;
    }
    causes
}

/// Each game was counted once for each of its two players.
fn halved<'a>(counts: impl Iterator<Item = &'a Causes>) -> Causes {
    let mut sum = Causes::new();
    for (cause, games) in counts.flatten() {
        *sum.entry(cause).or_default() += games;
    }
    sum.values_mut().for_each(|games| *games /= 2);
    sum
}

/// Steps of the margins that are recommended, in ms.
const STEP: u64 = 50;

/// A margin that forgives twice what was seen, if most of the games lost on time were lost by little; and those that the
/// machine had a part in.
fn late(info: &EventInfo, losses: TimeLosses) -> Option<Late> {
    let TimeLosses { games, replied, latest, starved } = losses;
    let margin = info.engines.iter().map(|engine| engine.time.margin).max().unwrap_or_default();
    let needed = (margin + 2 * latest).as_millis() as u64;
    (starved > 0 || replied > 0 && 2 * replied >= games).then(|| Late {
        starved,
        games,
        replied,
        latest_ms: latest.as_micros() as f64 / 1000.0,
        margin_ms: (needed / STEP + 1) * STEP,
    })
}

fn first_move(standings: &Standings, ratings: &Ratings) -> FirstMove {
    let sum = |met: &BTreeMap<_, Wdl>| met.values().fold(Wdl::default(), |sum, &met| sum + met);
    let total = standings.total();
    let (black, distinct) = (sum(&total.met), sum(&total.evidence.met));
    FirstMove { black, distinct, score: distinct.score(), elo: standings.black_advantage(ratings) }
}

fn stage_tables(info: &EventInfo, standings: &Standings) -> Vec<StageTable> {
    let named = |row: Row| StageRow { name: info.player(row.player).to_owned(), row };
    let played = |at: &usize| standings.stage(*at).is_some_and(|tally| !tally.met.is_empty());
    // Where points do not decide, a table by them would be a second order.
    let rows = |at: usize| if standings.by_points() { standings.ranking(at) } else { vec![] };
    (0..info.stages.len())
        .filter(played)
        .map(|at| StageTable {
            format: info.format_of(&info.stages[at..=at], Language::English),
            format_japanese: info.format_of(&info.stages[at..=at], Language::Japanese),
            is_ranked: standings.is_ranked(at),
            table: rows(at).into_iter().map(named).collect(),
            decisions: standings.decisions(at).into_iter().cloned().collect(),
            advances: standings.advances(at),
        })
        .collect()
}

fn test_report(plan: SprtPlan, standings: &Standings) -> Option<TestReport> {
    let test = plan.test().ok()?;
    let sequence = standings.sequence()?;
    let counts = |counts: &TestCounts| Pentanomial(counts.pentanomial).into();
    let (lower, upper) = test.bounds();
    let at_stop = standings.verdict().map(|stop| AtStop { llr: stop.llr, pairs: stop.pairs });
    Some(TestReport {
        plan,
        lower,
        upper,
        verdict: standings.verdict().map(|stop| stop.verdict.clone()),
        llr: test.llr(&counts(&sequence.in_order)).ok()?,
        final_llr: test.llr(&counts(&sequence.finished)).ok()?,
        in_order: sequence.in_order,
        finished: sequence.finished,
        estimate: standings
            .verdict()
            .filter(|stop| stop.verdict != REPEATS)
            .and_then(|_| estimate(&test, &counts(&sequence.in_order))),
        at_stop,
        stopped: false,
    })
}

fn estimate(test: &Sprt, counts: &referee::rating::Counts) -> Option<StopEstimate> {
    let stopped = test.estimate(counts).ok().flatten()?;
    Some(StopEstimate { elo: stopped.elo, low: stopped.low, high: stopped.high, los: stopped.los })
}

impl TestReport {
    /// What the verdict claims of the first player against the second; `None` before a verdict.
    pub fn claim(&self, first: &str, second: &str, language: Language) -> Option<String> {
        let verdict = match self.verdict.as_deref()? {
            "H1" => Verdict::H1,
            "H0" => Verdict::H0,
            _ => return None,
        };
        match language {
            Language::English => self.plan.test().ok()?.claim(verdict, first, second),
            Language::Japanese => Some(japanese::claim(&self.plan, verdict == Verdict::H1, first, second)),
        }
    }
}

/// Name of a test's scale.
pub fn model_word(model: SprtModel) -> &'static str {
    match model {
        SprtModel::Normalized => "normalized",
        SprtModel::Logistic => "logistic",
    }
}

/// The verdict of a report, for exit codes.
pub fn verdict(report: &Report) -> Option<Verdict> {
    match report.sprt.as_ref()?.verdict.as_deref()? {
        "H0" => Some(Verdict::H0),
        "H1" => Some(Verdict::H1),
        _ => None,
    }
}

#[cfg(test)]
mod outcome_tests;

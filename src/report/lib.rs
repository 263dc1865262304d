//! Reports of an event: as text where people read, as JSON where scripts do. Both are made from the same [`Report`],
//! which is made from the same [`Standings`] as everything else.
//!
//! # The JSON
//! The shape is kept: fields are only ever added. Numbers that the games do not give are `null`, never NaN. Elo values
//! are relative to the mean of the field; of two engines, the difference is in `pairs`. `elo_error` is half the 95 %
//! interval; `elo_kind` says how far to trust the value (`measured`, `tentative`: the games do not bound it and a weak
//! prior does, `unknown`).

mod dossier;
pub mod html;
mod live;
pub mod plot;
mod text;

pub use dossier::{Dossier, DossierError, head, plan};
pub use live::{Announcer, EventFile};

use plan::{Plan, SprtModel, SprtPlan};
use referee::{
    event::PlayerId,
    rating::{Estimate, Numbers, Pentanomial, Ratings, Trinomial, fit},
    schedule::Stage,
    sprt::{Sprt, Verdict},
    standings::{Causes, Row, Standings, TestCounts, Wdl},
};
use serde::Serialize;

/// What a report has to know of an event beside its games.
#[derive(Clone, Debug)]
pub struct Head {
    /// The event's name.
    pub name: String,
    /// Its stages.
    pub stages: Vec<Stage>,
    /// Its sequential test.
    pub sprt: Option<SprtPlan>,
    /// Its players.
    pub engines: Vec<Named>,
    /// Its format in words.
    pub format: String,
}

/// A player's name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name.
    pub name: String,
}

impl Head {
    /// Of a plan that is about to be played.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self {
            name: plan.name.clone(),
            stages: plan.stages.clone(),
            sprt: plan.sprt,
            engines: plan.engines.iter().map(|engine| Named { name: engine.name.clone() }).collect(),
            format: plan.format_words(),
        }
    }

    fn player(&self, player: PlayerId) -> &str {
        self.engines.get(player.index()).map_or("?", |engine| &engine.name)
    }
}

/// A report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The event.
    pub event: String,
    /// Its format in words.
    pub format: String,
    /// Games that count.
    pub games: u64,
    /// Whether everything was played.
    pub complete: bool,
    /// The players, best first: by Elo, or by the ranking of the last stage where that is what counts.
    pub standings: Vec<Standing>,
    /// Every two players that met.
    pub pairs: Vec<Pair>,
    /// Endings by cause.
    pub endings: Causes,
    /// Endings that do not count, by cause.
    pub uncounted: Causes,
    /// Moving first.
    pub first_move: FirstMove,
    /// The tables of the stages, with their tie-breaks.
    pub stages: Vec<StageTable>,
    /// The sequential test.
    pub sprt: Option<TestReport>,
    /// Optional engines that were not there.
    pub skipped: Vec<String>,
}

/// A player's line.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The place, from 1.
    pub rank: usize,
    /// Who.
    pub name: String,
    /// Games that count.
    pub games: u64,
    /// Games won.
    pub wins: u64,
    /// Games lost.
    pub losses: u64,
    /// Games drawn.
    pub draws: u64,
    /// Score over games, 0 to 1.
    pub score: Option<f64>,
    /// Elo relative to the field's mean, by maximum likelihood over all games (Davidson's model with draws and an
    /// advantage of black).
    pub elo: Option<f64>,
    /// Half its 95 % interval.
    pub elo_error: Option<f64>,
    /// `measured`, `tentative` or `unknown`.
    pub elo_kind: &'static str,
    /// Probability that it is stronger than the next in the list.
    pub los: Option<f64>,
    /// Games as black.
    pub black: Wdl,
    /// Games as white.
    pub white: Wdl,
    /// Games won, by cause.
    pub won_by: Causes,
    /// Games lost, by cause.
    pub lost_by: Causes,
    /// Games drawn, by cause.
    pub drawn_by: Causes,
    /// Games lost by what is not shogi: time, a dead process, an illegal move.
    pub faults: u64,
    /// Rounds without an opponent.
    pub byes: u32,
}

/// Two players' games against each other, from the side of `name`.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// The player listed first in the configuration.
    pub name: String,
    /// Its opponent.
    pub opponent: String,
    /// Games that count.
    pub games: u64,
    /// Won by `name`.
    pub wins: u64,
    /// Lost by `name`.
    pub losses: u64,
    /// Drawn.
    pub draws: u64,
    /// Score of `name` over games.
    pub score: Option<f64>,
    /// Elo difference by the score; from pairs of colour-swapped games where every game has its other half.
    pub elo: Option<f64>,
    /// Half its 95 % interval.
    pub elo_error: Option<f64>,
    /// Normalized Elo.
    pub nelo: Option<f64>,
    /// Half its 95 % interval.
    pub nelo_error: Option<f64>,
    /// `measured`, `at_least`, `at_most` or `unknown`; a bound that everything was won beyond is in `elo_bound`.
    pub elo_kind: &'static str,
    /// The end of the interval that is known where everything was won, or lost.
    pub elo_bound: Option<f64>,
    /// Probability that `name` is stronger.
    pub los: f64,
    /// Colour-swapped pairs by the points of `name`: 0, 1/2, 1, 3/2, 2.
    pub pentanomial: [u64; 5],
}

/// Moving first.
#[derive(Clone, Debug, Serialize)]
pub struct FirstMove {
    /// Games won, drawn and lost by black.
    pub black: Wdl,
    /// Black's score over games.
    pub score: Option<f64>,
    /// Elo that black is worth.
    pub elo: Option<f64>,
    /// Half its 95 % interval.
    pub elo_error: Option<f64>,
}

/// A stage's table.
#[derive(Clone, Debug, Serialize)]
pub struct StageTable {
    /// The stage in words.
    pub format: String,
    /// Its lines, best first; scores are in half points.
    pub table: Vec<StageRow>,
}

/// A line of a stage's table.
#[derive(Clone, Debug, Serialize)]
pub struct StageRow {
    /// Who.
    pub name: String,
    /// Place, games, score and tie-breaks.
    #[serde(flatten)]
    pub row: Row,
}

/// A sequential test.
#[derive(Clone, Debug, Serialize)]
pub struct TestReport {
    /// The hypotheses.
    #[serde(flatten)]
    pub plan: SprtPlan,
    /// Accept H0 at or below this.
    pub lower: f64,
    /// Accept H1 at or above this.
    pub upper: f64,
    /// `H0`, `H1`, or nothing yet.
    pub verdict: Option<String>,
    /// What was known when the verdict fell: whole pairs in schedule order.
    pub at_stop: Option<AtStop>,
    /// The log-likelihood ratio of the whole pairs in schedule order.
    pub llr: f64,
    /// Those pairs.
    pub in_order: TestCounts,
    /// Everything that was finished at the end, games that were running at the verdict included.
    pub finished: TestCounts,
    /// The log-likelihood ratio of all finished pairs.
    pub final_llr: f64,
    /// Elo corrected for the stop, on the scale of the test: median-unbiased, with its 95 % interval.
    pub estimate: Option<StopEstimate>,
}

/// The moment of a verdict.
#[derive(Clone, Debug, Serialize)]
pub struct AtStop {
    /// Log-likelihood ratio.
    pub llr: f64,
    /// Pairs it was evaluated on.
    pub pairs: u64,
}

/// An estimate that allows for the stop having been chosen by the result.
#[derive(Clone, Debug, Serialize)]
pub struct StopEstimate {
    /// The value.
    pub elo: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability that it is above zero.
    pub los: f64,
}

impl Report {
    /// The report of what was played so far.
    #[must_use]
    pub fn new(head: &Head, standings: &Standings, complete: bool) -> Self {
        let ratings = fit(&standings.cross_table());
        Self {
            event: head.name.clone(),
            format: head.format.clone(),
            games: standings.total().met.values().map(|wdl| wdl.games()).sum(),
            complete,
            standings: standing_lines(head, standings, &ratings),
            pairs: pair_lines(head, standings),
            endings: endings(standings),
            uncounted: halved(standings.total().players.iter().map(|record| &record.uncounted)),
            first_move: first_move(standings, &ratings),
            stages: stage_tables(head, standings),
            sprt: head.sprt.and_then(|plan| test_report(plan, standings)),
            skipped: vec![],
        }
    }
}

fn standing_lines(head: &Head, standings: &Standings, ratings: &Ratings) -> Vec<Standing> {
    let order = standings.order(ratings);
    let line = |(at, player): (usize, &PlayerId)| {
        let record = &standings.total().players[player.index()];
        let games = record.games();
        let elo = ratings.players[player.index()].elo;
        Standing {
            rank: at + 1,
            name: head.player(*player).to_owned(),
            games: games.games(),
            wins: games.wins,
            losses: games.losses,
            draws: games.draws,
            score: score(games),
            elo: elo.value(),
            elo_error: elo.error(),
            elo_kind: kind(elo),
            los: order.get(at + 1).and_then(|next| ratings.los(player.index(), next.index())),
            black: record.black,
            white: record.white,
            won_by: record.won_by.clone(),
            lost_by: record.lost_by.clone(),
            drawn_by: record.drawn_by.clone(),
            faults: record.faults(),
            byes: record.byes,
        }
    };
    order.iter().enumerate().map(line).collect()
}

fn score(games: Wdl) -> Option<f64> {
    (games.games() > 0).then(|| games.half_points() as f64 / 2.0 / games.games() as f64)
}

fn kind(estimate: Estimate) -> &'static str {
    match estimate {
        Estimate::Measured { .. } => "measured",
        Estimate::Tentative { .. } => "tentative",
        Estimate::AtLeast { .. } => "at_least",
        Estimate::AtMost { .. } => "at_most",
        Estimate::Unknown => "unknown",
    }
}

fn pair_lines(head: &Head, standings: &Standings) -> Vec<Pair> {
    let total = standings.total();
    let mut met: Vec<(PlayerId, PlayerId)> = total.met.keys().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    met.sort_unstable();
    met.dedup();
    let line = |&(player, opponent): &(PlayerId, PlayerId)| {
        let wdl = total.between(player, opponent);
        let pentanomial = total.pentanomial(player, opponent);
        let trinomial = Trinomial { losses: wdl.losses, draws: wdl.draws, wins: wdl.wins };
        // Pairs tell more, but only if every game is in one.
        let paired = 2 * pentanomial.iter().sum::<u64>() == wdl.games();
        let counts = if paired { Pentanomial(pentanomial).into() } else { trinomial.into() };
        let numbers = Numbers::from(&counts);
        let bound = match numbers.elo {
            Estimate::AtLeast { value } | Estimate::AtMost { value } => Some(value),
            _ => None,
        };
        Pair {
            name: head.player(player).to_owned(),
            opponent: head.player(opponent).to_owned(),
            games: wdl.games(),
            wins: wdl.wins,
            losses: wdl.losses,
            draws: wdl.draws,
            score: numbers.score,
            elo: numbers.elo.value(),
            elo_error: numbers.elo.error(),
            nelo: numbers.nelo.value(),
            nelo_error: numbers.nelo.error(),
            elo_kind: kind(numbers.elo),
            elo_bound: bound,
            los: numbers.los,
            pentanomial,
        }
    };
    met.iter().map(line).collect()
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

/// Counts that both players of a game have, once for each game.
fn halved<'a>(counts: impl Iterator<Item = &'a Causes>) -> Causes {
    let mut sum = Causes::new();
    for (cause, games) in counts.flatten() {
        *sum.entry(cause).or_default() += games;
    }
    sum.values_mut().for_each(|games| *games /= 2);
    sum
}

fn first_move(standings: &Standings, ratings: &Ratings) -> FirstMove {
    let black = standings.total().met.values().fold(Wdl::default(), |sum, &met| sum + met);
    let elo = ratings.black_advantage;
    FirstMove { black, score: score(black), elo: elo.value(), elo_error: elo.error() }
}

fn stage_tables(head: &Head, standings: &Standings) -> Vec<StageTable> {
    let named = |row: Row| StageRow { name: head.player(row.player).to_owned(), row };
    let played = |at: &usize| standings.stage(*at).is_some_and(|tally| !tally.met.is_empty());
    (0..head.stages.len())
        .filter(played)
        .map(|at| StageTable {
            format: plan::format_words(&head.stages[at..=at]),
            table: standings.ranking(at).into_iter().map(named).collect(),
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
        estimate: at_stop.as_ref().and_then(|_| estimate(&test, &counts(&sequence.in_order))),
        at_stop,
    })
}

fn estimate(test: &Sprt, counts: &referee::rating::Counts) -> Option<StopEstimate> {
    let stopped = test.estimate(counts).ok().flatten()?;
    Some(StopEstimate { elo: stopped.elo, low: stopped.low, high: stopped.high, los: stopped.los })
}

/// The scale of a test in a word.
#[must_use]
pub fn model_word(model: SprtModel) -> &'static str {
    match model {
        SprtModel::Normalized => "normalized",
        SprtModel::Logistic => "logistic",
    }
}

/// Whether a verdict was reached, for exit codes.
#[must_use]
pub fn verdict(report: &Report) -> Option<Verdict> {
    match report.sprt.as_ref()?.verdict.as_deref()? {
        "H0" => Some(Verdict::H0),
        "H1" => Some(Verdict::H1),
        _ => None,
    }
}

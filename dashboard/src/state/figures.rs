//! Ratings and the sequential test's state: computed from the standings, at most once a second.

use super::EventInfo;
use referee::{
    entry::PlayerId,
    precision::{Known, Precision},
    rating::{CrossTable, Estimate, Pentanomial, Ratings, elo_words, fit},
    sprt::StoppedEstimate,
    stage,
    standings::{REPEATS, Scale, Standings, Wdl},
};
use std::cmp::Reverse;

/// Values that take too long to compute for every frame.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The standings, best first.
    pub lines: Vec<Line>,
    /// Of two players, the difference in words: then it is the only Elo that is shown.
    pub duel: Option<String>,
    /// The sequential test.
    pub gauge: Option<Gauge>,
    /// What is known of two players who play until it is enough.
    pub precision: Option<Reached>,
    /// The advantage of the first move in Elo, and half its 95 % interval.
    pub first_move: Option<(f64, Option<f64>)>,
    /// Black's score, 0 to 1.
    pub black_score: Option<f64>,
    /// The share of draws, 0 to 1.
    pub draws: Option<f64>,
    /// True if entries have been folded since.
    pub stale: bool,
    computed: Option<i64>,
}

/// A line of the standings.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The player.
    pub player: PlayerId,
    /// The results.
    pub games: Wdl,
    /// Wins as black and as white.
    pub wins: [u64; 2],
    /// Elo relative to the mean of the field.
    pub elo: Estimate,
    /// The rating on the external scale, if there is one.
    pub rating: Option<Estimate>,
    /// The probability that the player is stronger than the next in the table.
    pub los: Option<f64>,
    /// Games lost by faults.
    pub faults: u64,
}

/// A sequential test between its bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauge {
    /// The log-likelihood ratio.
    pub llr: f64,
    /// Lower bound: H0 is accepted.
    pub lower: f64,
    /// Upper bound: H1 is accepted.
    pub upper: f64,
    /// Complete pairs that the ratio is computed from.
    pub pairs: u64,
    /// The pairs by their score.
    pub pentanomial: [u64; 5],
    /// The verdict, once there is one.
    pub verdict: Option<String>,
}

/// How well the Elo of two players is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// The error that ends the event.
    pub within: Precision,
    /// The error that is left, in Elo; none while an end of the interval is missing.
    pub error: Option<f64>,
    /// Complete pairs that it is computed from.
    pub pairs: u64,
    /// The pairs by their score.
    pub pentanomial: [u64; 5],
    /// True once the error was small enough.
    pub is_over: bool,
}

/// Most players for whom Elo is computed here: the work grows with their cube. A league rates larger fields itself.
pub(super) const RATED: usize = 150;

/// Milliseconds between two computations.
const PAUSE: i64 = 1000;

impl Figures {
    /// True if the values should be computed again.
    #[must_use]
    pub fn is_due(&self, now: i64) -> bool {
        self.stale && self.computed.is_none_or(|computed| now - computed >= PAUSE || now < computed)
    }

    /// Computes the values.
    #[must_use]
    pub fn of(info: &EventInfo, standings: &Standings, scale: Option<&Scale>, now: i64) -> Self {
        let table = standings.cross_table();
        let ratings = fit(&if table.players() > RATED { CrossTable::default() } else { table });
        let black = standings.total().met.values().fold(Wdl::default(), |sum, &met| sum + met);
        let advantage = standings.black_advantage(&ratings);
        Self {
            lines: lines(standings, &ratings, scale),
            duel: duel(info, standings).filter(|_| scale.is_none()),
            gauge: gauge(info, standings),
            precision: reached(info, standings),
            first_move: advantage.value().map(|elo| (elo, advantage.error())),
            black_score: black.score(),
            draws: (black.games() > 0).then(|| black.draws as f64 / black.games() as f64),
            stale: false,
            computed: Some(now),
        }
    }
}

/// The players, best first.
fn order(standings: &Standings, ratings: &Ratings, scale: Option<&Scale>) -> Vec<PlayerId> {
    let mut order = standings.order(ratings);
    let points = |player: &PlayerId| standings.total().players[player.index()].half_points();
    if ratings.players.is_empty() {
        order.sort_by_key(|player| Reverse(points(player)));
    }
    if let Some(scale) = scale {
        let rating = |player: &PlayerId| match scale.ratings.get(player) {
            Some(Estimate::AtLeast { value } | Estimate::AtMost { value }) => *value,
            other => other.and_then(Estimate::value).unwrap_or(f64::NEG_INFINITY),
        };
        order.sort_by(|a, b| rating(b).total_cmp(&rating(a)));
    }
    order
}

fn lines(standings: &Standings, ratings: &Ratings, scale: Option<&Scale>) -> Vec<Line> {
    let order = order(standings, ratings, scale);
    let line = |(at, &player): (usize, &PlayerId)| {
        let record = &standings.total().players[player.index()];
        Line {
            player,
            games: record.games(),
            wins: [record.black.wins, record.white.wins],
            elo: ratings.players.get(player.index()).map_or(Estimate::Unknown, |rating| rating.elo),
            rating: scale.map(|scale| *scale.ratings.get(&player).unwrap_or(&Estimate::Unknown)),
            los: order.get(at + 1).and_then(|next| ratings.los(player.index(), next.index())),
            faults: record.faults(),
        }
    };
    order.iter().enumerate().map(line).collect()
}

/// The difference of the first player to the second; from a verdict on, the one that knows of the stop.
fn duel(info: &EventInfo, standings: &Standings) -> Option<String> {
    if standings.players() != 2 {
        return None;
    }
    let stopped = standings
        .verdict()
        .filter(|stop| stop.verdict != REPEATS)
        .and(info.test)
        .zip(standings.sequence())
        .and_then(|(test, sequence)| {
            test.estimate(&Pentanomial(sequence.in_order.pentanomial).into()).ok().flatten()
        });
    Some(match stopped {
        Some(StoppedEstimate { elo, low, high, .. }) => {
            format!("{}, corrected for the stop of the test", elo_words(Some(elo), low, high))
        }
        None => known(info, standings)
            .unwrap_or_else(|| standings.total().numbers(PlayerId(0), PlayerId(1)).elo_words()),
    })
}

fn reached(info: &EventInfo, standings: &Standings) -> Option<Reached> {
    let (within, counts) = (stage::precision(&info.stages)?, standings.sequence()?.in_order);
    let error = within.known(counts.pentanomial).and_then(|known| known.error());
    let is_over = standings.verdict().is_some_and(|stop| stop.verdict != REPEATS);
    Some(Reached { within, error, pairs: counts.pairs, pentanomial: counts.pentanomial, is_over })
}

/// The interval that holds although it was looked at after every pair.
fn known(info: &EventInfo, standings: &Standings) -> Option<String> {
    let (within, counts) = (stage::precision(&info.stages)?, standings.sequence()?.in_order);
    let Known { elo, low, high } = within.known(counts.pentanomial)?;
    (low.is_some() || high.is_some()).then(|| format!("{}, corrected for looking", elo_words(elo, low, high)))
}

fn gauge(info: &EventInfo, standings: &Standings) -> Option<Gauge> {
    let (test, counts) = (info.test?, standings.sequence()?.in_order);
    let (lower, upper) = test.bounds();
    Some(Gauge {
        llr: test.llr(&Pentanomial(counts.pentanomial).into()).ok()?,
        lower,
        upper,
        pairs: counts.pairs,
        pentanomial: counts.pentanomial,
        verdict: standings.verdict().map(|stop| stop.verdict.clone()),
    })
}

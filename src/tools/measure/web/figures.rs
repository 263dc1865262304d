//! The figures, each with its goal.

use super::{
    players::{Phase, Sum},
    viewers::Seen,
};
use crate::{database::Database, measure::percentile};
use anyhow::Result;
use std::{collections::HashMap, time::Duration};

/// From a move to the browsers, in ms, at most.
const TO_BROWSER: f64 = 250.0;
/// How much later than without viewers the slowest moves of paced games may come to the opponent, in ms.
const SLOWER: f64 = 2.0;
/// Share of the moves in a second that viewers have to leave to the games, in %.
const KEPT: f64 = 85.0;
/// Memory that viewers may cost, in MB.
const MEMORY: f64 = 100.0;

/// Something that was measured.
pub struct Figure {
    what: String,
    goal: Option<Goal>,
    figure: f64,
    unit: &'static str,
}

#[derive(Clone, Copy)]
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Figure {
    /// A figure without a goal.
    pub fn plain(what: &str, figure: f64, unit: &'static str) -> Self {
        Self { what: what.to_owned(), goal: None, figure, unit }
    }

    /// A figure that may be so large.
    pub fn at_most(what: &str, most: f64, figure: f64, unit: &'static str) -> Self {
        Self { goal: Some(Goal::AtMost(most)), ..Self::plain(what, figure, unit) }
    }

    fn at_least(what: &str, least: f64, figure: f64, unit: &'static str) -> Self {
        Self { goal: Some(Goal::AtLeast(least)), ..Self::plain(what, figure, unit) }
    }

    /// True if the goal is reached; what was not measured at all misses it.
    pub fn holds(&self) -> bool {
        match self.goal {
            None => true,
            Some(Goal::AtMost(most)) => self.figure <= most,
            Some(Goal::AtLeast(least)) => self.figure >= least,
        }
    }

    /// The row of the table.
    pub fn cells(&self) -> Vec<String> {
        let number = |number: f64| match number {
            number if number.abs() >= 100.0 || number.fract() == 0.0 => format!("{number:.0}"),
            number => format!("{number:.2}"),
        };
        let goal = match self.goal {
            None => String::new(),
            Some(Goal::AtMost(most)) => format!("<= {} {}", number(most), self.unit),
            Some(Goal::AtLeast(least)) => format!(">= {} {}", number(least), self.unit),
        };
        let verdict = match self.goal {
            None => "",
            Some(_) if self.holds() => "holds",
            Some(_) => "MISSED",
        };
        vec![self.what.clone(), goal, format!("{} {}", number(self.figure), self.unit), verdict.to_owned()]
    }
}

/// Cost of the pages for the host.
pub struct Cost {
    /// The most memory without viewers, in MB.
    pub alone: u64,
    /// The same before them.
    pub watched: u64,
    /// Processor time of the pages before viewers, in % of one: paced, and as fast as the games go.
    pub pages: [f64; 2],
}

/// All figures of a run.
pub fn of(database: &Database, sum: &Sum, seen: &Seen, cost: &Cost, time: Duration) -> Result<Vec<Figure>> {
    let numbers = database.numbers()?;
    let sent: HashMap<u64, &[(Phase, u64)]> =
        sum.games.iter().filter_map(|game| Some((*numbers.get(&game.id)?, game.sent.as_slice()))).collect();
    let relayed =
        [Phase::Paced, Phase::Full, Phase::PacedWatched, Phase::FullWatched].map(|phase| relayed(sum, phase));
    let [paced, full, paced_watched, full_watched] = &relayed;
    let [paced_p99, watched_p99] = [paced, paced_watched].map(|took| percentile(took, 99) as f64 / 1e3);
    let rate = |took: &[i64]| took.len() as f64 / time.as_secs_f64();
    let (to_browser, to_browser_full) =
        (to_browser(seen, &sent, Phase::PacedWatched), to_browser(seen, &sent, Phase::FullWatched));
    let missed = missed(seen, &sent);
    Ok(vec![
        Figure::at_most("paced: move to browser, p99", TO_BROWSER, to_browser.p99, "ms"),
        Figure::plain("paced: moves seen by all viewers", to_browser.seen as f64, ""),
        Figure::plain("paced: move to opponent without viewers, p99", paced_p99, "ms"),
        Figure::at_most(
            "paced: p99 before viewers, more than without",
            SLOWER,
            watched_p99 - paced_p99,
            "ms",
        ),
        Figure::plain("saturated: moves a second without viewers", rate(full), ""),
        Figure::at_least(
            "saturated: moves a second before viewers, of those without",
            KEPT,
            100.0 * rate(full_watched) / rate(full),
            "%",
        ),
        Figure::plain("saturated: move to browser, p99", to_browser_full.p99, "ms"),
        Figure::plain("paced: moves in a frame", to_browser.a_frame, ""),
        Figure::plain("saturated: moves in a frame", to_browser_full.a_frame, ""),
        Figure::plain("paced: processor time of the pages", cost.pages[0], "%"),
        Figure::plain("saturated: processor time of the pages", cost.pages[1], "%"),
        Figure::plain("viewers who were sent to the whole", seen.resets.len() as f64, ""),
        Figure::plain("sent to viewers", seen.bytes as f64 / 1e6, "MB"),
        Figure::at_most("memory that viewers cost", MEMORY, cost.watched as f64 - cost.alone as f64, "MB"),
        Figure::at_most("moves of paced games that a viewer missed who was cut", 0.0, missed, ""),
    ])
}

/// Times to the opponent in µs, ascending.
fn relayed(sum: &Sum, phase: Phase) -> Vec<i64> {
    let mut took: Vec<i64> =
        sum.relayed.iter().filter(|moved| moved.phase == phase).map(|moved| i64::from(moved.took)).collect();
    took.sort_unstable();
    took
}

/// Delays of a phase as viewers saw them.
struct ToBrowser {
    /// ms; not a number where nothing was seen.
    p99: f64,
    /// Moves, counted for each viewer.
    seen: u64,
    /// Moves in a frame on average.
    a_frame: f64,
}

/// Times from moves to browsers, counted by the ms: there are hundreds of millions.
fn to_browser(seen: &Seen, sent: &HashMap<u64, &[(Phase, u64)]>, phase: Phase) -> ToBrowser {
    let at = |(game, ply): &(u64, u32)| {
        let (of, at) = sent.get(game)?.get(usize::try_from(*ply).ok()?.checked_sub(1)?)?;
        (*of == phase).then_some(*at)
    };
    let frames: HashMap<u64, Vec<u64>> = seen
        .frames
        .iter()
        .map(|(frame, moves)| (*frame, moves.iter().filter_map(at).collect::<Vec<_>>()))
        .filter(|(_, moves)| !moves.is_empty())
        .collect();
    let mut counts = vec![0_u64; 600_000];
    for arrival in &seen.arrivals {
        for at in frames.get(&arrival.frame).into_iter().flatten() {
            let ms = usize::try_from(arrival.at.saturating_sub(*at).div_ceil(1000)).unwrap_or(usize::MAX);
            let last = counts.len() - 1;
            counts[ms.min(last)] += 1;
        }
    }
    let total: u64 = counts.iter().sum();
    let mut below = 0;
    let p99 = counts.iter().position(|count| {
        below += count;
        below * 100 >= total * 99 && total > 0
    });
    let a_frame = frames.values().map(Vec::len).sum::<usize>() as f64 / frames.len() as f64;
    ToBrowser { p99: p99.map_or(f64::NAN, |ms| ms as f64), seen: total, a_frame }
}

/// Moves of paced games that the cut viewer does not know; not a number without such moves.
fn missed(seen: &Seen, sent: &HashMap<u64, &[(Phase, u64)]>) -> f64 {
    let (mut all, mut missed) = (0, 0);
    for (game, moves) in sent {
        let known = seen.known.get(game);
        for (at, _) in moves.iter().enumerate().filter(|(_, (phase, _))| *phase == Phase::PacedWatched) {
            let ply = u32::try_from(at + 1).unwrap_or(u32::MAX);
            all += 1;
            missed += u32::from(!known.is_some_and(|known| known.contains_key(&ply)));
        }
    }
    if all == 0 { f64::NAN } else { f64::from(missed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_says_whether_its_goal_holds_and_what_was_not_measured_misses_it() {
        let row = |figure: f64| Figure::at_most("late", 250.0, figure, "ms").cells();
        assert_eq!(row(249.6), ["late", "<= 250 ms", "250 ms", "holds"]);
        assert_eq!(row(251.0)[3], "MISSED");
        assert!(!Figure::at_least("kept", 85.0, f64::NAN, "%").holds());
    }

    #[test]
    fn moves_are_timed_at_every_viewer_and_those_that_one_misses_are_counted() {
        let watched = Phase::PacedWatched;
        let moves = [(watched, 1_000_000), (watched, 2_000_000), (Phase::Rest, 3_000_000)];
        let sent = HashMap::from([(7, moves.as_slice())]);
        let mut seen = Seen::default();
        seen.frames.insert(1, vec![(7, 1), (7, 2), (8, 1)]);
        seen.arrivals =
            [2_010_000, 2_250_000].map(|at| super::super::viewers::Arrival { frame: 1, at }).to_vec();
        seen.known.entry(7).or_default().insert(2, "3c3d".to_owned());
        let timed = to_browser(&seen, &sent, watched);
        assert_eq!((timed.p99, timed.seen, timed.a_frame), (1250.0, 4, 2.0));
        assert!((missed(&seen, &sent) - 1.0).abs() < f64::EPSILON, "the first move is not known");
    }
}

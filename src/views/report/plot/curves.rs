//! Curves over games, pairs and plies.

use super::{
    Plot, Size,
    axis::{Axis, label, signed},
    paint, plain, short,
};
use crate::{EventHistory, MOST_DRAWN, Report, TestReport, html::Language};
use maud::{Markup, html};
use referee::{entry::PlayerId, rating::Milestone, sprt::Walk, usage::PHASE};
use unicode_width::UnicodeWidthStr;

pub(super) const HEIGHT: f64 = 300.0;

/// Number of players whose intervals are drawn as bands; more would hide each other.
const BANDS: usize = 4;

/// A curve and its player.
pub(super) struct Curve {
    pub name: String,
    pub class: String,
    pub points: Vec<(f64, f64)>,
    /// Half the interval at each point; empty where no band is drawn.
    pub errors: Vec<f64>,
}

/// Ratings over the number of games, of the first [`MOST_DRAWN`] players.
pub fn ratings(history: &EventHistory, size: Size, language: Language) -> Plot {
    ratings_of(history, &history.order[..history.order.len().min(MOST_DRAWN)], size, language)
}

/// Rating of one player, by its number, over the number of games.
pub fn player_ratings(history: &EventHistory, player: usize, size: Size, language: Language) -> Plot {
    let one: Vec<_> = history.order.iter().copied().filter(|known| known.index() == player).collect();
    ratings_of(history, &one, size, language)
}

fn ratings_of(history: &EventHistory, players: &[PlayerId], size: Size, language: Language) -> Plot {
    let milestones = history.milestones();
    let curves: Vec<Curve> = players
        .iter()
        .map(|player| {
            let place = history.order.iter().position(|known| known == player).unwrap_or(usize::MAX);
            let estimates: Vec<(f64, f64, f64)> =
                milestones.iter().filter_map(|at| estimate(at, player.index())).collect();
            Curve {
                name: history.players[player.index()].clone(),
                class: paint::series(place),
                points: estimates.iter().map(|&(games, elo, _)| (games, elo)).collect(),
                errors: if players.len() <= BANDS {
                    estimates.iter().map(|estimate| estimate.2).collect()
                } else {
                    vec![]
                },
            }
        })
        .collect();
    let games = milestones.last().map_or(1.0, |last| last.games as f64);
    let (low, high) = settled(&curves, games);
    let frame = Frame::new(size, (0.0, games), (low, high), &curves);
    let body = html! {
        (frame.scales(language.games_count(), signed))
        (frame.curves(&curves))
        (frame.names(&curves))
    };
    Plot::new(
        size,
        HEIGHT,
        format!("{} · {}", history.report.event, language.lower_ratings_over_games()),
        body,
    )
}

fn estimate(at: &Milestone, player: usize) -> Option<(f64, f64, f64)> {
    let elo = at.elo.get(player)?;
    Some((at.games as f64, elo.value()?, elo.error().unwrap_or(0.0)))
}

/// Range of the values after a quarter of the games: the first games move ratings far.
fn settled(curves: &[Curve], games: f64) -> (f64, f64) {
    let late = curves.iter().flat_map(|curve| curve.points.iter()).filter(|(at, _)| *at >= games / 4.0);
    let (low, high) = late.fold((0.0_f64, 0.0_f64), |(low, high), &(_, elo)| (low.min(elo), high.max(elo)));
    let last = |curve: &Curve| Some((curve.points.last()?.1, *curve.errors.last()?));
    let (low, high) = curves
        .iter()
        .filter_map(last)
        .fold((low, high), |(low, high), (elo, error)| (low.min(elo - error), high.max(elo + error)));
    let margin = (0.06 * (high - low)).max(5.0);
    (low - margin, high + margin)
}

/// Log-likelihood ratio of a sequential test over the pairs, between its bounds.
pub fn sprt(report: &Report, test: &TestReport, walk: &Walk, size: Size, language: Language) -> Plot {
    let points: Vec<(f64, f64)> = std::iter::once((0.0, 0.0))
        .chain(walk.points.iter().map(|&(pairs, llr)| (pairs as f64, llr)))
        .chain([(test.in_order.pairs as f64, test.llr)])
        .collect();
    let (low, high) =
        points.iter().fold((test.lower, test.upper), |(low, high), &(_, llr)| (low.min(llr), high.max(llr)));
    let pairs = points.last().map_or(1.0, |last| last.0.max(1.0));
    let frame = Frame::new(size, (0.0, pairs), (low - 0.3, high + 0.3), &[]);
    let bound = |llr: f64, class: &str, words: &str| {
        let (left, right) = frame.x.ends();
        let y = frame.y.at(llr);
        html! {
            g class=(class) {
                (paint::line((left, y), (right, y), "whisker bound"))
                (paint::text(left + 6.0, y + if llr > 0.0 { -6.0 } else { 16.0 }, "named", words))
            }
        }
    };
    let end = (frame.x.at(pairs), frame.y.at(test.llr));
    let curve = Curve { name: String::new(), class: "s0".to_owned(), points, errors: vec![] };
    let body = html! {
        (frame.scales(language.pairs_axis(), signed))
        (bound(test.upper, "good", &format!("H1 {:+.2}", test.upper)))
        (bound(test.lower, "bad", &format!("H0 {:.2}", test.lower)))
        (frame.curves(&[curve]))
        g class="s0" { (paint::dot(end.0, end.1, false)) }
    };
    Plot::new(size, HEIGHT, format!("{} · {}", report.event, language.log_likelihood_ratio()), body)
}

/// Mean time of a move by ply.
pub fn time(history: &EventHistory, size: Size, language: Language) -> Plot {
    let curves: Vec<Curve> = history
        .order
        .iter()
        .enumerate()
        .map(|(place, player)| {
            let usage = &history.usage[player.index()];
            let counted = usage.phases.iter().enumerate().filter(|(_, (_, moves))| *moves >= FEWEST);
            let ply = |phase: usize| (phase as f64 + 0.5) * f64::from(PHASE);
            Curve {
                name: history.players[player.index()].clone(),
                class: paint::series(place),
                points: counted
                    .map(|(phase, (ms, moves))| (ply(phase), *ms as f64 / 1000.0 / *moves as f64))
                    .collect(),
                errors: vec![],
            }
        })
        .collect();
    let ends = curves.iter().flat_map(|curve| curve.points.iter());
    let (plies, seconds) = ends.fold((10.0_f64, 0.001_f64), |(x, y), point| (x.max(point.0), y.max(point.1)));
    let frame = Frame::new(size, (0.0, plies), (0.0, 1.05 * seconds), &curves);
    let body = html! {
        (frame.scales(language.ply_axis(), label))
        (frame.curves(&curves))
        (frame.names(&curves))
    };
    Plot::new(size, HEIGHT, format!("{} · {}", history.report.event, language.lower_seconds_by_ply()), body)
}

/// Least number of moves for which a mean is drawn.
const FEWEST: u64 = 5;

/// Width of the names beside the curves, in columns.
fn longest(size: Size) -> usize {
    if size == Size::Wide { 20 } else { 11 }
}

/// The drawing area of the curves.
pub(super) struct Frame {
    x: Axis,
    y: Axis,
    size: Size,
}

impl Frame {
    pub fn new(size: Size, x: (f64, f64), y: (f64, f64), named: &[Curve]) -> Self {
        let columns = named.iter().map(|curve| plain(&curve.name).width()).max().unwrap_or(0);
        let names = 12.0 + 7.2 * columns.min(longest(size)) as f64;
        Self {
            x: Axis::new(x.0, x.1, 48.0, size.width() - names),
            y: Axis::new(y.0, y.1, HEIGHT - 40.0, 8.0),
            size,
        }
    }

    pub fn scales(&self, across: &str, name: fn(f64) -> String) -> Markup {
        let ticks = if self.size == Size::Wide { 6 } else { 3 };
        html! { (paint::scale_y(&self.x, &self.y, 5, name)) (paint::scale_x(&self.x, &self.y, ticks, across)) }
    }

    pub fn curves(&self, curves: &[Curve]) -> Markup {
        let at = |&(x, y): &(f64, f64)| (self.x.at(x), self.y.at(y));
        let edge = |curve: &Curve, sign: f64| -> Vec<(f64, f64)> {
            let ends = curve.points.iter().zip(&curve.errors);
            ends.map(|(&(x, y), error)| at(&(x, y + sign * error))).collect()
        };
        // Drawn in reverse order, so that the first curve is on top.
        let content = html! {
            @for curve in curves.iter().rev() {
                g class=(curve.class) {
                    @if !curve.errors.is_empty() { (paint::band(&edge(curve, 1.0), &edge(curve, -1.0))) }
                    @let class = if curve.class == "rest" { "curve thin" } else { "curve" };
                    (paint::curve(&curve.points.iter().map(at).collect::<Vec<_>>(), class))
                }
            }
        };
        paint::clipped(&self.x, &self.y, &content)
    }

    /// Names beside the ends of the curves, moved apart where they would overlap; curves without a colour have none.
    pub fn names(&self, curves: &[Curve]) -> Markup {
        let (bottom, top) = self.y.ends();
        let mut ends: Vec<(f64, &Curve)> = curves
            .iter()
            .filter(|curve| curve.class != "rest")
            .filter_map(|curve| Some((self.y.at(curve.points.last()?.1).clamp(top, bottom), curve)))
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        spread(&mut ends, top + 4.0, bottom);
        let columns = longest(self.size);
        html! {
            @for (y, curve) in &ends {
                g class=(curve.class) {
                    (paint::text(self.x.ends().1 + 8.0, y + 4.0, "named", &short(&curve.name, columns)))
                }
            }
        }
    }
}

/// Moves labels, sorted from the top, at least a line apart and within the area if possible.
fn spread(ends: &mut [(f64, &Curve)], top: f64, bottom: f64) {
    const LINE: f64 = 15.0;
    let mut free = top;
    for (y, _) in ends.iter_mut() {
        *y = y.max(free);
        free = *y + LINE;
    }
    let mut free = bottom;
    for (y, _) in ends.iter_mut().rev() {
        *y = y.min(free);
        free = *y - LINE;
    }
}

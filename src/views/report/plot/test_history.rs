//! Elo of tests in their order, each with its interval.

use super::{
    Plot, Size,
    axis::{Axis, signed},
    paint,
};
use crate::test_history::{TestHistory, TestLine, TestResult};
use maud::{Markup, html};

const HEIGHT: f64 = 260.0;
/// Tests that are drawn, the newest: their dots lie beside each other.
const MAX_TESTS: usize = 60;

/// Tests whose commits have room below their numbers.
const NAMED: usize = 9;
const LEGEND: &str =
    "Elo of the new commit against the old one; green: H1 accepted, red: H0, hollow: no verdict";
const SHORT_LEGEND: &str = "Elo of new against old";

/// Elo of the new commit against the old one in each test, in the order of the tests: green where H1 was accepted, red
/// where H0 was, hollow without a verdict.
pub fn test_history(history: &TestHistory, size: Size) -> Plot {
    let most = if size == Size::Wide { MAX_TESTS } else { MAX_TESTS / 3 };
    let mut drawn: Vec<(&TestLine, &TestResult, f64)> = history
        .tests
        .iter()
        .filter_map(|test| Some((test, test.result.as_ref()?, test.result.as_ref()?.elo?)))
        .collect();
    drawn.drain(..drawn.len().saturating_sub(most));
    let (low, high) = range(&drawn);
    let x = Axis::new(0.0, drawn.len().max(1) as f64, 52.0, size.width() - 8.0);
    let y = Axis::new(low, high, HEIGHT, 12.0);
    let every = drawn.len().div_ceil(if size == Size::Wide { 20 } else { 8 }).max(1);
    let body = html! {
        (paint::scale_y(&x, &y, 6, signed))
        @for (at, (test, result, elo)) in drawn.iter().enumerate() {
            @let middle = x.at(at as f64 + 0.5);
            (point(result, *elo, middle, &y))
            @if at % every == 0 {
                (paint::text(middle, HEIGHT + 18.0, "quiet mid", &test.test.to_string()))
            }
        }
        @if drawn.len() <= NAMED && size == Size::Wide {
            @for (at, (test, ..)) in drawn.iter().enumerate() {
                (paint::text(x.at(at as f64 + 0.5), HEIGHT + 34.0, "quiet mid", new_commit(test)))
            }
        }
        (paint::text(x.ends().1, HEIGHT + 54.0, "quiet end", "tests by number"))
        (paint::text(0.0, HEIGHT + 54.0, "quiet", if size == Size::Wide { LEGEND } else { SHORT_LEGEND }))
    };
    let title = format!("{} · Elo with 95 % intervals", history.queue);
    Plot::new(size, HEIGHT + 60.0, title, body)
}

/// The first digits of the new commit.
fn new_commit(test: &TestLine) -> &str {
    test.commits.as_ref().and_then(|commits| commits.players.first()).map_or("", |player| player.short())
}

fn point(result: &TestResult, elo: f64, x: f64, y: &Axis) -> Markup {
    let (bottom, top) = y.ends();
    let class = match result.verdict.as_deref() {
        Some("H1") => "good",
        Some(_) => "bad",
        None => "s0",
    };
    let end = |value: Option<f64>, open: f64| value.map_or(open, |value| y.at(value).clamp(top, bottom));
    let (low, high) = (end(result.elo_low, bottom), end(result.elo_high, top));
    html! { g class=(class) {
        (paint::line((x, low), (x, high), "whisker"))
        (paint::dot(x, y.at(elo), result.verdict.is_none()))
    } }
}

/// Range of all values and of most intervals: that of a few games is wide, and must not press the others flat.
fn range(drawn: &[(&TestLine, &TestResult, f64)]) -> (f64, f64) {
    let (least, most) =
        drawn.iter().fold((0.0_f64, 0.0_f64), |(low, high), (_, _, elo)| (low.min(*elo), high.max(*elo)));
    let room = (most - least).max(20.0);
    let within =
        |value: Option<f64>, elo: f64| value.map_or(0.5 * room, |value| (value - elo).abs().min(room));
    let (low, high) = drawn.iter().fold((least, most), |(low, high), (_, result, elo)| {
        (low.min(elo - within(result.elo_low, *elo)), high.max(elo + within(result.elo_high, *elo)))
    });
    let margin = 0.06 * (high - low).max(1.0);
    (low - margin, high + margin)
}

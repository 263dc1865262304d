//! The probabilities of commits, as bars in their order.

use super::{
    Plot, Size,
    axis::{Axis, label},
    number, paint, short,
};
use maud::{Markup, html};

const HEIGHT: f64 = 220.0;
/// Least probability of a bar that is named.
const NAMED: f64 = 0.05;
/// Bars that are named, at most.
const MOST_NAMED: usize = 5;

/// Probability (0 to 1) of each commit, in their order, and of none of them.
pub fn posterior(title: &str, commits: &[(String, f64)], none: f64, size: Size) -> Plot {
    let most = commits.iter().map(|(_, p)| *p).fold(none, f64::max).max(0.05);
    let x = Axis::new(0.0, commits.len().max(1) as f64, 48.0, size.width() - 8.0);
    let y = Axis::new(0.0, top(100.0 * most), HEIGHT, 12.0);
    let mut named: Vec<usize> = (0..commits.len()).filter(|at| commits[*at].1 >= NAMED).collect();
    named.sort_by(|a, b| commits[*b].1.total_cmp(&commits[*a].1));
    named.truncate(MOST_NAMED);
    let percent = |p: f64| format!("{:.1} %", 100.0 * p);
    let columns = if size == Size::Wide { 92 } else { 34 };
    let body = html! {
        (paint::scale_y(&x, &y, 4, |value| format!("{} %", label(value))))
        @for (at, (_, p)) in commits.iter().enumerate() {
            g class=(if named.first() == Some(&at) { "bad" } else { "s0" }) { (bar(&x, &y, at, *p)) }
        }
        (numbers(&x, commits.len(), size))
        (paint::text(x.ends().1, HEIGHT + 36.0, "quiet end", "commits after the good one"))
        (paint::text(x.ends().0, HEIGHT + 36.0, "quiet", &format!("nothing lost: {}", percent(none))))
        @for (row, at) in named.iter().enumerate() {
            @let (name, p) = &commits[*at];
            @let line = format!("{}  {}  {}", at + 1, percent(*p), short(name, columns));
            (paint::text(x.ends().0, HEIGHT + 62.0 + 18.0 * row as f64, "", &line))
        }
    };
    Plot::new(size, HEIGHT + 50.0 + 18.0 * named.len() as f64, title, body)
}

/// The upper end of the scale, a round number of per cent that every bar stays below.
fn top(most: f64) -> f64 {
    [10.0, 20.0, 40.0, 60.0, 80.0].into_iter().find(|top| most <= *top).unwrap_or(100.0)
}

fn bar(x: &Axis, y: &Axis, at: usize, p: f64) -> Markup {
    let (left, right, top) = (x.at(at as f64 + 0.1), x.at(at as f64 + 0.9), y.at(100.0 * p));
    html! {
        rect class="dot" x=(number(left)) y=(number(top)) width=(number((right - left).max(1.0)))
            height=(number(HEIGHT - top)) {}
    }
}

/// Numbers of commits from 1, each below the middle of its bar.
fn numbers(x: &Axis, commits: usize, size: Size) -> Markup {
    let most = if size == Size::Wide { 20 } else { 8 };
    let steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    let step = steps.into_iter().find(|step| commits / step <= most).unwrap_or(commits.max(1));
    html! {
        @for at in (1..=commits).filter(|at| step == 1 || at % step == 0 || *at == 1) {
            (paint::text(x.at(at as f64 - 0.5), HEIGHT + 18.0, "quiet mid", &at.to_string()))
        }
    }
}

//! The probabilities of commits, as bars in their order.

use super::{
    Plot, Size,
    axis::{Axis, label},
    number, paint, short,
};
use maud::html;

const HEIGHT: f64 = 220.0;
/// Least probability of a bar that is named.
const NAMED: f64 = 0.05;
/// Columns of a name.
const COLUMNS: usize = 48;

/// Probability (0 to 1) of each commit, in their order, and of none of them.
#[must_use]
pub fn posterior(title: &str, commits: &[(String, f64)], none: f64, size: Size) -> Plot {
    let most = commits.iter().map(|(_, p)| *p).fold(none, f64::max).max(0.05);
    let x = Axis::new(0.0, commits.len().max(1) as f64, 48.0, size.width() - 8.0);
    let y = Axis::new(0.0, 100.0 * most, HEIGHT, 12.0);
    let width = ((x.at(1.0) - x.at(0.0)) * 0.8).max(1.0);
    let mut named: Vec<usize> = (0..commits.len()).filter(|at| commits[*at].1 >= NAMED).collect();
    named.sort_by(|a, b| commits[*b].1.total_cmp(&commits[*a].1));
    let percent = |p: f64| format!("{:.1} %", 100.0 * p);
    let body = html! {
        (paint::scale_y(&x, &y, 4, |value| format!("{} %", label(value))))
        @for (at, (_, p)) in commits.iter().enumerate() {
            @let top = y.at(100.0 * p);
            g class="s0" {
                rect class="dot" x=(number(x.at(at as f64))) y=(number(top)) width=(number(width))
                    height=(number(HEIGHT - top)) {}
            }
        }
        (paint::scale_x(&x, &y, 8, "commits after the good one"))
        @for (row, at) in named.iter().take(5).enumerate() {
            @let (name, p) = &commits[*at];
            (paint::text(48.0, HEIGHT + 58.0 + 18.0 * row as f64, "", &format!("{}  {}: {}", at + 1, short(name, COLUMNS), percent(*p))))
        }
        (paint::text(size.width(), HEIGHT + 58.0, "quiet end", &format!("nothing lost: {}", percent(none))))
    };
    let rows = named.len().clamp(1, 5) as f64;
    Plot::new(size, HEIGHT + 50.0 + 18.0 * rows, title, body)
}

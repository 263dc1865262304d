//! What opening lines are worth: one dot a line.

use super::{
    Plot, Size,
    axis::{Axis, label},
    paint,
};
use ledger::Learned;
use maud::{Markup, html};
use std::collections::HashSet;

const HEIGHT: f64 = 360.0;

/// Lines by what black has of them (Elo, across) and by how well they separate players (upward), those of a set in colour.
#[must_use]
pub fn openings(learned: &Learned, chosen: &[usize], size: Size) -> Plot {
    let worths = || learned.lines.iter().map(|line| &line.worth);
    let far = worths().map(|worth| worth.bias.abs()).fold(10.0, f64::max);
    let (low, high) = worths().fold((0.9_f64, 1.1_f64), |(low, high), worth| {
        (low.min(worth.separation), high.max(worth.separation))
    });
    let margin = 0.05 * (high - low);
    let x = Axis::new(-1.08 * far, 1.08 * far, 48.0, size.width() - 12.0);
    let y = Axis::new(low - margin, high + margin, HEIGHT - 40.0, 26.0);
    let set: HashSet<usize> = chosen.iter().copied().collect();
    let dots = |is_chosen: bool| -> Markup {
        let lines = worths().enumerate().filter(|(at, _)| set.contains(at) == is_chosen);
        html! { @for (_, worth) in lines { (paint::point(x.at(worth.bias), y.at(worth.separation))) } }
    };
    let ticks = if size == Size::Wide { 8 } else { 4 };
    let body = html! {
        (paint::scale_y(&x, &y, 5, label))
        (paint::scale_x(&x, &y, ticks, "Elo for black"))
        (paint::text(x.ends().0, 12.0, "quiet", "separation"))
        (paint::line((x.at(0.0), y.ends().0), (x.at(0.0), y.ends().1), "zero"))
        g class="rest" { (dots(false)) }
        g class="s0" {
            (dots(true))
            (paint::text(x.ends().1 - 150.0, 12.0, "named", &format!("{} lines of the set", set.len())))
        }
    };
    Plot::new(size, HEIGHT, format!("{} opening lines", learned.lines.len()), body)
}

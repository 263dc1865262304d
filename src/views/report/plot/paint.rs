//! Drawing primitives.

use super::{SERIES, axis::Axis, number};
use maud::{Markup, html};

/// Class of a player's colour, by rank from 0.
pub fn series(place: usize) -> String {
    if place < SERIES { format!("s{place}") } else { "rest".to_owned() }
}

/// Text at a coordinate.
pub fn text(x: f64, y: f64, class: &str, words: &str) -> Markup {
    html! { text class=(class) x=(number(x)) y=(number(y)) { (words) } }
}

/// A straight line.
pub fn line(from: (f64, f64), to: (f64, f64), class: &str) -> Markup {
    html! {
        line class=(class) x1=(number(from.0)) y1=(number(from.1)) x2=(number(to.0)) y2=(number(to.1)) {}
    }
}

/// A line through points.
pub fn curve(points: &[(f64, f64)], class: &str) -> Markup {
    html! { polyline class=(class) points=(joined(points.iter())) {} }
}

/// The area between two curves over the same coordinates.
pub fn band(upper: &[(f64, f64)], lower: &[(f64, f64)]) -> Markup {
    html! { polygon class="band" points=(joined(upper.iter().chain(lower.iter().rev()))) {} }
}

/// A dot; hollow for uncertain values.
pub fn dot(x: f64, y: f64, hollow: bool) -> Markup {
    html! { circle class=(if hollow { "hollow" } else { "dot" }) cx=(number(x)) cy=(number(y)) r="4.5" {} }
}

/// A clipping frame; its content uses the coordinates of the whole picture.
pub fn clipped(x: &Axis, y: &Axis, content: &Markup) -> Markup {
    let ((left, right), (bottom, top)) = (x.ends(), y.ends());
    let [left, top, width, height] = [left, top, right - left, bottom - top].map(number);
    html! {
        svg x=(left) y=(top) width=(width) height=(height) viewBox=(format!("{left} {top} {width} {height}")) {
            (content)
        }
    }
}

/// Labels under the horizontal axis, where things are counted, and its title.
pub fn scale_x(x: &Axis, y: &Axis, count: usize, what: &str) -> Markup {
    let (bottom, _) = y.ends();
    html! {
        @for value in x.ticks(count).into_iter().filter(|value| value.fract() == 0.0) {
            (text(x.at(value), bottom + 18.0, "quiet mid", &super::axis::label(value)))
        }
        (text(x.ends().1, bottom + 34.0, "quiet end", what))
    }
}

/// Horizontal lines at round values, with labels at the left.
pub fn scale_y(x: &Axis, y: &Axis, count: usize, name: fn(f64) -> String) -> Markup {
    let (left, right) = x.ends();
    html! {
        @for value in y.ticks(count) {
            @let class = if value == 0.0 { "zero" } else { "grid" };
            (line((left, y.at(value)), (right, y.at(value)), class))
            (text(left - 8.0, y.at(value) + 4.0, "quiet end", &name(value)))
        }
    }
}

fn joined<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> String {
    let spelled: Vec<String> = points.map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    spelled.join(" ")
}

//! Pictures with a row for each player or ending.

use super::{
    Plot, Size,
    axis::{Axis, signed},
    number, paint, short,
};
use crate::{MOST_DRAWN, PlayerRow, Report, html::Language};
use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

const ROW: f64 = 28.0;

/// A rated player of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its place, from 0, which its colour follows.
    pub place: usize,
    /// Name.
    pub name: String,
    /// Elo.
    pub elo: f64,
    /// Half its 95 % interval.
    pub error: Option<f64>,
    /// True if the games alone do not bound it.
    pub is_loose: bool,
}

/// Elo of the first [`MOST_DRAWN`] players, each with its 95 % interval.
pub fn elo(report: &Report, size: Size) -> Plot {
    let bar = |(place, line): (usize, &PlayerRow)| {
        let is_loose = !line.elo.is_bounded();
        Some(Bar {
            place,
            name: line.name.clone(),
            elo: line.elo.value()?,
            error: line.elo.error(),
            is_loose,
        })
    };
    let bars: Vec<Bar> = report.standings.iter().enumerate().filter_map(bar).collect();
    elo_bars(&report.event, &bars, 0.0, size)
}

/// Elo of the first [`MOST_DRAWN`] of some players, each with its 95 % interval, on a scale that holds `origin`.
pub fn elo_bars(title: &str, bars: &[Bar], origin: f64, size: Size) -> Plot {
    let rated = &bars[..bars.len().min(MOST_DRAWN)];
    let (low, high) = elo_range(rated, origin);
    let names = name_column(rated.iter().map(|bar| bar.name.as_str()), size);
    let values = if size == Size::Wide { 96.0 } else { 84.0 };
    let height = ROW * rated.len() as f64;
    let x = Axis::new(low, high, names.width, size.width() - values);
    let y = Axis::new(0.0, 1.0, height, 0.0);
    let ticks = if size == Size::Wide { 7 } else { 3 };
    let body = html! {
        @for value in x.ticks(ticks) {
            (paint::line((x.at(value), 0.0), (x.at(value), height), if value == 0.0 { "zero" } else { "grid" }))
            (paint::text(x.at(value), height + 18.0, "quiet mid", &signed(value)))
        }
        @for (row, bar) in rated.iter().enumerate() {
            (elo_row(bar, row, &x, &names, size))
        }
        (paint::text(y.ends().0.min(0.0) + size.width(), height + 18.0, "quiet end", "Elo"))
    };
    Plot::new(size, height + 26.0, format!("{title} · Elo with 95 % intervals"), body)
}

/// Range that contains all values and most intervals: a player who won every game has an unbounded interval, which
/// must not compress the others.
fn elo_range(rated: &[Bar], origin: f64) -> (f64, f64) {
    let values = rated.iter().map(|bar| bar.elo);
    let (least, most) = values.fold((origin, origin), |(low, high), elo| (low.min(elo), high.max(elo)));
    let room = (most - least).max(40.0);
    let ends = rated.iter().filter_map(|bar| {
        let error = bar.error?.min(0.6 * room);
        Some((bar.elo - error, bar.elo + error))
    });
    let (low, high) = ends.fold((least, most), |(low, high), (a, b)| (low.min(a), high.max(b)));
    let margin = 0.04 * (high - low).max(1.0);
    (low - margin, high + margin)
}

fn elo_row(bar: &Bar, row: usize, x: &Axis, names: &Names, size: Size) -> Markup {
    let y = ROW * (row as f64 + 0.5);
    let (left, right) = x.ends();
    let ends = bar.error.map(|error| (x.at(bar.elo - error).max(left), x.at(bar.elo + error).min(right)));
    let error = bar.error.map(|error| format!(" ±{error:.0}")).unwrap_or_default();
    html! {
        (paint::text(0.0, y + 4.0, "", &short(&bar.name, names.columns)))
        g class=(paint::series(bar.place)) {
            @if let Some((low, high)) = ends {
                (paint::line((low, y), (high, y), if bar.is_loose { "whisker loose" } else { "whisker" }))
            }
            (paint::dot(x.at(bar.elo), y, bar.is_loose))
        }
        (paint::text(size.width(), y + 4.0, "end", &format!("{}{error}", signed(bar.elo.round()))))
    }
}

/// Number of games by ending; endings that do not count come last.
pub fn endings(report: &Report, size: Size, language: Language) -> Plot {
    let mut rows: Vec<(String, u64, &str)> = vec![];
    for (cause, games) in &report.endings {
        let words = language.cause(cause);
        // A language may have one word for several causes.
        match rows.iter_mut().find(|(known, ..)| known == words) {
            Some((_, sum, _)) => *sum += *games,
            None => rows.push((words.to_owned(), *games, "s0")),
        }
    }
    rows.sort_by_key(|(_, games, _)| std::cmp::Reverse(*games));
    rows.extend(
        report
            .uncounted
            .iter()
            .map(|(cause, games)| (language.uncounted(language.cause(cause)), *games, "rest")),
    );
    let names = name_column(rows.iter().map(|(cause, ..)| cause.as_str()), size);
    let most = rows.iter().map(|(_, games, _)| *games).max().unwrap_or(1);
    let x = Axis::new(0.0, most as f64, names.width, size.width() - 64.0);
    let body = html! {
        @for (row, (cause, games, class)) in rows.iter().enumerate() {
            @let y = ROW * (row as f64 + 0.5);
            @let end = x.at(*games as f64);
            (paint::text(0.0, y + 4.0, "", &short(cause, names.columns)))
            g class=(class) {
                rect class="dot" x=(number(names.width)) y=(number(y - 8.0))
                    width=(number((end - names.width).max(1.0))) height="16" rx="2" {}
            }
            (paint::text(end + 8.0, y + 4.0, "", &games.to_string()))
        }
    };
    Plot::new(
        size,
        ROW * rows.len() as f64,
        format!("{} · {}", report.event, language.games_by_ending()),
        body,
    )
}

/// The column of the names.
struct Names {
    width: f64,
    columns: usize,
}

fn name_column<'a>(names: impl Iterator<Item = &'a str>, size: Size) -> Names {
    let most = if size == Size::Wide { 30 } else { 14 };
    let columns = names.map(|name| super::plain(name).width()).max().unwrap_or(0).clamp(4, most);
    Names { width: 7.4 * columns as f64 + 12.0, columns }
}

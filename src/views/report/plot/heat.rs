//! What pairs are worth, as a map: red below nothing, green above.

use super::{Plot, Size, axis::signed, number, paint, short};
use maud::{Markup, html};

/// Columns of a name.
const COLUMNS: (usize, usize) = (26, 12);
/// Width of a column of a name in units.
const LETTER: f64 = 7.2;
/// Least width of a cell with a number in it.
const READABLE: f64 = 30.0;
const MOST_HEIGHT: f64 = 34.0;

/// An estimate in Elo, with half its 95 % interval.
pub type Cell = Option<(f64, f64)>;

/// A map of names by names. `cell` tells what the second of two adds to the first (row, column); where both are the same,
/// what it is worth alone.
pub fn heat(title: &str, names: &[String], cell: impl Fn(usize, usize) -> Cell, size: Size) -> Plot {
    let columns = if size == Size::Wide { COLUMNS.0 } else { COLUMNS.1 };
    let left = LETTER * (columns + 4) as f64;
    let width = ((size.width() - left) / names.len().max(1) as f64).min(60.0);
    let height = width.min(MOST_HEIGHT);
    let all = || (0..names.len()).flat_map(|row| (0..names.len()).map(move |column| (row, column)));
    let strongest = |alone: bool| {
        let values = all().filter(|(row, column)| (row == column) == alone);
        values.filter_map(|(row, column)| cell(row, column)).fold(1.0, |most, (elo, _)| elo.abs().max(most))
    };
    // Parts are mostly worth much more than pairs, whose differences would not be seen beside them.
    let (alone, together) = (strongest(true), strongest(false));
    let bottom = height * names.len() as f64;
    let body = html! {
        @for (row, name) in names.iter().enumerate() {
            @let y = height * (row as f64 + 0.5) + 4.0;
            (paint::text(0.0, y, "", &format!("{} {}", row + 1, short(name, columns))))
        }
        @for (row, column) in all() {
            @if let Some(value) = cell(row, column) {
                @let place = (left + width * column as f64, height * row as f64, width, height);
                (square(place, value, if row == column { alone } else { together }))
            }
        }
        @for column in 0..names.len() {
            (paint::text(left + width * (column as f64 + 0.5), bottom + 16.0, "quiet mid", &(column + 1).to_string()))
        }
        (paint::text(0.0, bottom + 40.0, "quiet", "on the diagonal: alone; elsewhere: both together beyond the sum; grey: 0 lies in the 95 % interval"))
    };
    Plot::new(size, bottom + 50.0, title, body)
}

fn square(place: (f64, f64, f64, f64), (elo, error): (f64, f64), strongest: f64) -> Markup {
    let (x, y, width, height) = place;
    let opacity = format!("{:.2}", 0.05 + 0.6 * (elo.abs() / strongest).min(1.0));
    let words = if elo.abs() > error { "mid" } else { "quiet mid" };
    html! {
        g class=(if elo < 0.0 { "bad" } else { "good" }) {
            rect x=(number(x + 1.0)) y=(number(y + 1.0)) width=(number(width - 2.0)) height=(number(height - 2.0))
                fill="currentColor" fill-opacity=(opacity) stroke="none" {}
        }
        @if width >= READABLE {
            (paint::text(x + width / 2.0, y + height / 2.0 + 4.0, words, &signed(elo.round())))
        }
    }
}

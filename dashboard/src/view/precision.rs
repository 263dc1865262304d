//! Two players who play until their Elo is known well enough: the error that is left.

use super::paint::Paint;
use crate::{state::Reached, theme::Role};
use ratatui::layout::Rect;
use referee::{
    number::number,
    rating::{digits, rounded},
};

/// Rows of the window.
pub const ROWS: u16 = 3;

/// Draws the error and the one that is asked for.
pub fn draw(reached: &Reached, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, &format!("until Elo is known within {}", reached.within));
    let role = if reached.is_over { Role::Strong } else { Role::Plain };
    paint.line(inner, 0, &words(reached), role);
}

fn words(reached: &Reached) -> String {
    let error = reached
        .error
        .map_or_else(|| "±∞".to_owned(), |error| format!("±{}", rounded(error, digits(error).max(1))));
    let state = if reached.is_over { " (enough)" } else { "" };
    let counts = reached.pentanomial.map(|n| n.to_string()).join(" ");
    format!(" known within {error}{state} · {} · {counts}", number(reached.pairs, "pair"))
}

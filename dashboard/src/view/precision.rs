//! Two players who play until their Elo is known well enough: the error that is left.

use super::paint::Paint;
use crate::theme::Role;
use ratatui::layout::Rect;
use report::{Language, PrecisionReport, error_words};

/// Rows of the window.
pub const ROWS: u16 = 3;

/// Draws the error and the one that is asked for.
pub fn draw(precision: &PrecisionReport, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, &paint.words.until_known(&precision.within.to_string()));
    let role = if precision.reached_after.is_some() { Role::Strong } else { Role::Plain };
    paint.line(inner, 0, &line(precision, paint.words), role);
}

fn line(precision: &PrecisionReport, words: Language) -> String {
    let known = words.known_within(&error_words(precision.error));
    let state = if precision.reached_after.is_some() { words.well_enough() } else { "" };
    let counts = precision.in_order.pentanomial.map(|n| n.to_string()).join(" ");
    format!(" {known}{state} · {} · {counts}", words.of_pairs(precision.in_order.pairs))
}

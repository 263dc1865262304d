//! Score by opening, which shows unbalanced openings.

use super::paint::Paint;
use crate::{
    state::{State, by_opening},
    text,
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use referee::standings::Wdl;

/// Draws the screen.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Openings · the most uneven first; the score is black's");
    paint.line(inner, 0, "  opening  games    +    −    =   score", Role::Quiet);
    let rows = by_opening(state);
    paint.list(inner, 1, (rows.len(), ui.chosen), |at| {
        let (opening, wdl) = rows[at];
        let moves = state.openings.get(&opening).map_or("", String::as_str);
        (line(opening, wdl, moves, inner.width), Role::Plain)
    });
    if rows.is_empty() {
        paint.line(inner, 1, "  no game has ended yet", Role::Quiet);
    }
}

fn line(opening: u64, wdl: Wdl, moves: &str, width: u16) -> String {
    let games = wdl.games();
    let score = wdl.half_points() as f64 / 2.0 / games.max(1) as f64;
    let room = (usize::from(width).saturating_sub(46) / 3).min(30);
    let filled = (score * room as f64).round() as usize;
    let bar = "█".repeat(filled) + &"░".repeat(room - filled);
    let (wins, losses, draws) = (wdl.wins, wdl.losses, wdl.draws);
    let score = format!("{:.1}%", 100.0 * score);
    format!(
        "{:>9} {games:>6} {wins:>4} {losses:>4} {draws:>4} {}  {bar}  {moves}",
        opening + 1,
        text::right(&score, 7)
    )
}

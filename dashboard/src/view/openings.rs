//! Score by opening: to see a set that is not balanced.

use super::paint::Paint;
use crate::{state::State, text, theme::Role, ui::Ui};
use ratatui::layout::Rect;
use referee::standings::Wdl;
use std::collections::BTreeMap;

/// Results of black by the number of the opening, the most uneven ones first.
#[must_use]
pub fn rows(state: &State) -> Vec<(u64, Wdl)> {
    let mut by_opening: BTreeMap<u64, Wdl> = BTreeMap::new();
    for played in state.played.iter().filter(|played| !played.replayed) {
        let Some(half_points) = played.outcome.black_half_points() else { continue };
        let wdl = by_opening.entry(played.pairing.opening).or_default();
        match half_points {
            0 => wdl.losses += 1,
            1 => wdl.draws += 1,
            _ => wdl.wins += 1,
        }
    }
    let mut rows: Vec<(u64, Wdl)> = by_opening.into_iter().collect();
    rows.sort_by_key(|(opening, wdl)| (std::cmp::Reverse(wdl.wins.abs_diff(wdl.losses)), *opening));
    rows
}

/// Draws them.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Openings · the most uneven first; the score is black's");
    paint.line(inner, 0, "  opening  games    +    −    =   score", Role::Quiet);
    let rows = rows(state);
    let room = usize::from(inner.height).saturating_sub(1).max(1);
    let chosen = ui.chosen.min(rows.len().saturating_sub(1));
    let first = chosen.saturating_sub(room - 1);
    for (row, (opening, wdl)) in rows.iter().enumerate().skip(first).take(room) {
        let role = if row == chosen { Role::Chosen } else { Role::Plain };
        let moves = state.openings.get(opening).map_or("", String::as_str);
        paint.row(inner, 1 + (row - first) as u16, &line(*opening, *wdl, moves, inner.width), role);
    }
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

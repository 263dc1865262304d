//! Score by opening, which shows unbalanced openings.

use super::paint::Paint;
use crate::{
    state::{State, by_opening},
    theme::Role,
    ui::Ui,
};
use contest::standings::Wdl;
use ratatui::layout::Rect;
use report::exhibit::{Cell, Column, Exhibit};

/// Draws the screen.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let words = paint.words;
    let inner = paint.frame(area, words.uneven_openings());
    let rows = by_opening(state);
    let (shown, chosen) = super::paint::visible(rows.len(), ui.chosen, inner);
    let moves = |opening: u64| state.openings.get(&opening).map_or("", String::as_str);
    let width = (usize::from(inner.width).saturating_sub(46) / 3).min(30);
    let bar = |wdl: &Wdl| {
        let filled = (wdl.score().unwrap_or_default() * width as f64).round() as usize;
        "█".repeat(filled) + &"░".repeat(width - filled)
    };
    let columns = vec![
        Column::right(words.pick("opening", "番号"), |(opening, _): &(u64, Wdl)| {
            Cell::number((opening + 1).to_string())
        }),
        Column::right(words.game_column(), |(_, wdl): &(u64, Wdl)| Cell::count(wdl.games())),
        Column::right(words.pick("wins", "勝"), |(_, wdl): &(u64, Wdl)| Cell::count(wdl.wins)),
        Column::right(words.pick("loss", "敗"), |(_, wdl): &(u64, Wdl)| Cell::count(wdl.losses)),
        Column::right(words.pick("draw", "分"), |(_, wdl): &(u64, Wdl)| Cell::count(wdl.draws)),
        Column::right(words.score(), |(_, wdl): &(u64, Wdl)| Cell::share(wdl.score(), 1)),
        Column::left("", |(_, wdl): &(u64, Wdl)| Cell::words(bar(wdl))),
        Column::left(words.pick("moves", "指し手"), |(opening, _): &(u64, Wdl)| {
            Cell::words(moves(*opening))
        }),
    ];
    paint.table(inner, &Exhibit::of(columns, &rows[shown]), Some(chosen));
    if rows.is_empty() {
        paint.line(inner, 1, &format!("  {}", words.no_game_has_ended()), Role::Quiet);
    }
}

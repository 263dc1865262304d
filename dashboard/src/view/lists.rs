//! Lists: finished games, the log, the keys.

use super::paint::Paint;
use crate::{
    state::{Played, State, is_fault},
    text,
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use report::exhibit::{Cell, Column, Exhibit, Mark};

/// The finished games.
pub fn played(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let words = paint.words;
    let inner = paint.frame(area, &words.played_by_order(ui.order.name(words)));
    let rows: Vec<&Played> = ui.played(state);
    let (shown, chosen) = super::paint::visible(rows.len(), ui.chosen, inner);
    let player = |player| Cell::words(state.player(player));
    let ending = |game: &&Played| {
        let again = if game.replayed { words.played_again() } else { "" };
        let mark = if is_fault(game.outcome) { Mark::Fault } else { Mark::Plain };
        Cell::words(format!("{}{again}", words.cause(game.outcome.cause()))).marked(mark)
    };
    let columns = vec![
        Column::right(words.pick("game", "対局"), |game: &&Played| Cell::number(game.game.0.to_string())),
        Column::left(words.black(), |game: &&Played| player(game.pairing.black)),
        Column::left(words.white(), |game: &&Played| player(game.pairing.white)),
        Column::left(words.result(), |game: &&Played| Cell::words(game.outcome.score_words())),
        Column::right(words.plies(), |game: &&Played| Cell::count(game.plies.into())),
        Column::left(words.ending(), ending),
        Column::left(words.pick("ended", "時刻"), |game: &&Played| {
            Cell::words(text::time_of_day(game.ended))
        }),
    ];
    paint.table(inner, &Exhibit::of(columns, &rows[shown]), Some(chosen));
    if rows.is_empty() {
        paint.line(inner, 1, &format!("  {}", words.none_yet()), Role::Quiet);
    }
}

/// The log; faults with all their evidence.
pub fn log(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, paint.words.log_in_utc());
    let rows: Vec<_> = state.log.iter().filter(|line| ui.matches(&line.text)).collect();
    let (room, wide) = (usize::from(inner.height), usize::from(inner.width).saturating_sub(14).max(20));
    let last = ui.chosen.min(rows.len().saturating_sub(1));
    // Filled from the bottom up, so that the latest line is always shown whole.
    let mut shown: Vec<(String, Role)> = vec![];
    for line in rows.iter().take(last + 1).rev() {
        let role = if line.fault { Role::Fault } else { Role::Plain };
        let mut parts = line.text.lines();
        let mut head = text::wrapped(parts.next().unwrap_or_default(), wide).into_iter();
        let first = format!(" {}  {}", text::time_of_day(line.at), head.next().unwrap_or_default());
        let head = head.map(|part| (part, role));
        let rest: Vec<_> = head.chain(parts.map(|part| (part.to_owned(), Role::Quiet))).collect();
        shown.extend(rest.into_iter().rev().map(|(part, role)| (format!("             {part}"), role)));
        shown.push((first, role));
        if shown.len() >= room {
            break;
        }
    }
    for (row, (words, role)) in shown.iter().take(room).rev().enumerate() {
        paint.line(inner, row as u16, words, *role);
    }
}

/// The list of keys, over the current screen.
pub fn help<'k>(keys: impl Iterator<Item = (&'k str, &'k str)>, area: Rect, paint: &mut Paint<'_>) {
    let keys: Vec<_> = keys.collect();
    let height = (keys.len() as u16 + 3).min(area.height);
    let width = 82.min(area.width);
    let at =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    paint.clear(at);
    let inner = paint.frame(at, paint.words.keys_close());
    for (row, (key, meaning)) in keys.into_iter().enumerate() {
        let words = format!(" {} {meaning}", text::left(key, 17));
        paint.line(inner, row as u16, &words, Role::Plain);
    }
}

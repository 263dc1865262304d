//! As many boards as the window holds: running games first, then recently finished ones.

use super::{board, clock, paint::Paint};
use crate::{
    board::Board,
    state::{Game, State, result_of},
    text,
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use referee::{Color, running::Ply};

/// Columns and rows of a game.
const TILE: (u16, u16) = (38, 16);

/// Draws the screen.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let games = ui.games(state);
    if games.is_empty() {
        let why =
            if ui.filter.is_empty() { paint.words.no_game_runs() } else { paint.words.no_game_passes() };
        paint.line(area, 1, &format!("  {why}"), Role::Quiet);
        return;
    }
    let across = (area.width / TILE.0).max(1);
    let down = (area.height / TILE.1).max(1);
    let page = usize::from(across * down);
    let chosen = ui.chosen.min(games.len() - 1);
    let first = chosen / page * page;
    let (width, height) = (area.width / across, area.height / down);
    for (place, game) in games[first..].iter().enumerate().take(page) {
        let (column, row) = (place as u16 % across, place as u16 / across);
        let tile = Rect { x: area.x + column * width, y: area.y + row * height, width, height };
        draw_tile(state, ui, game, first + place == chosen, tile, paint);
    }
}

fn draw_tile(state: &State, ui: &Ui, game: &Game, chosen: bool, area: Rect, paint: &mut Paint<'_>) {
    let mark = if chosen { "▶ " } else { "" };
    let count = format!("{mark}{} · {}", game.label(), paint.words.at_ply_for_black(game.plies.len()));
    let inner = paint.frame(area, &count);
    let (above, below) = if ui.flipped { (Color::Black, Color::White) } else { (Color::White, Color::Black) };
    player(state, game, above, inner, 0, paint);
    let shown = Board::of(game, game.plies.len());
    let on_hand = |color| format!(" {}", board::hand(&shown, color, ui));
    paint.line(inner, 1, &on_hand(above), Role::Plain);
    let at = Rect { x: inner.x + inner.width.saturating_sub(board::SMALL.0) / 2, y: inner.y + 2, ..inner };
    board::draw(&shown, ui, at, false, paint);
    if let Some(black) = game.expected() {
        let share = if ui.flipped { 1.0 - black } else { black };
        score_bar(
            share,
            Rect { x: inner.right().saturating_sub(2), y: at.y + 1, width: 1, height: 9 },
            paint,
        );
    }
    paint.line(inner, 12, &on_hand(below), Role::Plain);
    player(state, game, below, inner, 13, paint);
    if inner.height > 14 {
        last_line(game, inner, paint);
    }
}

/// The expected score of the side below, as a column that is filled from below.
fn score_bar(share: f64, area: Rect, paint: &mut Paint<'_>) {
    const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let filled = (share * f64::from(area.height) * 8.0).round() as usize;
    for row in 0..area.height {
        let below = 8 * usize::from(area.height - 1 - row);
        let part = filled.saturating_sub(below).min(8);
        let (words, role) = if part == 0 { ("┊", Role::Quiet) } else { (EIGHTHS[part], Role::Plain) };
        paint.text(area.x, area.y + row, 1, words, role);
    }
}

/// Name, clock and last evaluation of a side.
fn player(state: &State, game: &Game, color: Color, area: Rect, row: u16, paint: &mut Paint<'_>) {
    let ply = game.plies.len();
    let to_move = game.end.is_none() && game.turn() == color;
    let (words, role) = match &game.end {
        None => (clock::short(game, color, ply, state.now), clock::words(game, color, ply, state).1),
        Some(end) => (result_of(end.outcome, color, paint.words).to_owned(), Role::Strong),
    };
    let evaluation = game.last_of(color, ply).and_then(Ply::evaluation);
    let evaluation = evaluation.map(|evaluation| paint.words.evaluation(evaluation)).unwrap_or_default();
    let mark = color.sign();
    let width = usize::from(area.width).saturating_sub(20);
    let name = text::name(state.player(game.players()[color.index()]), width.saturating_sub(3));
    let style = if to_move { Role::Mover } else { Role::Plain };
    paint.line(area, row, &text::left(&format!("{mark} {name}"), width), style);
    let x = area.x + width as u16;
    if row < area.height {
        paint.text(x, area.y + row, 12, &text::right(&evaluation, 12), Role::Plain);
        paint.text(x + 12, area.y + row, 8, &text::right(&words, 8), role);
    }
}

fn last_line(game: &Game, area: Rect, paint: &mut Paint<'_>) {
    let words = paint.words;
    let line = match (&game.end, game.plies.last()) {
        (Some(end), _) => format!(" {}", words.outcome(end.outcome)),
        (None, Some(ply)) => {
            let depth = ply.thought.as_ref().and_then(|thought| thought.depth);
            let depth = depth.map(|depth| format!(" · {} {depth}", words.depth())).unwrap_or_default();
            format!(" {}{depth}", words.last_move(&game.word(game.plies.len() - 1)))
        }
        (None, None) => String::new(),
    };
    paint.line(area, 14, &line, Role::Quiet);
}

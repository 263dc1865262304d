//! A board with its hands: small, in three columns a square, or large, with lines between the squares.

use super::paint::Paint;
use crate::{
    board::{Board, RANKS, kanji},
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use referee::Color;
use rsshogi::types::{PieceType, Square};

/// Columns and rows of a small board, with its files and ranks.
pub const SMALL: (u16, u16) = (30, 10);

/// Columns and rows of a large board.
pub const LARGE: (u16, u16) = (49, 20);

/// Draws a board at the upper left of an area, in either size.
pub fn draw(board: &Board, ui: &Ui, area: Rect, large: bool, paint: &mut Paint<'_>) {
    let (wide, high) = if large { (5, 2) } else { (3, 1) };
    let edge = u16::from(large);
    for column in 0..9_u16 {
        let file = if ui.flipped { column + 1 } else { 9 - column };
        let x = area.x + wide * column + 2 * edge + 1;
        paint.text(x, area.y, 2, &file.to_string(), Role::Quiet);
    }
    for row in 0..9_u16 {
        let rank = if ui.flipped { 9 - row } else { row + 1 };
        let y = area.y + 1 + high * row + edge;
        if large {
            rule(area, row, paint);
        }
        for column in 0..9_u16 {
            let file = if ui.flipped { column + 1 } else { 9 - column };
            let square = Square::from_index(usize::from(9 * (file - 1) + rank - 1));
            let x = area.x + wide * column + edge;
            cell(board, ui, square, (x, y), large, paint);
        }
        let name = if ui.ascii { char::from(b'a' + rank as u8 - 1) } else { RANKS[usize::from(rank) - 1] };
        let x = area.x + 9 * wide + edge;
        paint.text(x + u16::from(large), y, 3, &name.to_string(), Role::Quiet);
    }
    if large {
        rule(area, 9, paint);
    }
}

fn rule(area: Rect, row: u16, paint: &mut Paint<'_>) {
    let (first, cross, last) = match row {
        0 => ("┌", "┬", "┐"),
        9 => ("└", "┴", "┘"),
        _ => ("├", "┼", "┤"),
    };
    let line = format!("{first}{}{last}", ["────"; 9].join(cross));
    paint.text(area.x + 1, area.y + 1 + 2 * row, 46, &line, Role::Quiet);
}

fn cell(board: &Board, ui: &Ui, square: Square, at: (u16, u16), large: bool, paint: &mut Paint<'_>) {
    let (x, y) = at;
    let role = match board.last {
        Some(last) if last.to_sq() == square => Role::Last,
        Some(last) if !last.is_drop() && last.from_sq() == square => Role::Mover,
        _ => Role::Plain,
    };
    let from_here = role == Role::Mover;
    let piece = board.position.piece_on(square);
    let words = match Color::from(piece.color()) {
        _ if piece.is_empty() && from_here => " * ".to_owned(),
        _ if piece.is_empty() => " · ".to_owned(),
        _ if ui.ascii => format!("{:>2} ", piece.to_string()),
        Color::Black => format!(" {}", kanji(piece.piece_type(), Color::Black)),
        Color::White => format!("v{}", kanji(piece.piece_type(), Color::White)),
    };
    let role = if piece.is_empty() && role == Role::Plain { Role::Quiet } else { role };
    let x = x + u16::from(large);
    if large {
        paint.text(x - 1, y, 1, "│", Role::Quiet);
        paint.text(x + 4, y, 1, "│", Role::Quiet);
    }
    paint.text(x, y, 3, &words, role);
}

/// A hand in words: `飛 角2 歩13`, or `R B2 P13`.
pub fn hand(board: &Board, color: Color, ui: &Ui) -> String {
    let piece = |(piece, count): (PieceType, u32)| {
        let name = if ui.ascii { piece.to_string() } else { kanji(piece, color).to_string() };
        if count > 1 { format!("{name}{count}") } else { name }
    };
    let pieces: Vec<String> = board.hand(color).map(piece).collect();
    if pieces.is_empty() { "-".to_owned() } else { pieces.join(" ") }
}

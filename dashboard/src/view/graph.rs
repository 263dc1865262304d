//! The evaluations of a whole game, from black's side, ply by ply, with a mark at the ply that is shown.

use super::paint::Paint;
use crate::{state::Game, text, theme::Role};
use ratatui::layout::Rect;
use referee::{
    Color,
    evaluation::{Evaluation, GameScales},
};
use report::Language;

/// The mark of an engine's evaluations.
fn dot(color: Color) -> &'static str {
    match color {
        Color::Black => "●",
        Color::White => "○",
    }
}

/// The mark of the judge's evaluations.
const JUDGE: &str = "◆";

/// The title of the graph: from whose side the evaluations are, on which scale where one is given, whose mark is which, and
/// what the judge says of the position that is shown, or said last before it.
pub fn title(
    names: [&str; 2],
    scales: GameScales,
    judged: Option<Evaluation>,
    width: u16,
    words: Language,
) -> String {
    let said = |evaluation| format!(" {JUDGE} {}", words.judge_says(&words.evaluation(evaluation)));
    let judge = judged.map(said).unwrap_or_default();
    let scale = if scales.are_given() { words.on_common_scale() } else { "" };
    let head = format!("{}{scale}", words.evaluations_for_black());
    let room = usize::from(width).saturating_sub(14 + text::columns(&head) + text::columns(&judge)) / 2;
    let [black, white] =
        Color::BOTH.map(|color| format!("{} {}", dot(color), text::name(names[color.index()], room)));
    format!("{head} · {black} {white}{judge}")
}

/// Draws the graph.
pub fn draw(game: &Game, scales: GameScales, shown: usize, area: Rect, paint: &mut Paint<'_>) {
    let label = 7;
    let Some(width) = area.width.checked_sub(label).filter(|&width| width > 0 && area.height > 1) else {
        return;
    };
    let plot = Rect { x: area.x + label, width, ..area };
    let plies = game.plies.len().max(1);
    let zero = share_row(0.5, plot.height);
    for (row, name) in [(0, "+2000"), (zero, "0"), (plot.height - 1, "-2000")] {
        paint.text(area.x, area.y + row, label - 1, &format!("{name:>6}"), Role::Quiet);
    }
    let line = "┈".repeat(usize::from(width));
    paint.text(plot.x, plot.y + zero, width, &line, Role::Quiet);
    let mark = column(shown.saturating_sub(1), plies, width);
    for row in 0..plot.height {
        paint.text(plot.x + mark, plot.y + row, 1, "│", Role::Quiet);
    }
    for (ply, evaluation) in &game.judged {
        let Some(at) = (*ply as usize).checked_sub(1).filter(|at| *at < plies) else { continue };
        let y = plot.y + share_row(share(evaluation.centipawns()), plot.height);
        paint.text(plot.x + column(at, plies, width), y, 1, JUDGE, Role::Quiet);
    }
    for (at, ply) in game.plies.iter().enumerate() {
        let Some(evaluation) = ply.evaluation() else { continue };
        let evaluation = scales.curve(evaluation, ply.color);
        let x = plot.x + column(at, plies, width);
        let y = plot.y + share_row(share(evaluation.centipawns()), plot.height);
        let role = if ply.color == Color::Black { Role::Plain } else { Role::Mover };
        paint.text(x, y, 1, dot(ply.color), role);
    }
}

/// The height of a score, from 0 (lost) to 1 (won): linear, and clamped at 2000 centipawns.
fn share(centipawns: i32) -> f64 {
    f64::from(centipawns.clamp(-2000, 2000)) / 4000.0 + 0.5
}

fn share_row(share: f64, height: u16) -> u16 {
    ((1.0 - share) * f64::from(height - 1)).round() as u16
}

/// The column of a ply, from 0: one per column while there is room.
fn column(ply: usize, plies: usize, width: u16) -> u16 {
    let width = usize::from(width);
    let at = if plies <= width { ply } else { ply * (width - 1) / (plies - 1) };
    at.min(width - 1) as u16
}

//! The course of the ratings: a line for each player, drawn with the sign of its rank.

use super::paint::Paint;
use crate::{state::State, text, theme::Role, ui::Ui};
use ratatui::layout::Rect;
use referee::rating::{Estimate, signed};

/// Signs of the ranks; lower ranks share the last.
const SIGNS: &[u8] = b"123456789abcdefghijklmnopqrstuvwxyz*";

/// Columns of the names.
const NAMES: u16 = 32;

/// Columns of the numbers beside the lines.
const LABEL: u16 = 7;

/// Draws the screen.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, paint.words.ratings_of_field());
    let milestones = state.course.milestones();
    if milestones.is_empty() {
        paint.line(inner, 1, &format!("  {}", paint.words.no_game_has_ended()), Role::Quiet);
        return;
    }
    let names = Rect { x: inner.right().saturating_sub(NAMES), width: NAMES.min(inner.width), ..inner };
    let chosen = ui.chosen.min(state.figures.report.standings.len().saturating_sub(1));
    legend(state, chosen, names, paint);
    let width = inner.width.saturating_sub(NAMES + LABEL + 1);
    if width < 8 || inner.height < 5 {
        return;
    }
    let plot = Rect { x: inner.x + LABEL, width, height: inner.height - 2, ..inner };
    let frame = Frame::around(state, plot);
    frame.scale(state, paint);
    // The chosen line is drawn last, above the others.
    let places =
        (0..state.figures.report.standings.len()).rev().filter(|&place| place != chosen).chain([chosen]);
    for place in places {
        let role = if place == chosen { Role::Strong } else { Role::Plain };
        frame.line(state, place, role, paint);
    }
}

fn sign(place: usize) -> char {
    char::from(SIGNS[place.min(SIGNS.len() - 1)])
}

fn legend(state: &State, chosen: usize, area: Rect, paint: &mut Paint<'_>) {
    let lines = &state.figures.report.standings;
    paint.list(area, 0, (lines.len(), chosen), |place| {
        let line = &lines[place];
        let value = |elo: Option<f64>| elo.map_or_else(|| "-".to_owned(), |elo| signed(elo, 0));
        let error = line.elo.error().map_or_else(String::new, |error| format!("±{error:.0}"));
        let width = usize::from(NAMES) - 17;
        let words = format!(
            " {} {} {:>5} {error:<5}",
            sign(place),
            text::left(&text::name(state.player(line.player), width), width),
            value(line.elo.value())
        );
        (words, Role::Plain)
    });
}

/// The area of the lines, with the values at its edges.
struct Frame {
    area: Rect,
    low: f64,
    high: f64,
}

impl Frame {
    /// Covers every value after the first quarter of the games, because the first games move ratings far.
    fn around(state: &State, area: Rect) -> Self {
        let milestones = state.course.milestones();
        let late = milestones.iter().skip(milestones.len() / 4).flat_map(|milestone| &milestone.elo);
        let values = late.filter_map(Estimate::value);
        let (low, high) =
            values.fold((-10.0_f64, 10.0_f64), |(low, high), elo| (low.min(elo), high.max(elo)));
        Self { area, low, high }
    }

    fn row(&self, elo: f64) -> u16 {
        let share = ((self.high - elo) / (self.high - self.low)).clamp(0.0, 1.0);
        (share * f64::from(self.area.height - 1)).round() as u16
    }

    fn scale(&self, state: &State, paint: &mut Paint<'_>) {
        let Rect { x, y, width, height } = self.area;
        for elo in [self.high, 0.0, self.low] {
            let row = y + self.row(elo);
            let name = signed(elo, 0);
            let name = if name == "+0" { "0" } else { &name };
            paint.text(x - LABEL, row, LABEL - 1, &text::right(name, usize::from(LABEL) - 1), Role::Quiet);
            paint.text(x, row, width, &"┈".repeat(usize::from(width)), Role::Quiet);
        }
        let games = state.course.milestones().last().map_or(0, |last| last.games);
        let words = text::right(&paint.words.of_games(games), usize::from(width));
        paint.text(x, y + height, width, &words, Role::Quiet);
        paint.text(x, y + height, 1, "0", Role::Quiet);
    }

    fn line(&self, state: &State, place: usize, role: Role, paint: &mut Paint<'_>) {
        let milestones = state.course.milestones();
        let player = state.figures.report.standings[place].player;
        let columns = usize::from(self.area.width);
        let games = milestones.last().map_or(1, |last| last.games).max(1) as f64;
        let mut at = 0;
        for column in 0..columns {
            let here = games * (column + 1) as f64 / columns as f64;
            while at + 1 < milestones.len() && milestones[at + 1].games as f64 <= here {
                at += 1;
            }
            let elo = milestones[at].elo.get(player.index()).and_then(Estimate::value);
            if let Some(elo) = elo.filter(|_| milestones[at].games as f64 <= here) {
                let (x, y) = (self.area.x + column as u16, self.area.y + self.row(elo));
                paint.text(x, y, 1, &sign(place).to_string(), role);
            }
        }
    }
}

//! The other machines that play games of the event.

use super::paint::Paint;
use crate::{
    state::{MachineLine, State},
    text,
    theme::Role,
    ui::Ui,
};
use ratatui::layout::Rect;
use referee::{lease::Presence, number::number};

/// Columns beside the name and the last word.
const FIGURES: usize = 76;

/// The machines, with what was told of each last.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let slots: u32 = present(state).map(|line| line.state.slots).sum();
    let here = number(present(state).count(), "machine");
    let title = format!("Machines · {here} with {} · beside this one", number(slots, "slot"));
    let inner = paint.frame(area, &title);
    let name = usize::from(inner.width / 6).clamp(8, 24);
    let word = usize::from(inner.width).saturating_sub(FIGURES + name);
    let heading = format!(
        " {} {:<7} {:>7} {:>5} {:>9} {:>6} {:>7} {:>6} {:>7} {:>6}  last word",
        text::left("machine", name),
        "",
        "pairs",
        "slots",
        "nodes/s",
        "clocks",
        "games",
        "faults",
        "lag ms",
        "heard"
    );
    paint.line(inner, 0, &heading, Role::Quiet);
    let rows = Rect { height: inner.height.saturating_sub(1), ..inner };
    let chosen = ui.chosen.min(state.machines.len().saturating_sub(1));
    paint.list(rows, 1, (state.machines.len(), chosen), |at| {
        let line = &state.machines[at];
        let role = match line.state.presence {
            Presence::Here => Role::Plain,
            Presence::Left => Role::Quiet,
            Presence::Silent | Presence::Barred => Role::Fault,
        };
        let words = format!(
            "{}  {}",
            figures(line, state.now, name),
            text::cut(&text::clean(&line.state.word), word)
        );
        (words, role)
    });
    if let Some(line) = state.machines.get(chosen).filter(|line| !line.state.word.is_empty()) {
        let words = format!(" {}: {}", text::clean(&line.state.name), text::clean(&line.state.word));
        paint.line(inner, inner.height.saturating_sub(1), &words, Role::Plain);
    }
    if state.machines.is_empty() {
        paint.line(inner, 1, "  none: `--hub` lets others play, too", Role::Quiet);
    }
}

/// The machines that play.
fn present(state: &State) -> impl Iterator<Item = &MachineLine> {
    state.machines.iter().filter(|line| line.state.presence == Presence::Here)
}

fn figures(line: &MachineLine, now: i64, name: usize) -> String {
    let MachineLine { state, games } = line;
    let heard = now.saturating_sub(state.seen).max(0).unsigned_abs();
    format!(
        " {} {:<7} {:>7} {:>5} {:>9} {:>6} {:>7} {:>6} {:>7} {:>6}",
        text::left(&text::name(&text::clean(&state.name), name), name),
        state.presence.word(),
        state.playing,
        state.slots,
        state.nps.map_or_else(|| "-".to_owned(), text::short),
        state.scale.to_string(),
        text::short(*games),
        state.faults,
        state.lag,
        text::lasting(heard),
    )
}

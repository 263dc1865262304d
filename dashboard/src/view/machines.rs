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
use report::exhibit::{Cell, Column, Exhibit, Mark};

/// The machines, with what was heard of each last.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let slots: u32 = present(state).map(|line| line.state.slots).sum();
    let here = number(present(state).count(), "machine");
    let title = format!("Machines · {here} with {} · beside this one", number(slots, "slot"));
    let inner = paint.frame(area, &title);
    let body = Rect { height: inner.height.saturating_sub(1), ..inner };
    let (rows, chosen) = super::paint::visible(state.machines.len(), ui.chosen, body);
    let machines = &state.machines[rows];
    paint.table(body, &table(machines, state.now), Some(chosen));
    if let Some(line) = machines.get(chosen).filter(|line| !line.state.word.is_empty()) {
        let words = format!(" {}: {}", text::clean(&line.state.name), text::clean(&line.state.word));
        paint.line(inner, inner.height.saturating_sub(1), &words, Role::Plain);
    }
    if machines.is_empty() {
        paint.line(inner, 1, "  none: `--hub` lets others play, too", Role::Quiet);
    }
}

/// The machines that play.
fn present(state: &State) -> impl Iterator<Item = &MachineLine> {
    state.machines.iter().filter(|line| line.state.presence == Presence::Here)
}

fn table(machines: &[MachineLine], now: i64) -> Exhibit {
    let presence = |line: &MachineLine| match line.state.presence {
        Presence::Here => Mark::Plain,
        Presence::Left => Mark::Quiet,
        Presence::Silent | Presence::Barred => Mark::Fault,
    };
    let heard = |line: &MachineLine| text::lasting(now.saturating_sub(line.state.seen).max(0).unsigned_abs());
    let columns = vec![
        Column::left("machine", |line: &MachineLine| Cell::words(&line.state.name)),
        Column::left("state", |line: &MachineLine| {
            Cell::words(line.state.presence.word()).marked(presence(line))
        }),
        Column::right("pairs", |line: &MachineLine| Cell::count(line.state.playing.into())),
        Column::right("slots", |line: &MachineLine| Cell::count(line.state.slots.into())),
        Column::right("nodes/s", |line: &MachineLine| Cell::known(line.state.nps, Cell::count)),
        Column::right("clocks", |line: &MachineLine| Cell::number(line.state.scale.to_string())).spare(),
        Column::right("games", |line: &MachineLine| Cell::count(line.games)),
        Column::right("faults", |line: &MachineLine| Cell::count(line.state.faults.into())),
        Column::right("lag ms", |line: &MachineLine| Cell::count(line.state.lag.into())),
        Column::right("heard", |line: &MachineLine| Cell::words(heard(line))),
        Column::left("last word", |line: &MachineLine| Cell::words(&line.state.word)).spare(),
    ];
    Exhibit::of(columns, machines)
}

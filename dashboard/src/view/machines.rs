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
use report::{
    Language,
    exhibit::{Cell, Column, Exhibit, Mark},
};

/// The machines, with what was heard of each last.
pub fn draw(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let slots: u32 = present(state).map(|line| line.state.slots).sum();
    let (words, here) = (paint.words, present(state).count());
    let here = words.pick(number(here, "machine"), format!("{here} 台"));
    let slots = words.pick(number(slots, "slot"), format!("{slots} 局"));
    let inner = paint.frame(area, &words.machines_here(&here, &slots));
    let body = Rect { height: inner.height.saturating_sub(1), ..inner };
    let (rows, chosen) = super::paint::visible(state.machines.len(), ui.chosen, body);
    let machines = &state.machines[rows];
    paint.table(body, &table(machines, state.now, words), Some(chosen));
    if let Some(line) = machines.get(chosen).filter(|line| !line.state.word.is_empty()) {
        let last = format!(" {}: {}", text::clean(&line.state.name), text::clean(&line.state.word));
        paint.line(inner, inner.height.saturating_sub(1), &last, Role::Plain);
    }
    if machines.is_empty() {
        paint.line(inner, 1, &format!("  {}", words.hub_lets_play()), Role::Quiet);
    }
}

/// The machines that play.
fn present(state: &State) -> impl Iterator<Item = &MachineLine> {
    state.machines.iter().filter(|line| line.state.presence == Presence::Here)
}

fn table(machines: &[MachineLine], now: i64, words: Language) -> Exhibit {
    let presence = |line: &MachineLine| match line.state.presence {
        Presence::Here => Mark::Plain,
        Presence::Left => Mark::Quiet,
        Presence::Silent | Presence::Barred => Mark::Fault,
    };
    let heard = |line: &MachineLine| text::lasting(now.saturating_sub(line.state.seen).max(0).unsigned_abs());
    let columns = vec![
        Column::left(words.machine(), |line: &MachineLine| Cell::words(&line.state.name)),
        Column::left(words.state(), |line: &MachineLine| {
            Cell::words(words.presence(line.state.presence)).marked(presence(line))
        }),
        Column::right(words.pick("pairs", "割当ペア数"), |line: &MachineLine| {
            Cell::count(line.state.playing.into())
        }),
        Column::right(words.pick("slots", "同時対局数"), |line: &MachineLine| {
            Cell::count(line.state.slots.into())
        }),
        Column::right(words.nodes_a_second(), |line: &MachineLine| Cell::known(line.state.nps, Cell::count)),
        Column::right(words.clocks(), |line: &MachineLine| Cell::number(line.state.scale.to_string()))
            .spare(),
        Column::right(words.game_column(), |line: &MachineLine| Cell::count(line.games)),
        Column::right(words.faults(), |line: &MachineLine| Cell::count(line.state.faults.into())),
        Column::right(words.pick("lag ms", "遅延 ms"), |line: &MachineLine| {
            Cell::count(line.state.lag.into())
        }),
        Column::right(words.heard(), |line: &MachineLine| Cell::words(heard(line))),
        Column::left(words.pick("last word", "最新の連絡"), |line: &MachineLine| {
            Cell::words(&line.state.word)
        })
        .spare(),
    ];
    Exhibit::of(columns, machines)
}

//! Tables: cross table, and time use of the engines.

use super::paint::Paint;
use crate::{state::State, text, theme::Role, ui::Ui};
use ratatui::layout::Rect;
use referee::{entry::PlayerId, usage::Usage};
use std::time::Duration;

/// The cross table: points and games of the row's player against the column's.
pub fn cross(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let area = super::stages::draw(state, area, paint);
    if area.height < 4 {
        return;
    }
    let inner = paint.frame(area, "Cross table · points/games against");
    let order: Vec<PlayerId> = state.figures.lines.iter().map(|line| line.player).collect();
    let name = usize::from(inner.width / 4).clamp(8, 24);
    let columns = (usize::from(inner.width).saturating_sub(name + 6)) / CELL;
    let chosen = ui.chosen.min(order.len().saturating_sub(1));
    let left = chosen.saturating_sub(columns.max(1) - 1);
    let heading: String =
        (left..order.len()).take(columns).map(|at| text::right(&(at + 1).to_string(), CELL)).collect();
    paint.line(inner, 0, &format!("{}{heading}", " ".repeat(name + 5)), Role::Quiet);
    paint.list(inner, 1, (order.len(), chosen), |at| {
        let cells: String =
            order.iter().skip(left).take(columns).map(|other| cell(state, order[at], *other)).collect();
        let words = format!(
            " {:>2} {} {cells}",
            at + 1,
            text::left(&text::name(state.player(order[at]), name), name)
        );
        (words, Role::Plain)
    });
}

/// Columns of a cell.
const CELL: usize = 11;

fn cell(state: &State, player: PlayerId, other: PlayerId) -> String {
    let met = state.standings.total().between(player, other);
    let words = match (player == other, met.games()) {
        (true, _) => "■".to_owned(),
        (_, 0) => "·".to_owned(),
        (_, games) => format!("{:.1}/{games}", met.half_points() as f64 / 2.0),
    };
    text::right(&words, CELL)
}

/// Time use of the engines.
pub fn engines(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, "Engines · of the moves seen since this screen was opened");
    let wide = inner.width >= 96;
    let name = usize::from(inner.width).saturating_sub(if wide { 85 } else { 66 }).clamp(8, 30);
    let heading = format!(
        " {}  moves   mean  longest  depth   nodes/s  late p50   p99  faults{}",
        text::left("engine", name),
        if wide { "  ended     memory" } else { "" }
    );
    paint.line(inner, 0, &heading, Role::Quiet);
    let rows = Rect { height: inner.height.saturating_sub(1), ..inner };
    paint.list(rows, 1, (state.usage.len(), ui.chosen), |row| {
        let (usage, player) = (&state.usage[row], PlayerId::at(row));
        let faults =
            state.figures.lines.iter().find(|line| line.player == player).map_or(0, |line| line.faults);
        let ended = state.standings.total().players.get(row).map_or(0, |record| record.lost("disconnection"));
        let mut words = engine(state.player(player), usage, faults, name);
        if wide {
            let memory = usage.memory_words().unwrap_or_else(|| "-".to_owned());
            words += &format!(" {ended:>6} {memory:>10}");
        }
        (words, Role::Plain)
    });
    let late = " late: ms beyond the engine's own time, to a factor of two";
    let more = if wide { "; ended: in a game; memory: the most of a process" } else { "" };
    paint.line(inner, inner.height.saturating_sub(1), &format!("{late}{more}"), Role::Quiet);
}

fn engine(player: &str, usage: &Usage, faults: u64, name: usize) -> String {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let late = |share| or_dash(usage.latency(share).map(|ms| format!("{ms:.1}")));
    format!(
        " {} {:>6} {:>6} {:>8} {:>6} {:>9} {:>9} {:>5} {:>7}",
        text::left(&text::name(player, name), name),
        text::short(usage.moves),
        or_dash(usage.mean().map(|ms| text::clock(Duration::from_millis(ms)))),
        if usage.moves > 0 { text::clock(Duration::from_millis(usage.longest)) } else { "-".to_owned() },
        or_dash(usage.mean_depth().map(|depth| format!("{depth:.1}"))),
        or_dash(usage.nps().map(text::short)),
        late(0.5),
        late(0.99),
        faults,
    )
}

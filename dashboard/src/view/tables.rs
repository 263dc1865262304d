//! Tables: cross table, and time use of the engines.

use super::paint::Paint;
use crate::{state::State, theme::Role, ui::Ui};
use ratatui::layout::Rect;
use referee::entry::PlayerId;
use report::{
    PlayerRow,
    exhibit::{
        Cell,
        cross::{Met, cross as cross_table},
        usage::{UsageRow, usage},
    },
};

/// Columns of a cell of the cross table with its gap, and of a rank.
const CELL: usize = 11;

/// The cross table: points and games of the row's player against the column's.
pub fn cross(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let area = super::stages::draw(state, area, paint);
    if area.height < 4 {
        return;
    }
    let inner = paint.frame(area, paint.words.points_against());
    let order: Vec<(usize, PlayerId)> =
        state.figures.report.standings.iter().map(|row| row.player).enumerate().collect();
    let columns = usize::from(inner.width).saturating_sub(14) / CELL;
    let (rows, chosen) = super::paint::visible(order.len(), ui.chosen, inner);
    let left = (rows.start + chosen).saturating_sub(columns.max(1) - 1).min(order.len());
    let against = &order[left..order.len().min(left + columns)];
    let name = |&(_, player): &(usize, PlayerId)| Cell::words(state.player(player));
    let met = |&(_, own): &(usize, PlayerId), &(_, other): &(usize, PlayerId)| {
        let met = state.standings.total().between(own, other);
        let points = met.half_points() as f64 / 2.0;
        Some(Met { points: format!("{points:.1}"), share: met.score()?, games: met.games() })
    };
    paint.table(inner, &cross_table(&order[rows], against, paint.words.player(), name, met), Some(chosen));
}

/// Time use of the engines.
pub fn engines(state: &State, ui: &Ui, area: Rect, paint: &mut Paint<'_>) {
    let inner = paint.frame(area, paint.words.engines_since());
    let body = Rect { height: inner.height.saturating_sub(1), ..inner };
    let (rows, chosen) = super::paint::visible(state.usage.len(), ui.chosen, body);
    let standings = &state.figures.report.standings;
    let row = |player: PlayerId| UsageRow {
        name: Cell::words(state.player(player)),
        usage: &state.usage[player.index()],
        faults: standings.iter().find(|row: &&PlayerRow| row.player == player).map_or(0, |row| row.faults),
    };
    let rows: Vec<UsageRow<'_>> = rows.map(PlayerId::at).map(row).collect();
    paint.table(body, &usage(&rows, paint.words), Some(chosen));
    let late = format!(" {}", paint.words.late_and_memory());
    paint.line(inner, inner.height.saturating_sub(1), &late, Role::Quiet);
}

//! Where a stage ranks its players by more than their points: its table with tie-breaks, or its bracket.

use super::paint::Paint;
use crate::{
    state::{Played, State},
    text,
    theme::Role,
};
use contest::schedule::Format;
use ratatui::layout::Rect;
use referee::entry::PlayerId;
use report::exhibit::{self, Cell, ranking::NamedRow};
use std::collections::BTreeMap;

/// Draws the last stage that has begun, if its order says more than the results of its players: a Swiss, a knock-out, one with
/// points or tie-breaks of its own, and any other where the standings have room beside it; returns the area below.
pub fn draw(state: &State, area: Rect, paint: &mut Paint<'_>) -> Rect {
    let begun = |stage: &usize| state.standings.stage(*stage).is_some_and(|tally| !tally.met.is_empty());
    let Some(stage) = (0..state.info.stages.len()).rev().find(begun) else { return area };
    match state.info.stages[stage].format {
        Format::Knockout { .. } => bracket(state, stage, area, paint),
        Format::Swiss { .. } => ranking(state, stage, paint.words.ties_of_swiss(), area, paint),
        _ if state.standings.is_ranked(stage)
            && (!state.info.ranking.is_usual()
                || state.standings.is_decided(stage)
                || usize::from(area.height) > 2 * (state.standings.players() + 6)) =>
        {
            ranking(state, stage, paint.words.ties_of_points(), area, paint)
        }
        _ => area,
    }
}

/// The table of a stage with its tie-breaks, in as many rows as it needs.
fn ranking(state: &State, stage: usize, title: &str, area: Rect, paint: &mut Paint<'_>) -> Rect {
    let rows = state.standings.ranking(stage);
    let needed = u16::try_from(rows.len() + 3).unwrap_or(u16::MAX);
    let height = if area.height >= needed.saturating_add(6) { needed } else { area.height };
    let inner = paint.frame(Rect { height, ..area }, title);
    let room = usize::from(inner.height.saturating_sub(1));
    let rows: Vec<NamedRow<'_>> =
        rows.iter().take(room).map(|row| (Cell::words(state.player(row.player)), row)).collect();
    paint.table(inner, &exhibit::ranking::ranking(&rows, paint.words), None);
    Rect { y: area.y + height, height: area.height - height, ..area }
}

/// Two players of a knock-out round with their half points.
type Met = BTreeMap<[PlayerId; 2], [u64; 2]>;

/// The encounters of a stage that have begun, by their rounds.
fn rounds(state: &State, stage: usize) -> BTreeMap<u32, Met> {
    let mut rounds: BTreeMap<u32, Met> = BTreeMap::new();
    let of_stage = |stage_of: u8| usize::from(stage_of) == stage;
    let running = state.running().map(|game| (game.pairing, None));
    let over = state.played.iter().map(|played: &Played| {
        let points = played.outcome.black_half_points().filter(|_| !played.replayed);
        (played.pairing, points)
    });
    for (pairing, black) in over.chain(running).filter(|(pairing, _)| of_stage(pairing.stage)) {
        let players = [pairing.black.min(pairing.white), pairing.black.max(pairing.white)];
        let points = rounds.entry(pairing.round).or_default().entry(players).or_default();
        if let Some(black) = black.map(u64::from) {
            let at = usize::from(players[0] != pairing.black);
            points[at] += black;
            points[1 - at] += 2 - black;
        }
    }
    rounds
}

/// The bracket, a column for each round.
fn bracket(state: &State, stage: usize, area: Rect, paint: &mut Paint<'_>) -> Rect {
    let inner = paint.frame(area, paint.words.bracket());
    let rounds = rounds(state, stage);
    let entrants = state.standings.entrants(stage).len().max(2);
    let columns = u16::try_from(entrants.next_power_of_two().ilog2()).unwrap_or(1).max(1);
    let width = inner.width / columns;
    let reached: BTreeMap<PlayerId, u32> =
        state.standings.ranking(stage).iter().filter_map(|row| Some((row.player, row.round?))).collect();
    for (round, met) in &rounds {
        let column = u16::try_from(round.saturating_sub(1)).unwrap_or(u16::MAX).min(columns - 1);
        let at = Rect { x: inner.x + column * width, width, ..inner };
        let words = paint.words;
        let name = if column + 1 == columns { words.final_round().to_owned() } else { words.round(*round) };
        paint.line(at, 0, &format!(" {name}"), Role::Quiet);
        for (place, (players, points)) in met.iter().enumerate() {
            for side in [0, 1] {
                let goes_on = reached.get(&players[side]).is_some_and(|reached| reached > round);
                let role = if goes_on { Role::Strong } else { Role::Plain };
                let row = u16::try_from(1 + 3 * place + side).unwrap_or(u16::MAX);
                paint.line(at, row, &seat(state, players[side], points[side], goes_on, width), role);
            }
        }
    }
    Rect { y: area.bottom(), height: 0, ..area }
}

/// A player of an encounter: with a mark if it goes on.
fn seat(state: &State, player: PlayerId, half_points: u64, goes_on: bool, width: u16) -> String {
    let mark = if goes_on { '›' } else { ' ' };
    let room = usize::from(width).saturating_sub(9);
    let name = text::left(&text::name(state.player(player), room), room);
    format!(" {mark} {name} {:>4}", half_points as f64 / 2.0)
}

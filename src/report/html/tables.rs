//! The tables of the page.

use super::{Manner, plain};
use crate::{Encounter, EventHistory, Language, MOST_DRAWN, PlayerRow, StageTable};
use maud::{Markup, html};
use referee::{entry::PlayerId, rating::signed, usage::Usage};

/// The standings.
pub fn standings(history: &EventHistory, manner: Manner) -> Markup {
    let (lines, words) = (&history.report.standings, manner.language);
    // The one difference between two players is told in words.
    let rated = history.report.duel().is_none();
    html! {
        div.scroll { table {
            thead { tr {
                th { "#" } th.name { (words.engine()) } @if rated { th { "Elo" } th { "±" } }
                th { (words.score()) } th { (words.game_column()) }
                th { "+" } th { "−" } th { "=" }
                @if rated { th title=(words.stronger_than_next()) { "LOS" } }
                th { (words.faults()) }
            } }
            tbody { @for (place, line) in lines.iter().enumerate() { (standing(history, place, line, rated, manner)) } }
        } }
        @for warning in &history.report.warnings {
            p.note { (plain(warning)) }
        }
        @for halted in &history.report.halted {
            p.note { (words.halted(&plain(&halted.name), &halted.reason)) }
        }
        @if rated && lines.iter().any(|line| line.elo_kind == "tentative") {
            p.note { (words.elo_is_tentative()) }
        }
    }
}

fn standing(history: &EventHistory, place: usize, line: &PlayerRow, rated: bool, manner: Manner) -> Markup {
    html! { tr {
        td { (line.rank) }
        th.name scope="row" {
            (chip(place)) (manner.player(history, &line.name))
            @if let Some(by) = &line.replaced_by { " (" (manner.language.replaced_by(&plain(by))) ")" }
        }
        @if rated {
            td { (elo(line)) }
            td { (line.elo_error.map_or_else(dash, |error| format!("{error:.0}"))) }
        }
        td { (percent(line.score, 1)) }
        td { (line.games) } td { (line.wins) } td { (line.losses) } td { (line.draws) }
        @if rated { td { (percent(line.los, 0)) } }
        @if line.faults > 0 { td.bad { (line.faults) } } @else { td { "–" } }
    } }
}

fn elo(line: &PlayerRow) -> String {
    let Some(elo) = line.elo else { return dash() };
    // Not `~`: in many fonts it looks like the minus after it.
    let mark = if line.elo_kind == "measured" { "" } else { "≈\u{202f}" };
    format!("{mark}{}", super::minus(&signed(elo, 0)))
}

fn dash() -> String {
    "–".to_owned()
}

fn percent(share: Option<f64>, digits: usize) -> String {
    share.map_or_else(dash, |share| format!("{:.digits$} %", 100.0 * share))
}

/// A player's colour in the pictures.
fn chip(place: usize) -> Markup {
    let class = if place < super::plot::SERIES { format!("chip s{place}") } else { "chip rest".to_owned() };
    html! { span class=(class) {} }
}

/// Cross table: points of the row's player against the column's; of the first [`MOST_DRAWN`] players.
pub fn cross(history: &EventHistory, manner: Manner) -> Markup {
    let order = &history.order[..history.order.len().min(MOST_DRAWN)];
    html! {
        (cells(history, order, manner))
        @if order.len() < history.order.len() {
            p.note { (manner.language.first_players(order.len(), history.order.len())) }
        }
    }
}

fn cells(history: &EventHistory, order: &[PlayerId], manner: Manner) -> Markup {
    html! { div.scroll { table.cross {
        thead { tr {
            th {} th.name {}
            @for (place, player) in order.iter().enumerate() {
                th title=(name(history, *player)) { (place + 1) }
            }
        } }
        tbody { @for (place, player) in order.iter().enumerate() { tr {
            td { (place + 1) }
            th.name scope="row" { (manner.player(history, &history.players[player.index()])) }
            @for other in order { (cell(history, *player, *other)) }
        } } }
    } } }
}

fn cell(history: &EventHistory, player: PlayerId, other: PlayerId) -> Markup {
    let (own, theirs) = (&history.players[player.index()], &history.players[other.index()]);
    let found = |pair: &Encounter| Some((pair.points_against(own, theirs)?, pair.games));
    let found = history.report.pairs.iter().find_map(found);
    match found {
        _ if player == other => html! { td.self { "■" } },
        Some(((points, share), games @ 1..)) => {
            // Eleven shades, from all games lost to all won.
            let shade = format!("h{:.0}", 10.0 * share);
            html! { td class=(shade) { (points.shortest()) span { "/" (games) } } }
        }
        _ => html! { td { "·" } },
    }
}

fn name(history: &EventHistory, player: PlayerId) -> String {
    plain(&history.players[player.index()])
}

/// Tables of stages that have a ranking of their own.
pub fn stages(history: &EventHistory, manner: Manner) -> Markup {
    html! { @for stage in &history.report.stages { h3 { (plain(manner.language.pick(&stage.format, &stage.format_japanese))) } (stage_table(history, stage, manner)) } }
}

fn stage_table(history: &EventHistory, stage: &StageTable, manner: Manner) -> Markup {
    let words = manner.language;
    let knockout = stage.table.iter().any(|line| line.row.round.is_some());
    let tie_breaks = stage.table.first().map_or(&[][..], |line| &line.row.tie_breaks);
    html! { div.scroll { table {
        thead { tr {
            th { "#" } th.name { (words.engine()) } th { (words.game_column()) } th { (words.points()) }
            @if knockout { th { (words.round_column()) } }
            @for (tie_break, _) in tie_breaks { th title=(tie_break.name()) { (words.tie_break(*tie_break)) } }
        } }
        tbody { @for line in &stage.table { tr {
            td { (line.row.rank) }
            th.name scope="row" { (manner.player(history, &line.name)) }
            td { (line.row.games.games()) } td {
                (line.row.points)
                @if let Some(penalty) = line.row.penalty() { " (" (words.penalty()) " " (penalty) ")" }
            }
            @if knockout { td { (line.row.round.map_or_else(dash, |round| round.to_string())) } }
            @for (tie_break, value) in &line.row.tie_breaks { td { (tie_break.text(*value)) } }
        } } }
    } } }
}

/// How the players used their time.
pub fn usage(history: &EventHistory, words: Language) -> Markup {
    let memory = history.usage.iter().any(|usage| usage.memory > 0);
    html! { div.scroll { table {
        thead { tr {
            th.name { (words.engine()) } th { (words.move_column()) } th { (words.mean()) } th { (words.longest()) }
            th { (words.depth()) } th { (words.nodes_a_second()) }
            th title=(words.what_late_means()) { (words.late()) } th { "p99" }
            @if memory { th title=(words.what_memory_means()) { (words.memory()) } }
        } }
        tbody { @for (place, player) in history.order.iter().enumerate() {
            (usage_line(place, &name(history, *player), &history.usage[player.index()], memory))
        } }
    } } }
}

fn usage_line(place: usize, name: &str, usage: &Usage, memory: bool) -> Markup {
    let late = |share| usage.latency(share).map_or_else(dash, |ms| format!("{ms:.1} ms"));
    html! { tr {
        th.name scope="row" { (chip(place)) (name) }
        td { (super::thousands(usage.moves)) }
        td { (usage.mean().map_or_else(dash, lasting)) }
        td { (if usage.moves > 0 { lasting(usage.longest) } else { dash() }) }
        td { (usage.mean_depth().map_or_else(dash, |depth| format!("{depth:.1}"))) }
        td { (usage.nps().map_or_else(dash, super::thousands)) }
        td { (late(0.5)) } td { (late(0.99)) }
        @if memory { td { (usage.memory_words().unwrap_or_else(dash)) } }
    } }
}

/// A duration in ms as text.
fn lasting(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..100_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{}:{:02}", ms / 60_000, ms / 1000 % 60),
    }
}

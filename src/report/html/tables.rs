//! The tables of the page.

use super::plain;
use crate::{Dossier, Report, StageTable, Standing};
use maud::{Markup, html};
use referee::{event::PlayerId, usage::Usage};

/// Who stands where.
pub fn standings(dossier: &Dossier) -> Markup {
    let lines = &dossier.report.standings;
    html! {
        div.scroll { table {
            thead { tr {
                th { "#" } th.name { "engine" } th { "Elo" } th { "±" } th { "score" } th { "games" } th { "+" } th { "−" }
                th { "=" } th title="likelihood that it is stronger than the next" { "LOS" } th { "faults" }
            } }
            tbody { @for (place, line) in lines.iter().enumerate() { (standing(place, line)) } }
        } }
        @if lines.iter().any(|line| line.elo_kind == "tentative") {
            p.note { "~ the games alone do not bound this Elo: everything won or lost, or too few met" }
        }
    }
}

fn standing(place: usize, line: &Standing) -> Markup {
    html! { tr {
        td { (line.rank) }
        th.name scope="row" { (chip(place)) (plain(&line.name)) }
        td { (elo(line)) }
        td { (line.elo_error.map_or_else(dash, |error| format!("{error:.0}"))) }
        td { (percent(line.score, 1)) }
        td { (line.games) } td { (line.wins) } td { (line.losses) } td { (line.draws) }
        td { (percent(line.los, 0)) }
        @if line.faults > 0 { td.bad { (line.faults) } } @else { td { "–" } }
    } }
}

fn elo(line: &Standing) -> String {
    let Some(elo) = line.elo else { return dash() };
    let mark = if line.elo_kind == "measured" { "" } else { "~" };
    format!("{mark}{elo:+.0}").replace('-', "−")
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

/// Points of the row's player against the column's.
pub fn cross(dossier: &Dossier) -> Markup {
    let order = &dossier.order;
    html! { div.scroll { table.cross {
        thead { tr {
            th {} th.name {}
            @for (place, player) in order.iter().enumerate() {
                th title=(name(dossier, *player)) { (place + 1) }
            }
        } }
        tbody { @for (place, player) in order.iter().enumerate() { tr {
            td { (place + 1) }
            th.name scope="row" { (name(dossier, *player)) }
            @for other in order { (cell(dossier, *player, *other)) }
        } } }
    } } }
}

fn cell(dossier: &Dossier, player: PlayerId, other: PlayerId) -> Markup {
    let (own, theirs) = (&dossier.players[player.index()], &dossier.players[other.index()]);
    let found = dossier.report.pairs.iter().find_map(|pair| match () {
        () if pair.name == *own && pair.opponent == *theirs => Some((pair.wins, pair.draws, pair.games)),
        () if pair.name == *theirs && pair.opponent == *own => Some((pair.losses, pair.draws, pair.games)),
        () => None,
    });
    match found {
        _ if player == other => html! { td.self { "■" } },
        Some((wins, draws, games @ 1..)) => {
            let points = wins as f64 + draws as f64 / 2.0;
            // Eleven shades, from everything lost to everything won.
            let shade = format!("h{:.0}", 10.0 * points / games as f64);
            html! { td class=(shade) { (points) span { "/" (games) } } }
        }
        _ => html! { td { "·" } },
    }
}

fn name(dossier: &Dossier, player: PlayerId) -> String {
    plain(&dossier.players[player.index()])
}

/// The tables of stages that have a ranking of their own.
pub fn stages(report: &Report) -> Markup {
    html! { @for stage in &report.stages { h3 { (plain(&stage.format)) } (stage_table(stage)) } }
}

fn stage_table(stage: &StageTable) -> Markup {
    let knockout = stage.table.iter().any(|line| line.row.round.is_some());
    let half = |half_points: Option<u64>, parts: f64| {
        half_points.map_or_else(dash, |n| (n as f64 / parts).to_string())
    };
    html! { div.scroll { table {
        thead { tr {
            th { "#" } th.name { "engine" } th { "games" } th { "score" }
            @if knockout { th { "round" } } @else { th { "Buchholz" } th { "Sonneborn-Berger" } }
        } }
        tbody { @for line in &stage.table { tr {
            td { (line.row.rank) }
            th.name scope="row" { (plain(&line.name)) }
            td { (line.row.games.games()) } td { (line.row.half_points as f64 / 2.0) }
            @if knockout { td { (line.row.round.map_or_else(dash, |round| round.to_string())) } }
            @else { td { (half(line.row.buchholz, 2.0)) } td { (half(line.row.sonneborn_berger, 4.0)) } }
        } } }
    } } }
}

/// What the players did with their time.
pub fn usage(dossier: &Dossier) -> Markup {
    let memory = dossier.usage.iter().any(|usage| usage.memory > 0);
    html! { div.scroll { table {
        thead { tr {
            th.name { "engine" } th { "moves" } th { "mean" } th { "longest" } th { "depth" } th { "nodes/s" }
            th title="time measured beyond what the engine told, to a factor of two" { "late p50" } th { "p99" }
            @if memory { th title="the most that one of its processes held" { "memory" } }
        } }
        tbody { @for (place, player) in dossier.order.iter().enumerate() {
            (usage_line(place, &name(dossier, *player), &dossier.usage[player.index()], memory))
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

/// A time of so many ms in words.
fn lasting(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..100_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{}:{:02}", ms / 60_000, ms / 1000 % 60),
    }
}

//! The machines that play games of the event. What goes wrong on them is for the operator: it names paths.

use super::{FOLLOWING, fresh, json, no_json, no_page, time};
use crate::{
    Site,
    desk::{Desk, NoAnswer},
    layout::Page,
    visitor::Visitor,
};
use axum::{extract::State, response::Response};
use maud::html;
use referee::lease::Presence;
use report::plot::plain;
use serde::Serialize;

/// A machine, as everybody may see it.
#[derive(Debug, Serialize)]
pub struct Machine {
    /// Its name; absent for the machine of the manager.
    name: Option<String>,
    /// `here`, `silent`, `left` or `barred`; absent for the machine of the manager.
    presence: Option<&'static str>,
    /// Pairs that it plays at once, and has now.
    slots: Option<u32>,
    playing: Option<u32>,
    /// Nodes per second of the engines in one slot, where they were measured.
    nps: Option<u64>,
    /// By how much its clocks are longer than those of the plan.
    clocks: Option<String>,
    /// Games of it that count.
    games: u64,
    /// Time from its last question to the answer, in ms.
    lag: Option<u32>,
    /// When it was heard last, in ms since 1970-01-01 UTC.
    seen: Option<i64>,
    /// Since when it has had its oldest pair, in ms since 1970-01-01 UTC; absent: it has none.
    held_since: Option<i64>,
}

/// The machines, the manager's first.
fn machines(desk: &mut Desk) -> Result<Vec<Machine>, NoAnswer> {
    let (store, event) = desk.store()?;
    let (states, counts) = (store.machine_states(event.id)?, store.machines(event.id)?);
    let games = |name: Option<&str>| {
        counts.iter().find(|counts| counts.machine.as_deref() == name).map_or(0, |counts| counts.games)
    };
    let here = Machine {
        name: None,
        presence: None,
        slots: None,
        playing: None,
        nps: None,
        clocks: None,
        games: games(None),
        lag: None,
        seen: None,
        held_since: None,
    };
    let others = states.into_iter().map(|state| Machine {
        games: games(Some(&state.name)),
        name: Some(plain(&state.name)),
        presence: Some(state.presence.word()),
        slots: Some(state.slots),
        playing: Some(state.playing),
        nps: state.nps,
        clocks: Some(state.scale.to_string()),
        lag: Some(state.lag),
        seen: Some(state.seen),
        held_since: state.held_since,
    });
    Ok(std::iter::once(here).chain(others).collect())
}

fn presence_in_japanese(word: &str) -> &'static str {
    match Presence::ALL.into_iter().find(|presence| presence.word() == word) {
        Some(Presence::Here) => "対局中",
        Some(Presence::Silent) => "応答なし",
        Some(Presence::Left) => "退出",
        Some(Presence::Barred) => "除外",
        None => "",
    }
}

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Response {
    let found = match site.ask(machines).await {
        Ok(found) => found,
        Err(error) => return no_page(&error, &site, &visitor),
    };
    let say = |en, ja| visitor.say(en, ja);
    let title = say("Machines", "マシン");
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let content = html! {
        div.scroll tabindex="0" role="region" aria-label=(title) { table {
            thead { tr {
                th.name scope="col" { (say("machine", "マシン")) }
                th.name scope="col" { (say("state", "状態")) }
                th scope="col" { (say("pairs at once", "同時ペア数")) }
                th scope="col" { (say("pairs it has", "割当ペア数")) }
                th scope="col" { (say("the oldest since", "最古のペア")) }
                th scope="col" { (say("nodes per second", "局面/秒")) }
                th scope="col" { (say("clocks", "時計の倍率")) }
                th scope="col" { (say("games", "対局数")) }
                th scope="col" { (say("lag (ms)", "遅延 (ms)")) }
                th scope="col" { (say("heard", "最終応答")) }
            } }
            tbody { @for machine in &found { tr {
                th.name scope="row" { @match &machine.name { Some(name) => { (name) }, None => { (say("here", "運営側")) } } }
                td.name { @if let Some(word) = machine.presence { (say(word, presence_in_japanese(word))) } }
                td { (or_dash(machine.slots.map(|slots| slots.to_string()))) }
                td { (or_dash(machine.playing.map(|pairs| pairs.to_string()))) }
                td { @match machine.held_since { Some(since) => { (time(since)) }, None => { "–" } } }
                td { (or_dash(machine.nps.map(|nps| nps.to_string()))) }
                td { (or_dash(machine.clocks.clone())) }
                td { (machine.games) }
                td { (or_dash(machine.lag.map(|lag| lag.to_string()))) }
                td { @if let Some(seen) = machine.seen { (time(seen)) } }
            } } }
        } }
        @if found.len() == 1 { p { (say("All games are played here.", "すべての対局を運営側のマシンで行っています。")) } }
    };
    let content = html! { h1 { (title) } (fresh(&site, &content)) };
    Page { title, place: "/machines", scripts: FOLLOWING, content }.show(&site, &visitor)
}

/// The same as JSON.
pub async fn api(State(site): State<Site>) -> Response {
    match site.ask(machines).await {
        Ok(machines) => json(&machines),
        Err(error) => no_json(&error),
    }
}

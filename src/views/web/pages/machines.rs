//! The machines that play games of the event. What goes wrong on them is for the operator: it names paths.

use crate::{
    Site,
    desk::{Desk, NoAnswer},
    layout::Page,
    parts::{FOLLOWING, Json, fresh, time},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::State;
use maud::html;
use referee::lease::Presence;
use report::plot::plain;
use serde::Serialize;
use words::Language;

/// A machine, as everybody may see it.
#[derive(Debug, Default, Serialize)]
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
    let until = desk.horizon();
    let (store, event) = desk.store()?;
    let (states, counts) = (store.machine_states(event.id)?, store.machines(event.id, until)?);
    let games = |name: Option<&str>| {
        counts.iter().find(|counts| counts.machine.as_deref() == name).map_or(0, |counts| counts.games)
    };
    let here = Machine { games: games(None), ..Machine::default() };
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

fn presence(words: Language, word: &str) -> &'static str {
    let known = Presence::of(word);
    known.map_or("", |presence| words.presence(presence))
}

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Result<Page, Refusal> {
    let (found, words) = (site.ask(machines).await?, visitor.language);
    let title = words.machines();
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let figures = [
        words.pairs_at_once(),
        words.pairs_it_has(),
        words.oldest_since(),
        words.nodes_per_second(),
        words.clocks(),
        words.game_column(),
        words.lag(),
        words.heard(),
    ];
    let content = html! {
        div.scroll tabindex="0" role="region" aria-label=(title) { table {
            thead { tr {
                th.name scope="col" { (words.machine()) }
                th.name scope="col" { (words.state()) }
                @for figure in figures { th scope="col" { (figure) } }
            } }
            tbody { @for machine in &found { tr {
                th.name scope="row" { @match &machine.name { Some(name) => { (name) }, None => { (words.the_manager()) } } }
                td.name { @if let Some(word) = machine.presence { (presence(words, word)) } }
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
        @if found.len() == 1 { p { (words.all_played_here()) } }
    };
    let content = html! { h1 { (title) } (fresh(&site, &content)) };
    Ok(Page::new(title, "/machines", content).with(FOLLOWING))
}

/// The same as JSON.
pub async fn api(State(site): State<Site>) -> Result<Json, Refusal> {
    Ok(Json::of(&site.ask(machines).await?))
}

//! The first page: what runs, what waits, what is over, and the way out.

use crate::{Asked, Desk, confirmed, fields::Fields, place::Place, waiting};
use arena::operations::{Operations, command::Command, request::Request};
use axum::extract::State;
use event::hall::{Events, Now, Order};
use maud::{Markup, html};
use plan::{HallConfig, LibraryEngine};
use std::collections::BTreeMap;
use toml_edit::DocumentMut;
use web::{
    Listing,
    layout::{Page, percent},
    refusals::Refusal,
    visitor::Visitor,
};
use words::{Language, Phrase};

/// Seconds after which the page is loaded anew while something is played.
const AGAIN: u32 = 5;

/// The page of an engine on a server, which has no arbiter.
const SEAT: &str = "/seat";

/// How many engines there are, and what is wrong with the files that all events share.
fn look(desk: &Desk) -> (usize, Vec<String>) {
    let directory = desk.0.place.directory();
    let (engines, hall) = (LibraryEngine::load(directory), HallConfig::load(directory, false));
    let faults = [engines.as_ref().err(), hall.as_ref().err()].into_iter().flatten().map(ToString::to_string);
    let faults = faults.collect();
    (engines.map_or(0, |engines| engines.len()), faults)
}

/// Megabytes that are free where the events are, if they are fewer than an event keeps.
fn low_disk(place: &Place) -> Option<u64> {
    let free = platform::disk::free(place.directory()).ok()? >> 20;
    Some(free).filter(|free| *free < plan::RESERVE_MB)
}

/// How many decisions of the arbiter each event that is played waits for: appeals, and games that were adjourned.
fn decisions(desk: &Desk) -> BTreeMap<String, usize> {
    let request = Request { named: None, reason: None, event: None, command: Command::List };
    let asked = |operations: &Operations| {
        let listed = operations.carry_out("desk", &request).ok()?.list?;
        Some(listed.appeals.len() + listed.adjourned.len()).filter(|count| *count > 0)
    };
    desk.0
        .running
        .all_operations()
        .into_iter()
        .filter_map(|(name, operations)| Some((name, asked(&operations)?)))
        .collect()
}

/// The page.
pub(crate) async fn page(State(desk): State<Desk>, visitor: Visitor, query: Fields) -> Result<Page, Refusal> {
    let words = visitor.language;
    let (done, mut events) = (desk.confirmation(&query), desk.0.list.events(words).await);
    // Those of the study are no events of this directory.
    events.retain(|event| !event.name.contains('/'));
    let running = desk.0.running.clone();
    let names: Vec<String> = events.iter().map(|event| event.name.clone()).collect();
    let (engines, faults, doors, decisions, low_disk) = waiting(move || {
        let doors = names.into_iter().filter_map(|name| Some((door(&desk.0.place, &name)?, name)));
        let doors: BTreeMap<_, _> = doors.map(|(door, name)| (name, door)).collect();
        let (engines, faults) = look(&desk);
        (engines, faults, doors, decisions(&desk), low_disk(&desk.0.place))
    })
    .await?;
    let is_alive = done.is_some() || events.iter().any(|event| matches!(event.state, "plays" | "waits"));
    let content = html! {
        div.head { h1 { (words.home()) } a href="/machine" { (words.this_machine()) } }
        (confirmed(words, done.as_ref()))
        @if !faults.is_empty() { p role="alert" { (words.files_are_faulty()) } pre.faults { (words.fault(&faults.join("\n"))) } }
        @if let Some(free) = low_disk { p role="alert" { (words.disk_is_nearly_full(free, plan::RESERVE_MB)) } }
        @for event in &events { @if let (Some(count), Some(path)) = (decisions.get(&event.name), &event.path) {
            p role="alert" { a href={ (path) "arbiter" } { (event.event) ": " (words.arbiter_is_wanted(*count)) } }
        } }
        @let wants_engines = engines < 2 && faults.is_empty();
        @if wants_engines { p { (words.first_add_engines()) } }
        p.buttons {
            @if wants_engines { a.button href="/engines/browse" { (words.add_engines()) } }
            a.button href="/new" { (words.new_event()) }
        }
        @for (title, state) in [
            (words.events_that_run(), &["plays", "waits"][..]),
            (words.events_that_wait(), &["stopped", "faulty"]),
            (words.events_that_are_over(), &["over"]),
        ] {
            @let of_state: Vec<_> = events.iter().filter(|event| state.contains(&event.state)).collect();
            @if !of_state.is_empty() { h2 { (title) } div.events { @for event in of_state { (card(words, event, doors.get(&event.name), &running)) } } }
        }
        form.order method="post" action="/quit" {
            h2 { (words.quit()) }
            p { (words.closing_the_page_ends_nothing()) }
            p.buttons {
                button name="how" value="finish" { (words.quit_after_games()) }
                button name="how" value="adjourn" { (words.quit_at_once()) }
            }
        }
    };
    let page = Page::new(words.home(), "/", content).with(&["times.js"]);
    Ok(if is_alive { page.again(AGAIN) } else { page })
}

/// A page of the desk that an event has beside those of every event, and its words.
type Door = (&'static str, Phrase);

/// The page of guests where players log in, or that of an engine on a server.
fn door(place: &Place, event: &str) -> Option<Door> {
    let text = plan::text_of(&place.file(event)?).ok()?;
    let document: DocumentMut = text.parse().ok()?;
    let doors: [(&str, Door); 2] =
        [("serve", ("/guests", Language::guests)), ("floodgate", (SEAT, Language::on_the_server))];
    doors.into_iter().find(|(table, _)| document.contains_key(table)).map(|(_, door)| door)
}

/// What an event does, where more is known than that it is played.
fn doing(running: &Events, event: &Listing, words: Language) -> &'static str {
    let is_paused = running.operations(&event.name).is_some_and(|operations| operations.is_paused());
    match running.of(&event.name) {
        _ if event.state != "plays" => event.words,
        _ if is_paused => words.no_new_game_begins(),
        Some(Now::Seat { presence, .. }) => crate::seat::stage(Some(presence.seen().stage), words),
        _ => event.words,
    }
}

/// What can be ordered about an event, in words.
fn orders(running: &Events, event: &Listing, words: Language) -> Vec<(&'static str, &'static str)> {
    let (begin, delete) = (("begin", words.begin_or_go_on()), ("delete", words.delete()));
    let end = [("finish", words.finish_games()), ("adjourn", words.adjourn_games())];
    let is_paused = running.operations(&event.name).map(|operations| operations.is_paused());
    match (event.state, is_paused) {
        ("plays", Some(true)) => [&[("resume", words.resume_games())], &end[..]].concat(),
        ("plays", Some(false)) => [&[("pause", words.pause_games())], &end[..]].concat(),
        ("plays" | "waits", _) => end.to_vec(),
        ("stopped" | "faulty", _) => vec![begin, delete],
        // It was stopped in its last game, and has got more games since.
        ("over", _) if event.total > Some(event.games) => vec![begin, delete],
        _ => vec![delete],
    }
}

/// An event, with what can be ordered about it.
fn card(words: Language, event: &Listing, door: Option<&Door>, running: &Events) -> Markup {
    html! {
        section.event {
            h3 { @if let Some(path) = &event.path { a href=(path) { (event.event) } } @else { (event.event) }
                @if event.event != event.name { " " small { (event.name) } } }
            p { (doing(running, event, words))
                " · " (event.games) @if let Some(total) = event.total { " / " (total) } " " (words.games_count())
                @if event.running > 0 { " · " (words.so_many_run(event.running)) }
                @if let Some(leader) = &event.leader { " · " (words.leader()) ": " (leader) }
            }
            @if let Some(verdict) = &event.verdict { p { strong { (verdict) } } }
            @if let Some(path) = event.path.as_ref().filter(|_| event.failures > 0) {
                p.wrong { a href={ (path) "table" } { (words.lost_by_failure(event.failures)) } }
            }
            @if !event.format_shown.is_empty() { p.quiet { (event.format_shown) } }
            @for fault in &event.faults { p.wrong { (words.fault(fault)) } }
            form method="post" action="/events/order" {
                input type="hidden" name="event" value=(event.name);
                @for (order, label) in orders(running, event, words) { button name="order" value=(order) { (label) } " " }
                (ways(words, event, door))
            }
        }
    }
}

/// The pages of the desk about an event.
fn ways(words: Language, event: &Listing, door: Option<&Door>) -> Markup {
    let name = percent(&event.name);
    html! {
        a href=(crate::change::address(&event.name)) { (words.change()) }
        " · " a href={ "/new?from=" (name) } { (words.copy()) }
        @if let Some((path, door)) = door { " · " a href={ (path) "?event=" (name) } { (door(words)) } }
        " · " a href={ "/events/publish?event=" (name) } { (words.publish()) }
        @if event.games > 0 { " · " a href={ "/events/explain?event=" (name) } { (words.why_it_lost()) } }
        @if let Some(path) = event.path.as_ref().filter(|_| door.is_none_or(|(to, _)| *to != SEAT)) {
            " · " a href={ (path) "arbiter" } { (words.arbiter()) }
        }
    }
}

/// Ends the desk.
pub(crate) fn quit(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    desk.order(Order::End(fields.one_of("how", &["finish", "adjourn"])? == "adjourn"))?;
    let content = html! { h1 { (words.quit()) } p { (words.desk_ends()) } p { (words.begin_desk_again()) } };
    Ok(Page::new(words.quit(), "", content))
}

//! The first page: what runs, what waits, what is over, and the way out.

use crate::{Asked, Desk, compose::Kind, confirmed, create::cards, fields::Fields, place::Place, waiting};
use arena::operations::{Operations, command::Command, request::Request};
use axum::extract::State;
use event::hall::{Events, Now, Order};
use maud::{Markup, html};
use plan::{HallConfig, LibraryEngine};
use std::collections::BTreeMap;
use toml_edit::DocumentMut;
use web::{
    Listing,
    components::{Icon, Mood, alert, empty, icon, letter, menu, progress, prose, state},
    layout::{Page, percent},
    refusals::Refusal,
    time,
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
    // What lies in the directory is looked at after the start.
    let is_alive = done.is_some()
        || events.is_empty()
        || events.iter().any(|event| matches!(event.state, "plays" | "waits"));
    let wants_engines = engines < 2 && faults.is_empty();
    let of =
        |states: &[&str]| events.iter().filter(|event| states.contains(&event.state)).collect::<Vec<_>>();
    let content = html! {
        div.top { h1 { (words.home()) } @if !wants_engines { a.button.main href="/new" { (icon(Icon::Add)) (words.new_event()) } } }
        (confirmed(words, done.as_ref()))
        @if !faults.is_empty() { (alert(Mood::Bad, &html! { p { (words.files_are_faulty()) } pre.faults { (words.fault(&faults.join("\n"))) } })) }
        @if let Some(free) = low_disk { (alert(Mood::Bad, &html! { p { (words.disk_is_nearly_full(free, plan::RESERVE_MB)) } })) }
        @for event in &events { @if let (Some(count), Some(path)) = (decisions.get(&event.name), &event.path) {
            (alert(Mood::Wait, &html! { p { strong { (event.event) } ": " (words.arbiter_is_wanted(*count)) } a.button href={ (path) "arbiter" } { (words.arbiter()) } }))
        } }
        @if wants_engines {
            (empty(words.welcome(), words.first_add_engines(), &html! {
                a.button.main href="/engines/browse" { (words.find_engines()) }
                form method="post" action="/new/first" { (crate::create::token()) button { (words.play_with_built_in()) } }
                a.button href="/new" { (words.new_event()) }
            }))
            h2 { (words.what_renmei_is_for()) }
            (cards(words, &[Kind::Sprt, Kind::League, Kind::Floodgate], ""))
        } @else if events.is_empty() {
            (empty(words.no_event_here(), words.choose_an_event(), &html! { a.button href="/new" { (words.new_event()) } }))
        }
        @for (title, states) in [(words.events_that_run(), &["plays", "waits"]), (words.events_that_wait(), &["stopped", "faulty"])] {
            @let those = of(states);
            @if !those.is_empty() { section { h2 { (title) } div.events { @for event in those { (card(words, event, doors.get(&event.name), &running)) } } } }
        }
        @let over = of(&["over"]);
        @if !over.is_empty() { section { h2 { (words.events_that_are_over()) } (results(words, &over, &doors, &running)) } }
    };
    let page = Page::new(words.home(), "/", content).with(&["times.js", "board.js", "home.js"]);
    Ok(if is_alive { page.again(AGAIN) } else { page })
}

/// A page of the desk that an event has beside those of every event, and its words.
type Door = (&'static str, Phrase);

/// The page of guests where players log in, or that of an engine on a server.
fn door(place: &Place, event: &str) -> Option<Door> {
    let text = plan::text_of(&place.file(event)?).ok()?;
    let document: DocumentMut = text.parse().ok()?;
    if text.contains(&format!("args = [\"{}\"", crate::person::COMMAND)) {
        return Some(("/play", Language::board));
    }
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

/// An order, and its words.
type Ordered = (&'static str, &'static str);

/// What can be ordered about an event of a state, that which is ordered most first. `has_more`: games are left of one that
/// is over.
fn orders(running: &Events, (name, state): (&str, &str), has_more: bool, words: Language) -> Vec<Ordered> {
    let (begin, delete) = (("begin", words.begin_or_go_on()), ("delete", words.delete()));
    let end = [("finish", words.finish_games()), ("adjourn", words.adjourn_games())];
    let is_paused = running.operations(name).map(|operations| operations.is_paused());
    match (state, is_paused) {
        ("plays", Some(true)) => [&[("resume", words.resume())], &end[..]].concat(),
        ("plays", Some(false)) => [&[("pause", words.pause())], &end[..]].concat(),
        ("plays" | "waits", _) => end.to_vec(),
        ("stopped" | "faulty", _) => vec![begin, delete],
        // It was stopped in its last game, and has got more games since.
        ("over", _) if has_more => vec![begin, delete],
        _ => vec![delete],
    }
}

/// The form of the orders: the first as a button, the others and the rarer ways behind another one. `is_here`: the pages of
/// the event come again.
fn ordered(words: Language, name: &str, orders: &[Ordered], ways: &Markup, is_here: bool) -> Markup {
    let (first, others) = match orders {
        [first, others @ ..] if first.0 != "delete" => (Some(first), others),
        others => (None, others),
    };
    let button = |(order, label): &Ordered| {
        html! { button.danger[*order == "delete"] name="order" value=(order) { (label) } }
    };
    html! {
        form.orders method="post" action="/events/order" {
            input type="hidden" name="event" value=(name);
            @if is_here { input type="hidden" name="here" value="1"; }
            @if let Some(first) = first { (button(first)) }
            (menu(words.other_orders(), &html! { (ways) @for other in others { (button(other)) } }))
        }
    }
}

/// What the owner can order on the pages of an event itself.
pub(crate) fn orders_here(
    (place, running): (&Place, &Events),
    (name, state): (&str, &str),
    words: Language,
) -> Markup {
    // Those of the study are played by nobody.
    if name.contains('/') {
        return Markup::default();
    }
    let to = |path: &str| format!("{path}{}", percent(name));
    let ways = html! {
        @if let Some((path, door)) = door(place, name) { a href=(to(&format!("{path}?event="))) { (door(words)) } }
        a href=(crate::change::address(name)) { (words.change()) }
        a href=(to("/events/text?event=")) { (words.copy()) }
        a href=(to("/events/explain?event=")) { (words.why_it_lost()) }
    };
    html! {
        a.button href=(to("/events/publish?event=")) { (words.publish()) }
        (ordered(words, name, &orders(running, (name, state), false, words), &ways, true))
    }
}

/// The name of the file of an event, where it is another one than its title makes.
fn file_name(event: &Listing) -> Option<&str> {
    let letters = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    (letters(&event.event) != letters(&event.name)).then_some(&event.name)
}

/// An event, with what can be ordered about it.
fn card(words: Language, event: &Listing, door: Option<&Door>, running: &Events) -> Markup {
    let has_more = event.total > Some(event.games);
    let orders = orders(running, (&event.name, event.state), has_more, words);
    html! {
        section.event {
            div.matter {
            h3 { @if let Some(path) = &event.path { a href=(path) { (event.event) } } @else { (event.event) }
                @if let Some(file) = file_name(event) { " " small.quiet { (file) } }
                " " (state(mood(event, running), doing(running, event, words))) }
            @if !event.format_shown.is_empty() { p.quiet { (event.format_shown) } }
            (course(words, event))
            @if event.first.len() > 1 && event.verdict.is_none() { ol.first { @for (name, value) in &event.first { li { (letter(name)) span.name { (name) } span.value { (value) } } } } }
            @if let Some(verdict) = &event.verdict { p { strong { (verdict) } @if let Some(prospect) = &event.prospect { br; (prospect) } } }
            @if let Some(path) = event.path.as_ref().filter(|_| event.failures > 0) {
                p.wrong { a href={ (path) "table" } { (words.lost_by_failure(event.failures)) } }
            }
            @for fault in &event.faults { p.wrong { (prose(&words.fault(fault))) } }
            @if !event.faults.is_empty() { p { a.button href=(crate::change::address(&event.name)) { (words.change()) } } }
            }
            @if let Some(path) = event.path.as_ref().filter(|_| event.running > 0) { a.live.mini href=(path) data-board={ (path) "api/now" } { span.quiet { (words.now()) } } }
            (ordered(words, &event.name, &orders, &ways(words, event, door), false))
        }
    }
}

/// How far an event is, and when it ends.
fn course(words: Language, event: &Listing) -> Markup {
    html! {
        @if let Some(total) = event.total { (progress(words.progress(), event.games, total)) }
        p.course {
            span { b { (event.games) @if let Some(total) = event.total { " / " (total) } } " " (words.games_count()) }
            @if event.running > 0 { span { (words.so_many_run(event.running)) } }
            @if let Some(at) = event.ends.filter(|_| event.state == "plays") { span.quiet { (words.ends_about()) " " (time(at)) } }
        }
    }
}

fn mood(event: &Listing, running: &Events) -> Mood {
    let is_paused = running.operations(&event.name).is_some_and(|operations| operations.is_paused());
    if is_paused && event.state == "plays" { Mood::Wait } else { event.mood }
}

/// The events that are over, with what came out.
fn results(words: Language, events: &[&Listing], doors: &BTreeMap<String, Door>, running: &Events) -> Markup {
    html! { div.scroll.sheet tabindex="0" role="region" aria-label=(words.events_that_are_over()) { table.games.results {
        thead { tr { th.name { (words.the_event()) } th.name { (words.result()) } th { (words.game_column()) } th.name { (words.last_news()) } th {} } }
        tbody { @for event in events { tr {
            td.name { @if let Some(path) = &event.path { a href=(path) { (event.event) } } @else { (event.event) }
                @if let Some(file) = file_name(event) { " " small.quiet { (file) } } }
            td.name {
                @match (&event.verdict, event.first.first()) {
                    (Some(verdict), _) => (verdict),
                    (None, Some((name, value))) => { (letter(name)) " " (name) " " span.quiet { (value) } },
                    (None, None) => "–",
                }
                @if let Some(path) = event.path.as_ref().filter(|_| event.failures > 0) {
                    div.note { a href={ (path) "table" } { (words.lost_by_failure(event.failures)) } }
                }
            }
            td { (event.games) @if let Some(total) = event.total.filter(|total| *total != event.games) { " / " (total) } span.unit { " " (words.games_count()) } }
            td.name { @if let Some(last) = event.last { (time(last)) } }
            td { (ordered(words, &event.name, &orders(running, (&event.name, event.state), event.total > Some(event.games), words), &ways(words, event, doors.get(&event.name)), false)) }
        } } }
    } } }
}

/// The pages of the desk about an event.
fn ways(words: Language, event: &Listing, door: Option<&Door>) -> Markup {
    let name = percent(&event.name);
    html! {
        @if let Some((path, door)) = door { a href={ (path) "?event=" (name) } { (door(words)) } }
        a href=(crate::change::address(&event.name)) { (words.change()) }
        a href={ "/events/publish?event=" (name) } { (words.publish()) }
        a href={ "/events/text?event=" (name) } { (words.copy()) }
        @if event.games > 0 { a href={ "/events/explain?event=" (name) } { (words.why_it_lost()) } }
        @if let Some(path) = event.path.as_ref().filter(|_| door.is_none_or(|(to, _)| *to != SEAT)) {
            a href={ (path) "arbiter" } { (words.arbiter()) }
        }
    }
}

/// How the desk is ended.
pub(crate) fn end(words: Language) -> Markup {
    html! {
        form.order method="post" action="/quit" {
            h2 { (words.quit()) }
            p { (words.closing_the_page_ends_nothing()) }
            p.buttons {
                button name="how" value="finish" { (words.quit_after_games()) }
                button name="how" value="adjourn" { (words.quit_at_once()) }
            }
        }
    }
}

/// Ends the desk.
pub(crate) fn quit(Asked { desk, words, fields, .. }: Asked) -> Result<Page, Refusal> {
    desk.order(Order::End(fields.one_of("how", &["finish", "adjourn"])? == "adjourn"))?;
    let content =
        html! { h1 { (words.quit()) } p { (words.desk_ends()) } p { (prose(words.begin_desk_again())) } };
    Ok(Page::new(words.quit(), "", content))
}

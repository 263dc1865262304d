//! The first page: what runs, what waits, what is over, and the way out.

use crate::{Desk, fields::Fields, waiting};
use axum::extract::State;
use event::hall::Order;
use maud::{Markup, html};
use plan::{HallConfig, LibraryEngine};
use web::{
    Listing,
    layout::{Page, percent},
    refusals::Refusal,
    visitor::Visitor,
};
use words::{Language, Message};

/// Seconds after which the page is loaded anew while something is played.
const AGAIN: u32 = 5;

/// What was done by the order before.
pub(crate) fn confirmed(words: Language, done: Option<&Message>) -> Markup {
    html! { @if let Some(done) = done { p.told role="status" { (done.text(words)) } } }
}

/// How many engines there are, and what is wrong with the files that all events share.
fn look(desk: &Desk) -> (usize, Vec<String>) {
    let directory = desk.0.place.directory();
    let (engines, hall) = (LibraryEngine::load(directory), HallConfig::load(directory, false));
    let faults = [engines.as_ref().err(), hall.as_ref().err()].into_iter().flatten().map(ToString::to_string);
    let faults = faults.collect();
    (engines.map_or(0, |engines| engines.len()), faults)
}

/// The page.
pub(crate) async fn page(State(desk): State<Desk>, visitor: Visitor) -> Result<Page, Refusal> {
    let words = visitor.language;
    let (done, mut events) = (desk.confirmation(), desk.0.list.events(words).await);
    // Those of the study are no events of this directory.
    events.retain(|event| !event.name.contains('/'));
    let (engines, faults) = waiting(move || look(&desk)).await?;
    let is_alive = done.is_some() || events.iter().any(|event| matches!(event.state, "plays" | "waits"));
    let content = html! {
        div.head { h1 { (words.home()) } a href="/machine" { (words.this_machine()) } }
        (confirmed(words, done.as_ref()))
        @if !faults.is_empty() { p role="alert" { (words.files_are_faulty()) } pre.faults { (faults.join("\n")) } }
        @if engines < 2 && faults.is_empty() { p { (words.first_add_engines()) } p.buttons { a.button href="/engines/browse" { (words.add_engines()) } } }
        @else { p.buttons { a.button href="/new" { (words.new_event()) } } }
        @for (title, state) in [
            (words.events_that_run(), &["plays", "waits"][..]),
            (words.events_that_wait(), &["stopped", "faulty"]),
            (words.events_that_are_over(), &["over"]),
        ] {
            @let of_state: Vec<_> = events.iter().filter(|event| state.contains(&event.state)).collect();
            @if !of_state.is_empty() { h2 { (title) } div.events { @for event in of_state { (card(words, event)) } } }
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

/// An event, with what can be ordered about it.
fn card(words: Language, event: &Listing) -> Markup {
    let orders: &[(&str, &str)] = match event.state {
        "plays" | "waits" => &[("finish", words.finish_games()), ("adjourn", words.adjourn_games())],
        "stopped" | "faulty" => &[("begin", words.begin_or_go_on()), ("delete", words.delete())],
        _ => &[("delete", words.delete())],
    };
    html! {
        section.event {
            h3 { @if let Some(path) = &event.path { a href=(path) { (event.event) } } @else { (event.event) } }
            p { (event.words)
                " · " (event.games) @if let Some(total) = event.total { " / " (total) } " " (words.games_count())
                @if event.running > 0 { " · " (words.so_many_run(event.running)) }
                @if let Some(leader) = &event.leader { " · " (words.leader()) ": " (leader) }
            }
            @if !event.format_shown.is_empty() { p.quiet { (event.format_shown) } }
            @for fault in &event.faults { p.wrong { (fault) } }
            form method="post" action="/events/order" {
                input type="hidden" name="event" value=(event.name);
                @for (order, label) in orders { button name="order" value=(order) { (label) } " " }
                a href={ "/events/text?event=" (percent(&event.name)) } { (words.text_of_event()) }
                " · " a href={ "/new?from=" (percent(&event.name)) } { (words.copy()) }
                " · " a href={ "/events/publish?event=" (percent(&event.name)) } { (words.publish()) }
                @if event.games > 0 { " · " a href={ "/events/explain?event=" (percent(&event.name)) } { (words.why_it_lost()) } }
                @if let Some(path) = &event.path { " · " a href={ (path) "arbiter" } { (words.arbiter()) } }
            }
        }
    }
}

/// Ends the desk.
pub(crate) async fn quit(
    State(desk): State<Desk>,
    visitor: Visitor,
    fields: Fields,
) -> Result<Page, Refusal> {
    let words = visitor.language;
    desk.order(Order::End(fields.text("how") == "adjourn"))?;
    let content = html! { h1 { (words.quit()) } p { (words.desk_ends()) } p { (words.begin_desk_again()) } };
    Ok(Page::new(words.quit(), "", content))
}

//! The table of an event, to be copied elsewhere.

use crate::{Desk, engine::refused, fields::Fields, waiting};
use axum::extract::State;
use event::reported;
use maud::{Markup, html};
use plan::Event;
use report::exhibit::Exhibit;
use web::{layout::Page, refusals::Refusal, visitor::Visitor};
use words::Language;

/// The page: the tables of an event as a text for a forum, a wiki, a message.
pub(crate) async fn page(State(desk): State<Desk>, visitor: Visitor, query: Fields) -> Result<Page, Refusal> {
    let words = visitor.language;
    let name = query.text("event").to_owned();
    let file = desk.0.place.file(&name).ok_or_else(|| Refusal::bad(Language::no_such_event))?;
    let tables = waiting(move || {
        let event = Event::load(&file).map_err(refused)?;
        let report = reported(event.database(), event.name()).map_err(refused)?;
        Ok::<_, Refusal>((report.event.clone(), report.tables(words), report.head))
    })
    .await??;
    let (title, tables, head) = tables;
    let all = |draw: fn(&Exhibit) -> String| tables.iter().map(draw).collect::<Vec<_>>().join("\n");
    let content = html! {
        h1 { (words.publish()) ": " (title) }
        (copied("Markdown", &all(Exhibit::markdown)))
        (copied("BBCode", &all(Exhibit::bbcode)))
        (copied(words.plain_text(), &all(Exhibit::to_string)))
        @if let Some(head) = head { h2 { (words.certificate()) } p { code { (head) } } p { (words.what_a_certificate_is()) } }
    };
    Ok(Page::new(words.publish(), "/", content))
}

fn copied(title: &str, text: &str) -> Markup {
    html! {
        h2 { (title) }
        form.order.wide { textarea readonly rows=(text.lines().count().clamp(3, 30)) spellcheck="false" aria-label=(title) { (text) } }
    }
}

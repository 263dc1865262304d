//! The tests of a queue: what they test, how far they are, and what became of them, from the store.

use super::{Hall, Rooms, Search, fits, form, made::Make};
use crate::{layout::Page, parts::Json, refusals::Refusal, visitor::Visitor};
use axum::{
    extract::{Query, State},
    http::StatusCode,
};
use maud::html;
use report::{TestHistory, TestLine};
use std::{sync::Arc, time::Duration};
use words::Language;

/// Least age of the list before it is made anew.
pub(super) const FRESH: Duration = Duration::from_secs(1);

/// Reads what became of the tests of a queue.
pub type MakeTests = Make<TestHistory>;

/// The tests that a visitor looks for; `None`: there is no queue behind this address.
async fn found(rooms: &Rooms, search: &Search) -> Result<Option<TestHistory>, Refusal> {
    let Some(tests) = &rooms.tests else { return Ok(None) };
    let (words, mut history) = (search.words()?, tests.value().await?);
    let is_meant = |test: &TestLine| {
        let subjects = test.subjects();
        fits(&words, [&test.title, &test.note, &test.event].into_iter().chain(&subjects))
    };
    history.tests.retain(is_meant);
    history.tests.iter_mut().for_each(hide_places);
    Ok(Some(history))
}

/// Takes away where repositories and logs are on this machine: that is for its operator.
fn hide_places(test: &mut TestLine) {
    let name = test.repository.rsplit(['/', '\\']).next().unwrap_or_default();
    test.repository = name.to_owned();
    if let Some(fault) = &mut test.fault {
        let is_shown = |line: &&str| !line.trim_start().starts_with("the whole log:");
        *fault = fault.lines().filter(is_shown).collect::<Vec<_>>().join("\n");
    }
}

/// The page of a queue; `None`: there is none.
pub(super) async fn page(rooms: &Rooms, visitor: &Visitor, search: &Search) -> Result<Option<Page>, Refusal> {
    let words = visitor.language;
    let Some(history) = found(rooms, search).await? else { return Ok(None) };
    let link = |event: &str| {
        let is_here = rooms.events().get(event).is_some_and(|listed| listed.room.is_some());
        is_here.then(|| Hall::base(event) + "/")
    };
    let has_pages = !rooms.events().is_empty();
    let content = html! {
        h1 { (words.tests()) }
        @if has_pages { p { a href="/ledger" { (words.ledger()) } " · " (words.ledger_about()) } }
        (form(words, search))
        @if history.tests.is_empty() {
            p { (if search.find.is_empty() { words.no_test_yet() } else { words.nothing_found() }) }
        } @else { (history.table(words, &link)) }
    };
    Ok(Some(Page::new(words.tests(), "/", content)))
}

/// The tests as JSON.
pub(super) async fn api(
    State(rooms): State<Arc<Rooms>>,
    Query(search): Query<Search>,
) -> Result<Json, Refusal> {
    let history = found(&rooms, &search).await?;
    let history = history.ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, Language::no_page))?;
    Ok(Json::of(&history.tests))
}

//! Standings, cross table, stages, the sequential test: the sections of the report's page, live.

use super::{FOLLOWING, fresh, json, no_json, no_page};
use crate::{Site, layout::Page, visitor::Visitor};
use axum::{extract::State, response::Response};
use report::html::live_sections;

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Response {
    let history = match site.ask(|desk| desk.history()).await {
        Ok(history) => history,
        Err(error) => return no_page(&error, &site, &visitor),
    };
    let title = visitor.say("Standings", "順位");
    let content = fresh(&site, &live_sections(&history, visitor.lang.into()));
    Page { title, place: "/table", scripts: FOLLOWING, content }.show(&site, &visitor)
}

/// The report as JSON, in the form of `renmei report --json`.
pub async fn api(State(site): State<Site>) -> Response {
    match site.ask(|desk| desk.history()).await {
        Ok(history) => json(&history.report),
        Err(error) => no_json(&error),
    }
}

//! Standings, cross table, stages, the sequential test: the sections of the report's page, live.

use crate::{
    Site,
    layout::Page,
    parts::{FOLLOWING, Json, fresh},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::State;
use report::html::live_sections;

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Result<Page, Refusal> {
    let history = site.ask(|desk| desk.history()).await?;
    let content = fresh(&site, &live_sections(&history, visitor.language));
    Ok(Page::new(visitor.language.standings(), "/table", content).with(FOLLOWING))
}

/// The report as JSON, in the form of `renmei report --json`.
pub async fn api(State(site): State<Site>) -> Result<Json, Refusal> {
    Ok(Json::of(&site.ask(|desk| desk.history()).await?.report))
}

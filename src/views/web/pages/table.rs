//! Standings, cross table, stages, the sequential test: the sections of the report's page, live.

use crate::{
    Site,
    layout::Page,
    parts::{FOLLOWING, Json, fresh},
    refusals::Refusal,
    visitor::Visitor,
};
use axum::extract::State;
use maud::html;
use report::html::{heading, sections};

/// The page.
pub async fn page(State(site): State<Site>, visitor: Visitor) -> Result<Page, Refusal> {
    let history = site.ask(|desk| desk.history()).await?;
    let words = visitor.language;
    let content = html! { (heading(&history, words)) (sections(&history, words, None)) };
    let content = fresh(&site, &content);
    Ok(Page::new(words.standings(), "/table", content).with(FOLLOWING))
}

/// The report as JSON, in the form of `renmei report --json`.
pub async fn api(State(site): State<Site>) -> Result<Json, Refusal> {
    Ok(Json::of(&site.ask(|desk| desk.history()).await?.report))
}

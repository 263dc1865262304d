//! The pages that everybody may see.

mod prefs;

use crate::{
    Site, assets,
    layout::{Page, sorry},
    visitor::Visitor,
};
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use maud::html;

/// Entries of the navigation: path, words in English and in Japanese.
pub const PLACES: [(&str, &str, &str); 3] =
    [("/", "Now", "対局中"), ("/table", "Standings", "順位"), ("/games", "Games", "棋譜")];

/// Every page of this crate.
pub fn routes() -> Router<Site> {
    Router::new()
        .route("/", get(now))
        .route("/prefs", get(prefs::choose))
        .route("/static/{name}", get(assets::serve))
        .fallback(missing)
}

async fn now(State(site): State<Site>, visitor: Visitor) -> Response {
    let title = visitor.say("Now", "対局中");
    let content = html! { h1 { (title) } };
    Page { title, place: "/", scripts: &[], content }.show(&site, &visitor)
}

async fn missing(State(site): State<Site>, visitor: Visitor) -> Response {
    let words = visitor.say("There is no page of this address.", "このページはありません。");
    sorry(StatusCode::NOT_FOUND, &site, &visitor, words)
}

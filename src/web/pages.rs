//! The pages that everybody may see, and the same as JSON.

mod archive;
mod atom;
mod game;
mod machines;
pub(crate) mod now;
mod player;
mod prefs;
mod records;
mod rounds;
mod table;

use crate::{
    Site, assets,
    desk::NoAnswer,
    layout::sorry,
    stream,
    visitor::{Lang, Visitor},
};
use axum::{
    Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

/// Entries of the navigation: path, words in English and in Japanese.
pub const PLACES: [(&str, &str, &str); 4] = [
    ("/", "Now", "対局中"),
    ("/table", "Standings", "順位"),
    ("/rounds", "Rounds", "組合せ"),
    ("/games", "Games", "棋譜"),
];

/// Every page of this crate.
pub fn routes() -> Router<Site> {
    Router::new()
        .route("/", get(now::page))
        .route("/api/now", get(now::api))
        .route("/events", get(stream::events))
        .route("/table", get(table::page))
        .route("/api/table", get(table::api))
        .route("/rounds", get(rounds::page))
        .route("/api/rounds", get(rounds::api))
        .route("/machines", get(machines::page))
        .route("/api/machines", get(machines::api))
        .route("/games", get(archive::page))
        .route("/api/games", get(archive::api))
        .route("/feed.xml", get(atom::feed))
        .route("/games/list.txt", get(records::list))
        .route("/games/{name}", get(game::page))
        .route("/api/games/{number}", get(game::api))
        .route("/players/{number}", get(player::page))
        .route("/api/players/{number}", get(player::api))
        .route("/prefs", get(prefs::choose))
        .route("/static/{name}", get(assets::serve))
        .fallback(missing)
}

async fn missing(State(site): State<Site>, visitor: Visitor) -> Response {
    let words = visitor.say("There is no page of this address.", "このページはありません。");
    sorry(StatusCode::NOT_FOUND, &site, &visitor, words)
}

impl NoAnswer {
    fn status(&self) -> StatusCode {
        match self {
            Self::Busy | Self::NotYet => StatusCode::SERVICE_UNAVAILABLE,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Wrong(_) => StatusCode::BAD_REQUEST,
            Self::Store(_) | Self::History(_) | Self::Records(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What a stranger is told. Faults of the database are for the operator: they name paths.
    fn words(&self) -> String {
        match self {
            Self::Store(_) | Self::History(_) | Self::Records(_) => {
                tracing::warn!("a page could not be made: {self}");
                "the page could not be made; the operator finds the reason in the diagnostics".to_owned()
            }
            other => other.to_string(),
        }
    }
}

/// The reason why a page is missing, as a page.
pub(crate) fn no_page(error: &NoAnswer, site: &Site, visitor: &Visitor) -> Response {
    sorry(error.status(), site, visitor, &error.words())
}

/// The same as JSON.
fn no_json(error: &NoAnswer) -> Response {
    let text = serde_json::json!({ "error": error.words() }).to_string();
    (error.status(), [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// JSON of a page. Anybody's page may read it, as it is public.
fn json(value: &impl Serialize) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => json_text(text),
        Err(error) => no_json(&NoAnswer::Wrong(error.to_string())),
    }
}

fn json_text(text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (headers, text).into_response()
}

/// Scripts of a page with [`fresh`] content.
const FOLLOWING: &[&str] = &["board.js", "live.js", "fresh.js"];

/// Content that the page's script takes anew when a game ends, with everything that the script needs.
fn fresh(site: &Site, content: &Markup) -> Markup {
    let began = serde_json::json!({ "now": journal::now(), "since": site.0.relay.last().to_string() });
    html! {
        div id="fresh" { (content) }
        span id="link" role="status" {}
        (data(&began))
    }
}

/// Data for the page's script.
fn data(value: &impl Serialize) -> Markup {
    embedded(&serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
}

/// JSON for the page's script. `<` occurs only in strings; escaped, no name can end the element.
fn embedded(json: &str) -> Markup {
    let text = json.replace('<', "\\u003c");
    html! { script type="application/json" id="state" { (PreEscaped(text)) } }
}

/// A time, which the page's script shows in the viewer's own zone.
fn time(at: i64) -> Markup {
    let text = notation::date::text(at);
    let machine = text.replace('/', "-").replace(' ', "T") + "Z";
    html! { time datetime=(machine) { (text) " UTC" } }
}

/// A list of games.
fn lines(lang: Lang, games: &[crate::archive::Line]) -> Markup {
    html! {
        div.scroll { table.games {
            thead { tr {
                th { "#" } th.name { (lang.say("black", "先手")) } th {} th.name { (lang.say("white", "後手")) }
                th.name { (lang.say("ending", "結果")) } th { (lang.say("plies", "手数")) } th { (lang.say("began", "開始")) }
            } }
            tbody { @for game in games { tr {
                td { a href=(format!("/games/{}", game.number)) { (game.number) } }
                td.name.won[game.result == "black"] { a href=(format!("/players/{}", game.players[0])) { "☗ " (game.names[0]) } }
                td.result { (crate::archive::sign(game.result)) }
                td.name.won[game.result == "white"] { a href=(format!("/players/{}", game.players[1])) { "☖ " (game.names[1]) } }
                td.name { (crate::game::cause_words(lang, &game.cause)) @if !game.counts { (lang.say(", not counted", "（無効）")) } }
                td { (game.plies) }
                td { @if let Some(at) = game.started { (time(at)) } }
            } } }
        } }
    }
}

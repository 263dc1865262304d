//! Parts shared by several pages, and JSON for programs.

use crate::{Site, lists::Line, lists::sign};
use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use words::Language;

/// JSON for programs. Pages of other sites may read it, as it is public.
#[derive(Debug)]
pub struct Json(String);

impl Json {
    /// A value as JSON.
    pub fn of(value: &impl Serialize) -> Self {
        Self(to_json(value))
    }

    /// A text that is JSON.
    pub fn text(text: String) -> Self {
        Self(text)
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, "application/json"),
            (header::CACHE_CONTROL, "no-store"),
            (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        ];
        (headers, self.0).into_response()
    }
}

/// JSON of a value of this crate, all of which serialize.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Scripts of a page with [`fresh`] content.
pub const FOLLOWING: &[&str] = &["board.js", "live.js", "fresh.js"];

/// Content that the page's script takes anew when a game ends, with everything that the script needs.
pub fn fresh(site: &Site, content: &Markup) -> Markup {
    let began = serde_json::json!({ "now": journal::now(), "since": site.0.relay.last().to_string() });
    html! {
        div id="fresh" { (content) }
        span id="link" role="status" {}
        (data(&began))
    }
}

/// Data for the page's script.
pub fn data(value: &impl Serialize) -> Markup {
    embedded(&to_json(value))
}

/// JSON for the page's script. `<` occurs only in strings; escaped, no name can end the element.
pub fn embedded(json: &str) -> Markup {
    let text = json.replace('<', "\\u003c");
    html! { script type="application/json" id="state" { (PreEscaped(text)) } }
}

/// A time, which the page's script shows in the viewer's own zone.
pub fn time(at: i64) -> Markup {
    html! { time datetime=(rfc3339(at)) { (notation::date::text(at)) " UTC" } }
}

/// A time as RFC 3339 has it, in UTC.
pub fn rfc3339(at: i64) -> String {
    notation::date::text(at).replace('/', "-").replace(' ', "T") + "Z"
}

/// A list of games.
pub fn lines(language: Language, games: &[Line]) -> Markup {
    html! {
        div.scroll { table.games {
            thead { tr {
                th { "#" } th.name { (language.black()) } th {} th.name { (language.white()) }
                th.name { (language.ending()) } th { (language.plies()) } th { (language.began()) }
            } }
            tbody { @for game in games { tr {
                td { a href=(format!("/games/{}", game.number)) { (game.number) } }
                td.name.won[game.result == "black"] { a href=(format!("/players/{}", game.players[0])) { "☗ " (game.names[0]) } }
                td.result { (sign(game.result)) }
                td.name.won[game.result == "white"] { a href=(format!("/players/{}", game.players[1])) { "☖ " (game.names[1]) } }
                td.name { (language.cause(&game.cause)) @if !game.counts { (language.and_not_counted()) } }
                td { (game.plies) }
                td { @if let Some(at) = game.started { (time(at)) } }
            } } }
        } }
    }
}

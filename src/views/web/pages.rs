//! The pages that everybody may see, and the same as JSON.

mod archive;
mod atom;
mod embed;
pub mod game;
mod machines;
mod now;
mod player;
pub mod prefs;
mod records;
mod round_table;
mod rounds;
mod table;

use crate::{Site, assets, refusals::Refusal, stream};
use axum::{Extension, Router, http::StatusCode, routing::get};
use words::{Language, Phrase};

/// Entries of the navigation: path and words.
pub const PLACES: [(&str, Phrase); 4] = [
    ("/", Language::now),
    ("/table", Language::standings),
    ("/rounds", Language::rounds),
    ("/games", Language::games),
];

/// Every page of this crate.
pub fn routes() -> Router<Site> {
    Router::new()
        .route("/", get(now::page))
        .route("/api/now", get(now::api))
        .route("/embed", get(embed::page))
        .route("/events", get(stream::events))
        .route("/table", get(table::page))
        .route("/api/table", get(table::api))
        .route("/rounds", get(rounds::page))
        .route("/rounds/table", get(round_table::page))
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
        .fallback(async || Refusal::new(StatusCode::NOT_FOUND, Language::no_page))
        .layer(Extension(now::Kept::default()))
}

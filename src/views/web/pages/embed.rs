//! One board without the rest of a page: for a frame in another site, an overlay of a stream, or a projector that goes
//! from game to game.

use crate::{
    Site,
    layout::Page,
    pages::now::{Kept, Now},
    parts::embedded,
    visitor::Visitor,
};
use axum::{
    Extension,
    extract::{Query, State},
};
use maud::html;
use serde::Deserialize;

/// Least and most seconds that a projector shows a game.
const ROTATION: (u64, u64) = (3, 3600);

/// What is asked for.
#[derive(Debug, Deserialize)]
pub struct Asked {
    /// The game; none: those that are played, one after the other.
    game: Option<u64>,
    /// Seconds until the next game; none: when the game is over.
    rotate: Option<u64>,
    /// True if the page has no background, for an overlay.
    #[serde(default)]
    clear: bool,
}

/// The page.
pub async fn page(
    State(site): State<Site>,
    Extension(kept): Extension<Kept>,
    Query(asked): Query<Asked>,
    visitor: Visitor,
) -> Page {
    let words = visitor.language;
    let shown = Now::of(&site, &kept, words);
    let rotate = asked.rotate.map(|seconds| seconds.clamp(ROTATION.0, ROTATION.1));
    let content = html! {
        div id="stage" data-game=[asked.game] data-rotate=[rotate] {
            p.player id="above" {}
            div id="board" role="img" aria-label=(words.board()) {}
            p.player id="below" {}
            p.facts { span id="facts" {} " " span id="link" role="status" {} }
        }
        noscript { p { (words.board_needs_script()) } }
        (embedded(&shown.text()))
    };
    Page::new(words.now(), "/", content).with(&["board.js", "live.js", "embed.js"]).bare(asked.clear)
}

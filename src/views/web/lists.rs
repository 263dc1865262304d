//! Lists of games that are over.

use serde::Serialize;

/// A page of games.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// Games that fit, on all pages.
    pub total: u64,
    /// The page, from 1.
    pub page: u64,
    /// Games on it, newest first.
    pub games: Vec<Line>,
}

/// A game in a list.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Number of the game.
    pub number: u64,
    /// Players by their numbers, black first.
    pub players: [u32; 2],
    /// Their names.
    pub names: [String; 2],
    /// Start in ms since 1970-01-01 UTC.
    pub started: Option<i64>,
    /// End in the same.
    pub ended: Option<i64>,
    /// `black`, `white`, `draw` or `none`.
    pub result: &'static str,
    /// The cause of the ending.
    pub cause: String,
    /// Plies at the end.
    pub plies: u32,
    /// True if it counts.
    pub counts: bool,
}

/// The sign of a result.
pub fn sign(result: &str) -> &'static str {
    match result {
        "black" => "1–0",
        "white" => "0–1",
        "draw" => "½",
        _ => "–",
    }
}

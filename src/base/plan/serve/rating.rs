//! `[serve.rating]`: how players are rated.

use crate::{
    keys::{
        Fallback::{Is, Says},
        Kind::{Number, Text, Words},
    },
    reader::Table,
    settings::settings,
};
use referee::rating::Decay;
use serde::{Deserialize, Serialize};

/// How players are rated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Maximum likelihood over all games, with an advantage for Black and draws as draws, as in reports.
    #[default]
    MaximumLikelihood,
    /// As floodgate: games lose weight with age, a draw is half a win, and a player needs 15 games.
    Floodgate,
}

settings! {
    /// `[serve.rating]`: how players are rated.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct RatingConfig in "`[serve.rating]`", "";

    method: Method = (Method::MaximumLikelihood) shown Is("\"maximum-likelihood\""),
        Words(&["maximum-likelihood", "floodgate"]),
        "over all games as reports do it; or as floodgate: games lose weight with age and a player needs a number of them";
    mean: f64 = 1000.0 shown Is("1000"), Number(-100_000.0, 100_000.0), "mean rating of all rated players";
    fixed: Option<String> = None shown Says("none"), Text,
        "instead of the mean of all, the rating of this player is `mean`";
    half_life_days: f64 = (Decay::default().half_life) shown Is("60"), Number(0.001, 100_000.0),
        "with `method = \"floodgate\"`: days in which a game loses half of its weight";
    fresh_days: f64 = (Decay::default().fresh) shown Is("7"), Number(0.0, 100_000.0),
        "with `method = \"floodgate\"`: days in which a game keeps its whole weight";
    least_games: f64 = (Decay::default().least) shown Is("15"), Number(1.0, 1_000_000.0),
        "with `method = \"floodgate\"`: games that a player needs for a rating";
}

impl RatingConfig {
    pub(super) fn checked(table: &Table<'_>) -> Self {
        let rating = Self::read(table);
        if rating.method == Method::MaximumLikelihood
            && (table.has("method") == table.word("method").is_some())
        {
            for key in
                ["half_life_days", "fresh_days", "least_games"].into_iter().filter(|key| table.has(key))
            {
                table.fault(key, "has no meaning without `method = \"floodgate\"`");
            }
        }
        rating
    }
}

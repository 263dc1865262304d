//! `[serve.rating]`: how players are rated.

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

/// `[serve.rating]`: how players are rated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatingConfig {
    /// The method.
    pub method: Method,
    /// Mean rating of all rated players.
    pub mean: f64,
    /// Instead of the mean of all: the rating of this player (by name, or by name and trip) is `mean`.
    pub fixed: Option<String>,
    /// With [`Method::Floodgate`]: days in which a game loses half of its weight.
    pub half_life_days: f64,
    /// With [`Method::Floodgate`]: days in which a game keeps its whole weight.
    pub fresh_days: f64,
    /// With [`Method::Floodgate`]: games that a player needs for a rating.
    pub least_games: f64,
}

impl Default for RatingConfig {
    fn default() -> Self {
        let decay = Decay::default();
        Self {
            method: Method::MaximumLikelihood,
            mean: 1000.0,
            fixed: None,
            half_life_days: decay.half_life,
            fresh_days: decay.fresh,
            least_games: decay.least,
        }
    }
}

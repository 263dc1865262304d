//! `[serve.rating]`: how players are rated.

use referee::rating::Decay;
use serde::{Deserialize, Serialize};

/// How players are rated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Maximum likelihood over all games, with an advantage of black and draws as draws, as reports have it.
    #[default]
    MaximumLikelihood,
    /// As floodgate: games lose weight with age, draws are half a win, and 15 games are needed.
    Floodgate,
}

/// `[serve.rating]`: how players are rated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RatingConfig {
    /// The method.
    pub method: Method,
    /// The mean of those who are rated.
    pub mean: f64,
    /// Instead of the mean: a player, by its name or its name with its trip, whose rating is `mean`.
    pub fixed: Option<String>,
    /// With `floodgate`: days in which a game loses half of its weight.
    pub half_life_days: f64,
    /// With `floodgate`: days in which it loses none yet.
    pub fresh_days: f64,
    /// With `floodgate`: games that a player needs.
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

impl RatingConfig {
    /// Whether its numbers can be worked with.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.mean.is_finite()
            && self.half_life_days > 0.0
            && self.fresh_days >= 0.0
            && self.least_games >= 1.0
    }
}

//! The stopping model: the probability that the best move changes in the rest of a search.
//!
//! It is a logistic regression, as in Nene-shogi (2019), on three features: the best move's share of all
//! visits, the binary logarithm of the visits so far, and that of the visits to come. It is fitted to searches
//! whose best move was recorded at every doubling of the visits; if it differs at any later doubling the case
//! counts as changed, even if the move returns. `renmei-deep time-model` fits it.

mod fit;

use crate::search::Progress;
use anyhow::{Error, Result, anyhow};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

pub use fit::{ModelOptions, run};

/// The coefficients: the logit of a change is the intercept plus the sum of coefficients times features.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The intercept.
    pub intercept: f64,
    /// Coefficient of the best move's share of the visits, 0 to 1.
    pub share: f64,
    /// Coefficient of the binary logarithm of the visits so far.
    pub visits: f64,
    /// Coefficient of the binary logarithm of the visits to come.
    pub future: f64,
}

/// The features of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features {
    share: f64,
    visits: f64,
    future: f64,
}

/// The embedded coefficients.
const SHIPPED: &str = include_str!("../weights/stopping.toml");

impl Features {
    /// The features after `visits` visits with `future` more to come, where the best move has the share
    /// `share`.
    pub fn new(share: f64, visits: f64, future: f64) -> Self {
        Self { share, visits: visits.max(1.0).log2(), future: future.max(1.0).log2() }
    }

    /// The features of a running search; `None` before its first visit.
    pub fn of(progress: &Progress, future: f64) -> Option<Self> {
        let best = progress.moves.first().filter(|_| progress.visits > 0)?;
        let visits = progress.visits as f64;
        Some(Self::new(best.visits as f64 / visits, visits, future))
    }

    const fn row(&self) -> [f64; 4] {
        [1.0, self.share, self.visits, self.future]
    }
}

impl Model {
    /// The coefficients in a file, or the embedded ones.
    ///
    /// # Errors
    /// When the file cannot be read or is malformed.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        let text = path.map_or_else(|| Ok(SHIPPED.to_owned()), fs::read_to_string);
        let model = text.map_err(Error::from).and_then(|text| Ok(toml::from_str(&text)?));
        let name = path.unwrap_or(Path::new("default")).display();
        model.map_err(|fault: Error| anyhow!("stopping model `{name}`: {fault}"))
    }

    /// The probability that the best move changes.
    pub fn change(&self, features: &Features) -> f64 {
        let coefficients = [self.intercept, self.share, self.visits, self.future];
        let logit: f64 = coefficients.iter().zip(features.row()).map(|(weight, part)| weight * part).sum();
        1.0 / (1.0 + (-logit).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_model_is_sure_of_an_obvious_move_and_not_of_a_doubtful_one() {
        let model = Model::load(None).unwrap();
        let change = |share, future| model.change(&Features::new(share, 1000.0, future));
        assert!(change(0.98, 500.0) < 0.05, "{}", change(0.98, 500.0));
        assert!(change(0.2, 2000.0) > 0.2, "{}", change(0.2, 2000.0));
        assert!(change(0.5, 8000.0) > change(0.5, 500.0) && change(0.5, 500.0) > change(0.9, 500.0));
    }

    #[test]
    fn a_malformed_model_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "intercept = 1.0\nslope = 2.0\n").unwrap();
        let message = Model::load(Some(file.path())).unwrap_err().to_string();
        assert!(
            message.contains("slope") && message.contains(&file.path().display().to_string()),
            "{message}"
        );
    }
}

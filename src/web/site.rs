//! What all pages share.

use plan::HttpConfig;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// The handle that every page has: a clone is cheap.
#[derive(Clone, Debug)]
pub struct Site(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub config: HttpConfig,
    pub database: PathBuf,
    pub event: String,
    /// Entries of the navigation: path, words in English and in Japanese.
    pub places: Vec<(&'static str, &'static str, &'static str)>,
}

impl Site {
    /// Name of the event.
    #[must_use]
    pub fn event(&self) -> &str {
        &self.0.event
    }

    /// The database of the event.
    #[must_use]
    pub fn database(&self) -> &Path {
        &self.0.database
    }

    /// Who may watch what.
    #[must_use]
    pub fn config(&self) -> &HttpConfig {
        &self.0.config
    }

    /// Entries of the navigation: path, words in English and in Japanese.
    #[must_use]
    pub fn places(&self) -> &[(&'static str, &'static str, &'static str)] {
        &self.0.places
    }
}

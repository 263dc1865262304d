//! Files of the manager, on a worker.

use crate::{HubError, Subjects};
use async_nats::Client;
use std::path::{Path, PathBuf};

/// The files.
#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
    most_bytes: u64,
    server: Option<(Client, Subjects)>,
}

impl Cache {
    /// A cache in a directory.
    pub(crate) fn at(root: &Path, most_bytes: u64) -> Result<Self, HubError> {
        Ok(Self { root: root.to_path_buf(), most_bytes, server: None })
    }

    pub(crate) fn with(mut self, client: Client, subjects: Subjects) -> Self {
        self.server = Some((client, subjects));
        self
    }
}

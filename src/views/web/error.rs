//! Why there are no pages.

use journal::StoreError;
use report::EventHistoryError;
use std::{io, net::SocketAddr};

/// Why an event cannot be shown in a browser.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// An address that cannot be listened on.
    #[error("no pages on {address}: {source}; name another address with `--http` or `[http] listen`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A thread that cannot be started.
    #[error("the thread of the pages could not be started: {0}")]
    Thread(#[from] io::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The history of the event.
    #[error(transparent)]
    History(#[from] EventHistoryError),
    /// The games of a page that needs no server.
    #[error("failed to pack the games of a page: {0}")]
    Pack(io::Error),
}

//! The door between machines: everything from nothing to a connected, authorised NATS client on both sides.
//!
//! An event that is played on several machines has a **hub**: a `nats-server` that the manager starts as its child. A worker
//! gets in with a [`Token`], the line that the manager prints. NATS carries messages and keeps none; what counts is decided
//! by the manager and lies in its database.
//!
//! What is proved, and to whom:
//!
//! - The **server** to everybody: TLS with a certificate whose hash is in the token (`tls.rs`).
//! - A **worker** to the server: a key of its own (`nkeys`), with permissions for its own subjects alone ([`Subjects`]).
//! - The **manager** to a worker: messages on a worker's subject run programs there, and the server passes on those of the
//!   manager's key alone.
//! - A **file** to whoever runs it: it is named by its SHA-256.

mod admission;
mod cache;
mod config;
mod connect;
mod directory;
mod door;
mod error;
mod file_ref;
mod join;
mod keys;
mod leftover;
mod log;
mod manager;
mod members;
mod server;
mod shelf;
mod subjects;
mod supervisor;
mod tls;
mod token;

pub use cache::{Cache, Pieces};
pub use connect::Connection;
pub use error::{FileFault, HubError};
pub use file_ref::{
    FileRef, MOST_DIRECTORY_BYTES, MOST_DIRECTORY_FILES, MOST_FILE_BYTES, PIECE, TreeRef, sha256,
};
pub use join::{Joined, join};
pub use manager::{Hub, ServerOptions};
pub use members::Member;
pub use shelf::Shelf;
pub use subjects::{JOIN, Subjects, WorkerId, new_event};
pub use token::Token;

/// Longest message that the server of an event takes, in bytes, with its headers.
pub const LONGEST_MESSAGE: usize = 640 * 1024;

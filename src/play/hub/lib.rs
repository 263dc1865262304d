//! The door between machines: everything from nothing to a connected, authorised NATS client on both sides.
//!
//! An event that is played on several machines has a **hub**: a `nats-server` that the manager starts as its child, or
//! somebody else's. A worker gets in with a [`Token`], the line that the manager prints. NATS carries messages, remembers
//! results and ships files; what counts is decided by the manager and lies in its database.
//!
//! What is proved, and to whom:
//!
//! - The **server** to everybody: TLS with a certificate whose hash is in the token (`tls.rs`).
//! - A **worker** to the server: a key of its own (`nkeys`), with permissions for its own subjects alone ([`Subjects`]).
//! - The **manager** to a worker: whoever may write to a worker's subject runs programs there, so jobs are signed by a key
//!   whose public half is in the token ([`Signer`], [`Verifier`]).
//! - A **file** to whoever runs it: it is named by its SHA-256.

mod admission;
mod cache;
mod config;
mod connect;
mod depot;
mod directory;
mod door;
mod error;
mod file_ref;
mod hex;
mod join;
mod keys;
mod leftover;
mod log;
mod manager;
mod members;
mod server;
mod shelf;
mod signing;
mod subjects;
mod supervisor;
mod tls;
mod token;

pub use async_nats;
pub use cache::{Cache, Held, Pieces};
pub use connect::{Connection, ForeignServer};
pub use depot::Depot;
pub use door::HubNotice;
pub use error::{FileFault, HubError, SignatureFault};
pub use file_ref::{
    FileRef, MOST_DIRECTORY_BYTES, MOST_DIRECTORY_FILES, MOST_FILE_BYTES, Sha256Sum, TreeRef,
};
pub use join::{JoinOptions, Joined, join};
pub use manager::{ForeignOptions, Hub, ServerOptions};
pub use members::{Member, MemberNames};
pub use shelf::Shelf;
pub use signing::{Audience, JobKey, Signer, Verifier};
pub use subjects::{EventId, JOIN, Subjects, WorkerId};
pub use token::{ServerAddress, Token};

/// Longest message that the server of an event takes, in bytes, with its headers.
pub const LONGEST_MESSAGE: usize = 640 * 1024;

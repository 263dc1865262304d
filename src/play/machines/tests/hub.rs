//! The door between machines, against the real nats-server.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "hub/door.rs"]
mod door;
#[path = "hub/files.rs"]
mod files;
#[path = "hub/machines.rs"]
mod machines;
#[path = "hub/server.rs"]
mod server;
#[path = "hub/support.rs"]
mod support;
#[path = "hub/tls.rs"]
mod tls;

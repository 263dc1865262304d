//! A hub and its workers in a directory of their own.

use async_nats::{Message, Subscriber};
use futures_util::StreamExt;
use machines::hub::{Hub, HubError, Joined, ServerOptions, Token};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub use testing::PATIENCE;

/// True if the server is installed; otherwise the running test is left out.
pub fn server_is_here() -> bool {
    testing::has("nats-server", testing::program("nats-server").is_some())
}

/// Ends a test early where there is no server.
macro_rules! need_server {
    () => {
        if !crate::support::server_is_here() {
            return;
        }
    };
}
pub(crate) use need_server;

pub struct Place {
    pub directory: TempDir,
    pub event: String,
}

impl Place {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), event: machines::hub::new_event() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn options(&self) -> ServerOptions {
        ServerOptions {
            directory: Hub::beside(&self.path("event.db")),
            listen: "127.0.0.1:0".parse().unwrap(),
            event: self.event.clone(),
            program: None,
        }
    }

    pub async fn hub(&self) -> Hub {
        Hub::start(self.options()).await.unwrap()
    }

    pub async fn join(&self, token: &Token, name: &str) -> Result<Joined, HubError> {
        join_at(&self.path("worker"), token, name).await
    }
}

pub async fn join_at(directory: &Path, token: &Token, name: &str) -> Result<Joined, HubError> {
    machines::hub::join(token, directory, name).await
}

/// The next message; a test fails if there is none.
pub async fn next(subscriber: &mut Subscriber) -> Message {
    soon(subscriber.next()).await.expect("the subscription goes on")
}

pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it happens")
}

/// Waits for a notice that begins so; others are passed over.
pub async fn notice(hub: &mut Hub, beginning: &str) -> String {
    soon(async {
        loop {
            let notice = hub.next_notice().await;
            if notice.starts_with(beginning) {
                return notice;
            }
        }
    })
    .await
}

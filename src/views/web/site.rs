//! What all pages share.

use crate::{live::Live, questions::Questions, relay::Relay, visitor::Visitor};
use arena::boards::LiveBoards;
use axum::http::HeaderMap;
use parking_lot::RwLock;
use plan::HttpConfig;
use std::{
    net::{IpAddr, Ipv6Addr},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use words::{Language, Phrase};

tokio::task_local! {
    /// The address, as limits count it, of the request that is answered now.
    pub(crate) static ASKER: IpAddr;
}

/// The address for which work is done now; outside of a request that of nobody.
pub(crate) fn asker() -> IpAddr {
    ASKER.try_with(|origin| *origin).unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED))
}

/// The handle that every page has: a clone is cheap.
#[derive(Clone, Debug)]
pub struct Site(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub config: HttpConfig,
    pub database: PathBuf,
    pub event: String,
    /// The path that the pages are below: empty, or such as `/e/cup`.
    pub base: String,
    /// Entries of the navigation: path and words.
    pub places: Vec<(&'static str, Phrase)>,
    /// What viewers may see now; `None` before the event.
    pub live: RwLock<Option<Live>>,
    /// Whether other machines play games of the event.
    pub has_machines: AtomicBool,
    pub relay: Relay,
    pub questions: Questions,
    /// Games that other machines play now.
    pub boards: Option<Arc<LiveBoards>>,
}

impl Site {
    /// Name of the event.
    pub fn event(&self) -> &str {
        &self.0.event
    }

    /// A path of these pages as browsers have to ask for it.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0.base)
    }

    /// The whole address of these pages as a request names it, for programs.
    pub(crate) fn at_address(&self, visitor: &Visitor, headers: &HeaderMap) -> String {
        visitor.site_address(headers) + &self.0.base
    }

    /// The database of the event.
    pub fn database(&self) -> &Path {
        &self.0.database
    }

    /// Reads what viewers may see now; `None` before the event.
    pub(crate) fn now<T>(&self, read: impl FnOnce(&Live) -> T) -> Option<T> {
        self.0.live.read().as_ref().map(read)
    }

    /// True if nothing more happens here: the event of a list is over, and one that is played again gets pages anew.
    pub(crate) fn is_settled(&self) -> bool {
        !self.0.base.is_empty() && self.now(|live| live.closed).unwrap_or(false)
    }

    /// Who may watch what.
    pub fn config(&self) -> &HttpConfig {
        &self.0.config
    }

    /// Entries of the navigation: path and words.
    pub fn places(&self) -> impl Iterator<Item = (&'static str, Phrase)> {
        let has_machines = self.0.has_machines.load(Ordering::Relaxed);
        let machines: Option<(_, Phrase)> = has_machines.then_some(("/machines", Language::machines));
        self.0.places.iter().copied().chain(machines)
    }

    /// True if the arbiter's pages are among these.
    pub(crate) fn has_office(&self) -> bool {
        self.0.places.iter().any(|(path, _)| *path == "/arbiter")
    }
}

//! What the tasks of a host share.

use super::{
    admission::Admission,
    budget,
    games::SightQueue,
    lobby::Lobby,
    operator::LobbyDesk,
    requests::{Arrivals, Note, Request, Ways, ways},
    vestibule::Gatekeeper,
    visits::Visits,
};
use arena::operations::Operations;
use parking_lot::{Mutex, MutexGuard};
use plan::serve::{Limits, Proxies};
use platform::limits::{Bucket, SharedBucket};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// Least time between two wake-ups for spectators: fast games are shown several moves at a time.
const BATCH: Duration = Duration::from_millis(10);

/// What the tasks of a host share.
#[derive(Clone, Debug)]
pub struct HostContext {
    lobby: Arc<Mutex<Lobby>>,
    /// The ways to the lobby.
    pub ways: Ways,
    /// What the games have shown and the lobby has not taken in yet.
    pub sights: Arc<SightQueue>,
    /// The limits on what strangers may use.
    pub limits: Limits,
    /// How long a game is kept for a player whose connection dropped.
    pub grace: Duration,
    /// True if the comments of players are shown.
    pub comments: bool,
    /// Proxies that say where a client comes from.
    pub proxies: Arc<Proxies>,
    /// Decides on logins.
    pub admission: Admission,
    /// The budget of all connections together.
    pub budget: SharedBucket,
    /// What the operator has ordered.
    pub operations: Operations,
    /// Lines about who comes and goes.
    pub visits: Visits,
}

impl HostContext {
    /// The context of a lobby, and what arrives for the lobby. The operator sees the lobby of the event that is `stored` in
    /// a database under a name.
    pub fn new(lobby: Lobby, admission: Admission, stored: (PathBuf, String)) -> (Self, Arrivals) {
        let (ways, arrivals) = ways();
        let (config, operations) = (lobby.config.clone(), lobby.operations.clone());
        let (limits, visits) = (config.limits, lobby.visits.clone());
        let context = Self {
            lobby: Arc::new(Mutex::new(lobby)),
            ways,
            sights: Arc::default(),
            limits,
            grace: config.grace(),
            comments: config.comments,
            proxies: Arc::new(config.trusted_proxies.clone()),
            admission,
            budget: Bucket::new(limits.lines_per_second.saturating_mul(budget::TOTAL)).into(),
            operations,
            visits,
        };
        let desk = LobbyDesk { host: context.clone(), stored };
        context.operations.set_host(Some(Arc::new(desk)));
        (context, arrivals)
    }

    /// The lobby, in which everything has been seen that the games have shown. The lock is never kept across a wait, and
    /// neither a connection nor a game ever takes it.
    pub fn lobby(&self) -> MutexGuard<'_, Lobby> {
        let mut lobby = self.lobby.lock();
        self.sights.take().iter().for_each(|sight| lobby.see(sight));
        lobby
    }

    /// Which addresses may come in.
    pub fn gatekeeper(&self) -> Gatekeeper {
        let operations = self.operations.clone();
        let bans = move |address| operations.in_force(|in_force| in_force.bans_address(address));
        Gatekeeper { proxies: self.proxies.clone(), bans: Arc::new(bans), visits: self.visits.clone() }
    }

    /// Asks something of the lobby.
    pub fn ask(&self, request: Request) {
        let _host_closed = self.ways.requests.send(request);
    }

    /// Tells the lobby something.
    pub fn note(&self, note: Note) {
        let _host_closed = self.ways.notes.send(note);
    }

    /// Shows spectators what the games show, for ever.
    pub async fn show_games(self) {
        loop {
            self.sights.arrived().await;
            drop(self.lobby());
            tokio::time::sleep(BATCH).await;
        }
    }
}

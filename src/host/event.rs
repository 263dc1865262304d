//! An event whose players log in: every format of `renmei run`, with engines that are started here and programs of the
//! network in one field. The dispatcher pairs them and the workers play; here is who lets the guests in and seats them.

use super::{
    Counts, FAREWELL, accept, connection::Hall, door::Door, entrants::Event, filing::Filer, ledger::Ledger,
    lobby::Lobby, ratings, roster::Roster,
};
use arena::play::Fixture;
use arena::remote::{Remote, RemotePlayers};
use journal::{Moves, Store};
use plan::Plan;
use plan::serve::{Login, ServeConfig};
use referee::event::{PlayerId, Stamped};
use referee::sink::Sink;
use seat::{Seat, transcript::Transcripts};
use std::{
    io,
    net::TcpListener,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The open doors of an event; dropping them sends everybody away.
pub struct Doors {
    hall: Hall,
    remote: Remote,
    leave: CancellationToken,
    threads: [Option<JoinHandle<()>>; 3],
    filer: Filer,
    ledger: Ledger,
}

impl Doors {
    /// Lets the players of the plan in, on a thread of its own.
    ///
    /// # Errors
    /// When the system has no thread or event queue for it.
    pub fn open(
        config: ServeConfig,
        plan: &Plan,
        listeners: Vec<TcpListener>,
        sink: Arc<dyn Sink>,
    ) -> io::Result<Self> {
        let (wait, missing) = (Duration::from_secs(config.wait), config.missing);
        let door = Door::new(&config, &plan.database).map_err(io::Error::other)?;
        let open = |records| Filer::open(records, plan.database.clone(), plan.name.clone());
        let filing = config.records.clone().map(open).transpose()?;
        let config = Arc::new(config);
        let transcripts = Transcripts::new(sink);
        let lobby = Lobby::of_event(config.clone(), Event::of(plan), transcripts.clone());
        let hall = Hall::new(&config, lobby, door);
        let (filer, filing) = filing.map_or_else(Default::default, |(filer, thread)| (filer, Some(thread)));
        hall.lobby().filer = filer.clone();
        let (ledger, rating) = rate(&config, plan, hall.lobby().roster.clone())?;
        hall.lobby().ledger = ledger.clone();
        let players = Arc::new(Network { hall: hall.clone(), transcripts });
        let remote = Remote { players, wait, missing };
        let leave = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (inside, over) = (hall.clone(), leave.clone());
        let thread = thread::Builder::new().name("network".to_owned()).spawn(move || {
            runtime.block_on(receive(listeners, inside, over));
        })?;
        Ok(Self { hall, remote, leave, threads: [Some(thread), filing, Some(rating)], filer, ledger })
    }

    /// The network side of the event, for the dispatcher.
    #[must_use]
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Shows spectators what was committed.
    pub fn show(&self) -> impl FnMut(&[Stamped]) + Send + use<> {
        let (hall, filer, ledger) = (self.hall.clone(), self.filer.clone(), self.ledger.clone());
        move |batch| {
            filer.committed(batch);
            batch.iter().for_each(|stamped| ledger.fold(stamped));
            let mut lobby = hall.lobby();
            batch.iter().for_each(|stamped| lobby.happened(stamped));
        }
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        self.leave.cancel();
        self.filer.close();
        self.ledger.close();
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            let _panicked_already_told = thread.join();
        }
    }
}

/// Rates the field on a thread of its own, what was played before included.
fn rate(config: &ServeConfig, plan: &Plan, roster: Arc<Roster>) -> io::Result<(Ledger, JoinHandle<()>)> {
    let (path, name, ledger) = (plan.database.clone(), plan.name.clone(), Ledger::default());
    let find = move |store: &Store| {
        let events = store.events().unwrap_or_default();
        events.into_iter().find(|event| event.name == name).map(|event| event.id)
    };
    if let Ok(store) = Store::read(&path)
        && let Some(event) = find(&store)
    {
        store.replay(event, Moves::Without, &mut |stamped| ledger.fold(stamped)).map_err(io::Error::other)?;
    }
    // The event knows everybody in it: nobody is left out for want of a trip.
    let config = ServeConfig { login: Login::Accounts, ..config.clone() };
    let folded = ledger.clone();
    let work = move || ratings::keep(&config, &folded, &roster, &path, find);
    Ok((ledger, thread::Builder::new().name("ratings".to_owned()).spawn(work)?))
}

async fn receive(listeners: Vec<TcpListener>, hall: Hall, over: CancellationToken) {
    let connections = TaskTracker::new();
    let counts = Arc::new(Counts::default());
    for listener in
        listeners.into_iter().filter_map(|listener| tokio::net::TcpListener::from_std(listener).ok())
    {
        let accepting = accept(listener, hall.clone(), counts.clone(), connections.clone());
        connections.spawn(over.clone().run_until_cancelled_owned(accepting));
    }
    over.cancelled().await;
    hall.lobby().close();
    connections.close();
    let _strangers_stay_behind = tokio::time::timeout(FAREWELL, connections.wait()).await;
}

/// The remote players, as the dispatcher sees them.
struct Network {
    hall: Hall,
    transcripts: Transcripts,
}

impl RemotePlayers for Network {
    fn waits(&self, player: PlayerId) -> bool {
        self.hall.lobby().waits(player)
    }

    fn seat(&self, fixture: &Fixture) -> Option<[Option<Seat>; 2]> {
        self.hall.lobby().seat_remote(fixture)
    }

    fn settle(&self, patience: Duration) {
        self.transcripts.settle(patience);
    }
}

//! An event whose players log in: every format of `renmei run`, with engines that are started here and programs of the
//! network in one field. The dispatcher pairs them and the workers play; here is who lets the guests in and seats them.

use super::{
    Counts, FAREWELL, accept, admission::Admission, connection::HostContext, entrants::Entrants,
    lobby::Lobby, rating_history::RatingHistory, ratings, record_files::RecordFiles, roster::Roster,
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
pub struct EventNetwork {
    context: HostContext,
    remote: Remote,
    leave: CancellationToken,
    threads: [Option<JoinHandle<()>>; 3],
    record_files: RecordFiles,
    history: RatingHistory,
}

impl EventNetwork {
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
        let admission = Admission::new(&config, &plan.database).map_err(io::Error::other)?;
        let open = |records| RecordFiles::open(records, plan.database.clone(), plan.name.clone());
        let filing = config.records.clone().map(open).transpose()?;
        let config = Arc::new(config);
        let transcripts = Transcripts::new(sink);
        let lobby = Lobby::of_event(config.clone(), Entrants::of(plan), transcripts.clone());
        let context = HostContext::new(&config, lobby, admission);
        let (record_files, filing) =
            filing.map_or_else(Default::default, |(record_files, thread)| (record_files, Some(thread)));
        context.lobby().record_files = record_files.clone();
        let (history, rating) = rate(&config, plan, context.lobby().roster.clone())?;
        context.lobby().history = history.clone();
        let players = Arc::new(Network { context: context.clone(), transcripts });
        let remote = Remote { players, wait, missing };
        let leave = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (inside, over) = (context.clone(), leave.clone());
        let thread = thread::Builder::new().name("network".to_owned()).spawn(move || {
            runtime.block_on(receive(listeners, inside, over));
        })?;
        Ok(Self {
            context,
            remote,
            leave,
            threads: [Some(thread), filing, Some(rating)],
            record_files,
            history,
        })
    }

    /// The network side of the event, for the dispatcher.
    #[must_use]
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// Shows spectators what was committed.
    pub fn show(&self) -> impl FnMut(&[Stamped]) + Send + use<> {
        let (context, record_files, history) =
            (self.context.clone(), self.record_files.clone(), self.history.clone());
        move |batch| {
            record_files.committed(batch);
            batch.iter().for_each(|stamped| history.fold(stamped));
            let mut lobby = context.lobby();
            batch.iter().for_each(|stamped| lobby.happened(stamped));
        }
    }
}

impl Drop for EventNetwork {
    fn drop(&mut self) {
        self.leave.cancel();
        self.record_files.close();
        self.history.close();
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            let _panicked_already_told = thread.join();
        }
    }
}

/// Rates the field on a thread of its own, what was played before included.
fn rate(
    config: &ServeConfig,
    plan: &Plan,
    roster: Arc<Roster>,
) -> io::Result<(RatingHistory, JoinHandle<()>)> {
    let (path, name, history) = (plan.database.clone(), plan.name.clone(), RatingHistory::default());
    let find = move |store: &Store| {
        let events = store.events().unwrap_or_default();
        events.into_iter().find(|event| event.name == name).map(|event| event.id)
    };
    if let Ok(store) = Store::read(&path)
        && let Some(event) = find(&store)
    {
        store
            .replay(event, Moves::Without, &mut |stamped| history.fold(stamped))
            .map_err(io::Error::other)?;
    }
    // The event knows everybody in it: nobody is left out for want of a trip.
    let config = ServeConfig { login: Login::Accounts, ..config.clone() };
    let folded = history.clone();
    let work = move || ratings::keep(&config, &folded, &roster, &path, find);
    Ok((history, thread::Builder::new().name("ratings".to_owned()).spawn(work)?))
}

async fn receive(listeners: Vec<TcpListener>, context: HostContext, over: CancellationToken) {
    let connections = TaskTracker::new();
    let counts = Arc::new(Counts::default());
    for listener in
        listeners.into_iter().filter_map(|listener| tokio::net::TcpListener::from_std(listener).ok())
    {
        let accepting = accept(listener, context.clone(), counts.clone(), connections.clone());
        connections.spawn(over.clone().run_until_cancelled_owned(accepting));
    }
    over.cancelled().await;
    context.lobby().close();
    connections.close();
    let _strangers_stay_behind = tokio::time::timeout(FAREWELL, connections.wait()).await;
}

/// The remote players, as the dispatcher sees them.
struct Network {
    context: HostContext,
    transcripts: Transcripts,
}

impl RemotePlayers for Network {
    fn waits(&self, player: PlayerId) -> bool {
        self.context.lobby().waits(player)
    }

    fn seat(&self, fixture: &Fixture) -> Option<[Option<Seat>; 2]> {
        self.context.lobby().seat_remote(fixture)
    }

    fn settle(&self, patience: Duration) {
        self.transcripts.settle(patience);
    }
}

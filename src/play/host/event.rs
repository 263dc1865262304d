//! An event whose players log in: every format of `renmei run`, with engines that are started here and programs of the
//! network in one field. The dispatcher pairs them and the workers play; this is the network side, which admits the
//! remote players and seats them.

use super::{
    admission::{Admission, Admits},
    arrange::Arranger,
    bookkeeping::Bookkeeping,
    context::HostContext,
    entrants::Entrants,
    listener::{Connections, Port, Threshold},
    lobby::{Lobby, Matchmaking},
    lobby_thread::LobbyThread,
    rating_history::RatingHistory,
    requests::Note,
    roster::Roster,
    trips,
    vestibule::Vestibule,
    visits::Visits,
};
use arena::{
    actor_thread::ActorThread,
    operations::Operations,
    play::Fixture,
    remote::{Remote, RemotePlayers, Seating},
    spectators::Spectators,
};
use journal::{EventId, Moves, Store, StoreError};
use plan::{
    Plan,
    serve::{Login, ServeConfig},
};
use referee::{
    entry::{PlayerId, Stamped},
    sink::{EntrantTrip, Sink, TripKey},
};
use seat::transcript::Transcripts;
use std::{
    io,
    sync::{Arc, mpsc},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// The network side of an event. Dropping it sends all players and spectators away.
pub struct EventNetwork {
    host: HostContext,
    /// The network side, for the dispatcher.
    pub remote: Remote,
    /// The entrance for those who come by a port that several events share.
    pub(crate) threshold: Threshold,
    leave: CancellationToken,
    thread: Option<JoinHandle<()>>,
    _lobby: LobbyThread,
    bookkeeping: Bookkeeping,
}

impl EventNetwork {
    /// Admits the players of the plan, on a thread of its own.
    ///
    /// # Errors
    /// When the system has no thread or event queue for it.
    pub fn open(
        config: ServeConfig,
        plan: &Plan,
        ports: Vec<Port>,
        operations: Operations,
        sink: Arc<dyn Sink>,
    ) -> io::Result<Self> {
        let (wait, missing) = (Duration::from_secs(config.wait), config.missing);
        let (key, known) = stored_trips(plan).map_err(io::Error::other)?;
        let key = trips::key(key, &*sink);
        let admission = Admission::new(&config, Admits::Entrants, &plan.database, key);
        let admission = admission.map_err(io::Error::other)?;
        let mut entrants = Entrants::of(plan, known);
        operations.substitutes().iter().for_each(|(player, name)| entrants.give(*player, name));
        let roster = Arc::new(Roster::new(entrants.names()));
        let bookkeeping = keep_books(&config, plan, roster.clone())?;
        // The pages of an event are configured beside its network; what they keep private the network does too.
        let config = Arc::new(ServeConfig { http: plan.http.clone(), ..config });
        let transcripts = Transcripts::new(sink);
        let (stored, files) = ((plan.database.clone(), plan.name.clone()), bookkeeping.record_files());
        let arranger = Arranger::new(config, roster, transcripts.clone(), files, &stored);
        let arranger = arranger.map_err(io::Error::other)?;
        let matchmaking = Matchmaking::Scheduled(entrants);
        let lobby = Lobby::new(arranger, matchmaking, vec![], bookkeeping.history(), operations);
        let (host, arrivals) = HostContext::new(lobby, admission, stored);
        let lobby = LobbyThread::start(host.clone(), arrivals, vec![], CancellationToken::new())?;
        let players = Arc::new(NetworkPlayers { host: host.clone(), transcripts });
        let remote = Remote { players, wait, missing };
        let leave = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, opened) = mpsc::channel();
        let serving = serve(ports, host.clone(), Vestibule::start()?, leave.clone(), sender);
        let thread =
            thread::Builder::new().name("network".to_owned()).spawn(move || runtime.block_on(serving))?;
        let threshold = opened.recv().map_err(io::Error::other)?;
        Ok(Self { host, remote, threshold, leave, thread: Some(thread), _lobby: lobby, bookkeeping })
    }

    /// Lines about who comes and goes.
    pub fn visits(&self) -> Visits {
        self.host.visits.clone()
    }

    /// The names of the games of the event, as its players may name them at their login.
    pub fn game_names(&self) -> Vec<String> {
        self.host.lobby().game_names()
    }

    /// A reader of committed entries, for the journal.
    pub fn reader(&self) -> impl FnMut(&[Stamped]) + Send + use<> {
        let (host, mut write) = (self.host.clone(), self.bookkeeping.reader());
        move |batch| {
            // A record file needs what the lobby knows of the game, so the game is listed before its end is read.
            drop(host.lobby());
            write(batch);
        }
    }
}

impl Drop for EventNetwork {
    fn drop(&mut self) {
        self.host.operations.set_host(None);
        self.leave.cancel();
        if let Some(thread) = self.thread.take() {
            let _panic_printed = thread.join();
        }
    }
}

/// The key of the event's trips, and the trips of its entrants, from earlier runs.
fn stored_trips(plan: &Plan) -> Result<(Option<TripKey>, Vec<EntrantTrip>), StoreError> {
    if !plan.database.exists() {
        return Ok((None, vec![]));
    }
    let store = Store::read(&plan.database)?;
    match store.event_named(&plan.name)? {
        Some(event) => Ok((store.trip_key(event)?, store.entrant_trips(event)?)),
        None => Ok((None, vec![])),
    }
}

/// Opens record files and ratings for the whole field, with the games that were played before.
fn keep_books(config: &ServeConfig, plan: &Plan, roster: Arc<Roster>) -> io::Result<Bookkeeping> {
    let (path, name, history) = (&plan.database, plan.name.clone(), RatingHistory::default());
    let mut bookkeeping = Bookkeeping::open(config, path, &plan.name, history.clone())?;
    let find = move |store: &Store| -> Option<EventId> { store.event_named(&name).ok().flatten() };
    if let Ok(store) = Store::read(path)
        && let Some(event) = find(&store)
    {
        let replayed = store.replay(event, Moves::Without, &mut |stamped| history.fold(stamped));
        replayed.map_err(io::Error::other)?;
    }
    // An entrant is identified by the plan, so the whole field is rated, with trips or without.
    let config = ServeConfig { login: Login::Accounts, ..config.clone() };
    bookkeeping.rate(Arc::new(config), roster, find)?;
    Ok(bookkeeping)
}

async fn serve(
    ports: Vec<Port>,
    host: HostContext,
    vestibule: Vestibule,
    leave: CancellationToken,
    opened: mpsc::Sender<Threshold>,
) {
    let threshold = Threshold::new(host.clone());
    let _nobody_waits = opened.send(threshold.clone());
    let connections = Connections::of(threshold, vestibule);
    for port in ports {
        if let Err(error) = connections.listen(port, &leave) {
            tracing::error!(target: "host", %error, "a port cannot be listened on");
        }
    }
    leave.cancelled().await;
    host.lobby().close();
    connections.close().await;
}

/// The remote players, as the dispatcher and the workers see them.
struct NetworkPlayers {
    host: HostContext,
    transcripts: Transcripts,
}

impl RemotePlayers for NetworkPlayers {
    fn waits(&self, player: PlayerId) -> bool {
        self.host.lobby().waits(player)
    }

    fn seat(&self, fixture: Fixture, thread: ActorThread) -> Seating {
        let (answer, seated) = oneshot::channel();
        self.host.note(Note::Seat(Box::new(fixture), thread, answer));
        Box::pin(async move { seated.await.ok().flatten() })
    }

    fn spectators(&self) -> &dyn Spectators {
        &*self.host.sights
    }

    fn settle(&self, patience: Duration) {
        self.transcripts.settle(patience);
    }
}

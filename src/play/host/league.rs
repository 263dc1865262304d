//! An open league: players log in whenever they like, and those who ask for the same game meet.

use super::{
    admission::{Admission, Admits},
    arrange::{ArrangedGame, Arranger},
    bookkeeping::Bookkeeping,
    context::HostContext,
    game_threads::GameThreads,
    listener::{Connections, Port, Threshold},
    lobby::{GameQueue, Lobby, Matchmaking},
    lobby_thread::LobbyThread,
    operator::LeagueGames,
    rating_history::RatingHistory,
    requests::{Arrivals, Note},
    retention,
    roster::{self, Roster},
    trips,
    vestibule::Vestibule,
    visits::Visits,
};
use arena::resting::RestingThread;
use arena::{
    Shutdown,
    actor_thread::ActorThread,
    disk::DiskWatch,
    open_journal::OpenJournal,
    operations::{Interventions, Operations},
    play::{GameContext, play},
};
use journal::{EventHead, Journal, Reader, StoreError};
use plan::{StoredPlan, serve::ServeConfig};
use referee::{
    entry::{Entry, GameId},
    sink::{Buoy, Sink},
};
use seat::transcript::Transcripts;
use std::{io, sync::Arc};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// A league with its event open.
#[derive(Debug)]
pub struct League {
    config: Arc<ServeConfig>,
    journal: Journal,
    roster: Arc<Roster>,
    admission: Admission,
    buoys: Vec<Buoy>,
    next_game: GameId,
    bookkeeping: Bookkeeping,
    retention: RestingThread,
    /// No game begins while the disk is nearly full.
    pub disk: DiskWatch,
    operations: Operations,
    /// Lines about who comes and goes.
    pub visits: Visits,
}

impl League {
    /// Opens the event in the database, or takes it up again. The `history` is an empty one, for screens to share.
    /// When the database fails, `shutdown` adjourns.
    ///
    /// # Errors
    /// When the database cannot be written, or another process has the event.
    pub fn open(
        config: ServeConfig,
        history: RatingHistory,
        shutdown: &Shutdown,
        mut readers: Vec<Reader>,
    ) -> Result<Self, StoreError> {
        let path = config.database.clone();
        let plan = StoredPlan::from(&config).to_json();
        let head = EventHead { name: &config.name, kind: "serve", plan: &plan, fingerprint: "{}" };
        let fold = |(): &mut (), stamped: &_| history.fold(stamped);
        let (open, ()) = OpenJournal::open(&path, &head, |_| Ok::<_, StoreError>(()), fold)?;
        let (opening, operations) = (&open.opening, open.operations.clone());
        let recovery = opening.event().recovery();
        let buoys = opening.store().buoys(opening.event().event)?;
        let players = opening.players().to_vec();
        let (next_game, resumed) = (opening.event().next_game, opening.event().resumed);
        let key = trips::key(opening.store().trip_key(opening.event().event)?, &*opening.sink());
        let admission = Admission::new(&config, Admits::League, &path, key)?;
        let roster = Arc::new(Roster::new(players.clone()));
        let thread = |source: io::Error| StoreError::Thread(path.clone(), Arc::new(source));
        let mut bookkeeping = Bookkeeping::open(&config, &path, &config.name, history).map_err(thread)?;
        let mut books = bookkeeping.reader();
        readers.push(Reader::new("league", move |batch| books(batch)));
        let failed = shutdown.clone();
        let journal = open.start(readers, move || failed.adjourn())?;
        journal.happened(roster::opened(&config.name, players, resumed));
        recovery.into_iter().for_each(|text| journal.happened(Entry::Fault { player: None, text }));
        let (config, event) = (Arc::new(config), journal.event());
        bookkeeping.rate(config.clone(), roster.clone(), move |_| Some(event)).map_err(thread)?;
        let retention = retention::start(config.retention, path.clone(), event).map_err(thread)?;
        let disk = DiskWatch::default();
        Ok(Self {
            config,
            journal,
            roster,
            admission,
            buoys,
            next_game,
            bookkeeping,
            retention,
            disk,
            operations,
            visits: Visits::default(),
        })
    }

    /// The operator's handle.
    pub fn operations(&self) -> Operations {
        self.operations.clone()
    }

    /// What the operator has to be told before the league is served.
    pub fn warnings(&self) -> Vec<String> {
        trips::warnings(&self.config, &self.roster.names())
    }

    /// Serves until `shutdown` and the end of the last game.
    ///
    /// # Errors
    /// When the database has failed.
    pub async fn serve(self, ports: Vec<Port>, shutdown: Shutdown) -> Result<(), StoreError> {
        let (path, schedules) = (self.config.database.clone(), self.config.rounds.clone());
        let thread = |source: io::Error| StoreError::Thread(path.clone(), Arc::new(source));
        let threads = GameThreads::start().map_err(thread)?;
        let (mut served, arrivals) = self.assemble(threads.all(), &shutdown)?;
        let host = served.host().clone();
        let finishing = shutdown.finishing().clone();
        let lobby = LobbyThread::start(host.clone(), arrivals, schedules, finishing).map_err(thread)?;
        let connections = Connections::of(Threshold::new(host), Vestibule::start().map_err(thread)?);
        // Until the last game is over, its players may come back to it.
        let over = CancellationToken::new();
        for port in ports {
            connections.listen(port, &over).map_err(thread)?;
        }
        served.play(&shutdown).await;
        over.cancel();
        threads.settle().await;
        connections.close().await;
        drop(lobby);
        drop(threads);
        served.close()
    }

    /// Puts the host together, whose games are played on these threads, and what arrives for its lobby.
    pub(super) fn assemble(
        self,
        threads: Vec<ActorThread>,
        shutdown: &Shutdown,
    ) -> Result<(ServedLeague, Arrivals), StoreError> {
        let Self { config, journal, bookkeeping, operations, retention, .. } = self;
        let (sink, path) = (journal.sink(), &config.database);
        let (sender, arranged) = mpsc::unbounded_channel();
        let transcripts = Transcripts::new(sink.clone());
        let stored = (path.clone(), config.name.clone());
        let files = bookkeeping.record_files();
        let arranger = Arranger::new(config.clone(), self.roster, transcripts, files, &stored)?;
        let matchmaking = Matchmaking::Open(GameQueue::new(sender, self.next_game, threads));
        let history = bookkeeping.history();
        let mut lobby = Lobby::new(arranger, matchmaking, self.buoys, history, operations.clone());
        (lobby.disk, lobby.visits) = (self.disk, self.visits);
        let (host, arrivals) = HostContext::new(lobby, self.admission, stored);
        let games = Arc::new(LeagueGames::new(operations.clone(), path.clone(), journal.event()));
        operations.set_games(Some(games.clone()));
        let interventions = operations.interventions();
        let context =
            LeagueContext { host, sink, adjourn: shutdown.adjourning().clone(), interventions, games };
        Ok((ServedLeague { context, arranged, operations, journal, bookkeeping, retention }, arrivals))
    }
}

/// A league whose lobby arranges games.
pub(super) struct ServedLeague {
    context: LeagueContext,
    arranged: mpsc::UnboundedReceiver<ArrangedGame>,
    operations: Operations,
    journal: Journal,
    bookkeeping: Bookkeeping,
    retention: RestingThread,
}

impl ServedLeague {
    /// The host.
    pub fn host(&self) -> &HostContext {
        &self.context.host
    }

    /// Plays the games that the lobby arranges, until `shutdown` and the end of the last one.
    pub async fn play(&mut self, shutdown: &Shutdown) {
        play_arranged(&mut self.arranged, &self.context, shutdown).await;
        self.operations.set_games(None);
        self.operations.set_host(None);
    }

    /// Writes what is left to be written.
    pub fn close(self) -> Result<(), StoreError> {
        drop(self.retention);
        let kept = self.journal.finish().map(drop);
        drop(self.bookkeeping);
        kept
    }
}

/// What every game of the league needs.
#[derive(Clone)]
struct LeagueContext {
    host: HostContext,
    sink: Arc<dyn Sink>,
    adjourn: CancellationToken,
    interventions: Arc<Interventions>,
    games: Arc<LeagueGames>,
}

/// Plays the games that the lobby arranges, until `shutdown` and the end of the last one.
async fn play_arranged(
    arranged: &mut mpsc::UnboundedReceiver<ArrangedGame>,
    context: &LeagueContext,
    shutdown: &Shutdown,
) {
    let games = TaskTracker::new();
    let finish = shutdown.finishing();
    while let Some(Some(game)) = finish.run_until_cancelled(arranged.recv()).await {
        begin(game, &games, context);
    }
    context.host.lobby().close();
    while let Ok(game) = arranged.try_recv() {
        begin(game, &games, context);
    }
    games.close();
    games.wait().await;
}

/// Begins a game on its thread.
fn begin(game: ArrangedGame, games: &TaskTracker, context: &LeagueContext) {
    let thread = game.thread.clone();
    thread.run(games.track_future(play_game(game, context.clone())));
}

async fn play_game(arranged: ArrangedGame, context: LeagueContext) {
    let ArrangedGame { fixture, mut seats, thread } = arranged;
    let (game, pairing) = (fixture.setup.game, fixture.pairing);
    let LeagueContext { host, sink, adjourn: stop, interventions, games } = &context;
    let spectators = Some(&*host.sights as _);
    let (lag, interventions) = (&thread.lag, Some(&**interventions));
    let context = GameContext { sink: &**sink, spectators, lag, stop, interventions };
    let played = play(fixture, &mut seats, context).await;
    games.carried_out(game, pairing, played.as_ref().ok().copied());
    if played.is_err() {
        host.note(Note::Cancelled(game));
    }
}

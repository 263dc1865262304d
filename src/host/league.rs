//! An open league: players log in whenever they like, and those who ask for the same game meet.

use super::{
    admission::Admission,
    arrange::{ArrangedGame, Arranger},
    bookkeeping::Bookkeeping,
    buoys::Buoys,
    context::HostContext,
    game_threads::GameThreads,
    listener::Connections,
    lobby::{GameQueue, Lobby, Matchmaking},
    rating_history::RatingHistory,
    requests::{LobbyThread, Note},
    roster::{self, Roster},
};
use arena::{
    Shutdown,
    play::{GameContext, play},
};
use journal::{EventHead, Journal, Moves, Reader, StoreError};
use plan::{StoredPlan, serve::ServeConfig};
use referee::{
    entry::GameId,
    sink::{Buoy, Sink},
};
use seat::transcript::Transcripts;
use std::{io, sync::Arc};
use tokio::{net::TcpListener, sync::mpsc};
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
        let plan = StoredPlan::of_league(&config).to_json();
        let head = EventHead { name: &config.name, kind: "serve", plan: &plan, fingerprint: "{}" };
        let opening = Journal::open(&path, &head)?;
        opening.replay(Moves::Without, &mut |stamped| history.fold(stamped))?;
        let buoys = opening.store().buoys(opening.event().event)?;
        let players = opening.players().to_vec();
        let (next_game, resumed) = (opening.event().next_game, opening.event().resumed);
        let admission = Admission::new(&config, &path)?;
        let roster = Arc::new(Roster::new(players.clone()));
        let thread = |source: io::Error| StoreError::Thread { path: path.clone(), source: Arc::new(source) };
        let mut bookkeeping = Bookkeeping::open(&config, &path, &config.name, history).map_err(thread)?;
        let mut books = bookkeeping.reader();
        readers.push(Reader::new("league", move |batch| books(batch)));
        let failed = shutdown.clone();
        let journal = opening.start(readers, move || failed.adjourn())?;
        journal.happened(roster::opened(&config.name, players, resumed));
        let (config, event) = (Arc::new(config), journal.event());
        bookkeeping.rate(config.clone(), roster.clone(), move |_| Some(event)).map_err(thread)?;
        Ok(Self { config, journal, roster, admission, buoys, next_game, bookkeeping })
    }

    /// Serves until `shutdown` and the end of the last game.
    ///
    /// # Errors
    /// When the database has failed.
    pub async fn serve(self, listeners: Vec<TcpListener>, shutdown: Shutdown) -> Result<(), StoreError> {
        let Self { config, journal, roster, admission, buoys, next_game, bookkeeping } = self;
        let sink = journal.sink();
        let path = config.database.clone();
        let thread = |source: io::Error| StoreError::Thread { path: path.clone(), source: Arc::new(source) };
        let threads = GameThreads::start().map_err(thread)?;
        let (sender, mut arranged) = mpsc::unbounded_channel();
        let transcripts = Transcripts::new(sink.clone());
        let arranger = Arranger::new(config.clone(), roster, transcripts, bookkeeping.record_files());
        let arranger = arranger.after_earlier_runs(&path, &config.name)?;
        let buoys = Buoys::new(buoys, config.limits.buoys, sink.clone());
        let matchmaking = Matchmaking::Open(GameQueue::new(sender, next_game, threads.all()));
        let lobby = Lobby::new(config.clone(), matchmaking, arranger, buoys, bookkeeping.history());
        let (host, arrivals) = HostContext::new(&config, lobby, admission);
        let (schedules, finishing) = (config.rounds.clone(), shutdown.finishing().clone());
        let lobby = LobbyThread::start(host.clone(), arrivals, schedules, finishing).map_err(thread)?;
        let connections = Connections::new(host.clone());
        for listener in listeners {
            connections.listen(listener, shutdown.finishing());
        }
        let context = LeagueContext { host, sink, adjourn: shutdown.adjourning().clone() };
        play_arranged(&mut arranged, &context, &shutdown).await;
        threads.settle().await;
        connections.close().await;
        drop(lobby);
        drop(threads);
        let kept = journal.finish().map(drop);
        drop(bookkeeping);
        kept
    }
}

/// What every game of the league needs.
#[derive(Clone)]
struct LeagueContext {
    host: HostContext,
    sink: Arc<dyn Sink>,
    adjourn: CancellationToken,
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
    let game = fixture.setup.game;
    let LeagueContext { host, sink, adjourn } = &context;
    let spectators = Some(&*host.sights as _);
    let played =
        play(fixture, &mut seats, GameContext { sink: &**sink, spectators, lag: &thread.lag, stop: adjourn })
            .await;
    if played.is_err() {
        host.note(Note::Cancelled(game));
    }
}

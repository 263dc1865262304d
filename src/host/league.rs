//! An open league: players log in whenever they like, and those who ask for the same game meet.

use super::{
    admission::Admission,
    arrange::{ArrangedGame, Arranger},
    bookkeeping::Bookkeeping,
    buoys::Buoys,
    context::HostContext,
    listener::Connections,
    lobby::{GameQueue, Lobby, Matchmaking},
    rating_history::RatingHistory,
    roster::{self, Roster},
    rounds,
};
use arena::{
    Shutdown,
    lag::SchedulerLag,
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
        let (sender, mut arranged) = mpsc::unbounded_channel();
        let transcripts = Transcripts::new(sink.clone());
        let arranger = Arranger::new(config.clone(), roster, transcripts, bookkeeping.record_files());
        let buoys = Buoys::new(buoys, config.limits.buoys, sink.clone());
        let matchmaking = Matchmaking::Open(GameQueue::new(sender, next_game));
        let lobby = Lobby::new(config.clone(), matchmaking, arranger, buoys, bookkeeping.history());
        let host = HostContext::new(&config, lobby, admission);
        let lag = Arc::new(SchedulerLag::default());
        let measured = lag.clone();
        let measuring = tokio::spawn(async move { measured.measure().await });
        let showing = tokio::spawn(host.clone().show_games());
        let connections = Connections::new(host.clone());
        for listener in listeners {
            connections.listen(listener, shutdown.finishing());
        }
        for schedule in &config.rounds {
            let rounds = rounds::keep(schedule.clone(), host.clone());
            tokio::spawn(shutdown.finishing().clone().run_until_cancelled_owned(rounds));
        }
        let context = LeagueContext { host, sink, lag, adjourn: shutdown.adjourning().clone() };
        play_arranged(&mut arranged, &context, &shutdown).await;
        connections.close().await;
        measuring.abort();
        showing.abort();
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
    lag: Arc<SchedulerLag>,
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
        games.spawn(play_game(game, context.clone()));
    }
    context.host.lobby().close();
    while let Ok(game) = arranged.try_recv() {
        games.spawn(play_game(game, context.clone()));
    }
    games.close();
    games.wait().await;
}

async fn play_game(arranged: ArrangedGame, context: LeagueContext) {
    let ArrangedGame { fixture, mut seats } = arranged;
    let game = fixture.setup.game;
    let LeagueContext { host, sink, lag, adjourn } = &context;
    let spectators = Some(&*host.sights as _);
    let played =
        play(fixture, &mut seats, GameContext { sink: &**sink, spectators, lag, stop: adjourn }).await;
    if played.is_err() {
        host.lobby().cancelled(game);
    }
}

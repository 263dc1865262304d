//! A league: players log in over the network by the CSA server protocol, meet, and are refereed here.
//!
//! Everything that waits lives on one thread: a task for each connection, a task for each game. The lobby is plain
//! state behind a lock that is never held across a wait; the store has its own thread behind the bus.
//!
//! # Where it departs from shogi-server, whatever `compat` says
//!
//! * `#TIME_UP` is told at the instant, not when the mover speaks or a minute is over.
//! * Who drops the line loses, also while the opponent is to move: at once, or after the `grace` time, in which the
//!   same player may log in again and go on.
//! * Both players are let go at the end of a CSA-mode game; a refused login is closed at once and stalls nobody.
//! * `%%FORK` takes the number of moves it is given.
//! * Spectators see the board after the move that completes a repetition.
//! * Rounds by the clock are paired by an optimal matching, players without a trip among them; byes and colours are
//!   shared out. shogi-server tries some hundred ways, gives byes by chance, and does not call who shows no trip.
//! * A stop-watch game (`-060`) without a main time is refused with a word.
//!
//! `compat = "protocol"` besides: `%TORYO` and `%KACHI` are told once and with their time, a buoy's moves took no
//! time, a stop-watch's byoyomi is not told, `To_Move` is the side to move before the moves listed, and the start
//! position counts for sennichite. An illegal move is not sent on, against the text, as no client can play it: it is
//! kept as evidence.

mod arrange;

mod commands;

mod admission;
mod connection;
mod entrants;
pub mod event;
mod grace;
mod lobby;
mod rating_history;
mod record_files;

mod game_view;
pub mod ratings;
mod roster;
pub mod rounds;
mod waits;

use admission::Admission;
use arena::Shutdown;
use arena::lag::SchedulerLag;
use arena::play::{GameContext, play};
use connection::{HostContext, attend};
use journal::{EventHead, EventId, Journal, Moves, Reader, StoreError};
use lobby::{ArrangedGame, Lobby};
use plan::serve::{Limits, ServeConfig};
pub use rating_history::RatingHistory;
use record_files::RecordFiles;
use referee::{
    event::GameId,
    schedule::{Format, Stage},
    sink::{Buoy, Sink},
};
use roster::Roster;
use seat::transcript::Transcripts;
use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long connections may take to be closed at the end.
const FAREWELL: Duration = Duration::from_secs(3);
/// How long nobody is accepted after the system refused to.
const REFUSED: Duration = Duration::from_millis(50);

/// A league with its event open.
#[derive(Debug)]
pub struct League {
    config: Arc<ServeConfig>,
    journal: Journal,
    roster: Arc<Roster>,
    admission: Admission,
    buoys: Vec<Buoy>,
    record_files: RecordFiles,
    filing: Option<JoinHandle<()>>,
    next_game: GameId,
    history: RatingHistory,
    rater: JoinHandle<()>,
}

impl League {
    /// Opens the event in the database, or takes it up again. The `history` is that of a league that has not begun;
    /// when the database fails, `shutdown` adjourns.
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
        let plan = plan(&config).to_string();
        let head = EventHead { name: &config.name, kind: "serve", plan: &plan, fingerprint: "{}" };
        let opening = Journal::open(&path, &head)?;
        opening.replay(Moves::Without, &mut |stamped| history.fold(stamped))?;
        let buoys = opening.store().buoys(opening.event().event)?;
        let players = opening.players().to_vec();
        let (next_game, resumed) = (opening.event().next_game, opening.event().resumed);
        let admission = Admission::new(&config, &path)?;
        let roster = Arc::new(Roster::new(players.clone()));
        let thread = |source| StoreError::Thread { path: path.clone(), source: Arc::new(source) };
        let open = |records| RecordFiles::open(records, path.clone(), config.name.clone());
        let filing = config.records.clone().map(open).transpose().map_err(thread)?;
        let (record_files, filing) =
            filing.map_or_else(Default::default, |(record_files, thread)| (record_files, Some(thread)));
        let (files, folded) = (record_files.clone(), history.clone());
        readers.push(Reader::new("league", move |batch| {
            files.committed(batch);
            batch.iter().for_each(|stamped| folded.fold(stamped));
        }));
        let failed = shutdown.clone();
        let journal = opening.start(readers, move || failed.adjourn())?;
        journal.happened(roster::opened(&config.name, players, resumed));
        let config = Arc::new(config);
        let rater = rate(&path, journal.event(), config.clone(), history.clone(), roster.clone())?;
        Ok(Self {
            config,
            journal,
            roster,
            admission,
            buoys,
            record_files,
            filing,
            next_game,
            history,
            rater,
        })
    }

    /// Serves until `shutdown` and the end of the last game.
    ///
    /// # Errors
    /// When the database has failed.
    pub async fn serve(self, listeners: Vec<TcpListener>, shutdown: Shutdown) -> Result<(), StoreError> {
        let (matches, mut arranged) = mpsc::unbounded_channel();
        let transcripts = Transcripts::new(self.journal.sink());
        let mut lobby =
            Lobby::new(self.config.clone(), self.roster.clone(), self.next_game, matches, transcripts);
        lobby.record_files = self.record_files.clone();
        lobby.history = self.history.clone();
        lobby.know(self.buoys);
        let context = HostContext::new(&self.config, lobby, self.admission);
        let (connections, games) = (TaskTracker::new(), TaskTracker::new());
        let lag = Arc::new(SchedulerLag::default());
        let measured = lag.clone();
        let measuring = tokio::spawn(async move { measured.measure().await });
        let adjourn = shutdown.adjourning().clone();
        let league = LeagueContext { context: context.clone(), sink: self.journal.sink(), lag, adjourn };
        let counts = Arc::new(Counts::default());
        for listener in listeners {
            let accepting = accept(listener, context.clone(), counts.clone(), connections.clone());
            let finish = shutdown.finishing().clone();
            connections.spawn(async move { finish.run_until_cancelled_owned(accepting).await });
        }
        for schedule in &self.config.rounds {
            let keeping = rounds::keep(schedule.clone(), context.clone());
            connections.spawn(shutdown.finishing().clone().run_until_cancelled_owned(keeping));
        }
        loop {
            tokio::select! { biased;
                () = shutdown.finishing().cancelled() => break,
                Some(arranged) = arranged.recv() => {
                    games.spawn(host(arranged, league.clone()));
                }
            }
        }
        context.lobby().close();
        while let Ok(arranged) = arranged.try_recv() {
            games.spawn(host(arranged, league.clone()));
        }
        games.close();
        games.wait().await;
        measuring.abort();
        connections.close();
        let _strangers_stay_behind = tokio::time::timeout(FAREWELL, connections.wait()).await;
        let kept = self.journal.finish().map(drop);
        self.record_files.close();
        self.filing.map(JoinHandle::join);
        self.history.close();
        let _panic_printed = self.rater.join();
        kept
    }
}

/// The plan as reports read it: one stage in which anybody meets anybody. Its players come and go.
#[must_use]
pub fn plan(config: &ServeConfig) -> serde_json::Value {
    let stage = Stage { format: Format::RoundRobin { cycles: 1 }, games: 1, entrants: None };
    serde_json::json!({ "name": config.name, "stages": [stage], "sprt": null, "engines": [], "serve": config })
}

/// What every game of the league needs.
#[derive(Clone)]
struct LeagueContext {
    context: HostContext,
    sink: Arc<dyn Sink>,
    lag: Arc<SchedulerLag>,
    adjourn: CancellationToken,
}

/// Plays one game and takes it off the list.
async fn host(arranged: ArrangedGame, league: LeagueContext) {
    let ArrangedGame { fixture, mut seats } = arranged;
    let game = fixture.setup.game;
    let context = GameContext { sink: &*league.sink, lag: &league.lag, stop: &league.adjourn };
    let outcome = play(fixture, &mut seats, context).await;
    league.context.lobby().over(game, outcome.ok());
}

/// Lets connections in, within the limits.
async fn accept(listener: TcpListener, context: HostContext, counts: Arc<Counts>, connections: TaskTracker) {
    loop {
        let Ok((socket, peer)) = listener.accept().await else {
            tokio::time::sleep(REFUSED).await;
            continue;
        };
        let Some(counted) = Counts::enter(&counts, peer.ip(), &context.limits) else { continue };
        if prepare(&socket).is_ok() {
            let context = context.clone();
            connections.spawn(async move {
                let _counted = counted;
                attend(socket, context).await;
            });
        }
    }
}

/// Moves are small and wait for nothing; a dead peer is found out.
fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let keepalive = socket2::TcpKeepalive::new()
        .with_time(Duration::from_secs(60))
        .with_interval(Duration::from_secs(10))
        .with_retries(6);
    socket2::SockRef::from(socket).set_tcp_keepalive(&keepalive)
}

/// Connections by address.
#[derive(Debug, Default)]
struct Counts(Mutex<HashMap<IpAddr, usize>>);

/// One connection in the count, until it is dropped.
struct Counted {
    counts: Arc<Counts>,
    address: IpAddr,
}

impl Counts {
    fn enter(counts: &Arc<Self>, address: IpAddr, limits: &Limits) -> Option<Counted> {
        let mut known = counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let total: usize = known.values().sum();
        let here = known.entry(address).or_default();
        if total >= limits.connections || *here >= limits.connections_per_address {
            return None;
        }
        *here += 1;
        Some(Counted { counts: counts.clone(), address })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut known = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(here) = known.get_mut(&self.address) {
            *here -= 1;
            if *here == 0 {
                known.remove(&self.address);
            }
        }
    }
}

/// The thread that rates.
fn rate(
    path: &Path,
    event: EventId,
    config: Arc<ServeConfig>,
    history: RatingHistory,
    roster: Arc<Roster>,
) -> Result<JoinHandle<()>, StoreError> {
    let file = path.to_owned();
    spawn("ratings", path, move || ratings::keep(&config, &history, &roster, &file, |_| Some(event)))
}

fn spawn<T: Send + 'static>(
    name: &str,
    path: &Path,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, StoreError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|source| StoreError::Thread { path: path.to_owned(), source: Arc::new(source) })
}

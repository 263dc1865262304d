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

mod connection;
mod door;
mod entrants;
pub mod event;
mod filing;
mod grace;
mod ledger;
mod lobby;

pub mod ratings;
mod roster;
pub mod rounds;
mod spectators;
mod waits;

use arena::Shutdown;
use arena::play::{Surroundings, play};
use arena::pulse::Pulse;
use connection::{Hall, attend};
use door::Door;
use filing::Filer;
use journal::bus::{self, Bus};
use journal::{Asides, EventHead, EventId, Moves, Store, StoreError, StoredBuoy, Writer};
pub use ledger::Ledger;
use lobby::{Lobby, Match};
use plan::{
    StoredPlan,
    serve::{Limits, ServeConfig},
};
use referee::event::{GameId, Stamped};
use roster::Roster;
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
    bus: Arc<Bus>,
    roster: Arc<Roster>,
    door: Door,
    buoys: Vec<StoredBuoy>,
    asides: Asides,
    filer: Filer,
    filing: Option<JoinHandle<()>>,
    next_game: GameId,
    ledger: Ledger,
    keeper: JoinHandle<Result<(), StoreError>>,
    rater: JoinHandle<()>,
}

impl League {
    /// Opens the event in the database, or takes it up again. The `ledger` is that of a league that has not begun;
    /// `show` is given what was committed; `shutdown` is called when the database fails.
    ///
    /// # Errors
    /// When the database cannot be written, or another process has the event.
    pub fn open(
        config: ServeConfig,
        ledger: Ledger,
        shutdown: &Shutdown,
        mut show: impl FnMut(Vec<Stamped>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let path = config.database.clone();
        let plan = StoredPlan::of_league(&config).to_json();
        let mut store = Store::open(&path)?;
        let head = EventHead { name: &config.name, kind: "serve", plan: &plan, fingerprint: "{}" };
        let opened = store.open_event(&head)?;
        let known = store.events()?.into_iter().find(|event| event.id == opened.event);
        let players = known.map(|event| event.players).unwrap_or_default();
        let door = Door::new(&config, &path)?;
        let (bus, roster) = (Arc::new(Bus::default()), Arc::new(Roster::new(players.clone())));
        bus.happened(roster::opened(&config.name, players, opened.resumed));
        store.replay(opened.event, Moves::Without, &mut |stamped| ledger.fold(stamped))?;
        let buoys = store.buoys(opened.event)?;
        let thread = |source| StoreError::Thread { path: path.clone(), source: Arc::new(source) };
        let open = |records| Filer::open(records, path.clone(), config.name.clone());
        let filing = config.records.clone().map(open).transpose().map_err(thread)?;
        let (filer, filing) = filing.map_or_else(Default::default, |(filer, thread)| (filer, Some(thread)));
        let told = filer.clone();
        let writer = store.into_writer(opened.event, move |batch| {
            told.committed(&batch);
            show(batch);
        })?;
        let (name, asides) = (config.name.clone(), Asides::default());
        let keeper = Keeper {
            name,
            bus: bus.clone(),
            roster: roster.clone(),
            ledger: ledger.clone(),
            asides: asides.clone(),
            writer,
        };
        let keeper = keep(&path, keeper, shutdown.clone())?;
        let (config, next_game) = (Arc::new(config), opened.next_game);
        let rater = rate(&path, opened.event, config.clone(), ledger.clone(), roster.clone())?;
        Ok(Self { config, bus, roster, door, buoys, asides, filer, filing, next_game, ledger, keeper, rater })
    }

    /// Serves until it is told to end and the last game is over.
    ///
    /// # Errors
    /// When the database has failed.
    pub async fn serve(self, listeners: Vec<TcpListener>, shutdown: Shutdown) -> Result<(), StoreError> {
        let (matches, mut arranged) = mpsc::unbounded_channel();
        let mut lobby = Lobby::new(self.config.clone(), self.roster.clone(), self.next_game, matches);
        (lobby.asides, lobby.filer) = (self.asides, self.filer.clone());
        lobby.ledger = self.ledger.clone();
        lobby.know(self.buoys);
        let hall = Hall::new(&self.config, lobby, self.door);
        let (connections, games) = (TaskTracker::new(), TaskTracker::new());
        let pulse = Arc::new(Pulse::default());
        let beating = pulse.clone();
        let beat = tokio::spawn(async move { beating.beat().await });
        let amid =
            Amid { hall: hall.clone(), bus: self.bus.clone(), pulse, adjourn: shutdown.adjourn.clone() };
        let counts = Arc::new(Counts::default());
        for listener in listeners {
            let accepting = accept(listener, hall.clone(), counts.clone(), connections.clone());
            let finish = shutdown.finish.clone();
            connections.spawn(async move { finish.run_until_cancelled_owned(accepting).await });
        }
        for schedule in &self.config.rounds {
            let keeping = rounds::keep(schedule.clone(), hall.clone(), self.bus.clone());
            connections.spawn(shutdown.finish.clone().run_until_cancelled_owned(keeping));
        }
        loop {
            tokio::select! { biased;
                () = shutdown.finish.cancelled() => break,
                Some(arranged) = arranged.recv() => {
                    games.spawn(host(arranged, amid.clone()));
                }
            }
        }
        hall.lobby().close();
        while let Ok(arranged) = arranged.try_recv() {
            games.spawn(host(arranged, amid.clone()));
        }
        games.close();
        games.wait().await;
        beat.abort();
        connections.close();
        let _strangers_stay_behind = tokio::time::timeout(FAREWELL, connections.wait()).await;
        self.bus.note(bus::Note::Stop { adjourn: false });
        let kept = self.keeper.join().unwrap_or(Ok(()));
        self.filer.close();
        self.filing.map(JoinHandle::join);
        self.ledger.close();
        let _panicked_already_told = self.rater.join();
        kept
    }
}

/// What every game of the league is played amid.
#[derive(Clone)]
struct Amid {
    hall: Hall,
    bus: Arc<Bus>,
    pulse: Arc<Pulse>,
    adjourn: CancellationToken,
}

/// Plays one game and takes it off the list.
async fn host(arranged: Match, amid: Amid) {
    let Match { table, mut seats } = arranged;
    let game = table.setup.game;
    let surroundings = Surroundings { bus: &amid.bus, pulse: &amid.pulse, stop: &amid.adjourn };
    let outcome = play(table, &mut seats, surroundings).await;
    amid.hall.lobby().over(game, outcome.ok());
}

/// Lets connections in, within the limits.
async fn accept(listener: TcpListener, hall: Hall, counts: Arc<Counts>, connections: TaskTracker) {
    loop {
        let Ok((socket, peer)) = listener.accept().await else {
            tokio::time::sleep(REFUSED).await;
            continue;
        };
        let Some(counted) = Counts::enter(&counts, peer.ip(), &hall.limits) else { continue };
        if prepare(&socket).is_ok() {
            let hall = hall.clone();
            connections.spawn(async move {
                let _counted = counted;
                attend(socket, hall).await;
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

/// What goes from the bus to the store.
struct Keeper {
    name: String,
    bus: Arc<Bus>,
    roster: Arc<Roster>,
    ledger: Ledger,
    asides: Asides,
    writer: Writer,
}

/// The thread that brings everything from the bus to the store.
fn keep(
    path: &Path,
    keeper: Keeper,
    shutdown: Shutdown,
) -> Result<JoinHandle<Result<(), StoreError>>, StoreError> {
    let work = move || {
        let kept = keeper.pump().and_then(|()| keeper.writer.finish().map(drop));
        if kept.is_err() {
            shutdown.finish.cancel();
            shutdown.adjourn.cancel();
        }
        kept
    };
    spawn("events", path, work)
}

/// The thread that rates.
fn rate(
    path: &Path,
    event: EventId,
    config: Arc<ServeConfig>,
    ledger: Ledger,
    roster: Arc<Roster>,
) -> Result<JoinHandle<()>, StoreError> {
    let file = path.to_owned();
    spawn("ratings", path, move || ratings::keep(&config, &ledger, &roster, &file, |_| Some(event)))
}

fn spawn<T: Send + 'static>(
    name: &str,
    path: &Path,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, StoreError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|source| StoreError::Thread { path: path.to_owned(), source: Arc::new(source) })
}

impl Keeper {
    fn pump(&self) -> Result<(), StoreError> {
        let mut notes = Vec::new();
        loop {
            self.bus.drain(&mut notes);
            let mut batch: Vec<Stamped> = vec![];
            // Players come before the first game they are in; they are entered before that game begins.
            batch.extend(self.roster.news(&self.name).map(|event| Stamped { at: bus::now(), event }));
            let mut over = false;
            for note in notes.drain(..) {
                match note {
                    bus::Note::Event(stamped) => batch.push(stamped),
                    bus::Note::Stop { .. } => over = true,
                    bus::Note::Free(_) => {}
                }
            }
            batch.iter().for_each(|stamped| self.ledger.fold(stamped));
            self.writer.write(batch)?;
            self.writer.keep(self.asides.take())?;
            if over {
                return Ok(());
            }
        }
    }
}

//! The thread that answers questions which need the store, one at a time, behind a bounded queue.

use crate::{Site, archive::Found, catalogue::Catalogue, server::yield_to_games};
use journal::{EventSummary, Store, StoreError, now};
use referee::entry::GameId;
use report::{EventHistory, EventHistoryError, event_info, plan};
use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, PoisonError, mpsc},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Questions that wait.
const QUEUE: usize = 128;
/// Least age of a history, or of the list of the newest games, before it is made anew.
pub const FRESH: Duration = Duration::from_secs(1);

/// Longest wait for a question before the desk looks for games that ended.
const IDLE: Duration = Duration::from_millis(200);

type Question = Box<dyn FnOnce(&mut Desk) + Send>;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// Too many questions wait.
    #[error("too many viewers ask at once; try again in a few seconds")]
    Busy,
    /// The event has not begun.
    #[error("the event has not begun yet")]
    NotYet,
    /// There is no such thing.
    #[error("{0}")]
    Missing(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Wrong(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored plan.
    #[error(transparent)]
    History(#[from] EventHistoryError),
    /// A record.
    #[error(transparent)]
    Records(#[from] records::RecordsError),
    /// The database, by a query of this crate.
    #[error("the database could not be read: {0}")]
    Sql(#[from] rusqlite::Error),
}

/// What answers questions.
pub struct Desk {
    site: Site,
    database: PathBuf,
    open: Option<(Store, EventSummary)>,
    /// The games that are over, as searches need them.
    pub catalogue: Catalogue,
    /// The newest games, and when they were searched for.
    pub newest: Option<(Instant, Found)>,
    history: Option<(Instant, Duration, u64, Arc<EventHistory>)>,
}

/// The queue before the desk.
#[derive(Clone)]
pub struct Questions(mpsc::SyncSender<Question>);

impl fmt::Debug for Questions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questions").finish_non_exhaustive()
    }
}

/// Makes the queue; the desk is opened with its other end.
pub fn queue() -> (Questions, mpsc::Receiver<Question>) {
    let (sender, receiver) = mpsc::sync_channel(QUEUE);
    (Questions(sender), receiver)
}

/// Opens the desk.
pub fn open(
    site: Site,
    questions: mpsc::Receiver<Question>,
    stop: Arc<std::sync::atomic::AtomicBool>,
) -> std::io::Result<JoinHandle<()>> {
    thread::Builder::new().name("web-store".to_owned()).spawn(move || {
        yield_to_games();
        let database = site.database().to_owned();
        let mut desk =
            Desk { site, database, open: None, catalogue: Catalogue::default(), newest: None, history: None };
        let mut pause = IDLE;
        while !stop.load(std::sync::atomic::Ordering::Acquire) {
            match questions.recv_timeout(pause) {
                Ok(question) => question(&mut desk),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    pause = if desk.prepare() { Duration::from_millis(1) } else { IDLE };
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
    })
}

impl Questions {
    /// Asks, and waits for the answer without holding up anybody else.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Desk) -> Result<T, NoAnswer> + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let (sender, receiver) = oneshot::channel();
        let asked: Question = Box::new(move |desk| {
            // Whoever has gone away meanwhile costs nothing more.
            if !sender.is_closed() {
                let _gone = sender.send(question(desk));
            }
        });
        self.0.try_send(asked).map_err(|_| NoAnswer::Busy)?;
        receiver.await.map_err(|_| NoAnswer::Busy)?
    }
}

impl Desk {
    /// The store and the event.
    pub fn store(&mut self) -> Result<(&Store, &EventSummary), NoAnswer> {
        if self.open.is_none() {
            if !self.database.exists() {
                return Err(NoAnswer::NotYet);
            }
            let store = Store::read(&self.database)?;
            let event = store.events()?.into_iter().find(|event| event.name == self.site.event());
            self.open = Some((store, event.ok_or(NoAnswer::NotYet)?));
        }
        let (store, event) = self.open.as_ref().ok_or(NoAnswer::NotYet)?;
        Ok((store, event))
    }

    /// The site.
    pub fn site(&self) -> Site {
        self.site.clone()
    }

    /// The history of the event as far as viewers may see it, made anew at most once a second, and less often where it
    /// takes long.
    pub fn history(&mut self) -> Result<Arc<EventHistory>, NoAnswer> {
        let shared = self.site.0.clone();
        let seq =
            shared.live.read().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(0, |live| live.seq);
        if let Some((at, took, known, history)) = &self.history
            && (*known == seq || at.elapsed() < FRESH.max(8 * *took))
        {
            return Ok(history.clone());
        }
        let begun = Instant::now();
        let (fold, ids, closed, running, private) = {
            let live = shared.live.read().unwrap_or_else(PoisonError::into_inner);
            let live = live.as_ref().ok_or(NoAnswer::NotYet)?;
            let running: BTreeMap<u64, ()> = live.games.keys().map(|game| (game.0, ())).collect();
            (live.fold.clone(), live.ids.clone(), live.closed, running, live.private.clone())
        };
        let (store, event) = self.store()?;
        let event = EventSummary { players: ids, closed, ..event.clone() };
        let info = event_info(&event, plan(&event)?);
        let mut history = fold.read(&info, store, &event)?;
        let is_private = |game: u64| private.contains(&GameId(game));
        let report = &mut history.report;
        report.failures.retain(|failure| !running.contains_key(&failure.game) && !is_private(failure.game));
        report.operations.retain(|operation| !operation.game.is_some_and(is_private));
        let history = Arc::new(history);
        self.history = Some((Instant::now(), begun.elapsed(), seq, history.clone()));
        Ok(history)
    }

    /// The latest end of a game that viewers may know of, in ms since 1970-01-01 UTC.
    pub fn horizon(&self) -> i64 {
        match self.site.config().delay {
            plan::http::Delay::Time(delay) => now() - i64::try_from(delay.as_millis()).unwrap_or(i64::MAX),
            _ => i64::MAX,
        }
    }
}

//! Questions that need the store. They wait for their turn, by address: the address that has used the store least goes first.

use crate::{
    Site,
    live::Live,
    questions::{KeptHistory, Open},
    refusals::Refusal,
    site::asker,
    turns::yield_to_games,
};
use axum::http::StatusCode;
use journal::{EventSummary, Store, StoreError, now};
use referee::entry::GameId;
use report::{EventHistory, EventHistoryError, PlayedBy, event_info, plan};
use std::{
    collections::HashSet,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use words::{Language, Message};

/// Least age of a history, or of the list of the newest games, before it is made anew.
pub const FRESH: Duration = Duration::from_secs(1);

/// Pause between two looks for games that ended, and between two parts of their first moves.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_millis(1)];

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// Too many questions wait.
    #[error("{}", Language::English.too_many_viewers())]
    Busy,
    /// The event has not begun.
    #[error("{}", Language::English.not_begun())]
    NotYet,
    /// There is no such thing.
    #[error("{0}")]
    Missing(Message),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Wrong(Message),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The stored plan.
    #[error(transparent)]
    History(#[from] EventHistoryError),
    /// A record.
    #[error(transparent)]
    Records(#[from] records::RecordsError),
}

impl From<NoAnswer> for Refusal {
    /// Faults of the database are for the operator: they name paths.
    fn from(error: NoAnswer) -> Self {
        match error {
            NoAnswer::Busy => Self::new(StatusCode::SERVICE_UNAVAILABLE, Language::too_many_viewers),
            NoAnswer::NotYet => Self::new(StatusCode::SERVICE_UNAVAILABLE, Language::not_begun),
            NoAnswer::Missing(message) => Self::new(StatusCode::NOT_FOUND, |language| message.text(language)),
            NoAnswer::Wrong(message) => Self::bad(|language| message.text(language)),
            fault => Self::fault(&fault),
        }
    }
}

/// What answers a question.
pub struct Desk {
    site: Site,
    open: Open,
}

impl Site {
    /// Asks the store for the address of the request that is answered now, on a thread of its own.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Desk) -> Result<T, NoAnswer> + Send + 'static,
    ) -> Result<T, NoAnswer> {
        self.ask_for(asker(), question).await
    }

    /// Asks the store for an address, and waits for the answer without holding up anybody else.
    pub(crate) async fn ask_for<T: Send + 'static>(
        &self,
        origin: IpAddr,
        question: impl FnOnce(&mut Desk) -> Result<T, NoAnswer> + Send + 'static,
    ) -> Result<T, NoAnswer> {
        let site = self.clone();
        let turn = site.0.questions.turns.take(origin).await.ok_or(NoAnswer::Busy)?;
        let work = move || {
            let answer = site.at_desk(question);
            // The turn takes as long as the work, also when the asker has gone away.
            drop(turn);
            answer
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| NoAnswer::Busy)?
    }

    /// Works with a desk, on a thread that may wait.
    fn at_desk<T>(self, work: impl FnOnce(&mut Desk) -> T) -> T {
        yield_to_games();
        let open = self.0.questions.open.lock().pop().flatten();
        let mut desk = Desk { site: self, open };
        let done = work(&mut desk);
        // Hundreds of events that are over would have hundreds of files open.
        let mut idle = desk.site.0.questions.open.lock();
        match desk.site.is_settled() {
            true => idle.clear(),
            false => idle.push(desk.open),
        }
        drop(idle);
        done
    }
}

/// Reads what searches need before they are asked for, a part at a time, for as long as the pages are served.
pub async fn prepare(site: Site) {
    loop {
        let (asked, is_settled) = (site.clone(), site.is_settled());
        let prepared = tokio::task::spawn_blocking(move || asked.at_desk(Desk::prepare)).await;
        let is_ready = prepared.unwrap_or(Ok(true)).unwrap_or_else(|error| {
            tracing::debug!("the games for the pages could not be read: {error}");
            true
        });
        if is_ready && is_settled {
            return;
        }
        tokio::time::sleep(PAUSES[usize::from(!is_ready)]).await;
    }
}

impl Desk {
    /// The store and the event.
    pub fn store(&mut self) -> Result<(&Store, &EventSummary), NoAnswer> {
        if self.open.is_none() {
            if !self.site.database().exists() {
                return Err(NoAnswer::NotYet);
            }
            let store = Store::read(self.site.database())?;
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
        let (seq, closed) = self.site.now(|live| (live.seq, live.closed)).unwrap_or_default();
        // Others who ask meanwhile wait for the same history.
        let mut kept = shared.questions.history.lock();
        // An event that is over hardly changes, and is not shown with games that are missing.
        let is_fresh = |kept: &&KeptHistory| {
            kept.seq == seq || !closed && kept.made.elapsed() < FRESH.max(8 * kept.took)
        };
        if let Some(kept) = kept.as_ref().filter(is_fresh) {
            return Ok(kept.history.clone());
        }
        let begun = Instant::now();
        let now = |live: &Live| {
            (live.fold.clone(), live.ids.clone(), live.closed, live.running(), live.private.clone())
        };
        let (fold, ids, closed, running, private) = self.site.now(now).ok_or(NoAnswer::NotYet)?;
        let until = self.horizon();
        let (store, event) = self.store()?;
        let event = EventSummary { players: ids, closed, ..event.clone() };
        let info = event_info(&event, plan(&event)?);
        let mut history = fold.read(&info, store, &event)?;
        // After the history, so that no game ends in between and is in it alone.
        let unseen =
            if until == i64::MAX { HashSet::new() } else { store.games_ended_after(event.id, until)? };
        let is_private = |game: u64| private.contains(&GameId(game));
        let is_shown = |game: u64| {
            let id = GameId(game);
            !running.contains(&id) && !unseen.contains(&id) && !is_private(game)
        };
        let report = &mut history.report;
        // Between two games of an event that is played none runs, either.
        report.sprt.iter_mut().for_each(|test| test.stopped = false);
        report.precision.iter_mut().for_each(|precision| precision.stopped = false);
        report.played_by.iter_mut().for_each(PlayedBy::without_directories);
        report.failures.retain(|failure| is_shown(failure.game));
        report.operations.retain(|done| done.at <= until && !done.game.is_some_and(is_private));
        let history = Arc::new(history);
        *kept =
            Some(KeptHistory { history: history.clone(), seq, made: Instant::now(), took: begun.elapsed() });
        Ok(history)
    }

    /// The latest end of a game that viewers may know of, in ms since 1970-01-01 UTC.
    pub fn horizon(&self) -> i64 {
        self.site.config().delay.horizon(now())
    }
}

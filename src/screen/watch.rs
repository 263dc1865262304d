//! `renmei watch`: shows an event that another process plays, or that is over, by polling its database.

use super::{Past, archive, has_terminal, info, machines, no_thread, save};
use crate::cli::WatchArgs;
use crate::commands::{Exit, Failure, find_event};
use client::{self, ratings::stored_scale};
use dashboard::{Feed, Setting};
use journal::{EventId, EventSummary, Moves, RatingRow, Store, StoreError};
use plan::StoredPlan;
use referee::{
    entry::{Entry, GameId, Moved, Stamped},
    rating::{Estimate, LookUp, Scale},
};
use std::{
    collections::BTreeMap,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

/// Least time between two polls.
const PAUSE: Duration = Duration::from_millis(400);

/// Shows an event of a database.
pub fn watch(args: &WatchArgs) -> Result<Exit, Failure> {
    if !has_terminal() {
        return Err(Failure::Usage(
            "`watch` needs a terminal; use `renmei report` to print a report".to_owned(),
        ));
    }
    let store = Store::read(&args.db)?;
    let events = store.events()?;
    let event = find_event(&events, args.event.as_deref())?;
    let archive = archive(args.db.clone(), event.name.clone(), Some(event.id));
    let save = save(args.db.clone(), event.name.clone());
    let plan = report::plan(event)?;
    let scale = scale(args.db.clone(), event, &plan);
    let setting = Setting {
        info: info(event.name.clone(), plan),
        before: vec![],
        archive,
        save,
        scale,
        machines: machines(args.db.clone(), event.name.clone()),
        // Only the program that plays the event hears of these.
        elsewhere: None,
        watching: true,
    };
    let (feed, inbox) = dashboard::feed::pair();
    let screen = dashboard::Dashboard::open(setting, inbox).map_err(no_thread)?;
    Watcher { store, event: event.id, seen: 0, version: None, running: BTreeMap::new() }.poll(&feed)?;
    drop(screen);
    Ok(Exit::Done)
}

/// Ratings as stored by the event's own process.
fn scale(db: PathBuf, event: &EventSummary, plan: &StoredPlan) -> Option<LookUp> {
    let (id, plan, mut store) = (event.id, plan.clone(), None);
    match event.kind.as_str() {
        "serve" => Some(Box::new(move |_, _| {
            store = store.take().or_else(|| Store::read(&db).ok());
            let rows = store.as_ref().and_then(|store| store.ratings(id).ok()).unwrap_or_default();
            let rating = |row: &RatingRow| Estimate::Measured { value: row.rate, error: row.error };
            let ratings = rows.iter().map(|row| (row.player, rating(row))).collect();
            Scale { ratings, words: String::new() }
        })),
        client::KIND => Some(Box::new(move |standings, players| stored_scale(&plan, players, standings))),
        _ => None,
    }
}

struct Watcher {
    store: Store,
    event: EventId,
    /// Number of entries of the log already shown.
    seen: usize,
    /// SQLite's data version at the last poll; it changes with other connections' commits.
    version: Option<i64>,
    /// Games without an end, and the last ply shown of each.
    running: BTreeMap<GameId, u32>,
}

impl Watcher {
    /// Polls until the dashboard is closed.
    fn poll(mut self, feed: &Feed) -> Result<(), StoreError> {
        while !feed.is_closed() {
            let begun = Instant::now();
            let version: Option<i64> =
                self.store.connection().query_row("PRAGMA data_version", [], |row| row.get(0)).ok();
            if self.version.is_none() || version != self.version {
                self.version = version;
                feed.send(self.news()?);
            }
            // A large event takes long to read, so it is read less often.
            let pause = PAUSE.max(4 * begun.elapsed());
            let until = Instant::now() + pause;
            while !feed.is_closed() && Instant::now() < until {
                thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(())
    }

    /// Entries since the last poll.
    fn news(&mut self) -> Result<Vec<Stamped>, StoreError> {
        let (mut log, mut past, mut at) = (vec![], Past::default(), 0);
        let first_poll = self.seen == 0;
        self.store.replay(self.event, Moves::Without, &mut |stamped| {
            match at >= self.seen {
                true if first_poll => past.take(stamped),
                true => log.push(stamped.clone()),
                false => {}
            }
            at += 1;
        })?;
        log.extend(past.events());
        self.seen = at;
        let mut news = Vec::with_capacity(log.len());
        for stamped in log {
            match &stamped.entry {
                Entry::GameStarted(started) => _ = self.running.insert(started.game, 0),
                Entry::GameEnded(end) => {
                    let shown = self.running.remove(&end.game);
                    // On the first poll, finished games are left to the archive.
                    if let Some(shown) = shown.filter(|_| !first_poll) {
                        self.moves(end.game, shown, &mut news)?;
                    }
                }
                _ => {}
            }
            news.push(stamped);
        }
        for (game, shown) in self.running.clone() {
            let last = self.moves(game, shown, &mut news)?;
            self.running.insert(game, last);
        }
        Ok(news)
    }

    /// Appends the moves of a game after the ply `shown` to `news`; returns the last ply.
    fn moves(&self, game: GameId, shown: u32, news: &mut Vec<Stamped>) -> Result<u32, StoreError> {
        let found = self.store.game(self.event, game)?;
        let moves = found.map(|game| game.moves).unwrap_or_default();
        let new = |(_, moved): &(i64, Moved)| moved.ply > shown;
        let last = moves.last().map_or(shown, |(_, moved)| moved.ply);
        news.extend(
            moves.into_iter().filter(new).map(|(at, moved)| Stamped { at, entry: Entry::Moved(moved) }),
        );
        Ok(last)
    }
}

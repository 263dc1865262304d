//! `renmei watch`: shows an event that another process plays, or that is over, by polling its database.

use super::{Exit, Failure, database, find_event};
use crate::screen::{EventSource, has_terminal, no_thread, past};
use clap::Args;
use client::{self, ratings::stored_scale};
use contest::standings::{LookUp, Scale};
use dashboard::{EventInfo, Feed, Setting};
use journal::{EventSummary, Follower, RatingRow, Store, StoreError};
use plan::StoredPlan;
use referee::rating::Estimate;
use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};
use words::Language;

#[derive(Clone, Debug, Args)]
pub struct WatchArgs {
    /// The database; by default the one in the current directory, or the newest of several.
    pub db: Option<PathBuf>,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
}

/// Least time between two polls.
const PAUSE: Duration = Duration::from_millis(400);

/// Shows an event of a database.
pub fn watch(args: &WatchArgs, language: Language) -> Result<Exit, Failure> {
    if !has_terminal() {
        return Err(Failure::Usage(
            "`watch` needs a terminal; use `renmei report` to print a report".to_owned(),
        ));
    }
    let database = database(args.db.as_deref())?;
    let store = Store::read(&database)?;
    let events = store.events()?;
    let event = find_event(&events, args.event.as_deref())?;
    let plan = report::plan(event)?;
    let scale = scale(database.clone(), event, &plan, language);
    let name = event.name.clone();
    // Only the program that plays the event hears of the boards of other machines.
    let source = EventSource { database, name, open: None, scale, boards: None };
    let info = EventInfo { name: event.name.clone(), ..EventInfo::of_stored(plan) };
    let setting = Setting { info, before: vec![], source: Box::new(source), watching: true, language };
    let (feed, inbox) = dashboard::feed::pair();
    let screen = dashboard::Dashboard::open(setting, inbox).map_err(no_thread)?;
    let event = event.id;
    poll(Follower::new(store, event), &feed)?;
    drop(screen);
    Ok(Exit::Done)
}

/// Ratings as stored by the event's own process.
fn scale(db: PathBuf, event: &EventSummary, plan: &StoredPlan, words: Language) -> Option<LookUp> {
    let (id, plan, mut store) = (event.id, plan.clone(), None);
    match event.kind.as_str() {
        "serve" => Some(Box::new(move |_, _| {
            store = store.take().or_else(|| Store::read(&db).ok());
            let rows = store.as_ref().and_then(|store| store.ratings(id).ok()).unwrap_or_default();
            let rating = |row: &RatingRow| Estimate::Measured { value: row.rate, error: row.error };
            let ratings = rows.iter().map(|row| (row.player, rating(row))).collect();
            Scale { ratings, words: String::new() }
        })),
        client::KIND => {
            Some(Box::new(move |standings, players| stored_scale(&plan, players, standings, words)))
        }
        _ => None,
    }
}

/// Sends what was committed since the last look until the dashboard is closed, or the database is gone.
fn poll(mut follower: Follower, feed: &Feed) -> Result<(), StoreError> {
    let mut begun = Instant::now();
    feed.send(past(&mut follower)?);
    loop {
        // A large event takes long to read, so it is read less often.
        let until = Instant::now() + PAUSE.max(4 * begun.elapsed());
        while Instant::now() < until {
            if feed.is_closed() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        begun = Instant::now();
        follower.store().check_place()?;
        let mut news = vec![];
        follower.look(&mut |_, _, stamped| news.push(stamped))?;
        feed.send(news);
    }
}

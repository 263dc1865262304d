//! Retention: while an open league is played, old games lose their moves and lines, on a thread of its own and a game at a
//! time, so that no running game waits for it. The space is used again by later games; the file does not shrink.

use super::game_threads::yield_to_games;
use arena::resting::{Rest, RestingThread};
use journal::{Bounds, EventId, StoreError, Writer, now};
use plan::serve::Retention;
use referee::entry::GameId;
use std::{io, path::PathBuf, time::Duration};

/// Time between two looks for old games.
const ROUND: Duration = Duration::from_secs(60);
/// Pause after each game, in which others write.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a game keeps its moves in any case: its record file and its last lines are still written.
const SETTLED_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;

/// The games that keep their moves at a time, in ms since 1970.
fn bounds(retention: Retention, now: i64) -> Bounds {
    let since = retention.days.map(|days| now - i64::from(days) * DAY_MS);
    Bounds { settled: now - SETTLED_MS, since, newest: retention.games }
}

/// Starts the thread that drops the moves of old games, where anything is to be dropped.
///
/// # Errors
/// When the system has no thread.
pub fn start(retention: Retention, database: PathBuf, event: EventId) -> io::Result<RestingThread> {
    if !retention.is_wanted() {
        return Ok(RestingThread::default());
    }
    RestingThread::start("retention", move |rest| {
        yield_to_games();
        let mut after = GameId(0);
        loop {
            if let Err(error) = round(retention, &database, event, &mut after, rest) {
                // The next round tries again; a failed disk ends the event by way of the journal.
                tracing::warn!(target: "host", %error, "old games were not pruned");
            }
            if rest.ends_within(ROUND) {
                return;
            }
        }
    })
}

/// Drops the moves of the games that are old now. Games are old in the order of their numbers, but for long ones, which
/// the first round of the next run finds.
fn round(
    retention: Retention,
    database: &PathBuf,
    event: EventId,
    after: &mut GameId,
    rest: &Rest,
) -> Result<(), StoreError> {
    let (store, bounds, mut dropped) = (Writer::open(database)?, bounds(retention, now()), 0_u64);
    while let Some(game) = store.prune_next(event, bounds, *after)? {
        (*after, dropped) = (game, dropped + 1);
        if rest.ends_within(PAUSE) {
            break;
        }
    }
    if dropped > 0 {
        tracing::info!(target: "host", games = dropped, "old games lost their moves");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_keeps_its_moves_for_its_days_and_for_a_minute_in_any_case() {
        let now = 100 * DAY_MS;
        let all = |days, games| bounds(Retention { days, games }, now);
        let Bounds { settled, since, newest } = all(Some(30), Some(7));
        assert_eq!((settled, since, newest), (now - 60_000, Some(70 * DAY_MS), Some(7)));
        let Bounds { since, newest, .. } = all(None, None);
        assert_eq!((since, newest), (None, None));
    }
}

//! Results of an event, counted by who met whom.

use super::{EventId, Store, StoreError, row};
use referee::{clock::TimeControl, entry::PlayerId};
use rusqlite::Row;

/// The games of one player with black against another, with the same clocks, on the same machine, within a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// Black.
    pub black: PlayerId,
    /// White.
    pub white: PlayerId,
    /// Time controls, black's first, where the plan does not have them.
    pub times: Option<Box<[TimeControl; 2]>>,
    /// The machine, if it was another than the manager's.
    pub machine: Option<String>,
    /// Day of the ends, counted from 1970-01-01 UTC; 0 where days are not told apart.
    pub day: i64,
    /// Games won by black, drawn, won by white.
    pub results: [u64; 3],
    /// Games with a known duration, and their seconds together.
    pub timed: (u64, f64),
}

/// Which games are counted, and how finely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Earliest end, in ms since 1970-01-01 UTC.
    pub since: i64,
    /// The end that is no longer within the span, in ms since 1970-01-01 UTC.
    pub until: i64,
    /// Whether days are told apart.
    pub by_day: bool,
}

impl Store {
    /// Hands the counts of the games of an event that count to `f`. One count is in memory at a time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tallies(&self, event: EventId, span: Span, mut f: impl FnMut(Tally)) -> Result<(), StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT black, white, times, machine,
                    CASE WHEN ?4 AND started_at IS NOT NULL THEN ended_at / 86400000 ELSE 0 END AS day,
                    sum(result = 'black'), sum(result = 'draw'), sum(result = 'white'),
                    sum(ended_at >= started_at), coalesce(sum(max(ended_at - started_at, 0)), 0) / 1000.0
                FROM games WHERE event = ?1 AND state = 'counted'
                    AND coalesce(ended_at, 0) >= ?2 AND coalesce(ended_at, 0) < ?3
                GROUP BY black, white, times, machine, day";
            let mut tallies = conn.prepare_cached(sql)?;
            let mut rows = tallies.query((event.0, span.since, span.until, span.by_day))?;
            while let Some(row) = rows.next()? {
                f(tally(row)?);
            }
            Ok(())
        })
    }
}

fn tally(row: &Row<'_>) -> rusqlite::Result<Tally> {
    Ok(Tally {
        black: PlayerId(row.get(0)?),
        white: PlayerId(row.get(1)?),
        times: row::times(row, 2)?,
        machine: row.get(3)?,
        day: row.get(4)?,
        results: [row::unsigned(row, 5)?, row::unsigned(row, 6)?, row::unsigned(row, 7)?],
        timed: (row.get::<_, Option<i64>>(8)?.unwrap_or_default().unsigned_abs(), row.get(9)?),
    })
}

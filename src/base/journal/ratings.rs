//! Ratings of a league.

use super::{
    EventId, Store, StoreError, Writer,
    row::{int, unsigned},
};
use referee::entry::PlayerId;
use rusqlite::Row;

/// Latest rating estimate of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatingRow {
    /// The player.
    pub player: PlayerId,
    /// Rating in Elo.
    pub rate: f64,
    /// Half the 95 % interval, where the method gives one.
    pub error: Option<f64>,
    /// Games behind the estimate.
    pub games: u64,
    /// End of the last of them, in ms since 1970-01-01 UTC.
    pub at: i64,
}

impl Store {
    /// Latest rating estimates of an event.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ratings(&self, event: EventId) -> Result<Vec<RatingRow>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT player, rate, error, games, at FROM ratings WHERE event = ?";
            conn.prepare_cached(sql)?.query_map([event.0], rating)?.collect()
        })
    }
}

impl Writer {
    /// Replaces the ratings of an event.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_ratings(&self, event: EventId, rows: &[RatingRow]) -> Result<(), StoreError> {
        self.database().write(|conn| {
            conn.execute("DELETE FROM ratings WHERE event = ?", [event.0])?;
            let mut insert = conn.prepare_cached("INSERT INTO ratings VALUES (?, ?, ?, ?, ?, ?)")?;
            for RatingRow { player, rate, error, games, at } in rows {
                insert.execute((event.0, player.0, rate, error, int(*games), at))?;
            }
            Ok(())
        })
    }
}

fn rating(row: &Row<'_>) -> rusqlite::Result<RatingRow> {
    Ok(RatingRow {
        player: PlayerId(row.get(0)?),
        rate: row.get(1)?,
        error: row.get(2)?,
        games: unsigned(row, 3)?,
        at: row.get(4)?,
    })
}

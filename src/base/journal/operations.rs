//! What the operator did, for reports.

use super::{EventId, Store, StoreError, row};
use referee::{
    entry::{GameId, PlayerId},
    operation::Operation,
};
use rusqlite::{Connection, Row};
use std::collections::BTreeSet;

impl Store {
    /// The operations of an event in their order, each with its time in ms since 1970-01-01 UTC.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn operations(&self, event: EventId) -> Result<Vec<(i64, Operation)>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT * FROM operations WHERE event = ? ORDER BY seq";
            conn.prepare_cached(sql)?.query_map([event.0], |row| Ok((row.get(2)?, stored(row)?)))?.collect()
        })
    }

    /// The players whom an arbiter has disqualified: their games are over, and count for nobody.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn disqualified(&self, event: EventId) -> Result<BTreeSet<PlayerId>, StoreError> {
        self.database().check(|conn| disqualified(conn, event.0))
    }

    /// The operations about a game in their order, until a time in ms since 1970-01-01 UTC.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn operations_about(
        &self,
        event: EventId,
        game: GameId,
        until: i64,
    ) -> Result<Vec<Operation>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT * FROM operations WHERE event = ? AND game = ? AND at <= ? ORDER BY number";
            conn.prepare_cached(sql)?.query_map((event.0, row::int(game.0), until), stored)?.collect()
        })
    }
}

/// The players whom an arbiter has disqualified: their games are over, and count for nobody.
pub(super) fn disqualified(conn: &Connection, event: i64) -> rusqlite::Result<BTreeSet<PlayerId>> {
    let sql = "SELECT * FROM operations WHERE event = ? AND action = 'disqualified' ORDER BY seq";
    let (mut orders, mut players) = (conn.prepare_cached(sql)?, BTreeSet::new());
    for order in orders.query_map([event], stored)? {
        order?.action.disqualifies(&mut players);
    }
    Ok(players)
}

/// An operation from a row of its table.
pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Operation> {
    let details: String = row.get("details")?;
    let unreadable = |error: serde_json::Error| row::bad(10, format!("what the operator did: {error}"));
    let action = serde_json::from_str(&details).map_err(unreadable)?;
    let undoes = row.get::<_, Option<i64>>(6)?.map(|_| row::unsigned(row, 6)).transpose()?;
    Ok(Operation { number: row::unsigned(row, 3)?, by: row.get(4)?, reason: row.get(5)?, undoes, action })
}

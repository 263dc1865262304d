//! Dropping the moves and lines of old games. Players, results, times and Game_IDs stay, and with them everything that
//! standings, ratings and the schedule are folded from.

use super::{EventId, Store, StoreError, Writer, now};
use referee::entry::GameId;
use rusqlite::{Connection, OptionalExtension};

/// Which games keep their moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Those that ended at this time or later keep them in any case, in ms since 1970-01-01 UTC: somebody may still
    /// read or write them.
    pub settled: i64,
    /// Those that ended at this time or later, in ms since 1970-01-01 UTC; `None`: all.
    pub since: Option<i64>,
    /// The newest games, by their numbers; `None`: all.
    pub newest: Option<u64>,
}

/// What games that lose their moves take up now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prunable {
    /// Games.
    pub games: u64,
    /// Their moves.
    pub moves: u64,
    /// Bytes of their moves' comments, their lines and their evidence.
    pub bytes: u64,
}

/// Games that are over, lie beyond the bounds and have their moves still. An adjourned game is not over before it was
/// played on: its position and its clocks are in its moves; nor is a replayed draw, whose clocks the next game may get.
const BEYOND: &str = "FROM games WHERE event = ?1 AND number > ?2 AND ended_at < ?5 AND pruned_at IS NULL
     AND (ended_at < ?3 OR number <= (SELECT max(number) FROM games WHERE event = ?1) - ?4)
     AND NOT (
         (replayed OR EXISTS (SELECT 1 FROM operations o
                              WHERE o.event = ?1 AND o.game = games.number AND o.action = 'adjourned'))
         AND NOT EXISTS (SELECT 1 FROM games later
                         WHERE later.event = ?1 AND later.stage = games.stage AND later.index_ = games.index_
                         AND later.attempt > games.attempt AND later.cause NOT IN ('stopped', 'not-started')))";

impl Store {
    /// What [`crate::Writer::prune_next`] would drop.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn prunable(&self, event: EventId, bounds: Bounds) -> Result<Prunable, StoreError> {
        let (since, newest) = bounds.values();
        let sql = format!(
            "SELECT count(*),
                coalesce(sum((SELECT count(*) FROM moves m WHERE m.game = g.id)), 0),
                coalesce(sum(length(evidence)), 0)
                + coalesce(sum((SELECT sum(60 + coalesce(length(pv), 0)) FROM moves m WHERE m.game = g.id)), 0)
                + coalesce(sum((SELECT sum(length(lines)) FROM wire w
                                WHERE w.event = g.event AND w.number = g.number)), 0)
                + coalesce(sum((SELECT sum(length(lines)) FROM engine_lines w
                                WHERE w.event = g.event AND w.number = g.number)), 0)
             FROM (SELECT id, event, number, evidence {BEYOND}) g"
        );
        self.database().check(|conn| {
            conn.query_row(&sql, (event.0, 0, since, newest, bounds.settled), |row| {
                let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
                Ok(Prunable { games: count(0)?, moves: count(1)?, bytes: count(2)? })
            })
        })
    }
}

impl Writer {
    /// Drops the moves and lines of the first such game after the number `after`, in one short transaction, and returns
    /// its number; `None` when there is none left.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn prune_next(
        &self,
        event: EventId,
        bounds: Bounds,
        after: GameId,
    ) -> Result<Option<GameId>, StoreError> {
        let (since, newest) = bounds.values();
        let sql = format!("SELECT id, number {BEYOND} ORDER BY number LIMIT 1");
        let after = super::row::int(after.0);
        let found = self.database().check(|conn| {
            let mut next = conn.prepare_cached(&sql)?;
            let ids = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
            next.query_row((event.0, after, since, newest, bounds.settled), ids).optional()
        })?;
        let Some((id, number)) = found else { return Ok(None) };
        self.database().write(|conn| drop_lines(conn, event, id, number))?;
        Ok(Some(GameId(number.unsigned_abs())))
    }

    /// Gives the space of what was dropped back to the system. Needs as much free space as the rest of the file.
    ///
    /// # Errors
    /// When another program uses the database, or the disk is full.
    pub fn vacuum(&self) -> Result<(), StoreError> {
        self.database().check(|conn| conn.execute_batch("VACUUM"))?;
        self.database().gather().map(drop)
    }

    /// Locks an event that nobody may play meanwhile, until this store is dropped; `None` if there is none of the name.
    ///
    /// # Errors
    /// [`StoreError::Running`] while a process plays the event; other variants when the database cannot be read.
    pub fn lock_event_named(&mut self, name: &str) -> Result<Option<EventId>, StoreError> {
        let Some(event) = self.event_named(name)? else { return Ok(None) };
        self.lock_event(event)?;
        Ok(Some(event))
    }
}

impl Bounds {
    /// The bounds as numbers: a time before every game, and more games than there can be.
    fn values(self) -> (i64, i64) {
        let newest = self.newest.map_or(i64::MAX, super::row::int);
        (self.since.unwrap_or(i64::MIN), newest)
    }
}

fn drop_lines(conn: &Connection, event: EventId, id: i64, number: i64) -> rusqlite::Result<()> {
    conn.prepare_cached("DELETE FROM moves WHERE game = ?")?.execute([id])?;
    for table in ["wire", "engine_lines", "comments", "variations", "judgements"] {
        let sql = format!("DELETE FROM {table} WHERE event = ? AND number = ?");
        conn.prepare_cached(&sql)?.execute([event.0, number])?;
    }
    // The first line of the evidence is the reason of the ending, which everybody is told. That of an imported game is its
    // origin, by which the next import knows it.
    let sql = "UPDATE games SET pruned_at = ?2,
               evidence = CASE (SELECT kind FROM events WHERE id = ?3) WHEN 'import' THEN evidence
                          ELSE substr(evidence, 1, instr(evidence || char(10), char(10)) - 1) END WHERE id = ?1";
    conn.prepare_cached(sql)?.execute((id, now(), event.0)).map(drop)
}

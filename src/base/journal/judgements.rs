//! What the judge of an event said of positions. It is no part of the log, and no seal covers it: nothing follows from it.

use crate::{EventId, row::int};
use referee::{
    Color,
    entry::{GameId, Judged, Score},
};
use rusqlite::Connection;

/// Writes an opinion; a second one of a position replaces the first.
pub(crate) fn store(
    at: i64,
    judged: &Judged,
    conn: &Connection,
    EventId(event): EventId,
) -> rusqlite::Result<()> {
    let Judged { game, ply, color, score, depth, nodes } = judged;
    let (cp, mate) = match score {
        Score::Cp(cp) => (Some(*cp), None),
        Score::Mate(plies) => (None, Some(*plies)),
    };
    let row = (event, int(game.0), ply, at, color.index() as i64, cp, mate, depth, nodes.map(int));
    conn.prepare_cached("INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(row)
        .map(drop)
}

/// The opinions of the positions of a game, in order.
pub(crate) fn of(game: GameId, conn: &Connection, event: EventId) -> rusqlite::Result<Vec<Judged>> {
    Ok(from(0, game, conn, event)?.into_iter().map(|(_, judged)| judged).collect())
}

/// The opinions of the positions of a game after so many plies or more, in order, each with its time.
pub(crate) fn from(
    ply: u32,
    game: GameId,
    conn: &Connection,
    EventId(event): EventId,
) -> rusqlite::Result<Vec<(i64, Judged)>> {
    let sql = "SELECT ply, color, score_cp, mate, depth, nodes, at FROM judgements \
         WHERE event = ? AND number = ? AND ply >= ? ORDER BY ply";
    let judged = |row: &rusqlite::Row<'_>| {
        let score = match row.get(2)? {
            Some(cp) => Score::Cp(cp),
            None => Score::Mate(row.get::<_, Option<i32>>(3)?.unwrap_or_default()),
        };
        let color = if row.get::<_, i64>(1)? == 0 { Color::Black } else { Color::White };
        let nodes = row.get::<_, Option<i64>>(5)?.map(i64::unsigned_abs);
        let judged = Judged { game, ply: row.get(0)?, color, score, depth: row.get(4)?, nodes };
        Ok((row.get(6)?, judged))
    };
    conn.prepare_cached(sql)?.query_map((event, int(game.0), ply), judged)?.collect()
}

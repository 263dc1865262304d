//! Comments and variations of imported games.

use crate::{EventId, Store, StoreError, row::int};
use referee::{
    annotations::{Annotations, Comment, Variation},
    entry::GameId,
};
use rusqlite::Connection;

/// Writes the comments and variations of a game; returns the number of rows.
pub(crate) fn store(annotations: &Annotations, conn: &Connection, event: i64) -> rusqlite::Result<usize> {
    let game = int(annotations.game.0);
    let mut comment = conn.prepare_cached("INSERT OR REPLACE INTO comments VALUES (?, ?, ?, ?, ?)")?;
    for Comment { line, ply, text } in &annotations.comments {
        comment.execute((event, game, line, ply, text))?;
    }
    let mut variation =
        conn.prepare_cached("INSERT OR REPLACE INTO variations VALUES (?, ?, ?, ?, ?, ?, ?)")?;
    for (line, Variation { parent, ply, moves, details }) in (1_u32..).zip(&annotations.variations) {
        let details = Some(details).filter(|details| !details.is_empty());
        variation.execute((event, game, line, parent, ply, moves, details))?;
    }
    Ok(annotations.comments.len() + annotations.variations.len())
}

impl Store {
    /// The comments and variations of a game, of which only imported ones have any.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn annotations(&self, event: EventId, game: GameId) -> Result<Annotations, StoreError> {
        self.database().check(|conn| {
            let of = (event.0, int(game.0));
            let sql =
                "SELECT line, ply, text FROM comments WHERE event = ? AND number = ? ORDER BY line, ply";
            let comments = conn
                .prepare_cached(sql)?
                .query_map(of, |row| Ok(Comment { line: row.get(0)?, ply: row.get(1)?, text: row.get(2)? }))?
                .collect::<rusqlite::Result<_>>()?;
            let sql = "SELECT parent, ply, moves, coalesce(details, '') FROM variations \
                       WHERE event = ? AND number = ? ORDER BY line";
            let variation = |row: &rusqlite::Row<'_>| {
                Ok(Variation {
                    parent: row.get(0)?,
                    ply: row.get(1)?,
                    moves: row.get(2)?,
                    details: row.get(3)?,
                })
            };
            let variations =
                conn.prepare_cached(sql)?.query_map(of, variation)?.collect::<rusqlite::Result<_>>()?;
            Ok(Annotations { game, comments, variations })
        })
    }
}

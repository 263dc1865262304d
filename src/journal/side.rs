//! Side records in the database: names of games, transcripts, buoys, identities of engines.

use crate::{EventId, Store, StoreError, identities, row::int};
use referee::{
    Color,
    entry::GameId,
    sink::{Buoy, SideRecord, TranscriptLine, TranscriptPiece},
};
use rusqlite::{Connection, OptionalExtension};

/// Writes a side record of an event.
pub(crate) fn store(record: &SideRecord, conn: &Connection, EventId(event): EventId) -> rusqlite::Result<()> {
    match record {
        SideRecord::Named(game, name) => conn
            .prepare_cached("INSERT OR REPLACE INTO game_names VALUES (?, ?, ?)")?
            .execute((event, int(game.0), name)),
        SideRecord::Transcript(piece) => {
            let TranscriptPiece { game, color, part, at, lines } = piece;
            conn.prepare_cached("INSERT OR REPLACE INTO wire VALUES (?, ?, ?, ?, ?, ?)")?.execute((
                event,
                int(game.0),
                color.index() as i64,
                part,
                at,
                lines,
            ))
        }
        SideRecord::Buoy(Buoy { name, moves, owner, left }) => conn
            .prepare_cached("INSERT OR REPLACE INTO buoys VALUES (?, ?, ?, ?, ?)")?
            .execute((event, name, moves.concat(), owner, left)),
        SideRecord::NoBuoy(name) => {
            conn.prepare_cached("DELETE FROM buoys WHERE event = ? AND name = ?")?.execute((event, name))
        }
        SideRecord::Identified(player, identity) => identities::store(*player, identity, conn, event),
    }
    .map(drop)
}

impl Store {
    /// The buoys of an event.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn buoys(&self, event: EventId) -> Result<Vec<Buoy>, StoreError> {
        self.database.check(|conn| {
            let mut buoys = conn.prepare("SELECT name, moves, owner, left_ FROM buoys WHERE event = ?")?;
            let buoy = |row: &rusqlite::Row<'_>| {
                let glued: String = row.get(1)?;
                let moves = glued.as_bytes().chunks(7).map(|mv| String::from_utf8_lossy(mv).into_owned());
                Ok(Buoy { name: row.get(0)?, moves: moves.collect(), owner: row.get(2)?, left: row.get(3)? })
            };
            buoys.query_map([event.0], buoy)?.collect()
        })
    }

    /// Number of the game with this Game_ID.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn game_named(&self, event: EventId, name: &str) -> Result<Option<GameId>, StoreError> {
        self.database.check(|conn| {
            let number = "SELECT number FROM game_names WHERE event = ? AND name = ?";
            let number = conn.query_row(number, (event.0, name), |row| row.get::<_, i64>(0)).optional()?;
            Ok(number.map(|number| GameId(number.unsigned_abs())))
        })
    }

    /// The transcript of a game, ordered by time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn transcript(&self, event: EventId, game: GameId) -> Result<Vec<TranscriptLine>, StoreError> {
        self.database.check(|conn| {
            let sql =
                "SELECT color, part, at, lines FROM wire WHERE event = ? AND number = ? ORDER BY color, part";
            let piece = |row: &rusqlite::Row<'_>| {
                let color = if row.get::<_, i64>(0)? == 0 { Color::Black } else { Color::White };
                Ok(TranscriptPiece { game, color, part: row.get(1)?, at: row.get(2)?, lines: row.get(3)? })
            };
            let pieces = conn
                .prepare(sql)?
                .query_map((event.0, int(game.0)), piece)?
                .collect::<Result<Vec<_>, _>>()?;
            let mut lines: Vec<_> = pieces.iter().flat_map(TranscriptPiece::lines).collect();
            lines.sort_by_key(|line| line.at);
            Ok(lines)
        })
    }
}

//! Side records in the database: names of games, transcripts, buoys, identities of engines, options of games.

use crate::{EventId, Store, StoreError, annotations, identities, leases, machines, row::int};
use referee::{
    Color,
    entry::GameId,
    sink::{Buoy, Channel, EntrantTrip, SideRecord, TranscriptLine, TranscriptPiece, TripKey},
};
use rusqlite::{Connection, OptionalExtension};
use std::time::Duration;

/// Writes a side record of an event.
pub(crate) fn store(record: &SideRecord, conn: &Connection, EventId(event): EventId) -> rusqlite::Result<()> {
    match record {
        SideRecord::Named(game, name) => conn
            .prepare_cached("INSERT OR REPLACE INTO game_names VALUES (?, ?, ?)")?
            .execute((event, int(game.0), name)),
        SideRecord::OpeningTimes(game, times) => return opening_times(*game, times, conn, event),
        SideRecord::Transcript(piece) => {
            let TranscriptPiece { game, color, channel, part, at, lines } = piece;
            let sql = match channel {
                Channel::Network => "INSERT OR REPLACE INTO wire VALUES (?, ?, ?, ?, ?, ?)",
                Channel::Engine => "INSERT OR REPLACE INTO engine_lines VALUES (?, ?, ?, ?, ?, ?)",
            };
            conn.prepare_cached(sql)?.execute((event, int(game.0), color.index() as i64, part, at, lines))
        }
        SideRecord::Buoy(Buoy { name, moves, owner, left }) => conn
            .prepare_cached("INSERT OR REPLACE INTO buoys VALUES (?, ?, ?, ?, ?)")?
            .execute((event, name, moves.concat(), owner, left)),
        SideRecord::NoBuoy(name) => {
            conn.prepare_cached("DELETE FROM buoys WHERE event = ? AND name = ?")?.execute((event, name))
        }
        SideRecord::Identified(player, identity) => identities::store(*player, identity, conn, event),
        SideRecord::Replanned(plan) => {
            conn.prepare_cached("UPDATE events SET plan = ?2 WHERE id = ?1")?.execute((event, plan))
        }
        SideRecord::TripKey(TripKey(key)) => {
            conn.prepare_cached("INSERT INTO trip_keys VALUES (?, ?)")?.execute((event, key))
        }
        SideRecord::Options(game, color, options) => {
            let options: serde_json::Map<_, _> =
                options.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
            let text = serde_json::Value::Object(options).to_string();
            conn.prepare_cached("INSERT OR REPLACE INTO game_options VALUES (?, ?, ?, ?)")?.execute((
                event,
                int(game.0),
                color.index() as i64,
                text,
            ))
        }
        SideRecord::Bound(EntrantTrip { name, trip }) => conn
            .prepare_cached("INSERT INTO entrant_trips VALUES (?, ?, ?) ON CONFLICT DO NOTHING")?
            .execute((event, name, trip)),
        SideRecord::Reference(speed) => leases::reference(speed, conn, event),
        SideRecord::Machine(machine) => machines::store(machine, conn, event),
        SideRecord::Leased(lease) => leases::issued(lease, conn, event),
        SideRecord::Committed(committed) => leases::committed(committed, conn, event),
        SideRecord::Repeated(repeated) => leases::repeated(repeated, conn, event),
        SideRecord::Annotated(annotations) => annotations::store(annotations, conn, event),
    }
    .map(drop)
}

fn opening_times(
    game: GameId,
    times: &[Option<Duration>],
    conn: &Connection,
    event: i64,
) -> rusqlite::Result<()> {
    let mut insert = conn.prepare_cached("INSERT OR REPLACE INTO opening_times VALUES (?, ?, ?, ?)")?;
    let known = (1i64..).zip(times).filter_map(|(ply, time)| Some((ply, (*time)?)));
    for (ply, time) in known {
        insert.execute((event, int(game.0), ply, i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))?;
    }
    Ok(())
}

/// What a server charged for the moves that a game began with: plies from 1, and milliseconds.
pub(crate) fn opening_times_of(
    game: GameId,
    conn: &Connection,
    EventId(event): EventId,
) -> rusqlite::Result<Vec<(u32, Duration)>> {
    let sql = "SELECT ply, charged_ms FROM opening_times WHERE event = ? AND number = ? ORDER BY ply";
    let time = |row: &rusqlite::Row<'_>| {
        Ok((row.get(0)?, Duration::from_millis(row.get::<_, i64>(1)?.unsigned_abs())))
    };
    conn.prepare_cached(sql)?.query_map((event, int(game.0)), time)?.collect()
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

    /// The key that the trips of an event are made with; `None` before its first run with trips.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn trip_key(&self, event: EventId) -> Result<Option<TripKey>, StoreError> {
        let sql = "SELECT key FROM trip_keys WHERE event = ?";
        let key = |row: &rusqlite::Row<'_>| row.get(0).map(TripKey);
        self.database.check(|conn| conn.query_row(sql, [event.0], key).optional())
    }

    /// The trips by which the entrants of an event are known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn entrant_trips(&self, event: EventId) -> Result<Vec<EntrantTrip>, StoreError> {
        let trip = |row: &rusqlite::Row<'_>| Ok(EntrantTrip { name: row.get(0)?, trip: row.get(1)? });
        self.database.check(|conn| {
            let mut trips =
                conn.prepare("SELECT name, trip FROM entrant_trips WHERE event = ? ORDER BY name")?;
            trips.query_map([event.0], trip)?.collect()
        })
    }

    /// Game_IDs that end with a date not before this one (`YYYYMMDDhhmmss`).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn names_dated_from(&self, event: EventId, date: &str) -> Result<Vec<String>, StoreError> {
        self.database.check(|conn| {
            let names = "SELECT name FROM game_names WHERE event = ? AND substr(name, -14) >= ?";
            conn.prepare(names)?.query_map((event.0, date), |row| row.get(0))?.collect()
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

    /// The Game_ID of a game.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn game_name(&self, event: EventId, game: GameId) -> Result<Option<String>, StoreError> {
        self.database.check(|conn| {
            let name = "SELECT name FROM game_names WHERE event = ? AND number = ?";
            conn.query_row(name, (event.0, game.0.cast_signed()), |row| row.get(0)).optional()
        })
    }

    /// The transcript of a game, ordered by time: lines of the network and of engines.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn transcript(&self, event: EventId, game: GameId) -> Result<Vec<TranscriptLine>, StoreError> {
        self.database.check(|conn| {
            let sql = "SELECT color, part, at, lines, 0 FROM wire WHERE event = ?1 AND number = ?2
                 UNION ALL SELECT color, part, at, lines, 1 FROM engine_lines WHERE event = ?1 AND number = ?2
                 ORDER BY 5, 1, 2";
            let piece = |row: &rusqlite::Row<'_>| {
                let color = if row.get::<_, i64>(0)? == 0 { Color::Black } else { Color::White };
                let channel = if row.get::<_, i64>(4)? == 0 { Channel::Network } else { Channel::Engine };
                let (part, at, lines) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok(TranscriptPiece { game, color, channel, part, at, lines })
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

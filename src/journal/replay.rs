//! The stored events, in the order they happened in.

use super::{
    EventId, Store, StoreError,
    row::{self, MOVED, OUTCOME, PAIRING},
};
use referee::event::{Event, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped};
use rusqlite::{Connection, OptionalExtension, Row};

/// Whether moves are replayed too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Standings, ratings and the schedule need none.
    Without,
    /// With each game's moves, together, just before its end; those of games that still run come last.
    With,
}

impl Store {
    /// Hands every stored event of `event` to `f`, as one consistent view of the database: folding them gives what
    /// folding them live gave. Memory is flat and writers are not held up.
    ///
    /// # Errors
    /// When the database cannot be read, or holds values that no event has.
    pub fn replay(
        &self,
        event: EventId,
        moves: Moves,
        f: &mut dyn FnMut(&Stamped),
    ) -> Result<(), StoreError> {
        self.database().check(|conn| {
            let snapshot = conn.unchecked_transaction()?;
            replay(&snapshot, event, moves, f)?;
            snapshot.commit()
        })
    }
}

fn replay(
    conn: &Connection,
    event: EventId,
    moves: Moves,
    f: &mut dyn FnMut(&Stamped),
) -> rusqlite::Result<()> {
    let head = head(conn, event)?;
    let mut log = conn.prepare_cached(&format!(
        "SELECT l.kind, l.seq, g.id, g.started_at, g.ended_at, g.start, g.opening_moves, g.plies, g.evidence, \
         g.replayed, {OUTCOME}, {PAIRING}, g.times \
         FROM log l LEFT JOIN games g ON g.id = l.game WHERE l.event = ? ORDER BY l.seq"
    ))?;
    let mut rows = log.query([event.0])?;
    while let Some(row) = rows.next()? {
        let stamped = match row.get_ref(0)?.as_str()? {
            "started" => started(row)?,
            "ended" => {
                if moves == Moves::With {
                    game_moves(conn, row.get(2)?, GameId(row::unsigned(row, 12)?), f)?;
                }
                ended(row)?
            }
            kind => rare(conn, event, kind, row.get(1)?, &head)?,
        };
        f(&stamped);
    }
    if moves == Moves::With { running_moves(conn, event, f) } else { Ok(()) }
}

/// What every `Opened` of an event says alike.
struct Head {
    name: String,
    players: Vec<String>,
}

fn head(conn: &Connection, event: EventId) -> rusqlite::Result<Head> {
    let name = conn
        .query_row("SELECT name FROM events WHERE id = ?", [event.0], |row| row.get(0))
        .optional()?
        .unwrap_or_default();
    Ok(Head { name, players: players(conn, event)? })
}

/// The players' names, by their numbers.
pub(super) fn players(conn: &Connection, event: EventId) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT name FROM players WHERE event = ? ORDER BY player")?
        .query_map([event.0], |row| row.get(0))?
        .collect()
}

fn started(row: &Row<'_>) -> rusqlite::Result<Stamped> {
    let (game, pairing) = row::pairing(row, 12)?;
    let started =
        GameStarted { game, pairing, start: row.get(5)?, opening: row.get(6)?, times: row::times(row, 21)? };
    Ok(Stamped { at: row.get(3)?, event: Event::GameStarted(started) })
}

fn ended(row: &Row<'_>) -> rusqlite::Result<Stamped> {
    let (game, pairing) = row::pairing(row, 12)?;
    let no_result = || row::bad(10, format!("game {} has an end without a result", game.0));
    let outcome = row::outcome(row, 10)?.ok_or_else(no_result)?;
    let (plies, evidence, replayed) = (row.get(7)?, row.get(8)?, row.get(9)?);
    let ended = GameEnded { game, pairing, outcome, plies, evidence, replayed };
    Ok(Stamped { at: row.get(4)?, event: Event::GameEnded(ended) })
}

/// Moves of one game, in order, from its row in `games`.
fn game_moves(conn: &Connection, id: i64, game: GameId, f: &mut dyn FnMut(&Stamped)) -> rusqlite::Result<()> {
    let mut moves = conn.prepare_cached(&format!("SELECT {MOVED} FROM moves WHERE game = ? ORDER BY ply"))?;
    let mut rows = moves.query([id])?;
    while let Some(row) = rows.next()? {
        let (at, moved) = row::moved(row, game)?;
        f(&Stamped { at, event: Event::Moved(moved) });
    }
    Ok(())
}

fn running_moves(conn: &Connection, event: EventId, f: &mut dyn FnMut(&Stamped)) -> rusqlite::Result<()> {
    let sql = "SELECT id, number FROM games WHERE event = ? AND ended_at IS NULL ORDER BY number";
    let mut games = conn.prepare_cached(sql)?;
    let mut rows = games.query([event.0])?;
    while let Some(row) = rows.next()? {
        game_moves(conn, row.get(0)?, GameId(row::unsigned(row, 1)?), f)?;
    }
    Ok(())
}

/// What happens now and then has a table for each kind, found by its number in the log.
fn rare(conn: &Connection, event: EventId, kind: &str, seq: i64, head: &Head) -> rusqlite::Result<Stamped> {
    let table = match kind {
        "opened" => "runs",
        "bye" => "byes",
        "fault" => "faults",
        "memory" => "memory",
        "verdict" => "verdicts",
        _ => "closings",
    };
    let sql = format!("SELECT * FROM {table} WHERE event = ? AND seq = ?");
    conn.prepare_cached(&sql)?.query_row([event.0, seq], |row| {
        let event = match kind {
            "opened" => opened(row, head)?,
            "bye" => bye(row)?,
            "fault" => {
                Event::Fault { player: row.get::<_, Option<u16>>(3)?.map(PlayerId), text: row.get(4)? }
            }
            "memory" => Event::Memory { player: PlayerId(row.get(3)?), kib: row::unsigned(row, 4)? },
            "verdict" => verdict(row)?,
            _ => Event::Closed,
        };
        Ok(Stamped { at: row.get(2)?, event })
    })
}

fn opened(row: &Row<'_>, head: &Head) -> rusqlite::Result<Event> {
    let (name, players) = (head.name.clone(), head.players.clone());
    Ok(Event::Opened(Opened { name, players, format: row.get(3)?, resumed: row.get(4)? }))
}

fn bye(row: &Row<'_>) -> rusqlite::Result<Event> {
    let (stage, round, player) = (row.get(3)?, row.get(4)?, PlayerId(row.get(5)?));
    Ok(Event::Bye { stage, round, player, half_points: row.get(6)? })
}

fn verdict(row: &Row<'_>) -> rusqlite::Result<Event> {
    // SQLite keeps a NaN as NULL.
    let llr = row.get::<_, Option<f64>>(4)?.unwrap_or(f64::NAN);
    Ok(Event::Verdict { verdict: row.get(3)?, llr, pairs: row::unsigned(row, 5)? })
}

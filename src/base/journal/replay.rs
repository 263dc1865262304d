//! Replay of the stored entries, in their order.

use super::{
    EventId, Store, StoreError, operations,
    row::{self, MOVED, PAIRING},
};
use referee::entry::{Entry, GameEnded, GameId, GameStarted, Opened, PlayerId, Stamped};
use rusqlite::{Connection, OptionalExtension, Row};

/// Whether a replay includes moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// Neither moves nor the starts of games that are over: enough for standings and ratings. The starts of running
    /// games come last.
    Results,
    /// No moves: enough for standings, ratings and the schedule.
    Without,
    /// The moves of each game together, just before its end; those of running games last.
    With,
}

impl Store {
    /// Passes every stored entry of `event` to `f`, from one consistent snapshot: folding a replay gives the same
    /// result as folding the live stream. Memory use is constant and writers are not blocked.
    ///
    /// # Errors
    /// When the database cannot be read, or holds values that no entry can have.
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
    let names = event_names(conn, event)?;
    let sql = if moves == Moves::Results { log_of_results() } else { log_after() };
    let mut log = conn.prepare_cached(&sql)?;
    let mut rows = log.query((event.0, 0))?;
    while let Some(row) = rows.next()? {
        if moves == Moves::With && row.get_ref(0)?.as_str()? == "ended" {
            let game = GameId(row::unsigned(row, 12)?);
            game_moves(conn, row.get(2)?, game, 0, &mut |moved| f(&moved))?;
        }
        f(&stamped(conn, event, row, &names)?);
    }
    match moves {
        Moves::With => running_moves(conn, event, f),
        Moves::Without => Ok(()),
        Moves::Results => running_starts(conn, event, f),
    }
}

fn running_starts(conn: &Connection, event: EventId, f: &mut dyn FnMut(&Stamped)) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT 'started', 0, {} FROM games g WHERE g.event = ? AND g.ended_at IS NULL ORDER BY g.number",
        columns()
    );
    let mut games = conn.prepare_cached(&sql)?;
    let mut rows = games.query([event.0])?;
    while let Some(row) = rows.next()? {
        f(&started(row)?);
    }
    Ok(())
}

/// The entry of a row of [`log_after`].
pub(super) fn stamped(
    conn: &Connection,
    event: EventId,
    row: &Row<'_>,
    names: &EventNames,
) -> rusqlite::Result<Stamped> {
    match row.get_ref(0)?.as_str()? {
        "started" => started(row),
        "ended" => ended(row),
        kind => rare(conn, event, kind, row.get(1)?, names),
    }
}

/// The log of an event after an entry, as [`stamped`] reads it.
pub(super) fn log_after() -> String {
    log_where("TRUE")
}

/// The same without the starts of games: most of the rows that it does not have to look at.
fn log_of_results() -> String {
    log_where("l.kind <> 'started'")
}

impl Store {
    /// What the operator did, verdicts and ends of the event after an entry of the log, up to another one, with their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn told(&self, event: EventId, after: u64, until: u64) -> Result<Vec<(u64, Stamped)>, StoreError> {
        self.database().check(|conn| {
            let names = event_names(conn, event)?;
            let sql = log_where("l.seq <= ? AND l.kind IN ('operation', 'verdict', 'closed')");
            let entry = |row: &Row<'_>| Ok((row::unsigned(row, 1)?, stamped(conn, event, row, &names)?));
            let places = (event.0, row::int(after), row::int(until));
            conn.prepare_cached(&sql)?.query_map(places, entry)?.collect()
        })
    }
}

fn log_where(condition: &str) -> String {
    format!(
        "SELECT l.kind, l.seq, {} FROM log l LEFT JOIN games g ON g.id = l.game \
         WHERE l.event = ? AND l.seq > ? AND {condition} ORDER BY l.seq",
        columns()
    )
}

/// Columns of a game, after kind and number of the entry.
fn columns() -> String {
    format!(
        "g.id, g.started_at, g.ended_at, g.start, g.opening_moves, g.plies, g.evidence, \
         coalesce(g.ended_replayed, g.replayed), coalesce(g.ended_result, g.result), \
         coalesce(g.ended_cause, g.cause), {PAIRING}, g.times, g.moves_hash"
    )
}

/// Fields that every `Opened` of an event shares.
pub(super) struct EventNames {
    name: String,
    players: Vec<String>,
}

pub(super) fn event_names(conn: &Connection, event: EventId) -> rusqlite::Result<EventNames> {
    let name = conn
        .query_row("SELECT name FROM events WHERE id = ?", [event.0], |row| row.get(0))
        .optional()?
        .unwrap_or_default();
    Ok(EventNames { name, players: players(conn, event)? })
}

/// Names of the players, by [`PlayerId`].
pub(super) fn players(conn: &Connection, event: EventId) -> rusqlite::Result<Vec<String>> {
    conn.prepare_cached("SELECT name FROM players WHERE event = ? ORDER BY player")?
        .query_map([event.0], |row| row.get(0))?
        .collect()
}

fn started(row: &Row<'_>) -> rusqlite::Result<Stamped> {
    let (game, pairing) = row::pairing(row, 12)?;
    let started =
        GameStarted { game, pairing, start: row.get(5)?, opening: row.get(6)?, times: row::times(row, 21)? };
    // A game without a date has only a placeholder as its end.
    let at = row.get::<_, Option<i64>>(3)?.or(row.get(4)?).unwrap_or_default();
    Ok(Stamped { at, entry: Entry::GameStarted(started) })
}

fn ended(row: &Row<'_>) -> rusqlite::Result<Stamped> {
    let (game, pairing) = row::pairing(row, 12)?;
    let no_result = || row::bad(10, format!("game {} has an end without a result", game.0));
    let outcome = row::outcome(row, 10)?.ok_or_else(no_result)?;
    let (plies, evidence, replayed) = (row.get(7)?, row.get(8)?, row.get(9)?);
    let moves_hash = row.get::<_, Option<i64>>(22)?.map(i64::cast_unsigned);
    let ended = GameEnded { game, pairing, outcome, plies, evidence, replayed, moves_hash };
    Ok(Stamped { at: row.get(4)?, entry: Entry::GameEnded(ended) })
}

/// Passes the moves of one game after a ply to `f`; `id` is its row in `games`.
pub(super) fn game_moves(
    conn: &Connection,
    id: i64,
    game: GameId,
    after: u32,
    f: &mut dyn FnMut(Stamped),
) -> rusqlite::Result<()> {
    let sql = format!("SELECT {MOVED} FROM moves WHERE game = ? AND ply > ? ORDER BY ply");
    let mut moves = conn.prepare_cached(&sql)?;
    let mut rows = moves.query((id, after))?;
    while let Some(row) = rows.next()? {
        let (at, moved) = row::moved(row, game)?;
        f(Stamped { at, entry: Entry::Moved(moved) });
    }
    Ok(())
}

fn running_moves(conn: &Connection, event: EventId, f: &mut dyn FnMut(&Stamped)) -> rusqlite::Result<()> {
    let sql = "SELECT id, number FROM games WHERE event = ? AND ended_at IS NULL ORDER BY number";
    let mut games = conn.prepare_cached(sql)?;
    let mut rows = games.query([event.0])?;
    while let Some(row) = rows.next()? {
        game_moves(conn, row.get(0)?, GameId(row::unsigned(row, 1)?), 0, &mut |moved| f(&moved))?;
    }
    Ok(())
}

/// Entries of a rare kind: each kind has a table of its own, keyed by the sequence number in the log.
fn rare(
    conn: &Connection,
    event: EventId,
    kind: &str,
    seq: i64,
    names: &EventNames,
) -> rusqlite::Result<Stamped> {
    let table = row::table_of(kind).ok_or_else(|| {
        row::bad(0, format!("entry {seq} is of a kind that renmei does not know: `{kind}`"))
    })?;
    let sql = format!("SELECT * FROM {table} WHERE event = ? AND seq = ?");
    conn.prepare_cached(&sql)?.query_row([event.0, seq], |row| {
        let entry = match kind {
            "opened" => opened(row, names)?,
            "entered" => {
                let (player, name) = named(row, names)?;
                Entry::Entered { player, name }
            }
            // The player had this name in every entry before: a former one is not kept.
            "renamed" => {
                let (player, name) = named(row, names)?;
                Entry::Renamed { player, name }
            }
            "bye" => bye(row)?,
            "fault" => {
                Entry::Fault { player: row.get::<_, Option<u32>>(3)?.map(PlayerId), text: row.get(4)? }
            }
            "memory" => Entry::Memory { player: PlayerId(row.get(3)?), kib: row::unsigned(row, 4)? },
            "verdict" => verdict(row)?,
            "operation" => Entry::Operator(Box::new(operations::stored(row)?)),
            "closed" => Entry::Closed,
            other => return Err(row::bad(0, format!("no entry is read from the table of `{other}`"))),
        };
        Ok(Stamped { at: row.get(2)?, entry })
    })
}

fn opened(row: &Row<'_>, names: &EventNames) -> rusqlite::Result<Entry> {
    let (name, players) = (names.name.clone(), names.players.clone());
    Ok(Entry::Opened(Opened { name, players, format: row.get(3)?, resumed: row.get(4)? }))
}

/// A player and its name.
fn named(row: &Row<'_>, names: &EventNames) -> rusqlite::Result<(PlayerId, String)> {
    let player = PlayerId(row.get(3)?);
    Ok((player, names.players.get(player.index()).cloned().unwrap_or_default()))
}

fn bye(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let (stage, round, player) = (row.get(3)?, row.get(4)?, PlayerId(row.get(5)?));
    Ok(Entry::Bye { stage, round, player, half_points: row.get(6)? })
}

fn verdict(row: &Row<'_>) -> rusqlite::Result<Entry> {
    // SQLite stores NaN as NULL.
    let llr = row.get::<_, Option<f64>>(4)?.unwrap_or(f64::NAN);
    Ok(Entry::Verdict { verdict: row.get(3)?, llr, pairs: row::unsigned(row, 5)? })
}

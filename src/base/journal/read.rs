//! Queries of events and games, for reports and record files.

use super::{
    EventId, Store, StoreError, judgements,
    replay::players,
    row::{self, MOVED, OUTCOME, PAIRING},
    side,
};
use contest::schedule::Pairing;
use referee::{
    Outcome,
    clock::TimeControl,
    entry::{GameId, Judged, Moved, PlayerId, WARNING},
};
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use std::time::Duration;

/// An event of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSummary {
    /// Row id.
    pub id: EventId,
    /// Name.
    pub name: String,
    /// Kind, as in [`EventHead::kind`](crate::EventHead::kind).
    pub kind: String,
    /// Creation time in ms since 1970-01-01 UTC.
    pub created_at: i64,
    /// Stored plan as JSON.
    pub plan: String,
    /// Names of the players, by [`PlayerId`].
    pub players: Vec<String>,
    /// Number of games that count.
    pub counted: u64,
    /// Number of games without an end: still running, or left by a dead process.
    pub running: u64,
    /// True if the event is over.
    pub closed: bool,
    /// True if an order is the last that happened in it.
    pub ordered: bool,
}

/// A game without its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRow {
    /// Number of the game.
    pub game: GameId,
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// Black's name.
    pub black: String,
    /// White's name.
    pub white: String,
    /// Start position as SFEN; `None` when the game never began.
    pub start: Option<String>,
    /// Opening moves in USI, separated by blanks.
    pub opening: Option<String>,
    /// Time controls, black's first, where the plan does not have them.
    pub times: Option<Box<[TimeControl; 2]>>,
    /// Start time in ms since 1970-01-01 UTC; `None` when the game never began, and when its date is unknown
    /// ([`GameRow::is_undated`]).
    pub started_at: Option<i64>,
    /// End time in ms since 1970-01-01 UTC.
    pub ended_at: Option<i64>,
    /// Outcome; `None` while the game runs.
    pub outcome: Option<Outcome>,
    /// Plies at the end, the opening's included.
    pub plies: Option<u32>,
    /// What its start and its moves make together; `None` where it is not known.
    pub moves_hash: Option<u64>,
    /// Evidence about the ending, for disputes.
    pub evidence: String,
    /// True if it was played again and so does not count: a draw, or by the operator's order.
    pub replayed: bool,
    /// When its moves and lines were dropped, in ms since 1970-01-01 UTC; `None`: they are here.
    pub pruned_at: Option<i64>,
    /// The operator's ruling, where it has changed what the game ended with.
    pub ruling: Option<RuledGame>,
}

impl GameRow {
    /// True if the game began on an unknown date: its end and the times of its moves are no dates then.
    pub fn is_undated(&self) -> bool {
        self.start.is_some() && self.started_at.is_none()
    }
}

/// The ruling on a game that was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledGame {
    /// What the game itself had ended with.
    pub was: Outcome,
    /// The operator, and the reason in the operator's words.
    pub by: String,
}

/// A game with its moves.
#[derive(Clone, Debug, PartialEq)]
pub struct FullGame {
    /// The game's row.
    pub row: GameRow,
    /// Moves with times, clocks and thoughts, each with its wall time in ms since 1970-01-01 UTC.
    pub moves: Vec<(i64, Moved)>,
    /// What a foreign server charged for moves of the opening, with their plies.
    pub opening_times: Vec<(u32, Duration)>,
    /// What the judge of the event said of its positions, in order.
    pub judged: Vec<Judged>,
}

/// State of a game: the column `state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum GameState {
    /// The game has no end yet.
    Running,
    /// Stopped; will be played again.
    Adjourned,
    /// Does not count for another reason.
    Aborted,
    /// A draw that was played again.
    Replayed,
    /// Counts.
    Counted,
}

impl GameState {
    /// The value of the column.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Selects games; the default selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameFilter {
    /// Games of this player.
    pub player: Option<PlayerId>,
    /// Games of this player as well: with `player`, the encounter of the two.
    pub opponent: Option<PlayerId>,
    /// Games of this stage, from 0.
    pub stage: Option<u8>,
    /// Games of this round, from 1.
    pub round: Option<u32>,
    /// Games with this ending; the values of [`Outcome::cause`].
    pub cause: Option<String>,
    /// Games in this state.
    pub state: Option<GameState>,
}

impl Store {
    /// The events of the database, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn events(&self) -> Result<Vec<EventSummary>, StoreError> {
        self.database().check(|conn| {
            let mut events = conn.prepare_cached(EVENTS)?;
            let mut events = events.query_map([], summary)?.collect::<rusqlite::Result<Vec<_>>>()?;
            for event in &mut events {
                event.players = players(conn, event.id)?;
            }
            Ok(events)
        })
    }

    /// Hands the games that pass `filter` to `f`, in the order of their numbers, until it fails; memory is flat.
    ///
    /// # Errors
    /// Those of `f`, and when the database cannot be read.
    pub fn games<E: From<StoreError>>(
        &self,
        event: EventId,
        filter: &GameFilter,
        mut f: impl FnMut(GameRow) -> Result<(), E>,
    ) -> Result<(), E> {
        self.game_rows(event, filter, |_, row| f(row))
    }

    /// Calls `f` with each game that passes `filter` and its moves, in the order of the games' numbers, until `f` fails.
    /// One game is in memory at a time, and all of them are one consistent view of the database.
    ///
    /// # Errors
    /// Those of `f`, and when the database cannot be read.
    pub fn full_games<E: From<StoreError>>(
        &self,
        event: EventId,
        filter: &GameFilter,
        mut f: impl FnMut(FullGame) -> Result<(), E>,
    ) -> Result<(), E> {
        self.game_rows(event, filter, |id, row| {
            // The open query of the games keeps the view: all queries of a connection read the same snapshot.
            let moves = self.database().check(|conn| moves_of(conn, id, row.game))?;
            let opening_times =
                self.database().check(|conn| side::opening_times_of(row.game, conn, event))?;
            let judged = self.database().check(|conn| judgements::of(row.game, conn, event))?;
            f(FullGame { row, moves, opening_times, judged })
        })
    }

    /// Calls `f` with the row id and the content of each game that passes `filter`.
    fn game_rows<E: From<StoreError>>(
        &self,
        event: EventId,
        filter: &GameFilter,
        mut f: impl FnMut(i64, GameRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let database = self.database();
        let names = database.check(|conn| players(conn, event))?;
        let sql = format!(
            "{} WHERE g.event = :event
               AND (:player IS NULL OR :player IN (g.black, g.white))
               AND (:opponent IS NULL OR :opponent IN (g.black, g.white))
               AND (:stage IS NULL OR g.stage = :stage) AND (:round IS NULL OR g.round = :round)
               AND (:cause IS NULL OR g.cause = :cause) AND (:state IS NULL OR g.state = :state)
             ORDER BY g.number",
            select_games()
        );
        let mut games = database.check(|conn| conn.prepare_cached(&sql))?;
        let parameters = named_params! {
            ":event": event.0,
            ":player": filter.player.map(|player| player.0),
            ":opponent": filter.opponent.map(|player| player.0),
            ":stage": filter.stage,
            ":round": filter.round,
            ":cause": filter.cause,
            ":state": filter.state.map(GameState::name),
        };
        let mut rows = database.check(|_| games.query(parameters))?;
        while let Some(row) = database.check(|_| rows.next())? {
            let (id, game) = database.check(|_| Ok((row.get(9)?, game_row(row, &names)?)))?;
            f(id, game)?;
        }
        Ok(())
    }

    /// Hands the games that count and that a player lost by a fault to `f`, in the order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn lost_by_fault(&self, event: EventId, mut f: impl FnMut(GameRow)) -> Result<(), StoreError> {
        self.database().check(|conn| {
            let names = players(conn, event)?;
            let mut games = conn.prepare_cached(&lost_by_fault())?;
            let mut rows = games.query([event.0])?;
            while let Some(row) = rows.next()? {
                f(game_row(row, &names)?);
            }
            Ok(())
        })
    }

    /// Number of different openings that the games of an event which count began from; a game that is played on began where the
    /// first one that was adjourned at its place did.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn opening_lines(&self, event: EventId) -> Result<u64, StoreError> {
        self.database().check(|conn| {
            let sql = "WITH begun AS (SELECT stage, index_, start, opening_moves, min(number) FROM games
                    WHERE event = ?1 AND state = 'adjourned' AND start IS NOT NULL GROUP BY stage, index_)
                SELECT count(*) FROM (SELECT DISTINCT ifnull(b.start, g.start), ifnull(b.opening_moves, g.opening_moves)
                FROM games g LEFT JOIN begun b ON b.stage = g.stage AND b.index_ = g.index_
                WHERE g.event = ?1 AND g.state = 'counted' AND g.start IS NOT NULL)";
            conn.query_row(sql, [event.0], |row| row.get(0)).map(i64::cast_unsigned)
        })
    }

    /// The warnings about engines of an event, each once, in the order in which they came.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn warnings(&self, event: EventId) -> Result<Vec<String>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT text FROM faults WHERE event = ?1 AND substr(text, 1, length(?2)) = ?2
                GROUP BY text ORDER BY min(seq)";
            let mut texts = conn.prepare_cached(sql)?;
            texts.query_map((event.0, WARNING), |row| row.get(0))?.collect()
        })
    }

    /// What the judge of an event said of a game, in the order of the plies.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn judged(&self, event: EventId, game: GameId) -> Result<Vec<Judged>, StoreError> {
        self.database().check(|conn| judgements::of(game, conn, event))
    }

    /// One game with its moves; `None` when the event has no such game.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn game(&self, event: EventId, game: GameId) -> Result<Option<FullGame>, StoreError> {
        self.database().check(|conn| {
            let names = players(conn, event)?;
            let sql = format!("{} WHERE g.event = ? AND g.number = ?", select_games());
            let number = row::int(game.0);
            let found = conn
                .prepare_cached(&sql)?
                .query_row([event.0, number], |row| Ok((row.get::<_, i64>(9)?, game_row(row, &names)?)))
                .optional()?;
            let Some((id, row)) = found else { return Ok(None) };
            let opening_times = side::opening_times_of(game, conn, event)?;
            let judged = judgements::of(game, conn, event)?;
            Ok(Some(FullGame { row, moves: moves_of(conn, id, game)?, opening_times, judged }))
        })
    }
}

/// The moves of a game by its row id, with the time of each.
fn moves_of(conn: &Connection, id: i64, game: GameId) -> rusqlite::Result<Vec<(i64, Moved)>> {
    let sql = format!("SELECT {MOVED} FROM moves WHERE game = ? ORDER BY ply");
    let mut statement = conn.prepare_cached(&sql)?;
    statement.query_map([id], |row| row::moved(row, game))?.collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<EventSummary> {
    let last: Option<String> = row.get(7)?;
    Ok(EventSummary {
        id: EventId(row.get(0)?),
        name: row.get(1)?,
        kind: row.get(2)?,
        created_at: row.get(3)?,
        plan: row.get(4)?,
        players: Vec::new(),
        counted: row::unsigned(row, 5)?,
        running: row::unsigned(row, 6)?,
        closed: last.as_deref() == Some("closed"),
        ordered: last.as_deref() == Some("operation"),
    })
}

pub(crate) const EVENTS: &str = "
    SELECT e.id, e.name, e.kind, e.created_at, e.plan,
           (SELECT count(*) FROM games g WHERE g.event = e.id AND g.state = 'counted'),
           (SELECT count(*) FROM games g WHERE g.event = e.id AND g.ended_at IS NULL),
           (SELECT kind FROM log l WHERE l.event = e.id ORDER BY seq DESC LIMIT 1)
    FROM events e ORDER BY e.id";

/// The causes of [`WinBy::is_fault`](referee::WinBy::is_fault). The index `games_of_faults` has the first part of the
/// condition, and forfeits beside them.
pub(crate) const LOST_BY_FAULT: &str = "(cause IN ('time', 'disconnection', 'default', 'illegal-action', \
                                        'illegal-declaration') OR cause GLOB 'illegal-move:*') \
                                        AND cause <> 'default'";

pub(crate) fn lost_by_fault() -> String {
    format!(
        "{} WHERE g.event = ? AND {LOST_BY_FAULT} AND g.state = 'counted' AND g.result IN ('black', 'white') \
         ORDER BY g.number",
        select_games()
    )
}

fn select_games() -> String {
    format!(
        "SELECT {PAIRING}, g.id, g.start, g.opening_moves, g.started_at, g.ended_at, g.plies, g.evidence, \
         g.replayed, {OUTCOME}, g.times, g.ended_result, g.ended_cause, \
         (SELECT o.by_ || CASE o.reason WHEN '' THEN '' ELSE ': ' || o.reason END FROM operations o \
          WHERE o.event = g.event AND o.number = g.ruling), g.pruned_at, g.moves_hash FROM games g"
    )
}

/// Who ruled a game that was over, and what it had ended with.
fn ruling(row: &Row<'_>) -> rusqlite::Result<Option<RuledGame>> {
    let Some(was) = row::outcome(row, 20)? else { return Ok(None) };
    Ok(Some(RuledGame { was, by: row.get::<_, Option<String>>(22)?.unwrap_or_default() }))
}

fn game_row(row: &Row<'_>, names: &[String]) -> rusqlite::Result<GameRow> {
    let (game, pairing) = row::pairing(row, 0)?;
    let name = |player: PlayerId| names.get(player.index()).cloned().unwrap_or_default();
    Ok(GameRow {
        game,
        pairing,
        black: name(pairing.black),
        white: name(pairing.white),
        start: row.get(10)?,
        opening: row.get(11)?,
        started_at: row.get(12)?,
        ended_at: row.get(13)?,
        plies: row.get(14)?,
        evidence: row.get::<_, Option<String>>(15)?.unwrap_or_default(),
        replayed: row.get::<_, Option<bool>>(16)?.unwrap_or(false),
        outcome: row::outcome(row, 17)?,
        times: row::times(row, 19)?,
        pruned_at: row.get(23)?,
        moves_hash: row.get::<_, Option<i64>>(24)?.map(i64::cast_unsigned),
        ruling: ruling(row)?,
    })
}

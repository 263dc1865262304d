//! Entries to rows.

use super::{
    EventId,
    row::{int, result, write_usi},
};
use referee::operation::Operation;
use referee::{
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
    schedule::Pairing,
};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use std::{collections::HashMap, time::Duration};

const MOVE: &str = "INSERT INTO moves (game, ply, color, move, at, charged_ms, elapsed_us, left_ms, engine_ms, depth, \
     seldepth, score_cp, mate, nodes, nps, pv) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const GAME: &str = "INSERT INTO games (event, number, stage, index_, attempt, round, pair, opening, black, white, \
     start, opening_moves, times, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const END: &str = "UPDATE games SET ended_at = ?2, result = ?3, cause = ?4, plies = ?5, evidence = ?6, \
     replayed = ?7 WHERE id = ?1";
const RULED: &str = "UPDATE games SET ended_result = coalesce(ended_result, result), \
     ended_cause = coalesce(ended_cause, cause), ended_replayed = coalesce(ended_replayed, replayed), \
     ruling = ?3, result = ?4, cause = ?5, replayed = ?6 WHERE event = ?1 AND number = ?2";
const LOG: &str = "INSERT INTO log (event, seq, kind, game) VALUES (?, ?, ?, ?)";

/// Appends the rows of one event. The caller begins and commits the transactions.
pub(super) struct Rows<'c> {
    conn: &'c Connection,
    event: i64,
    /// Last sequence number in the event's log.
    seq: i64,
    /// Row id of each running game; moves refer to it.
    running: HashMap<GameId, i64>,
    /// Buffer for the USI spelling of the current move.
    usi: String,
    /// Kept prepared: looking it up in the statement cache for each ply would cost as much as the insert.
    insert_move: CachedStatement<'c>,
}

impl<'c> Rows<'c> {
    pub(super) fn new(conn: &'c Connection, event: EventId) -> rusqlite::Result<Self> {
        let seq =
            conn.query_row("SELECT coalesce(max(seq), 0) FROM log WHERE event = ?", [event.0], |row| {
                row.get(0)
            })?;
        let insert_move = conn.prepare_cached(MOVE)?;
        Ok(Self { conn, event: event.0, seq, running: HashMap::new(), usi: String::new(), insert_move })
    }

    /// Writes the rows of an entry.
    pub(super) fn store(&mut self, Stamped { at, entry }: &Stamped) -> rusqlite::Result<()> {
        match entry {
            Entry::Moved(moved) => self.moved(*at, moved),
            Entry::GameStarted(started) => self.started(*at, started),
            Entry::GameEnded(ended) => self.ended(*at, ended),
            Entry::Opened(opened) => self.opened(*at, opened),
            Entry::Entered { player, name } => self.entered(*at, *player, name),
            Entry::Bye { stage, round, player, half_points } => {
                let seq = self.log("bye", None)?;
                let row = params![self.event, seq, at, stage, round, player.0, half_points];
                self.run("INSERT INTO byes VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            }
            Entry::Fault { player, text } => {
                let seq = self.log("fault", None)?;
                let row = params![self.event, seq, at, player.map(|PlayerId(id)| id), text];
                self.run("INSERT INTO faults VALUES (?, ?, ?, ?, ?)", row)
            }
            Entry::Memory { player, kib } => {
                let seq = self.log("memory", None)?;
                let row = params![self.event, seq, at, player.0, int(*kib)];
                self.run("INSERT INTO memory VALUES (?, ?, ?, ?, ?)", row)
            }
            Entry::Verdict { verdict, llr, pairs } => {
                let seq = self.log("verdict", None)?;
                let row = params![self.event, seq, at, verdict, llr, int(*pairs)];
                self.run("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?)", row)
            }
            Entry::Operator(operation) => self.operated(*at, operation),
            Entry::Closed => {
                let seq = self.log("closed", None)?;
                self.run("INSERT INTO closings VALUES (?, ?, ?)", params![self.event, seq, at])
            }
        }
    }

    /// The action, and the new result of the game that it is about; what the game itself ended with is kept.
    fn operated(&mut self, at: i64, operation: &Operation) -> rusqlite::Result<()> {
        let seq = self.log("operation", None)?;
        let Operation { number, by, reason, undoes, action } = operation;
        let details = serde_json::to_string(action).map_err(not_json)?;
        let (game, undoes) = (action.game().map(|game| int(game.0)), undoes.map(int));
        let (word, words) = (action.word(), action.to_string());
        let row = params![self.event, seq, at, int(*number), by, reason, undoes, word, game, words, details];
        self.run("INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)?;
        let Some((game, _, was, is)) = action.correction() else { return Ok(()) };
        let outcome = is.unwrap_or(was);
        let row =
            params![self.event, int(game.0), int(*number), result(outcome), outcome.cause(), is.is_none(),];
        self.run(RULED, row)
    }

    fn run(&self, sql: &str, row: &[&dyn rusqlite::ToSql]) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute(row).map(drop)
    }

    /// Appends a row to the event's log and returns its sequence number.
    fn log(&mut self, kind: &str, game: Option<i64>) -> rusqlite::Result<i64> {
        self.seq += 1;
        self.run(LOG, params![self.event, self.seq, kind, game])?;
        Ok(self.seq)
    }

    fn opened(&mut self, at: i64, opened: &Opened) -> rusqlite::Result<()> {
        let seq = self.log("opened", None)?;
        self.run(
            "INSERT INTO runs VALUES (?, ?, ?, ?, ?)",
            params![self.event, seq, at, opened.format, opened.resumed],
        )?;
        let mut players = opened.players.iter().enumerate();
        players.try_for_each(|(at, name)| self.player(PlayerId::at(at), name))
    }

    fn player(&self, player: PlayerId, name: &str) -> rusqlite::Result<()> {
        self.run(
            "INSERT INTO players VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name",
            params![self.event, player.0, name],
        )
    }

    fn entered(&mut self, at: i64, player: PlayerId, name: &str) -> rusqlite::Result<()> {
        self.player(player, name)?;
        let seq = self.log("entered", None)?;
        self.run("INSERT INTO entered VALUES (?, ?, ?, ?)", params![self.event, seq, at, player.0])
    }

    fn started(&mut self, at: i64, started: &GameStarted) -> rusqlite::Result<()> {
        let row = self.insert_game(started.game, &started.pairing, Some((at, started)))?;
        self.running.insert(started.game, row);
        self.log("started", Some(row)).map(drop)
    }

    fn insert_game(
        &self,
        GameId(number): GameId,
        pairing: &Pairing,
        begun: Option<(i64, &GameStarted)>,
    ) -> rusqlite::Result<i64> {
        let at = begun.map(|(at, _)| at);
        let start = begun.map(|(_, started)| started.start.as_str());
        let opening_moves = begun.map(|(_, started)| started.opening.as_str());
        let times = begun.and_then(|(_, started)| started.times.as_deref());
        let times = times.map(serde_json::to_string).transpose().map_err(not_json)?;
        let Pairing { stage, index, attempt, round, pair, opening, black, white } = *pairing;
        let (number, index, pair, opening) = (int(number), int(index), int(pair), int(opening));
        let place = params![
            self.event,
            number,
            stage,
            index,
            attempt,
            round,
            pair,
            opening,
            black.0,
            white.0,
            start,
            opening_moves,
            times,
            at
        ];
        self.conn.prepare_cached(GAME)?.insert(place)
    }

    fn ended(&mut self, at: i64, ended: &GameEnded) -> rusqlite::Result<()> {
        let row = match self.running.remove(&ended.game) {
            Some(row) => row,
            // A player that never became ready loses a game that has no start.
            None => match self.find(ended.game)? {
                Some(row) => row,
                None => self.insert_game(ended.game, &ended.pairing, None)?,
            },
        };
        let (result, cause) = (result(ended.outcome), ended.outcome.cause());
        self.run(END, params![row, at, result, cause, ended.plies, ended.evidence, ended.replayed])?;
        self.log("ended", Some(row)).map(drop)
    }

    /// Row id of a running game.
    fn find(&self, GameId(number): GameId) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT id FROM games WHERE event = ? AND number = ? AND ended_at IS NULL";
        self.conn.prepare_cached(sql)?.query_row([self.event, int(number)], |row| row.get(0)).optional()
    }

    fn moved(&mut self, at: i64, moved: &Moved) -> rusqlite::Result<()> {
        let game = match self.running.get(&moved.game) {
            Some(&game) => game,
            None => self.find(moved.game)?.ok_or_else(|| not_running(moved.game))?,
        };
        write_usi(moved.mv, &mut self.usi);
        let thought = moved.thought.as_deref().unwrap_or(&NO_THOUGHT);
        let (score_cp, mate) = match thought.score {
            Some(Score::Cp(cp)) => (Some(cp), None),
            Some(Score::Mate(plies)) => (None, Some(plies)),
            None => (None, None),
        };
        let row = (
            game,
            moved.ply,
            moved.color.index() as i64,
            self.usi.as_str(),
            at,
            count(moved.charged, Duration::as_millis),
            count(moved.elapsed, Duration::as_micros),
            count(moved.left, Duration::as_millis),
            thought.time.map(int),
            thought.depth,
            thought.seldepth,
            score_cp,
            mate,
            thought.nodes.map(int),
            thought.nps.map(int),
            thought.pv.as_deref(),
        );
        self.insert_move.execute(row).map(drop)
    }
}

/// The thought of an engine that printed no `info` line.
const NO_THOUGHT: Thought =
    Thought { depth: None, seldepth: None, score: None, nodes: None, nps: None, time: None, pv: None };

/// Error for a value that cannot be written as JSON.
pub(super) fn not_json(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

fn not_running(GameId(number): GameId) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(format!("game {number} is not running").into())
}

fn count(time: Duration, unit: fn(&Duration) -> u128) -> i64 {
    i64::try_from(unit(&time)).unwrap_or(i64::MAX)
}

//! Entries to rows.

use super::{
    EventId, UNDATED,
    follow::{Place, Seen},
    judgements,
    replay::players,
    row::{int, result, write_usi},
    seal::{self, Chain, Fields, GameDigest, MoveRow, PartDigest, StartRow, StoredGame},
};
use contest::schedule::Pairing;
use referee::{
    entry::{Entry, GameEnded, GameId, GameStarted, Moved, Opened, PlayerId, Score, Stamped, Thought},
    operation::Operation,
};
use rusqlite::{CachedStatement, Connection, OptionalExtension, ToSql, params};
use std::{collections::HashMap, time::Duration};

const MOVE: &str = "INSERT INTO moves (game, ply, color, move, at, charged_ms, elapsed_us, left_ms, engine_ms, depth, \
     seldepth, score_cp, mate, nodes, nps, pv) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const GAME: &str = "INSERT INTO games (event, number, stage, index_, attempt, round, pair, opening, black, white, \
     start, opening_moves, times, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const END: &str = "UPDATE games SET ended_at = ?2, result = ?3, cause = ?4, plies = ?5, evidence = ?6, \
     replayed = ?7, moves_hash = ?8 WHERE id = ?1";
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
    /// The hash chain over the event's log.
    chain: Chain,
    /// Names of the players, by number.
    names: HashMap<u32, String>,
    /// Each running game, with its row id, which moves refer to, and what its seal will cover.
    running: HashMap<GameId, (Seen, GameDigest)>,
    /// Buffer for the USI spelling of the current move.
    usi: String,
    /// Buffer for what a seal covers of the current move.
    fields: Fields,
    /// Kept prepared: looking it up in the statement cache for each ply would cost as much as the insert.
    insert_move: CachedStatement<'c>,
}

impl<'c> Rows<'c> {
    pub(super) fn new(conn: &'c Connection, event: EventId) -> rusqlite::Result<Self> {
        // A seal may outlive its entry: an end that was taken back. No number is given twice.
        let last = "SELECT max((SELECT coalesce(max(seq), 0) FROM log WHERE event = ?1),
                               (SELECT coalesce(max(seq), 0) FROM seals WHERE event = ?1))";
        let seq = conn.query_row(last, [event.0], |row| row.get(0))?;
        Ok(Self {
            conn,
            event: event.0,
            seq,
            chain: Chain::of(conn, event.0)?,
            names: (0..).zip(players(conn, event)?).collect(),
            running: HashMap::new(),
            usi: String::new(),
            fields: Fields::default(),
            insert_move: conn.prepare_cached(MOVE)?,
        })
    }

    /// The place in the stream after the last entry.
    pub(super) fn place(&self) -> Place {
        let running = self.running.iter().map(|(game, (seen, _))| (*game, *seen)).collect();
        Place { seq: self.seq.unsigned_abs(), running }
    }

    /// Writes the rows of an entry.
    pub(super) fn store(&mut self, Stamped { at, entry }: &Stamped) -> rusqlite::Result<()> {
        let seq = self.seq + 1;
        let (event, at) = (self.event, *at);
        match entry {
            Entry::Moved(moved) => self.moved(at, moved),
            Entry::GameStarted(started) => self.started(at, started),
            Entry::GameEnded(ended) => self.ended(at, ended),
            Entry::Opened(opened) => self.opened(at, opened),
            Entry::Entered { player, name } => self.entered(at, *player, name),
            Entry::Renamed { player, name } => self.renamed(at, *player, name),
            Entry::Bye { stage, round, player, half_points } => {
                let row = params![event, seq, at, stage, round, player.0, half_points];
                self.rare("bye", "INSERT INTO byes VALUES (?, ?, ?, ?, ?, ?, ?)", row, &[])
            }
            Entry::Fault { player, text } => {
                let row = params![event, seq, at, player.map(|PlayerId(id)| id), text];
                self.rare("fault", "INSERT INTO faults VALUES (?, ?, ?, ?, ?)", row, &[])
            }
            Entry::Memory { player, kib } => {
                let row = params![event, seq, at, player.0, int(*kib)];
                self.rare("memory", "INSERT INTO memory VALUES (?, ?, ?, ?, ?)", row, &[])
            }
            Entry::Judged(judged) => {
                if let Some((seen, _)) = self.running.get_mut(&judged.game) {
                    seen.unjudged = judged.ply + 1;
                }
                judgements::store(at, judged, self.conn, EventId(event))
            }
            Entry::Verdict { verdict, llr, pairs } => {
                // SQLite stores NaN as NULL.
                let row =
                    params![event, seq, at, verdict, Some(*llr).filter(|llr| !llr.is_nan()), int(*pairs)];
                self.rare("verdict", "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?)", row, &[])
            }
            Entry::Operator(operation) => self.operated(at, operation),
            Entry::Closed => {
                self.rare("closed", "INSERT INTO closings VALUES (?, ?, ?)", params![event, seq, at], &[])
            }
        }
    }

    /// The action, and the new result of the game that it is about; what the game itself ended with is kept.
    fn operated(&mut self, at: i64, operation: &Operation) -> rusqlite::Result<()> {
        let Operation { number, by, reason, undoes, action } = operation;
        let details = serde_json::to_string(action).map_err(not_json)?;
        let (game, undoes) = (action.game().map(|game| int(game.0)), undoes.map(int));
        let (word, words) = (action.word(), action.to_string());
        let (event, seq, number) = (self.event, self.seq + 1, int(*number));
        let row = params![event, seq, at, number, by, reason, undoes, word, game, words, details];
        self.rare("operation", "INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row, &[])?;
        let Some((game, _, was, is)) = action.correction() else { return Ok(()) };
        let outcome = is.unwrap_or(was);
        let row = params![event, int(game.0), number, result(outcome), outcome.cause(), is.is_none()];
        self.run(RULED, row)
    }

    fn run(&self, sql: &str, row: &[&dyn ToSql]) -> rusqlite::Result<()> {
        self.conn.prepare_cached(sql)?.execute(row).map(drop)
    }

    /// Writes an entry that has a row of its own, which begins with the event and the entry's number, and seals the row
    /// and the `further` parts.
    fn rare(
        &mut self,
        kind: &str,
        sql: &str,
        row: &[&dyn ToSql],
        further: &[PartDigest],
    ) -> rusqlite::Result<()> {
        let seq = self.log(kind, None)?;
        self.run(sql, row)?;
        let parts = [&[seal::row_digest(row)?], further].concat();
        self.chain.seal(self.conn, seq, kind, None, &parts)
    }

    /// Appends a row to the event's log and returns its sequence number.
    fn log(&mut self, kind: &str, game: Option<i64>) -> rusqlite::Result<i64> {
        self.seq += 1;
        self.run(LOG, params![self.event, self.seq, kind, game])?;
        Ok(self.seq)
    }

    fn opened(&mut self, at: i64, opened: &Opened) -> rusqlite::Result<()> {
        let players = (0..).map(PlayerId).zip(&opened.players);
        for (player, name) in players {
            match self.names.get(&player.0) {
                // A substitute, whose entry was lost with the last run: without it the games would seem altered.
                Some(former) if former != name => self.renamed(at, player, name)?,
                _ => self.player(player, name)?,
            }
        }
        let configuration: String =
            self.conn
                .query_row("SELECT fingerprint FROM events WHERE id = ?", [self.event], |row| row.get(0))?;
        let (event, seq) = (self.event, self.seq + 1);
        let row = params![event, seq, at, opened.format, opened.resumed];
        let further = [seal::text_digest(&configuration)];
        self.rare("opened", "INSERT INTO runs VALUES (?, ?, ?, ?, ?)", row, &further)
    }

    fn player(&mut self, player: PlayerId, name: &str) -> rusqlite::Result<()> {
        self.names.insert(player.0, name.to_owned());
        self.run(
            "INSERT INTO players VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name",
            params![self.event, player.0, name],
        )
    }

    fn entered(&mut self, at: i64, player: PlayerId, name: &str) -> rusqlite::Result<()> {
        self.player(player, name)?;
        let (event, seq) = (self.event, self.seq + 1);
        let row = params![event, seq, at, player.0];
        self.rare("entered", "INSERT INTO entered VALUES (?, ?, ?, ?)", row, &[seal::text_digest(name)])
    }

    /// All that is stored of a player refers to its number, so its games and ratings go with the new name.
    fn renamed(&mut self, at: i64, player: PlayerId, name: &str) -> rusqlite::Result<()> {
        let former = self.names.get(&player.0).map_or("", String::as_str);
        let further = [seal::text_digest(former), seal::text_digest(name)];
        self.player(player, name)?;
        let (event, seq) = (self.event, self.seq + 1);
        let row = params![event, seq, at, player.0];
        self.rare("renamed", "INSERT INTO renamed VALUES (?, ?, ?, ?)", row, &further)
    }

    fn started(&mut self, at: i64, started: &GameStarted) -> rusqlite::Result<()> {
        let times = started.times.as_deref().map(serde_json::to_string).transpose().map_err(not_json)?;
        let begun = StartRow {
            game: started.game,
            pairing: &started.pairing,
            start: &started.start,
            opening: &started.opening,
            times: times.as_deref(),
            at: Some(at).filter(|at| *at != UNDATED),
        };
        let row = self.insert_game(started.game, &started.pairing, Some(&begun))?;
        let seen = Seen { id: row, ply: 0, unjudged: 0 };
        self.running.insert(started.game, (seen, GameDigest::start(&begun)));
        self.log("started", Some(row)).map(drop)
    }

    fn insert_game(
        &self,
        GameId(number): GameId,
        pairing: &Pairing,
        begun: Option<&StartRow<'_>>,
    ) -> rusqlite::Result<i64> {
        let at = begun.and_then(|begun| begun.at);
        let start = begun.map(|begun| begun.start);
        let opening_moves = begun.map(|begun| begun.opening);
        let times = begun.and_then(|begun| begun.times);
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
        let (row, running) = match self.running.remove(&ended.game) {
            Some((seen, running)) => (seen.id, Some(running)),
            // A player that never became ready loses a game that has no start.
            None => match self.find(ended.game)? {
                Some(row) => (row, None),
                None => (self.insert_game(ended.game, &ended.pairing, None)?, None),
            },
        };
        let (result, cause) = (result(ended.outcome), ended.outcome.cause());
        let moves = ended.moves_hash.map(int);
        self.run(END, params![row, at, result, cause, ended.plies, ended.evidence, ended.replayed, moves])?;
        let parts = match running {
            Some(running) => {
                let ending: [&dyn ToSql; 6] = [&at, &result, &cause, &ended.plies, &ended.replayed, &moves];
                running.ended(&ending, &ended.evidence, &self.names)?
            }
            // Begun by an earlier run, or never.
            None => StoredGame::read(self.conn, row)?.parts(&|player| self.name_digest(player)),
        };
        let seq = self.log("ended", Some(row))?;
        self.chain.seal(self.conn, seq, "ended", Some(int(ended.game.0)), &parts)
    }

    fn name_digest(&self, player: i64) -> seal::PartDigest {
        let name = u32::try_from(player).ok().and_then(|player| self.names.get(&player));
        seal::text_digest(name.map_or("", String::as_str))
    }

    /// Row id of a running game.
    fn find(&self, GameId(number): GameId) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT id FROM games WHERE event = ? AND number = ? AND ended_at IS NULL";
        self.conn.prepare_cached(sql)?.query_row([self.event, int(number)], |row| row.get(0)).optional()
    }

    fn moved(&mut self, at: i64, moved: &Moved) -> rusqlite::Result<()> {
        let game = match self.running.get(&moved.game) {
            Some((seen, _)) => seen.id,
            None => self.find(moved.game)?.ok_or_else(|| not_running(moved.game))?,
        };
        write_usi(moved.mv, &mut self.usi);
        let thought = moved.thought.as_deref().unwrap_or(&NO_THOUGHT);
        let (score_cp, mate) = match thought.score {
            Some(Score::Cp(cp)) => (Some(cp), None),
            Some(Score::Mate(plies)) => (None, Some(plies)),
            None => (None, None),
        };
        let charged = count(moved.charged, Duration::as_millis);
        let elapsed = count(moved.elapsed, Duration::as_micros);
        let left = count(moved.left, Duration::as_millis);
        let color = moved.color.index() as i64;
        if let Some((seen, running)) = self.running.get_mut(&moved.game) {
            seen.ply = moved.ply;
            let times = [at, charged, elapsed, left];
            let row = MoveRow { ply: moved.ply, color, usi: &self.usi, times, score_cp, mate };
            running.moved(&row, &mut self.fields);
        }
        let row = (
            game,
            moved.ply,
            color,
            self.usi.as_str(),
            at,
            charged,
            elapsed,
            left,
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

//! Seals: a hash chain over the entries of an event, so that what was altered later can be found.
//!
//! Each entry but the start of a game has a seal: the SHA-256 of the seal before it, the entry's number, kind and game,
//! and the digests of the parts of its content. A digest for each part lets [`verify`](crate::verify) say which kind of
//! content was altered. The content of an entry is what its rows hold; a game is covered by the seal of its end. The
//! writer's thread hashes moves as they come, and writes the seal in the transaction of its entry.

use crate::{
    EventId, Store, StoreError,
    row::{int, table_of},
};
use contest::schedule::Pairing;
use platform::content::hex;
use referee::entry::GameId;
use rusqlite::{
    Connection, OptionalExtension, Row, ToSql, params,
    types::{ToSqlOutput, Value, ValueRef},
};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// The first half of a SHA-256: the seal covers it, so it only has to resist a second preimage.
pub(crate) type PartDigest = [u8; 16];
/// A seal.
pub(crate) type Sealed = [u8; 32];

/// The parts of a game's content, in the order of their digests.
pub(crate) const GAME_PARTS: [&str; 8] =
    ["players", "place", "beginning", "moves", "times", "evaluations", "ending", "evidence"];

/// The parts of another entry's content.
pub(crate) fn part_names(kind: &str) -> &'static [&'static str] {
    match kind {
        "ended" => &GAME_PARTS,
        "opened" => &["content", "configuration"],
        "entered" => &["content", "name"],
        "renamed" => &["content", "former name", "name"],
        _ => &["content"],
    }
}

/// True if entries of a kind have seals. The start of a game is covered by the seal of its end.
pub(crate) fn is_sealed(kind: &str) -> bool {
    kind != "started"
}

/// The end of the chain of an event.
#[derive(Debug)]
pub(crate) struct Chain {
    event: i64,
    last: Sealed,
}

impl Chain {
    /// Continues the chain of an event; one without seals begins with zeros.
    pub(crate) fn of(conn: &Connection, event: i64) -> rusqlite::Result<Self> {
        let sql = "SELECT sha256 FROM seals WHERE event = ? ORDER BY seq DESC LIMIT 1";
        let last = conn.prepare_cached(sql)?.query_row([event], |row| row.get(0)).optional()?;
        Ok(Self { event, last: last.unwrap_or_default() })
    }

    /// Writes the seal of an entry.
    pub(crate) fn seal(
        &mut self,
        conn: &Connection,
        seq: i64,
        kind: &str,
        game: Option<i64>,
        parts: &[PartDigest],
    ) -> rusqlite::Result<()> {
        let parts = parts.as_flattened();
        self.last = next(&self.last, seq, kind, game, parts);
        conn.prepare_cached("INSERT INTO seals VALUES (?, ?, ?, ?, ?, ?)")?
            .execute(params![self.event, seq, kind, game, parts, self.last])
            .map(drop)
    }
}

/// The seal that follows `last`.
pub(crate) fn next(last: &Sealed, seq: i64, kind: &str, game: Option<i64>, parts: &[u8]) -> Sealed {
    let mut fields = Fields::default();
    fields.text("renmei seal 1").int(seq).text(kind).maybe(game).value(ValueRef::Blob(parts));
    Sha256::new().chain_update(last).chain_update(&fields.0).finalize().into()
}

/// Values one after another, each with its type and length, so that no two lists of values look the same.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<u8>);

impl Fields {
    fn clear(&mut self) -> &mut Self {
        self.0.clear();
        self
    }

    fn int(&mut self, value: i64) -> &mut Self {
        self.0.push(b'i');
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn maybe(&mut self, value: Option<i64>) -> &mut Self {
        self.value(value.map_or(ValueRef::Null, ValueRef::Integer))
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(b't', text.as_bytes())
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) -> &mut Self {
        self.0.push(kind);
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    fn value(&mut self, value: ValueRef<'_>) -> &mut Self {
        match value {
            ValueRef::Null => self.0.push(b'n'),
            ValueRef::Integer(value) => return self.int(value),
            // SQLite stores NaN as NULL and -0.0 as 0.0.
            ValueRef::Real(value) if value.is_nan() => self.0.push(b'n'),
            ValueRef::Real(value) => {
                self.0.push(b'r');
                self.0.extend_from_slice(&(value + 0.0).to_bits().to_le_bytes());
            }
            ValueRef::Text(text) => return self.bytes(b't', text),
            ValueRef::Blob(blob) => return self.bytes(b'b', blob),
        }
        self
    }

    fn digest(&self) -> PartDigest {
        half(Sha256::digest(&self.0).into())
    }
}

fn half(sha256: Sealed) -> PartDigest {
    let (first, _) = sha256.split_first_chunk().unwrap_or((&[0; 16], &[]));
    *first
}

/// Digest of who plays a game. A name counts by its digest, so that the seals of a game can be recomputed after a player
/// was renamed.
fn players_digest(players: [(i64, PartDigest); 2]) -> PartDigest {
    let mut fields = Fields::default();
    for (player, name) in players {
        fields.int(player).value(ValueRef::Blob(&name));
    }
    fields.digest()
}

/// Digest of a text alone.
pub(crate) fn text_digest(text: &str) -> PartDigest {
    Fields::default().text(text).digest()
}

/// Digest of the columns of a row after `event` and `seq`. Nulls at the end are left out, so that a later schema may
/// append columns.
pub(crate) fn row_digest(columns: &[&dyn ToSql]) -> rusqlite::Result<PartDigest> {
    let (mut fields, mut length) = (Fields::default(), 0);
    for column in columns.iter().skip(2) {
        let column = column.to_sql()?;
        let value = match &column {
            ToSqlOutput::Borrowed(value) => *value,
            ToSqlOutput::Owned(value) => value.into(),
            _ => return Err(rusqlite::Error::ToSqlConversionFailure("a value that no seal covers".into())),
        };
        fields.value(value);
        if value != ValueRef::Null {
            length = fields.0.len();
        }
    }
    fields.0.truncate(length);
    Ok(fields.digest())
}

/// Digest of the row of an entry that has a table of its own; `None` if there is no such row.
pub(crate) fn stored_digest(
    conn: &Connection,
    event: i64,
    seq: i64,
    kind: &str,
) -> rusqlite::Result<Option<PartDigest>> {
    let Some(table) = table_of(kind) else { return Ok(None) };
    let mut row = conn.prepare_cached(&format!("SELECT * FROM {table} WHERE event = ? AND seq = ?"))?;
    let columns = row.column_count();
    let values = row
        .query_row([event, seq], |row| (0..columns).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>())
        .optional()?;
    let values = values.as_deref().map(|values| values.iter().map(|value| value as &dyn ToSql).collect());
    values.map(|values: Vec<_>| row_digest(&values)).transpose()
}

/// The digests of a game that is played: what is known from its start, and its moves so far.
#[derive(Debug)]
pub(crate) struct GameDigest {
    players: [u32; 2],
    known: [PartDigest; 2],
    moves: [Sha256; 3],
}

/// What a move adds to the parts of its game, as its row has it.
pub(crate) struct MoveRow<'a> {
    pub(crate) ply: u32,
    pub(crate) color: i64,
    pub(crate) usi: &'a str,
    /// `at`, `charged_ms`, `elapsed_us`, `left_ms`.
    pub(crate) times: [i64; 4],
    pub(crate) score_cp: Option<i32>,
    pub(crate) mate: Option<i32>,
}

/// What is known of a game when it starts, as its row has it.
pub(crate) struct StartRow<'a> {
    pub(crate) game: GameId,
    pub(crate) pairing: &'a Pairing,
    pub(crate) start: &'a str,
    pub(crate) opening: &'a str,
    pub(crate) times: Option<&'a str>,
    /// `None` where the date is unknown.
    pub(crate) at: Option<i64>,
}

impl GameDigest {
    /// A game at its start.
    pub(crate) fn start(row: &StartRow<'_>) -> Self {
        let Pairing { stage, attempt, round, opening, black, white, .. } = *row.pairing;
        let mut fields = Fields::default();
        let place = [int(row.game.0), stage.into(), attempt.into(), round.into(), int(opening)];
        let place = place.iter().fold(fields.clear(), |fields, value| fields.int(*value)).digest();
        fields.clear().text(row.start).text(row.opening);
        let times = row.times.map_or(ValueRef::Null, |times| ValueRef::Text(times.as_bytes()));
        let beginning = fields.value(times).maybe(row.at).digest();
        Self { players: [black.0, white.0], known: [place, beginning], moves: Default::default() }
    }

    /// Takes a move; `fields` is a buffer.
    pub(crate) fn moved(&mut self, row: &MoveRow<'_>, fields: &mut Fields) {
        let [moves, times, evaluations] = &mut self.moves;
        moves.update(&fields.clear().int(row.ply.into()).int(row.color).text(row.usi).0);
        times.update(&row.times.iter().fold(fields.clear(), |fields, time| fields.int(*time)).0);
        let score = [row.score_cp, row.mate].map(|score| score.map(i64::from));
        evaluations.update(&fields.clear().maybe(score[0]).maybe(score[1]).0);
    }

    /// The parts of the game with its ending: `ended_at`, `result`, `cause`, `plies`, `replayed`, `moves_hash`, and the
    /// evidence.
    /// `names` are those of the players, by number.
    pub(crate) fn ended(
        self,
        ending: &[&dyn ToSql; 6],
        evidence: &str,
        names: &HashMap<u32, String>,
    ) -> rusqlite::Result<[PartDigest; 8]> {
        let name = |player: u32| text_digest(names.get(&player).map_or("", String::as_str));
        let players = players_digest(self.players.map(|player| (player.into(), name(player))));
        let [place, beginning] = self.known;
        let [moves, times, evaluations] = self.moves.map(|part| half(part.finalize().into()));
        let [at, result, cause, plies, replayed, hash] = ending;
        let ending = row_digest(&[&0, &0, at, result, cause, plies, replayed, hash])?;
        Ok([players, place, beginning, moves, times, evaluations, ending, text_digest(evidence)])
    }
}

/// A game that ended as its rows have it, without the names of its players: those may have changed since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredGame {
    /// Black and white, by number.
    pub(crate) players: [i64; 2],
    /// True if its moves were dropped. Moves that are still there are compared, whatever the game says of itself.
    pub(crate) is_pruned: bool,
    /// The digests of [`GAME_PARTS`] but the first.
    parts: [PartDigest; 7],
}

impl StoredGame {
    /// Reads the game with this row id. Values are taken as they are: a row that was altered may hold what no entry can
    /// have.
    pub(crate) fn read(conn: &Connection, game: i64) -> rusqlite::Result<Self> {
        let sql = "SELECT g.black, g.white, g.number, g.stage, g.attempt, g.round, g.opening,
                          g.start, g.opening_moves, g.times, g.started_at,
                          g.ended_at, iif(g.ruling IS NULL, g.result, g.ended_result),
                          iif(g.ruling IS NULL, g.cause, g.ended_cause), g.plies,
                          iif(g.ruling IS NULL, g.replayed, g.ended_replayed), g.moves_hash, g.evidence,
                          g.pruned_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM moves WHERE game = g.id)
                   FROM games g WHERE g.id = ?";
        let [moves, times, evaluations] = stored_moves(conn, game)?;
        conn.prepare_cached(sql)?.query_row([game], |row| {
            let part = |columns: std::ops::Range<usize>| -> rusqlite::Result<PartDigest> {
                let mut fields = Fields::default();
                for at in columns {
                    fields.value(row.get_ref(at)?);
                }
                Ok(fields.digest())
            };
            let (place, beginning, evidence) = (part(2..7)?, part(7..11)?, part(17..18)?);
            Ok(Self {
                players: [row.get(0)?, row.get(1)?],
                is_pruned: row.get(18)?,
                parts: [place, beginning, moves, times, evaluations, ending(row)?, evidence],
            })
        })
    }

    /// The digests of [`GAME_PARTS`]; `name` gives the digest of a player's name.
    pub(crate) fn parts(&self, name: &dyn Fn(i64) -> PartDigest) -> [PartDigest; 8] {
        let players = players_digest(self.players.map(|player| (player, name(player))));
        let [place, beginning, moves, times, evaluations, ending, evidence] = self.parts;
        [players, place, beginning, moves, times, evaluations, ending, evidence]
    }
}

fn ending(row: &Row<'_>) -> rusqlite::Result<PartDigest> {
    let values = (11..17).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>()?;
    let zeros: [&dyn ToSql; 2] = [&0, &0];
    let columns: Vec<_> = zeros.into_iter().chain(values.iter().map(|value| value as &dyn ToSql)).collect();
    row_digest(&columns)
}

fn stored_moves(conn: &Connection, game: i64) -> rusqlite::Result<[PartDigest; 3]> {
    let sql = "SELECT ply, color, move, at, charged_ms, elapsed_us, left_ms, score_cp, mate FROM moves
               WHERE game = ? ORDER BY ply";
    let mut moves = conn.prepare_cached(sql)?;
    let mut rows = moves.query([game])?;
    let (mut parts, mut fields): ([Sha256; 3], _) = (Default::default(), Fields::default());
    while let Some(row) = rows.next()? {
        for (part, columns) in parts.iter_mut().zip([0..3, 3..7, 7..9]) {
            fields.clear();
            for at in columns {
                fields.value(row.get_ref(at)?);
            }
            part.update(&fields.0);
        }
    }
    Ok(parts.map(|part| half(part.finalize().into())))
}

impl Store {
    /// The head of an event: the seal of its last entry, which covers everything before it; `None` where nothing has a
    /// seal.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn head(&self, EventId(event): EventId) -> Result<Option<String>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT sha256 FROM seals WHERE event = ? ORDER BY seq DESC LIMIT 1";
            conn.query_row(sql, [event], |row| Ok(hex(row.get_ref(0)?.as_blob()?))).optional()
        })
    }

    /// The number of the last entry of an event that has a seal, from 1; `None` where nothing has one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_sealed(&self, EventId(event): EventId) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT max(seq) FROM seals WHERE event = ?";
        self.database().check(|conn| conn.query_row(sql, [event], |row| row.get(0)))
    }
}

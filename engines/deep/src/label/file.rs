//! The database of labels.

use super::Answered;
use crate::samples::{Corpus, Sample};
use anyhow::{Result, anyhow, bail};
use rsshogi::{board::PackedSfen, types::Move};
use rusqlite::{Connection, OptionalExtension, params};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

/// The table that identifies a file of labels.
pub(crate) const TABLE: &str = "labels";
const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS teacher (name TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS labels (
        position    BLOB PRIMARY KEY,   -- 32 bytes, as PSV has them
        move        TEXT,               -- USI; NULL when the engine resigned or declared
        score_cp    INTEGER,            -- of the player to move, mates at +-30000
        seen        INTEGER NOT NULL,   -- how often the position occurred before in its game
        half_points INTEGER,            -- of the player to move in that game: 2, 1, 0
        game        INTEGER NOT NULL    -- which game, by its moves
    ) STRICT, WITHOUT ROWID;";
const ADD: &str = "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)";
const READ: &str =
    "SELECT position, move, score_cp, seen, half_points, game FROM labels WHERE move IS NOT NULL";

pub(super) struct LabelFile {
    conn: Connection,
    path: PathBuf,
    known: HashSet<[u8; 32]>,
}

impl LabelFile {
    /// Opens or creates the file for the labels of `teacher`.
    pub(super) fn open(path: &Path, teacher: &str) -> Result<Self> {
        let failed = |fault| failed(path, &fault);
        let conn = Connection::open(path).map_err(failed)?;
        conn.execute_batch(SCHEMA).map_err(failed)?;
        let found = conn.query_row("SELECT name FROM teacher", [], |row| row.get::<_, String>(0)).optional();
        match found.map_err(failed)? {
            None => conn.execute("INSERT INTO teacher VALUES (?)", [teacher]).map(drop).map_err(failed)?,
            Some(found) if found == teacher => {}
            Some(found) => bail!(
                "labels `{}` are those of `{found}`, not of `{teacher}`: give another --out",
                path.display()
            ),
        }
        let known = known(&conn).map_err(failed)?;
        Ok(Self { conn, path: path.to_owned(), known })
    }

    pub(super) fn has(&self, position: &[u8; 32]) -> bool {
        self.known.contains(position)
    }

    /// Writes labels in one transaction.
    pub(super) fn add(&mut self, answered: &[Answered]) -> Result<()> {
        let mut write = || {
            let transaction = self.conn.transaction()?;
            for (sample, label) in answered {
                let Sample { position, seen, half_points, game, .. } = sample;
                // SQLite's integers are signed.
                let game = game.cast_signed();
                transaction.prepare_cached(ADD)?.execute(params![
                    position.data,
                    label.mv,
                    label.score,
                    seen,
                    half_points,
                    game
                ])?;
            }
            transaction.commit()
        };
        write().map_err(|fault| failed(&self.path, &fault))
    }
}

fn failed(path: &Path, fault: &rusqlite::Error) -> anyhow::Error {
    anyhow!("labels `{}`: {fault}", path.display())
}

fn known(conn: &Connection) -> rusqlite::Result<HashSet<[u8; 32]>> {
    let mut statement = conn.prepare("SELECT position FROM labels")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Adds the labels of a file to a corpus: position, engine's move and score, and the result of the game.
pub(crate) fn read(conn: &Connection, corpus: &mut Corpus) -> rusqlite::Result<()> {
    let mut statement = conn.prepare(READ)?;
    let mut rows = statement.query([])?;
    let mut games = HashSet::new();
    while let Some(row) = rows.next()? {
        let Some(mv) = Move::from_usi(&row.get::<_, String>(1)?) else { continue };
        let score: Option<i32> = row.get(2)?;
        let sample = Sample {
            position: PackedSfen { data: row.get(0)? },
            mv,
            score: score.map(|score| score.clamp(-30_000, 30_000) as i16),
            seen: row.get(3)?,
            half_points: row.get(4)?,
            game: row.get::<_, i64>(5)?.cast_unsigned(),
        };
        let is_legal = sample.unpacked().is_some_and(|(_, legal)| legal.as_slice().contains(&mv));
        if is_legal {
            games.insert(sample.game);
            corpus.samples.push(sample);
        }
    }
    corpus.games += games.len();
    Ok(())
}

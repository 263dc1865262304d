//! Files of labels: positions with the move and the score of a teacher, for engines that learn. Each is a database of its
//! own, apart from those of events.

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::{collections::HashSet, path::Path};

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

/// SQLite's error on a file of labels.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct LabelFault(#[from] rusqlite::Error);

/// A position with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLabel {
    /// The position as PSV has it.
    pub position: [u8; 32],
    /// The teacher's move in USI; `None` when it resigned or declared a win.
    pub mv: Option<String>,
    /// The teacher's score in centipawns, of the player to move.
    pub score: Option<i32>,
    /// Earlier occurrences of the position in its game.
    pub seen: u8,
    /// Twice the points of the player to move in that game.
    pub half_points: Option<u8>,
    /// Hash of the game's moves.
    pub game: u64,
}

/// A file of labels that is open for writing.
#[derive(Debug)]
pub struct LabelStore(Connection);

impl LabelStore {
    /// Opens or creates a file for the labels of `teacher`. Returns it with the teacher whose labels it has.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn open(path: &Path, teacher: &str) -> Result<(Self, String), LabelFault> {
        let conn = Connection::open(path)?;
        conn.execute_batch(SCHEMA)?;
        let found = conn.query_row("SELECT name FROM teacher", [], |row| row.get(0)).optional()?;
        if found.is_none() {
            conn.execute("INSERT INTO teacher VALUES (?)", [teacher])?;
        }
        Ok((Self(conn), found.unwrap_or_else(|| teacher.to_owned())))
    }

    /// The positions that have labels.
    ///
    /// # Errors
    /// When SQLite fails.
    pub fn positions(&self) -> Result<HashSet<[u8; 32]>, LabelFault> {
        let mut positions = self.0.prepare("SELECT position FROM labels")?;
        Ok(positions.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Writes labels in one transaction.
    ///
    /// # Errors
    /// When SQLite fails; then none of them is written.
    pub fn add(&mut self, labels: impl IntoIterator<Item = StoredLabel>) -> Result<(), LabelFault> {
        let transaction = self.0.transaction()?;
        for StoredLabel { position, mv, score, seen, half_points, game } in labels {
            // SQLite's integers are signed.
            let row = params![position, mv, score, seen, half_points, game.cast_signed()];
            let sql = "INSERT OR REPLACE INTO labels VALUES (?, ?, ?, ?, ?, ?)";
            transaction.prepare_cached(sql)?.execute(row)?;
        }
        Ok(transaction.commit()?)
    }
}

/// Hands the labels of a file to `f`. Returns false if the file is a database of another kind.
///
/// # Errors
/// When SQLite fails.
pub fn read_labels(path: &Path, f: &mut dyn FnMut(StoredLabel)) -> Result<bool, LabelFault> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if !conn.table_exists(None, "labels")? {
        return Ok(false);
    }
    let mut labels = conn.prepare("SELECT position, move, score_cp, seen, half_points, game FROM labels")?;
    let mut rows = labels.query([])?;
    while let Some(row) = rows.next()? {
        f(StoredLabel {
            position: row.get(0)?,
            mv: row.get(1)?,
            score: row.get(2)?,
            seen: row.get(3)?,
            half_points: row.get(4)?,
            game: row.get::<_, i64>(5)?.cast_unsigned(),
        });
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_as_they_were_written_and_belong_to_one_teacher() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("labels.db");
        let (mut store, teacher) = LabelStore::open(&path, "first").unwrap();
        assert_eq!(teacher, "first");
        let label = |byte: u8, mv: Option<&str>| StoredLabel {
            position: [byte; 32],
            mv: mv.map(str::to_owned),
            score: Some(-77),
            seen: 1,
            half_points: Some(2),
            game: u64::MAX,
        };
        let labels = [label(1, Some("7g7f")), label(2, None)];
        store.add(labels.clone()).unwrap();
        assert_eq!(store.positions().unwrap(), HashSet::from([[1; 32], [2; 32]]));
        let mut found = vec![];
        assert!(read_labels(&path, &mut |label| found.push(label)).unwrap());
        assert_eq!(found, labels);
        assert_eq!(LabelStore::open(&path, "second").unwrap().1, "first");
        let other = place.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE cats (name)").unwrap();
        assert!(!read_labels(&other, &mut |_| ()).unwrap());
    }
}

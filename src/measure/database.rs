//! The manager's database.

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags};
use std::{collections::BTreeMap, path::Path};

/// A database of the manager, read only.
pub struct Database(Connection);

/// Wins, losses and draws.
pub type Counts = (i64, i64, i64);

/// A game as recorded in one database.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordedGame {
    players: [String; 2],
    result: String,
    /// Moves in USI with charged and remaining milliseconds.
    moves: String,
}

impl RecordedGame {
    /// Number of recorded moves.
    pub fn plies(&self) -> usize {
        self.moves.split_whitespace().count()
    }
}

impl Database {
    /// Counted games of a player, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn recorded_games(&self, player: &str) -> Result<Vec<RecordedGame>> {
        let mut query = self.0.prepare(
            "SELECT black, white, result,
                    (SELECT group_concat(move || ':' || charged_ms || ':' || left_ms, ' ' ORDER BY ply)
                     FROM moves m WHERE m.game = g.game)
             FROM game_list g WHERE state = 'counted' AND ?1 IN (black, white) ORDER BY number",
        )?;
        let row = |row: &rusqlite::Row<'_>| {
            let moves: Option<String> = row.get(3)?;
            let (players, moves) = ([row.get(0)?, row.get(1)?], moves.unwrap_or_default());
            Ok(RecordedGame { players, result: row.get(2)?, moves })
        };
        let rows = query.query_map([player], row)?.collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Opens a database.
    ///
    /// # Errors
    /// When the file is missing or not a database.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        Ok(Self(opened.with_context(|| format!("`{}` could not be opened", path.display()))?))
    }

    /// Number of counted games.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn finished(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM games WHERE state = 'counted'")
    }

    /// Number of pairings in the schedule that have a counted game.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn places(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM (SELECT DISTINCT stage, index_ FROM games WHERE state = 'counted')")
    }

    /// Number of games recorded as running.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn running(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM games WHERE state = 'running'")
    }

    /// Number of moves.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn moves(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM moves")
    }

    /// Number of games lost on time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn lost_on_time(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM games WHERE cause = 'time'")
    }

    /// Measured times of all moves in microseconds, ascending.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn times(&self) -> Result<Vec<i64>> {
        let mut query = self.0.prepare("SELECT elapsed_us FROM moves ORDER BY elapsed_us")?;
        let times = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(times)
    }

    /// Counted games by pairing: colours and opening.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn schedule(&self) -> Result<Vec<[i64; 5]>> {
        let mut query = self.0.prepare(
            "SELECT stage, index_, black, white, opening FROM games WHERE state = 'counted' ORDER BY stage, index_",
        )?;
        let row =
            |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]);
        let rows = query.query_map([], row)?.collect::<Result<_, _>>()?;
        Ok(rows)
    }

    /// Score of every player, counted from the games and not through the manager's views.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn scores(&self) -> Result<BTreeMap<String, Counts>> {
        let mut query = self.0.prepare(
            "SELECT p.name,
                    count(*) FILTER (WHERE g.result = iif(g.black = p.player, 'black', 'white')),
                    count(*) FILTER (WHERE g.result = iif(g.black = p.player, 'white', 'black')),
                    count(*) FILTER (WHERE g.result = 'draw')
             FROM players p JOIN games g ON g.event = p.event AND p.player IN (g.black, g.white)
             WHERE g.ended_at IS NOT NULL AND g.result <> 'aborted' AND NOT g.replayed
             GROUP BY p.name",
        )?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)));
        let rows = query.query_map([], row)?.collect::<Result<_, _>>()?;
        Ok(rows)
    }

    fn count(&self, query: &str) -> Result<i64> {
        Ok(self.0.query_row(query, [], |row| row.get(0))?)
    }
}

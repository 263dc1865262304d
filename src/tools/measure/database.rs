//! The manager's database.

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags, Params, Row};
use std::{collections::BTreeMap, path::Path};

/// A database of the manager, read only.
pub struct Database(Connection);

/// Wins, losses and draws.
pub type Counts = (i64, i64, i64);

/// A game as its players know it.
#[derive(Debug, PartialEq, Eq)]
pub struct KeptGame {
    /// The winner's colour, or a word for another end.
    pub result: String,
    /// The cause of its end.
    pub cause: String,
    /// Moves in USI with charged milliseconds.
    pub moves: String,
}

impl Database {
    /// All games of the player with black, in order, whatever trip stands behind its name.
    pub fn games_of(&self, black: &str) -> Result<Vec<KeptGame>> {
        let row = |row: &Row<'_>| {
            let moves: Option<String> = row.get(2)?;
            Ok(KeptGame { result: row.get(0)?, cause: row.get(1)?, moves: moves.unwrap_or_default() })
        };
        self.rows("SELECT result, cause,
                    (SELECT group_concat(move || ':' || charged_ms, ' ' ORDER BY ply) FROM moves m WHERE m.game = g.game)
             FROM game_list g WHERE black = ?1 OR black LIKE ?1 || '+%' ORDER BY number", [black], row)
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
    pub fn finished(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM games WHERE state = 'counted'")
    }

    /// Number of pairings in the schedule that have a counted game.
    pub fn places(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM (SELECT DISTINCT stage, index_ FROM games WHERE state = 'counted')")
    }

    /// Number of games recorded as running.
    pub fn running(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM games WHERE state = 'running'")
    }

    /// Number of moves.
    pub fn moves(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM moves")
    }

    /// Number of games lost on time.
    pub fn lost_on_time(&self) -> Result<i64> {
        self.count("SELECT count(*) FROM games WHERE cause = 'time'")
    }

    /// Measured times of all moves in microseconds, ascending.
    pub fn times(&self) -> Result<Vec<i64>> {
        self.rows("SELECT elapsed_us FROM moves ORDER BY elapsed_us", [], |row| row.get(0))
    }

    /// Counted games by pairing: colours and opening.
    pub fn schedule(&self) -> Result<Vec<[i64; 5]>> {
        let row = |row: &Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?]);
        self.rows("SELECT stage, index_, black, white, opening FROM games WHERE state = 'counted' ORDER BY stage, index_", [], row)
    }

    /// Score of every player, counted from the games and not through the manager's views.
    pub fn scores(&self) -> Result<BTreeMap<String, Counts>> {
        let row = |row: &Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?)));
        self.rows(
            "SELECT p.name,
                    count(*) FILTER (WHERE g.result = iif(g.black = p.player, 'black', 'white')),
                    count(*) FILTER (WHERE g.result = iif(g.black = p.player, 'white', 'black')),
                    count(*) FILTER (WHERE g.result = 'draw')
             FROM players p JOIN games g ON g.event = p.event AND p.player IN (g.black, g.white)
             WHERE g.ended_at IS NOT NULL AND g.result <> 'aborted' AND NOT g.replayed
             GROUP BY p.name",
            [],
            row,
        )
    }

    fn rows<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        params: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C> {
        let mut query = self.0.prepare(sql)?;
        Ok(query.query_map(params, row)?.collect::<Result<C, _>>()?)
    }

    fn count(&self, query: &str) -> Result<i64> {
        Ok(self.0.query_row(query, [], |row| row.get(0))?)
    }
}

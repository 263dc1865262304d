//! Games out of a database of Renmei. The only part of this crate that knows SQLite.

use std::path::Path;

use rsshogi::types::{Color, Move};
use rusqlite::{Connection, OpenFlags, Result, Row, Statement};

use super::{Game, GameResult, MATE_SCORE};

const GAMES: &str = "SELECT g.id, g.start, g.opening_moves, g.result, b.name, w.name
    FROM games g
    JOIN players b ON b.event = g.event AND b.player = g.black
    JOIN players w ON w.event = g.event AND w.player = g.white
    WHERE g.start IS NOT NULL AND g.result IN ('black', 'white', 'draw') ORDER BY g.id";

const MOVES: &str = "SELECT move, score_cp, mate FROM moves WHERE game = ?1 ORDER BY ply";

/// All finished games of the database; it may be growing.
pub fn games(path: &Path) -> Result<Vec<Game>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut moves = connection.prepare(MOVES)?;
    let mut games = connection.prepare(GAMES)?;
    let mut rows = games.query([])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(game(row, &mut moves)?);
    }
    Ok(all)
}

fn game(row: &Row<'_>, moves: &mut Statement<'_>) -> Result<Game> {
    let given: Option<String> = row.get(2)?;
    let opening = given.unwrap_or_default();
    let mut all: Vec<(Move, Option<i32>)> =
        opening.split_whitespace().map_while(Move::from_usi).map(|mv| (mv, None)).collect();
    let opening = all.len();
    let mut played = moves.query([row.get::<_, i64>(0)?])?;
    while let Some(row) = played.next()? {
        let Some(mv) = Move::from_usi(row.get_ref(0)?.as_str()?) else { break };
        all.push((mv, score(row)?));
    }
    let result = match row.get_ref(3)?.as_str()? {
        "black" => GameResult::Won(Color::BLACK),
        "white" => GameResult::Won(Color::WHITE),
        _ => GameResult::Drawn,
    };
    Ok(Game {
        start: row.get(1)?,
        opening,
        moves: all,
        names: [Some(row.get(4)?), Some(row.get(5)?)],
        result: Some(result),
        loose: false,
    })
}

fn score(row: &Row<'_>) -> Result<Option<i32>> {
    let mate: Option<i64> = row.get(2)?;
    let centipawns: Option<i64> = row.get(1)?;
    let limit = i64::from(MATE_SCORE);
    Ok(match (mate, centipawns) {
        (Some(mate), _) => Some(if mate < 0 { -MATE_SCORE } else { MATE_SCORE }),
        (None, Some(score)) => Some(score.clamp(-limit, limit) as i32),
        (None, None) => None,
    })
}

//! Games of Renmei's store, and files of labels.

use super::super::samples::{Corpus, MATE, Told};
use super::SourceError;
use crate::label;
use rsshogi::types::Color;
use rusqlite::{Connection, OpenFlags, Row};
use std::path::Path;

/// Games that count; a draw that was played again is none, nor is a game that was broken off.
const GAMES: &str = "SELECT id, start, opening_moves, winner FROM games WHERE state = 'counted' AND start IS NOT NULL ORDER BY id";
const MOVES: &str = "SELECT move, score_cp, mate FROM moves WHERE game = ? ORDER BY ply";

pub(super) fn read(path: &Path, corpus: &mut Corpus) -> Result<(), SourceError> {
    let mut read = || {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        if conn.table_exists(None, label::TABLE)? {
            return label::read(&conn, corpus);
        }
        let (mut games, mut moves) = (conn.prepare(GAMES)?, conn.prepare(MOVES)?);
        let mut rows = games.query([])?;
        while let Some(row) = rows.next()? {
            let mut told = game(row)?;
            let played = moves.query_map([row.get::<_, i64>(0)?], mv)?;
            for played in played {
                told.moves.push(played?);
            }
            corpus.add(&told);
        }
        Ok(())
    };
    read().map_err(|source| SourceError::Store { path: path.to_owned(), source })
}

fn game(row: &Row) -> rusqlite::Result<Told> {
    let opening: Option<String> = row.get(2)?;
    let winner: Option<String> = row.get(3)?;
    Ok(Told {
        start: row.get(1)?,
        moves: opening
            .iter()
            .flat_map(|o| o.split_ascii_whitespace())
            .map(|mv| (mv.to_owned(), None, false))
            .collect(),
        winner: Some(winner.map(|winner| if winner == "black" { Color::BLACK } else { Color::WHITE })),
    })
}

fn mv(row: &Row) -> rusqlite::Result<(String, Option<i32>, bool)> {
    let (score, mate): (Option<i32>, Option<i32>) = (row.get(1)?, row.get(2)?);
    Ok((row.get(0)?, score.or(mate.map(|mate| if mate > 0 { MATE } else { -MATE })), true))
}

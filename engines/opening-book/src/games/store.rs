//! Games of a Renmei database.

use std::path::Path;

use journal::{FullGame, GameFilter, Store, StoreError};
use referee::{
    Color as Side, Outcome,
    entry::{Moved, Score},
};
use rsshogi::types::{Color, Move};

use super::{Game, GameResult, MATE_SCORE};

/// The won and drawn games of all events of the database, which may still be growing.
pub fn games(path: &Path) -> Result<Vec<Game>, StoreError> {
    let store = Store::read(path)?;
    let mut all = Vec::new();
    for event in store.events()? {
        store.full_games(event.id, &GameFilter::default(), |game| {
            all.extend(finished(game));
            Ok::<_, StoreError>(())
        })?;
    }
    Ok(all)
}

/// `None` for a game without a start position or a result: running, adjourned or aborted.
fn finished(game: FullGame) -> Option<Game> {
    let FullGame { row, moves: played, .. } = game;
    let start = row.start?;
    let result = result(row.outcome?)?;
    let opening = row.opening.unwrap_or_default();
    let mut moves: Vec<(Move, Option<i32>)> =
        opening.split_whitespace().map_while(Move::from_usi).map(|mv| (mv, None)).collect();
    let opening = moves.len();
    moves.extend(played.iter().map(|(_, moved)| (moved.mv, score(moved))));
    let names = [Some(row.black), Some(row.white)];
    Some(Game { start, opening, moves, names, result: Some(result), loose: false })
}

fn result(outcome: Outcome) -> Option<GameResult> {
    match outcome {
        Outcome::Win { winner: Side::Black, .. } => Some(GameResult::Won(Color::BLACK)),
        Outcome::Win { winner: Side::White, .. } => Some(GameResult::Won(Color::WHITE)),
        Outcome::Draw { .. } => Some(GameResult::Drawn),
        Outcome::Aborted { .. } => None,
    }
}

fn score(moved: &Moved) -> Option<i32> {
    Some(match moved.thought.as_ref()?.score? {
        Score::Mate(plies) if plies < 0 => -MATE_SCORE,
        Score::Mate(_) => MATE_SCORE,
        Score::Cp(centipawns) => centipawns.clamp(-MATE_SCORE, MATE_SCORE),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_of_databases_are_read_with_their_scores() {
        let folder = tempfile::tempdir().unwrap();
        for (name, contents) in [
            ("finished", include_str!("../../../../src/tools/fuzz/samples/finished.sql")),
            ("floodgate", include_str!("../../../../src/tools/fuzz/samples/floodgate.sql")),
            ("league", include_str!("../../../../src/tools/fuzz/samples/league.sql")),
        ] {
            let path = folder.path().join(name);
            drop(journal::Writer::open(&path).unwrap());
            rusqlite::Connection::open(&path).unwrap().execute_batch(contents).unwrap();
            let games = games(&path).unwrap();
            assert_eq!(games.len(), 3, "{name}");
            assert!(games.iter().all(|game| game.moves.len() > game.opening), "{name}");
            // The players of the league sent no scores to its host.
            let scored = games.iter().any(|game| game.moves.iter().any(|(_, score)| score.is_some()));
            assert_eq!(scored, name != "league", "{name}");
        }
    }
}

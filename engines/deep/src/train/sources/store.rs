//! Renmei databases, and files of labels.

use super::{
    super::samples::{Corpus, GameMoves, MATE},
    SourceError,
};
use crate::label;
use journal::{FullGame, GameFilter, GameState, Store, StoreError};
use referee::{
    Color as Side, Outcome,
    entry::{Moved, Score},
};
use rsshogi::types::Color;
use std::path::Path;

/// Adds the content of either kind of database, which the table of labels distinguishes.
pub(super) fn read(path: &Path, corpus: &mut Corpus) -> Result<(), SourceError> {
    let labels = |source| SourceError::Labels { path: path.to_owned(), source };
    if !label::read(path, corpus).map_err(labels)? {
        read_games(path, corpus)?;
    }
    Ok(())
}

/// Adds the games that count; draws that were replayed and games that were broken off do not.
fn read_games(path: &Path, corpus: &mut Corpus) -> Result<(), StoreError> {
    let store = Store::read(path)?;
    let counted = GameFilter { state: Some(GameState::Counted), ..GameFilter::default() };
    for event in store.events()? {
        store.full_games(event.id, &counted, |game| {
            if let Some(game) = game_moves(game) {
                corpus.add(&game);
            }
            Ok::<_, StoreError>(())
        })?;
    }
    Ok(())
}

/// `None` for a game without a start position.
fn game_moves(game: FullGame) -> Option<GameMoves> {
    let start = game.row.start?;
    let opening = game.row.opening.unwrap_or_default();
    let opening = opening.split_ascii_whitespace().map(|mv| (mv.to_owned(), None, false));
    let played = game.moves.iter().map(|(_, moved)| (moved.mv.to_usi(), score(moved), true));
    Some(GameMoves { start, moves: opening.chain(played).collect(), winner: game.row.outcome.map(winner) })
}

fn winner(outcome: Outcome) -> Option<Color> {
    outcome.winner().map(|winner| match winner {
        Side::Black => Color::BLACK,
        Side::White => Color::WHITE,
    })
}

fn score(moved: &Moved) -> Option<i32> {
    Some(match moved.thought.as_ref()?.score? {
        Score::Mate(plies) if plies > 0 => MATE,
        Score::Mate(_) => -MATE,
        Score::Cp(centipawns) => centipawns,
    })
}

//! Lists of games, one per line: number of random opening plies, ending, moves from the even start position,
//! scores.

use super::super::samples::{Corpus, GameMoves};
use super::SourceError;
use rsshogi::{board::STARTPOS_SFEN, types::Color};
use std::path::Path;

pub(super) fn read(path: &Path, text: &str, corpus: &mut Corpus) -> Result<(), SourceError> {
    for (number, line) in text.lines().enumerate().skip(1) {
        let game = game(line).map_err(|reason| SourceError::Content {
            path: path.to_owned(),
            place: format!("line {}", number + 1),
            reason,
        })?;
        corpus.add(&game);
    }
    Ok(())
}

fn game(line: &str) -> Result<GameMoves, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [random, ending, moves, scores] = fields[..] else {
        return Err(format!("{} fields instead of 4", fields.len()));
    };
    let random: usize = random.parse().map_err(|_| format!("`{random}` is not a number of plies"))?;
    let moves: Vec<&str> = moves.split_ascii_whitespace().collect();
    let scores = scores.split_ascii_whitespace().map(score).collect::<Result<Vec<_>, _>>()?;
    if scores.len() != moves.len() {
        return Err(format!("{} moves but {} scores", moves.len(), scores.len()));
    }
    let winner = winner(ending, moves.len())?;
    let played = moves.into_iter().zip(scores).enumerate();
    let moves = played.map(|(ply, (mv, score))| (mv.to_owned(), score, ply >= random)).collect();
    Ok(GameMoves { start: STARTPOS_SFEN.to_owned(), moves, winner: Some(winner) })
}

fn score(text: &str) -> Result<Option<i32>, String> {
    match text {
        "-" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| format!("`{text}` is not a score")),
    }
}

/// The player to move after the last move is the one who resigns, is mated, or declares.
fn winner(ending: &str, plies: usize) -> Result<Option<Color>, String> {
    let to_move = if plies.is_multiple_of(2) { Color::BLACK } else { Color::WHITE };
    match ending {
        "resign" | "mate" => Ok(Some(to_move.flip())),
        "win" | "declaration" => Ok(Some(to_move)),
        "sennichite" | "max_moves" => Ok(None),
        _ => Err(format!("`{ending}` is not an ending")),
    }
}

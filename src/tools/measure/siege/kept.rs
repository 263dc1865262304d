//! Compares the event of a host that was attacked with what it would be undisturbed: the players' moves are always the
//! same, so every game has to be there once, with these moves, the times that were charged, and its players' result.

use super::games::{PlayedGame, moves};
use crate::database::{Database, KeptGame};
use anyhow::{Context, Result, ensure};

/// Checks the games of all tables.
///
/// # Errors
/// When a game is missing, or one is there that was not played, or another one.
pub fn expect_undisturbed(database: &Database, tables: &[Vec<PlayedGame>]) -> Result<()> {
    ensure!(database.running()? == 0, "{} games never ended", database.running()?);
    for (number, played) in tables.iter().enumerate() {
        let kept = database.games_of(&format!("black{number}"))?;
        let expected: Vec<KeptGame> = played.iter().map(|message| expected(message)).collect();
        let first = kept.iter().zip(&expected).position(|(kept, expected)| kept != expected);
        let same = first.is_none() && kept.len() == expected.len();
        let at = first.unwrap_or(kept.len().min(expected.len()));
        ensure!(
            same,
            "black{number} played {} games, {} are kept; game {at} differs: kept {:?}, played {:?}",
            expected.len(),
            kept.len(),
            kept.get(at),
            expected.get(at)
        );
    }
    Ok(())
}

/// The game of these times.
fn expected(message: &[u64]) -> KeptGame {
    let moves =
        moves().zip(message).map(|(mv, message)| format!("{}:{message}", usi(&mv).unwrap_or_default()));
    let winner = if message.len().is_multiple_of(2) { "white" } else { "black" };
    KeptGame {
        result: winner.to_owned(),
        cause: "resignation".to_owned(),
        moves: moves.collect::<Vec<_>>().join(" "),
    }
}

/// The USI form of a move that neither drops nor promotes.
fn usi(csa: &str) -> Result<String> {
    let squares = csa.get(1..5).with_context(|| format!("`{csa}` is no move"))?;
    let letter = |(place, c): (usize, char)| match c {
        '1'..='9' if place % 2 == 1 => char::from(b'a' + (c as u8 - b'1')),
        c => c,
    };
    Ok(squares.chars().enumerate().map(letter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_side_to_move_has_resigned() {
        let game = expected(&[100, 101, 99]);
        assert_eq!(game.moves, "2h3h:100 8b7b:101 3h4h:99");
        assert_eq!(game.result, "black");
    }
}

//! The command `book`: makes an opening book from games.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use rsshogi::board::position_from_sfen;
use rsshogi::book::{
    BookCandidate, BookDatabaseEntry, BookEntryMetadata, BookError, BookMoveMetadata, BookPosition,
    YaneuraOuDb2016WriteOptions, YaneuraOuDb2016Writer,
};
use rsshogi::types::{Color, Move};

use crate::games::{self, Game, GameResult, SourceError};

/// Make an opening book from games: every position with its moves, how often they were played, and how
/// the games ended
#[derive(Args, Clone, Debug)]
pub struct BookArguments {
    /// Databases of Renmei, game records, or directories of them
    #[arg(required = true)]
    games: Vec<PathBuf>,
    /// The book to write
    #[arg(short, long, default_value = "book.db")]
    output: PathBuf,
    /// Only moves chosen by this player, with both colours
    #[arg(long)]
    player: Option<String>,
    /// Maximum number of plies per game
    #[arg(long, default_value_t = 40)]
    plies: usize,
    /// Minimum number of games in which a move was played
    #[arg(long, default_value_t = 1)]
    min_count: u64,
}

/// Why no book was made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// The games cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// No game has a move that passes the filters.
    #[error("no game has a move {}", .0.as_ref().map_or("at all".to_owned(), |name| format!("of `{name}`")))]
    Nothing(Option<String>),
    /// The book cannot be written.
    #[error("opening book `{}`: {source}", path.display())]
    Write {
        /// The book.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The book's format cannot represent an entry.
    #[error("opening book: {0}")]
    Format(#[from] BookError),
    /// The summary cannot be printed.
    #[error("summary: {0}")]
    Output(#[from] io::Error),
}

/// Results of a move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    count: u64,
    wins: u64,
    losses: u64,
    draws: u64,
    /// Number of games per reply.
    replies: BTreeMap<u16, u64>,
}

/// Moves by position; positions are keyed by SFEN, in the order that the format demands.
type Lines = BTreeMap<String, BTreeMap<u16, Tally>>;

/// Makes the book and prints a summary.
///
/// # Errors
/// When the games cannot be read, no move passes the filters, or the book cannot be written.
pub fn run(arguments: &BookArguments, out: &mut impl Write) -> Result<(), MakeError> {
    let mut lines = Lines::new();
    let mut used = 0;
    for path in &arguments.games {
        for game in games::games(path)? {
            used += usize::from(add(&mut lines, &game, arguments));
        }
    }
    drop_rare(&mut lines, arguments.min_count);
    if lines.is_empty() {
        return Err(MakeError::Nothing(arguments.player.clone()));
    }
    write(&lines, arguments)?;
    let moves: usize = lines.values().map(BTreeMap::len).sum();
    let path = arguments.output.display();
    writeln!(out, "{path}: {} positions with {moves} moves, from {used} games", lines.len())?;
    Ok(())
}

/// Adds the moves of a game; returns whether any was added.
fn add(lines: &mut Lines, game: &Game, arguments: &BookArguments) -> bool {
    let Ok(mut position) = position_from_sfen(&game.start) else { return false };
    if game.loose {
        return false;
    }
    let mut any = false;
    for (ply, &(mv, _)) in game.moves.iter().enumerate().take(arguments.plies) {
        let full = position.move32_from_move(mv);
        let key = position.to_sfen(Some(1));
        let mover = position.turn();
        if position.try_apply_move32(full).is_err() {
            break;
        }
        if !is_wanted(game, ply, mover, arguments.player.as_deref()) {
            continue;
        }
        let tally = lines.entry(key).or_default().entry(mv.raw()).or_default();
        tally.note(game.result, mover);
        if let Some(&(reply, _)) = game.moves.get(ply + 1).filter(|(reply, _)| position.is_legal_move(*reply))
        {
            *tally.replies.entry(reply.raw()).or_default() += 1;
        }
        any = true;
    }
    any
}

/// The moves of a given opening were not chosen by the player, so they do not count as its moves.
fn is_wanted(game: &Game, ply: usize, mover: Color, player: Option<&str>) -> bool {
    player.is_none_or(|player| ply >= game.opening && game.names[mover.to_index()].as_deref() == Some(player))
}

impl Tally {
    fn note(&mut self, result: Option<GameResult>, mover: Color) {
        self.count += 1;
        match result {
            Some(GameResult::Won(winner)) if winner == mover => self.wins += 1,
            Some(GameResult::Won(_)) => self.losses += 1,
            Some(GameResult::Drawn) => self.draws += 1,
            None => {}
        }
    }

    /// The results as a score in centipawns: 600 ln((w + 1) / (l + 1)) with w and l the doubled points, the
    /// inverse of the win probability sigmoid(score / 600) used throughout the project. The added game keeps it
    /// finite.
    fn score(&self) -> i32 {
        let (won, lost) = (2 * self.wins + self.draws, 2 * self.losses + self.draws);
        (600.0 * ((won + 1) as f64 / (lost + 1) as f64).ln()).round() as i32
    }

    fn reply(&self) -> Option<Move> {
        let most = self.replies.iter().rev().max_by_key(|&(_, &count)| count)?;
        Some(Move::from_raw(*most.0))
    }

    fn candidate(&self, mv: Move) -> BookCandidate {
        let comment = format!("won {} lost {} drawn {}", self.wins, self.losses, self.draws);
        let metadata = BookMoveMetadata::from_yaneuraou(comment);
        BookCandidate::new(mv, self.reply(), Some(self.score()), Some(0), None, Some(self.count), metadata)
    }
}

fn drop_rare(lines: &mut Lines, min_count: u64) {
    lines.retain(|_, moves| {
        moves.retain(|_, tally| tally.count >= min_count);
        !moves.is_empty()
    });
}

fn write(lines: &Lines, arguments: &BookArguments) -> Result<(), MakeError> {
    let path = &arguments.output;
    let failed = |source| MakeError::Write { path: path.clone(), source };
    let file = BufWriter::new(std::fs::File::create(path).map_err(failed)?);
    let options = YaneuraOuDb2016WriteOptions::new();
    let mut writer = YaneuraOuDb2016Writer::new(file, options, None)?;
    for (sfen, moves) in lines {
        writer.write_entry(&entry(sfen, moves)?)?;
    }
    writer.finish()?.flush().map_err(failed)
}

/// Moves are sorted by their number of games, most first.
fn entry(sfen: &str, moves: &BTreeMap<u16, Tally>) -> Result<BookDatabaseEntry, BookError> {
    let mut sorted: Vec<(&u16, &Tally)> = moves.iter().collect();
    sorted.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.count));
    let candidates = sorted.into_iter().map(|(&raw, tally)| tally.candidate(Move::from_raw(raw))).collect();
    let position = BookPosition::from_sfen(sfen, None)?;
    Ok(BookDatabaseEntry::new(position, candidates, BookEntryMetadata::new()))
}

#[cfg(test)]
mod tests {
    use usi_shell::SplitMix64;

    use super::*;
    use crate::book::{Book, Choice};

    fn arguments(games: &str, player: Option<&str>) -> (tempfile::TempDir, BookArguments) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("games.csa");
        std::fs::write(&path, games).unwrap();
        let arguments = BookArguments {
            games: vec![path],
            output: directory.path().join("book.db"),
            player: player.map(str::to_owned),
            plies: 40,
            min_count: 1,
        };
        (directory, arguments)
    }

    /// Two games; `deep` wins one with each colour.
    const GAMES: &str = "V2.2\nN+deep\nN-flat\nPI\n+\n+7776FU\n-3334FU\n+2726FU\n%TORYO\n/\n\
                         V2.2\nN+flat\nN-deep\nPI\n+\n+7776FU\n-8384FU\n%TORYO\n";

    fn made(player: Option<&str>) -> (String, Vec<String>) {
        let (_directory, arguments) = arguments(GAMES, player);
        let mut summary = Vec::new();
        run(&arguments, &mut summary).unwrap();
        let text = std::fs::read_to_string(&arguments.output).unwrap();
        let moves = text.lines().filter(|line| line.split(' ').count() == 5).map(str::to_owned).collect();
        (String::from_utf8(summary).unwrap(), moves)
    }

    #[test]
    fn every_position_has_its_moves_with_counts_and_results() {
        let (summary, moves) = made(None);
        assert!(summary.ends_with("book.db: 3 positions with 4 moves, from 2 games\n"), "{summary}");
        // Two games, one won and one lost: score 0.
        assert!(moves.contains(&"7g7f 3c3d 0 0 2".to_owned()), "{moves:?}");
        assert!(moves.iter().any(|line| line.starts_with("8c8d none 659 0 1")), "{moves:?}");
    }

    #[test]
    fn a_learners_book_holds_the_moves_of_one_player() {
        let (summary, moves) = made(Some("deep"));
        assert!(summary.contains("3 positions with 3 moves"), "{summary}");
        assert!(!moves.iter().any(|line| line.starts_with("3c3d")), "{moves:?}");
    }

    #[test]
    fn a_book_that_was_made_can_be_used() {
        let (_directory, arguments) = arguments(GAMES, None);
        run(&arguments, &mut Vec::new()).unwrap();
        let book = Book::open(&arguments.output).unwrap();
        let position = rsshogi::board::hirate_position();
        let found = book.choose(&position, Choice::Best, &mut SplitMix64::new(1)).unwrap().unwrap();
        assert_eq!(found.mv.to_string(), "7g7f");
    }

    #[test]
    fn an_unknown_player_is_an_error() {
        let (_directory, arguments) = arguments(GAMES, Some("nobody"));
        let fault = run(&arguments, &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(fault, "no game has a move of `nobody`");
    }
}

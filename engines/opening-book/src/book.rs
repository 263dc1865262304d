//! Opening book files.

use std::path::{Path, PathBuf};

use rsshogi::board::Position;
use rsshogi::book::{
    BookError, YaneuraOuAccessMode, YaneuraOuBook, YaneuraOuBookDiagnostics, YaneuraOuBookEntry,
    YaneuraOuBookMove, YaneuraOuBookOpenOptions,
};
use rsshogi::types::Move;
use usi_shell::SplitMix64;

/// An opening book file.
pub struct Book {
    book: YaneuraOuBook,
    path: PathBuf,
    /// True if the entries are sorted, so that binary search works; otherwise the file is scanned from its
    /// start.
    sorted: bool,
}

/// How a move of a position is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The move played most often; the first of equals.
    Best,
    /// A random move, weighted by how often it was played.
    Weighted,
}

/// A book move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move; it is legal.
    pub mv: Move,
    /// The reply expected by the book.
    pub reply: Option<Move>,
    /// Number of legal book moves in this position.
    pub choices: usize,
}

/// Why a book cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("opening book `{}`: {source}", path.display())]
pub struct BookFault {
    path: PathBuf,
    source: BookError,
}

impl Book {
    /// Opens the book at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is not an opening book.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BookFault> {
        let path = path.as_ref().to_owned();
        let mode = YaneuraOuAccessMode::ValidateFullBeforeLookup;
        match YaneuraOuBook::open_with_options(&path, YaneuraOuBookOpenOptions::with_access_mode(mode)) {
            Ok(book) => {
                let sorted = matches!(book.diagnostics(), YaneuraOuBookDiagnostics::Sorted { .. });
                Ok(Self { book, path, sorted })
            }
            Err(source) => Err(BookFault { path, source }),
        }
    }

    /// A move for `position`; `None` if the book has none.
    ///
    /// # Errors
    /// When the book cannot be read.
    pub fn choose(
        &self,
        position: &Position,
        choice: Choice,
        rng: &mut SplitMix64,
    ) -> Result<Option<BookMove>, BookFault> {
        let entry = self.entry(position).map_err(|source| BookFault { path: self.path.clone(), source })?;
        Ok(entry.and_then(|entry| pick(&entry, position, choice, rng)))
    }

    fn entry(&self, position: &Position) -> Result<Option<YaneuraOuBookEntry>, BookError> {
        if self.sorted {
            self.book.lookup_position(position)
        } else {
            self.book.lookup_sfen_by_scan(&position.to_sfen(Some(1)))
        }
    }
}

fn pick(
    entry: &YaneuraOuBookEntry,
    position: &Position,
    choice: Choice,
    rng: &mut SplitMix64,
) -> Option<BookMove> {
    // The file may hold illegal moves.
    let moves: Vec<&YaneuraOuBookMove> =
        entry.moves().iter().filter(|book_move| position.is_legal_move(book_move.mv())).collect();
    let weight = |book_move: &YaneuraOuBookMove| book_move.count().unwrap_or(1).max(1);
    let chosen = match choice {
        // Reversed because `max_by_key` returns the last of equals, and the first is wanted.
        Choice::Best => moves.iter().rev().max_by_key(|book_move| weight(book_move))?,
        Choice::Weighted => {
            let all = moves.iter().map(|book_move| weight(book_move)).fold(0, u64::saturating_add);
            let mut left = rng.next_u64().checked_rem(all)?;
            moves.iter().find(|book_move| {
                let here = weight(book_move);
                let found = left < here;
                left = left.saturating_sub(here);
                found
            })?
        }
    };
    let reply = Some(chosen.ponder()).filter(|mv| mv.is_normal());
    Some(BookMove {
        mv: chosen.mv(),
        reply: reply.filter(|&mv| follows(position, chosen.mv(), mv)),
        choices: moves.len(),
    })
}

fn follows(position: &Position, mv: Move, reply: Move) -> bool {
    let mut next = position.clone();
    next.try_apply_move32(position.move32_from_move(mv)).is_ok() && next.is_legal_move(reply)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rsshogi::board::hirate_position;

    use super::*;

    const START: &str = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

    fn book(lines: &str) -> (tempfile::NamedTempFile, Book) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "#YANEURAOU-DB2016 1.00\n{START}\n{lines}").unwrap();
        let book = Book::open(file.path()).unwrap();
        (file, book)
    }

    fn choose(book: &Book, choice: Choice, seed: u64) -> Option<String> {
        let found = book.choose(&hirate_position(), choice, &mut SplitMix64::new(seed)).unwrap()?;
        Some(found.mv.to_string())
    }

    #[test]
    fn the_best_move_is_the_one_played_most_often() {
        let (_file, book) = book("2g2f 8c8d 0 0 3\n7g7f 3c3d 0 0 9\n1g1f none 0 0 9");
        assert_eq!(choose(&book, Choice::Best, 1).as_deref(), Some("7g7f"));
        let found = book.choose(&hirate_position(), Choice::Best, &mut SplitMix64::new(1)).unwrap().unwrap();
        assert_eq!((found.reply.unwrap().to_string().as_str(), found.choices), ("3c3d", 3));
    }

    #[test]
    fn weighted_choice_follows_the_counts() {
        let (_file, book) = book("2g2f none 0 0 1\n7g7f none 0 0 3");
        let often =
            (0..1000).filter(|&seed| choose(&book, Choice::Weighted, seed).unwrap() == "7g7f").count();
        assert!((680..820).contains(&often), "{often}");
    }

    #[test]
    fn illegal_book_moves_are_not_played() {
        let (_file, book) = book("7g7e none 0 0 3\n2g2f 2g2e 0 0 1");
        let found = book.choose(&hirate_position(), Choice::Best, &mut SplitMix64::new(1)).unwrap().unwrap();
        assert_eq!((found.mv.to_string().as_str(), found.reply), ("2g2f", None));
        let (_file, book) = self::book("7g7e none 0 0 3");
        assert_eq!(choose(&book, Choice::Weighted, 1), None);
    }

    #[test]
    fn an_unknown_position_is_not_in_the_book() {
        let (_file, book) = book("7g7f none 0 0 3");
        let mut position = hirate_position();
        let mv = position.move32_from_usi("7g7f").unwrap();
        position.try_apply_move32(mv).unwrap();
        assert_eq!(book.choose(&position, Choice::Best, &mut SplitMix64::new(1)).unwrap(), None);
    }

    #[test]
    fn a_missing_book_is_named() {
        let fault = Book::open("/nowhere/book.db").err().unwrap().to_string();
        assert!(fault.starts_with("opening book `/nowhere/book.db`: "), "{fault}");
    }
}

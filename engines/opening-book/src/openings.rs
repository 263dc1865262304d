//! The opening book during play, with its USI options.

use rsshogi::types::Move;
use usi_shell::{BestMove, Game, Info, OptionSpec, Options, Output, Search, SplitMix64};

use crate::book::{Book, BookFault, Choice};

/// An engine's opening book and its options.
///
/// | option | meaning |
/// |---|---|
/// | `BookFile` | an opening book in YaneuraOu's format; empty for none |
/// | `BookMoves` | last ply at which the book is used |
/// | `BookChoice` | `best`: the move played most often; `weighted`: a random move, weighted by how often it was played |
/// | `BookSeed` | seed of the random numbers for `weighted` |
pub struct Openings {
    book: Option<Book>,
    rng: SplitMix64,
}

impl Default for Openings {
    fn default() -> Self {
        Self { book: None, rng: SplitMix64::new(1) }
    }
}

impl Openings {
    /// The four options, for the engine to declare among its own.
    pub fn options() -> [OptionSpec; 4] {
        [
            OptionSpec::filename("BookFile", ""),
            OptionSpec::spin("BookMoves", 40, 0..=1000),
            OptionSpec::combo("BookChoice", "weighted", &["best", "weighted"]),
            OptionSpec::spin("BookSeed", 1, 0..=i64::MAX),
        ]
    }

    /// To be called for every option that is set.
    ///
    /// Only this restarts the random numbers: if a new game did, all games of a match would begin alike.
    pub fn set_option(&mut self, name: &str, options: &Options) {
        if name == "BookSeed" {
            self.rng = SplitMix64::new(options.spin("BookSeed").unsigned_abs());
        }
    }

    /// Opens the book named by the options.
    ///
    /// # Errors
    /// When the file cannot be read or is not an opening book.
    pub fn ready(&mut self, options: &Options) -> Result<(), BookFault> {
        let path = options.text("BookFile");
        self.book = if path.is_empty() { None } else { Some(Book::open(path)?) };
        Ok(())
    }

    /// The book move for this position, if the ply is within `BookMoves` and the book has one. Searches without
    /// an end (`go infinite`, analysis) do not use the book.
    pub fn ask(&mut self, game: &Game, search: &Search, out: &Output) -> Option<BestMove> {
        let (options, limits) = (&*search.options, &search.limits);
        let asked = !limits.infinite && u64::from(game.ply()) <= options.spin("BookMoves").unsigned_abs();
        let book = self.book.as_ref().filter(|_| asked)?;
        let choice = if options.text("BookChoice") == "best" { Choice::Best } else { Choice::Weighted };
        let found = match book.choose(game.position(), choice, &mut self.rng) {
            Ok(found) => found?,
            Err(fault) => {
                out.say(fault);
                return None;
            }
        };
        out.say(format_args!("book: {} of {}", found.mv, found.choices));
        out.info(&Info {
            depth: Some(0),
            time: Some(search.clock.elapsed()),
            pv: std::iter::once(found.mv).chain(found.reply).collect::<Vec<Move>>(),
            ..Info::default()
        });
        let ponder = found.reply.filter(|_| options.check("USI_Ponder"));
        Some(BestMove::Play { mv: found.mv, ponder })
    }
}

//! The book as an engine plays from it.

use rsshogi::types::Move;
use usi_shell::{BestMove, Game, Info, OptionSpec, Options, Output, Search, SplitMix64};

use crate::book::{Book, BookFault, Choice};

/// The openings that an engine knows by heart, and its options about them.
///
/// | option | meaning |
/// |---|---|
/// | `BookFile` | an opening book in YaneuraOu's format; empty for none |
/// | `BookMoves` | the book is asked up to this ply |
/// | `BookChoice` | `best`: the move most often played; `weighted`: any of its moves, as often as it was played |
/// | `BookSeed` | first value of the number sequence for `weighted` |
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
    /// The four options, to be declared among the engine's own.
    #[must_use]
    pub fn options() -> [OptionSpec; 4] {
        [
            OptionSpec::filename("BookFile", ""),
            OptionSpec::spin("BookMoves", 40, 0..=1000),
            OptionSpec::combo("BookChoice", "weighted", &["best", "weighted"]),
            OptionSpec::spin("BookSeed", 1, 0..=i64::MAX),
        ]
    }

    /// To be told of every option that is set.
    ///
    /// Only this restarts the number sequence: if a new game did, every game of a match would begin alike.
    pub fn set_option(&mut self, name: &str, options: &Options) {
        if name == "BookSeed" {
            self.rng = SplitMix64::new(options.spin("BookSeed").unsigned_abs());
        }
    }

    /// Opens the book that the options name.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn ready(&mut self, options: &Options) -> Result<(), BookFault> {
        let path = options.text("BookFile");
        self.book = if path.is_empty() { None } else { Some(Book::open(path)?) };
        Ok(())
    }

    /// The book's move, if it is to be asked at this ply and knows one. A search that is to go on until it is stopped
    /// does not ask it.
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

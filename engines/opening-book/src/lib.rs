//! Opening books in YaneuraOu's format, for every engine of ours: asking one while playing, making one from games,
//! and reading those games wherever they are.
//!
//! An engine that has [`Openings`] has the options `BookFile`, `BookMoves`, `BookChoice` and `BookSeed`, and a
//! command `book` out of [`BookArguments`] and [`run`]. [`games`] is also where a trainer finds its games.

mod book;
pub mod games;
mod make;
mod openings;

pub use book::{Book, BookFault, BookMove, Choice};
pub use make::{BookArguments, MakeError, run};
pub use openings::Openings;

//! Opening books in YaneuraOu's format: use during play, making them from games, and reading those games.
//!
//! An engine with [`Openings`] has the options `BookFile`, `BookMoves`, `BookChoice` and `BookSeed`;
//! [`BookArguments`] and [`run`] implement its command `book`. [`games`] also provides the games for training.

mod book;
pub mod games;
mod make;
mod openings;

pub use book::{Book, BookFault, BookMove, Choice};
pub use make::{BookArguments, MakeError, run};
pub use openings::Openings;

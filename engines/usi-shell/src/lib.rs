//! The USI protocol for shogi engines: sessions, options, time limits and positions, so that an engine only implements
//! its search.
//!
//! An author implements [`Engine`] and calls [`run`] from `main`; the shell reads stdin, answers the
//! handshake, keeps the options, the position with its history and the clock, and prints the answer.
//! The smallest engine that plays:
//!
//! ```no_run
//! use rsshogi::board::MoveList;
//! use rsshogi::movegen::generate_legal_all;
//! use usi_shell::{BestMove, Engine, Game, Output, Search};
//!
//! struct First;
//!
//! impl Engine for First {
//!     fn name(&self) -> String {
//!         "First".to_owned()
//!     }
//!     fn author(&self) -> String {
//!         "you".to_owned()
//!     }
//!     fn think(&mut self, game: &Game, _: &Search, _: &Output) -> BestMove {
//!         let mut moves = MoveList::new();
//!         generate_legal_all(game.position(), &mut moves);
//!         moves.iter().next().map_or(BestMove::Resign, |&mv| BestMove::play(mv))
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     usi_shell::run(First)
//! }
//! ```
//!
//! # Threads
//!
//! There are three: one reads stdin and records the arrival time of each line, one owns the engine and calls its
//! methods in sequence, and the calling thread interprets the lines. So `stop`, `ponderhit`, `isready` and `quit` are
//! processed during a search. A search must poll [`Clock::is_stopped`] every few milliseconds.
//!
//! # Rules of the shell
//!
//! - `setoption`, `position`, `go` and `usinewgame` need an idle engine. During a search they are
//!   refused with an `info string`; after `stop` they are deferred until the `bestmove` is printed.
//! - `isready` during a search is answered at once, without [`Engine::ready`].
//! - The answer to `go infinite` and `go ponder` is withheld until `stop` (or `ponderhit`), even
//!   if the search ends earlier, and is always printed then.
//! - `gameover` during a search also stops it.
//! - A `position` line that is refused is answered by an `info string`, and the next `go` by
//!   `bestmove resign`: a move from an older position would be worse.
//! - `quit` and the end of stdin stop the search; the engine has [`QUIT_PATIENCE`] to return (so that it is
//!   dropped properly) before the process ends without it.
//!
//! Read [`engine`] first, then [`limits`] and [`policy`] (time), [`options`], [`game`] and finally [`shell`]; [`path`] detects
//! repetitions in a search.

pub mod engine;
pub mod game;
pub mod limits;
pub mod options;
pub mod output;
pub mod path;
pub mod policy;
pub mod rng;
pub mod shell;

pub use engine::{BestMove, Checkmate, Engine, GameResult, NotReady, Search};
pub use game::{Game, PositionError};
pub use limits::{Budget, Clock, Limits, MateLimit, Spending};
pub use options::{OptionKind, OptionSpec, Options};
pub use output::{Info, Output, Score};
pub use path::{Path, Repetition, Return};
pub use policy::{OwnClock, PolicyError, Seen, TimePolicy};
pub use rng::SplitMix64;
pub use shell::{QUIT_PATIENCE, ShellError, run, serve};

//! Searches after the game: why a game was lost, suites of positions, and records with an engine's opinion.
//!
//! A [`Asker`] asks one USI engine for searches of positions, each with a number of nodes and a deadline; [`each`] does
//! so with several engines at once, also on other machines, and [`Cache`] keeps what was searched, so that an interrupted run continues.
//!
//! [`Course`] has the expected score of the loser over a game, and [`Course::turns`] the moves at which it was lost;
//! both are pure. [`Explainer`] searches a game with a neutral engine, the judge, and with the loser itself, and makes an
//! [`Explanation`] of it; [`Summary`] counts those of one engine. [`suite`] reads and writes positions with the moves to
//! find or to avoid.

mod asker;
mod cache;
mod cause;
mod course;
mod engine;
mod explainer;
mod line;
pub mod losses;
mod phase;
mod pool;
pub mod suite;
mod summary;
mod text;

pub use asker::{AskFault, Asker, Effort, Found, NoResult};
pub use cache::{Cache, CacheFault};
pub use cause::{Cause, Trial};
pub use course::{Course, Turn};
pub use engine::{EngineFault, NotStarted, digest, engine, engine_on, of_record};
pub use explainer::{Engine, ExplainFault, Explainer, Explanation, Judged, Move, Settings};
pub use line::{Line, LineFault, Own};
pub use phase::Phase;
pub use pool::{Guest, Here, Muster, Pool, each};
pub use summary::{Share, Summary};

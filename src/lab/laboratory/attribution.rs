//! Which parts of an engine, and which pairs of parts, are worth how much.
//!
//! A [`Field`] has parts with two or more levels; a build has one level of each. [`design()`] chooses the builds of a league
//! so that the effects of parts and pairs can be told apart. [`effects()`] reads the games: Elo of a build = sum of its
//! parts + pairs + something of its own. [`Predictor`] says how strong any build is, played or not, and [`table()`] how much
//! of the win rates parts and pairs explain on builds that were held out.
//!
//! The method is described in `guide/parts.md`; the sources of the formulas stand where they are computed.

mod columns;
pub mod design;
pub mod effects;
pub mod predictor;
pub mod ridge;
pub mod table;
#[cfg(test)]
mod tests;

pub use columns::{Effect, Field};
pub use design::{NoDesign, design};
pub use effects::{Effects, Estimated, NoEffects, effects};
pub use predictor::{Predicted, Predictor};
pub use table::{Row, table};

/// The level of each part of a build, by number; 0 is the engine as it is.
pub type Levels = Vec<usize>;

//! Ratings from outside the event: those of a league, with a mean of its own, or of a foreign server.

use super::Standings;
use rating::Estimate;
use referee::entry::PlayerId;
use std::collections::BTreeMap;

/// Ratings on an external scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// The rated players; a bound for those who won or lost every game.
    pub ratings: BTreeMap<PlayerId, Estimate>,
    /// A remark in one line; may be empty.
    pub words: String,
}

/// Looks up ratings, given the standings and the players' names by number.
pub type LookUp = Box<dyn FnMut(&Standings, &[String]) -> Scale + Send>;

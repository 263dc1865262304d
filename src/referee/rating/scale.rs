//! Ratings that are not those of the field's own games: a league has a mean of its own, a server rates whom it likes.

use super::Estimate;
use crate::{event::PlayerId, standings::Standings};
use std::collections::BTreeMap;

/// Ratings on somebody's scale.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scale {
    /// Who has one; a bound where everything was won or lost.
    pub ratings: BTreeMap<PlayerId, Estimate>,
    /// What has to be said of them in a line; empty where nothing has.
    pub words: String,
}

/// Looks the ratings of players up: given what was played, and the players' names by number.
pub type LookUp = Box<dyn FnMut(&Standings, &[String]) -> Scale + Send>;

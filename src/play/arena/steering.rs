//! Games whose engines get options of their own, which follow from the results of games before.

use contest::schedule::Pairing;
use referee::{entry::Entry, sink::GameOptions};

/// Gives the engines of each game their options.
pub trait Steering: Send {
    /// Takes an entry of the event, live or replayed. What people should hear of it now, if anything.
    fn fold(&mut self, entry: &Entry) -> Option<String>;

    /// True if the options of a game are known; they may follow from games that have not ended.
    fn is_known(&self, pairing: &Pairing) -> bool;

    /// The options of both engines, black's first; none before they are known.
    fn options(&self, pairing: &Pairing) -> [GameOptions; 2];
}

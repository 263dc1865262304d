//! What is known of an event before anything has happened in it.

use referee::{clock::TimeControl, schedule::Stage, sprt::Sprt};

/// What the screens need to know of an event besides its stream of entries.
#[derive(Clone, Debug, Default)]
pub struct EventInfo {
    /// Its name.
    pub name: String,
    /// Its format in words.
    pub format: String,
    /// Its stages.
    pub stages: Vec<Stage>,
    /// The players' names, by [`PlayerId`](referee::event::PlayerId).
    pub players: Vec<String>,
    /// The players' clocks, by [`PlayerId`](referee::event::PlayerId); absent where they are not known.
    pub times: Vec<TimeControl>,
    /// Its sequential test.
    pub test: Option<Sprt>,
    /// The test in words.
    pub test_words: String,
    /// Games of the whole event, where that is known.
    pub total: Option<u64>,
    /// Whether players come and go: no plan knows them.
    pub free: bool,
}

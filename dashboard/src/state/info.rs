//! What is known of an event before anything has happened in it.

use referee::{
    clock::TimeControl, evaluation::ScoreScale, fault_limit::FaultLimit, schedule::Stage, sprt::Sprt,
    standings::RankingRules,
};

/// What the screens need to know of an event besides its stream of entries.
#[derive(Clone, Debug, Default)]
pub struct EventInfo {
    /// Name of the event.
    pub name: String,
    /// Format in words.
    pub format: String,
    /// Stages.
    pub stages: Vec<Stage>,
    /// The rules of its tables.
    pub ranking: RankingRules,
    /// Limits of faults, by [`PlayerId`](referee::entry::PlayerId); empty if there are none.
    pub fault_limits: Vec<Option<FaultLimit>>,
    /// The players' names, by [`PlayerId`](referee::entry::PlayerId).
    pub players: Vec<String>,
    /// The players' clocks, by [`PlayerId`](referee::entry::PlayerId); empty if unknown.
    pub times: Vec<TimeControl>,
    /// The scales of the players' scores, where they are given, by [`PlayerId`](referee::entry::PlayerId).
    pub scales: Vec<Option<ScoreScale>>,
    /// The sequential test, if there is one.
    pub test: Option<Sprt>,
    /// The test in words.
    pub test_words: String,
    /// Number of games of the whole event, if known.
    pub total: Option<u64>,
    /// True if the event is an open league, whose players no configuration names.
    pub free: bool,
    /// True if players log in over the network.
    pub logins: bool,
}

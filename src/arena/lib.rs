//! Games, the workers that run them, and the dispatcher that hands them out.

pub mod play;
pub mod pulse;
pub mod run;

use tokio_util::sync::CancellationToken;

/// Shows a line to the people who follow an event, wherever they do.
pub type Say = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// How play is ended.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// No new games; those that run are finished.
    pub finish: CancellationToken,
    /// The running games are broken off.
    pub adjourn: CancellationToken,
}

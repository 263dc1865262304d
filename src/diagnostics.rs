//! What the program tells of itself, for whoever looks for a fault: engines that start and end, logins, databases,
//! signals. On stderr, which the screens show in their log while they are up; nothing unless it is asked for.
//!
//! Targets are the rooms of the program: `seat`, `arena`, `host`, `client`, `journal`, `signals`. Nothing is told of
//! single moves, so that a ply costs the same with it and without.

use std::{io, str::FromStr};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    filter::{ParseError, Targets},
    layer::SubscriberExt as _,
    util::{SubscriberInitExt as _, TryInitError},
};

/// The variable with a filter: a level (`debug`), or levels of targets (`seat=debug,host=info`).
pub const VARIABLE: &str = "RENMEI_LOG";

/// Why nothing can be told.
#[derive(Debug, thiserror::Error)]
pub enum DiagnosticsError {
    /// The filter of the environment.
    #[error(
        "{VARIABLE}=`{0}` is no filter ({1}); write a level, as `debug`, or levels of targets, as `seat=debug,host=info`"
    )]
    Filter(String, ParseError),
    /// Somebody listens already.
    #[error(transparent)]
    Init(#[from] TryInitError),
}

/// Begins to tell: by as many `-v` as were given, and without one by [`VARIABLE`].
///
/// # Errors
/// When the variable holds no filter.
pub fn start(verbose: u8) -> Result<(), DiagnosticsError> {
    let variable = std::env::var(VARIABLE).unwrap_or_default();
    let Some(targets) = targets(verbose, variable.trim())? else { return Ok(()) };
    // A reader of stderr that is gone ends nothing.
    let lines =
        tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(false).log_internal_errors(false);
    Ok(tracing_subscriber::registry().with(targets).with(lines).try_init()?)
}

fn targets(verbose: u8, variable: &str) -> Result<Option<Targets>, DiagnosticsError> {
    let level = match verbose {
        0 if variable.is_empty() => return Ok(None),
        0 => {
            let filter = Targets::from_str(variable);
            return filter.map(Some).map_err(|error| DiagnosticsError::Filter(variable.to_owned(), error));
        }
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    Ok(Some(Targets::new().with_default(level)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn flags_come_before_the_variable_and_nothing_is_told_without_either() {
        assert!(targets(0, "").unwrap().is_none());
        let shown = |verbose, variable: &str, target: &str, level: &Level| {
            targets(verbose, variable).unwrap().unwrap().would_enable(target, level)
        };
        assert!(shown(1, "", "seat", &Level::INFO) && !shown(1, "", "seat", &Level::DEBUG));
        assert!(
            shown(0, "seat=debug", "seat", &Level::DEBUG) && !shown(0, "seat=debug", "host", &Level::ERROR)
        );
        assert!(shown(2, "error", "host", &Level::DEBUG), "what was typed overrules the environment");
        let wrong = targets(0, "seat=loud").unwrap_err().to_string();
        assert!(wrong.starts_with("RENMEI_LOG=`seat=loud` is no filter"), "{wrong}");
    }
}

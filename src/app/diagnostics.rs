//! Diagnostics of the program's own work: engines that start and end, logins, databases, signals. They go to stderr,
//! which the dashboard shows in its log. By default there are only the warnings of `login`: wrong passwords and the
//! addresses that are locked out for them, which fail2ban reads; and those of `tls`: certificates and proxies.
//!
//! Targets are the program's crates: `seat`, `arena`, `host`, `client`, `journal`, and `signals` and `login`. Moves emit no
//! diagnostics, so that enabling them does not slow down games.

use crate::output::{Printable, Stream};
use std::str::FromStr;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::{
    filter::{ParseError, Targets},
    layer::SubscriberExt as _,
    util::{SubscriberInitExt as _, TryInitError},
};

/// Environment variable with a filter: a level (`debug`), or levels by target (`seat=debug,host=info`).
pub const VARIABLE: &str = "RENMEI_LOG";

/// Why diagnostics cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum DiagnosticsError {
    /// The variable holds an invalid filter.
    #[error(
        "{VARIABLE}=`{0}` is not a filter ({1}); write a level such as `debug`, or levels by target such as `seat=debug,host=info`"
    )]
    Filter(String, ParseError),
    /// A subscriber is installed already.
    #[error(transparent)]
    Init(#[from] TryInitError),
}

/// Starts diagnostics at the level given by `-v`, or without it as [`VARIABLE`] says.
///
/// # Errors
/// When the variable holds an invalid filter.
pub fn start(verbose: u8) -> Result<(), DiagnosticsError> {
    let variable = std::env::var(VARIABLE).unwrap_or_default();
    let targets = targets(verbose, variable.trim())?;
    // A closed stderr is ignored.
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(|| Printable::new(Stream::Err))
        .with_ansi(false)
        .log_internal_errors(false);
    Ok(tracing_subscriber::registry().with(targets).with(lines).try_init()?)
}

fn targets(verbose: u8, variable: &str) -> Result<Targets, DiagnosticsError> {
    let level = match verbose {
        0 if variable.is_empty() => {
            return Ok(Targets::new()
                .with_target("login", LevelFilter::WARN)
                .with_target("tls", LevelFilter::WARN));
        }
        0 => {
            let filter = Targets::from_str(variable);
            return filter.map_err(|error| DiagnosticsError::Filter(variable.to_owned(), error));
        }
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    Ok(Targets::new().with_default(level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn flags_override_the_variable_and_without_either_there_are_warnings_of_logins_alone() {
        let shown = |verbose, variable: &str, target: &str, level: &Level| {
            targets(verbose, variable).unwrap().would_enable(target, level)
        };
        assert!(shown(0, "", "login", &Level::WARN) && !shown(0, "", "host", &Level::ERROR));
        assert!(shown(1, "", "seat", &Level::INFO) && !shown(1, "", "seat", &Level::DEBUG));
        assert!(
            shown(0, "seat=debug", "seat", &Level::DEBUG) && !shown(0, "seat=debug", "host", &Level::ERROR)
        );
        assert!(shown(2, "error", "host", &Level::DEBUG), "the command line overrides the environment");
        let wrong = targets(0, "seat=loud").unwrap_err().to_string();
        assert!(wrong.starts_with("RENMEI_LOG=`seat=loud` is not a filter"), "{wrong}");
    }
}

//! `renmei hall`: the events of a directory, beside each other.

use super::{Exit, Failure, descriptors};
use crate::cli::HallArgs;
use event::hall::Options;

/// Plays the events of a directory.
pub fn hall(args: &HallArgs) -> Result<Exit, Failure> {
    let HallArgs { dir, http, concurrency, oversubscribe, until_done, quiet } = args;
    let options = Options {
        http: http.clone(),
        concurrency: *concurrency,
        oversubscribe: *oversubscribe,
        until_done: *until_done,
        quiet: *quiet,
        fit: descriptors::fit,
    };
    event::hall::run(dir, &options)
}

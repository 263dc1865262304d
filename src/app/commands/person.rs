//! `renmei person`: a person at the desk, as an engine of the desk's games.

use super::{Exit, Failure};
use clap::Args;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct PersonArgs {
    /// The file with the person's answers.
    pub answers: PathBuf,
}

/// Speaks USI until it is quit.
pub fn person(args: &PersonArgs) -> Result<Exit, Failure> {
    ::desk::person::run(&args.answers).map_err(|error| Failure::Other(error.to_string()))?;
    Ok(Exit::Done)
}

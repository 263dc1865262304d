//! `renmei worker` of a renmei that was built without the feature `machines`.

use super::{Exit, Failure};
use clap::Args;
use std::convert::Infallible;

/// Whatever is typed behind the command.
#[derive(Clone, Debug, Args)]
pub struct WorkerArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Nothing is spoken with other machines.
pub const PROTOCOL: Option<u32> = None;

/// No worker.
pub fn worker(_args: &WorkerArgs) -> Result<Exit, Failure> {
    Err(Failure::Usage(event::machines::LACKS.to_owned()))
}

/// Accepts every text as a line to join with.
pub(super) fn check_line(_text: &str) -> Result<(), Infallible> {
    Ok(())
}

//! `renmei hall`: the events of a directory, beside each other.

use super::{Exit, Failure, descriptors, values::at_least_one};
use clap::Args;
use event::hall::Options;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each file in DIR whose name ends in .toml is an event, but for hall.toml, which says what the events share: cores, licences
of engines, priorities, hours, pages. Ctrl-C once finishes the running games of all events, again ends them; the same
command goes on with every event.

Examples:
  renmei hall events
  renmei hall events --http 127.0.0.1:8080 --concurrency 8")]
pub struct HallArgs {
    /// The directory.
    pub dir: PathBuf,
    /// Show all events in the browser on this address; overrides `listen` of `[http]` in hall.toml.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// Cores that the games of all events take together [default: the usable ones].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub concurrency: Option<usize>,
    /// Take more cores than the machine has.
    #[arg(long)]
    pub oversubscribe: bool,
    /// End when every event is over, instead of waiting for further files.
    #[arg(long)]
    pub until_done: bool,
    /// Print no line per game, only how the events stand every minute.
    #[arg(long, short)]
    pub quiet: bool,
}

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
    event::hall::run(dir, &options, None)
}

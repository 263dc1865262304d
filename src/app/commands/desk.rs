//! `renmei desk`: everything in the browser.

use super::{Exit, Failure, descriptors, values::at_least_one};
use clap::Args;
use std::{net::SocketAddr, path::PathBuf};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
The desk is a page in the browser, for this machine alone: engines, events, records and what has to be done, without a
terminal. It plays the events of DIR as `renmei hall` does, and writes files that `renmei run` plays. A second `renmei desk`
opens the page of the first. Closing the page ends nothing; its button \"Quit\" or Ctrl-C does.

Examples:
  renmei desk
  renmei desk events --http 127.0.0.1:4080")]
pub struct DeskArgs {
    /// The directory of events and engines [default: `Renmei` in your documents].
    pub dir: Option<PathBuf>,
    /// Address of the pages, of this machine alone [default: a free port].
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,
    /// Open no browser; the file that leads one in is named.
    #[arg(long)]
    pub no_browser: bool,
    /// Cores that the games of all events take together [default: the usable ones].
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    pub concurrency: Option<usize>,
}

/// Opens the desk, until it is quit.
pub fn desk(args: &DeskArgs) -> Result<Exit, Failure> {
    ::desk::run(::desk::Options {
        directory: args.dir.clone(),
        address: args.http.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0))),
        opens_browser: !args.no_browser,
        concurrency: args.concurrency,
        fit: descriptors::fit,
    })
}

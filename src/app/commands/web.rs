//! `renmei web`: shows an event that is over or played elsewhere in the browser.

use super::{Exit, Failure};
use clap::Args;
use event::pages;
use plan::{HttpConfig, http::Delay};
use std::{net::SocketAddr, path::PathBuf};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  renmei web league.db
  renmei web league.db --http 0.0.0.0:8080 --delay \"5 moves\"")]
pub struct WebArgs {
    /// The database.
    pub db: PathBuf,
    /// Name of the event; by default the last one.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Address of the pages [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// How far the pages are behind the games: `5 moves`, `30s`.
    #[arg(long, value_name = "DELAY", value_parser = plan::http::Delay::parse)]
    pub delay: Option<plan::http::Delay>,
    /// Players and Game_IDs whose games nobody is shown; `*` stands for any letters. May be repeated.
    #[arg(long, value_name = "PATTERN")]
    pub private: Vec<String>,
}

/// Shows an event of a database in the browser until a signal.
pub fn web(args: &WebArgs) -> Result<Exit, Failure> {
    let delay = args.delay.unwrap_or(Delay::None);
    let config = HttpConfig { delay, private: args.private.clone(), ..HttpConfig::default() };
    let addresses = match &args.http[..] {
        [] => vec![SocketAddr::from(([127, 0, 0, 1], 8080))],
        given => given.to_vec(),
    };
    pages::show(&args.db, args.event.as_deref(), &config, &addresses)
}

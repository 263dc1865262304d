//! `renmei web`: shows an event that is over or played elsewhere in the browser.

use super::{Exit, Failure};
use crate::cli::WebArgs;
use event::pages;
use plan::{HttpConfig, http::Delay};
use std::net::SocketAddr;

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

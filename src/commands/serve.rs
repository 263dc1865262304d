//! `renmei serve`: a league on this machine.

use super::{Exit, Failure};
use crate::{
    cli::ServeArgs,
    league::{League, Shutdown, config::ServeConfig},
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{
    io::{self, Write},
    thread,
};
use tokio::net::TcpListener;

/// Serves a league until a signal: the first lets the running games end, the second breaks them off.
///
/// # Errors
/// When the configuration is wrong, an address cannot be had, or the database fails.
pub fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    let mut config = ServeConfig::load(&args.file).map_err(|e| Failure::Usage(e.to_string()))?;
    if !args.listen.is_empty() {
        config.listen.clone_from(&args.listen);
    }
    if let Some(db) = &args.db {
        config.database.clone_from(db);
    }
    let other = |e: io::Error| Failure::Other(e.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(other)?;
    let shutdown = Shutdown::default();
    listen_to_signals(shutdown.clone()).map_err(other)?;
    runtime.block_on(async {
        let mut listeners = vec![];
        for address in &config.listen {
            let bound = TcpListener::bind(address).await;
            let listener = bound.map_err(|e| Failure::Other(format!("cannot listen on {address}: {e}")))?;
            tell(&format!("listening on {}", listener.local_addr().map_err(other)?));
            listeners.push(listener);
        }
        let league = League::open(config, &shutdown)?;
        league.serve(listeners, shutdown).await?;
        Ok(Exit::Done)
    })
}

/// Whoever read our stderr may be gone; the league is not.
fn tell(line: &str) {
    let _nobody_reads = writeln!(io::stderr(), "{line}");
}

fn listen_to_signals(shutdown: Shutdown) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            if shutdown.finish.is_cancelled() {
                shutdown.adjourn.cancel();
            } else {
                shutdown.finish.cancel();
                tell("no new games; those that run are finished, once more breaks them off");
            }
        }
    })?;
    Ok(())
}

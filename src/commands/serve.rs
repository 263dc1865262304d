//! `renmei serve`: a league on this machine.

use super::{Exit, Failure, OpenScreen, play::host};
use crate::{
    cli::ServeArgs,
    config,
    league::{League, Shutdown, config::ServeConfig, event::Doors},
};
use referee::event::Stamped;
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
pub fn serve(args: &ServeArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    if ServeConfig::is_event(&args.file) {
        return event(args, open_screen);
    }
    let mut config = ServeConfig::load(&args.file).map_err(|e| Failure::Usage(e.to_string()))?;
    if !args.listen.is_empty() {
        config.listen.clone_from(&args.listen);
    }
    if let Some(db) = &args.playing.db {
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

/// Plays an event whose players log in.
fn event(args: &ServeArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let plan = config::load(&args.file).map_err(Failure::Config)?;
    let mut serve = ServeConfig::of_event(&args.file).map_err(|e| Failure::Usage(e.to_string()))?;
    if !args.listen.is_empty() {
        serve.listen.clone_from(&args.listen);
    }
    host(plan, &args.playing, open_screen, |plan| {
        let mut listeners = vec![];
        for address in &serve.listen {
            let bound = std::net::TcpListener::bind(address).and_then(|listener| {
                listener.set_nonblocking(true)?;
                tell(&format!("listening on {}", listener.local_addr()?));
                Ok(listener)
            });
            listeners.push(bound.map_err(|e| Failure::Other(format!("cannot listen on {address}: {e}")))?);
        }
        let doors = Doors::open(serve, plan, listeners).map_err(|e| Failure::Other(e.to_string()))?;
        let (hosting, mut show) = (doors.hosting(), doors.show());
        let tell_guests = move |batch: &[Stamped]| {
            // The doors close when the store's thread has told the last of the event.
            let _open = &doors;
            show(batch);
        };
        Ok(Some((hosting, Box::new(tell_guests) as _)))
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

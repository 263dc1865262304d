//! `renmei serve`: a league on this machine.

use super::{
    Exit, Failure, OpenScreen, Screen, Showing,
    play::{Network, host},
};
use crate::{
    cli::{PlayingArgs, ServeArgs},
    signals,
};
use arena::Say;
use arena::Shutdown;
use host::{League, RatingHistory, event::EventNetwork};
use journal::Reader;
use plan::config;
use plan::serve::ServeConfig;
use std::{
    io::{self, Write},
    sync::Arc,
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
    let PlayingArgs { no_dashboard, json, quiet, .. } = args.playing;
    let wanted = !(no_dashboard || json || quiet);
    let other = |e: io::Error| Failure::Other(e.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(other)?;
    let shutdown = Shutdown::default();
    runtime.block_on(async {
        let mut listeners = vec![];
        for address in &config.listen {
            let bound = TcpListener::bind(address).await;
            listeners.push(bound.map_err(|e| Failure::Other(format!("cannot listen on {address}: {e}")))?);
        }
        let history = RatingHistory::default();
        let screen = if wanted { open_screen(showing(&config, &history))? } else { None };
        let (say, feed, _linger) = match screen {
            Some(Screen { say, feed, linger, .. }) => (say, Some(feed), Some(linger)),
            None => (Arc::new(tell) as Say, None, None),
        };
        let told = say.clone();
        let finishing = move || told("no new games; those that run are finished, once more breaks them off");
        signals::listen(shutdown.clone(), finishing).map_err(other)?;
        let readers = feed.map(|feed| Reader::new("dashboard", feed)).into_iter().collect();
        let league = League::open(config, history, &shutdown, readers)?;
        for listener in &listeners {
            say(&format!("listening on {}", listener.local_addr().map_err(other)?));
        }
        league.serve(listeners, shutdown).await?;
        Ok(Exit::Done)
    })
}

/// What screens have to know of a league.
fn showing(config: &ServeConfig, history: &RatingHistory) -> Showing {
    let history = history.clone();
    Showing {
        name: config.name.clone(),
        database: config.database.clone(),
        plan: host::plan(config).to_string(),
        scale: Some(Box::new(move |_, _| history.scale())),
    }
}

/// Plays an event whose players log in.
fn event(args: &ServeArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let plan = config::load(&args.file).map_err(Failure::Config)?;
    let mut serve = ServeConfig::of_event(&args.file).map_err(|e| Failure::Usage(e.to_string()))?;
    if !args.listen.is_empty() {
        serve.listen.clone_from(&args.listen);
    }
    host(plan, &args.playing, open_screen, |plan, sink| {
        let (mut listeners, mut listening) = (vec![], vec![]);
        for address in &serve.listen {
            let bound = std::net::TcpListener::bind(address).and_then(|listener| {
                listener.set_nonblocking(true)?;
                let line = format!("listening on {}", listener.local_addr()?);
                tell(&line);
                listening.push(line);
                Ok(listener)
            });
            listeners.push(bound.map_err(|e| Failure::Other(format!("cannot listen on {address}: {e}")))?);
        }
        let network =
            EventNetwork::open(serve, plan, listeners, sink).map_err(|e| Failure::Other(e.to_string()))?;
        let (remote, mut read) = (network.remote(), network.reader());
        let reader = Reader::new("network", move |batch| {
            // The network closes when it has seen the last entry.
            let _open = &network;
            read(batch);
        });
        Ok(Some(Network { remote, reader, listening }))
    })
}

/// Whoever read our stderr may be gone; the league is not.
fn tell(line: &str) {
    let _nobody_reads = writeln!(io::stderr(), "{line}");
}

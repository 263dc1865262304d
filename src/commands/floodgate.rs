//! `renmei floodgate`: an engine on somebody's server.

use super::{Exit, Failure};
use crate::{
    cli::{FloodgateArgs, Picture, ReportArgs},
    floodgate::{Client, KIND, config::ClientConfig},
    league::Shutdown,
    store::Store,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{io, thread};

/// Plays until enough games are played or until a signal: the first SIGINT lets the game end, the second, or SIGTERM,
/// resigns it.
///
/// # Errors
/// When the configuration is wrong or the database fails.
pub fn floodgate(args: &FloodgateArgs) -> Result<Exit, Failure> {
    let mut config = ClientConfig::load(&args.file).map_err(Failure::Config)?;
    if let Some(db) = &args.db {
        config.database.clone_from(db);
    }
    if let Some(games) = args.games {
        config.games = Some(games);
    }
    other_kind(&config)?;
    let report = ReportArgs {
        db: config.database.clone(),
        event: Some(config.name.clone()),
        list: false,
        json: args.json,
        html: None,
        plot: None,
        of: Picture::Elo,
    };
    let other = |e: io::Error| Failure::Other(e.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(other)?;
    let shutdown = Shutdown::default();
    listen_to_signals(shutdown.clone()).map_err(other)?;
    tell!("{} on {}:{} as {}", config.login.game, config.host, config.port, config.login.name);
    let client = Client::open(config, &shutdown, |line| tell!("{line}"))?;
    runtime.block_on(client.play(shutdown))?;
    super::report(&report)
}

/// An event that was played otherwise is not gone on with.
fn other_kind(config: &ClientConfig) -> Result<(), Failure> {
    let events = Store::read(&config.database).and_then(|store| store.events()).unwrap_or_default();
    match events.iter().find(|event| event.name == config.name && event.kind != KIND) {
        Some(event) => Err(Failure::Usage(format!(
            "`{}` in this database is a `{}` event; give this one another `floodgate.name`",
            event.name, event.kind
        ))),
        None => Ok(()),
    }
}

fn listen_to_signals(shutdown: Shutdown) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGINT && !shutdown.finish.is_cancelled() {
                shutdown.finish.cancel();
                tell!("no new games; one that runs is finished, once more resigns it");
            } else {
                shutdown.finish.cancel();
                shutdown.adjourn.cancel();
            }
        }
    })?;
    Ok(())
}

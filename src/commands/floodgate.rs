//! `renmei floodgate`: an engine on a server.

use super::{Exit, Failure, OpenScreen};
use crate::cli::FloodgateArgs;
use event::floodgate::View;
use plan::client::ClientConfig;

/// Plays until the configured number of games is played or a signal arrives.
pub fn floodgate(args: &FloodgateArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let mut config = ClientConfig::load(&args.file).map_err(Failure::Config)?;
    if let Some(db) = &args.db {
        config.database.clone_from(db);
    }
    if let Some(log) = &args.log {
        config.log.clone_from(log);
    }
    if let Some(games) = args.games {
        config.games = Some(games);
    }
    config.reserve_mb = args.reserve_mb.unwrap_or(config.reserve_mb);
    if let Some(command) = &args.notify {
        config.notify.command = Some(command.clone());
    }
    config.look &= !args.no_look;
    let view = View { http: args.http.clone(), json: args.json, no_dashboard: args.no_dashboard };
    event::floodgate::floodgate(config, &view, open_screen)
}

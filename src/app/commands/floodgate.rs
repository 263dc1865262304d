//! `renmei floodgate`: an engine on a server.

use super::{Exit, Failure, OpenScreen, playing::log_plan, values::at_least_one};
use clap::Args;
use event::Playing;
use plan::{LogPlan, client::ClientConfig};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct FloodgateArgs {
    /// Configuration file with the server, the login and the engine.
    pub file: PathBuf,
    /// The database; overrides the configuration.
    #[arg(long, value_name = "FILE")]
    pub db: Option<PathBuf>,
    /// Games to play; overrides the configuration.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>)]
    pub games: Option<u64>,
    /// Run this command at the end and at new starts, with JSON on its standard input; overrides `command` of `[notify]`.
    #[arg(long, value_name = "COMMAND")]
    pub notify: Option<String>,
    /// Show the games in the browser on this address, such as 127.0.0.1:8080; overrides `listen` of `[http]`.
    #[arg(long, value_name = "ADDR")]
    pub http: Vec<std::net::SocketAddr>,
    /// Do not have the engine make a move before the first login.
    #[arg(long)]
    pub no_look: bool,
    /// Log the conversation with the engine: `faults`, a directory, or `off`; overrides the configuration.
    #[arg(long, value_name = "DIR|faults|off", value_parser = log_plan)]
    pub log: Option<LogPlan>,
    /// Wait with the next game while less than so many megabytes are free on the disk; 0: play on; overrides
    /// `reserve_mb` (512).
    #[arg(long, value_name = "MB")]
    pub reserve_mb: Option<u64>,
    /// Print the final standings as JSON on stdout; everything else goes to stderr.
    #[arg(long)]
    pub json: bool,
    /// Print a line per game on a terminal too, instead of showing the dashboard.
    #[arg(long)]
    pub no_dashboard: bool,
}

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
    let playing = Playing {
        http: args.http.clone(),
        json: args.json,
        no_dashboard: args.no_dashboard,
        ..Playing::default()
    };
    event::play::floodgate(config, &playing, open_screen)
}

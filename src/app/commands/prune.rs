//! `renmei prune`: drops the moves and lines of old games, at rest.

use super::{Exit, Failure, event_to_change, values::at_least_one};
use clap::Args;
use journal::{Bounds, EventId, Prunable, Store, Writer, now};
use referee::entry::GameId;
use std::{fs, path::PathBuf};

#[derive(Clone, Debug, Args)]
#[command(group(clap::ArgGroup::new("bounds").required(true).multiple(true).args(["days", "games"])))]
#[command(after_help = "\
A game keeps its moves if it is within both bounds. Players, results, times and Game_IDs of every game stay, so that
standings, ratings and a resumed event do not change. Nobody may play the event meanwhile; a league that runs for ever
does the same while it runs, by `[serve.retention]`.

Examples:
  renmei prune --db league.db --days 90 --dry-run
  renmei prune --db league.db --days 90 --games 10000")]
pub struct PruneArgs {
    /// The database.
    #[arg(long, value_name = "FILE", default_value = "league.db")]
    pub db: PathBuf,
    /// Name of the event. It is asked for where the database has several events, and not exactly one of them is not over.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Drop the moves of games that ended more than so many days ago.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    pub days: Option<u32>,
    /// Drop the moves of all games but so many newest.
    #[arg(long, value_name = "N")]
    pub games: Option<u64>,
    /// Only say what would be dropped.
    #[arg(long)]
    pub dry_run: bool,
}

const DAY_MS: i64 = 86_400_000;

/// Drops the moves and lines of old games and gives their space back, or says what would be dropped.
pub fn prune(args: &PruneArgs) -> Result<Exit, Failure> {
    let store = Store::read(&args.db)?;
    let name = event_to_change(&store.events()?, args.event.as_deref())?.name.clone();
    let now = now();
    let since = args.days.map(|days| now - i64::from(days) * DAY_MS);
    let bounds = Bounds { settled: now, since, newest: args.games };
    if args.dry_run {
        let event = store.event_named(&name)?.unwrap_or(EventId(0));
        out_line!("{} would be dropped from `{name}`", words(store.prunable(event, bounds)?));
        return Ok(Exit::Done);
    }
    drop(store);
    let mut store = Writer::open(&args.db)?;
    let event = store.lock_event_named(&name)?.unwrap_or(EventId(0));
    let dropped = store.prunable(event, bounds)?;
    let mut after = GameId(0);
    while let Some(game) = store.prune_next(event, bounds, after)? {
        after = game;
    }
    let before = size(args);
    store.vacuum()?;
    drop(store);
    out_line!("dropped from `{name}`: {}", words(dropped));
    out_line!("{} is {} KB now; it was {} KB", args.db.display(), size(args) / 1024, before / 1024);
    Ok(Exit::Done)
}

fn words(Prunable { games, moves, bytes }: Prunable) -> String {
    format!("{moves} moves and the lines of {games} games, about {} KB", bytes.div_ceil(1024))
}

fn size(args: &PruneArgs) -> u64 {
    fs::metadata(&args.db).map_or(0, |file| file.len())
}

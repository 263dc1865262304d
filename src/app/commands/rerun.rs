//! `renmei rerun`: games are played again that a player lost by a fault.

use super::{Exit, Failure, admin::ask, event_to_change};
use arena::operations::{command::Command, request::Request};
use clap::Args;
use event::rerun::{Rerun, faulted, reopen};
use journal::{GameRow, Store, StoreError};
use notation::printable;
use referee::number::number;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each game is an action of the operator, on record with who did it and why: `renmei report DATABASE` lists them. While a
process plays the event, it plays them at once. Otherwise the hall of the event goes on with them by itself, and without a hall
the next `renmei run`, also when the event was over.

Example:
  renmei rerun cup.db --faults --reason \"the power was cut\"")]
pub struct RerunArgs {
    /// The database of the event.
    pub database: PathBuf,
    /// The games that a player lost by a fault.
    #[arg(long, required = true)]
    pub faults: bool,
    /// Name of the event. It is asked for where the database has several events, and not exactly one of them is not over.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// Why.
    #[arg(long, value_name = "TEXT", default_value = "games lost by faults are played again")]
    pub reason: String,
    /// Who you are, beside the name of your user.
    #[arg(long = "as", value_name = "NAME")]
    pub named: Option<String>,
}

/// Has the games of an event played again that a player lost by a fault: at once by the process that plays it, or when it
/// is played the next time.
pub fn rerun(args: &RerunArgs) -> Result<Exit, Failure> {
    let store = Store::read(&args.database)?;
    let events = store.events()?;
    let event = event_to_change(&events, args.event.as_deref())?;
    if event.kind != "run" {
        return Err(Failure::Usage(format!(
            "`{}` has no schedule, so none of its games has a place to be played again",
            event.name
        )));
    }
    let games = faulted(&store, event)?;
    let reopened = reopen(&store, event, &games, args.named.as_deref(), &args.reason);
    let (Rerun { again, stay }, is_played) = match reopened {
        Err(Failure::Store(StoreError::Running { .. })) => (ask_for(args, &event.name, &games)?, true),
        reopened => (reopened?, false),
    };
    stay.iter().for_each(|why| err_line!("{}", printable(why.as_bytes())));
    let name = printable(event.name.as_bytes());
    let when = match (again.is_empty(), is_played) {
        (true, _) => "",
        (false, true) => " now",
        (false, false) => "; the hall of the event goes on with them, or the next `renmei run`",
    };
    let numbers: Vec<String> = again.iter().map(|game| format!("#{}", game.0)).collect();
    let which = if numbers.is_empty() { String::new() } else { format!(": {}", numbers.join(" ")) };
    out_line!(
        "`{name}`: {} lost by faults, {} played again{when}{which}",
        number(games.len(), "game"),
        again.len()
    );
    Ok(if stay.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Asks the process that plays the event.
fn ask_for(args: &RerunArgs, event: &str, games: &[GameRow]) -> Result<Rerun, Failure> {
    let mut rerun = Rerun::default();
    for row in games {
        let command = Command::Replay { game: row.game.0 };
        let (named, reason) = (args.named.clone(), Some(args.reason.clone()));
        let request = Request { named, reason, event: Some(event.to_owned()), command };
        let answer = ask(&args.database, &request)?;
        if answer.event.as_deref() != Some(event) {
            return Err(Failure::Other(printable(answer.text.as_bytes())));
        }
        if answer.ok { rerun.again.push(row.game) } else { rerun.stay.push(answer.text) }
    }
    Ok(rerun)
}

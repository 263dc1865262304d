//! `renmei verify`: whether the events of a database are as they were played.

use super::{Exit, Failure, find_event, pretty};
use crate::cli::VerifyArgs;
use journal::{EventSummary, Store, Verified};
use notation::printable;
use referee::number::number;

/// Alterations of an event that are printed one by one.
const SHOWN: usize = 50;

/// Recomputes the seals of events and prints what was altered.
///
/// # Errors
/// When the database or the event does not exist.
pub fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    let store = Store::read(&args.db)?;
    let events = store.events()?;
    let chosen: Vec<&EventSummary> = match &args.event {
        Some(name) => vec![find_event(&events, Some(name))?],
        None => events.iter().collect(),
    };
    if chosen.is_empty() {
        return Err(Failure::Usage("this database has no event yet".to_owned()));
    }
    let verified = chosen.iter().map(|event| store.verify(event.id, args.head.as_deref()));
    let verified = verified.collect::<Result<Vec<_>, _>>()?;
    let head_found = args.head.is_none() || verified.iter().any(|event| event.asked_head_at.is_some());
    match args.json {
        true => out_line!("{}", pretty(&verified)?),
        false => verified.iter().for_each(print),
    }
    if !head_found {
        err_line!(
            "the head is in no chain of this database: it was altered, or the head is another event's; nothing that was \
             played can be trusted"
        );
    }
    let intact = head_found && verified.iter().all(|event| event.alterations.is_empty());
    Ok(if intact { Exit::Done } else { Exit::Faults })
}

fn print(event: &Verified) {
    let name = printable(event.event.as_bytes());
    let mut counts = vec![format!(
        "{} and {} sealed",
        number(event.sealed_games, "game"),
        match event.other_entries {
            1 => "1 other entry".to_owned(),
            others => format!("{others} other entries"),
        }
    )];
    if event.not_covered > 0 {
        let games = number(event.not_covered, "game");
        counts.push(format!("{games} not covered: played by a version without seals"));
    }
    if event.pruned > 0 {
        counts.push(format!(
            "the moves of {} were dropped and cannot be verified",
            number(event.pruned, "game")
        ));
    }
    if event.running > 0 {
        counts.push(format!("{} not over", number(event.running, "game")));
    }
    out_line!("event `{name}`: {}", counts.join("; "));
    for alteration in event.alterations.iter().take(SHOWN) {
        out_line!("  {}", printable(alteration.text.as_bytes()));
    }
    let further = event.alterations.len().saturating_sub(SHOWN);
    if further > 0 {
        out_line!("  and {further} more; `--json` lists all");
    }
    if event.alterations.is_empty() && event.head.is_some() {
        out_line!("  nothing was altered");
    }
    if let Some(entry) = event.asked_head_at {
        out_line!("  the given head is that of entry {entry}: it covers everything up to there");
    }
    if let Some(head) = &event.head {
        out_line!("  head {head}");
    }
}

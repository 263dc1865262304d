//! `renmei verify`: whether the events of a database are as they were played.

use super::{Exit, Failure, find_event, pretty, values::percent};
use clap::Args;
use journal::{EventSummary, Store, Verified};
use notation::printable;
use referee::number::number;
use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Each finished game, bye, verdict and run has a seal: a SHA-256 of its content and of the seal before it. `verify` computes
them anew and names what differs. A person with write access can also compute new seals: note the head, which the end of
an event and `renmei report` print, where others cannot change it, and compare with `--head`. A head that was noted earlier
is found too, and covers what was played until then. Records are verified by `renmei import --verify`.

Exit codes: 0 nothing was altered, 20 something was, or the head is not in the chain.

Examples:
  renmei verify league.db
  renmei verify league.db --event spring --head 1f0c...
  renmei verify league.tar.gz --replay 5 --engine ./engine-a --engine ./engine-b")]
pub struct VerifyArgs {
    /// The database, or a file that `renmei pack` has written (its name ends in .tar.gz).
    pub db: PathBuf,
    /// Name of the event; by default all events.
    #[arg(long, value_name = "NAME")]
    pub event: Option<String>,
    /// A head that was noted earlier: 64 hexadecimal digits.
    #[arg(long, value_name = "SHA256", value_parser = head)]
    pub head: Option<String>,
    /// Play so many percent of the games again that can come out but one way: of engines that are limited by nodes or
    /// depth, think with one thread, and are among those of --engine.
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "engine")]
    pub replay: Option<f64>,
    /// A program that may be an engine of the event, by its SHA-256; may be repeated. It runs in the strict sandbox.
    #[arg(long, value_name = "PATH")]
    pub engine: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Parses a head.
fn head(text: &str) -> Result<String, String> {
    match text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_owned()),
        false => Err("a head is 64 hexadecimal digits, as `renmei report` prints it".to_owned()),
    }
}

/// Alterations of an event that are printed one by one.
const SHOWN: usize = 50;

/// Recomputes the seals of events and prints what was altered.
pub fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    if !args.db.to_string_lossy().ends_with(".tar.gz") {
        let verified = verify_database(args, &args.db)?;
        return Ok(if replay(args, &args.db)? { verified } else { Exit::Faults });
    }
    let unpacked = records::pack::unpack(&args.db, &std::env::temp_dir())?;
    err_line!("{}, as the manifest says", number(unpacked.manifest.files.len(), "file"));
    let contradictions = unpacked.contradictions()?;
    contradictions.iter().for_each(|text| err_line!("{}", printable(text.as_bytes())));
    let verified = verify_database(args, unpacked.database())?;
    let is_same = replay(args, unpacked.database())?;
    Ok(if contradictions.is_empty() && is_same { verified } else { Exit::Faults })
}

/// Plays games again, if that is wanted; whether they went as before.
fn replay(args: &VerifyArgs, database: &Path) -> Result<bool, Failure> {
    let Some(percent) = args.replay else { return Ok(true) };
    let programs = args.engine.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>();
    let programs = programs.map_err(|error| Failure::Usage(format!("--engine: {error}")))?;
    let replayed = event::replay::replay(database, percent, &programs, &event::aloud())?;
    replayed.differences.iter().for_each(|difference| err_line!("{difference}"));
    let same = replayed.games - replayed.differences.len();
    err_line!(
        "{same} of {} came out the same; {} could be played again, {} could not",
        number(replayed.games, "game"),
        number(replayed.suitable, "game"),
        replayed.unsuitable
    );
    Ok(replayed.differences.is_empty())
}

fn verify_database(args: &VerifyArgs, database: &Path) -> Result<Exit, Failure> {
    let store = Store::read(database)?;
    let damage = store.damage()?;
    damage.iter().for_each(|text| err_line!("the file is damaged: {}", printable(text.as_bytes())));
    let events = store.events()?;
    let chosen: Vec<&EventSummary> = match &args.event {
        Some(name) => vec![find_event(&events, Some(name))?],
        None => events.iter().collect(),
    };
    if chosen.is_empty() {
        return Err(Failure::Usage("this database has no event yet".to_owned()));
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let verified = chosen.iter().map(|event| {
        let mut progress = Progress::new(&event.name);
        store.verify_on(threads, event.id, args.head.as_deref(), &mut |read, all| {
            if let Some(line) = progress.line(Instant::now(), read, all) {
                err_line!("{line}");
            }
        })
    });
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
    let intact = damage.is_empty() && head_found && verified.iter().all(|event| event.alterations.is_empty());
    Ok(if intact { Exit::Done } else { Exit::Faults })
}

/// Lines about a long verification: one in [`PACE`].
struct Progress {
    event: String,
    begun: Instant,
    told: Instant,
}

/// Least time between two lines.
const PACE: Duration = Duration::from_secs(2);

impl Progress {
    fn new(event: &str) -> Self {
        let now = Instant::now();
        Self { event: printable(event.as_bytes()), begun: now, told: now }
    }

    /// The line that is due after so many games of all, if one is.
    fn line(&mut self, now: Instant, read: u64, all: u64) -> Option<String> {
        if read == 0 || read >= all || now.duration_since(self.told) < PACE {
            return None;
        }
        self.told = now;
        let left = now.duration_since(self.begun).as_secs_f64() / read as f64 * (all - read) as f64;
        Some(format!("verifying `{}`: {read} of {all} games; about {left:.0} s to the end", self.event))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_verification_prints_a_line_every_two_seconds_and_a_short_one_none() {
        let mut progress = Progress::new("league\u{1b}[2J");
        let begun = progress.begun;
        let lines = |progress: &mut Progress, seconds: f64, read| {
            progress.line(begun + Duration::from_secs_f64(seconds), read, 1000)
        };
        assert_eq!(lines(&mut progress, 1.9, 100), None);
        let line = lines(&mut progress, 2.0, 100).unwrap();
        assert!(line.ends_with("100 of 1000 games; about 18 s to the end"), "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
        assert_eq!(lines(&mut progress, 3.9, 200), None);
        assert!(lines(&mut progress, 4.1, 200).is_some());
        assert_eq!(lines(&mut progress, 9.0, 1000), None, "the result follows");
    }
}

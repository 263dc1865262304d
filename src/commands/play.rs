//! `renmei run`, and what `renmei match` shares with it: from a plan to standings.

use super::{Exit, Failure};
use crate::{
    cli::{PlayingArgs, RunArgs},
    config, openings,
    plan::Plan,
    report::{Announcer, Head, Report, verdict},
    run::{self, RunError, preflight},
    store::Store,
};
use referee::{schedule::Schedule, sprt::Verdict};
use std::{
    fs::OpenOptions,
    io::{self, Write},
};

/// Plays the event of a configuration file.
///
/// # Errors
/// When the configuration is wrong or the event cannot be played.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let plan = config::load(&args.file).map_err(Failure::Config)?;
    play(plan, &args.playing)
}

/// Plays a plan to its end and reports.
///
/// # Errors
/// When it cannot be played.
pub fn play(mut plan: Plan, args: &PlayingArgs) -> Result<Exit, Failure> {
    overrule(&mut plan, args);
    let lines = match &plan.openings {
        Some(openings) => openings::load(openings).map_err(|faults| Failure::Usage(faults.to_string()))?,
        None => vec![],
    };
    for skipped in &plan.skipped {
        eprintln!("skipping `{}`: {}", skipped.name, skipped.reason);
    }
    let faults = preflight::faults(&plan).map_err(|e| Failure::Other(e.to_string()))?;
    if !faults.is_empty() {
        return Err(RunError::Engines(faults).into());
    }
    let openings = run::in_order(lines, &plan);
    let mut announcer = announcer(&plan, args)?;
    let finished = run::run(&plan, openings, move |batch| announcer.tell(&batch))?;
    let mut report = Report::new(&Head::of(&plan), &finished.standings, !finished.interrupted);
    report.skipped = plan.skipped.iter().map(|skipped| skipped.name.clone()).collect();
    if !args.json {
        println!();
    }
    super::print(&report, args.json);
    Ok(match verdict(&report) {
        Some(Verdict::H1) => Exit::H1,
        Some(Verdict::H0) => Exit::H0,
        _ if finished.interrupted => Exit::Stopped,
        _ => Exit::Done,
    })
}

fn overrule(plan: &mut Plan, args: &PlayingArgs) {
    if let Some(db) = &args.db {
        plan.database.clone_from(db);
    }
    if let Some(concurrency) = args.concurrency {
        plan.concurrency = concurrency.max(1);
    }
    plan.oversubscribe |= args.oversubscribe;
    plan.affinity |= args.affinity;
}

fn announcer(plan: &Plan, args: &PlayingArgs) -> Result<Announcer, Failure> {
    let schedule = Schedule::new(&plan.stages, plan.engines.len(), plan.seed, plan.replay_draws, true);
    let mut announcer = Announcer::new(Head::of(plan), schedule.total(), played_before(plan));
    if !args.quiet {
        let people: Box<dyn Write + Send> =
            if args.json { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
        announcer = announcer.people(people);
    }
    if let Some(path) = &args.events {
        let file = OpenOptions::new().create(true).append(true).open(path);
        announcer = announcer
            .programs(file.map_err(|e| Failure::Usage(format!("--events {}: {e}", path.display())))?);
    }
    Ok(announcer)
}

/// Games of the event that count already; none when there is no such database or event yet.
fn played_before(plan: &Plan) -> u64 {
    let events = Store::read(&plan.database).and_then(|store| store.events()).unwrap_or_default();
    events.iter().find(|event| event.name == plan.name).map_or(0, |event| event.counted)
}

//! `renmei run`, and what the options for playing change in a plan.

use super::{Exit, Failure, OpenScreen};
use crate::cli::{FaultLimitArg, PlayingArgs, RunArgs};
use event::{play::Playing, reread::Reread};
use plan::{Document, Plan};
use std::path::Path;

/// Plays the event of a configuration file.
pub fn run(args: &RunArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    let again = args.clone();
    let reread = Reread::new(move || ready(load(&again.file)?, &again.playing));
    let playing = Playing { reread: Some(reread), ..(&args.playing).into() };
    event::play::play(ready(load(&args.file)?, &args.playing)?, &playing, open_screen)
}

/// Reads the plan of a file.
fn load(file: &Path) -> Result<Plan, Failure> {
    match Document::load(file).map_err(Failure::Config)? {
        Document::Event { plan, .. } => Ok(*plan),
        Document::League(_) => Err(Failure::Usage(format!(
            "{}: this file describes an open league, not an event; host it with `renmei serve`",
            file.display()
        ))),
    }
}

/// Plays a plan with the options of the command line to its end, and prints the report.
pub(super) fn play(plan: Plan, args: &PlayingArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    event::play::play(ready(plan, args)?, &args.into(), open_screen)
}

/// A plan of local engines with the options of the command line.
fn ready(mut plan: Plan, args: &PlayingArgs) -> Result<Plan, Failure> {
    if let Some(engine) = plan.engines.iter().find(|engine| engine.remote) {
        let name = &engine.name;
        return Err(Failure::Usage(format!(
            "`{name}` logs in over the network: play this event with `renmei serve`"
        )));
    }
    override_plan(&mut plan, args)?;
    Ok(plan)
}

/// Applies the options of the command line to a plan.
pub(super) fn override_plan(plan: &mut Plan, args: &PlayingArgs) -> Result<(), Failure> {
    if let Some(db) = &args.db {
        plan.database.clone_from(db);
    }
    if let Some(name) = &args.name {
        if name.trim().is_empty() {
            return Err(Failure::Usage("--name: the name of an event is not empty".to_owned()));
        }
        plan.name.clone_from(name);
    }
    if let Some(concurrency) = args.slots.or(args.concurrency).or(plan.machines.slots) {
        plan.concurrency = concurrency;
    }
    if !args.ssh.is_empty() {
        plan::check_hosts(&args.ssh).map_err(|why| Failure::Usage(format!("--ssh {why}")))?;
        plan.machines.ssh.clone_from(&args.ssh);
    }
    check_machines(plan, args)?;
    if let Some(log) = &args.log {
        plan.log.clone_from(log);
    }
    plan.reserve_mb = args.reserve_mb.unwrap_or(plan.reserve_mb);
    plan.oversubscribe |= args.oversubscribe;
    plan.look &= !args.no_look;
    if let Some(FaultLimitArg(limit)) = args.fault_limit {
        plan.fault_limit = limit;
    }
    if args.affinity || args.no_affinity {
        plan.affinity = Some(args.affinity);
    }
    if let Some(command) = &args.notify {
        plan.notify.command = Some(command.clone());
    }
    plan.notify.on_verdict.clone_from(&args.on_verdict);
    if args.on_verdict.is_some() && !plan.stages.iter().any(|stage| stage.format.is_sequential()) {
        let why =
            "--on-verdict needs a test (--sprt, format \"sprt\", or `until`); --notify announces every end";
        return Err(Failure::Usage(why.to_owned()));
    }
    if plan.affinity == Some(true) && plan.oversubscribe {
        let why = "--affinity and oversubscribing exclude each other: pinned games need cores of their own";
        return Err(Failure::Usage(why.to_owned()));
    }
    Ok(())
}

/// Refuses `--slots` where only this machine plays.
fn check_machines(plan: &Plan, args: &PlayingArgs) -> Result<(), Failure> {
    let others = args.hub.is_some() || args.workers.is_some() || !plan.machines.ssh.is_empty();
    match (args.slots.is_some() || plan.machines.slots.is_some()) && !others {
        true => Err(Failure::Usage(
            "slots need other machines: `--hub`, `--workers`, `--ssh` or `[machines] ssh`; here `--concurrency` says how many \
             games are played at once"
                .to_owned(),
        )),
        false => Ok(()),
    }
}

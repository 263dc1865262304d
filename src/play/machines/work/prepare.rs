//! Before the first pair: the engines are looked at, compared with those of the manager, and the slots are counted.

use super::{WorkerOptions, cores};
use crate::hub::Cache;
use crate::{Unfit, depot, messages::Terms, scaling::thousands};
use arena::{
    Say,
    identity::{Engine, Identifier},
    preflight::{self, Findings},
    speed::{self, Speed},
    worker::WorkerSpec,
};
use parking_lot::Mutex;
use plan::{EnginePlan, Plan, Sandbox};
use referee::number::number;
use std::{io, path::Path, sync::Arc};

/// What a worker plays with.
#[derive(Debug)]
pub struct Prepared {
    /// Pairs at once.
    pub slots: usize,
    /// Its speed, where the event wants it.
    pub speed: Option<Speed>,
    /// Threads for their games.
    pub threads: Vec<WorkerSpec>,
    /// How the engines are started here, by player.
    pub plans: Vec<EnginePlan>,
    /// What they are.
    pub engines: Vec<Engine>,
    /// What people should know of it: lines for the manager.
    pub words: Vec<String>,
}

/// Fetches the engines of an event that this machine does not have, and looks at all of them.
///
/// # Errors
/// Why they cannot play here.
pub async fn prepare(
    options: &WorkerOptions,
    terms: &Terms,
    cache: &Cache,
    say: &Say,
) -> Result<Prepared, Unfit> {
    if options.strict {
        terms.players.iter().try_for_each(|player| refuse_lenience(&player.engine()))?;
    }
    let far =
        terms.players.iter().find_map(|player| Some((&player.engine.name, player.engine.host.as_ref()?)));
    if let Some((name, host)) = far {
        return Err(Unfit::OnHost(name.clone(), host.clone()));
    }
    let mut engines = vec![];
    for player in &terms.players {
        let name = &player.engine.name;
        let found = depot::engine(player, cache).await;
        let (engine, is_fetched) = found.map_err(|fault| Unfit::NotFetched(name.clone(), fault))?;
        if is_fetched {
            say(&format!("engine `{name}` is the manager's: `{}`", engine.command.display()));
        }
        engines.push(engine);
    }
    let (options, terms, say) = (options.clone(), terms.clone(), say.clone());
    tokio::task::spawn_blocking(move || look(&options, &terms, engines, &say)).await?
}

/// Refuses an engine that may do more here than one in a strict sandbox.
fn refuse_lenience(engine: &EnginePlan) -> Result<(), Unfit> {
    let name = engine.name.clone();
    if engine.sandbox.kind != Sandbox::Strict {
        return Err(Unfit::NotStrict(name));
    }
    match engine.sandbox.write.first() {
        Some(path) => Err(Unfit::Writes(name, path.clone())),
        None => Ok(()),
    }
}

fn look(
    options: &WorkerOptions,
    terms: &Terms,
    engines: Vec<EnginePlan>,
    say: &Say,
) -> Result<Prepared, Unfit> {
    let mut plan = Plan::of_engines(&terms.event, engines, options.state.join("none.db"));
    plan.concurrency = 1;
    plan.oversubscribe = options.oversubscribe;
    plan.startups = cores();
    plan.look = terms.look;
    if let Some(missing) = plan.engines.iter().find(|engine| !engine.command.is_file()) {
        return Err(Unfit::NoProgram(missing.name.clone(), missing.command.clone()));
    }
    let Findings { faults, engines: facts, shown } = preflight::look(&plan, say)?;
    if !faults.is_empty() {
        return Err(Unfit::Faults(faults));
    }
    let (words, warn) = heard(say);
    for (engine, shown) in plan.engines.iter().zip(&shown) {
        let device =
            shown.device.iter().map(|device| format!("engine `{}` computes on {device}", engine.name));
        device.for_each(|line| words.lock().push(line));
    }
    words.lock().extend(facts.iter().flat_map(|facts| facts.warnings.clone()));
    let warned = |line: &str| warn(line);
    let mut identifier = Identifier::new(Path::new("/nonexistent"), &warned);
    let mut engines = vec![];
    for ((player, engine), shown) in terms.players.iter().zip(&plan.engines).zip(&shown) {
        let found = identifier.identify(engine, shown)?;
        let changes = player.identity.as_ref().map(|was| found.changes_since(was)).unwrap_or_default();
        if !changes.is_empty() {
            return Err(Unfit::OtherEngine(engine.name.clone(), changes));
        }
        engines.push(found);
    }
    let each: Vec<f64> = facts.iter().map(|facts| facts.cores).collect();
    plan.concurrency = options.slots.unwrap_or_else(|| carried(&plan, &each));
    let needed = preflight::cores_per_game(&plan, &each) * plan.concurrency as f64;
    if needed > cores() as f64 + 0.01 && !options.oversubscribe {
        return Err(Unfit::Cores { slots: plan.concurrency, needed, cores: cores() });
    }
    let threads = preflight::placement(&plan, &[]).workers;
    let speed = terms.scaled.then(|| measured(&plan, say, &warn)).transpose()?;
    let words = std::mem::take(&mut *words.lock());
    Ok(Prepared { slots: plan.concurrency, speed, threads, plans: plan.engines, engines, words })
}

/// Lines that were said here, and are for the manager, too.
type Heard = Arc<Mutex<Vec<String>>>;

/// Says lines as `say` does, and keeps them.
fn heard(say: &Say) -> (Heard, Say) {
    let (words, say) = (Heard::default(), say.clone());
    let kept = words.clone();
    let warn: Say = Arc::new(move |line: &str| {
        say(line);
        kept.lock().push(line.to_owned());
    });
    (words, warn)
}

/// The speed of this machine with all slots busy, told in a line.
fn measured(plan: &Plan, say: &Say, warn: &Say) -> io::Result<Speed> {
    say("the clocks of this event are scaled: measuring how fast the engines are here");
    let speed = speed::measure(&plan.engines, plan.concurrency, plan.startups, warn)?;
    match speed.mean() {
        Some(nps) => say(&format!(
            "{} thousand nodes per second in each of {}, steady to {:.0} %",
            thousands(nps),
            number(plan.concurrency, "slot"),
            speed.spread * 100.0
        )),
        None => say("the engines tell no nodes per second: the clocks of the plan are those of this machine"),
    }
    Ok(speed)
}

fn carried(plan: &Plan, each: &[f64]) -> usize {
    let per_game = preflight::cores_per_game(plan, each);
    let carried = if per_game > 0.0 { (cores() as f64 / per_game) as usize } else { cores() };
    carried.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::SandboxPlan;

    #[test]
    fn a_worker_that_insists_on_strict_refuses_whatever_asks_for_more() {
        let with = |kind, write: &[&str]| {
            let write = write.iter().map(Into::into).collect();
            let sandbox = SandboxPlan { kind, write, ..SandboxPlan::default() };
            refuse_lenience(&EnginePlan { name: "x".to_owned(), sandbox, ..EnginePlan::default() })
        };
        with(Sandbox::Strict, &[]).unwrap();
        assert!(matches!(with(Sandbox::Default, &[]), Err(Unfit::NotStrict(name)) if name == "x"));
        let hole = with(Sandbox::Strict, &["/home"]).unwrap_err().to_string();
        assert!(hole.contains("`x` may write to `/home`"), "{hole}");
    }
}

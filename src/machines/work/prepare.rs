//! Before the first pair: the engines are looked at, compared with those of the manager, and the slots are counted.

use super::{WorkerOptions, cores};
use crate::{depot, messages::Terms, scaling::thousands};
use arena::{
    Say,
    identity::{Engine, Identifier},
    preflight::{self, Findings},
    speed::{self, Speed},
    worker::WorkerSpec,
};
use hub::{Cache, Held};
use parking_lot::Mutex;
use plan::{EnginePlan, Plan, Sandbox};
use referee::number::number;
use std::{path::Path, sync::Arc};

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
    /// Those that it was sent, which stay in the cache.
    pub held: Vec<Held>,
}

/// Fetches the engines of an event that this machine does not have, and looks at all of them.
///
/// # Errors
/// Why they cannot play here, each reason on a line.
pub async fn prepare(
    options: &WorkerOptions,
    terms: &Terms,
    cache: &Cache,
    say: &Say,
) -> Result<Prepared, String> {
    if options.strict {
        terms.players.iter().try_for_each(|player| refuse_lenience(&player.engine()))?;
    }
    let far =
        terms.players.iter().find_map(|player| Some((&player.engine.name, player.engine.host.as_ref()?)));
    if let Some((name, host)) = far {
        return Err(format!(
            "engine `{name}` plays on the host `{host}`, which the manager alone starts it on"
        ));
    }
    let (mut engines, mut held) = (vec![], vec![]);
    for player in &terms.players {
        let name = &player.engine.name;
        let found = depot::engine(player, cache).await;
        let (engine, fetched) = found.map_err(|why| format!("engine `{name}` cannot be fetched: {why}"))?;
        if fetched.is_some() {
            say(&format!("engine `{name}` is the manager's: `{}`", engine.command.display()));
        }
        engines.push(engine);
        held.extend(fetched);
    }
    let (options, terms, say) = (options.clone(), terms.clone(), say.clone());
    let looked = tokio::task::spawn_blocking(move || look(&options, &terms, engines, &say)).await;
    let prepared = looked.map_err(|panicked| panicked.to_string())??;
    Ok(Prepared { held, ..prepared })
}

/// Refuses an engine that may do more here than one in a strict sandbox.
fn refuse_lenience(engine: &EnginePlan) -> Result<(), String> {
    let name = &engine.name;
    if engine.sandbox.kind != Sandbox::Strict {
        return Err(format!(
            "engine `{name}` is not in a strict sandbox, and this worker was started with `--sandbox strict`"
        ));
    }
    match engine.sandbox.write.first() {
        Some(path) => Err(format!(
            "engine `{name}` may write to `{}`, and this worker was started with `--sandbox strict`",
            path.display()
        )),
        None => Ok(()),
    }
}

fn look(
    options: &WorkerOptions,
    terms: &Terms,
    engines: Vec<EnginePlan>,
    say: &Say,
) -> Result<Prepared, String> {
    let mut plan = Plan::of_engines(&terms.event, engines, options.state.join("none.db"));
    plan.concurrency = 1;
    plan.oversubscribe = options.oversubscribe;
    plan.startups = cores();
    plan.look = terms.look;
    if let Some(missing) = plan.engines.iter().find(|engine| !engine.command.is_file()) {
        let (name, path) = (&missing.name, missing.command.display());
        return Err(format!("engine `{name}`: there is no program `{path}` on this machine"));
    }
    let Findings { faults, engines: facts, shown } =
        preflight::look(&plan, say).map_err(|why| why.to_string())?;
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let (words, warn) = heard(say);
    for (engine, shown) in plan.engines.iter().zip(&shown) {
        let device =
            shown.device.iter().map(|device| format!("engine `{}` computes on {device}", engine.name));
        device.for_each(|line| words.lock().push(line));
    }
    let warned = |line: &str| warn(line);
    let mut identifier = Identifier::new(Path::new("/nonexistent"), &warned);
    let mut engines = vec![];
    for ((player, engine), shown) in terms.players.iter().zip(&plan.engines).zip(&shown) {
        let found = identifier.identify(engine, shown)?;
        let changes = player.identity.as_ref().map(|was| found.changes_since(was)).unwrap_or_default();
        if !changes.is_empty() {
            let (name, changes) = (&engine.name, changes.join("; "));
            return Err(format!("engine `{name}` is not the one of the manager: {changes}"));
        }
        engines.push(found);
    }
    let each: Vec<f64> = facts.iter().map(|facts| facts.cores).collect();
    plan.concurrency = options.slots.unwrap_or_else(|| carried(&plan, &each));
    let needed = cores_per_game(&plan, &each) * plan.concurrency as f64;
    if needed > cores() as f64 + 0.01 && !options.oversubscribe {
        let (slots, cores) = (plan.concurrency, cores());
        return Err(format!(
            "{slots} pairs at once need {needed} cores, and {cores} can be used here: give it fewer `--slots`, or force it \
             with `--oversubscribe`"
        ));
    }
    let threads = preflight::placement(&plan, &[]).workers;
    let speed = terms.scaled.then(|| measured(&plan, say, &warn)).transpose()?;
    let words = std::mem::take(&mut *words.lock());
    Ok(Prepared {
        slots: plan.concurrency,
        speed,
        threads,
        plans: plan.engines,
        engines,
        words,
        held: vec![],
    })
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
fn measured(plan: &Plan, say: &Say, warn: &Say) -> Result<Speed, String> {
    say("the clocks of this event are scaled: measuring how fast the engines are here");
    let speed = speed::measure(&plan.engines, plan.concurrency, plan.startups, warn);
    let speed = speed.map_err(|why| format!("the system has no event queue: {why}"))?;
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

/// Cores that a game keeps busy: only one engine thinks, or both if one ponders.
fn cores_per_game(plan: &Plan, each: &[f64]) -> f64 {
    let mut heaviest = each.to_vec();
    heaviest.sort_by(|a, b| b.total_cmp(a));
    let pondering = plan.engines.iter().any(|engine| engine.ponder);
    heaviest.iter().take(if pondering { 2 } else { 1 }).sum()
}

fn carried(plan: &Plan, each: &[f64]) -> usize {
    let per_game = cores_per_game(plan, each);
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
        assert_eq!(with(Sandbox::Strict, &[]), Ok(()));
        assert!(with(Sandbox::Default, &[]).unwrap_err().contains("`x` is not in a strict sandbox"));
        assert!(with(Sandbox::Strict, &["/home"]).unwrap_err().contains("`x` may write to `/home`"));
    }
}

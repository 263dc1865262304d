//! Checks before the first game: the handshake of every engine against its options, and the cores.

use crate::{
    cores::{ClaimedCores, Machine, games_to_pin, usable_threads},
    worker::WorkerSpec,
};
use notation::usi::{OptionKind, nearest};
use plan::{EnginePlan, Plan};
use referee::number::number;
use seat::usi::{Handshake, UsiPlayer, handshake};
use std::{io, sync::Arc};
use tokio::sync::Semaphore;

/// Options that every engine has, declared or not (USI).
const IMPLIED: [&str; 2] = ["USI_Hash", "USI_Ponder"];
/// Names of the option for the number of threads.
const THREADS: [&str; 3] = ["Threads", "Thread", "USI_Threads"];

/// What the look at an event has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What would go wrong; empty if the event can be played.
    pub faults: Vec<String>,
    /// The engines that are started here, in the order of the plan.
    pub engines: Vec<EngineFacts>,
    /// Their handshakes, in the same order; an empty one for an engine with a fault.
    pub shown: Vec<Handshake>,
}

/// What is known of the threads of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineFacts {
    /// Cores that the engine keeps busy, by its plan and its options.
    pub cores: f64,
    /// Whether the engine has an option for its number of threads.
    pub declares_threads: bool,
    /// Threads of its process after the handshake, if that is known.
    pub process_threads: Option<u32>,
}

/// Meets every engine once, all at the same time, and finds what would go wrong.
///
/// # Errors
/// When the system has no event queue for it.
pub fn look(plan: &Plan) -> io::Result<Findings> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let met = runtime.block_on(meet_all(plan));
    let (mut faults, mut engines, mut handshakes) = (vec![], vec![], vec![]);
    for (engine, met) in started_here(plan).zip(met) {
        match met {
            Ok(shown) => {
                faults.extend(option_faults(engine, &shown));
                engines.push(facts(engine, &shown));
                handshakes.push(shown);
            }
            Err(fault) => {
                faults.push(format!("engine `{}` cannot play: {}", engine.name, fault.trim_end()));
                engines.push(EngineFacts {
                    cores: engine.cores,
                    declares_threads: false,
                    process_threads: None,
                });
                handshakes.push(Handshake::default());
            }
        }
    }
    faults.extend(core_fault(plan, &engines.iter().map(|engine| engine.cores).collect::<Vec<_>>()));
    Ok(Findings { faults, engines, shown: handshakes })
}

fn facts(engine: &EnginePlan, shown: &Handshake) -> EngineFacts {
    EngineFacts {
        cores: engine.cores.max(thread_count(engine, shown)),
        declares_threads: shown.options.iter().any(|option| THREADS.contains(&option.name.as_str())),
        process_threads: shown.threads,
    }
}

async fn meet_all(plan: &Plan) -> Vec<Result<Handshake, String>> {
    let startups = Arc::new(Semaphore::new(plan.startups.max(1)));
    let tasks: Vec<_> = started_here(plan)
        .map(|engine| {
            let player = UsiPlayer {
                engine: Arc::new(engine.clone()),
                cores: vec![],
                startups: startups.clone(),
                reports: None,
                gate: None,
                recorder: None,
            };
            tokio::spawn(handshake(player))
        })
        .collect();
    let mut met = Vec::with_capacity(tasks.len());
    for task in tasks {
        met.push(task.await.unwrap_or_else(|panicked| Err(panicked.to_string())));
    }
    met
}

/// The engines that this program starts, in the order of the plan.
pub fn started_here(plan: &Plan) -> impl Iterator<Item = &EnginePlan> {
    plan.engines.iter().filter(|engine| !engine.remote)
}

fn option_faults(engine: &EnginePlan, shown: &Handshake) -> Vec<String> {
    let mut faults = Vec::new();
    for (at, (name, value)) in engine.options.iter().enumerate() {
        let place = engine.option_sources.get(at).map(|source| format!("{source}: ")).unwrap_or_default();
        match shown.options.iter().find(|option| option.name == *name) {
            Some(option) => {
                if let Err(fault) = option.check(value) {
                    faults.push(format!("{place}engine `{}`: {fault}", engine.name));
                }
            }
            None if IMPLIED.contains(&name.as_str()) => {}
            None => {
                let names = shown.options.iter().map(|option| option.name.as_str());
                let hint =
                    nearest(name, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                faults.push(format!("{place}engine `{}` offers no option `{name}`{hint}", engine.name));
            }
        }
    }
    faults
}

/// Threads that the engine uses by its option, set or default.
fn thread_count(engine: &EnginePlan, shown: &Handshake) -> f64 {
    let set = engine.options.iter().find(|(name, _)| THREADS.contains(&name.as_str()));
    if let Some(threads) = set.and_then(|(_, value)| value.parse().ok()) {
        return threads;
    }
    let declared = shown.options.iter().find(|option| THREADS.contains(&option.name.as_str()));
    match declared.map(|option| &option.kind) {
        Some(OptionKind::Spin { default, .. }) => *default as f64,
        _ => 1.0,
    }
}

/// Cores that a game keeps busy: those of the heaviest engine, as only one of the two thinks; of both if one ponders.
fn cores_per_game(plan: &Plan, threads: &[f64]) -> f64 {
    let mut heaviest = threads.to_vec();
    heaviest.sort_by(|a, b| b.total_cmp(a));
    let pondering = plan.engines.iter().any(|engine| engine.ponder);
    heaviest.iter().take(if pondering { 2 } else { 1 }).sum()
}

fn core_fault(plan: &Plan, threads: &[f64]) -> Option<String> {
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    let each = cores_per_game(plan, threads);
    let needed = each * plan.concurrency as f64;
    (needed > usable as f64 + 0.01 && !plan.oversubscribe).then(|| {
        format!(
            "{} at once with up to {} each: {needed} cores are needed, and {usable} can be used here; lower \
             `concurrency` or the engines' threads, or force it with `oversubscribe`",
            number(plan.concurrency, "game"),
            number(each, "core")
        )
    })
}

/// Workers for an event, and the claim on their cores.
#[derive(Debug)]
pub struct Placement {
    /// The workers.
    pub workers: Vec<WorkerSpec>,
    /// Keeps the cores of pinned workers from other managers.
    pub claimed: Option<ClaimedCores>,
    /// What to tell people about it.
    pub words: Option<String>,
}

/// The workers of an event, on cores of their own where the plan wants it, or where it leaves the choice and nobody
/// loses by it (see [`crate::cores`]).
#[must_use]
pub fn placement(plan: &Plan, engines: &[EngineFacts]) -> Placement {
    let machine = Machine::read();
    match plan.affinity {
        Some(true) => {
            let workers = pinned_workers(plan, &usable_threads());
            let threads: Vec<usize> = workers.iter().flat_map(|worker| worker.cores.clone()).collect();
            Placement { workers, claimed: Some(ClaimedCores::of_threads(&machine, &threads)), words: None }
        }
        Some(false) => unpinned(plan),
        None => {
            let games = games_to_pin(plan, engines, &machine).ok();
            games.and_then(|games| own_cores(&machine, games)).unwrap_or_else(|| unpinned(plan))
        }
    }
}

/// A worker with one game for each core; `None` if there are not enough free cores.
fn own_cores(machine: &Machine, games: usize) -> Option<Placement> {
    let claimed = ClaimedCores::idle(machine, games)?;
    let threads = claimed.threads();
    let spec = |(number, &thread)| WorkerSpec { number, slots: 1, cores: vec![thread] };
    let workers = threads.iter().enumerate().map(spec).collect();
    let list: Vec<String> = threads.iter().map(usize::to_string).collect();
    let words = format!("each game has a core of its own: {} (`affinity = \"auto\"`)", list.join(", "));
    Some(Placement { workers, claimed: Some(claimed), words: Some(words) })
}

fn unpinned(plan: &Plan) -> Placement {
    let games = plan.concurrency.max(1);
    let workers = games.min(usable_threads().len());
    let spec = |number| WorkerSpec { number, slots: share(games, workers, number), cores: vec![] };
    Placement { workers: (0..workers).map(spec).collect(), claimed: None, words: None }
}

/// Workers on as many hardware threads as a game keeps busy; games beyond the hardware threads share workers.
fn pinned_workers(plan: &Plan, threads: &[usize]) -> Vec<WorkerSpec> {
    let games = plan.concurrency.max(1);
    let cores: Vec<f64> = plan.engines.iter().map(|engine| engine.cores).collect();
    let each = (cores_per_game(plan, &cores).ceil() as usize).max(1);
    let own = |number: usize| (0..each).map(|n| threads[(number * each + n) % threads.len()]).collect();
    let workers = games.min((threads.len() / each).max(1));
    let spec = |number| WorkerSpec { number, slots: share(games, workers, number), cores: own(number) };
    (0..workers).map(spec).collect()
}

/// Games at once on one of the workers.
fn share(games: usize, workers: usize, number: usize) -> usize {
    games / workers + usize::from(number < games % workers)
}

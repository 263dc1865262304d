//! What is looked at before the first game: cores, and every engine's handshake against its options.

use crate::worker::WorkerSpec;
use nix::{
    sched::{CpuSet, sched_getaffinity},
    unistd::Pid,
};
use notation::usi::{OptionKind, nearest};
use plan::{EnginePlan, Plan};
use seat::usi::{Handshake, UsiPlayer, handshake};
use std::{io, sync::Arc};
use tokio::sync::Semaphore;

/// Options every engine has, declared or not (USI).
const IMPLIED: [&str; 2] = ["USI_Hash", "USI_Ponder"];
/// What engines call their number of threads.
const THREADS: [&str; 3] = ["Threads", "Thread", "USI_Threads"];

/// Meets every engine once, all at the same time, and finds what would go wrong.
///
/// # Errors
/// When there is no event queue to do it with.
pub fn faults(plan: &Plan) -> io::Result<Vec<String>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let met = runtime.block_on(meet_all(plan));
    let mut faults = Vec::new();
    let mut threads = Vec::new();
    for (engine, met) in started_here(plan).zip(met) {
        match met {
            Ok(shown) => {
                faults.extend(option_faults(engine, &shown));
                threads.push(engine.cores.max(thread_count(engine, &shown)));
            }
            Err(fault) => {
                faults.push(format!("engine `{}` cannot play: {}", engine.name, fault.trim_end()));
                threads.push(engine.cores);
            }
        }
    }
    faults.extend(core_fault(plan, &threads));
    Ok(faults)
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

fn started_here(plan: &Plan) -> impl Iterator<Item = &EnginePlan> {
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

/// How many threads the engine will use by its option, set or default.
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

/// Cores a game keeps busy: the heaviest engine's, as only one of the two thinks; both if one of them ponders.
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
            "{} games at once with up to {each} cores each need {needed} cores, and {usable} are usable here: lower \
             `concurrency` or the engines' threads, or force it with `oversubscribe`",
            plan.concurrency
        )
    })
}

/// The workers of an event: a thread per core at most; with affinity, a worker and its games have cores of their own.
#[must_use]
pub fn worker_specs(plan: &Plan) -> Vec<WorkerSpec> {
    let cores = usable_cores();
    let games = plan.concurrency.max(1);
    if plan.affinity {
        let threads: Vec<f64> = plan.engines.iter().map(|engine| engine.cores).collect();
        let each = (cores_per_game(plan, &threads).ceil() as usize).max(1);
        let own = |number: usize| (0..each).map(|n| cores[(number * each + n) % cores.len()]).collect();
        // Games beyond the cores share workers.
        let workers = games.min((cores.len() / each).max(1));
        let slots = |number: usize| games / workers + usize::from(number < games % workers);
        return (0..workers)
            .map(|number| WorkerSpec { number, slots: slots(number), cores: own(number) })
            .collect();
    }
    let workers = games.min(cores.len());
    let slots = |number: usize| games / workers + usize::from(number < games % workers);
    (0..workers).map(|number| WorkerSpec { number, slots: slots(number), cores: vec![] }).collect()
}

/// The cores this process may use; at least one.
fn usable_cores() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_else(|_| CpuSet::new());
    let cores: Vec<usize> = (0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect();
    if cores.is_empty() { vec![0] } else { cores }
}

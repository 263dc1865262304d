//! The cores of games: which game is pinned to which core, and what keeps two managers apart.
//!
//! Pinning a game means that its worker thread and its engines run on one core, where the side that is woken by a line
//! finds the line in the cache. With `affinity = "auto"` this is done only where nobody can lose by it; everything
//! else is left to the kernel:
//!
//! | left unpinned | because |
//! |---|---|
//! | more games than physical cores, or than a quota of processor time carries | games would share cores, and the kernel shares better |
//! | engines with more than one thread, by option, by `cores`, or seen in their process | they would all share one core |
//! | engines that ponder | both sides think at once |
//! | engines on a GPU | their threads wait for a device, and their number is not known |
//! | cores that another manager has claimed, or that are busy with something else | a pinned game cannot give way |
//!
//! Of a physical core with several hardware threads only one is used. A manager claims a core by a name that one process
//! has at a time ([`Claim`]). Containers with networks of their own do not see each other's names; a core on which another
//! container's games run is seen as busy.

use plan::Plan;
use platform::cores::{self, Claim, Load, siblings, usable};
use std::{collections::BTreeMap, thread, time::Duration};

/// Beginning of the names by which managers claim cores.
const CLAIM: &str = "renmei-core-";
/// Threads of a process that declares no number of threads: one that reads and one that searches.
const PLAIN_THREADS: u32 = 2;
/// How long the load of the cores is measured.
const GLANCE: Duration = Duration::from_millis(50);

/// What is known of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineFacts {
    /// Its name in its own words (`id name`), once it has sent it.
    pub id_name: Option<String>,
    /// Cores that the engine keeps busy, by its plan and its options.
    pub cores: f64,
    /// True if the engine has an option for its number of threads.
    pub declares_threads: bool,
    /// Threads of its process after the look, if that is known.
    pub process_threads: Option<u32>,
    /// Habits that cost it or its opponent games, each with the line that mends it.
    pub warnings: Vec<String>,
}

/// A physical core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its lowest hardware thread, usable or not: the name of the core.
    pub number: usize,
    /// The hardware threads of it that this program may use, as the kernel numbers them; at least one.
    pub threads: Vec<usize>,
}

/// What the machine has for this program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its physical cores.
    pub cores: Vec<Core>,
    /// Threads that run at once, by the quota of the program's control group.
    pub parallelism: usize,
}

impl Machine {
    /// The machine as this program may use it.
    pub fn read() -> Self {
        let parallelism = thread::available_parallelism().map_or(1, usize::from);
        Self { cores: physical(&usable(), siblings), parallelism }
    }
}

/// Groups hardware threads by physical core.
fn physical(usable: &[usize], siblings: impl Fn(usize) -> Vec<usize>) -> Vec<Core> {
    let mut cores: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &thread in usable {
        let number = siblings(thread).into_iter().min().unwrap_or(thread);
        cores.entry(number.min(thread)).or_default().push(thread);
    }
    cores.into_iter().map(|(number, threads)| Core { number, threads }).collect()
}

/// How many games a manager that chooses cores by itself pins; else the reason why it pins none.
///
/// # Errors
/// The reason, as a clause.
pub fn games_to_pin(plan: &Plan, engines: &[EngineFacts], machine: &Machine) -> Result<usize, &'static str> {
    let here = || plan.engines.iter().filter(|engine| !engine.remote);
    let games = plan.concurrency.max(1);
    if here().next().is_none() || engines.len() != here().count() {
        Err("no engine is known to be started here")
    } else if here().any(|engine| engine.ponder) {
        Err("an engine ponders")
    } else if here().any(|engine| engine.gpu > 0.0) {
        Err("an engine uses a GPU")
    } else if engines.iter().any(EngineFacts::may_need_cores) {
        Err("an engine may use more than one core")
    } else if games > machine.cores.len().min(machine.parallelism) {
        Err("there are more games at once than cores")
    } else {
        Ok(games)
    }
}

impl EngineFacts {
    fn may_need_cores(&self) -> bool {
        let unknown = !self.declares_threads && self.process_threads.is_none_or(|seen| seen > PLAIN_THREADS);
        self.cores > 1.0 || unknown
    }
}

/// Cores that no other manager pins games to while this value lives.
#[derive(Debug)]
pub struct ClaimedCores {
    cores: Vec<Core>,
    _names: Vec<Claim>,
}

impl ClaimedCores {
    /// Claims `wanted` of the machine's cores that are idle and free; `None` if there are not so many.
    pub fn idle(machine: &Machine, wanted: usize) -> Option<Self> {
        let threads = idle_threads(GLANCE);
        let idle = |core: &&Core| core.threads.iter().all(|thread| threads.contains(thread));
        Self::claim(CLAIM, machine.cores.iter().filter(idle), wanted)
    }

    /// Claims those of the hardware threads' cores that are free, so that managers that choose cores by themselves
    /// avoid them.
    pub fn of_threads(machine: &Machine, threads: &[usize]) -> Self {
        let used = |core: &&Core| core.threads.iter().any(|thread| threads.contains(thread));
        let (cores, names) =
            machine.cores.iter().filter(used).filter_map(|core| claimed(CLAIM, core)).unzip();
        Self { cores, _names: names }
    }

    fn claim<'a>(prefix: &str, cores: impl Iterator<Item = &'a Core>, wanted: usize) -> Option<Self> {
        let (cores, names): (Vec<_>, Vec<_>) =
            cores.filter_map(|core| claimed(prefix, core)).take(wanted).unzip();
        (cores.len() == wanted).then_some(Self { cores, _names: names })
    }

    /// One hardware thread of each core.
    pub fn threads(&self) -> Vec<usize> {
        self.cores.iter().filter_map(|core| core.threads.first().copied()).collect()
    }
}

fn claimed(prefix: &str, core: &Core) -> Option<(Core, Claim)> {
    Some((core.clone(), Claim::take(&format!("{prefix}{}", core.number))?))
}

/// Hardware threads that worked for at most a third of `time`; none where the system does not tell.
fn idle_threads(time: Duration) -> Vec<usize> {
    let before = cores::load().unwrap_or_default();
    thread::sleep(time);
    idle(&before, &cores::load().unwrap_or_default())
}

fn idle(before: &BTreeMap<usize, Load>, after: &BTreeMap<usize, Load>) -> Vec<usize> {
    let is_idle = |(thread, after): (&usize, &Load)| {
        let before = before.get(thread)?;
        let (work, all) = (after.work.saturating_sub(before.work), after.all.saturating_sub(before.all));
        (3 * work <= all).then_some(*thread)
    };
    after.iter().filter_map(is_idle).collect()
}

#[cfg(test)]
#[path = "cores_tests.rs"]
mod tests;

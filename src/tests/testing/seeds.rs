//! Simulations: runs that a seed decides, so that one which fails can be had again.

use crate::repetitions;
use std::{
    any::Any,
    env,
    ops::Range,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

/// Environment variable: the seeds of simulations, one (`17`) or a range (`1000..9000`), in place of those that a run of
/// the tests takes.
pub const SEEDS: &str = "RENMEI_SEEDS";

/// Environment variable: `1` ends a simulation with the first seed that fails, which is not shrunk.
pub const BRIEF: &str = "RENMEI_BRIEF";

/// True if a simulation ends with the first seed that fails.
#[must_use]
pub fn is_brief() -> bool {
    env::var(BRIEF).is_ok_and(|value| value == "1")
}

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below a bound; 0 below 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound.max(1)
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of some values.
    ///
    /// # Panics
    /// When there is none.
    pub fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

/// The seeds of a simulation: those of [`SEEDS`], or the first `all` where no test takes a sample, and else `few`.
///
/// # Panics
/// When [`SEEDS`] is neither a number nor a range of them.
#[must_use]
pub fn seeds(all: u64, few: u64) -> Range<u64> {
    match env::var(SEEDS) {
        Ok(wanted) => {
            read(&wanted).unwrap_or_else(|| panic!("{SEEDS}={wanted}: expected `SEED` or `FIRST..END`"))
        }
        Err(_) => 0..repetitions(all, few),
    }
}

fn read(wanted: &str) -> Option<Range<u64>> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match wanted.split_once("..") {
        Some((first, end)) => Some(number(first)?..number(end)?),
        None => number(wanted).map(|seed| seed..seed + 1),
    }
}

/// Runs a simulation for each seed, on so many threads.
///
/// # Panics
/// With the seeds that failed, each with its reason, a panic included.
pub fn for_each_seed(seeds: Range<u64>, threads: usize, run: impl Fn(u64) -> Result<(), String> + Sync) {
    let (next, failed) = (AtomicU64::new(seeds.start), Mutex::new(Vec::<String>::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= seeds.end || is_brief() && !failed.lock().unwrap().is_empty() {
                return;
            }
            let ended = panic::catch_unwind(AssertUnwindSafe(|| run(seed)));
            if let Err(why) = ended.unwrap_or_else(|panicked| Err(words(&*panicked))) {
                failed.lock().unwrap().push(format!("seed {seed}: {why}"));
            }
        }
    };
    thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    let failed = failed.into_inner().unwrap();
    let (count, shown) = (failed.len(), failed[..failed.len().min(20)].join("\n"));
    assert!(
        failed.is_empty(),
        "{count} of {} runs ({SEEDS}=SEED has one again):\n{shown}",
        seeds.end - seeds.start
    );
}

/// The message of a panic.
fn words(panicked: &(dyn Any + Send)) -> String {
    let text = panicked.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panicked.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_as_one_or_as_a_range() {
        assert_eq!(["17", "100..3000", "x", "3.."].map(read), [Some(17..18), Some(100..3000), None, None]);
    }

    #[test]
    fn every_seed_is_run_and_those_that_fail_are_named() {
        let ran = Mutex::new(vec![]);
        let run = |seed: u64| {
            ran.lock().unwrap().push(seed);
            assert!(seed != 8, "a test's panic");
            if seed == 3 { Err("it broke".to_owned()) } else { Ok(()) }
        };
        let ended = panic::catch_unwind(AssertUnwindSafe(|| for_each_seed(2..10, 3, run)));
        let mut ran = ran.into_inner().unwrap();
        ran.sort_unstable();
        assert_eq!(ran, Vec::from_iter(2..10));
        let said = words(&*ended.unwrap_err());
        assert!(said.contains("2 of 8 runs") && said.contains("seed 3: it broke"), "{said}");
        assert!(said.contains("seed 8: panicked: a test's panic"), "{said}");
    }
}

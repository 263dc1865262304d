//! Processors, memory, clocks and disk: figures of the machine, some of them measured.

use super::{BUSY, COMMIT, FILES, LATE, MEMORY, READING, ROOM, gibibytes, unknown};
use crate::{Row, report::text};
use plan::serve::Limits;
use platform::{account, cores, disk, usage};
use referee::number::number;
use std::{
    collections::{BTreeMap, BTreeSet},
    hint, io,
    io::Write,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How long the load of the machine is watched.
const WATCHED: Duration = Duration::from_millis(300);
/// Timers, readings of the clock, and commits that are measured.
const SLEEPS: usize = 200;
const READINGS: u32 = 100_000;
const COMMITS: usize = 20;

pub(super) fn all(place: &Path, add: &mut impl FnMut(Row)) {
    add(processor());
    add(match busy() {
        Some(busy) => load(busy),
        None => unknown("load"),
    });
    add(match cores::governors() {
        Some(governors) => frequency(&governors),
        None => unknown("frequency"),
    });
    add(match usage::memory() {
        Some(memory) => free_memory(&memory, &usage::limits()),
        None => unknown("memory"),
    });
    add(timer(sleeps()));
    add(clock(reading()));
    add(room(place, disk::free(place)));
    add(commit(place, commits(place)));
    add(match account::files(FILES) {
        Some(files) => open_files(files),
        None => Row::note("open files", "no limit is known here"),
    });
    add(user());
}

fn processor() -> Row {
    let usable = cores::usable();
    let physical: BTreeSet<usize> =
        usable.iter().map(|&thread| cores::siblings(thread).into_iter().min().unwrap_or(thread)).collect();
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let seen = format!(
        "{} with {}; {at_once} at once",
        number(physical.len(), "core"),
        number(usable.len(), "hardware thread")
    );
    Row::pass("processor", seen)
}

/// The share of the usable hardware threads that was busy while this program slept.
fn busy() -> Option<f64> {
    let before = cores::load()?;
    thread::sleep(WATCHED);
    share(&before, &cores::load()?, &cores::usable())
}

fn share(
    before: &BTreeMap<usize, cores::Load>,
    after: &BTreeMap<usize, cores::Load>,
    usable: &[usize],
) -> Option<f64> {
    let of = |thread: &usize| Some((after.get(thread)?, before.get(thread)?));
    let spent = usable.iter().filter_map(of).map(|(after, before)| {
        (after.work.saturating_sub(before.work), after.all.saturating_sub(before.all))
    });
    let (work, all) = spent.fold((0, 0), |sum, (work, all)| (sum.0 + work, sum.1 + all));
    (all > 0).then(|| work as f64 / all as f64)
}

fn load(busy: f64) -> Row {
    let seen = format!("{:.0} % of the cores are busy with other programs", busy * 100.0);
    match busy > BUSY {
        false => Row::pass("load", seen),
        true => Row::warn("load", seen).advising(
            "engines get slower and may lose on time: end the other programs, or keep cores for them by `concurrency`",
        ),
    }
}

/// `governors`: that of each hardware thread.
fn frequency(governors: &[String]) -> Row {
    let kinds: BTreeSet<&str> = governors.iter().map(String::as_str).collect();
    let seen = kinds.iter().copied().collect::<Vec<_>>().join(", ");
    match kinds.iter().all(|kind| *kind == "performance") {
        true => Row::pass("frequency", format!("governor {seen}")),
        false => Row::warn("frequency", format!("governor {seen}: the cores' speed changes with their load")).advising(
            "for tests of strength: `cpupower frequency-set --governor performance`, which lasts until the next boot",
        ),
    }
}

fn free_memory(memory: &usage::Memory, limits: &[usage::Memory]) -> Row {
    let tightest = limits.iter().chain([memory]).min_by_key(|memory| memory.free.unwrap_or(memory.total));
    let Some(tightest) = tightest else { return unknown("memory") };
    let total = gibibytes(tightest.total);
    match tightest.free {
        None => Row::note("memory", format!("{total}; how much of it is free is not known here")),
        Some(free) if free < MEMORY => Row::warn("memory", format!("{} of {total} free", gibibytes(free)))
            .advising("engines with large hash tables would be swapped or killed: end other programs, or lower `USI_Hash`"),
        Some(free) => Row::pass("memory", format!("{} of {total} free", gibibytes(free))),
    }
}

/// How late each of [`SLEEPS`] timers of a millisecond rang, in order of size.
fn sleeps() -> Vec<Duration> {
    let sleep = Duration::from_millis(1);
    let late = |_| {
        let begun = Instant::now();
        thread::sleep(sleep);
        begun.elapsed().saturating_sub(sleep)
    };
    let mut late: Vec<Duration> = (0..SLEEPS).map(late).collect();
    late.sort();
    late
}

fn timer(late: Vec<Duration>) -> Row {
    let p99 = late.get(late.len() * 99 / 100).copied().unwrap_or_default();
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    let worst = late.last().copied().unwrap_or_default();
    let seen = format!("{} late at p99, {} at most, of {}", ms(p99), ms(worst), number(late.len(), "timer"));
    match p99 > LATE {
        false => Row::pass("timer", seen),
        true => Row::warn("timer", seen).advising(
            "clocks are read late by as much: keep the default `margin`, and leave a core free by `concurrency`",
        ),
    }
}

fn reading() -> Duration {
    let begun = Instant::now();
    for _ in 0..READINGS {
        hint::black_box(Instant::now());
    }
    begun.elapsed() / READINGS
}

fn clock(reading: Duration) -> Row {
    let seen = format!("{} ns to read", reading.as_nanos());
    match reading > READING {
        false => Row::pass("clock", seen),
        true => Row::warn("clock", seen).advising(
            "the system reads a slow clock; on Linux `cat /sys/devices/system/clocksource/clocksource0/current_clocksource` \
             names it, and a virtual machine may offer a faster one",
        ),
    }
}

fn room(place: &Path, free: io::Result<u64>) -> Row {
    let place = place.display();
    match free {
        Err(error) => Row::fault("disk", format!("`{place}` cannot be asked: {error}"))
            .advising("name a directory that is there: `renmei doctor DIRECTORY`"),
        Ok(free) if free < ROOM => Row::warn("disk", format!("{} free in `{place}`", gibibytes(free)))
            .advising(
                "an event stops to begin games when its disk is full: `renmei prune`, or another directory",
            ),
        Ok(free) => Row::pass("disk", format!("{} free in `{place}`", gibibytes(free))),
    }
}

/// How long each of [`COMMITS`] writes took until the disk had it, in order of size. The file is gone afterwards.
fn commits(place: &Path) -> io::Result<Vec<Duration>> {
    let name = place.join(format!(".renmei-doctor-{}", std::process::id()));
    let mut file = platform::files::create(&name)?;
    let mut write = || -> io::Result<Duration> {
        let begun = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        Ok(begun.elapsed())
    };
    let took: io::Result<Vec<Duration>> = (0..COMMITS).map(|_| write()).collect();
    drop(file);
    std::fs::remove_file(&name)?;
    let mut took = took?;
    took.sort();
    Ok(took)
}

fn commit(place: &Path, took: io::Result<Vec<Duration>>) -> Row {
    match took {
        Err(error) => Row::fault("writing", format!("`{}` cannot be written: {error}", place.display()))
            .advising("databases are written beside the configuration: use a directory of your own"),
        Ok(took) => {
            let median = took.get(took.len() / 2).copied().unwrap_or_default();
            match median > COMMIT {
                false => Row::pass("writing", format!("{} a commit", text(median))),
                true => Row::warn("writing", format!("{} a commit", text(median))).advising(
                    "short games wait for the disk: a local disk is better than one over the network",
                ),
            }
        }
    }
}

fn open_files(files: u64) -> Row {
    let seen =
        format!("{files} allowed: room for {} connections of a host", Limits::connections_within(files));
    match files < Limits::files(Limits::default().connections) {
        false => Row::pass("open files", seen),
        true => Row::warn("open files", seen)
            .advising("a host has room for fewer connections: `ulimit -Hn 65536`, or LimitNOFILE= in a unit"),
    }
}

fn user() -> Row {
    let Ok(user) = account::User::own() else { return unknown("user") };
    let name = user.name().unwrap_or_else(|| user.to_string());
    let name = notation::printable(name.as_bytes());
    match user.is_administrator() {
        false => Row::pass("user", name),
        true => Row::note("user", format!("{name}, who may do everything; so may the engines"))
            .advising("for engines of others: a user of its own, or `sandbox = \"strict\"`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn of(row: &Row) -> (Verdict, &str) {
        (row.verdict, &row.seen)
    }

    #[test]
    fn a_busy_machine_a_slow_clock_and_a_late_timer_are_warnings_with_advice() {
        let late = |ms: u64| timer(vec![Duration::from_millis(ms); 200]);
        let governor = |word: &str| frequency(&vec![word.to_owned(); 2]);
        assert_eq!(of(&load(0.1)), (Verdict::Pass, "10 % of the cores are busy with other programs"));
        assert_eq!(of(&late(1)), (Verdict::Pass, "1.0 ms late at p99, 1.0 ms at most, of 200 timers"));
        assert_eq!(of(&governor("performance")), (Verdict::Pass, "governor performance"));
        assert_eq!(of(&clock(Duration::from_nanos(40))), (Verdict::Pass, "40 ns to read"));
        let slow =
            [load(0.4), late(16), governor("powersave"), clock(Duration::from_micros(3)), open_files(1024)];
        for row in slow {
            assert!(row.verdict == Verdict::Warn && row.advice.is_some(), "{row}");
        }
    }

    #[test]
    fn the_tightest_limit_of_memory_counts_and_what_is_unknown_is_no_zero() {
        let of_machine = usage::Memory { total: 32 << 30, free: Some(20 << 30) };
        let of_container = usage::Memory { total: 4 << 30, free: Some(MEMORY / 2) };
        assert_eq!(of(&free_memory(&of_machine, &[])), (Verdict::Pass, "20.0 GiB of 32.0 GiB free"));
        let limited = free_memory(&of_machine, &[of_container]);
        assert_eq!(of(&limited), (Verdict::Warn, "0.5 GiB of 4.0 GiB free"));
        let unknown = free_memory(&usage::Memory { total: 8 << 30, free: None }, &[]);
        assert_eq!(of(&unknown), (Verdict::Note, "8.0 GiB; how much of it is free is not known here"));
    }

    #[test]
    fn the_load_is_that_of_the_usable_threads() {
        let load = |work, all| cores::Load { work, all };
        let before = BTreeMap::from([(0, load(10, 100)), (1, load(50, 100))]);
        let after = BTreeMap::from([(0, load(10, 130)), (1, load(80, 130))]);
        assert_eq!(share(&before, &after, &[0]), Some(0.0));
        assert_eq!(share(&before, &after, &[0, 1]), Some(0.5));
        assert_eq!(share(&before, &before, &[0]), None);
    }

    #[test]
    fn a_directory_that_is_not_there_is_a_fault_and_one_that_is_keeps_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(commit(folder.path(), commits(folder.path())).verdict, Verdict::Pass);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let missing = folder.path().join("missing");
        assert_eq!(commit(&missing, commits(&missing)).verdict, Verdict::Fault);
        assert_eq!(room(&missing, disk::free(&missing)).verdict, Verdict::Fault);
    }
}

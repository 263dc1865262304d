//! `cargo xtask shake`: the tests that start processes, again and again, where time passes differently for them.

use crate::{
    suite::has_subcommand,
    test::{build, processes_filter, runs_of},
};
use anyhow::{Context, Result, bail, ensure};
use std::{
    collections::BTreeMap,
    fs,
    process::{Command, ExitCode},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};
use xtask::{
    args::Flags,
    processes::{self, Process, below, signal},
    workspace,
};

/// Endless loops beside the tests.
const LOOPS: usize = 8;
/// Longest time for which a process is stopped, and between two stops.
const LONGEST_STOP: u64 = 1000;

/// How the machine treats the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Quiet,
    OneCore,
    Loaded,
    Stopped,
}

impl Mode {
    const ALL: [Self; 4] = [Self::Quiet, Self::OneCore, Self::Loaded, Self::Stopped];

    fn name(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::OneCore => "one-core",
            Self::Loaded => "loaded",
            Self::Stopped => "stopped",
        }
    }

    fn read(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|mode| mode.name() == name);
        known.with_context(|| {
            format!("unknown mode `{name}`; expected {}", Self::ALL.map(Self::name).join(", "))
        })
    }
}

/// Runs the tests and prints a table of what ever failed.
pub fn run(words: &[&str]) -> Result<ExitCode> {
    let (filter, flags) = match words {
        [filter, flags @ ..] if !filter.starts_with('-') => (Some(*filter), flags),
        flags => (None, flags),
    };
    let flags = Flags::read(flags, &[], &["--rounds", "--modes", "--seed"])?;
    let (rounds, mut draws) = (flags.number("--rounds", 10)?, Draws(flags.number("--seed", 1)?));
    let named =
        flags.text("--modes").map(|modes| modes.split(',').map(Mode::read).collect::<Result<Vec<_>>>());
    let modes = named.unwrap_or_else(|| Ok(Mode::ALL.to_vec()))?;
    ensure!(has_subcommand("nextest"), "`cargo xtask shake` needs cargo-nextest");
    ensure!(build().take()?.passed, "the programs do not build");
    let mut failures = Failures::default();
    for mode in modes {
        for round in 1..=rounds {
            println!("\n== {}: round {round} of {rounds}", mode.name());
            for (test, last) in shaken(mode, filter, &mut draws)? {
                failures.note(test, mode, last);
            }
        }
    }
    print!("\n{}", failures.table(rounds));
    Ok(if failures.0.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One run of the tests; returns those that failed, each with its last words.
fn shaken(mode: Mode, filter: Option<&str>, draws: &mut Draws) -> Result<Vec<(String, String)>> {
    let report = workspace::target().join("nextest/shake/tests.xml");
    let _none_yet = fs::remove_file(&report);
    let named = filter.map(|name| format!(" & (test(~{name}) | binary(~{name}))")).unwrap_or_default();
    let mut tests = runs_of(&["--profile", "shake", "-E", &format!("({}){named}", processes_filter())]);
    if mode == Mode::OneCore {
        tests = on_one_core(&tests)?;
    }
    let over = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        let over = &over;
        match mode {
            Mode::Quiet | Mode::OneCore => {}
            Mode::Loaded => (0..LOOPS).for_each(|_| _ = scope.spawn(|| while !over.load(Relaxed) {})),
            Mode::Stopped => {
                _ = scope.spawn(|| {
                    while !over.load(Relaxed) {
                        stop_one(draws)
                    }
                })
            }
        }
        let ended = workspace::run(&mut tests);
        over.store(true, Relaxed);
        ended
    })?;
    let text = fs::read_to_string(&report).unwrap_or_default();
    let failed = failed(&text);
    ensure!(ended.success() || !failed.is_empty(), "the tests could not be run");
    Ok(failed)
}

/// The same command on one core.
fn on_one_core(command: &Command) -> Result<Command> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    let Some(core) = allowed.trim().split([',', '-']).next() else { bail!("no core is allowed") };
    let mut bound = Command::new("taskset");
    bound.args(["-c", core]).arg(command.get_program()).args(command.get_args());
    bound.current_dir(workspace::root());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    Ok(bound)
}

/// Stops a process of a test for a while, and waits for a while.
fn stop_one(draws: &mut Draws) {
    if let Some(victim) = victim(&processes::all(), draws.next()) {
        signal("STOP", victim);
        thread::sleep(Duration::from_millis(draws.next() % LONGEST_STOP));
        signal("CONT", victim);
    }
    thread::sleep(Duration::from_millis(draws.next() % LONGEST_STOP));
}

/// One of the processes that tests have started; tests themselves are never stopped.
fn victim(all: &[Process], draw: u64) -> Option<u32> {
    let own = std::process::id();
    let ours: Vec<Process> = below(all, |process| process.id == own).into_iter().cloned().collect();
    let is_test = |process: &Process| process.words.iter().any(|word| word == "--exact");
    let victims = below(&ours, is_test);
    let at = draw.checked_rem(victims.len() as u64)?;
    victims.get(at as usize).map(|process| process.id)
}

/// Random numbers by SplitMix64: the same for the same seed.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// Tests that ever failed, by name and mode: how often, and their last words.
#[derive(Default)]
struct Failures(BTreeMap<(String, Mode), (usize, String)>);

impl Failures {
    fn note(&mut self, test: String, mode: Mode, last: String) {
        let (count, words) = self.0.entry((test, mode)).or_default();
        *count += 1;
        *words = last;
    }

    fn table(&self, rounds: usize) -> String {
        if self.0.is_empty() {
            return "nothing failed\n".to_owned();
        }
        let row = |((test, mode), (count, last)): (&(String, Mode), &(usize, String))| {
            format!("{:<8}  {count:>3} of {rounds}  {test}\n          {last}\n", mode.name())
        };
        self.0.iter().map(row).collect()
    }
}

/// The failed tests of a report as JUnit writes it, each with the last line of what it said.
fn failed(report: &str) -> Vec<(String, String)> {
    let cases =
        report.split("<testcase ").skip(1).map(|case| case.split("</testcase>").next().unwrap_or(case));
    let failed = |case: &str| {
        let (head, rest) = case.split_once("<failure").or_else(|| case.split_once("<error"))?;
        let name = format!("{} {}", attribute(head, "classname")?, attribute(head, "name")?);
        Some((name, attribute(rest, "message").or_else(|| attribute(rest, "type")).unwrap_or_default()))
    };
    cases.filter_map(failed).collect()
}

/// The value of an attribute, in one line.
fn attribute(text: &str, name: &str) -> Option<String> {
    let (_, rest) =
        text.split_once(&format!(" {name}=\"")).or_else(|| text.split_once(&format!("{name}=\"")))?;
    let value = rest.split('"').next()?;
    let entities =
        [("&#xA;", " "), ("&#10;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'")];
    let value = entities.iter().fold(value.to_owned(), |value, (entity, text)| value.replace(entity, text));
    Some(value.replace("&amp;", "&").split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn victims_are_what_tests_have_started_and_never_tests_or_strangers() {
        let process = |id, parent, word: &str| Process { id, parent, words: vec![word.to_owned()] };
        let own = std::process::id();
        let all = [
            process(own, 1, "xtask"),
            process(own + 1, own, "nextest"),
            process(own + 2, own + 1, "--exact"),
            process(own + 3, own + 2, "renmei"),
            process(own + 4, own + 3, "engine"),
            process(own + 5, 1, "stranger"),
        ];
        let mut draws = Draws(7);
        let drawn: Vec<u32> = (0..50).filter_map(|_| victim(&all, draws.next())).collect();
        assert_eq!(drawn.len(), 50);
        assert!(drawn.iter().all(|id| [own + 3, own + 4].contains(id)), "{drawn:?}");
        assert!(drawn.contains(&(own + 3)) && drawn.contains(&(own + 4)), "{drawn:?}");
        assert_eq!(victim(&all[..3], 5), None, "no test has started anything");
    }

    #[test]
    fn the_table_has_a_row_for_each_test_and_mode_with_the_last_words() {
        let report = r#"<testsuites><testsuite name="renmei::e2e">
            <testcase name="a::passes" classname="renmei::e2e" time="1"></testcase>
            <testcase name="a::fails" classname="renmei::e2e" time="1">
                <failure message="thread &apos;a::fails&apos; panicked at&#xA;left: &lt;3&gt;" type="test failure">x</failure>
            </testcase><testcase name="b" classname="renmei::web"><failure type="test timeout"/></testcase></testsuite>"#;
        let mut failures = Failures::default();
        assert_eq!(failures.table(10), "nothing failed\n");
        for mode in [Mode::Quiet, Mode::Stopped, Mode::Stopped] {
            failed(report).into_iter().for_each(|(test, last)| failures.note(test, mode, last));
        }
        let table = failures.table(10);
        assert_eq!(table.lines().count(), 8, "{table}");
        let row =
            "stopped     2 of 10  renmei::e2e a::fails\n          thread 'a::fails' panicked at left: <3>\n";
        assert!(table.contains(row), "{table}");
        assert!(table.contains("quiet       1 of 10  renmei::web b\n          test timeout\n"), "{table}");
    }

    #[test]
    fn a_mode_that_does_not_exist_is_refused_with_those_that_do() {
        let fault = Mode::read("noisy").unwrap_err().to_string();
        assert_eq!(fault, "unknown mode `noisy`; expected quiet, one-core, loaded, stopped");
    }
}

//! Simulated events and leagues, each with the faults and orders that its seed says; and the proof that they see what they are
//! for.

use crate::{exit_code, triples::triples};
use anyhow::{Context, Result, bail, ensure};
use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
};
use xtask::workspace::{cargo, root, run as run_command};

/// Wrong lines of the program, which the simulations have to find. Each has three lines: the file and what is wrong then; the
/// line as it is; and the wrong one.
const WRONG: &str = include_str!("wrong.txt");
/// The seeds of a run, and the seeds within which a wrong line is found, in growing parts.
const SEEDS: &str = "400..2400";
const WITHIN: [&str; 4] = ["0..16", "16..80", "80..400", "400..2000"];

/// The build that the tests have; and one that has little to compile after a change.
const BUILD: [&str; 3] = ["--workspace", "--exclude", "renmei-deep"];
const ROOMS: [&str; 4] = ["--package", "arena", "--package", "host"];

pub fn run(words: &[&str]) -> Result<ExitCode> {
    match words {
        [] => run_command(&mut tests(&BUILD, SEEDS, "--no-fail-fast")).map(exit_code),
        ["--put-back"] => put_back(),
        [seeds] => run_command(&mut tests(&BUILD, seeds, "--no-fail-fast")).map(exit_code),
        _ => bail!("expected seeds, or `--put-back`"),
    }
}

fn tests(build: &[&str], seeds: &str, flag: &str) -> Command {
    let tests = "package(arena) & test(world_tests::whenever) | package(host) & test(world::whatever)";
    let mut cargo = cargo(["nextest", "run", "--lib"]);
    cargo.args(build).args(["--no-capture", flag, "-E", tests]).env("RENMEI_SEEDS", seeds);
    cargo
}

/// Puts one wrong line after the other into the sources, and sees whether a simulation fails.
fn put_back() -> Result<ExitCode> {
    let mut missed = vec![];
    for [place, line, wrong] in triples(WRONG) {
        let (path, what) = place.split_once(": ").with_context(|| format!("no file: `{place}`"))?;
        let _wrong = Wrong::put(path, line, wrong)?;
        let built = run_command(&mut tests(&ROOMS, "0", "--no-run"))?;
        ensure!(built.success(), "{path} does not compile with `{wrong}`");
        let mut found = None;
        for seeds in WITHIN {
            if found.is_none()
                && !run_command(tests(&ROOMS, seeds, "--fail-fast").env("RENMEI_BRIEF", "1"))?.success()
            {
                found = Some(seeds);
            }
        }
        println!("{what}: found in seeds {}", found.unwrap_or("NONE"));
        missed.extend(found.is_none().then_some(what));
    }
    ensure!(missed.is_empty(), "not found: {missed:?}");
    Ok(ExitCode::SUCCESS)
}

/// A source with a wrong line, until it is dropped.
struct Wrong {
    path: PathBuf,
    right: String,
}

impl Wrong {
    fn put(path: &str, line: &str, wrong: &str) -> Result<Self> {
        let path = root().join(path);
        let right = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
        ensure!(right.matches(line).count() == 1, "{} does not have `{line}` once", path.display());
        fs::write(&path, right.replace(line, wrong))?;
        Ok(Self { path, right })
    }
}

impl Drop for Wrong {
    fn drop(&mut self) {
        if let Err(fault) = fs::write(&self.path, &self.right) {
            eprintln!("{} is left with a wrong line: {fault}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_is_put_back_wrong_is_there_once() {
        assert!(triples(WRONG).len() >= 8);
        for [place, line, wrong] in triples(WRONG) {
            let (path, what) = place.split_once(": ").unwrap();
            let source = fs::read_to_string(root().join(path)).unwrap();
            assert!(source.matches(line).count() == 1 && line != wrong, "{what}: `{line}` in {path}");
        }
    }
}

//! Searches for inputs that break a parser: builds `src/tools/fuzz` with coverage and runs libFuzzer on each target.
//!
//! libFuzzer needs neither nightly nor cargo-fuzz: its coverage is a pass of LLVM that every rustc has. What it learns is
//! kept in `target/fuzz/corpus`, so that a further run goes on from there.

use anyhow::{Context, Result, bail, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};
use xtask::{
    args::Flags,
    workspace::{cargo, root, run as run_command, target, text},
};

/// Counters of edges and comparisons that libFuzzer reads.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                        -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";
/// Longest input of any target, in bytes; a target may read less.
const LONGEST: u32 = 16_384;
/// Seconds that one input may take.
const SLOWEST: u32 = 5;
/// Memory that a target may take, in MiB.
const MEMORY: u32 = 1024;

/// The result of libFuzzer on a target.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    executions: u64,
    edges: u64,
    /// The file that reproduces what was found.
    found: Option<PathBuf>,
}

/// Fuzzes the named target, or each of them; with `--reproduce FILE` runs that input alone.
pub fn run(words: &[&str]) -> Result<ExitCode> {
    let (name, flags) = match words {
        [name, flags @ ..] if !name.starts_with("--") => (Some(*name), flags),
        flags => (None, flags),
    };
    let flags = Flags::read(flags, &[], &["--seconds", "--reproduce"])?;
    let chosen = chosen(name, &targets()?)?;
    let program = build()?;
    if let Some(file) = flags.text("--reproduce") {
        let [target] = &chosen[..] else {
            bail!("`--reproduce` needs the target: `cargo xtask fuzz TARGET --reproduce FILE`")
        };
        let status = run_command(fuzzer(&program, target).arg(file))?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let seconds = flags.number("--seconds", 600)?;
    let mut found = false;
    for target in chosen {
        println!("{target}: {seconds} s; its log is {}", log(&target).display());
        let outcome = fuzz(&program, &target, seconds)?;
        println!("{target}: {} executions, {} edges", outcome.executions, outcome.edges);
        if let Some(file) = outcome.found {
            found = true;
            println!(
                "{target}: FOUND {0}\n  again: cargo xtask fuzz {target} --reproduce {0}",
                file.display()
            );
            println!("  after the fix, add the file to src/tools/fuzz/corpus/{target}");
        }
    }
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn corpus() -> PathBuf {
    root().join("src/tools/fuzz/corpus")
}

fn place() -> PathBuf {
    target().join("fuzz")
}

fn log(target: &str) -> PathBuf {
    place().join(format!("{target}.log"))
}

/// Names of the targets: each has a directory of the corpus, as a test of `src/tools/fuzz` sees to.
fn targets() -> Result<Vec<String>> {
    let entries =
        fs::read_dir(corpus()).with_context(|| format!("`{}` cannot be read", corpus().display()))?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn chosen(name: Option<&str>, targets: &[String]) -> Result<Vec<String>> {
    let Some(name) = name else { return Ok(targets.to_vec()) };
    ensure!(
        targets.iter().any(|target| target == name),
        "there is no target `{name}`; the targets are {}",
        targets.join(", ")
    );
    Ok(vec![name.to_owned()])
}

/// Builds the libFuzzer program, with coverage in all of its crates but not in build scripts.
fn build() -> Result<PathBuf> {
    let host = host()?;
    let directory = place().join("build");
    let mut build = cargo(["build", "--package", "fuzz", "--bin", "fuzz", "--features", "libfuzzer"]);
    build.args(["--profile", "fuzz", "--target", &host, "--target-dir"]).arg(&directory);
    let status = run_command(build.env("RUSTFLAGS", COVERAGE))?;
    ensure!(
        status.success(),
        "the fuzz targets do not build; libFuzzer needs a C++ compiler (Debian: apt install g++)"
    );
    Ok(directory.join(host).join("fuzz").join("fuzz"))
}

/// The target triple of this machine; flags for an explicit one do not reach build scripts.
fn host() -> Result<String> {
    let said = text(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc -vV` does not print its host")
}

fn fuzzer(program: &Path, target: &str) -> Command {
    let mut fuzzer = Command::new(program);
    fuzzer.env("RENMEI_FUZZ_TARGET", target).current_dir(root());
    fuzzer.args([format!("-timeout={SLOWEST}"), format!("-rss_limit_mb={MEMORY}")]);
    fuzzer
}

fn fuzz(program: &Path, target: &str, seconds: u64) -> Result<Outcome> {
    let [kept, found] = ["corpus", "found"].map(|name| place().join(name).join(target));
    fs::create_dir_all(&kept)
        .and_then(|()| fs::create_dir_all(&found))
        .context("`target/fuzz` cannot be written")?;
    let log = fs::File::create(log(target)).context("the log cannot be written")?;
    let mut fuzzer = fuzzer(program, target);
    fuzzer.args([
        format!("-max_total_time={seconds}"),
        format!("-max_len={LONGEST}"),
        "-print_final_stats=1".into(),
    ]);
    fuzzer.arg(format!("-artifact_prefix={}/", found.display())).arg(kept).arg(corpus().join(target));
    let status = run_command(fuzzer.stdout(log.try_clone()?).stderr(log))?;
    let said = String::from_utf8_lossy(&fs::read(self::log(target))?).into_owned();
    let outcome = outcome(&said);
    ensure!(
        status.success() || outcome.found.is_some(),
        "{target}: libFuzzer ended without a finding, {status}; see {}",
        self::log(target).display()
    );
    Ok(outcome)
}

/// Reads libFuzzer's log.
fn outcome(log: &str) -> Outcome {
    let number = |text: &str| text.trim().split(' ').next().and_then(|word| word.parse().ok());
    let last = |mark: &str| log.lines().rev().find_map(|line| number(line.split_once(mark)?.1));
    let found =
        log.lines().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path.into()));
    Outcome {
        executions: last("stat::number_of_executed_units:").unwrap_or(0),
        edges: last(" cov: ").unwrap_or(0),
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_says_how_much_was_tried_and_which_file_reproduces_what_was_found() {
        let log = "#2\tINITED cov: 570 ft: 842 corp: 4/633b exec/s: 0 rss: 34Mb\n\
                   #9\tNEW    cov: 574 ft: 849 corp: 5/686b lim: 348 exec/s: 0 rss: 34Mb\n\
                   artifact_prefix='x/'; Test unit written to x/crash-07ab\n\
                   stat::number_of_executed_units: 311295\n";
        let found = Some(PathBuf::from("x/crash-07ab"));
        assert_eq!(outcome(log), Outcome { executions: 311_295, edges: 574, found });
        assert_eq!(outcome(""), Outcome { executions: 0, edges: 0, found: None });
    }

    #[test]
    fn an_unknown_target_is_told_the_known_ones() {
        let known = ["books".to_owned(), "csa_lines".to_owned()];
        assert_eq!(chosen(Some("books"), &known).unwrap(), ["books"]);
        assert_eq!(chosen(None, &known).unwrap(), known);
        let fault = chosen(Some("book"), &known).unwrap_err().to_string();
        assert_eq!(fault, "there is no target `book`; the targets are books, csa_lines");
        assert!(targets().unwrap().contains(&"records".to_owned()));
    }
}

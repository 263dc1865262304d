//! `cargo xtask`: builds, plays a first league, tests and measures.

mod browser;
mod ci;
mod deny;
mod dist;
mod fuzz;
mod gpu;
mod left_out;
mod libtorch;
mod limit;
mod mutants;
mod quickstart;
mod sbom;
mod shake;
mod suite;
mod systems;
mod target;
mod test;
mod triples;
mod world;

use anyhow::{Result, bail};
use libtorch::Wish;
use std::process::{ExitCode, ExitStatus};
use xtask::{args::Flags, cross::CrossRoot, workspace};

const USAGE: &str = "\
cargo xtask COMMAND

  quickstart        install what is missing, build the manager, play configs/quickstart.toml; then build the rest
        [--cpu] [--cuda]                   for renmei-deep, as `libtorch` below
  test              one build of everything but renmei-deep, and every test
        [--quick]                          unit tests of the libraries without processes and sockets
  ci                the tests, then lints, docs, option features, renmei-deep, pages in a browser, dependencies; where the
                    cross root stands (below), also macOS, as far as a compiler goes, `windows` and `arm`
        [--checks]                         without the tests
        [--cpu] [--cuda]                   for renmei-deep, as `libtorch` below
  bench arena       the manager's CPU per ply, plies per second and memory, beside a floor that only moves lines
        [--king-games N] [--rook-games N]  games a row (10000, 500)
        [--rival COMMAND]                  also measure this shell command; {engine}, {mode}, {games} and
                                           {concurrency} are replaced
  bench latency     128 games at once of engines that take 10 ms: how late the manager is
        [--games N] [--concurrency N]      (1280, 128)
  bench scale       what grows with the players of a league, at four sizes: pairing a round, ratings, names, lines about the
                    progress; then an import, logins, a hall of events that are over; and how fast they grow
        [--program FILE] [--only TEXT]     this renmei instead of a release build, with the puppet beside it; rows whose
                                           first line has this text
  arm               build for Linux on 64-bit ARM in the cross root (below), run unit tests and play a league under an
                    emulator; without the root it is made
  browser           the pages in a real browser, in every width and language; installs Chromium, and fetches axe-core and
                    tsshogi with npm, where they are missing
        [--screenshots DIR]                pictures of every page
  cross [COMMAND]   make the root of Debian sid in which other targets are built, unless it is there (10 minutes, 4 GB; in
                    target/cross or RENMEI_CROSS_ROOT; needs root and debootstrap); run a command in it
  dist              the files to download, in target/dist: archives and Debian packages; built in the cross root
        [--target NAME]                    one of them (x86_64-unknown-linux-musl,
                                           aarch64-unknown-linux-musl, x86_64-pc-windows-gnu)
        [--profile NAME]                   another profile of cargo than `dist`, for work on the packing
  deny              licences, sources and vulnerabilities of dependencies, where cargo-deny is installed
  fuzz [TARGET]     search with libFuzzer for inputs that break a parser, from src/tools/fuzz/corpus and what target/fuzz keeps
        [--seconds N] [--reproduce FILE]   seconds for each target (600); one input alone
  gpu               what renmei-deep does on this machine's GPU: build, bench, tests and a match, all in gpu-report.txt
        [--device NAME] [--output FILE]    another device (cuda); another file
        [--seconds N] [--games N]          seconds a row of the bench, games of the match (5, 40)
        [--time CLOCK] [--no-build]        of the match (fixed 300ms); the programs that are there
  libtorch          fetch what renmei-deep is built against, unless LIBTORCH or LIBTORCH_USE_PYTORCH is set; with CUDA
                    (2.5 GB) where there is a GPU with its driver, else for processors alone (540 MB)
        [--cpu] [--cuda]                   this half, whatever the machine has
  mutants [ROOM]    change one line at a time in a room (referee, contest, rating, seat, arena, host, journal) and see
                    whether its tests notice; fails below 95 % (90 % in the last four). Needs cargo-mutants
        [--in-diff FILE]                   only lines that this diff changes
        [--shard K/N]                      one of N parts of the mutants, from 0: a room takes hours
  sbom [--output FILE]  everything that Cargo.lock builds, as CycloneDX JSON
  shake [FILTER]    the tests that start processes, again and again: quiet, on one core, beside eight endless loops, and
                    with their processes stopped for up to a second; a table of what ever failed. Needs cargo-nextest
                    FILTER is a part of the name of tests, or of a program of tests (e2e, web, csa ..)
        [--rounds N] [--seed N]            runs in each mode (10); draws of what is stopped (1)
        [--modes LIST]                     some of quiet,one-core,loaded,stopped
  siege             attack a host while games are played on it: what their players feel, without and with each attack
        [--seconds N] [--games N]          seconds of a phase, games at once (15, 20)
        [--long]                           140 seconds a phase: 17 minutes in all
        [--attack NAME] [--program FILE]   one attack alone; this renmei instead of a release build
  soak              kill the manager again and again during an event, and count what it kept
        [--games N] [--kills N] [--seed N] (400, 50, 1)
  windows           build for Windows in the cross root (above), run unit tests and play under Wine: a league, kills,
                    a host with two clients, a service; without the root it is made
        [--only NAME] [--no-build]         one of these alone (tests, league, kills, operator, habits, hosted,
                                           service); the programs that are there
  world [SEEDS]     play whole events and leagues on simulated time, each with the faults and orders that its seed says
                    (400..2400), and tell what happened in them; one seed alone, such as 17, has a run again
        [--put-back]                       put wrong lines into the sources, one after the other, and see that 2,000 seeds
                                           find each of them
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(&words).unwrap_or_else(|fault| {
        eprintln!("xtask: {fault:#}");
        ExitCode::FAILURE
    })
}

fn run(words: &[&str]) -> Result<ExitCode> {
    match words {
        // Of the command in the root, `--help` may be a word.
        ["cross", command @ ..] => cross(command),
        [] | ["help", ..] | [.., "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        ["quickstart", flags @ ..] => quickstart::run(Wish::of(&Flags::read(flags, &libtorch::FLAGS, &[])?)?),
        ["test", flags @ ..] => test::run(&Flags::read(flags, &["--quick"], &[])?),
        ["ci", flags @ ..] => ci::run(&Flags::read(flags, &["--checks", "--cpu", "--cuda"], &[])?),
        ["browser", flags @ ..] => browser::run(&Flags::read(flags, &[], &["--screenshots"])?),
        ["arm"] => systems::run(&systems::ARM, &Flags::default()),
        ["windows", flags @ ..] => {
            systems::run(&systems::WINDOWS, &Flags::read(flags, &["--no-build"], &["--only"])?)
        }
        ["deny"] => deny::run(),
        ["shake", words @ ..] => shake::run(words),
        ["sbom"] => sbom::run(None),
        ["sbom", "--output", file] => sbom::run(Some(file)),
        ["fuzz", words @ ..] => fuzz::run(words),
        ["gpu", words @ ..] => gpu::run(words),
        ["mutants", words @ ..] => mutants::run(words),
        ["libtorch", words @ ..] => libtorch::command(words),
        ["world", words @ ..] => world::run(words),
        ["dist", flags @ ..] => dist::run(&Flags::read(flags, &[], &["--target", "--profile"])?),
        // In a package of its own, so that the first command compiles less.
        ["bench", ..] | ["siege", ..] | ["soak", ..] => packaged("measure", words),
        _ => bail!("no such command: {}\n\n{USAGE}", words.join(" ")),
    }
}

/// Makes the cross root, and runs a command in it.
fn cross(words: &[&str]) -> Result<ExitCode> {
    let root = CrossRoot::open()?;
    let Some((program, arguments)) = words.split_first() else { return Ok(ExitCode::SUCCESS) };
    workspace::run(root.command(program).args(arguments)).map(exit_code)
}

/// Runs a task that has a package of its own.
fn packaged(package: &str, words: &[&str]) -> Result<ExitCode> {
    let mut cargo = workspace::cargo(["run", "--quiet", "--release", "--package", package, "--"]);
    workspace::run(cargo.args(words)).map(exit_code)
}

fn exit_code(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

//! `cargo xtask arm`: the programs built for Linux on 64-bit ARM in the cross root, and tried there under an emulator.
//!
//! The emulator runs on the kernel of this machine: what passes here may still fail on a processor with its own order of
//! memory accesses.

use crate::suite::{Done, attempt, summary, verdict};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    process::{Command, ExitCode, Stdio},
};
use xtask::{
    cross::{BUILD_STD, CrossRoot, STATIC, TARGET, remapped_sources},
    workspace::{self, Scratch},
};

const TRIPLE: &str = "aarch64-unknown-linux-musl";
/// Packages whose unit tests need no program of another package.
const TESTED: [&str; 7] = ["platform", "rating", "referee", "notation", "plan", "journal", "words"];

/// A test that the emulator fails: it knows too few options of sockets.
const NOT_EMULATED: &str = "network::tests::a_connection_takes_its_limits_and_hands_out_its_bytes";

/// Builds, runs the libraries' tests, and plays the first league. Without a cross root nothing is done.
///
/// # Errors
/// When a directory or a process cannot be made.
pub fn run() -> Result<ExitCode> {
    let root = match CrossRoot::open() {
        Ok(root) => root,
        Err(why) => {
            println!("left out: Linux on ARM: {why:#}");
            return Ok(ExitCode::SUCCESS);
        }
    };
    let taken = take_all(&root);
    print!("{}", summary(&taken));
    Ok(verdict(&taken))
}

/// The build, the libraries' tests and the first league.
pub fn take_all(root: &CrossRoot) -> Vec<Done> {
    let mut taken = vec![attempt("ARM", "build", || build(root))];
    if taken[0].passed {
        taken.push(attempt("ARM", "tests", || tests(root)));
        taken.push(attempt("ARM", "league", || league(root)));
    }
    taken
}

/// A command of cargo that compiles with zig. Debug information would only take time and room.
fn zigbuild(command: &mut Command) -> &mut Command {
    // As the files to download are built: what was compiled serves `dist --profile dev` too.
    command.env("RUSTFLAGS", format!("{STATIC} {}", remapped_sources()));
    command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0")
}

fn build(root: &CrossRoot) -> Result<String> {
    root.fetch()?;
    let mut cargo = root.command("cargo-zigbuild");
    zigbuild(&mut cargo).args(["zigbuild", "--locked", "--target", TRIPLE, BUILD_STD]);
    let built = workspace::run(cargo.args(["--package", "renmei", "--bins"]))?.success();
    ensure!(built, "the build for {TRIPLE} failed");
    Ok(TRIPLE.to_owned())
}

fn tests(root: &CrossRoot) -> Result<String> {
    let mut cargo = root.arm("cargo-zigbuild");
    zigbuild(&mut cargo).args([
        "test",
        "--locked",
        "--target",
        TRIPLE,
        BUILD_STD,
        "--no-fail-fast",
        "--tests",
    ]);
    cargo.args(TESTED.iter().flat_map(|name| ["--package", name])).args(["--", "--skip", NOT_EMULATED]);
    ensure!(workspace::run(&mut cargo)?.success(), "unit tests failed under the emulator");
    Ok(format!("unit tests of {} libraries but `{NOT_EMULATED}`", TESTED.len()))
}

/// The first league, to its standings and its seals.
fn league(root: &CrossRoot) -> Result<String> {
    let desk = Scratch::new("cross/arm")?;
    let inside = desk.file("").file_name().map(|name| format!("{TARGET}/{}", name.display()));
    let inside = inside.context("the directory has no name")?;
    fs::copy(workspace::root().join("configs/quickstart.toml"), desk.file("quickstart.toml"))?;
    let renmei = |words: &[&str]| -> Result<String> {
        let mut command = root.arm("env");
        command.args(["-C", &inside, &format!("{TARGET}/build/{TRIPLE}/debug/renmei")]).args(words);
        let output = command.stdin(Stdio::null()).output().context("unshare could not be started")?;
        let [out, faults] =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        ensure!(output.status.success(), "`renmei {}`: {}\n{out}{faults}", words.join(" "), output.status);
        Ok(out)
    };
    let standings = renmei(&["run", "quickstart.toml", "--no-dashboard", "--quiet"])?;
    ensure!(standings.contains("pairwise"), "no standings:\n{standings}");
    renmei(&["verify", "quickstart.db"])?;
    Ok("standings, seals".to_owned())
}

//! `cargo xtask ci`: everything that is checked of a change, the tests included.

use crate::{
    browser, deny, libtorch,
    suite::{Done, Step, as_one, summary, take_all, verdict, workspace},
    systems, test,
};
use anyhow::Result;
use std::{
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};
use xtask::{
    args::Flags,
    cross::{BUILD_STD, CrossRoot},
    workspace::{DEEP, cargo},
};

/// Runs the tests, unless `--checks` leaves them out, and then every other check.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let wish = libtorch::Wish::of(flags)?;
    add_component("rustfmt");
    add_component("clippy");
    let mut done = if flags.has("--checks") { Vec::new() } else { test::whole()? };
    done.extend(take_all(checks())?);
    let has_libtorch = libtorch::fetch_missing(wish);
    if has_libtorch {
        done.extend(take_all(network_engine())?);
    }
    let has_browser = browser::installed().is_some();
    if has_browser {
        done.extend(take_all([pages()])?);
    }
    let cross = CrossRoot::existing();
    if let Ok(root) = &cross {
        done.extend(other_systems(root)?);
    }
    done.push(dependencies()?);
    print!("{}", summary(&done));
    if !has_libtorch {
        println!("left out: {DEEP}, because libtorch is missing (`cargo xtask libtorch` fetches it)");
    }
    if !has_browser {
        println!("left out: the pages in a browser (`cargo xtask browser` installs what they need)");
    }
    if let Err(why) = cross {
        println!("left out: macOS, Windows and Linux on ARM: {why:#}");
    }
    Ok(verdict(&done))
}

/// The systems of which this machine has compilers alone, or emulators as well.
fn other_systems(root: &CrossRoot) -> Result<Vec<Done>> {
    root.fetch()?;
    let mut done = take_all([macos(root)])?;
    done.push(as_one("windows", &systems::take_all(&systems::WINDOWS, root, None, true)?));
    done.push(as_one("arm", &systems::take_all(&systems::ARM, root, None, true)?));
    Ok(done)
}

/// The programs for macOS, as far as a compiler without that system's libraries goes. zig has the headers for C.
fn macos(root: &CrossRoot) -> Step {
    let mut check = root.command("cargo-zigbuild");
    check.args(["check", "--locked", "--target", "aarch64-apple-darwin", BUILD_STD]);
    check.args(["--package", "renmei", "--bins"]);
    Step::new("macOS", check)
}

fn checks() -> Vec<Step> {
    let mut docs = workspace(&["doc"], &["--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-Dwarnings");
    // Options of the search that only leagues of its parts and tunings have.
    let options =
        ["--lib", "--features", "pairwise/tune,pairwise/parts", "--", "search::tuned", "search::parts"];
    // The build of the first league, with what one of its users would run.
    let mut lean = cargo(["test", "--package", "renmei", "--no-default-features"]);
    lean.args(["--test", "e2e", "--", "door::", "commands::"]);
    vec![
        Step::new("format", cargo(["fmt", "--all", "--check"])),
        Step::new("clippy", workspace(&["clippy"], &["--all-targets", "--", "-D", "warnings"])),
        Step::new("docs", docs),
        Step::new("examples", workspace(&["test"], &["--doc"])),
        Step::new("options", workspace(&["test"], &options)),
        Step::new("lean", lean),
    ]
}

/// The engine with a network: lints, docs, its tests, and the event that it plays.
fn network_engine() -> Vec<Step> {
    let deep = |command, rest: &[&str]| {
        let mut cargo = cargo([command, "--package", DEEP]);
        cargo.args(rest);
        cargo
    };
    let mut docs = deep("doc", &["--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-Dwarnings");
    vec![
        Step::new("deep clippy", deep("clippy", &["--all-targets", "--", "-D", "warnings"])),
        Step::new("deep docs", docs),
        Step::new("deep build", deep("build", &["--bins"])),
        Step::new("deep tests", deep("test", &["--no-fail-fast"])),
        Step::new("deep event", workspace(&["test"], &["--test", "e2e", "--", "--ignored", "deep::"])),
    ]
}

fn pages() -> Step {
    let mut pages = workspace(&["test"], &["--test", "browser", "--", "--ignored", "--test-threads", "2"]);
    pages.envs(browser::installed().map(|modules| (browser::MODULES, modules)));
    Step::new("browser", pages)
}

fn dependencies() -> Result<Done> {
    println!("\n== dependencies");
    let begun = Instant::now();
    let passed = deny::run()? == ExitCode::SUCCESS;
    let took: Duration = begun.elapsed();
    Ok(Done { name: "dependencies", passed, took })
}

/// Toolchains with the minimal profile lack the formatter and the linter.
fn add_component(component: &'static str) {
    let tool = if component == "rustfmt" { "fmt" } else { component };
    let mut probe = cargo([tool, "--version"]);
    let there = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        // If this fails, the step that needs the component reports it.
        let _ = Command::new("rustup").args(["component", "add", component]).status();
    }
}

//! `cargo xtask browser`: the pages in a real browser, and their records in another program's loader.

use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};
use xtask::{
    args::Flags,
    engines,
    workspace::{cargo, root, run as run_command, target},
};

/// Programs and their Debian packages; the server between the machines of an event whose pages are looked at.
const BROWSER: [(&str, &str); 3] =
    [("chromium", "chromium"), ("chromedriver", "chromium-driver"), ("nats-server", "nats-server")];
/// Programs that run and fetch the modules.
const NODE: [(&str, &str); 2] = [("node", "nodejs"), ("npm", "npm")];
/// The modules for npm, with their hashes.
const PACKAGE: &str = "src/tests/browser/package.json";
const LOCK: &str = "src/tests/browser/package-lock.json";
/// Environment variable with the directory of the modules, for the tests.
pub const MODULES: &str = "RENMEI_NODE_MODULES";
/// Tests that need the modules: of their names these are parts.
const WITH_MODULES: [&str; 2] = ["axe", "tsshogi"];

/// Installs what is missing, and runs the tests of the pages.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    if !engines::install(&BROWSER) {
        println!("not run: the tests of the pages, because Chromium, its driver or nats-server is missing");
        return Ok(ExitCode::FAILURE);
    }
    let modules = if engines::install(&NODE) { fetch_modules() } else { None };
    let build = run_command(&mut cargo(["build", "--bins"]))?;
    if !build.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mut tests =
        cargo(["test", "--test", "browser", "--", "--ignored", "--test-threads", "2", "--nocapture"]);
    match &modules {
        Some(modules) => {
            tests.env(MODULES, modules);
        }
        None => {
            println!("not run: axe-core and tsshogi, because npm could not fetch them");
            tests.args(WITH_MODULES.iter().flat_map(|part| ["--skip", part]));
        }
    }
    if let Some(directory) = flags.text("--screenshots") {
        let directory = env::current_dir()?.join(directory);
        fs::create_dir_all(&directory)
            .with_context(|| format!("`{}` could not be created", directory.display()))?;
        tests.env("RENMEI_SCREENSHOTS", directory);
    }
    let passed = run_command(&mut tests)?.success();
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The modules, where everything that these tests need is installed; nothing is fetched.
pub fn installed() -> Option<PathBuf> {
    let there = engines::are_there(&BROWSER) && engines::are_there(&NODE);
    there.then(kept_modules).flatten()
}

/// The modules of an earlier fetch, if they are those of the lock file.
fn kept_modules() -> Option<PathBuf> {
    let lock = fs::read(root().join(LOCK)).ok()?;
    let (known, modules) = (target().join("browser/fetched.json"), target().join("browser/node_modules"));
    (fs::read(known).ok()? == lock && modules.is_dir()).then_some(modules)
}

/// Fetches the modules of the versions, and with the contents, that the lock file names. They are kept below `target`.
fn fetch_modules() -> Option<PathBuf> {
    if let Some(modules) = kept_modules() {
        return Some(modules);
    }
    let to = target().join("browser");
    fs::create_dir_all(&to).ok()?;
    for file in [PACKAGE, LOCK] {
        fs::copy(root().join(file), to.join(Path::new(file).file_name()?)).ok()?;
    }
    let done = npm(&to).status().is_ok_and(|status| status.success());
    // Only what was fetched whole is taken the next time.
    (done && fs::copy(root().join(LOCK), to.join("fetched.json")).is_ok()).then(kept_modules).flatten()
}

/// No script of a package is run.
fn npm(directory: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
    npm.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
    npm
}

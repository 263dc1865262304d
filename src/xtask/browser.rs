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

/// Programs and their Debian packages.
const BROWSER: [(&str, &str); 2] = [("chromium", "chromium"), ("chromedriver", "chromium-driver")];
/// What runs and fetches the modules.
const NODE: [(&str, &str); 2] = [("node", "nodejs"), ("npm", "npm")];
/// Tests that need the modules: of their names these are parts.
const WITH_MODULES: [&str; 2] = ["axe", "tsshogi"];

/// Installs what is missing, and runs the tests of the pages.
///
/// # Errors
/// When cargo cannot be started, or the directory for the pictures cannot be made.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    if !engines::install(&BROWSER) {
        println!("not run: the tests of the pages, because there is no Chromium with its driver");
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
            tests.env("RENMEI_NODE_MODULES", modules);
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

/// Fetches the modules of the versions, and with the contents, that the lock file names. They are kept below `target`.
fn fetch_modules() -> Option<PathBuf> {
    let (from, to) = (root().join("src/tests/browser"), target().join("browser"));
    let lock = fs::read(from.join("package-lock.json")).ok()?;
    let modules = to.join("node_modules");
    let fetched = to.join("fetched.json");
    if fs::read(&fetched).is_ok_and(|known| known == lock) && modules.is_dir() {
        return Some(modules);
    }
    fs::create_dir_all(&to).ok()?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(from.join(file), to.join(file)).ok()?;
    }
    let done = npm(&to).status().is_ok_and(|status| status.success());
    // Only what was fetched whole is taken the next time.
    (done && fs::write(fetched, lock).is_ok()).then_some(modules)
}

/// No script of a package is run.
fn npm(directory: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]);
    npm.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
    npm
}

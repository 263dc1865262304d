//! Paths of the workspace, and its builds.

use anyhow::{Context, Result, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command, ExitStatus, Stdio},
};

/// Root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).map(Path::to_path_buf).unwrap_or_default()
}

/// Cargo's target directory.
pub fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Path of a program of the release build.
pub fn release(name: &str) -> PathBuf {
    target().join("release").join(name)
}

/// A command of the same cargo that started this program, in the root.
pub fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(root());
    // Variables about this program: build scripts that watch them would build half of the workspace anew, here and again in
    // the next plain `cargo build`.
    let about = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    env::vars_os().filter(|(name, _)| name.to_str().is_some_and(about)).for_each(|(name, _)| {
        cargo.env_remove(name);
    });
    cargo
}

/// The engine that needs libtorch and is built only if it is available.
pub const DEEP: &str = "renmei-deep";

/// What builds the manager with every feature and its bundled engines, in release.
pub const MANAGER: [&str; 4] = ["--release", "--package", "renmei", "--bins"];

/// Path of a program of the first build.
pub fn first(name: &str) -> PathBuf {
    target().join("first").join(name)
}

/// Builds something of the workspace.
///
/// # Errors
/// When the build fails.
pub fn build(words: &[&str]) -> Result<()> {
    let status = run(cargo(["build"]).args(words))?;
    ensure!(status.success(), "`cargo build {}` failed", words.join(" "));
    Ok(())
}

/// Builds every program of the workspace but [`DEEP`] in release; with `with_tasks`, the measurements as well.
///
/// # Errors
/// When the build fails.
pub fn build_release(with_tasks: bool) -> Result<()> {
    let scope: &[&str] = if with_tasks { &["--workspace", "--exclude", DEEP] } else { &[] };
    build(&[&["--release", "--bins"], scope].concat())
}

/// Runs a command until it ends.
///
/// # Errors
/// When the command cannot be started.
pub fn run(command: &mut Command) -> Result<ExitStatus> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.status().with_context(|| format!("`{program}` could not be started"))
}

/// What a command prints, which has to succeed.
///
/// # Errors
/// When it cannot be started, or fails.
pub fn text(command: &mut Command) -> Result<String> {
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let called = format!("{} {}", command.get_program().display(), words.join(" "));
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("`{called}` could not be started"))?;
    let faults = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{called}` failed: {}", faults.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A temporary directory, removed on drop. It is below `target`, on the repository's disk: the system's temporary
/// directory is often in memory, where a database costs nothing.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates a directory.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn new(purpose: &str) -> Result<Self> {
        let path = target().join(format!("{purpose}-{}", process::id()));
        fs::create_dir_all(&path).with_context(|| format!("`{}` could not be created", path.display()))?;
        Ok(Self(path))
    }

    /// A path in the directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

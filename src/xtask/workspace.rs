//! Where things are, and how they are built.

use anyhow::{Context, Result, ensure};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command, ExitStatus},
};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_path_buf).unwrap_or_default()
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A program of the release build.
pub fn release(name: &str) -> PathBuf {
    target().join("release").join(name)
}

/// A cargo command, the same cargo that started this, in the root.
pub fn cargo<const N: usize>(arguments: [&str; N]) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).current_dir(root());
    cargo
}

/// The engine that needs libtorch, and so is built only where there is one.
pub const DEEP: &str = "renmei-deep";

/// Builds every program of the workspace but [`DEEP`] in release, the measurements included if `with_tasks`.
///
/// # Errors
/// When the build fails.
pub fn build_release(with_tasks: bool) -> Result<()> {
    let scope: &[&str] = if with_tasks { &["--workspace", "--exclude", DEEP] } else { &[] };
    let status = run(cargo(["build", "--release", "--bins"]).args(scope))?;
    ensure!(status.success(), "the build failed");
    Ok(())
}

/// Builds what a first league needs, in release: the manager, and the engines that are installed with it.
///
/// # Errors
/// When the build fails.
pub fn build_first() -> Result<()> {
    let status = run(&mut cargo(["build", "--release", "--package", "renmei", "--bins"]))?;
    ensure!(status.success(), "the build failed");
    Ok(())
}

/// Builds [`DEEP`] in release.
///
/// # Errors
/// When the build fails.
pub fn build_deep() -> Result<()> {
    let status = run(&mut cargo(["build", "--release", "--package", DEEP]))?;
    ensure!(status.success(), "the build of {DEEP} failed");
    Ok(())
}

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started.
pub fn run(command: &mut Command) -> Result<ExitStatus> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.status().with_context(|| format!("`{program}` could not be started"))
}

/// A directory that goes when this value goes. It is below `target`, so that a benchmark writes to the disk that the
/// repository is on: a temporary directory is often in memory, where a database costs nothing.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn new(purpose: &str) -> Result<Self> {
        let path = target().join(format!("{purpose}-{}", process::id()));
        fs::create_dir_all(&path).with_context(|| format!("`{}` could not be made", path.display()))?;
        Ok(Self(path))
    }

    /// A path in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

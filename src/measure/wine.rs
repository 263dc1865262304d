//! Programs of Windows under Wine, in place of those of Linux.

use crate::manager::puppet;
use anyhow::{Result, ensure};
use std::{ffi::OsStr, process::Command};
use xtask::{
    cross::{self, CrossRoot},
    workspace::{self, target},
};

/// The target of Windows.
const TRIPLE: &str = "x86_64-pc-windows-gnu";

/// The cross root with the programs of `cargo xtask dist` for Windows.
pub struct Wine(CrossRoot);

impl Wine {
    /// Builds what `cargo xtask dist` does not: the floor.
    ///
    /// # Errors
    /// When there is no cross root, `cargo xtask dist` was not run for Windows, or the build fails.
    pub fn built() -> Result<Self> {
        let root = CrossRoot::existing()?;
        let renmei = target().join(format!("cross/build/{TRIPLE}/dist/renmei.exe"));
        ensure!(
            renmei.is_file(),
            "`{}` is missing; `cargo xtask dist --target {TRIPLE}` builds it",
            renmei.display()
        );
        let mut cargo = root.command("cargo");
        cargo.args(["build", "--locked", "--profile", "dist", "--target", TRIPLE, "--package", "floor"]);
        ensure!(workspace::run(cargo.arg(cross::BUILD_STD))?.success(), "the build for {TRIPLE} failed");
        Ok(Self(root))
    }

    /// The command of Linux with the programs and paths of Windows, and the floor's own engine in place of the puppet.
    pub fn instead_of(&self, command: &Command) -> Command {
        let mut wine = self.0.command("wine");
        wine.arg(translated(command.get_program()) + ".exe").args(command.get_args().map(translated));
        wine
    }
}

/// A word of a command line with its paths as the root sees them.
fn translated(word: &OsStr) -> String {
    let built = format!("{}/build/{TRIPLE}/dist/", cross::TARGET);
    let here = |path: std::path::PathBuf| path.display().to_string();
    word.to_string_lossy()
        .replace(&here(puppet()), &format!("{built}floor.exe"))
        .replace(&here(workspace::release("")), &built)
        .replace(&here(target().join("cross")), cross::TARGET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_command_line_are_those_of_the_root() {
        let path = |path: &str| target().join(path).display().to_string();
        let translated = |word: String| translated(OsStr::new(&word));
        assert_eq!(translated(path("release/renmei")), "/cross/build/x86_64-pc-windows-gnu/dist/renmei");
        let engine = format!("cmd={}", path("release/renmei-puppet"));
        assert_eq!(translated(engine), "cmd=/cross/build/x86_64-pc-windows-gnu/dist/floor.exe");
        assert_eq!(translated(path("cross/bench-7/latency.db")), "/cross/bench-7/latency.db");
        assert_eq!(translated("--concurrency".to_owned()), "--concurrency");
    }
}

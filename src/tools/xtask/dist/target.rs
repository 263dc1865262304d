//! The targets, and how each is built.

use crate::commit::Commit;
use anyhow::{Context, Result, bail, ensure};
use std::{
    path::PathBuf,
    process::{Command, Stdio},
};
use xtask::{
    cross::{BUILD_STD, CrossRoot, STATIC, remapped_sources},
    workspace::{self, target},
};

/// The programs, in every artefact.
pub const PROGRAMS: [&str; 3] = ["renmei", "renmei-pairwise", "renmei-random"];

/// An operating system and a processor.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// Name of the target for rustc.
    pub name: &'static str,
    /// The processor as Debian and OCI call it; `None`: there are no packages for it.
    pub architecture: Option<&'static str>,
    /// Ending of programs.
    pub ending: &'static str,
    /// Cargo's subcommand.
    build: &'static str,
    flags: &'static str,
    /// What runs its programs in the cross root.
    runner: Option<&'static str>,
}

/// Every target; the first can be run here.
pub const TARGETS: [Target; 3] = [
    Target {
        name: "x86_64-unknown-linux-musl",
        architecture: Some("amd64"),
        ending: "",
        build: "zigbuild",
        flags: STATIC,
        runner: None,
    },
    Target {
        name: "aarch64-unknown-linux-musl",
        architecture: Some("arm64"),
        ending: "",
        build: "zigbuild",
        flags: STATIC,
        runner: Some("qemu-aarch64"),
    },
    Target {
        name: "x86_64-pc-windows-gnu",
        architecture: None,
        ending: ".exe",
        build: "build",
        // The linker would write the time of the build.
        flags: "-C link-arg=-Wl,--no-insert-timestamp",
        runner: Some("wine"),
    },
];

impl Target {
    /// The target of this name.
    pub fn named(name: &str) -> Result<&'static Self> {
        let names = TARGETS.map(|target| target.name).join(", ");
        TARGETS
            .iter()
            .find(|target| target.name == name)
            .with_context(|| format!("no target `{name}`; there are {names}"))
    }

    /// Compiles the programs in the cross root.
    pub fn compile(&self, root: &CrossRoot, profile: &str, commit: &Commit) -> Result<()> {
        let mut cargo = root.command("cargo");
        cargo.args([self.build, "--locked", "--profile", profile, "--target", self.name, BUILD_STD]);
        cargo.args(["--package", "renmei", "--bins"]);
        // No SOURCE_DATE_EPOCH: build scripts of C libraries would compile them, and all that needs them, for each commit.
        cargo.env("RUSTFLAGS", format!("{} {}", self.flags, remapped_sources()));
        cargo.env("RENMEI_COMMIT", &commit.hash);
        ensure!(workspace::run(&mut cargo)?.success(), "the build for {} failed", self.name);
        Ok(())
    }

    /// Path of a program below `target/cross`.
    fn place(&self, program: &str, profile: &str) -> String {
        let directory = if profile == "dev" { "debug" } else { profile };
        format!("build/{}/{directory}/{program}{}", self.name, self.ending)
    }

    /// A compiled program.
    pub fn program(&self, program: &str, profile: &str) -> PathBuf {
        target().join("cross").join(self.place(program, profile))
    }

    /// What a compiled `renmei` prints.
    pub fn ask(&self, root: &CrossRoot, profile: &str, words: &[&str]) -> Result<Vec<u8>> {
        let program = format!("/cross/{}", self.place("renmei", profile));
        let mut command = match self.runner {
            Some(runner) => root.command(runner),
            None => Command::new(self.program("renmei", profile)),
        };
        command.args(self.runner.map(|_| program)).args(words);
        let output =
            command.stdin(Stdio::null()).output().context("a compiled program could not be started")?;
        if !output.status.success() {
            bail!("`renmei {}` failed: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(output.stdout)
    }
}

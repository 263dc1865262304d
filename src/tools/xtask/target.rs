//! Operating systems and processors, and how the programs are built for each.

use anyhow::{Result, ensure};
use std::process::Command;
use xtask::{
    cross::{BUILD_STD, CrossRoot, STATIC, remapped_sources},
    workspace::{self, root},
};

/// An operating system and a processor.
pub struct Target {
    /// Name of the target for rustc.
    pub name: &'static str,
    /// The processor as Debian calls it; empty: there is no package for it.
    pub architecture: &'static str,
    /// Ending of programs.
    pub ending: &'static str,
    /// What runs its programs in the cross root.
    pub runner: &'static str,
    /// Cargo's subcommand.
    build: &'static str,
    flags: &'static str,
}

pub const LINUX: Target = Target {
    name: "x86_64-unknown-linux-musl",
    architecture: "amd64",
    ending: "",
    runner: "env",
    build: "zigbuild",
    flags: STATIC,
};
pub const ARM: Target =
    Target { name: "aarch64-unknown-linux-musl", architecture: "arm64", runner: "qemu-aarch64", ..LINUX };
pub const WINDOWS: Target = Target {
    name: "x86_64-pc-windows-gnu",
    architecture: "",
    ending: ".exe",
    runner: "wine",
    build: "build",
    // The linker would write the time of the build.
    flags: "-C link-arg=-Wl,--no-insert-timestamp",
};

impl Target {
    /// A command that entered the cross root, with words by which cargo compiles for this target there behind its own.
    pub fn cargo(&self, mut entered: Command, words: &[&str]) -> Command {
        entered.args(words).args(["--locked", "--target", self.name, BUILD_STD]);
        // No SOURCE_DATE_EPOCH: build scripts of C libraries would compile them, and all that needs them, for each commit.
        entered.env("RUSTFLAGS", format!("{} {}", self.flags, remapped_sources()));
        entered
    }

    /// Compiles the programs in the cross root.
    ///
    /// # Errors
    /// When that fails.
    pub fn compile(&self, cross: &CrossRoot, profile: &str) -> Result<()> {
        eprintln!("compiling for {}", self.name);
        let mut cargo = self.cargo(cross.command("cargo"), &[self.build, "--profile", profile]);
        if profile == "dev" {
            // Debug information would only take time and room.
            cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        } else {
            let described = git(&["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"])?;
            cargo.env("RENMEI_COMMIT", described);
        }
        cargo.args(["--package", "renmei", "--bins"]);
        ensure!(workspace::run(&mut cargo)?.success(), "the build for {} failed", self.name);
        Ok(())
    }

    /// Path of the compiled programs below `target/cross`.
    pub fn built(&self, profile: &str) -> String {
        format!("build/{}/{}", self.name, if profile == "dev" { "debug" } else { profile })
    }
}

/// What git says of the checkout, by which files are dated and programs named.
///
/// # Errors
/// When it fails.
pub fn git(words: &[&str]) -> Result<String> {
    Ok(workspace::text(Command::new("git").args(words).current_dir(root()))?.trim().to_owned())
}

//! The commit that is packed: its hash is in the programs, its time is that of every packed file.

use anyhow::{Context, Result, ensure};
use xtask::workspace::root;

/// A commit.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Its hash, with `-dirty` where tracked files differ from it.
    pub hash: String,
    /// Its time in seconds since 1970.
    pub epoch: u64,
}

impl Commit {
    /// The commit that is checked out.
    pub fn checked_out() -> Result<Self> {
        let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
        let suffix = if changed { "-dirty" } else { "" };
        let epoch = git(&["log", "-1", "--format=%ct"])?;
        Ok(Self {
            hash: git(&["rev-parse", "HEAD"])? + suffix,
            epoch: epoch.parse().context("the time of the commit is no number")?,
        })
    }
}

fn git(words: &[&str]) -> Result<String> {
    let output = std::process::Command::new("git").args(words).current_dir(root()).output();
    let output = output.context("git could not be started")?;
    ensure!(output.status.success(), "`git {}` failed: the files are dated by the commit", words.join(" "));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

//! Windows' programs under Wine, in the cross root.

use super::place::{Place, ensure_traceless, paths, remove};
use crate::{VERSION, target::TARGETS};
use anyhow::{Context, Result};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use xtask::{cross::CrossRoot, workspace::target};

/// The working directory below `target/cross`, with a blank in its name as directories have there.
const WORK: &str = "try wine";
/// The user's part of Wine's disk, where programs could leave something.
const DISK: &str = "cross/wine/drive_c/users";

/// Flags of `unshare` for processes that end with it. The directory of a `chroot` is no mount whose propagation could change.
const OWN_PROCESSES: [&str; 5] =
    ["--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=unchanged"];

/// Wine with a disk of its own.
pub struct Wine {
    root: CrossRoot,
    before: BTreeSet<PathBuf>,
}

impl Wine {
    /// Makes Wine's disk, unless it is there.
    pub fn open() -> Result<Self> {
        let mut place = Self { root: CrossRoot::open()?, before: BTreeSet::new() };
        remove(&place.work())?;
        let status = place.wine(&["cmd", "/c", "ver"]).stderr(Stdio::null()).status();
        anyhow::ensure!(status.is_ok_and(|status| status.success()), "Wine does not start");
        place.before = paths(&target().join(DISK))?;
        Ok(place)
    }

    /// Processes of its own: they end with the command, Wine's server too.
    fn wine(&self, words: &[&str]) -> Command {
        let mut command = self.root.command("unshare");
        command.args(OWN_PROCESSES).arg("wine").args(words);
        command.stdout(Stdio::null());
        command
    }
}

impl Place for Wine {
    fn name(&self) -> String {
        "Wine".to_owned()
    }

    fn install(&mut self, artefact: &Path) -> Result<()> {
        fs::create_dir_all(self.work())?;
        let file = File::open(artefact).context("the zip cannot be opened")?;
        zip::ZipArchive::new(file)?.extract(self.work()).context("the zip cannot be unpacked")
    }

    fn command(&self, words: &[&str]) -> Command {
        let program = format!("renmei-{VERSION}-{}/renmei.exe", TARGETS[2].name);
        let mut command = self.root.command("unshare");
        let enter = r#"cd "$1"; shift; exec wine "$@""#;
        command.args(OWN_PROCESSES).args(["sh", "-c", enter, "try"]);
        command.arg(format!("/cross/{WORK}")).arg(program).args(words);
        command
    }

    fn work(&self) -> PathBuf {
        target().join("cross").join(WORK)
    }

    fn remove(&mut self) -> Result<()> {
        remove(&self.work())?;
        ensure_traceless(&target().join(DISK), &self.before)
    }
}

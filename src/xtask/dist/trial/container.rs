//! A container of the image, with podman's files in a directory of their own.

use super::place::{Place, Running, remove};
use crate::VERSION;
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use xtask::{
    cross::EMULATE_ARM,
    engines,
    workspace::{run, target},
};

/// The user of the image.
const USER: u32 = 10_000;
/// Limits that everybody may set. Podman's own are above those of this process, and a machine that is itself a container often
/// lacks the right to raise them (CAP_SYS_RESOURCE): then runc fails, and podman exits with 126.
const LIMITS: [&str; 2] = ["--ulimit=nofile=1024:4096", "--ulimit=nproc=4096:4096"];

/// Runs a command in a namespace of users, who are those of the machine, as programs of 64-bit ARM are emulated there alone:
/// `$1` emulator, `$2` a script that registers it. Only from outside can the users of a namespace be more than one.
const ENTER_EMULATED: &str = r#"
export qemu="$1"; register=$2; shift 2
unshare --user --mount sh -c "$register" try "$@" &
inside=$!
for users in uid_map gid_map; do
    until echo 0 0 65536 >/proc/$inside/$users || ! kill -0 $inside; do sleep 0.01; done 2>/dev/null
done
wait $inside
"#;
/// Waits for its users, the last of which are groups.
const AWAIT_USERS: &str = "until [ -n \"$(cat /proc/self/gid_map)\" ]; do sleep 0.01; done";

/// Installs podman where that is permitted.
pub fn ensure_podman() -> Result<()> {
    let installed = engines::install(&[("podman", "podman"), ("runc", "runc")]);
    ensure!(installed, "not tried: podman and runc are missing (Debian: `apt install podman runc`)");
    Ok(())
}

/// Podman's own files, and the directory that is mounted for databases.
pub struct Container {
    place: PathBuf,
    /// What runs the programs of the image, where this machine's processor does not.
    emulator: Option<PathBuf>,
}

impl Container {
    pub fn open(emulator: Option<PathBuf>) -> Result<Self> {
        let place = target().join("cross/try-image");
        remove(&place)?;
        fs::create_dir_all(place.join("data"))
            .context("a directory for the container could not be created")?;
        chown(place.join("data"), Some(USER), Some(USER))?;
        Ok(Self { place, emulator })
    }

    fn podman(&self, words: &[&str]) -> Command {
        self.storing(Command::new("podman"), words)
    }

    /// A podman whose containers may run the programs of the image.
    fn running(&self, words: &[&str]) -> Command {
        let Some(emulator) = &self.emulator else { return self.podman(words) };
        let register = format!("{AWAIT_USERS}{EMULATE_ARM}exec \"$@\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", ENTER_EMULATED, "try"]).arg(emulator).args([&register, "podman"]);
        self.storing(shell, words)
    }

    fn storing(&self, mut podman: Command, words: &[&str]) -> Command {
        podman.args([
            "--storage-driver=vfs",
            "--runtime=runc",
            "--cgroup-manager=cgroupfs",
            "--events-backend=file",
        ]);
        podman.arg("--root").arg(self.place.join("storage")).arg("--runroot").arg(self.place.join("run"));
        podman.args(words);
        podman
    }

    /// `renmei` in a container that vanishes with it.
    fn contained(&self, options: &[&str], words: &[&str]) -> Command {
        let volume = format!("{}:/data", self.work().display());
        let mut podman =
            self.running(&["run", "--rm", "--init=false", "--network=none", "--volume", &volume]);
        podman.args(LIMITS).args(options).arg(format!("renmei:{VERSION}")).args(words);
        podman
    }
}

impl Place for Container {
    fn name(&self) -> String {
        let by = if self.emulator.is_some() { ", qemu" } else { "" };
        format!("podman, runc, vfs{by}")
    }

    fn install(&mut self, artefact: &Path) -> Result<()> {
        let mut load = self.podman(&["load", "--quiet", "--input"]);
        ensure!(run(load.arg(artefact).stdout(Stdio::null()))?.success(), "podman could not load the image");
        Ok(())
    }

    fn command(&self, words: &[&str]) -> Command {
        self.contained(&[], words)
    }

    fn work(&self) -> PathBuf {
        self.place.join("data")
    }

    fn start(&self, words: &[&str]) -> Result<Running> {
        let process = self.place.join("process").display().to_string();
        // `podman kill` takes longer than the league.
        let mut killer = Command::new("sh");
        killer.args(["-c", r#"kill -KILL "$(cat "$1")""#, "kill", &process]);
        Running::start(self.contained(&["--pidfile", &process], words), Some(killer))
    }

    fn remove(&mut self) -> Result<()> {
        let mut image = self.podman(&["rmi", "--force", &format!("renmei:{VERSION}")]);
        let removed = run(image.stdout(Stdio::null()))?.success();
        remove(&self.place)?;
        ensure!(removed, "podman could not remove the image");
        Ok(())
    }
}

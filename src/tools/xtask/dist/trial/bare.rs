//! A bare root of a Debian release, entered as a user without rights; for programs of 64-bit ARM with an emulator, which is not
//! in the root.

use super::place::{Place, ensure_traceless, paths, remove};
use crate::{VERSION, target::TARGETS};
use anyhow::{Context, Result, ensure};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use xtask::{
    cross::{self, EMULATE_ARM},
    workspace::{run, target},
};

/// Releases that packages are tried in; archives in the first.
pub const RELEASES: [&str; 3] = ["bookworm", "trixie", "sid"];
/// The user who plays.
const USER: u32 = 1000;
/// What dpkg itself writes while it installs and removes.
const OF_DPKG: [&str; 2] = ["var/lib/dpkg/", "var/log/"];

/// Runs a command in a root, with mounts and processes of its own: `$1` root, `$2` user. The shell stays the first of these
/// processes: a change of user clears the signal by which the first one, and then all, die with `unshare`.
const ENTER: &str = r#"
set -e
root=$1; user=$2; shift 2
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
chroot --userspec="$user:$user" "$root" "$@"
exit 0
"#;

/// The same with an emulator, in a namespace of users: `$1` emulator, `$2` root, `$3` user, who is another name of root there and
/// has no rights outside. The kernel refuses a namespace of users behind `chroot`, so the root becomes that of the
/// mounts; the registration of the emulator ends with the last mount of its table.
const ENTER_EMULATED: &str = r#"
root=$2; user=$3; shift 3
mount --rbind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t binfmt_misc binfmt_misc "$root/proc/sys/fs/binfmt_misc"
cd "$root"
pivot_root . .
umount --lazy .
unshare --user --map-user="$user" --map-group="$user" "$@"
exit 0
"#;

/// A root.
pub struct Bare {
    release: String,
    root: PathBuf,
    before: BTreeSet<PathBuf>,
    package: bool,
    emulator: Option<PathBuf>,
}

impl Bare {
    /// The root of a release, made if it is missing. With an emulator it is for programs of 64-bit ARM.
    pub fn open(release: &str, emulator: Option<PathBuf>) -> Result<Self> {
        let root = target().join(format!("cross/bare-{release}"));
        if !root.is_dir() {
            cross::debootstrap(release, &["ca-certificates"], &root)?;
        }
        for left in ["try", "opt/renmei"] {
            remove(&root.join(left))?;
        }
        let release = release.to_owned();
        let mut place = Self { release, root, before: BTreeSet::new(), package: false, emulator };
        // Of a trial that was interrupted; dpkg has nothing to say of a package that it never had.
        let _nothing = place
            .enter_as_root(&["dpkg", "--purge", "renmei"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        place.before = paths(&place.root)?;
        Ok(place)
    }

    fn enter(&self, namespaces: &[&str], script: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(namespaces).args([
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "sh",
            "-c",
            script,
            "try",
        ]);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/try");
        command
    }

    fn enter_as_root(&self, words: &[&str]) -> Command {
        let mut command = self.enter(&[], ENTER);
        command.arg(&self.root).arg("0").args(words);
        command
    }

    fn enter_as_user(&self, words: &[&str]) -> Command {
        let Some(emulator) = &self.emulator else {
            let mut command = self.enter(&[], ENTER);
            command.arg(&self.root).arg(USER.to_string()).args(words);
            return command;
        };
        let script = format!("qemu=$1{EMULATE_ARM}{ENTER_EMULATED}");
        let mut command = self.enter(&["--user", "--map-root-user"], &script);
        command.arg(emulator).arg(&self.root).arg(USER.to_string()).args(words);
        command
    }

    fn as_root(&self, words: &[&str]) -> Result<()> {
        let status = run(self.enter_as_root(words).stdout(Stdio::null()))?;
        ensure!(status.success(), "`{}` failed in the root of {}", words.join(" "), self.release);
        Ok(())
    }
}

impl Place for Bare {
    fn name(&self) -> String {
        let by = if self.emulator.is_some() { ", qemu" } else { "" };
        format!("Debian {}{by}", self.release)
    }

    fn install(&mut self, artefact: &Path) -> Result<()> {
        fs::create_dir_all(self.work())?;
        if self.emulator.is_none() {
            chown(self.work(), Some(USER), Some(USER))?;
        }
        self.package = artefact.extension().is_some_and(|end| end == "deb");
        if self.package {
            let inside = self.root.join("try/renmei.deb");
            fs::copy(artefact, &inside).context("the package could not be copied")?;
            if self.emulator.is_some() {
                self.as_root(&["dpkg", "--add-architecture", "arm64"])?;
            }
            self.as_root(&["dpkg", "--install", "/try/renmei.deb"])?;
            return fs::remove_file(inside).context("the package could not be removed");
        }
        let place = self.root.join("opt/renmei");
        fs::create_dir_all(&place)?;
        let mut unpack = Command::new("tar");
        unpack.args(["--zstd", "-xf"]).arg(artefact).arg("-C").arg(place);
        ensure!(run(&mut unpack)?.success(), "tar failed");
        Ok(())
    }

    fn command(&self, words: &[&str]) -> Command {
        let target = &TARGETS[usize::from(self.emulator.is_some())];
        let unpacked = format!("/opt/renmei/renmei-{VERSION}-{}/renmei", target.name);
        let program = if self.package { "/usr/bin/renmei" } else { &unpacked };
        self.enter_as_user(&[&["env", "-C", "/try", program], words].concat())
    }

    fn work(&self) -> PathBuf {
        self.root.join("try")
    }

    fn remove(&mut self) -> Result<()> {
        if self.package {
            self.as_root(&["dpkg", "--purge", "renmei"])?;
        }
        if self.package && self.emulator.is_some() {
            self.as_root(&["dpkg", "--remove-architecture", "arm64"])?;
        }
        remove(&self.work())?;
        remove(&self.root.join("opt/renmei"))?;
        // dpkg keeps old copies of its lists.
        let of_dpkg = |path: &PathBuf| OF_DPKG.iter().any(|own| path.starts_with(own));
        self.before.extend(paths(&self.root)?.into_iter().filter(of_dpkg));
        let kept = self.root.join("var/lib/dpkg/info/renmei.list");
        ensure!(!kept.exists(), "dpkg still lists the package");
        ensure_traceless(&self.root, &self.before)
    }
}

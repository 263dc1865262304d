//! The cross root: a root directory of Debian sid in which other targets are built and tried.
//!
//! A toolchain of rustup has the standard library of one target, often without the right to fetch another. Debian's
//! toolchain comes with the library's source and everything that it needs, so it builds every target offline. The root is
//! made once, by debootstrap from the mirror that this machine's apt uses.

use crate::workspace::{self, root, target};
use anyhow::{Context, Result, bail, ensure};
use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Environment variable that names the directory of the root; without it the root is `target/cross/root`.
pub const ROOT: &str = "RENMEI_CROSS_ROOT";
/// Where the checkout is in the root, for every checkout: programs built there name no directory of this machine.
pub const CHECKOUT: &str = "/src/renmei";
/// Where `target/cross` of the checkout is in the root. Cargo builds in `build` below it.
pub const TARGET: &str = "/cross";
/// Flags for rustc for a static program of Linux: musl from zig and nothing from Rust's own copy of it, so that it needs no file of
/// the system. zig does not know the flag with which rustc asks for a static program at any address, and takes this one instead.
pub const STATIC: &str = "-C link-self-contained=no -C target-feature=+crt-static -C link-arg=-pie";
/// The option with which cargo builds the standard library.
pub const BUILD_STD: &str = "-Zbuild-std=std,panic_unwind,test";

/// Debian's packages in the root: Rust with its source, C compilers for Linux and Windows, Wine, and another processor.
const PACKAGES: [&str; 9] = [
    "rustc",
    "cargo",
    "rust-src",
    "gcc",
    "libc6-dev",
    "gcc-mingw-w64-x86-64-posix",
    "wine",
    "wine64",
    "qemu-user",
];
/// The manifest of the standard library, which is built for each target, in the root.
const STD: &str = "usr/lib/rustlib/src/rust/library/Cargo.toml";
/// A file of the root with the names of all that was installed.
const INSTALLED: &str = "root/.renmei";
/// Packages of the Python package index: a C compiler and linker for every target, and cargo's way to it.
const WHEELS: [&str; 2] = ["ziglang==0.17.1", "cargo-zigbuild==0.24.0"];
/// Where they are in the root.
const ZIG: &str = "opt/zig";
/// What a Debian mirror may lack: a Release file of today. Packages stay signed.
const LAGGING: [&str; 2] = ["-o", "Acquire::Check-Valid-Until=false"];

/// Runs a command in the root: `$1` root, `$2` checkout, `$3` its `target/cross`, `$4` cargo's registry. The mounts are of
/// this process and its children alone, so nothing has to be unmounted.
const ENTER: &str = r#"
set -e
root=$1; checkout=$2; target=$3; registry=$4; shift 4
mkdir -p "$root/src/renmei" "$root/cross" "$root/root/.cargo/registry" "$target"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount --bind /proc "$root/proc"
mount --bind "$checkout" "$root/src/renmei"
mount --bind "$target" "$root/cross"
[ ! -d "$registry" ] || mount --bind "$registry" "$root/root/.cargo/registry"
exec chroot "$root" env -C /src/renmei "$@"
"#;

/// Lets the kernel start programs of 64-bit ARM, and what those start in turn, by the emulator `$qemu`. The registration is of
/// this user namespace alone (Linux 6.7 or newer): nothing of it is left on the machine. P: a program keeps its name, F: the
/// emulator is found whatever the root directory is.
const EMULATE_ARM: &str = r#"
set -e
mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf %s ":arm:M::$magic:$mask:$qemu:OPF" >/proc/sys/fs/binfmt_misc/register
"#;
/// The emulator in the root.
const QEMU: &str = "usr/bin/qemu-aarch64";

/// A root that is there.
pub struct CrossRoot(PathBuf);

impl CrossRoot {
    /// The root, made if it is missing: ten minutes and 4 GB, mostly of downloads.
    ///
    /// # Errors
    /// When it is missing and cannot be made here: the message names what is missing, and the command that mends it.
    pub fn open() -> Result<Self> {
        ensure_permitted()?;
        let place = place();
        if !place.join("usr/bin/apt-get").is_file() {
            bootstrap(&place)?;
        }
        let root = Self(place);
        if !root.is_complete() {
            root.install()?;
            install_zig(&root.0.join(ZIG))?;
            fs::write(root.0.join(INSTALLED), wanted()).context("the cross root cannot be written")?;
        }
        Ok(root)
    }

    /// The root if it is there and may be entered; nothing is made.
    ///
    /// # Errors
    /// The reason, and the command that makes it.
    pub fn existing() -> Result<Self> {
        ensure_permitted()?;
        let root = Self(place());
        let place = root.0.display();
        ensure!(root.is_complete(), "there is no cross root in `{place}`; `cargo xtask cross` makes it");
        Ok(root)
    }

    fn is_complete(&self) -> bool {
        fs::read_to_string(self.0.join(INSTALLED)).is_ok_and(|installed| installed == wanted())
    }

    /// A program in the root, with the checkout as its directory. Cargo works offline and builds in its own directory.
    pub fn command(&self, program: &str) -> Command {
        self.entered(&["--mount"], ENTER, program)
    }

    /// The same, and programs of 64-bit ARM run there. The command is root of a namespace without rights outside it.
    pub fn arm(&self, program: &str) -> Command {
        let script = format!("qemu=$1/{QEMU}{EMULATE_ARM}{ENTER}");
        self.entered(&["--user", "--map-root-user", "--mount"], &script, program)
    }

    fn entered(&self, namespaces: &[&str], script: &str, program: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(namespaces).args(["sh", "-c", script, "cross"]).arg(&self.0).arg(root());
        command.arg(target().join("cross")).arg(registry()).arg(program);
        command.env_clear().envs(kept_variables()).envs([
            ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin:/opt/zig/bin"),
            ("HOME", "/root"),
            ("LANG", "C.UTF-8"),
            ("DEBIAN_FRONTEND", "noninteractive"),
            ("RUSTC_BOOTSTRAP", "1"),
            ("CARGO_NET_OFFLINE", "true"),
            ("CARGO_TARGET_DIR", "/cross/build"),
            ("PYTHONPATH", "/opt/zig"),
            ("CARGO_ZIGBUILD_ZIG_PATH", "/opt/zig/ziglang/zig"),
            ("WINEPREFIX", "/cross/wine"),
            ("WINEDEBUG", "-all"),
        ]);
        command
    }

    fn install(&self) -> Result<()> {
        eprintln!("installing {} into `{}`", PACKAGES.join(", "), self.0.display());
        let mut update = self.command("apt-get");
        let mut install = self.command("apt-get");
        update.args(LAGGING).args(["-qq", "update"]);
        install.args(LAGGING).args(["-qq", "-y", "--no-install-recommends", "install"]).args(PACKAGES);
        for command in [&mut update, &mut install] {
            let status = workspace::run(command.stdin(Stdio::null()).stdout(Stdio::null()))?;
            ensure!(status.success(), "apt-get failed in the cross root");
        }
        Ok(())
    }

    /// Fetches the dependencies of all targets, and those of the standard library: in the root cargo works offline.
    ///
    /// # Errors
    /// When they cannot be fetched.
    pub fn fetch(&self) -> Result<()> {
        let ours = workspace::root().join("Cargo.toml");
        for manifest in [ours, self.0.join(STD)] {
            let mut fetch = workspace::cargo(["fetch", "--quiet", "--locked", "--manifest-path"]);
            // The standard library's own manifest has options of cargo that are not stable.
            let fetched = workspace::run(fetch.arg(&manifest).env("RUSTC_BOOTSTRAP", "1"))?.success();
            ensure!(fetched, "the dependencies of `{}` could not be fetched", manifest.display());
        }
        Ok(())
    }
}

/// Cargo's registry on this machine.
pub fn registry() -> PathBuf {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    home.unwrap_or_default().join("registry")
}

/// Flags for rustc by which programs name the sources of dependencies `/crates/..`, whatever the registry is that they were
/// fetched from.
pub fn remapped_sources() -> String {
    let listed = fs::read_dir(registry().join("src")).into_iter().flatten().flatten();
    let mut names: Vec<_> = listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let flag = |name: String| format!("--remap-path-prefix=/root/.cargo/registry/src/{name}=/crates");
    names.into_iter().map(flag).collect::<Vec<_>>().join(" ")
}

/// Where the root is, or would be.
fn place() -> PathBuf {
    env::var_os(ROOT).map_or_else(|| target().join("cross/root"), |place| root().join(place))
}

/// The names of all that belongs into the root.
fn wanted() -> String {
    PACKAGES.iter().chain(&WHEELS).map(|name| format!("{name}\n")).collect()
}

/// Variables that reach the commands in the root: those of this project, and of tests.
fn kept_variables() -> impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)> {
    let is_kept = |name: &str| {
        ["RENMEI_", "RUST_", "NEXTEST_", "CARGO_PROFILE_", "CARGO_TERM_"]
            .iter()
            .any(|own| name.starts_with(own))
            || ["TERM", "CARGO_BUILD_JOBS", "CARGO_INCREMENTAL"].contains(&name)
    };
    env::vars_os().filter(move |(name, _)| name.to_str().is_some_and(is_kept))
}

/// Only root may change its root directory and mount.
fn ensure_permitted() -> Result<()> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    ensure!(is_root, "the cross root can be used by root alone: `sudo -E $(command -v cargo) xtask ..`");
    let mut probe = Command::new("unshare");
    let may = workspace::run(probe.args(["--mount", "true"]).stderr(Stdio::null()));
    ensure!(
        may.is_ok_and(|status| status.success()),
        "the cross root needs mounts of its own, which this machine refuses (`unshare --mount true` fails): a container \
         needs `--cap-add SYS_ADMIN`"
    );
    Ok(())
}

/// Makes a bare root of Debian sid. It takes its place when it is whole.
fn bootstrap(place: &Path) -> Result<()> {
    let is_free = fs::read_dir(place).map_or(true, |mut files| files.next().is_none());
    ensure!(
        is_free,
        "`{}` is no root of Debian; empty it, or set {ROOT} to another directory",
        place.display()
    );
    let mirror = mirror()?;
    let parent = place.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).with_context(|| format!("`{}` could not be created", parent.display()))?;
    let part = place.with_extension("part");
    if part.exists() {
        fs::remove_dir_all(&part).with_context(|| format!("`{}` could not be removed", part.display()))?;
    }
    eprintln!("making a root of Debian sid in `{}`", place.display());
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", "--include=ca-certificates", "sid"]);
    command.arg(&part).arg(mirror).stdin(Stdio::null()).stdout(Stdio::null());
    let status = command.status().context("debootstrap is missing (Debian: `apt install debootstrap`)")?;
    ensure!(status.success(), "debootstrap failed; `{}` has its log", part.join("debootstrap").display());
    if place.is_dir() {
        fs::remove_dir(place).with_context(|| format!("`{}` could not be replaced", place.display()))?;
    }
    fs::rename(&part, place).with_context(|| format!("`{}` could not be moved", part.display()))
}

/// The Debian mirror that apt uses here.
fn mirror() -> Result<String> {
    let mut list = Command::new("apt-get");
    list.args(["indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Created-By: Packages"]);
    let listed = workspace::text(&mut list).context("a root of Debian can be made on Debian alone")?;
    first_mirror(&listed).map(str::to_owned).context(
        "apt's configuration names no Debian mirror, or its lists were never fetched (`apt-get update`)",
    )
}

/// The address of the first repository of Debian itself: `ORIGIN LABEL ADDRESS` a line.
fn first_mirror(listed: &str) -> Option<&str> {
    listed.lines().find_map(|line| line.strip_prefix("Debian Debian "))
}

/// Installs zig and cargo-zigbuild into a directory, with this machine's pip.
fn install_zig(place: &Path) -> Result<()> {
    eprintln!("installing {} into `{}`", WHEELS.join(", "), place.display());
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--upgrade",
        "--target",
    ]);
    let status = workspace::run(pip.arg(place).args(WHEELS).stdin(Stdio::null()))?;
    if !status.success() {
        bail!("pip could not install {} (Debian: `apt install python3-pip`)", WHEELS.join(" and "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_the_first_repository_of_debian_itself() {
        let listed =
            "NodeSource NodeSource a://x/\nDebian Debian-Security a://s/\nDebian Debian a://d/debian/\n";
        assert_eq!(first_mirror(listed), Some("a://d/debian/"));
        assert_eq!(first_mirror("Ubuntu Ubuntu a://u/\n"), None);
    }

    #[test]
    fn a_command_in_the_root_sees_the_checkout_at_the_same_place_on_every_machine() {
        let command = CrossRoot("/roots/sid".into()).command("cargo");
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(words[4..6], ["cross", "/roots/sid"].map(str::to_owned));
        assert_eq!(words[6], root().to_string_lossy());
        assert_eq!(words.last().map(String::as_str), Some("cargo"));
        assert!(ENTER.contains(CHECKOUT) && ENTER.contains(TARGET));
        let variable =
            |name: &str| command.get_envs().find(|(known, _)| *known == name).and_then(|(_, value)| value);
        assert_eq!(variable("CARGO_NET_OFFLINE").and_then(|value| value.to_str()), Some("true"));
        assert!(variable("CARGO_MANIFEST_DIR").is_none());
    }
}

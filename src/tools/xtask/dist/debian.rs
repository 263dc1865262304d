//! The Debian package: the static programs, so that it depends on nothing and fits every release.

use crate::{pack::gz, tree::Tree};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};
use xtask::workspace::{Scratch, run};

/// Units for events of files in `/etc/renmei`.
const UNIT: &str = include_str!("renmei@.service");
/// Commands that a unit runs, with what each is.
const SERVICES: [(&str, &str); 3] =
    [("run", "event"), ("serve", "league over the network"), ("floodgate", "engine on a server")];

/// Where a file of an archive is in the package.
fn place(path: &str, runs: bool) -> Option<String> {
    let doc = |path: &str| Some(format!("usr/share/doc/renmei/{path}"));
    match path.split_once('/') {
        None if runs => Some(format!("usr/bin/{path}")),
        Some(("completions", "renmei.bash")) => {
            Some("usr/share/bash-completion/completions/renmei".to_owned())
        }
        Some(("completions", "_renmei")) => Some("usr/share/zsh/vendor-completions/_renmei".to_owned()),
        Some(("completions", "renmei.fish")) => {
            Some("usr/share/fish/vendor_completions.d/renmei.fish".to_owned())
        }
        Some(("completions", _)) => None,
        Some(("man", page)) => Some(format!("usr/share/man/man1/{page}")),
        None if path == "LICENSE-MIT" => doc("copyright"),
        _ => doc(path),
    }
}

/// The files of the package.
fn files(archive: &Tree) -> Result<Tree> {
    let runs = |path: &str| archive.get(path).is_some_and(|file| file.runs);
    let mut all = archive.moved(|path| place(path, runs(path)));
    let pages: Vec<_> = all.files().filter(|(path, _)| path.starts_with("usr/share/man/")).collect();
    let pages: Vec<_> = pages.into_iter().map(|(path, file)| (path.to_owned(), file.bytes.clone())).collect();
    all = all.moved(|path| (!path.starts_with("usr/share/man/")).then(|| path.to_owned()));
    for (path, page) in pages {
        all.add(&format!("{path}.gz"), gz(&page)?);
    }
    for (command, what) in SERVICES {
        let unit = UNIT.replace("{command}", command).replace("{what}", what);
        all.add(&format!("usr/lib/systemd/system/renmei-{command}@.service"), unit);
    }
    Ok(all)
}

fn control(version: &str, architecture: &str, bytes: usize) -> String {
    format!(
        "Package: renmei\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: Renmei developers <renmei@localhost>\n\
         Section: games\nPriority: optional\nInstalled-Size: {}\nSuggests: bubblewrap, fairy-stockfish, gpsshogi, nats-server\n\
         Description: tournament and match-server infrastructure for computer shogi\n \
         Plays USI engines under one referee and one clock, hosts leagues over the\n \
         network by the CSA server protocol, keeps every move in SQLite, and reports\n \
         with error bars which engine is stronger.\n",
        bytes.div_ceil(1024)
    )
}

/// The package. dpkg-deb packs it; `SOURCE_DATE_EPOCH` is its clock.
pub fn package(archive: &Tree, version: &str, architecture: &str, epoch: u64) -> Result<Vec<u8>> {
    let files = files(archive)?;
    let scratch = Scratch::new("dist-deb")?;
    let root = scratch.file("root");
    let bytes = files.files().map(|(_, file)| file.bytes.len()).sum();
    write(&root.join("DEBIAN/control"), control(version, architecture, bytes).as_bytes(), false)?;
    for (path, file) in files.files() {
        write(&root.join(path), &file.bytes, file.runs)?;
    }
    open_directories(&root)?;
    let package = scratch.file("renmei.deb");
    let mut build = Command::new("dpkg-deb");
    // One thread: how xz cuts its input into blocks depends on their number.
    build.args(["--build", "--root-owner-group", "-Zxz", "--threads-max=1"]).args([&root, &package]);
    build.env("SOURCE_DATE_EPOCH", epoch.to_string()).stdout(Stdio::null());
    let status = run(&mut build).context("a .deb needs dpkg-deb (Debian: `apt install dpkg`)")?;
    ensure!(status.success(), "dpkg-deb failed");
    crate::tree::read(&package)
}

fn write(file: &Path, bytes: &[u8], runs: bool) -> Result<()> {
    let done = fs::create_dir_all(file.parent().unwrap_or(file)).and_then(|()| fs::write(file, bytes));
    let mode = fs::Permissions::from_mode(if runs { 0o755 } else { 0o644 });
    done.and_then(|()| fs::set_permissions(file, mode))
        .with_context(|| format!("`{}` could not be written", file.display()))
}

/// The umask of this process says nothing about the package.
fn open_directories(directory: &Path) -> Result<()> {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_directories(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive() -> Tree {
        let mut tree = Tree::default();
        for path in [
            "LICENSE-MIT",
            "completions/_renmei",
            "completions/_renmei.ps1",
            "man/renmei.1",
            "guides/index.html",
        ] {
            tree.add(path, path);
        }
        tree
    }

    #[test]
    fn files_are_where_debian_looks_for_them() {
        let files = files(&archive()).unwrap();
        let paths: Vec<_> = files.files().map(|(path, _)| path).collect();
        assert_eq!(
            paths,
            [
                "usr/lib/systemd/system/renmei-floodgate@.service",
                "usr/lib/systemd/system/renmei-run@.service",
                "usr/lib/systemd/system/renmei-serve@.service",
                "usr/share/doc/renmei/copyright",
                "usr/share/doc/renmei/guides/index.html",
                "usr/share/man/man1/renmei.1.gz",
                "usr/share/zsh/vendor-completions/_renmei",
            ]
        );
        let unit = files.get("usr/lib/systemd/system/renmei-serve@.service").unwrap();
        let unit = String::from_utf8_lossy(&unit.bytes).into_owned();
        assert!(unit.contains("ExecStart=/usr/bin/renmei serve") && !unit.contains("{what}"), "{unit}");
    }

    #[test]
    fn a_package_is_the_same_twice() {
        if Command::new("dpkg-deb").arg("--version").stdout(Stdio::null()).status().is_err() {
            return;
        }
        let made = || package(&archive(), "0.1.0", "amd64", 1_700_000_000).unwrap();
        let one = made();
        assert!(one.starts_with(b"!<arch>\ndebian-binary   1700000000"), "{:?}", &one[..40]);
        assert_eq!(one, made());
    }
}

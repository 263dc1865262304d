//! `cargo xtask dist`: the files to download. A directory has everything that an archive has, and `pack.sh` makes archives and
//! packages of it, byte for byte the same for the same commit.

mod guides;
mod licences;

use crate::{
    sbom,
    target::{self, Target, git},
};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::Path,
    process::{Command, ExitCode},
};
use xtask::{
    args::Flags,
    cross::{self, CrossRoot},
    workspace::{self, Scratch, root},
};

/// The version of the files.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The programs, in every file.
const PROGRAMS: [&str; 3] = ["renmei", "renmei-pairwise", "renmei-random"];
/// Shells with completions: the name for `renmei completions`, the file.
const SHELLS: [(&str, &str); 4] =
    [("bash", "renmei.bash"), ("zsh", "_renmei"), ("fish", "renmei.fish"), ("powershell", "renmei.ps1")];

const TARGETS: [&Target; 3] = [&target::LINUX, &target::ARM, &target::WINDOWS];

/// Builds every target, or the one that is named, and packs it into `target/dist`.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let targets = chosen(flags.text("--target"))?;
    let profile = flags.text("--profile").unwrap_or("dist");
    let cross = CrossRoot::open()?;
    cross.fetch()?;
    for target in targets {
        target.compile(&cross, profile)?;
        let place = Scratch::new("cross/dist")?;
        let name = format!("renmei-{VERSION}-{}", target.name);
        fs::create_dir(place.file(&name))?;
        lay_out(target, &cross, profile, &place.file(&name))?;
        pack(&place.file(&name), &workspace::target().join("dist"), target.architecture)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn chosen(name: Option<&str>) -> Result<Vec<&'static Target>> {
    let known =
        TARGETS.into_iter().filter(|target| name.is_none_or(|name| name == target.name)).collect::<Vec<_>>();
    let names = TARGETS.map(|target| target.name).join(", ");
    ensure!(!known.is_empty(), "no target `{}`; there are {names}", name.unwrap_or_default());
    Ok(known)
}

/// Packs a directory: as an archive and, for a processor, as a Debian package; and lists all files with their hashes.
fn pack(directory: &Path, output: &Path, architecture: &str) -> Result<()> {
    fs::create_dir_all(output)?;
    let mut pack = Command::new("sh");
    pack.arg(root().join("src/tools/xtask/dist/pack.sh")).args([directory, output]);
    pack.args([VERSION, architecture, &git(&["log", "-1", "--format=%ct"])?]);
    ensure!(workspace::run(&mut pack)?.success(), "`{}` could not be packed", directory.display());
    Ok(())
}

/// Puts everything that an archive has into a directory below `target/cross`.
fn lay_out(target: &Target, cross: &CrossRoot, profile: &str, to: &Path) -> Result<()> {
    let compiled = workspace::target().join("cross");
    for program in PROGRAMS {
        let program = format!("{program}{}", target.ending);
        let from = compiled.join(target.built(profile)).join(&program);
        fs::copy(&from, to.join(&program)).with_context(|| format!("`{}` was not built", from.display()))?;
    }
    let inside = Path::new(cross::TARGET).join(to.strip_prefix(&compiled)?);
    let renmei = inside.join(format!("renmei{}", target.ending));
    let ask = |words: &[&str]| workspace::text(cross.command(target.runner).arg(&renmei).args(words));
    for name in ["completions", "guides", "man", "presets"] {
        fs::create_dir(to.join(name))?;
    }
    for (shell, file) in SHELLS {
        fs::write(to.join("completions").join(file), ask(&["completions", shell])?)?;
    }
    match target.architecture {
        "" => fs::remove_dir(to.join("man"))?,
        _ => drop(ask(&["man", &inside.join("man").to_string_lossy()])?),
    }
    presets(&ask(&["init"])?, &to.join("presets"))?;
    guides::write(&to.join("guides"))?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root().join(licence), to.join(licence))?;
    }
    fs::write(to.join("LICENSES-of-dependencies.txt"), licences::text(target.name)?)?;
    sbom::run(Some(&to.join("renmei.cdx.json").to_string_lossy())).map(drop)
}

/// Writes the presets that `renmei init` lists, one a line, and the files that the league's own names.
fn presets(listed: &str, to: &Path) -> Result<()> {
    let listed = listed.lines().take_while(|line| !line.trim().is_empty());
    let names = listed.filter_map(|line| line.split_whitespace().next());
    for name in names.chain(["kawa", "mori"]) {
        let file = root().join(format!("configs/{name}.toml"));
        let text =
            fs::read_to_string(&file).with_context(|| format!("`{}` cannot be read", file.display()))?;
        fs::write(to.join(format!("{name}.toml")), text.replace("configs/", ""))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_chosen_by_its_name_and_without_one_all_are() {
        assert_eq!(chosen(None).unwrap().len(), TARGETS.len());
        assert_eq!(chosen(Some("x86_64-pc-windows-gnu")).unwrap()[0].ending, ".exe");
        let fault = chosen(Some("vax")).err().unwrap().to_string();
        assert!(fault.starts_with("no target `vax`; there are x86_64-unknown-linux-musl, "), "{fault}");
    }

    #[test]
    fn presets_are_those_that_the_program_lists_and_name_no_directory_of_the_repository() {
        let place = Scratch::new("dist-presets").unwrap();
        presets("quickstart  A first league\n\nrenmei init PRESET writes one\n", &place.file("")).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(place.file("")).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["kawa.toml", "mori.toml", "quickstart.toml"]);
        assert!(!fs::read_to_string(place.file("quickstart.toml")).unwrap().contains("configs/"));
    }

    fn out(program: &str, words: &[&str]) -> String {
        let output = Command::new(program).args(words).output().unwrap();
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn the_same_files_are_packed_into_the_same_bytes_and_are_where_debian_looks_for_them() {
        let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if !["zip", "zstd", "dpkg-deb"].iter().all(|program| has(program)) {
            return;
        }
        let place = Scratch::new("dist-pack").unwrap();
        let mut sums = vec![];
        for (turn, order) in [[0, 1, 2], [2, 1, 0]].into_iter().enumerate() {
            let tree = place.file(&format!("{turn}/renmei-1-x"));
            let files = PROGRAMS.map(String::from).into_iter().chain(
                ["completions/renmei.bash", "completions/_renmei", "completions/renmei.fish", "man/renmei.1"]
                    .map(String::from),
            );
            let files =
                files.chain(["guides/a", "presets/a", "LICENSE-MIT", "LICENSE-APACHE"].map(String::from));
            let mut files: Vec<_> =
                files.chain(["LICENSES-of-dependencies.txt", "renmei.cdx.json"].map(String::from)).collect();
            files.swap(order[0], order[2]);
            for file in &files {
                let file = tree.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "x\n").unwrap();
            }
            for architecture in ["amd64", ""] {
                pack(&tree, &place.file(&format!("out{turn}")), architecture).unwrap();
            }
            sums.push(fs::read_to_string(place.file(&format!("out{turn}/SHA256SUMS"))).unwrap());
        }
        assert_eq!(sums[0], sums[1]);
        assert_eq!(sums[0].lines().count(), 3, "{}", sums[0]);
        let package = place.file(&format!("out0/renmei_{VERSION}_amd64.deb")).display().to_string();
        let listed = out("dpkg-deb", &["--contents", &package]);
        for path in [
            "-rwxr-xr-x root/root",
            "./usr/bin/renmei\n",
            "./usr/lib/systemd/system/renmei-serve@.service",
            "./usr/share/applications/renmei.desktop",
            "./usr/share/icons/hicolor/scalable/apps/renmei.svg",
            "./usr/share/doc/renmei/copyright",
            "./usr/share/man/man1/renmei.1.gz",
            "./usr/share/zsh/vendor-completions/_renmei",
        ] {
            assert!(listed.contains(path), "{path}\n{listed}");
        }
        let unit = place.file("unit");
        out("dpkg-deb", &["--extract", &package, &unit.display().to_string()]);
        let unit = fs::read_to_string(unit.join("usr/lib/systemd/system/renmei-serve@.service")).unwrap();
        assert!(unit.contains("ExecStart=/usr/bin/renmei serve") && !unit.contains("{what}"), "{unit}");
        let archive = place.file("out0/renmei-1-x.tar.zst").display().to_string();
        let listed = out("tar", &["--zstd", "--utc", "-tvf", &archive]);
        assert!(listed.lines().all(|line| line.contains(" 0/0 ")), "{listed}");
    }
}

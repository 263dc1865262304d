//! `cargo xtask dist`: the files to download. Started by xtask; a package of its own, so that xtask compiles quickly.

mod commit;
mod debian;
mod guides;
mod image;
mod licences;
mod pack;
mod target;
mod tree;
mod trial;

use anyhow::{Context, Result, bail, ensure};
use commit::Commit;
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use target::{PROGRAMS, TARGETS, Target};
use tree::Tree;
use xtask::{
    cross::CrossRoot,
    workspace::{self, Scratch, cargo, root, target},
};

/// The version of the artefacts.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Shells with completions: the name for `renmei completions`, the file.
const SHELLS: [(&str, &str); 4] =
    [("bash", "renmei.bash"), ("zsh", "_renmei"), ("fish", "renmei.fish"), ("powershell", "renmei.ps1")];
/// The file with the hashes of the others.
const SUMS: &str = "SHA256SUMS";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Wish::read(&words).and_then(|wish| wish.grant()) {
        Ok(code) => code,
        Err(fault) => {
            eprintln!("xtask: {fault:#}");
            ExitCode::FAILURE
        }
    }
}

/// What the command line asks for.
struct Wish {
    targets: Vec<&'static Target>,
    profile: String,
    /// Try the artefacts that are there, instead of making them.
    tries: bool,
}

impl Wish {
    fn read(words: &[String]) -> Result<Self> {
        let mut wish = Self { targets: Vec::new(), profile: "dist".to_owned(), tries: false };
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("`{word}` needs a value"));
            match word {
                "--target" => wish.targets.push(Target::named(value()?)?),
                "--profile" => value()?.clone_into(&mut wish.profile),
                "--try" => wish.tries = true,
                _ => bail!("unknown flag `{word}`"),
            }
        }
        if wish.targets.is_empty() {
            wish.targets = TARGETS.iter().collect();
        }
        Ok(wish)
    }

    fn grant(&self) -> Result<ExitCode> {
        let output = target().join("dist");
        if self.tries {
            return trial::run(&output, &self.targets);
        }
        let commit = Commit::checked_out()?;
        let root = CrossRoot::open()?;
        root.fetch()?;
        fs::create_dir_all(&output)
            .with_context(|| format!("`{}` could not be created", output.display()))?;
        for target in &self.targets {
            eprintln!("compiling for {}", target.name);
            target.compile(&root, &self.profile, &commit)?;
            for (name, bytes) in self.artefacts(target, &root, commit.epoch)? {
                write(&output.join(name), &bytes)?;
            }
        }
        sum(&output)?;
        list(&output)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The artefacts of a target with their names.
    fn artefacts(&self, target: &Target, root: &CrossRoot, epoch: u64) -> Result<Vec<(String, Vec<u8>)>> {
        let files = self.files(target, root)?;
        let name = format!("renmei-{VERSION}-{}", target.name);
        // Unpacked anywhere, an archive makes one directory.
        let archive = files.moved(|path| Some(format!("{name}/{path}")));
        let Some(architecture) = target.architecture else {
            return Ok(vec![(format!("{name}.zip"), pack::zip(&archive, epoch)?)]);
        };
        Ok(vec![
            (format!("{name}.tar.zst"), pack::tar_zst(&archive, epoch)?),
            (
                format!("renmei_{VERSION}_{architecture}.deb"),
                debian::package(&files, VERSION, architecture, epoch)?,
            ),
            (
                format!("renmei-{VERSION}-oci-{architecture}.tar"),
                image::image(&files, VERSION, architecture, epoch)?,
            ),
        ])
    }

    /// Everything that an archive has.
    fn files(&self, target: &Target, cross: &CrossRoot) -> Result<Tree> {
        let mut tree = Tree::default();
        for program in PROGRAMS {
            let from = target.program(program, &self.profile);
            tree.add_program(&format!("{program}{}", target.ending), &from)?;
        }
        for (shell, file) in SHELLS {
            let script = target.ask(cross, &self.profile, &["completions", shell])?;
            tree.add(&format!("completions/{file}"), script);
        }
        if target.architecture.is_some() {
            self.manual(&mut tree, target, cross)?;
        }
        presets(&mut tree, &target.ask(cross, &self.profile, &["init"])?)?;
        guides::add(&mut tree, &root())?;
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            tree.add(licence, tree::read(&root().join(licence))?);
        }
        tree.add("LICENSES-of-dependencies.txt", licences::text(target.name)?);
        tree.add("renmei.cdx.json", bill_of_materials()?);
        Ok(tree)
    }

    /// The manual pages, which the program writes itself.
    fn manual(&self, tree: &mut Tree, target: &Target, cross: &CrossRoot) -> Result<()> {
        let pages = Scratch::new("cross/man")?;
        let place = pages.file("");
        let name = place.components().next_back().map(|name| name.as_os_str().to_string_lossy().into_owned());
        let inside = format!("/cross/{}", name.unwrap_or_default());
        let place = if target.name == TARGETS[0].name { place.display().to_string() } else { inside };
        target.ask(cross, &self.profile, &["man", &place])?;
        tree.add_directory("man", &pages.file(""))
    }
}

/// Adds the presets that `renmei init` lists, one a line, as it writes them.
fn presets(tree: &mut Tree, listed: &[u8]) -> Result<()> {
    let listed = String::from_utf8_lossy(listed);
    let names = listed
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .filter_map(|line| line.split_whitespace().next());
    let mut names: Vec<&str> = names.collect();
    ensure!(names.contains(&"quickstart"), "`renmei init` lists no presets");
    if names.contains(&"league") {
        // Files that the league's own names.
        names.extend(["kawa", "mori"]);
    }
    for name in names {
        let file = root().join(format!("configs/{name}.toml"));
        let text = String::from_utf8(tree::read(&file)?)
            .with_context(|| format!("`{}` is no text", file.display()))?;
        tree.add(&format!("presets/{name}.toml"), text.replace("configs/", ""));
    }
    Ok(())
}

fn bill_of_materials() -> Result<Vec<u8>> {
    let scratch = Scratch::new("dist-sbom")?;
    let file = scratch.file("renmei.cdx.json");
    let mut sbom = cargo(["run", "--quiet", "--package", "xtask", "--", "sbom", "--output"]);
    ensure!(workspace::run(sbom.arg(&file))?.success(), "`cargo xtask sbom` failed");
    tree::read(&file)
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(file, bytes).with_context(|| format!("`{}` could not be written", file.display()))
}

/// Artefacts of a directory in order.
fn artefacts(directory: &Path) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(directory).with_context(|| {
        format!("there is nothing in `{}`; `cargo xtask dist` makes it", directory.display())
    })?;
    let mut files: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file() && file.file_name().is_some_and(|name| name != SUMS));
    files.sort();
    Ok(files)
}

/// Writes the hashes of all artefacts, as `sha256sum --check` reads them.
fn sum(directory: &Path) -> Result<()> {
    let mut sums = String::new();
    for file in artefacts(directory)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sums += &format!("{}  {name}\n", image::hex(&tree::read(&file)?));
    }
    write(&directory.join(SUMS), sums.as_bytes())
}

fn list(directory: &Path) -> Result<()> {
    println!("\nin {}:", directory.display());
    for file in artefacts(directory)? {
        let bytes = fs::metadata(&file)?.len();
        println!("  {:>6.1} MB  {}", bytes as f64 / 1e6, file.file_name().unwrap_or_default().display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_names_targets_and_without_one_all_are_made() {
        let wish =
            |words: &[&str]| Wish::read(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(wish(&[]).unwrap().targets.len(), TARGETS.len());
        let one = wish(&["--target", "x86_64-pc-windows-gnu", "--try"]).unwrap();
        assert!(one.tries && one.targets.len() == 1 && one.targets[0].ending == ".exe");
        for (words, told) in [
            (&["--target", "vax"][..], "no target `vax`; there are x86_64-unknown-linux-musl, "),
            (&["--target"], "`--target` needs a value"),
            (&["--fast"], "unknown flag `--fast`"),
        ] {
            let fault = wish(words).err().map(|fault| fault.to_string()).unwrap_or_default();
            assert!(fault.starts_with(told), "{fault}");
        }
    }

    #[test]
    fn presets_are_those_that_the_program_lists_and_name_no_directory_of_the_repository() {
        let mut tree = Tree::default();
        presets(
            &mut tree,
            b"quickstart  A first league\nleague      A league\n\nrenmei init PRESET writes one\n",
        )
        .unwrap();
        let paths: Vec<_> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(
            paths,
            ["presets/kawa.toml", "presets/league.toml", "presets/mori.toml", "presets/quickstart.toml"]
        );
        let text = tree.get("presets/quickstart.toml").unwrap();
        assert!(!String::from_utf8_lossy(&text.bytes).contains("configs/"));
    }
}

//! Licences of what the programs are compiled of, to be handed on with them.

use anyhow::{Context, Result};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};
use xtask::{
    cross::registry,
    workspace::{self, cargo},
};

/// Beginnings of the names of files with licences and notices.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
/// What is compiled in without being a package of Cargo.lock.
const FURTHER: &str = "\
Further parts: Rust's standard library (MIT OR Apache-2.0), SQLite (public domain), in the programs for Linux the C library
musl (MIT), in those for Windows the runtime of mingw-w64 (public domain and BSD-like).
";

/// Each package with the name of its licence, then each distinct text with the packages that carry it.
pub fn text(target: &str) -> Result<String> {
    let mut tree = cargo(["tree", "--locked", "--package", "renmei", "--edges", "normal"]);
    tree.args(["--prefix", "none", "--format", "{p}|{l}", "--target", target]);
    let listed = workspace::text(&mut tree)?;
    // A package of this workspace has its directory behind its version.
    let lines = listed.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.contains(" (/"));
    let mut head = String::from("Packages that are compiled into these programs, and their licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (package, licence) in lines.filter_map(|line| line.split_once('|')).collect::<BTreeSet<_>>() {
        let words: Vec<_> = package.split(' ').take(2).map(|word| word.trim_start_matches('v')).collect();
        head += &format!("{} {}: {licence}\n", words[0], words[words.len() - 1]);
        for text in of_package(&words.join("-"))? {
            texts.entry(text).or_default().push(words.join(" "));
        }
    }
    let part = |(text, names): (String, Vec<_>)| {
        format!("\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim())
    };
    Ok(format!("{head}\n{FURTHER}{}", texts.into_iter().map(part).collect::<String>()))
}

/// The texts that lie beside a package's manifest.
fn of_package(name: &str) -> Result<Vec<String>> {
    let sources = fs::read_dir(registry().join("src"))?.flatten().map(|source| source.path().join(name));
    let directory = sources.into_iter().find(|place| place.is_dir());
    let directory = directory.with_context(|| format!("the source of `{name}` is not in the registry"))?;
    let is_licence = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && NAMES.iter().any(|known| name.starts_with(known))
    };
    let files: BTreeSet<_> = fs::read_dir(directory)?.flatten().map(|entry| entry.path()).collect();
    let text = |file| Ok(String::from_utf8_lossy(&fs::read(file)?).replace("\r\n", "\n"));
    files.iter().filter(|path| is_licence(path)).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_are_compiled_in_are_named_with_their_licences_and_tests_are_not() {
        let text = text("x86_64-unknown-linux-gnu").unwrap();
        let head = text.split(&"=".repeat(80)).next().unwrap();
        assert!(head.contains("\nrsshogi 1.7.3: MIT\n") && head.contains("SQLite (public domain)"), "{head}");
        assert!(!head.contains("\nproptest ") && !head.contains("\nrenmei "), "{head}");
        assert!(text.contains("Permission is hereby granted"));
    }
}

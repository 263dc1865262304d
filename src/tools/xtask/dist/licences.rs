//! The licences of everything that is compiled into the programs, which ask to be handed on with them.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
};
use xtask::workspace::cargo;

/// Beginnings of the names of files with licences and notices.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
/// What is compiled in without being a package of Cargo.lock.
const FURTHER: &str = "\
Further parts: Rust's standard library (MIT OR Apache-2.0), SQLite (public domain), in the programs for Linux the C library
musl (MIT), in those for Windows the runtime of mingw-w64 (public domain and BSD-like).
";

/// The text: each package with the name of its licence, then each distinct text with the packages that carry it.
pub fn text(target: &str) -> Result<String> {
    let mut metadata = cargo(["metadata", "--locked", "--offline", "--format-version", "1"]);
    let output =
        metadata.args(["--filter-platform", target]).output().context("cargo could not be started")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    of(&serde_json::from_slice(&output.stdout).context("`cargo metadata` printed no JSON")?)
}

fn of(metadata: &Value) -> Result<String> {
    let wanted = compiled_in(metadata)?;
    let mut head = String::from("Packages that are compiled into these programs, and their licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages(metadata).filter(|package| is_foreign(package)) {
        if !wanted.contains(word(package, "id")) {
            continue;
        }
        let name = format!("{} {}", word(package, "name"), word(package, "version"));
        let licence = package["license"].as_str().unwrap_or("see its text");
        let _never_fails = writeln!(head, "{name}: {licence}");
        for text in of_package(Path::new(word(package, "manifest_path")))? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    head += &format!("\n{FURTHER}");
    for (text, names) in texts {
        let _never_fails = write!(head, "\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim());
    }
    Ok(head)
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Packages of this workspace have Renmei's own licence, and no source.
fn is_foreign(package: &Value) -> bool {
    package["source"].is_string()
}

/// Ids of what `renmei` is built of, build scripts and tests apart.
fn compiled_in(metadata: &Value) -> Result<BTreeSet<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let nodes: BTreeMap<&str, &Value> = nodes.map(|node| (word(node, "id"), node)).collect();
    let renmei = packages(metadata).find(|package| package["name"] == "renmei");
    let mut open = vec![word(renmei.context("there is no package `renmei`")?, "id")];
    let mut found = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !found.insert(id) {
            continue;
        }
        let of = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        let is_normal = |dep: &&Value| {
            dep["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
        };
        open.extend(of.filter(is_normal).map(|dep| word(dep, "pkg")));
    }
    Ok(found)
}

/// The texts that lie beside a manifest.
fn of_package(manifest: &Path) -> Result<Vec<String>> {
    let directory = manifest.parent().unwrap_or(manifest);
    let listed =
        fs::read_dir(directory).with_context(|| format!("`{}` cannot be read", directory.display()))?;
    let is_licence = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && NAMES.iter().any(|known| name.starts_with(known))
    };
    let mut files: Vec<_> =
        listed.flatten().map(|entry| entry.path()).filter(|path| is_licence(path)).collect();
    files.sort();
    let text = |file| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
    Ok(files.into_iter().map(text).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_compiled_in_is_what_is_reached_by_plain_dependencies() {
        let dep = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [{"name": "renmei", "id": "r"}],
            "resolve": {"nodes": [
                {"id": "r", "deps": [dep("a", Value::Null), dep("t", json!("dev")), dep("b", json!("build"))]},
                {"id": "a", "deps": [dep("c", Value::Null)]},
                {"id": "t", "deps": [dep("d", Value::Null)]},
            ]},
        });
        assert_eq!(compiled_in(&metadata).unwrap().into_iter().collect::<Vec<_>>(), ["a", "c", "r"]);
    }
}

//! A software bill of materials: what Cargo.lock builds, as CycloneDX JSON.
//!
//! Cargo.lock has all that such a list needs: names, versions, origins, checksums, and who depends on whom. Licences are
//! checked by `cargo xtask deny`.

use anyhow::{Context, Result};
use std::{fs, io::Write, process::ExitCode};
use xtask::workspace::root;

/// A package of Cargo.lock.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    /// SHA-256 of the package's file; absent for crates of this workspace.
    checksum: Option<&'a str>,
    /// Names, with the version where several are locked.
    dependencies: Vec<&'a str>,
}

/// Prints the list, or writes it to a file.
pub fn run(output: Option<&str>) -> Result<ExitCode> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("`Cargo.lock` cannot be read")?;
    let text = bill(&packages(&lock), env!("CARGO_PKG_VERSION"));
    match output {
        Some(file) => fs::write(file, text).with_context(|| format!("`{file}` cannot be written"))?,
        // Whoever reads the list may stop early.
        None => drop(std::io::stdout().write_all(text.as_bytes())),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads Cargo.lock, which cargo writes with one value or one list element a line.
fn packages(lock: &str) -> Vec<Package<'_>> {
    lock.split("[[package]]").skip(1).map(package).collect()
}

fn package(block: &str) -> Package<'_> {
    let line = |key: &str| {
        block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
    };
    let lines = block.lines().map(str::trim);
    Package {
        name: line("name").unwrap_or_default(),
        version: line("version").unwrap_or_default(),
        checksum: line("checksum"),
        dependencies: lines.filter_map(|line| line.strip_prefix('"')?.strip_suffix("\",")).collect(),
    }
}

impl Package<'_> {
    /// Its package URL, which names it in the list.
    fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }

    fn component(&self) -> String {
        let url = self.url();
        let hash = self.checksum.map(|sum| format!(r#","hashes":[{{"alg":"SHA-256","content":"{sum}"}}]"#));
        format!(
            r#"    {{"type":"library","bom-ref":"{url}","name":"{}","version":"{}","purl":"{url}"{}}}"#,
            self.name,
            self.version,
            hash.unwrap_or_default()
        )
    }

    fn is(&self, dependency: &str) -> bool {
        let mut words = dependency.split(' ');
        words.next() == Some(self.name) && words.next().is_none_or(|version| version == self.version)
    }
}

/// CycloneDX 1.5. Names and versions of crates have no character that JSON escapes.
fn bill(packages: &[Package<'_>], version: &str) -> String {
    let components: Vec<_> = packages.iter().map(Package::component).collect();
    let edges: Vec<_> = packages
        .iter()
        .map(|package| {
            let needed =
                packages.iter().filter(|other| package.dependencies.iter().any(|name| other.is(name)));
            let needed: Vec<_> = needed.map(|other| format!("\"{}\"", other.url())).collect();
            format!(r#"    {{"ref":"{}","dependsOn":[{}]}}"#, package.url(), needed.join(","))
        })
        .collect();
    format!(
        "{{\n  \"bomFormat\":\"CycloneDX\",\n  \"specVersion\":\"1.5\",\n  \"version\":1,\n  \"metadata\":{{\"component\":\
         {{\"type\":\"application\",\"name\":\"renmei\",\"version\":\"{version}\"}}}},\n  \"components\":[\n{}\n  ],\n  \
         \"dependencies\":[\n{}\n  ]\n}}\n",
        components.join(",\n"),
        edges.join(",\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> String {
        fs::read_to_string(root().join("Cargo.lock")).unwrap()
    }

    #[test]
    fn every_locked_package_is_in_the_list_with_its_checksum() {
        let lock = lock();
        let packages = packages(&lock);
        let text = bill(&packages, "0.1.0");
        assert_eq!(packages.len(), lock.matches("[[package]]").count());
        assert_eq!(text.matches("\"bom-ref\"").count(), packages.len());
        assert_eq!(
            text.matches("\"SHA-256\"").count(),
            lock.lines().filter(|line| line.starts_with("checksum")).count()
        );
        for package in &packages {
            assert!(!package.name.is_empty() && !package.version.is_empty(), "{package:?}");
            assert!(
                package.name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)),
                "{package:?}"
            );
            assert!(
                package.version.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b)),
                "{package:?}"
            );
        }
    }

    #[test]
    fn every_dependency_is_a_package_of_the_list() {
        let lock = lock();
        let packages = packages(&lock);
        for package in &packages {
            for dependency in &package.dependencies {
                let found = packages.iter().filter(|other| other.is(dependency)).count();
                assert_eq!(found, 1, "{} needs {dependency}", package.name);
            }
        }
        let renmei = packages.iter().find(|package| package.name == "renmei").unwrap();
        assert!(renmei.dependencies.contains(&"rsshogi") && renmei.checksum.is_none());
    }

    #[test]
    fn a_list_of_two_is_spelled_as_cyclonedx_has_it() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\n \"b\",\n]\n\n\
                    [[package]]\nname = \"b\"\nversion = \"2.0.0\"\nsource = \"registry\"\nchecksum = \"00ff\"\n";
        let text = bill(&packages(lock), "0.1.0");
        assert!(text.contains(r#"{"ref":"pkg:cargo/a@1.0.0","dependsOn":["pkg:cargo/b@2.0.0"]}"#), "{text}");
        assert!(
            text.contains(r#""purl":"pkg:cargo/b@2.0.0","hashes":[{"alg":"SHA-256","content":"00ff"}]}"#),
            "{text}"
        );
    }
}

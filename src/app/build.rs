//! What `renmei version` says of the build: commit, target, profile and compiler.

use std::{env, path::Path, process::Command};

/// Environment variable that names the commit where the build does not see the repository, or must not look.
const COMMIT: &str = "RENMEI_COMMIT";

fn main() {
    println!("cargo::rerun-if-env-changed={COMMIT}");
    println!("cargo::rerun-if-changed=src/app/build.rs");
    set("TARGET", env::var("TARGET").ok());
    set("PROFILE", profile());
    set("RUSTC", env::var("RUSTC").ok().and_then(|rustc| output(&rustc, &["--version"])));
    set("COMMIT", env::var(COMMIT).ok().or_else(commit));
}

fn set(name: &str, value: Option<String>) {
    println!("cargo::rustc-env=RENMEI_BUILD_{name}={}", value.unwrap_or_default());
}

/// The profile's directory: `OUT_DIR` is `PROFILE/build/renmei-HASH/out`; the variable `PROFILE` knows two of them only.
fn profile() -> Option<String> {
    let out = env::var("OUT_DIR").ok()?;
    Some(Path::new(&out).ancestors().nth(3)?.file_name()?.to_str()?.to_owned())
}

/// The commit that is checked out. Development builds have none: each commit would compile the program anew.
fn commit() -> Option<String> {
    if env::var("PROFILE").ok()? != "release" {
        return None;
    }
    let root = env::var("CARGO_MANIFEST_DIR").ok()?;
    let git = |words: &[&str]| output("git", &[&["-C", &root], words].concat());
    // Of another repository, if the source was unpacked in one.
    if Path::new(&git(&["rev-parse", "--show-toplevel"])?) != Path::new(&root) {
        return None;
    }
    // A line is added for each commit and each checkout.
    let log = Path::new(&root).join(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.is_file() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(&["rev-parse", "HEAD"])
}

fn output(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

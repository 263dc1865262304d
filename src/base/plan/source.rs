//! `source` of an engine: a commit of a repository, and how it is built.

use crate::{
    keys::{
        Fallback::{Is, Needed},
        Kind::{self, Flag, Other, Text},
    },
    reader::Table,
    settings::settings,
};
use serde::{Deserialize, Serialize};
use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

/// The word for uncommitted work, in place of a revision.
pub const WORKTREE: &str = "worktree";
/// Time for a build, unless the configuration says otherwise.
const BUILD_TIME: Duration = Duration::from_secs(3600);

settings! {
    /// A commit of a repository, and how it is built.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SourcePlan in "`source` of an engine",
        "The commit is checked out in a cache of Renmei's own and built there once; the repository itself is only \
         read. `build` is run as you, with all your rights: name no repository that you would not build by hand."
    with {
        /// The commit that was built; empty before.
        commit: String = String::new();
        /// The first line of its message; empty before.
        subject: String = String::new();
        /// Origin (`file:line`, or `command line`), for messages.
        #[serde(skip)]
        origin: String = String::new();
    };

    git: String = (String::new()) by location shown Needed, Text,
        "the repository: a directory, relative to that of this file, or a URL";
    rev: String = (String::new()) by (|table: &Table<'_>| filled(table, "rev")) shown Needed, Text,
        "the commit: anything that `git rev-parse` understands; `\"worktree\"`: the directory as it is, uncommitted \
         work included";
    build: String = (String::new()) by (|table: &Table<'_>| filled(table, "build")) shown Needed, Text,
        "the command that builds it, for `sh -c` in the top directory of the checkout";
    program: PathBuf = (PathBuf::new()) by program shown Needed, Text,
        "the program that the build makes, relative to the top directory";
    keep: Vec<PathBuf> = (vec![]) by keep shown Is("[]"), Other("texts"),
        "files and directories that the program reads and git does not track, relative to the top directory";
    timeout: #[serde(skip)] Duration = BUILD_TIME shown Is("\"1h\""), Kind::Duration { zero: false },
        "time after which a build is given up";
    incremental: bool = false, Flag,
        "leave what git ignores in the checkout from build to build, which is faster and trusts the build's own rules; \
         else every build begins clean";
}

/// Reads the source of an engine, if it has one, and notes its faults.
pub fn source(engine: &Table<'_>) -> Option<Option<SourcePlan>> {
    let item = engine.item("source")?;
    let table = engine.table("source", &SourcePlan::SECTION);
    table.require("git", "name the repository: a directory, or a URL");
    table.require("rev", "name a commit, a branch or a tag; `\"worktree\"` is uncommitted work");
    table.require("build", "write the command that builds the engine, such as \"make -j2\"");
    table.require("program", "name the program that the build makes, relative to the checkout");
    let source = SourcePlan { origin: item.context.line(item.at), ..SourcePlan::read(&table) };
    let complete = !source.git.is_empty() && !source.program.as_os_str().is_empty();
    complete.then_some(Some(source))
}

/// A text that is not empty.
fn filled(table: &Table<'_>, key: &str) -> Option<String> {
    let text = table.text(key)?;
    if text.trim().is_empty() {
        table.fault(key, "is empty");
    }
    Some(text)
}

fn program(table: &Table<'_>) -> Option<PathBuf> {
    inner(table, "program", table.text("program"))
}

fn keep(table: &Table<'_>) -> Option<Vec<PathBuf>> {
    let items = table.item("keep")?.elements("a list of texts");
    Some(items.iter().filter_map(|item| inner(table, "keep", item.scalar())).collect())
}

/// A repository: a URL as it is, a directory as an absolute path.
fn location(table: &Table<'_>) -> Option<String> {
    let git = table.text("git")?;
    if git.contains("://") || is_remote(&git) {
        return Some(git);
    }
    let path = table.context.environment.path(&git);
    if !path.is_dir() {
        table.fault("git", format!("there is no directory `{}`", path.display()));
    }
    Some(path.display().to_string())
}

/// True if a text is git's short form of a URL, `host:path`, and no path that begins with a drive.
fn is_remote(git: &str) -> bool {
    let has_drive = matches!(Path::new(git).components().next(), Some(Component::Prefix(_)));
    !has_drive && git.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

/// A path that stays within the checkout.
fn inner(table: &Table<'_>, key: &str, text: Option<String>) -> Option<PathBuf> {
    let path = PathBuf::from(text?);
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.as_os_str().is_empty() || !path.components().all(plain) {
        table.fault(
            key,
            "is not a path within the checkout; write it relative to the repository's top directory",
        );
        return None;
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_with_a_path_is_remote_and_a_directory_on_a_drive_is_not() {
        assert!(is_remote("box:engine.git") && is_remote("me@box:src/engine"));
        assert!(!is_remote("../engine") && !is_remote("/src/a:b"));
        assert_eq!(is_remote(r"C:\src\engine"), !cfg!(windows));
    }
}

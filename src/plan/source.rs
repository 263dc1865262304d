//! `source` of an engine: a commit of a repository, and how it is built.

use crate::{keys::SOURCE, reader::Table};
use serde::{Deserialize, Serialize};
use std::{path::PathBuf, time::Duration};

/// The word for uncommitted work, in place of a revision.
pub const WORKTREE: &str = "worktree";
/// Time for a build, unless the configuration says otherwise.
const BUILD_TIME: Duration = Duration::from_secs(3600);

/// A commit of a repository, and how it is built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePlan {
    /// The repository: an absolute path, or a URL.
    pub git: String,
    /// The revision, as git understands it; or [`WORKTREE`].
    pub rev: String,
    /// The command of the build, for `sh -c` in the checkout.
    pub build: String,
    /// The program that it makes, relative to the checkout.
    pub program: PathBuf,
    /// Files and directories of the checkout that the program needs and git does not track, relative to the checkout.
    pub keep: Vec<PathBuf>,
    /// Time after which a build is given up.
    #[serde(skip)]
    pub timeout: Duration,
    /// Whether what git ignores stays from build to build in the checkout.
    pub incremental: bool,
    /// The commit that was built; empty before.
    pub commit: String,
    /// The first line of its message; empty before.
    pub subject: String,
    /// Origin (`file:line`, or `command line`), for messages.
    #[serde(skip)]
    pub origin: String,
}

/// Reads the source of an engine and notes its faults; `None` without one, or after a fault.
pub fn source(engine: &Table<'_>) -> Option<SourcePlan> {
    let item = engine.item("source")?;
    let table = engine.table("source", &SOURCE);
    table.require("git", "name the repository: a directory, or a URL");
    table.require("rev", "name a commit, a branch or a tag; `\"worktree\"` is uncommitted work");
    table.require("build", "write the command that builds the engine, such as \"make -j2\"");
    table.require("program", "name the program that the build makes, relative to the checkout");
    let source = SourcePlan {
        git: table.text("git").map(|git| location(&table, &git)).unwrap_or_default(),
        rev: filled(&table, "rev"),
        build: filled(&table, "build"),
        program: inner(&table, "program", table.text("program")).unwrap_or_default(),
        keep: table
            .item("keep")
            .map(|list| list.elements("a list of texts"))
            .unwrap_or_default()
            .iter()
            .filter_map(|item| inner(&table, "keep", item.scalar()))
            .collect(),
        timeout: table.duration("timeout").unwrap_or(BUILD_TIME),
        incremental: table.flag("incremental", false),
        commit: String::new(),
        subject: String::new(),
        origin: item.context.line(item.at),
    };
    table.refuse_unknown();
    let complete = !source.git.is_empty() && !source.program.as_os_str().is_empty();
    complete.then_some(source)
}

/// A text that is not empty.
fn filled(table: &Table<'_>, key: &str) -> String {
    let text = table.text(key).unwrap_or_default();
    if table.has(key) && text.trim().is_empty() {
        table.fault(key, "is empty");
    }
    text
}

/// A repository: a URL as it is, a directory as an absolute path.
fn location(table: &Table<'_>, git: &str) -> String {
    if git.contains("://") || is_remote(git) {
        return git.to_owned();
    }
    let path = table.context.environment.path(git);
    if !path.is_dir() {
        table.fault("git", format!("there is no directory `{}`", path.display()));
    }
    path.display().to_string()
}

/// Whether a text is git's short form of a URL, `host:path`.
fn is_remote(git: &str) -> bool {
    git.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'))
}

/// A path that stays within the checkout.
fn inner(table: &Table<'_>, key: &str, text: Option<String>) -> Option<PathBuf> {
    let path = PathBuf::from(text?);
    let plain = |part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir);
    if path.as_os_str().is_empty() || !path.components().all(plain) {
        table.fault(
            key,
            "is not a path within the checkout; write it relative to the repository's top directory",
        );
        return None;
    }
    Some(path)
}

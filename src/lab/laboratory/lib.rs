//! Engines from a repository: the builds of its commits, and the search for the commit that lost strength.
//!
//! [`Cache::build`] makes a [`Built`] program of a [`SourcePlan`](plan::SourcePlan): it reads the user's repository
//! ([`git`]), checks the commit out in a clone of its own and runs the build there (`building`). [`bisection`] and
//! [`attribution`] are pure: they know counts of games and probabilities, and neither programs nor files.

// Tests share files with the examples, which know this crate by its name.
#[cfg(test)]
extern crate self as laboratory;

pub mod attribution;
pub mod bisection;
mod building;
mod cache;
mod engines;
pub mod git;
pub mod landscape;
mod log;
pub mod params;
pub mod queue;
pub mod spsa;

pub use building::Built;
pub use cache::{Cache, CachedBuild};
pub use engines::{NotBuilt, build_engine, build_engines};

use std::{io, path::PathBuf, time::Duration};

/// Why a program cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A command of git failed.
    #[error("git {command} in `{}` failed: {says}", directory.display())]
    Git {
        /// The command.
        command: String,
        /// Where it was run.
        directory: PathBuf,
        /// What it said.
        says: String,
    },
    /// git could not be started.
    #[error("git could not be started: {0}; it has to be installed for engines with a `source`")]
    NoGit(io::Error),
    /// The build of a commit failed.
    #[error("the build of {commit} failed: {why}{tail}\n  the whole log: {}", log.display())]
    Build {
        /// The commit, with its subject.
        commit: String,
        /// How it failed.
        why: String,
        /// The last lines of its log, each on a line of its own.
        tail: String,
        /// The log.
        log: PathBuf,
    },
    /// The build was interrupted.
    #[error("the build was interrupted; the same command begins it again")]
    Interrupted,
    /// A file of the cache.
    #[error("{what} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no place for a cache.
    #[error("there is no place for the builds: set RENMEI_CACHE, XDG_CACHE_HOME or HOME to a directory")]
    NoPlace,
    /// Commits that are not a line from good to bad.
    #[error("{0}")]
    History(String),
}

impl LabError {
    pub(crate) fn io(what: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { what, path, source }
    }
}

/// What a build may ask of its surroundings while it runs.
pub struct Surroundings<'a> {
    /// Shows a line to people.
    pub say: &'a dyn Fn(&str),
    /// Whether to give up.
    pub stopped: &'a dyn Fn() -> bool,
}

/// Time between two looks at a build that runs.
pub(crate) const GLANCE: Duration = Duration::from_millis(20);

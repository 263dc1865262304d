//! The git command line, without the habits of whoever runs it: no hooks, no pager, no questions, and none of the
//! variables by which a hook tells git where it is.

use crate::{GLANCE, LabError};
use platform::programs::{Order, order};
use std::{
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Digits of a commit that people are shown.
const SHOWN: usize = 10;

/// Time for git to end what it has started, once it is not wanted any more.
const LEAVING: Duration = Duration::from_secs(2);

/// A directory in which git is run.
#[derive(Clone, Debug)]
pub struct Git {
    directory: PathBuf,
    environment: Vec<(&'static str, PathBuf)>,
}

impl Git {
    /// Git in a directory.
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_path_buf(), environment: vec![] }
    }

    /// The same with a variable.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &Path) -> Self {
        self.environment.push((name, value.to_path_buf()));
        self
    }

    /// Runs a command; returns its output without the last line break.
    ///
    /// # Errors
    /// When git is absent or the command fails.
    pub fn run(&self, words: &[&str]) -> Result<String, LabError> {
        let output = self.command(words).output().map_err(LabError::NoGit)?;
        self.result(words, output.status, &output.stdout, &output.stderr)
    }

    /// Runs a command that may wait for another machine, until `stopped`.
    ///
    /// # Errors
    /// When git is absent, the command fails, or it was stopped.
    pub fn run_until(&self, words: &[&str], stopped: &dyn Fn() -> bool) -> Result<String, LabError> {
        let mut command = self.command(words);
        let mut git =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(LabError::NoGit)?;
        let (out, said) = (whole(git.stdout.take()), whole(git.stderr.take()));
        let status = loop {
            match git.try_wait().map_err(LabError::NoGit)? {
                Some(status) => break status,
                None if stopped() => {
                    end(&mut git);
                    return Err(LabError::Interrupted);
                }
                None => thread::sleep(GLANCE),
            }
        };
        let [out, said] = [out, said].map(|reader| reader.join().unwrap_or_default());
        self.result(words, status, &out, &said)
    }

    fn result(
        &self,
        words: &[&str],
        status: ExitStatus,
        out: &[u8],
        said: &[u8],
    ) -> Result<String, LabError> {
        if status.success() {
            return Ok(String::from_utf8_lossy(out).trim_end().to_owned());
        }
        let says = String::from_utf8_lossy(said).trim().replace('\n', "\n  ");
        Err(LabError::Git { command: words.join(" "), directory: self.directory.clone(), says })
    }

    /// True if a command succeeds.
    pub fn succeeds(&self, words: &[&str]) -> bool {
        self.command(words).output().is_ok_and(|output| output.status.success())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("git");
        clean(&mut command);
        command.current_dir(&self.directory).stdin(Stdio::null());
        for setting in
            ["core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "advice.detachedHead=false"]
        {
            command.args(["-c", setting]);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.args(words);
        command
    }
}

/// Reads what a process prints until it closes its end.
fn whole(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = vec![];
        let _what_there_is = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        bytes
    })
}

/// Ends git; it ends its own helpers when it is asked to.
fn end(git: &mut Child) {
    let asked = order(git.id(), Order::End);
    let until = Instant::now() + LEAVING;
    while asked.is_ok() && Instant::now() < until && matches!(git.try_wait(), Ok(None)) {
        thread::sleep(GLANCE);
    }
    let _gone_already = (git.kill(), git.wait());
}

/// Takes from a command what a git around it has left in the environment.
pub(crate) fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("GIT_") && !name.starts_with("GIT_SSH")) {
            command.env_remove(name);
        }
    }
}

/// The first digits of a commit.
pub fn short(commit: &str) -> &str {
    commit.get(..SHOWN).unwrap_or(commit)
}

/// A commit and the first line of its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its hash in hexadecimal digits.
    pub id: String,
    /// The first line of its message, without control characters.
    pub subject: String,
}

impl Commit {
    /// Reads a line of `git log --format='%H %s'`.
    fn of(line: &str) -> Self {
        let (id, subject) = line.split_once(' ').unwrap_or((line, ""));
        let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        Self { id: id.to_owned(), subject: subject.chars().map(shown).collect() }
    }
}

impl std::fmt::Display for Commit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", short(&self.id), self.subject)
    }
}

/// The commit of a hash, in a repository that has it.
///
/// # Errors
/// When there is no such commit.
pub fn commit(repository: &Git, id: &str) -> Result<Commit, LabError> {
    repository
        .run(&["log", "-1", "--no-show-signature", "--format=%H %s", "--end-of-options", id])
        .map(|line| Commit::of(&line))
}

/// The commits after `good` up to `bad`, in their order; with `first_parent` those of the main line, where a merge counts
/// as one commit.
///
/// # Errors
/// When `bad` does not come after `good`, or the commits between them are no line.
pub fn line(repository: &Git, good: &str, bad: &str, first_parent: bool) -> Result<Vec<Commit>, LabError> {
    let (shown_good, shown_bad) = (short(good), short(bad));
    if !repository.succeeds(&["merge-base", "--is-ancestor", good, bad]) {
        let why = format!(
            "{shown_bad} does not come after {shown_good}: the good commit comes first, and the bad one after it in one history"
        );
        return Err(LabError::History(why));
    }
    let range = format!("{good}..{bad}");
    let mut words =
        vec!["log", "--reverse", "--topo-order", "--no-show-signature", "--format=%H %P%x00%H %s"];
    words.push(if first_parent { "--first-parent" } else { "--ancestry-path" });
    words.push(&range);
    let text = repository.run(&words)?;
    let (mut commits, mut before) = (vec![], good.to_owned());
    for entry in text.lines() {
        let (parents, shown) = entry.split_once('\0').unwrap_or((entry, ""));
        let parents: Vec<&str> = parents.split(' ').skip(1).collect();
        let follows = if first_parent {
            parents.first() == Some(&before.as_str())
        } else {
            parents == [before.as_str()]
        };
        if !follows {
            let why = match first_parent {
                true => format!(
                    "the main line of {shown_bad} does not lead over {shown_good}: name a good commit on it, or leave out --first-parent"
                ),
                false => format!(
                    "the history from {shown_good} to {shown_bad} has merges, and is no line to search: --first-parent takes each merge as one commit"
                ),
            };
            return Err(LabError::History(why));
        }
        let commit = Commit::of(shown);
        before.clone_from(&commit.id);
        commits.push(commit);
    }
    match commits.is_empty() {
        true => Err(LabError::History(format!("there is no commit after {shown_good} up to {shown_bad}"))),
        false => Ok(commits),
    }
}

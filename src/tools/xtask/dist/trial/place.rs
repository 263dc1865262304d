//! Where an artefact is tried.

use anyhow::{Context, Result, bail, ensure};
use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A place with nothing of Renmei in it.
pub trait Place {
    /// Its name in the table.
    fn name(&self) -> String;
    /// Unpacks or installs an artefact.
    fn install(&mut self, artefact: &Path) -> Result<()>;
    /// A command of the installed `renmei` in the working directory. Everything that it started ends with it.
    fn command(&self, words: &[&str]) -> Command;
    /// The working directory, as this machine sees it.
    fn work(&self) -> PathBuf;
    /// Uninstalls, and fails by what is left.
    fn remove(&mut self) -> Result<()>;
}

/// A running `renmei`.
pub struct Running(Child);

impl Running {
    pub fn start(mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Self(command.spawn().context("a trial could not be started")?))
    }

    /// Kills it as a power cut would.
    pub fn kill(mut self) -> Result<()> {
        self.0.kill().context("a trial could not be killed")?;
        self.0.wait().context("a trial could not be awaited")?;
        Ok(())
    }

    /// Its last words, if it has ended.
    pub fn ended(&mut self) -> Result<Option<String>> {
        let Some(status) = self.0.try_wait()? else { return Ok(None) };
        Ok(Some(format!("{status}, {}{}", self.text(false)?, self.text(true)?)))
    }

    /// Its standard output, once it has succeeded.
    pub fn finish(mut self, patience: Duration) -> Result<String> {
        let limit = Instant::now() + patience;
        loop {
            if let Some(status) = self.0.try_wait()? {
                let (out, faults) = (self.text(false)?, self.text(true)?);
                ensure!(status.success(), "the league ended with {status}: {out}{faults}");
                return Ok(out + &faults);
            }
            if Instant::now() >= limit {
                self.0.kill()?;
                bail!("the league took more than {} s", patience.as_secs());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// What it wrote; a league with `--quiet` writes less than a pipe holds.
    fn text(&mut self, of_stderr: bool) -> Result<String> {
        let mut text = Vec::new();
        match (of_stderr, &mut self.0.stdout, &mut self.0.stderr) {
            (false, Some(pipe), _) => pipe.read_to_end(&mut text)?,
            (true, _, Some(pipe)) => pipe.read_to_end(&mut text)?,
            _ => 0,
        };
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// Every path below a directory, without links followed and without what other file systems show there.
pub fn paths(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        let listed =
            fs::read_dir(&directory).with_context(|| format!("`{}` cannot be read", directory.display()))?;
        for entry in listed {
            let entry = entry?;
            let path = entry.path();
            let below = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
            if ["proc", "sys", "dev"].iter().any(|other| below == Path::new(other)) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                open.push(path);
            }
            found.insert(below);
        }
    }
    Ok(found)
}

/// Fails by paths that were not there before.
pub fn ensure_traceless(root: &Path, before: &BTreeSet<PathBuf>) -> Result<()> {
    let after = paths(root)?;
    let left: Vec<_> = after.difference(before).map(|path| path.display().to_string()).collect();
    ensure!(left.is_empty(), "left behind: {}", left.join(", "));
    Ok(())
}

/// Removes a directory with everything in it.
pub fn remove(directory: &Path) -> Result<()> {
    match directory.exists() {
        true => fs::remove_dir_all(directory)
            .with_context(|| format!("`{}` could not be removed", directory.display())),
        false => Ok(()),
    }
}

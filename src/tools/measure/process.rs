//! Programs that are measured: they end with the value that stands for them.

use crate::measure::kib;
use anyhow::{Context, Result, bail, ensure};
use nix::{
    sys::signal::{self, Signal},
    unistd::Pid,
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};
use xtask::{
    args::Flags,
    workspace::{build_release, release},
};

/// Interval of polls.
const GLANCE: Duration = Duration::from_millis(10);

/// The program of `--program`, or the release build of the manager.
pub fn program(flags: &Flags) -> Result<PathBuf> {
    if let Some(program) = flags.text("--program") {
        return Ok(PathBuf::from(program));
    }
    build_release(false)?;
    Ok(release("renmei"))
}

/// A running program and its log.
#[derive(Debug)]
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program with its stderr in a new log.
    pub fn start(command: &mut Command, log: &Path) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(log)?);
        Self::spawn(command, log)
    }

    /// Starts a program whose streams are set; `log` is the file of its output.
    pub fn spawn(command: &mut Command, log: &Path) -> Result<Self> {
        let child = command.spawn().with_context(|| format!("{command:?} could not be started"))?;
        Ok(Self { child, log: log.to_owned() })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// False once it has ended.
    pub fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// The text of its log.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The rest of the first line of its log that begins with `words`, as soon as the line is complete.
    pub fn logged(&mut self, words: &str) -> Result<String> {
        loop {
            let log = self.log();
            let line = log.lines().find_map(|line| line.strip_prefix(words));
            match line.filter(|_| log.ends_with('\n')) {
                Some(rest) => return Ok(rest.trim().to_owned()),
                None => ensure!(self.is_running()?, "the program did not print `{words}`:\n{log}"),
            }
            thread::sleep(GLANCE);
        }
    }

    /// A value of /proc/PID/status in MiB.
    pub fn megabytes(&self, key: &str) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()));
        Ok(kib(&status.context("the program has ended")?, key).unwrap_or(0) / 1024)
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(signal::kill(Pid::from_raw(self.pid().cast_signed()), signal)?)
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it does not end in time; it is killed then.
    pub fn end(&mut self, patience: Duration) -> Result<ExitStatus> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if begun.elapsed() > patience {
                self.kill()?;
                bail!("the program did not end within {patience:?}");
            }
            thread::sleep(GLANCE);
        }
    }

    /// Ends it by SIGTERM, as an operator does.
    ///
    /// # Errors
    /// When it has ended before, does not end in time, or ends with another exit code than this one.
    pub fn terminate(&mut self, patience: Duration, code: i32) -> Result<()> {
        self.signal(Signal::SIGTERM).context("the program ended before SIGTERM")?;
        let status = self.end(patience)?;
        let log = self.log();
        let last = log.lines().rev().take(10).collect::<Vec<_>>();
        ensure!(
            status.code() == Some(code),
            "the program ended with {status}; last lines, backwards: {last:#?}"
        );
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _reaped_already = self.child.wait();
    }
}

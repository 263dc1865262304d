//! A program that runs beside this one: what it writes goes into files, and dropping it kills it.

use anyhow::{Context, Result, bail, ensure};
use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// How long anything may take before it counts as hanging; the machine may be busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// Interval of polls.
const GLANCE: Duration = Duration::from_millis(20);

/// A program that runs. Dropping it kills it.
pub struct Running {
    child: Child,
    /// The files of its standard output and of its errors.
    written: [PathBuf; 2],
}

/// What a program has written, and how it ended.
pub struct Finished {
    /// Its exit code.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its errors.
    pub stderr: String,
}

impl Running {
    /// Starts a program; its standard output and its errors are written to these files.
    ///
    /// # Errors
    /// When it cannot be started, or a file cannot be created.
    pub fn start(command: &mut Command, written: [PathBuf; 2]) -> Result<Self> {
        command.stdout(File::create(&written[0])?).stderr(File::create(&written[1])?);
        let child = command.stdin(Stdio::null()).spawn();
        Ok(Self { child: child.with_context(|| format!("{command:?} could not be started"))?, written })
    }

    /// Number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn text(&self) -> [String; 2] {
        let read = |file| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
        self.written.each_ref().map(read)
    }

    /// Waits for a line that contains a text, and returns it.
    ///
    /// # Errors
    /// When the program ends without it, or does not write it in time.
    pub fn wait_for(&mut self, text: &str) -> Result<String> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let ended = self.child.try_wait()?;
            let said = self.text().concat();
            // The last line may not be whole.
            let mut lines = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            if let Some(line) = lines.find(|line| line.contains(text)) {
                return Ok(line.trim_end().to_owned());
            }
            ensure!(ended.is_none(), "it ended without `{text}`:\n{said}");
            thread::sleep(GLANCE);
        }
        bail!("`{text}` was not said:\n{}", self.text().concat())
    }

    /// Kills it as `kill -9` does: it is not asked.
    ///
    /// # Errors
    /// When it cannot be killed.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn finish(&mut self) -> Result<Finished> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                let [stdout, stderr] = self.text();
                return Ok(Finished { code: status.code(), stdout, stderr });
            }
            let limit = PATIENCE.as_secs();
            ensure!(Instant::now() < end, "it did not end within {limit} s:\n{}", self.text().concat());
            thread::sleep(GLANCE);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = (self.child.kill(), self.child.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Scratch;

    #[test]
    fn a_line_is_waited_for_and_everything_that_was_written_is_there_in_the_end() {
        let scratch = Scratch::new("running-test").unwrap();
        let start = || {
            let mut program = Command::new("sh");
            program.args(["-c", "echo game 7; echo fault >&2; exit 3"]);
            Running::start(&mut program, [scratch.file("out"), scratch.file("err")]).unwrap()
        };
        let mut running = start();
        assert_eq!(running.wait_for("game ").unwrap(), "game 7");
        let Finished { code, stdout, stderr } = running.finish().unwrap();
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(3), "game 7\n", "fault\n"));
        let fault = start().wait_for("game 8").unwrap_err().to_string();
        assert!(fault.starts_with("it ended without `game 8`:\ngame 7\n"), "{fault}");
    }
}

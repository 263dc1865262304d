//! Programs of another system: where they are, how they are started, read and killed.

use super::System;
use anyhow::{Context, Result, bail, ensure};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use xtask::{
    cross::{CrossRoot, TARGET},
    workspace::{Scratch, target},
};

/// How long anything may take before it counts as hanging; the machine may be busy with other things.
const PATIENCE: Duration = Duration::from_secs(600);
/// The programs of an event; all but the first are engines.
const PROGRAMS: [&str; 3] = ["renmei", "renmei-random", "renmei-pairwise"];

/// The cross root, with the programs of a system in a directory of this run.
pub struct Place<'a> {
    system: &'a System,
    root: &'a CrossRoot,
    scratch: Scratch,
}

impl<'a> Place<'a> {
    /// Puts the programs into a new directory.
    pub fn new(system: &'a System, root: &'a CrossRoot) -> Result<Self> {
        let scratch = Scratch::new("cross/trial")?;
        let built = target().join("cross").join(system.target.built("dev"));
        for program in PROGRAMS {
            let program = format!("{program}{}", system.target.ending);
            let copied = fs::copy(built.join(&program), scratch.file(&program));
            copied.with_context(|| format!("`{program}` was not built"))?;
        }
        Ok(Self { system, root, scratch })
    }

    /// A new directory of a trial.
    pub fn desk(&self, name: &str) -> Result<Desk<'_>> {
        let path = self.scratch.file(name);
        fs::create_dir(&path).with_context(|| format!("`{}`", path.display()))?;
        Ok(Desk { place: self, path })
    }

    /// A path of this run as the root sees it.
    fn inside(&self, path: &Path) -> PathBuf {
        Path::new(TARGET).join(path.strip_prefix(target().join("cross")).unwrap_or(path))
    }

    /// Processes of this machine that are engines of this run.
    pub fn engines(&self) -> Vec<String> {
        let run = self.scratch.file("").components().next_back().map(|name| name.as_os_str().to_owned());
        let run = run.unwrap_or_default().to_string_lossy().into_owned();
        let mut found = vec![];
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains(&run) && PROGRAMS[1..].iter().any(|engine| line.contains(engine)) {
                found.push(format!("{} {line}", process.file_name().to_string_lossy()));
            }
        }
        found
    }

    /// Waits until no engine of this run is left.
    pub fn no_engine_is_left(&self) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let left = self.engines();
            if left.is_empty() {
                return Ok(());
            }
            ensure!(Instant::now() < end, "engines were left behind: {}", left.join("; "));
            thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The directory of a trial.
pub struct Desk<'a> {
    place: &'a Place<'a>,
    pub path: PathBuf,
}

impl Desk<'_> {
    /// Writes a file of this trial.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        fs::write(self.path.join(name), text).with_context(|| name.to_owned())
    }

    /// What is in a file of this trial.
    pub fn read(&self, name: &str) -> Result<String> {
        fs::read_to_string(self.path.join(name)).with_context(|| name.to_owned())
    }

    /// Starts `renmei` with these arguments, in this directory.
    pub fn start(&self, arguments: &[&str]) -> Result<Running> {
        let (place, system) = (self.place, self.place.system);
        let renmei = place.inside(&place.scratch.file(&format!("renmei{}", system.target.ending)));
        let mut words = vec![renmei.to_string_lossy().into_owned()];
        words.extend(arguments.iter().map(|&word| word.to_owned()));
        self.start_program(&words)
    }

    /// Starts a program of the system, in this directory. What it writes goes into files beside the trial's.
    pub fn start_program(&self, words: &[String]) -> Result<Running> {
        let (place, system) = (self.place, self.place.system);
        let number = fs::read_dir(&self.path)?.count();
        let written = [".out", ".err"].map(|end| self.path.join(format!("{number}{end}")));
        let mut command = (system.enter)(place.root, "env");
        command.arg("-C").arg(place.inside(&self.path)).arg(system.target.runner).args(words);
        Running::start(command.env_remove("RENMEI_REQUIRE_ALL"), written)
    }

    /// Runs `renmei` to its end; what it wrote.
    pub fn run(&self, arguments: &[&str]) -> Result<Finished> {
        self.start(arguments)?.finish().with_context(|| format!("renmei {}", arguments.join(" ")))
    }

    /// Runs `renmei`, which has to succeed.
    pub fn succeed(&self, arguments: &[&str]) -> Result<Finished> {
        let finished = self.run(arguments)?;
        let (code, words) = (finished.code, arguments.join(" "));
        ensure!(
            code == Some(0),
            "`renmei {words}` ended with {code:?}:\n{}{}",
            finished.stdout,
            finished.stderr
        );
        Ok(finished)
    }
}

/// What a program has written, and how it ended.
pub struct Finished {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A program that runs. Dropping it kills it.
pub struct Running {
    child: Child,
    /// The files of its standard output and of its errors.
    written: [PathBuf; 2],
}

impl Running {
    fn start(command: &mut Command, written: [PathBuf; 2]) -> Result<Self> {
        command.stdout(File::create(&written[0])?).stderr(File::create(&written[1])?);
        Ok(Self { child: command.stdin(Stdio::null()).spawn()?, written })
    }

    fn text(&self) -> [String; 2] {
        let read = |file| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
        self.written.each_ref().map(read)
    }

    /// Waits for a line that contains a text, and returns it.
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
            thread::sleep(Duration::from_millis(20));
        }
        bail!("`{text}` was not said:\n{}", self.text().concat())
    }

    /// Kills it as `kill -9` does: it is not asked.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Sends what Wine hands on as Ctrl-C.
    pub fn interrupt(&mut self) -> Result<()> {
        let process = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &process]).status()?;
        ensure!(sent.success(), "process {process} is gone");
        // Signals that come closer together are one.
        thread::sleep(Duration::from_millis(1500));
        Ok(())
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Result<Finished> {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait()? {
                let [stdout, stderr] = self.text();
                return Ok(Finished { code: status.code(), stdout, stderr });
            }
            let limit = PATIENCE.as_secs();
            ensure!(Instant::now() < end, "it did not end within {limit} s:\n{}", self.text().concat());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = (self.child.kill(), self.child.wait());
    }
}

/// Waits until something is so.
pub fn until(what: &str, is_so: impl Fn() -> bool) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        ensure!(Instant::now() < end, "it never happened within {} s that {what}", PATIENCE.as_secs());
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_waited_for_and_everything_that_was_written_is_there_in_the_end() {
        let scratch = Scratch::new("place-test").unwrap();
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

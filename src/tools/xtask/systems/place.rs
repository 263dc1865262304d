//! Programs under Wine: where they are, how they are started, read and killed.

use super::TRIPLE;
use anyhow::{Context, Result, bail, ensure};
use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};
use xtask::{
    cross::{CrossRoot, TARGET},
    workspace::{Scratch, target},
};

/// How long anything may take before it counts as hanging; the machine may be busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// The programs of an event.
const PROGRAMS: [&str; 3] = ["renmei.exe", "renmei-random.exe", "renmei-pairwise.exe"];
/// What engines are recognized by among the processes of this machine.
const ENGINES: [&str; 2] = ["renmei-random.exe", "renmei-pairwise.exe"];

/// Wine in the cross root, with the programs in a directory of this run.
pub struct Wine<'a> {
    root: &'a CrossRoot,
    scratch: Scratch,
    /// The directory as the root sees it.
    inside: String,
}

impl<'a> Wine<'a> {
    /// Puts the programs into a new directory.
    pub fn new(root: &'a CrossRoot) -> Result<Self> {
        let scratch = Scratch::new("cross/windows")?;
        let name = scratch.file("").file_name().map(|name| name.to_string_lossy().into_owned());
        let inside = format!("{TARGET}/{}", name.context("the directory has no name")?);
        let built = target().join("cross/build").join(TRIPLE).join("debug");
        for program in PROGRAMS {
            let copied = fs::copy(built.join(program), scratch.file(program));
            copied.with_context(|| format!("`{program}` was not built"))?;
        }
        Ok(Self { root, scratch, inside })
    }

    /// A new directory of a trial.
    pub fn desk(&self, name: &str) -> Result<Desk<'_>> {
        let path = self.scratch.file(name);
        fs::create_dir(&path).with_context(|| format!("`{}`", path.display()))?;
        Ok(Desk { wine: self, path, inside: format!("{}/{name}", self.inside) })
    }

    /// Processes of this machine that are engines of this run.
    pub fn engines(&self) -> Vec<String> {
        let run = self.inside.trim_start_matches(TARGET).trim_start_matches('/');
        let mut found = vec![];
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains(run) && ENGINES.iter().any(|engine| line.contains(engine)) {
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
    pub wine: &'a Wine<'a>,
    pub path: PathBuf,
    /// As the root sees it.
    pub inside: String,
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

    /// `renmei` with these arguments, in this directory.
    pub fn renmei(&self, arguments: &[&str]) -> Command {
        let mut command = self.program("wine");
        command.arg(format!("{}/renmei.exe", self.wine.inside)).args(arguments);
        command.env_remove("RENMEI_REQUIRE_ALL").stdin(Stdio::null());
        command
    }

    /// A program of the root, in this directory.
    pub fn program(&self, name: &str) -> Command {
        let mut command = self.wine.root.command("env");
        command.args(["-C", &self.inside, name]);
        command
    }

    /// Runs `renmei` to its end; what it wrote.
    pub fn run(&self, arguments: &[&str]) -> Result<Finished> {
        let running = Running::start(&mut self.renmei(arguments))?;
        running.finish().with_context(|| format!("renmei {}", arguments.join(" ")))
    }

    /// Runs `renmei`, which has to succeed.
    pub fn succeed(&self, arguments: &[&str]) -> Result<Finished> {
        let finished = self.run(arguments)?;
        ensure!(
            finished.code == Some(0),
            "`renmei {}` ended with {:?}:\n{}{}",
            arguments.join(" "),
            finished.code,
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
    lines: mpsc::Receiver<Line>,
    stdout: String,
    stderr: String,
}

/// A line that a program has written.
enum Line {
    Out(String),
    Error(String),
}

/// Reads lines on a thread of its own until the other end is closed.
fn read_lines(stream: impl Read + Send + 'static, lines: mpsc::Sender<Line>, of: fn(String) -> Line) {
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = vec![];
        // What nobody wants any more is read on, so that the program is not held up.
        while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let _nobody_listens = lines.send(of(String::from_utf8_lossy(&line).trim_end().to_owned()));
            line.clear();
        }
    });
}

impl Running {
    /// Starts a command whose lines are awaited.
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (sender, lines) = mpsc::channel();
        read_lines(child.stdout.take().context("stdout")?, sender.clone(), Line::Out);
        read_lines(child.stderr.take().context("stderr")?, sender, Line::Error);
        Ok(Self { child, lines, stdout: String::new(), stderr: String::new() })
    }

    /// Takes the next line, if it comes before `end` and the program has not closed its streams.
    fn next(&mut self, end: Instant) -> Option<String> {
        let line = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
        let (kept, line) = match line {
            Line::Out(line) => (&mut self.stdout, line),
            Line::Error(line) => (&mut self.stderr, line),
        };
        *kept += &format!("{line}\n");
        Some(line)
    }

    /// Waits for a line that contains a text, and returns it.
    pub fn wait_for(&mut self, text: &str) -> Result<String> {
        let end = Instant::now() + PATIENCE;
        while let Some(line) = self.next(end) {
            if line.contains(text) {
                return Ok(line);
            }
        }
        bail!("`{text}` was not said:\n{}{}", self.stdout, self.stderr)
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
        let status = loop {
            while self.next(Instant::now()).is_some() {}
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            ensure!(
                Instant::now() < end,
                "it did not end within {} s:\n{}{}",
                PATIENCE.as_secs(),
                self.stdout,
                self.stderr
            );
            thread::sleep(Duration::from_millis(20));
        };
        // Engines and the server of Wine may hold the streams a moment longer.
        let drained = Instant::now() + Duration::from_secs(10);
        while self.next(drained).is_some() {}
        let (stdout, stderr) = (std::mem::take(&mut self.stdout), std::mem::take(&mut self.stderr));
        Ok(Finished { code: status.code(), stdout, stderr })
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

//! Programs of another system: where they are, how they are started, read and killed.

use super::System;
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};
use xtask::{
    cross::{CrossRoot, TARGET},
    processes::{self, signal},
    running::{Finished, PATIENCE, Running},
    workspace::{Scratch, target},
};

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
        let lines = processes::all().into_iter().map(|process| (process.id, process.words.join(" ")));
        let is_engine = |line: &str| PROGRAMS[1..].iter().any(|engine| line.contains(engine));
        let engines = lines.filter(|(_, line)| line.contains(&run) && is_engine(line));
        engines.map(|(id, line)| format!("{id} {line}")).collect()
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

/// Sends a program what Wine hands on as Ctrl-C.
pub fn interrupt(program: &Running) {
    signal("INT", program.id());
    // Signals that come closer together are one.
    thread::sleep(Duration::from_millis(1500));
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

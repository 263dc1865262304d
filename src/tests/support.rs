//! Shared by the end-to-end tests.

use rusqlite::Connection;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::Once,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A program of this workspace, rebuilt with the profile of the program under test.
pub fn program(name: &str) -> PathBuf {
    static BUILT: Once = Once::new();
    let path = Path::new(env!("CARGO_BIN_EXE_renmei")).with_file_name(name);
    BUILT.call_once(|| {
        // `cargo xtask test` has built every program before the first test.
        if std::env::var_os("RENMEI_BUILT").is_some() {
            return;
        }
        let mut build = Command::new(env!("CARGO"));
        // The engines are built with the tests of this package.
        build.args(["build", "--quiet", "--package", "renmei-puppet"]);
        if path.components().any(|part| part.as_os_str() == "release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the engines do not build");
    });
    path
}

/// A temporary directory for one test, with a database.
pub struct Desk {
    pub dir: Place,
}

/// The directory of a desk: one that goes with it, or one that a long measurement keeps.
pub enum Place {
    Temporary(TempDir),
    Kept(PathBuf),
}

/// Programs of a test write what they say into files of its directory; a test that fails shows the ends of those.
impl Drop for Place {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for entry in std::fs::read_dir(self.path()).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|end| end == "log") || path.ends_with("log.txt") {
                let said = std::fs::read_to_string(&path).unwrap_or_default();
                let last: Vec<&str> = said.lines().rev().take(LAST_LINES).collect();
                eprintln!("the end of `{}`:", path.display());
                last.iter().rev().for_each(|line| eprintln!("  {line}"));
            }
        }
    }
}

/// Lines of a program that a test shows when it fails.
const LAST_LINES: usize = 40;

impl Place {
    pub fn path(&self) -> &Path {
        match self {
            Self::Temporary(dir) => dir.path(),
            Self::Kept(path) => path,
        }
    }
}

impl Desk {
    pub fn new() -> Self {
        Self { dir: Place::Temporary(tempfile::tempdir().unwrap()) }
    }

    /// A desk in a directory that is kept.
    pub fn at(path: &Path) -> Self {
        std::fs::create_dir_all(path).unwrap();
        Self { dir: Place::Kept(path.to_owned()) }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn db(&self) -> PathBuf {
        self.path("event.db")
    }

    /// Writes a file into the directory.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn renmei(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_renmei"));
        command.current_dir(self.dir.path()).args(args).stdin(Stdio::null());
        // Reports are in the language of whoever runs the tests.
        command.env("LC_ALL", "C");
        command.output().unwrap()
    }

    /// Plays a match between engines given as words of `--engine`; the report is JSON.
    pub fn play(&self, engines: &[&[&str]], more: &[&str]) -> Played {
        let db = self.db().display().to_string();
        let mut args = vec!["match", "--db", &db, "--json", "--oversubscribe"];
        for engine in engines {
            args.push("--engine");
            args.extend(*engine);
        }
        args.extend(more);
        Played { output: self.renmei(&args) }
    }

    pub fn query(&self, sql: &str) -> Vec<Vec<String>> {
        self.try_query(sql).unwrap()
    }

    /// `None` while the tables are not there yet, or another process changes them.
    pub fn try_query(&self, sql: &str) -> Option<Vec<Vec<String>>> {
        let connection = Connection::open(self.db()).ok()?;
        let mut statement = connection.prepare(sql).ok()?;
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| {
            (0..columns)
                .map(|i| {
                    Ok(match row.get_ref(i)? {
                        rusqlite::types::ValueRef::Integer(n) => n.to_string(),
                        rusqlite::types::ValueRef::Real(x) => x.to_string(),
                        rusqlite::types::ValueRef::Text(t) => String::from_utf8_lossy(t).into_owned(),
                        _ => String::new(),
                    })
                })
                .collect()
        });
        rows.ok()?.collect::<Result<_, _>>().ok()
    }
}

/// Result of a match.
pub struct Played {
    pub output: Output,
}

impl Played {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.output.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        let both = [&self.output.stdout[..], &self.output.stderr[..]].concat();
        String::from_utf8_lossy(&both).into_owned()
    }

    pub fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// The row of a player in the standings.
    pub fn standing(&self, name: &str) -> Value {
        let json = self.json();
        let lines = json["standings"].as_array().unwrap();
        lines
            .iter()
            .find(|line| line["name"] == name)
            .unwrap_or_else(|| panic!("no {name} in {json}"))
            .clone()
    }
}

/// Processes whose command line contains `mark`.
pub fn processes(mark: &str) -> Vec<String> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let pid = entry.file_name().into_string().ok().filter(|pid| *pid != own)?;
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            line.contains(mark).then_some(format!("{pid} {line}"))
        })
        .collect()
}

/// Waits until no process with this mark is left; panics with those that remain.
pub fn none_left(mark: &str) {
    until_within(testing::PATIENCE, || {
        let left = processes(mark);
        if left.is_empty() { Ok(()) } else { Err(format!("still running: {left:?}")) }
    });
}

pub use testing::PATIENCE;

/// Waits until something is so; panics with `what` if it does not come.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    until_within(PATIENCE, || is_so().then_some(()).ok_or(format!("waited in vain until {what}")));
}

/// Waits for the end of a program.
pub fn ended(child: &mut Child) -> ExitStatus {
    let id = child.id();
    until_within(PATIENCE, || {
        let status = child.try_wait().unwrap();
        status.ok_or_else(|| format!("waited in vain for the end of {:?}", processes_with(id)))
    })
}

/// A process, and what it has started, by their command lines.
fn processes_with(id: u32) -> Vec<String> {
    let line = |id: &str| std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let ids = [id.to_string()].into_iter().chain(children.split_whitespace().map(str::to_owned));
    ids.map(|id| format!("{id} {}", line(&id).replace('\0', " "))).collect()
}

/// Asks again until there is an answer, and panics with the reason why there is none at the end. It pauses for nine times
/// as long as the last question took, so that asking leaves the processor to the programs that are asked about.
pub fn until_within<T>(patience: Duration, mut ask: impl FnMut() -> Result<T, String>) -> T {
    let begun = Instant::now();
    loop {
        let asked = Instant::now();
        match ask() {
            Ok(answer) => return answer,
            Err(why) => assert!(begun.elapsed() < patience, "{why}"),
        }
        let pause = 9 * asked.elapsed();
        std::thread::sleep(pause.clamp(Duration::from_millis(10), Duration::from_millis(200)));
    }
}

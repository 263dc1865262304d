//! A directory with one event, and the programs that play it: manager, workers, servers.

use crate::process::Process;
use anyhow::{Context, Result, ensure};
use rusqlite::{
    Connection, OpenFlags,
    types::{FromSql, Value},
};
use std::{
    fmt::Write as _,
    fs::{self, File},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(600);
/// Time between two looks at what is waited for.
const GLANCE: Duration = Duration::from_millis(10);

/// Settings of the players of an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Players {
    /// Time of an engine for each move, in ms.
    pub think_ms: u64,
    /// Seed of the first player; the second has the next one.
    pub seed: u64,
    /// Most plies of a game.
    pub plies: u32,
    /// Number of games; 0: set by the format.
    pub games: u64,
    /// True if engines stay for the next game; if not, equal openings have equal games.
    pub stays: bool,
}

/// One event in a directory of its own.
#[derive(Debug)]
pub struct Field {
    directory: PathBuf,
    renmei: PathBuf,
}

impl Field {
    /// An event of two engines that play the same game from the same opening, whenever and wherever it is played; `more`
    /// are further lines of `[event]`, `rest` further sections.
    pub fn new(directory: PathBuf, renmei: &Path, players: Players, more: &str, rest: &str) -> Result<Self> {
        fs::create_dir_all(&directory)?;
        let Players { think_ms, seed, plies, games, stays } = players;
        let games = if games == 0 { String::new() } else { format!("games = {games}") };
        let restart = if stays { "never" } else { "every-game" };
        let engine = renmei.with_file_name("renmei-random");
        let mut text = format!(
            "[event]\nname = \"many\"\ndatabase = \"event.db\"\n{games}\nconcurrency = 8\noversubscribe = true\n\
             look = false\n{more}\n[rules]\nmax_moves = {plies}\n[defaults]\ntime = \"600s\"\nrestart = \"{restart}\"\n{rest}\n"
        );
        for (name, seed, style) in [("a", seed, "greedy"), ("b", seed + 1, "uniform")] {
            write!(
                text,
                "[[engines]]\nname = \"{name}\"\ncommand = \"{}\"\noptions = {{ ThinkTime = {think_ms}, Seed = {seed}, \
                 Style = \"{style}\" }}\n",
                engine.display()
            )?;
        }
        fs::write(directory.join("event.toml"), text)?;
        Ok(Self { directory, renmei: renmei.to_owned() })
    }

    /// A path in its directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Deletes it; its database may be large.
    pub fn remove(self) -> Result<()> {
        Ok(fs::remove_dir_all(&self.directory)?)
    }

    /// A command of the program, whose words go to a file; `around` is what starts it, if it is not started plainly.
    pub fn start(&self, around: Option<Command>, log: &str, args: &[&str]) -> Result<Process> {
        let path = self.path(log);
        let log = File::options().create(true).append(true).open(&path)?;
        let mut command = match around {
            Some(mut around) => {
                around.arg(&self.renmei);
                around
            }
            None => Command::new(&self.renmei),
        };
        command.current_dir(&self.directory).args(args).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        Process::spawn(&mut command, &path)
    }

    /// The manager of the event, which plays nothing itself.
    pub fn manager(&self, around: Option<Command>, listens: &str) -> Result<Process> {
        let args = ["run", "event.toml", "--no-dashboard", "--slots", "0", "--hub", listens];
        self.start(around, "manager.log", &args)
    }

    /// A real worker with a state of its own.
    pub fn worker(&self, around: Option<Command>, name: &str, slots: usize, line: &str) -> Result<Process> {
        let (state, slots) = (self.path(name).display().to_string(), slots.to_string());
        let args = ["worker", line, "--name", name, "--slots", &slots, "--oversubscribe", "--state", &state];
        self.start(around, &format!("{name}.log"), &args)
    }

    /// Plays the event on this machine alone, to its end.
    pub fn alone(&self) -> Result<()> {
        let status = end(&mut self.start(None, "alone.log", &["run", "event.toml", "--no-dashboard"])?)?;
        ensure!(is_well(status), "the event alone ended with {status:?}: {}", self.log("alone.log"));
        Ok(())
    }

    /// The output of a program.
    pub fn log(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The line to join with, as the manager prints it.
    ///
    /// # Errors
    /// When the manager ends, or prints none.
    pub fn line(&self, manager: &mut Process) -> Result<String> {
        let mut line = String::new();
        let printed = until("the manager prints a line", || {
            let said = self.log("manager.log");
            let found = said.rsplit_once("other machines join with: renmei worker '");
            line = found.and_then(|(_, rest)| Some(rest.split_once('\'')?.0.to_owned())).unwrap_or_default();
            ensure!(manager.is_running()?, "the manager has ended");
            Ok(!line.is_empty())
        });
        printed.with_context(|| self.log("manager.log"))?;
        Ok(line)
    }

    /// The first value of a question to the database; `None` when it has no such row yet.
    pub fn ask<T: FromSql>(&self, sql: &str) -> Option<T> {
        self.database().ok()?.query_row(sql, [], |row| row.get(0)).ok()
    }

    /// The number that a question has as its answer; 0 when there is none.
    pub fn count(&self, sql: &str) -> u64 {
        self.ask::<i64>(sql).map_or(0, |count| u64::try_from(count).unwrap_or(0))
    }

    /// The rows of a question, as text.
    pub fn rows(&self, sql: &str) -> Result<Vec<Vec<String>>> {
        let database = self.database()?;
        let mut query = database.prepare(sql)?;
        let columns = query.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| Ok(shown(row.get(at)?))).collect();
        Ok(query.query_map([], row)?.collect::<Result<_, _>>()?)
    }

    /// The games that count, by their places, without what may differ: numbers, instants, machines.
    pub fn games(&self) -> Result<Vec<Vec<String>>> {
        self.rows(
            "SELECT stage, index_, attempt, round, pair, opening, black, white, start, opening_moves, result, cause, plies,
                    (SELECT group_concat(move, ' ') FROM (SELECT move FROM moves WHERE game = g.id ORDER BY ply))
             FROM games g WHERE state = 'counted' ORDER BY stage, index_",
        )
    }

    fn database(&self) -> Result<Connection> {
        let database = Connection::open_with_flags(self.path("event.db"), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        database.busy_timeout(PATIENCE)?;
        Ok(database)
    }
}

fn shown(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}

/// Games that count.
pub const COUNTED: &str = "SELECT count(*) FROM games WHERE state = 'counted'";

/// True if an event was played to its end: the verdicts of a test have exit codes of their own.
pub fn is_well(code: Option<i32>) -> bool {
    matches!(code, Some(0 | 10..=12))
}

/// Waits for the end of a program, and returns its exit code.
///
/// # Errors
/// When it does not end in ten minutes.
pub fn end(program: &mut Process) -> Result<Option<i32>> {
    Ok(program.end(PATIENCE)?.code())
}

/// Waits until something is so.
///
/// # Errors
/// When it is not so after ten minutes.
pub fn until(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_so()? {
        ensure!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(GLANCE);
    }
    Ok(())
}

/// A free port of this machine.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

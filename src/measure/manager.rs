//! The command lines that are measured: the manager's, and its floor's.

use anyhow::{Context, Result, ensure};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use xtask::workspace;

/// A kind of game that the puppet plays without looking at the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Kings up and down.
    King,
    /// Rooks round and round.
    Rook,
}

impl Mode {
    /// What the puppet calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::King => "king",
            Self::Rook => "rook",
        }
    }

    /// After how many plies the game is sennichite.
    pub fn plies(self) -> u32 {
        match self {
            Self::King => 12,
            Self::Rook => 252,
        }
    }
}

/// Games to be played by two equal puppets.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// What they play.
    pub mode: Mode,
    /// How many games.
    pub games: u32,
    /// How many at once.
    pub concurrency: u32,
    /// How long an engine takes for a move, in microseconds.
    pub sleep_us: u32,
}

impl Load {
    /// How many plies that is in all.
    pub fn plies(&self) -> u32 {
        self.games * self.mode.plies()
    }

    /// `renmei match` with a database.
    pub fn manager(&self, db: &Path, time: &str, margin: &str) -> Command {
        let mut command = self.shown(db, time, margin);
        command.arg("--quiet");
        command
    }

    /// The same with the dashboard, where there is a terminal.
    pub fn shown(&self, db: &Path, time: &str, margin: &str) -> Command {
        let mut command = Command::new(workspace::release("renmei"));
        command.arg("match");
        for name in ["a", "b"] {
            command.args(["--engine", &format!("cmd={}", puppet().display()), &format!("name={name}")]);
            command.arg(format!("option.Mode={}", self.mode.name()));
            command.arg(format!("option.SleepUs={}", self.sleep_us));
        }
        command.args(["--games", &self.games.to_string(), "--concurrency", &self.concurrency.to_string()]);
        command.args(["--time", time, "--margin", margin, "--oversubscribe", "--db"]).arg(db);
        command
    }

    /// The same games in the loop that has nothing a manager has (see [`crate::floor`]).
    pub fn floor(&self, times: Option<&Path>) -> Command {
        let mut command = Command::new(workspace::release("measure"));
        command.args(["floor", "--mode", self.mode.name(), "--games", &self.games.to_string()]);
        command.args(["--concurrency", &self.concurrency.to_string()]);
        command.args(["--sleep-us", &self.sleep_us.to_string(), "--engine"]).arg(puppet());
        if let Some(times) = times {
            command.arg("--times").arg(times);
        }
        command
    }

    /// The user's own command for the same games.
    pub fn rival(&self, template: &str) -> Command {
        let words = template
            .replace("{engine}", &puppet().to_string_lossy())
            .replace("{mode}", self.mode.name())
            .replace("{games}", &self.games.to_string())
            .replace("{concurrency}", &self.concurrency.to_string());
        let mut command = Command::new("sh");
        // `exec`: the process that is measured is to be the rival, not the shell.
        command.args(["-c", &format!("exec {words}")]);
        command
    }
}

fn puppet() -> PathBuf {
    workspace::release("renmei-puppet")
}

/// Sends what a command prints to a file, to be shown only if the command fails.
///
/// # Errors
/// When the file cannot be written.
pub fn silence(command: &mut Command, log: &Path) -> Result<()> {
    let file = File::create(log).with_context(|| format!("`{}` could not be written", log.display()))?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    Ok(())
}

/// Fails with what the command printed, unless it succeeded.
///
/// # Errors
/// When it did not succeed.
pub fn expect_success(command: &Command, success: bool, log: &Path) -> Result<()> {
    let printed = || std::fs::read_to_string(log).unwrap_or_default();
    ensure!(success, "{command:?} failed:\n{}", printed());
    Ok(())
}

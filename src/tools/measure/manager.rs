//! Command lines of the measured programs: the manager and the floor.

use anyhow::{Context, Result, ensure};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use xtask::workspace;

/// A game that the puppet plays without looking at the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Kings move to and fro.
    King,
    /// Rooks move in cycles.
    Rook,
}

impl Mode {
    /// The puppet's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::King => "king",
            Self::Rook => "rook",
        }
    }

    /// Number of plies until sennichite.
    pub fn plies(self) -> u32 {
        match self {
            Self::King => 12,
            Self::Rook => 252,
        }
    }
}

/// Games of two equal puppets.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The kind of game.
    pub mode: Mode,
    /// Number of games.
    pub games: u32,
    /// Number of games at once.
    pub concurrency: u32,
    /// Time of an engine per move in microseconds.
    pub sleep_us: u32,
}

impl Load {
    /// Number of plies of all games.
    pub fn plies(&self) -> u32 {
        self.games * self.mode.plies()
    }

    /// `renmei match` with a database.
    pub fn manager(&self, db: &Path, time: &str, margin: &str) -> Command {
        let mut command = Command::new(workspace::release("renmei"));
        command.arg("match");
        for name in ["a", "b"] {
            command.args(["--engine", &format!("cmd={}", puppet().display()), &format!("name={name}")]);
            command.arg(format!("option.Mode={}", self.mode.name()));
            command.arg(format!("option.SleepUs={}", self.sleep_us));
        }
        command.args(["--games", &self.games.to_string(), "--concurrency", &self.concurrency.to_string()]);
        command.args(["--time", time, "--margin", margin, "--oversubscribe"]);
        // The fixed moves of the puppets begin in the start position.
        command.args(["--openings", "none", "--quiet", "--rating-interval", "0", "--db"]).arg(db);
        command
    }

    /// The same games in the minimal loop (`src/tools/measure/floor/`).
    pub fn floor(&self, times: Option<&Path>) -> Command {
        let mut command = Command::new(workspace::release("floor"));
        command.args(["--mode", self.mode.name(), "--games", &self.games.to_string()]);
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
        // `exec`, so that the measured process is the rival and not the shell.
        command.args(["-c", &format!("exec {words}")]);
        command
    }
}

/// The engine that plays without looking at the board.
pub fn puppet() -> PathBuf {
    workspace::release("renmei-puppet")
}

/// Redirects the output of a command to a file, which is shown only if the command fails.
pub fn silence(command: &mut Command, log: &Path) -> Result<()> {
    let file = File::create(log).with_context(|| format!("`{}` could not be written", log.display()))?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    Ok(())
}

/// Fails with the output of the command unless it succeeded.
pub fn expect_success(command: &Command, success: bool, log: &Path) -> Result<()> {
    let printed = || std::fs::read_to_string(log).unwrap_or_default();
    ensure!(success, "{command:?} failed:\n{}", printed());
    Ok(())
}

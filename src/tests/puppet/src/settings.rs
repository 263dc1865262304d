//! Settings, from arguments and from `setoption`.

use std::time::Duration;

use rsshogi::types::Color;
use usi_shell::options::{OptionError, OptionSpec, Options};

use crate::mode::Mode;

/// The values of all settings. Arguments and USI options share one declaration.
pub struct Settings(Options);

/// Why the arguments were refused.
#[derive(Debug, PartialEq, Eq)]
pub struct ArgumentFault(String);

impl std::fmt::Display for ArgumentFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Settings {
    /// Parses `--NAME VALUE` pairs.
    pub fn from_arguments(arguments: impl IntoIterator<Item = String>) -> Result<Self, ArgumentFault> {
        let mut settings = Self(Options::declare(declarations()));
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let name = argument.strip_prefix("--").map(|name| name.replace('-', ""));
            let name = name.ok_or_else(|| ArgumentFault(format!("`{argument}` is not `--NAME VALUE`")))?;
            let value =
                arguments.next().ok_or_else(|| ArgumentFault(format!("`{argument}` lacks a value")))?;
            let line = format!("setoption name {name} value {value}");
            settings.apply(&line).map_err(|fault| ArgumentFault(fault.to_string()))?;
        }
        Ok(settings)
    }

    /// Applies a `setoption` line and returns the name of the option.
    pub fn apply(&mut self, line: &str) -> Result<Option<String>, OptionError> {
        self.0.apply(line)
    }

    /// The declarations of the options.
    pub fn declared(&self) -> impl Iterator<Item = &OptionSpec> {
        self.0.specs()
    }

    pub fn mode(&self) -> Mode {
        Mode::named(self.0.text("Mode"))
    }

    pub fn ply(&self) -> usize {
        self.number("Ply") as usize
    }

    pub fn color_allows(&self, mover: Color) -> bool {
        match self.0.text("Color") {
            "black" => mover == Color::Black,
            "white" => mover == Color::White,
            _ => true,
        }
    }

    pub fn game_allows(&self, game: u64) -> bool {
        [0, game].contains(&self.number("Game"))
    }

    pub fn seed(&self) -> u64 {
        self.number("Seed")
    }

    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.number("Delay"))
    }

    pub fn megabytes(&self) -> usize {
        self.number("Megabytes") as usize
    }

    pub fn target(&self) -> &str {
        self.0.text("Target")
    }

    pub fn pause(&self) -> Duration {
        Duration::from_micros(self.number("SleepUs"))
    }

    /// Nodes per second to report, for which it uses its time; `None` to report none.
    pub fn nps(&self) -> Option<u64> {
        Some(self.number("Nps")).filter(|nps| *nps > 0)
    }

    fn number(&self, name: &str) -> u64 {
        self.0.spin(name).unsigned_abs()
    }
}

fn declarations() -> [OptionSpec; 10] {
    let modes: Vec<&str> = Mode::all().map(|(name, _)| name).collect();
    [
        OptionSpec::combo("Mode", "honest", &modes),
        OptionSpec::spin("Ply", 1, 1..=100_000),
        OptionSpec::combo("Color", "any", &["any", "black", "white"]),
        OptionSpec::spin("Game", 0, 0..=1_000_000),
        OptionSpec::spin("Seed", 1, 0..=i64::MAX),
        OptionSpec::spin("Delay", 1000, 0..=86_400_000),
        OptionSpec::spin("Megabytes", 8, 0..=1_000_000),
        OptionSpec::spin("SleepUs", 0, 0..=100_000_000),
        OptionSpec::spin("Nps", 0, 0..=1_000_000_000),
        OptionSpec::string("Target", ""),
    ]
}

//! Which conversations with engines are kept: the key `log`.

use crate::reader::Table;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Which conversations with engines are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogPlan {
    /// In the database, those of games that ended by a fault.
    #[default]
    Faults,
    /// None.
    Off,
    /// Those of all games, as files of this directory; and in the database as with `Faults`.
    All(PathBuf),
}

impl LogPlan {
    /// What a word says: `faults`, `off`, or a directory.
    ///
    /// # Errors
    /// When the word is empty.
    pub fn of(word: &str, path: impl FnOnce(&str) -> PathBuf) -> Result<Self, &'static str> {
        match word {
            "" => Err("is empty; name a directory, or say \"faults\" or \"off\""),
            "faults" => Ok(Self::Faults),
            "off" => Ok(Self::Off),
            directory => Ok(Self::All(path(directory))),
        }
    }

    /// The directory, if there is one.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::All(directory) => Some(directory),
            Self::Faults | Self::Off => None,
        }
    }
}

/// Reads the key `log` of a table.
pub(crate) fn log(table: &Table<'_>) -> Option<LogPlan> {
    let item = table.item("log")?;
    let word = item.text("a directory, \"faults\" or \"off\"")?;
    let plan = LogPlan::of(word, |directory| table.context.environment.path(directory));
    plan.map_err(|fault| item.fault(fault)).ok()
}

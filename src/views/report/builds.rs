//! What played: each player's builds, as its runs recorded them.

use crate::Language;
use crate::exhibit::{Cell, Column, Exhibit};
use journal::{EventSummary, KnownIdentity, Store, StoreError};
use referee::identity::{FileIdentity, Identity, short};
use serde::Serialize;
use std::{fmt, path::Path};

/// Most files of a build that people are shown.
const FILES: usize = 3;

/// A player and what played under its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlayedBy {
    /// Name of the player.
    pub name: String,
    /// Its builds in the order of their first run; more than one where nobody compared them.
    pub builds: Vec<Build>,
}

/// What played as a player in one run or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Build {
    /// Start of its first run, in ms since 1970-01-01 UTC.
    pub since: i64,
    /// Path of the program.
    pub program: String,
    /// SHA-256 of the program; `None` if it could not be read.
    pub sha256: Option<String>,
    /// The name by which it introduced itself.
    pub id_name: Option<String>,
    /// The files that belong to it.
    pub files: Vec<FileIdentity>,
}

/// The builds of an event's players; players without a recorded one are left out.
///
/// # Errors
/// When the database cannot be read.
pub fn builds(store: &Store, event: &EventSummary) -> Result<Vec<PlayedBy>, StoreError> {
    let known = store.identities(event.id)?;
    let of = |(number, name): (usize, &String)| {
        let own = known.iter().filter(|known| known.player.index() == number);
        let builds = distinct(own);
        (!builds.is_empty()).then(|| PlayedBy { name: name.clone(), builds })
    };
    Ok(event.players.iter().enumerate().filter_map(of).collect())
}

fn distinct<'k>(known: impl Iterator<Item = &'k KnownIdentity>) -> Vec<Build> {
    let mut builds: Vec<Build> = vec![];
    for KnownIdentity { since, identity, .. } in known {
        let Identity { program, hash, id_name, files } = identity.clone();
        let build = Build { since: *since, program, sha256: hash, id_name, files };
        if !builds.iter().any(|other| other.is_same(&build)) {
            builds.push(build);
        }
    }
    builds
}

impl PlayedBy {
    /// The same without the directories of this machine, for viewers.
    pub fn without_directories(&mut self) {
        for build in &mut self.builds {
            let paths = build.files.iter_mut().map(|file| &mut file.path).chain([&mut build.program]);
            for path in paths.filter(|path| Path::new(path.as_str()).is_absolute()) {
                let name = Path::new(path.as_str()).file_name().unwrap_or_default().to_string_lossy();
                *path = name.into_owned();
            }
        }
    }
}

impl Build {
    /// True if both are the same engine; it may have moved.
    fn is_same(&self, other: &Self) -> bool {
        (&self.sha256, &self.id_name, &self.files) == (&other.sha256, &other.id_name, &other.files)
    }
}

/// In a line: the engine's own name, then the program and its files with the first digits of their hashes.
impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: &str| notation::printable(text.as_bytes());
        if let Some(name) = &self.id_name {
            write!(f, "{} · ", plain(name))?;
        }
        let program = Path::new(&self.program).file_name().unwrap_or_default().to_string_lossy();
        write!(f, "{} {}", plain(&program), self.sha256.as_deref().map_or("unknown", short))?;
        for file in self.files.iter().take(FILES) {
            write!(f, ", {} {}", plain(&file.path), short(&file.sha256))?;
        }
        match self.files.len().saturating_sub(FILES) {
            0 => Ok(()),
            more => write!(f, " and {more} more files"),
        }
    }
}

/// The table of the builds, with a warning of players whose games are those of several.
pub(crate) fn table(players: &[PlayedBy], words: Language) -> Exhibit {
    let columns = vec![
        Column::left(words.engine(), |(name, _): &(&str, &Build)| Cell::words(*name)),
        Column::left(words.program(), |(_, build): &(&str, &Build)| {
            Cell::words(build.to_string()).about(&build.program)
        }),
    ];
    let lines: Vec<(&str, &Build)> = lines(players).collect();
    Exhibit::of(columns, &lines).with_notes(mixed(players, words))
}

fn lines(players: &[PlayedBy]) -> impl Iterator<Item = (&str, &Build)> {
    players.iter().flat_map(|player| player.builds.iter().map(|build| (player.name.as_str(), build)))
}

/// Warns of players whose games are those of several builds.
fn mixed(players: &[PlayedBy], words: Language) -> Vec<String> {
    let several = players.iter().filter(|player| player.builds.len() > 1);
    several.map(|player| words.builds_are_mixed(player.builds.len(), &player.name)).collect()
}

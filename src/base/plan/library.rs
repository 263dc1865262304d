//! `engines.toml`: the engines that events of a directory choose from.

use crate::{
    EnginePlan, Environment, Faults,
    clocks::{Clocks, Periods},
    engines,
    keys::{
        Fallback::Says,
        Key,
        Kind::{Flag, Other, Text},
        Section, keys,
    },
    reader::{self, Item, Table},
};
use std::{collections::BTreeSet, path::Path};

/// Name of the file, in the directory of a desk.
pub const FILE: &str = "engines.toml";

/// The file.
pub(crate) static LIBRARY: Section = Section {
    title: "`engines.toml`",
    about: "The engines that the forms of `renmei desk` offer, in the directory of its events. An event has a copy of what it \
            plays with: a change here changes no event.",
    keys: &[keys![
        engines shown Says("none"), Other("tables"), "the engines, see `[[engines]]` of `engines.toml`";
    ]],
};

/// Keys that an engine of a library has beside those of an event.
const OWN: &[Key] = keys![
    tags = [], Other("texts"), "words that the forms choose engines by";
    note = "", Text, "what is to be known of it";
    inactive = false, Flag, "whether the forms leave it out";
];

/// An engine of the file.
pub(crate) static ENGINE: Section = Section {
    title: "`[[engines]]` of `engines.toml`",
    about: "The keys of `[[engines]]` of an event, and these.",
    keys: &[OWN, EnginePlan::SECTION.keys[0]],
};

/// An engine of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryEngine {
    /// As an event starts it.
    pub plan: EnginePlan,
    /// Words that it is chosen by.
    pub tags: Vec<String>,
    /// What is to be known of it.
    pub note: String,
    /// True if events are not offered it.
    pub inactive: bool,
    /// Why its program cannot be started.
    pub missing: Option<String>,
}

impl LibraryEngine {
    /// Reads the engines of a directory; none where it has no such file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn load(directory: &Path) -> Result<Vec<Self>, Faults> {
        let path = directory.join(FILE);
        if !path.exists() {
            return Ok(vec![]);
        }
        reader::read_file(&path, |text, environment| Self::parse(text, &path, environment))
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(text: &str, file: &Path, environment: &Environment) -> Result<Vec<Self>, Faults> {
        reader::read(text, Some(file), environment, &[&LIBRARY], |root| {
            let items = root.item("engines").map(|list| list.elements("tables, each under `[[engines]]`"));
            let mut names = BTreeSet::new();
            let tables = items.iter().flatten().filter_map(|item| item.table(&ENGINE));
            tables.filter_map(|table| engine(root, &table, &mut names)).collect()
        })
    }
}

fn engine(root: &Table<'_>, table: &Table<'_>, names: &mut BTreeSet<String>) -> Option<LibraryEngine> {
    let tags = table.item("tags").map(|list| list.elements("a list of texts")).unwrap_or_default();
    let tags = tags.iter().filter_map(Item::scalar).collect();
    let (note, inactive) = (table.text("note").unwrap_or_default(), table.flag("inactive", false));
    let clocks = match table.has("time") {
        true => Clocks::read(table, root, &Periods::default()),
        false => Clocks::default(),
    };
    let (plan, missing) = engines::of_library(table, clocks)?;
    if !names.insert(plan.name.clone()) {
        table.fault("name", format!("two engines are named \"{}\"", plan.name));
    }
    Some(LibraryEngine { plan, tags, note, inactive, missing })
}

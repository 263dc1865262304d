//! `engines.toml` as forms change it: what a person has written there stays as it is, but for the keys of the form.

use crate::place::Place;
use plan::{Environment, Faults, LibraryEngine, library::FILE};
use std::{collections::BTreeSet, path::Path};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TomlError, Value, value};

/// Keys of the library that no event has.
pub const OWN_KEYS: [&str; 3] = ["tags", "note", "inactive"];

/// Why the library is not as it was wanted.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The file is not right, or would not be.
    #[error("{0}")]
    Faults(#[from] Faults),
    /// It is no TOML.
    #[error("`{FILE}` is no TOML: {0}")]
    Toml(#[from] TomlError),
    /// There is no such engine.
    #[error("no engine is named \"{0}\"")]
    NoEngine(String),
    /// It cannot be written.
    #[error("`{FILE}` cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

/// The text of the library with its engines.
pub struct Library {
    document: DocumentMut,
}

impl Library {
    /// Reads the file of a directory; without one the library is empty.
    pub fn open(place: &Place) -> Result<Self, LibraryError> {
        let path = place.directory().join(FILE);
        let text = if path.exists() { plan::text_of(&path)? } else { String::new() };
        Ok(Self { document: text.parse()? })
    }

    /// Changes the library of a directory, in which nobody else changes anything meanwhile.
    pub fn change<T>(
        place: &Place,
        change: impl FnOnce(&mut Self) -> Result<T, LibraryError>,
    ) -> Result<T, LibraryError> {
        let _alone = place.alone();
        let mut library = Self::open(place)?;
        let changed = change(&mut library)?;
        library.write(place)?;
        Ok(changed)
    }

    /// Checks the library, and writes it if it is right.
    pub fn write(&self, place: &Place) -> Result<(), LibraryError> {
        let text = self.document.to_string();
        let environment = Environment::here(place.directory())?;
        LibraryEngine::parse(&text, Path::new(FILE), &environment)?;
        Ok(place.write(FILE, &text)?)
    }

    fn tables(&self) -> impl Iterator<Item = &Table> {
        self.document.get("engines").and_then(Item::as_array_of_tables).into_iter().flatten()
    }

    fn tables_mut(&mut self) -> &mut ArrayOfTables {
        let engines = self.document.entry("engines").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        if engines.as_array_of_tables().is_none() {
            *engines = Item::ArrayOfTables(ArrayOfTables::new());
        }
        match engines {
            Item::ArrayOfTables(tables) => tables,
            // It was made one above.
            _ => unreachable!("the engines are tables"),
        }
    }

    /// The table of an engine.
    pub fn table(&self, name: &str) -> Result<&Table, LibraryError> {
        let found = self.tables().find(|table| name_of(table) == name);
        found.ok_or_else(|| LibraryError::NoEngine(name.to_owned()))
    }

    /// The table of an engine, to be changed.
    pub fn table_mut(&mut self, name: &str) -> Result<&mut Table, LibraryError> {
        let found = self.tables_mut().iter_mut().find(|table| name_of(table) == name);
        found.ok_or_else(|| LibraryError::NoEngine(name.to_owned()))
    }

    /// A name that no engine has: this one, or with a number behind it.
    pub fn free_name(&self, name: &str) -> String {
        let taken: BTreeSet<String> = self.tables().map(name_of).collect();
        let numbered = (2..).map(|number| format!("{name} {number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !taken.contains(name)).unwrap_or_else(|| name.to_owned())
    }

    /// Adds an engine; returns its name.
    pub fn add(&mut self, name: &str, program: &Path) -> String {
        let name = self.free_name(name);
        let mut table = Table::new();
        table.insert("name", value(&name));
        table.insert("command", value(program.to_string_lossy().into_owned()));
        self.tables_mut().push(table);
        name
    }

    /// Adds a copy of an engine; returns its name.
    pub fn copy(&mut self, name: &str) -> Result<String, LibraryError> {
        let mut table = self.table(name)?.clone();
        let copy = self.free_name(name);
        table.insert("name", value(&copy));
        self.tables_mut().push(table);
        Ok(copy)
    }

    /// Removes an engine.
    pub fn remove(&mut self, name: &str) -> Result<(), LibraryError> {
        let at = self.tables().position(|table| name_of(table) == name);
        let at = at.ok_or_else(|| LibraryError::NoEngine(name.to_owned()))?;
        self.tables_mut().remove(at);
        Ok(())
    }

    /// The table of an engine as an event has it.
    pub fn for_event(&self, name: &str) -> Result<Table, LibraryError> {
        let mut table = self.table(name)?.clone();
        OWN_KEYS.iter().for_each(|key| _ = table.remove(key));
        table.decor_mut().clear();
        Ok(table)
    }
}

/// The name of an engine: as it is given, or that of its program.
pub fn name_of(table: &Table) -> String {
    let text = |key| table.get(key).and_then(Item::as_str);
    let program = || text("command").map(plan::program_name).unwrap_or_default();
    text("name").map_or_else(|| program().to_owned(), str::to_owned)
}

/// Sets a key, or takes it away where the value is the usual one. What stands around the key stays.
pub fn set(table: &mut Table, key: &str, wanted: Option<Value>) {
    match (table.get_mut(key), wanted) {
        (Some(Item::Value(known)), Some(mut wanted)) => {
            *wanted.decor_mut() = known.decor().clone();
            *known = wanted;
        }
        (_, Some(wanted)) => _ = table.insert(key, Item::Value(wanted)),
        (_, None) => _ = table.remove(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str =
        "# mine\n[[engines]]\nname = \"one\" # the first\ncommand = \"true\"\nponder = true\n";

    #[test]
    fn a_form_changes_its_own_keys_and_leaves_what_somebody_has_written() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        assert_eq!(Library::open(&place).unwrap().tables().count(), 0, "there is no file yet");
        place.write(FILE, WRITTEN).unwrap();
        let mut library = Library::open(&place).unwrap();
        assert_eq!(library.copy("one").unwrap(), "one 2");
        set(library.table_mut("one").unwrap(), "name", Some("first".into()));
        set(library.table_mut("first").unwrap(), "note", Some("quick".into()));
        library.write(&place).unwrap();
        let text = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        assert!(text.starts_with("# mine\n[[engines]]\nname = \"first\" # the first\n"), "{text}");
        assert!(text.contains("ponder = true\nnote = \"quick\"\n"), "{text}");
        let engines = LibraryEngine::load(dir.path()).unwrap();
        assert_eq!(
            engines.iter().map(|e| (&*e.plan.name, &*e.note)).collect::<Vec<_>>(),
            [("first", "quick"), ("one 2", "")]
        );
        assert!(!library.for_event("first").unwrap().contains_key("note"));
        library.remove("one 2").unwrap();
        assert!(matches!(library.remove("one 2"), Err(LibraryError::NoEngine(_))));
    }

    #[test]
    fn changes_that_come_together_are_all_kept() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        place.write(FILE, WRITTEN).unwrap();
        std::thread::scope(|scope| {
            for number in 0..20 {
                let place = place.clone();
                scope.spawn(move || {
                    Library::change(&place, |library| library.copy("one")).unwrap();
                    crate::events::hold(&place, &format!("cup-{number}"), true).unwrap();
                });
            }
        });
        assert_eq!(Library::open(&place).unwrap().tables().count(), 21);
        let hall = plan::HallConfig::load(dir.path(), false).unwrap();
        assert_eq!(hall.event.iter().filter(|event| event.held).count(), 20);
    }

    #[test]
    fn what_would_make_the_file_wrong_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path().to_owned());
        place.write(FILE, WRITTEN).unwrap();
        let mut library = Library::open(&place).unwrap();
        set(library.table_mut("one").unwrap(), "name", Some(" ".into()));
        assert!(library.write(&place).unwrap_err().to_string().contains("engines[0].name"));
        let long = place.write(FILE, &"#".repeat(1 << 20)).unwrap_err();
        assert!(long.to_string().contains("larger than 1 MB"), "{long}");
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), WRITTEN);
        place.write(FILE, "[[engines]\n").unwrap();
        assert!(matches!(Library::open(&place), Err(LibraryError::Toml(_))));
    }
}

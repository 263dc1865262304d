//! Defences against a database that somebody else has made, or a directory that somebody else can write to.
//!
//! A schema is code: triggers, views, generated columns, checks and indexes on expressions run when their tables are used.
//! So the schema is compared with the one that this program makes before anything of it is used, triggers are off, and
//! functions with effects are refused inside a schema.

use super::{
    StoreError,
    database::{self, Database},
};
use rusqlite::{Connection, config::DbConfig, limits::Limit};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// Largest value and row, in bytes. The largest that this program writes is a part of a transcript, of a few MiB.
pub(crate) const LARGEST: i32 = 64 << 20;

/// What SQLite writes beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Refuses what is no regular file, and links where SQLite would create files.
pub(crate) fn refuse_links(path: &Path) -> Result<(), StoreError> {
    let unusable = |source| StoreError::Unusable(path.to_owned(), Arc::new(source));
    platform::files::refuse_special_name(path).map_err(unusable)?;
    let refused = |link: PathBuf| {
        let told =
            |source| StoreError::Link { path: path.to_owned(), link: link.clone(), source: Arc::new(source) };
        platform::files::refuse_link(&link).map_err(told)
    };
    // A link to a database is followed, as the user has named it; not one to a file that would have to be created.
    if !path.exists() {
        refused(path.to_owned())?;
    }
    // SQLite writes beside the file that a link leads to.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    platform::files::refuse_link(&real).map_err(unusable)?;
    BESIDE.iter().try_for_each(|end| refused(platform::files::beside(&real, end)))
}

/// Refuses to write to a database that has a second name (a hard link): what lies beside one name, the log of SQLite and
/// the lock of an event, is not seen by a program that opens the other.
pub(crate) fn refuse_second_name(path: &Path) -> Result<(), StoreError> {
    platform::files::refuse_second_name(path)
        .map_err(|source| StoreError::SecondName(path.to_owned(), Arc::new(source)))
}

/// Settings that every connection has, before it reads the file.
pub(crate) fn harden(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, LARGEST)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "mmap_size", 0)
}

/// Definitions of tables, indexes and views, by their names.
type Schema = HashMap<String, (String, Option<String>)>;

/// Refuses a file whose tables, indexes and views are not those that this program makes. Further ones are harmless: no
/// query names them.
pub(crate) fn check_schema(database: &Database) -> Result<(), StoreError> {
    let (found, expected) = (database.check(schema)?, expected(database)?);
    let altered = expected.iter().find(|(name, (kind, sql))| match found.get(*name) {
        Some(other) => other != &(kind.clone(), sql.clone()),
        // A view or an index that somebody has dropped is not needed.
        None => kind == "table",
    });
    match altered {
        Some((name, (kind, _))) => Err(StoreError::Schema(database.path.clone(), format!("{kind} `{name}`"))),
        None => Ok(()),
    }
}

/// The schema that this program makes. It is made once: a database in memory for each one that is opened would take 250 kB
/// and milliseconds.
fn expected(database: &Database) -> Result<&'static Schema, StoreError> {
    static EXPECTED: OnceLock<Schema> = OnceLock::new();
    let make =
        || database.check(|_| schema(&database::expected()?)).map(|made| EXPECTED.get_or_init(|| made));
    EXPECTED.get().map_or_else(make, Ok)
}

fn schema(conn: &Connection) -> rusqlite::Result<Schema> {
    let mut all = conn.prepare("SELECT name, type, sql FROM main.sqlite_schema WHERE type <> 'trigger'")?;
    all.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_that_files_are_compared_with_is_made_once() {
        let place = tempfile::tempdir().unwrap();
        let of = |name: &str| {
            let path = place.path().join(name);
            drop(crate::Writer::open(&path).unwrap());
            expected(&Database::read(&path).unwrap()).unwrap()
        };
        assert!(std::ptr::eq(of("a.db"), of("b.db")));
    }
}

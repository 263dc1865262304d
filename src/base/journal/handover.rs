//! A copy of a database to hand over, without what only the organiser may have.

use super::{Store, StoreError};
use rusqlite::Connection;
use std::path::Path;

/// Tables with passwords, addresses and keys, of which no seal and no result depends.
const SECRETS: [&str; 5] = ["accounts", "web_accounts", "registrations", "invitations", "trip_keys"];

impl Store {
    /// Copies the database as it is now into a new file, without hashes of passwords, registrations, invitations and the
    /// keys of trips. A process that plays goes on meanwhile.
    ///
    /// # Errors
    /// When the database cannot be read, or the file cannot be written.
    pub fn hand_over(&self, to: &Path) -> Result<(), StoreError> {
        let path = to.to_string_lossy().into_owned();
        // The statement writes another file alone; a connection that reads may do so for once.
        self.database().check(|conn| {
            conn.pragma_update(None, "query_only", false)?;
            let copied = conn.execute("VACUUM INTO ?", [&path]);
            conn.pragma_update(None, "query_only", true)?;
            copied
        })?;
        let strip = || -> rusqlite::Result<()> {
            let copy = Connection::open(to)?;
            copy.pragma_update(None, "secure_delete", true)?;
            for table in SECRETS {
                copy.execute(&format!("DELETE FROM {table}"), [])?;
            }
            // What was deleted is in no free page either.
            copy.execute_batch("VACUUM")
        };
        strip().map_err(|error| StoreError::sql(to, error))
    }
}

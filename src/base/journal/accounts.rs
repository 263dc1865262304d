//! Accounts: of players who log in to a league, and of those who run an event on its pages. Password hashes are opaque
//! here.

use super::{Store, StoreError, Writer, now};
use platform::files;
use rusqlite::{OptionalExtension, Row};
use std::{path::Path, str::FromStr, sync::Arc};

/// A player's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Login name.
    pub name: String,
    /// Creation time in ms since 1970-01-01 UTC.
    pub created_at: i64,
}

/// What an account of the pages may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// Runs the event: pauses, announces, sends away.
    Operator,
    /// Also decides on games and players.
    Arbiter,
}

/// A word that is no role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no role; the roles are `arbiter` and `operator`", .0.escape_debug())]
pub struct NoRole(pub String);

impl FromStr for Role {
    type Err = NoRole;

    fn from_str(word: &str) -> Result<Self, NoRole> {
        match word {
            "operator" => Ok(Self::Operator),
            "arbiter" => Ok(Self::Arbiter),
            other => Err(NoRole(other.to_owned())),
        }
    }
}

/// An account of the pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAccount {
    /// Name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// Hash of the password.
    pub hash: String,
    /// Creation time in ms since 1970-01-01 UTC.
    pub created_at: i64,
}

impl Store {
    /// Takes a database that holds hashes of passwords, or the key of trips, away from other users of the machine, if they could read it, and
    /// returns a line that says so. Files that exist keep their mode otherwise.
    ///
    /// # Errors
    /// When the file is no database, or its mode cannot be changed.
    pub fn protect(path: &Path) -> Result<Option<String>, StoreError> {
        let is_open = |path: &Path| files::exposure(path).is_ok_and(files::Exposure::to_everybody);
        let secrets = "SELECT EXISTS (SELECT 1 FROM accounts) OR EXISTS (SELECT 1 FROM trip_keys) \
             OR EXISTS (SELECT 1 FROM web_accounts) OR EXISTS (SELECT 1 FROM registrations)";
        let has_secrets = || {
            let store = Store::read(path)?;
            store.database.check(|conn| conn.query_row(secrets, [], |row| row.get::<_, bool>(0)))
        };
        if !is_open(path) || !has_secrets()? {
            return Ok(None);
        }
        for end in ["", "-wal", "-shm"] {
            let file = files::beside(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), end);
            if is_open(&file) {
                files::close_to_others(&file).map_err(|source| StoreError::Mode(file, Arc::new(source)))?;
            }
        }
        Ok(Some(format!(
            "every user of this machine could use `{}`, which holds hashes of passwords or the key of trips: now only its owner and group can",
            path.display()
        )))
    }

    /// All accounts, ordered by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.database.check(|conn| {
            let mut accounts = conn.prepare("SELECT name, created_at FROM accounts ORDER BY name")?;
            let account =
                |row: &rusqlite::Row<'_>| Ok(Account { name: row.get(0)?, created_at: row.get(1)? });
            accounts.query_map([], account)?.collect()
        })
    }

    /// The password hash of an account; `None` without such an account.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn account_hash(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.database.check(|conn| {
            let mut hash = conn.prepare_cached("SELECT hash FROM accounts WHERE name = ?")?;
            hash.query_row([name], |row| row.get(0)).optional()
        })
    }

    /// All accounts of the pages, ordered by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn web_accounts(&self) -> Result<Vec<WebAccount>, StoreError> {
        self.database.check(|conn| {
            let mut all = conn.prepare_cached("SELECT * FROM web_accounts ORDER BY name")?;
            all.query_map([], web_account)?.collect()
        })
    }

    /// The account of the pages of that name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn web_account(&self, name: &str) -> Result<Option<WebAccount>, StoreError> {
        self.database.check(|conn| {
            let mut one = conn.prepare_cached("SELECT * FROM web_accounts WHERE name = ?")?;
            one.query_row([name], web_account).optional()
        })
    }
}

impl Writer {
    /// Creates an account, or replaces the password of an existing one; returns whether it is new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_account(&self, name: &str, hash: &str) -> Result<bool, StoreError> {
        self.database.write(|conn| {
            let known = "SELECT EXISTS (SELECT 1 FROM accounts WHERE name = ?)";
            let known: bool = conn.query_row(known, [name], |row| row.get(0))?;
            let sql = "INSERT INTO accounts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET hash = excluded.hash";
            conn.execute(sql, (name, hash, now()))?;
            Ok(!known)
        })
    }

    /// Deletes an account; returns whether it existed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_account(&self, name: &str) -> Result<bool, StoreError> {
        self.database.write(|conn| Ok(conn.execute("DELETE FROM accounts WHERE name = ?", [name])? > 0))
    }

    /// Creates an account of the pages, or replaces role and password of an existing one; returns whether it is new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_web_account(&self, name: &str, role: Role, hash: &str) -> Result<bool, StoreError> {
        self.database.write(|conn| {
            let known = "SELECT EXISTS (SELECT 1 FROM web_accounts WHERE name = ?)";
            let known: bool = conn.query_row(known, [name], |row| row.get(0))?;
            let sql = "INSERT INTO web_accounts VALUES (?, ?, ?, ?) \
                       ON CONFLICT DO UPDATE SET hash = excluded.hash, role = excluded.role";
            conn.execute(sql, (name, role.to_string(), hash, now()))?;
            Ok(!known)
        })
    }

    /// Deletes an account of the pages; returns whether it existed.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_web_account(&self, name: &str) -> Result<bool, StoreError> {
        self.database.write(|conn| Ok(conn.execute("DELETE FROM web_accounts WHERE name = ?", [name])? > 0))
    }
}

fn web_account(row: &Row<'_>) -> rusqlite::Result<WebAccount> {
    let role: String = row.get(1)?;
    let role = role.parse().map_err(|why| super::row::bad(1, why))?;
    Ok(WebAccount { name: row.get(0)?, role, hash: row.get(2)?, created_at: row.get(3)? })
}

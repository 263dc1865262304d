//! What played as each player, run by run.

use super::{EventId, Store, StoreError, insert::not_json, row};
use referee::{entry::PlayerId, identity::Identity};
use rusqlite::{Connection, Row};

/// What played as a player in a run of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownIdentity {
    /// The player.
    pub player: PlayerId,
    /// Start of the run, in ms since 1970-01-01 UTC.
    pub since: i64,
    /// What played.
    pub identity: Identity,
}

/// Writes an identity for the last run of an event.
pub(crate) fn store(
    player: PlayerId,
    identity: &Identity,
    conn: &Connection,
    event: i64,
) -> rusqlite::Result<usize> {
    let files = serde_json::to_string(&identity.files).map_err(not_json)?;
    let sql = "INSERT OR REPLACE INTO identities
               SELECT ?1, max(seq), ?2, ?3, ?4, ?5, ?6 FROM runs WHERE event = ?1 HAVING max(seq) IS NOT NULL";
    let Identity { program, hash, id_name, .. } = identity;
    conn.prepare_cached(sql)?.execute((event, player.0, program, hash, id_name, files))
}

impl Store {
    /// The identities of an event's engines, oldest run first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn identities(&self, event: EventId) -> Result<Vec<KnownIdentity>, StoreError> {
        self.database().check(|conn| {
            let sql = "SELECT i.player, r.at, i.program, i.sha256, i.id_name, i.files FROM identities i
                       JOIN runs r ON r.event = i.event AND r.seq = i.run WHERE i.event = ? ORDER BY i.run, i.player";
            conn.prepare_cached(sql)?.query_map([event.0], known)?.collect()
        })
    }
}

fn known(row: &Row<'_>) -> rusqlite::Result<KnownIdentity> {
    let files: String = row.get(5)?;
    let files = serde_json::from_str(&files).map_err(|error| row::bad(5, error.to_string()))?;
    let identity = Identity { program: row.get(2)?, hash: row.get(3)?, id_name: row.get(4)?, files };
    Ok(KnownIdentity { player: PlayerId(row.get(0)?), since: row.get(1)?, identity })
}

//! Machines in the database, as they were heard of last: what screens and pages show.

use crate::{
    EventId, Store, StoreError,
    row::{bad, int},
};
use referee::{
    clock::Scale,
    lease::{MachineState, Presence},
};
use rusqlite::{Connection, Row};

/// Writes a machine as it is from now on.
pub(crate) fn store(machine: &MachineState, conn: &Connection, event: i64) -> rusqlite::Result<usize> {
    let MachineState { name, slots, cores, playing, faults, lag, word, seen, held_since, .. } = machine;
    let (nps, scale, presence) = (machine.nps.map(int), machine.scale.thousandths(), machine.presence.word());
    let row = rusqlite::params![
        event, name, slots, cores, nps, scale, playing, faults, lag, presence, word, seen, held_since
    ];
    conn.prepare_cached("INSERT OR REPLACE INTO machines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(row)
}

impl Store {
    /// The machines of an event as they were heard of last, by name; the manager's is none of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn machine_states(&self, EventId(event): EventId) -> Result<Vec<MachineState>, StoreError> {
        let sql =
            "SELECT name, slots, cores, nps, clock_scale, playing, faults, lag_ms, presence, word, seen_at, held_since
             FROM machines WHERE event = ? ORDER BY name";
        self.database.check(|conn| conn.prepare_cached(sql)?.query_map([event], read)?.collect())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<MachineState> {
    let word: String = row.get(8)?;
    let presence = Presence::of(&word);
    Ok(MachineState {
        name: row.get(0)?,
        slots: row.get(1)?,
        cores: row.get(2)?,
        nps: row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs),
        scale: Scale::try_from(row.get::<_, u32>(4)?).map_err(|why| bad(4, why))?,
        playing: row.get(5)?,
        faults: row.get(6)?,
        lag: row.get(7)?,
        presence: presence.ok_or_else(|| bad(8, format!("`{word}` is no presence of a machine")))?,
        word: row.get(9)?,
        seen: row.get(10)?,
        held_since: row.get(11)?,
    })
}

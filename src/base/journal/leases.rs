//! Leases of machines in the database, and which machine played a game.

use crate::{
    EventId, Store, StoreError, Writer, now,
    read::LOST_BY_FAULT,
    row::{bad, int, unsigned},
};
use contest::schedule::Pairing;
use referee::{
    clock::Scale,
    entry::GameId,
    lease::{Committed, Lease, LeaseId, Repeated},
};
use rusqlite::{Connection, OptionalExtension, Row, Rows};
use serde::Serialize;

/// An event that hands games to machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// The event's name on the wire: 32 hexadecimal digits, random.
    pub key: String,
    /// How often a manager has begun to hand its games to machines, this time included.
    pub epoch: u64,
    /// The speed by which clocks are scaled, as JSON; `None` until a machine was measured.
    pub reference: Option<String>,
}

/// A lease of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownLease {
    /// The lease as it was issued.
    pub lease: Lease,
    /// SHA-256 of the answer by which it was committed; `None` while it is not.
    pub sha256: Option<String>,
}

/// What a machine has played of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MachineCounts {
    /// Its name; `None`: that of the manager.
    #[serde(rename = "name")]
    pub machine: Option<String>,
    /// Games that count.
    pub games: u64,
    /// Wins, draws and losses of the player with the lower number, of these games.
    pub results: [u64; 3],
    /// Games lost on time.
    pub time_losses: u64,
    /// Games lost by another fault of an engine.
    pub faults: u64,
    /// Pairs that it has, or was given and never brought back.
    pub open: u64,
    /// By how much its clocks were longer than those of the plan, at least and at most; `None`: no lease of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocks: Option<[Scale; 2]>,
    /// Pairs of it that another machine has played again, and pairs of others that it has.
    pub repeated: u64,
    /// Of these, pairs of which a game was not the same.
    pub differed: u64,
}

const COLUMNS: &str = "lease, epoch, machine, worker, games, sha256, clock_scale";

/// Writes a lease that is about to be handed out.
pub(crate) fn issued(lease: &Lease, conn: &Connection, event: i64) -> rusqlite::Result<usize> {
    let Lease { lease, epoch, machine, worker, scale, games } = lease;
    let games = serde_json::to_string(games).map_err(super::insert::not_json)?;
    let sql = "INSERT INTO leases (event, lease, epoch, machine, worker, games, issued_at, clock_scale)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let row = (event, lease.0.cast_signed(), int(*epoch), machine, worker, games, now(), scale.thousandths());
    conn.prepare_cached(sql)?.execute(row)
}

/// Writes the speed that all machines of an event are compared with.
pub(crate) fn reference(speed: &str, conn: &Connection, event: i64) -> rusqlite::Result<usize> {
    conn.prepare_cached("UPDATE fleets SET reference = ?2 WHERE event = ?1")?.execute((event, speed))
}

/// Writes that the games of a lease are stored, and which machine played them.
pub(crate) fn committed(committed: &Committed, conn: &Connection, event: i64) -> rusqlite::Result<usize> {
    let Committed { lease, machine, sha256, games } = committed;
    let sql = "UPDATE leases SET committed_at = ?3, sha256 = ?4 WHERE event = ?1 AND lease = ?2";
    conn.prepare_cached(sql)?.execute((event, lease.0.cast_signed(), now(), sha256))?;
    let mut played = conn.prepare_cached("UPDATE games SET machine = ?3 WHERE event = ?1 AND number = ?2")?;
    games.iter().try_fold(0, |sum, game| Ok(sum + played.execute((event, int(game.0), machine))?))
}

/// Writes that a pair was played again by another machine.
pub(crate) fn repeated(repeated: &Repeated, conn: &Connection, event: i64) -> rusqlite::Result<usize> {
    let Repeated { game, machine, again, difference } = repeated;
    let sql = "INSERT INTO repeats (event, stage, index_, machine, again, at, difference)
         VALUES (?, ?, ?, ?, ?, ?, ?)";
    let row = (event, game.stage, int(game.index), machine, again, now(), difference);
    conn.prepare_cached(sql)?.execute(row)
}

impl Store {
    /// A lease of an event.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn lease(&self, EventId(event): EventId, lease: LeaseId) -> Result<Option<KnownLease>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM leases WHERE event = ? AND lease = ?");
        self.database.check(|conn| {
            conn.prepare_cached(&sql)?.query_row((event, lease.0.cast_signed()), known).optional()
        })
    }

    /// What each machine has played of an event, the manager's first; empty if nothing was handed to machines.
    /// Games that ended after `until` (ms since 1970-01-01 UTC) are not counted.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn machines(&self, EventId(event): EventId, until: i64) -> Result<Vec<MachineCounts>, StoreError> {
        let games = format!(
            "SELECT machine, count(*),
                coalesce(sum(result = iif(black < white, 'black', 'white')), 0),
                coalesce(sum(result = 'draw'), 0),
                coalesce(sum(result = iif(black < white, 'white', 'black')), 0),
                coalesce(sum(cause = 'time'), 0),
                coalesce(sum({LOST_BY_FAULT} AND cause <> 'time'), 0)
             FROM games WHERE event = ? AND state = 'counted' AND ended_at <= ? GROUP BY machine ORDER BY machine"
        );
        let given =
            "SELECT machine, sum(committed_at IS NULL), min(clock_scale), max(clock_scale) FROM leases
             WHERE event = ? GROUP BY machine ORDER BY machine";
        // A difference is of two machines: nobody knows which of them has played what the engines play.
        let repeats = "SELECT machine, count(*), count(difference) FROM
                (SELECT machine, difference FROM repeats WHERE event = ?1
                 UNION ALL SELECT again, difference FROM repeats WHERE event = ?1)
             GROUP BY machine";
        self.database.check(|conn| {
            // Most events have no machines, and to count a million games takes half a second.
            let has_leases = "SELECT EXISTS (SELECT 1 FROM leases WHERE event = ?)";
            if !conn.query_row(has_leases, [event], |row| row.get(0))? {
                return Ok(vec![]);
            }
            let mut machines = vec![];
            add(&mut machines, conn.prepare(&games)?.query((event, until))?, played)?;
            add(&mut machines, conn.prepare(given)?.query([event])?, given_to)?;
            add(&mut machines, conn.prepare(repeats)?.query([event])?, compared)?;
            Ok(machines)
        })
    }

    /// Whether a machine was ever given games of an event.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_machine(&self, EventId(event): EventId, machine: &str) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM leases WHERE event = ? AND machine = ?)";
        self.database.check(|conn| conn.query_row(sql, (event, machine), |row| row.get(0)))
    }

    /// The games of an event that count and that a machine has played.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn games_of_machine(
        &self,
        EventId(event): EventId,
        machine: &str,
    ) -> Result<Vec<GameId>, StoreError> {
        let sql =
            "SELECT number FROM games WHERE event = ? AND machine = ? AND state = 'counted' ORDER BY number";
        self.database.check(|conn| {
            conn.prepare(sql)?.query_map((event, machine), |row| Ok(GameId(unsigned(row, 0)?)))?.collect()
        })
    }

    /// The leases of an event that are not committed, without those of which a later one that is not committed either has a
    /// game, in the order in which they were issued. Games of one may be over: by a lease that is committed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_leases(&self, EventId(event): EventId) -> Result<Vec<Lease>, StoreError> {
        let sql =
            format!("SELECT {COLUMNS} FROM leases WHERE event = ? AND committed_at IS NULL ORDER BY id DESC");
        self.database.check(|conn| {
            let mut leases = conn.prepare(&sql)?;
            let mut taken = std::collections::HashSet::new();
            let mut open = vec![];
            for lease in leases.query_map([event], known)? {
                let lease = lease?.lease;
                let places = lease.games.iter().map(|game| (game.stage, game.index));
                let later = places.filter(|place| !taken.insert(*place)).count();
                if later == 0 {
                    open.push(lease);
                }
            }
            open.reverse();
            Ok(open)
        })
    }
}

impl Writer {
    /// Notes that a manager begins to hand games of an event to machines: its epoch is raised. `key` is its name on the
    /// wire where it has none yet.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_fleet(&self, EventId(event): EventId, key: &str) -> Result<Fleet, StoreError> {
        let sql = "INSERT INTO fleets (event, key, epoch) VALUES (?1, ?2, 1)
             ON CONFLICT DO UPDATE SET epoch = epoch + 1 RETURNING key, epoch, reference";
        self.database.write(|conn| {
            conn.execute("UPDATE machines SET presence = 'left', playing = 0 WHERE event = ?", [event])?;
            conn.query_row(sql, (event, key), |row| {
                let epoch = row.get::<_, i64>(1)?.unsigned_abs();
                Ok(Fleet { key: row.get(0)?, epoch, reference: row.get(2)? })
            })
        })
    }

    /// Notes the speed that all machines of an event are compared with, as JSON.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_reference(&self, EventId(event): EventId, speed: &str) -> Result<(), StoreError> {
        self.database.write(|conn| reference(speed, conn, event)).map(drop)
    }
}

/// Adds what each row says of the machine in its first column.
fn add(
    machines: &mut Vec<MachineCounts>,
    mut rows: Rows<'_>,
    read: fn(&Row<'_>, &mut MachineCounts) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    while let Some(row) = rows.next()? {
        let machine: Option<String> = row.get(0)?;
        let at = machines.iter().position(|counts| counts.machine == machine).unwrap_or_else(|| {
            machines.push(MachineCounts { machine, ..MachineCounts::default() });
            machines.len() - 1
        });
        read(row, &mut machines[at])?;
    }
    Ok(())
}

fn played(row: &Row<'_>, counts: &mut MachineCounts) -> rusqlite::Result<()> {
    counts.games = unsigned(row, 1)?;
    counts.results = [unsigned(row, 2)?, unsigned(row, 3)?, unsigned(row, 4)?];
    (counts.time_losses, counts.faults) = (unsigned(row, 5)?, unsigned(row, 6)?);
    Ok(())
}

fn given_to(row: &Row<'_>, counts: &mut MachineCounts) -> rusqlite::Result<()> {
    let scale = |at: usize| Scale::try_from(row.get::<_, u32>(at)?).map_err(|why| bad(at, why));
    counts.open = unsigned(row, 1)?;
    counts.clocks = Some([scale(2)?, scale(3)?]);
    Ok(())
}

/// The pairs of a machine that were played twice.
fn compared(row: &Row<'_>, counts: &mut MachineCounts) -> rusqlite::Result<()> {
    (counts.repeated, counts.differed) = (unsigned(row, 1)?, unsigned(row, 2)?);
    Ok(())
}

fn known(row: &Row<'_>) -> rusqlite::Result<KnownLease> {
    let games: Vec<Pairing> = serde_json::from_str(row.get_ref(4)?.as_str()?)
        .map_err(|error| bad(4, format!("the games of a lease: {error}")))?;
    let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
    let lease = Lease {
        lease: LeaseId(number(0)?),
        epoch: number(1)?,
        machine: row.get(2)?,
        worker: row.get(3)?,
        scale: Scale::try_from(row.get::<_, u32>(6)?).map_err(|why| bad(6, why))?,
        games,
    };
    Ok(KnownLease { lease, sha256: row.get(5)? })
}

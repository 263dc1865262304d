//! Following an event that is played, here or by another process: what was committed since the last look.

use super::{
    EventId, Store, StoreError, judgements,
    replay::{event_names, game_moves, log_after, stamped},
    row,
};
use referee::entry::{Entry, GameId, Stamped};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// Follows an event: each look yields what was committed since the last one. Writers are not blocked.
#[derive(Debug)]
pub struct Follower {
    store: Store,
    event: EventId,
    /// Number of the last entry of the log; 0: none.
    seq: u64,
    /// SQLite's data version at the last look. It changes with commits of other connections.
    version: Option<i64>,
    /// Running games, as far as they were seen.
    running: BTreeMap<GameId, Seen>,
}

/// A running game at the last look.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Row id.
    id: i64,
    /// The last ply.
    ply: u32,
    /// Plies before the last position that the judge had looked at, and one more: it looks at later and later ones.
    unjudged: u32,
}

/// Games of one look that began and ended since the last one, beyond which their moves are left out: nobody can watch so
/// many, and all of them are in the database.
const MANY: usize = 256;

impl Follower {
    /// A follower that has seen nothing of the event yet.
    pub fn new(store: Store, event: EventId) -> Self {
        Self { store, event, seq: 0, version: None, running: BTreeMap::new() }
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The event.
    pub fn event(&self) -> EventId {
        self.event
    }

    /// Passes every entry since the last look to `f`, with the database and its number in the log; moves have the number
    /// of the entry before them. The first look leaves out the moves of games that are over.
    ///
    /// # Errors
    /// When the database cannot be read, or holds values that no entry can have.
    pub fn look(&mut self, f: &mut dyn FnMut(&Store, u64, Stamped)) -> Result<(), StoreError> {
        let Self { store, event, seq, version, running } = self;
        store.database().check(|conn| {
            let now = conn.pragma_query_value(None, "data_version", |row| row.get(0))?;
            if *version == Some(now) {
                return Ok(());
            }
            let snapshot = conn.unchecked_transaction()?;
            look(&snapshot, *event, (seq, running), &mut |seq, stamped| f(store, seq, stamped))?;
            *version = Some(now);
            snapshot.commit()
        })
    }
}

fn look(
    conn: &Connection,
    event: EventId,
    (seen, running): (&mut u64, &mut BTreeMap<GameId, Seen>),
    f: &mut dyn FnMut(u64, Stamped),
) -> rusqlite::Result<()> {
    let first = *seen == 0;
    let names = event_names(conn, event)?;
    let mut log = conn.prepare_cached(&log_after())?;
    let mut rows = log.query((event.0, row::int(*seen)))?;
    let (mut begun, mut told) = (BTreeSet::new(), 0);
    while let Some(row) = rows.next()? {
        let seq = row::unsigned(row, 1)?;
        let entry = stamped(conn, event, row, &names)?;
        match &entry.entry {
            Entry::GameStarted(started) => {
                begun.insert(started.game);
                running.insert(started.game, Seen { id: row.get(2)?, ply: 0, unjudged: 0 });
            }
            Entry::GameEnded(end) => {
                let shown = running.remove(&end.game);
                let is_short = begun.remove(&end.game);
                told += usize::from(is_short);
                let is_left_out = first || is_short && told > MANY;
                if let Some(mut shown) = shown.filter(|_| !is_left_out) {
                    since(conn, event, end.game, &mut shown, &mut |entry| f(*seen, entry))?;
                }
            }
            _ => {}
        }
        *seen = seq;
        f(seq, entry);
    }
    for (game, shown) in running {
        since(conn, event, *game, shown, &mut |entry| f(*seen, entry))?;
    }
    Ok(())
}

/// The moves of a game, and what the judge said of it, since it was seen last.
fn since(
    conn: &Connection,
    event: EventId,
    game: GameId,
    shown: &mut Seen,
    f: &mut dyn FnMut(Stamped),
) -> rusqlite::Result<()> {
    game_moves(conn, shown.id, game, shown.ply, &mut |moved| {
        if let Entry::Moved(moved) = &moved.entry {
            shown.ply = moved.ply;
        }
        f(moved);
    })?;
    for (at, judged) in judgements::from(shown.unjudged, game, conn, event)? {
        shown.unjudged = judged.ply + 1;
        f(Stamped { at, entry: Entry::Judged(judged) });
    }
    Ok(())
}

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
    place: Place,
    bounds: LookBounds,
    /// SQLite's data version at the last look. It changes with commits of other connections.
    version: Option<i64>,
}

/// A place in the stream of an event: the entries before it were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// Number of the last entry of the log; 0: none.
    pub seq: u64,
    /// Running games, as far as they were seen.
    pub running: BTreeMap<GameId, Seen>,
}

/// A running game, as far as it was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Row id.
    pub id: i64,
    /// The last ply.
    pub ply: u32,
    /// Plies before the last position that the judge had looked at, and one more: it looks at later and later ones.
    pub unjudged: u32,
}

/// Bounds of a look.
#[derive(Clone, Copy, Debug)]
struct LookBounds {
    /// Games that ended earlier have no moves in the first look, in ms since 1970-01-01 UTC.
    since: i64,
    /// Limit of games that began and ended since the last look and still have their moves in it.
    short_games: usize,
    /// Entries of the log.
    entries: usize,
}

/// Games of one look that began and ended since the last one, beyond which their moves are left out: nobody can watch so
/// many, and all of them are in the database.
const MANY: usize = 256;
/// Entries of the log in one look of a follower that misses nothing.
const PART: usize = 256;

impl Follower {
    /// A follower that has seen nothing of the event yet.
    pub fn new(store: Store, event: EventId) -> Self {
        let bounds = LookBounds { since: i64::MAX, short_games: MANY, entries: usize::MAX };
        Self { store, event, place: Place::default(), bounds, version: None }
    }

    /// The same, whose first look has the moves of games that ended at this time or later, in ms since 1970-01-01 UTC.
    #[must_use]
    pub fn with_moves_since(self, since: i64) -> Self {
        Self { bounds: LookBounds { since, ..self.bounds }, ..self }
    }

    /// A follower that misses nothing after a place. A look yields a part of the log, so that it is short and needs little
    /// memory; one that yields nothing is at its end.
    pub(crate) fn from_place(store: Store, event: EventId, place: Place) -> Self {
        let bounds = LookBounds { since: i64::MIN, short_games: usize::MAX, entries: PART };
        Self { store, event, place, bounds, version: None }
    }

    /// The database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The event.
    pub fn event(&self) -> EventId {
        self.event
    }

    /// True after the first look that found an entry: from then on no moves of the past are left out.
    pub fn has_read(&self) -> bool {
        self.place.seq > 0
    }

    /// Passes every entry since the last look to `f`, with the database and its number in the log; moves have the number
    /// of the entry before them. The first look leaves out the moves of games that are over,
    /// but for [`Self::with_moves_since`].
    ///
    /// # Errors
    /// When the database cannot be read, or holds values that no entry can have.
    pub fn look(&mut self, f: &mut dyn FnMut(&Store, u64, Stamped)) -> Result<(), StoreError> {
        let Self { store, event, place, bounds, version } = self;
        store.database().check(|conn| {
            let now = conn.pragma_query_value(None, "data_version", |row| row.get(0))?;
            if *version == Some(now) {
                return Ok(());
            }
            let snapshot = conn.unchecked_transaction()?;
            let is_all = look(&snapshot, *event, place, *bounds, &mut |seq, stamped| f(store, seq, stamped))?;
            *version = is_all.then_some(now);
            snapshot.commit()
        })
    }
}

/// Returns true at the end of the log.
fn look(
    conn: &Connection,
    event: EventId,
    Place { seq: seen, running }: &mut Place,
    bounds: LookBounds,
    f: &mut dyn FnMut(u64, Stamped),
) -> rusqlite::Result<bool> {
    let (first, mut left) = (*seen == 0, bounds.entries);
    let names = event_names(conn, event)?;
    let mut log = conn.prepare_cached(&log_after())?;
    let mut rows = log.query((event.0, row::int(*seen)))?;
    let (mut begun, mut told) = (BTreeSet::new(), 0);
    while let Some(row) = rows.next()? {
        if left == 0 {
            return Ok(false);
        }
        left -= 1;
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
                let is_past = first && entry.at < bounds.since;
                told += usize::from(is_short && !is_past);
                let is_left_out = is_past || is_short && told > bounds.short_games;
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
    Ok(true)
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

//! Following an event that is played, here or by another process: what was committed since the last look.

use super::{
    EventId, Store, StoreError,
    replay::{event_names, log_after, stamped},
    row::{self, MOVED},
};
use referee::entry::{Entry, GameId, Stamped};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};

/// How far an event was followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Number of the last entry of the log; 0: none.
    pub seq: u64,
    /// Running games, each with its row id and its last ply.
    running: BTreeMap<GameId, (i64, u32)>,
}

/// Games of one look that began and ended since the last one, beyond which their moves are left out: nobody can watch so
/// many, and all of them are in the database.
const MANY: usize = 256;

impl Store {
    /// Passes every entry since the last look to `f`, with its number in the log; moves have the number of the entry
    /// before them. At the first look the moves of games that are over are left out. Writers are not blocked.
    ///
    /// # Errors
    /// When the database cannot be read, or holds values that no entry can have.
    pub fn follow(
        &self,
        event: EventId,
        place: &mut Followed,
        f: &mut dyn FnMut(u64, Stamped),
    ) -> Result<(), StoreError> {
        self.database().check(|conn| {
            let snapshot = conn.unchecked_transaction()?;
            follow(&snapshot, event, place, f)?;
            snapshot.commit()
        })
    }
}

fn follow(
    conn: &Connection,
    event: EventId,
    place: &mut Followed,
    f: &mut dyn FnMut(u64, Stamped),
) -> rusqlite::Result<()> {
    let first = place.seq == 0;
    let names = event_names(conn, event)?;
    let mut log = conn.prepare_cached(&log_after())?;
    let mut rows = log.query((event.0, row::int(place.seq)))?;
    let (mut begun, mut told) = (BTreeSet::new(), 0);
    while let Some(row) = rows.next()? {
        let seq = row::unsigned(row, 1)?;
        let entry = stamped(conn, event, row, &names)?;
        match &entry.entry {
            Entry::GameStarted(started) => {
                begun.insert(started.game);
                place.running.insert(started.game, (row.get(2)?, 0));
            }
            Entry::GameEnded(end) => {
                let shown = place.running.remove(&end.game);
                let is_short = begun.remove(&end.game);
                told += usize::from(is_short);
                let is_left_out = first || is_short && told > MANY;
                if let Some((id, ply)) = shown.filter(|_| !is_left_out) {
                    moves(conn, id, end.game, ply, &mut |moved| f(place.seq, moved))?;
                }
            }
            _ => {}
        }
        place.seq = seq;
        f(seq, entry);
    }
    let seq = place.seq;
    for (game, (id, ply)) in &mut place.running {
        moves(conn, *id, *game, *ply, &mut |moved| {
            if let Entry::Moved(moved) = &moved.entry {
                *ply = moved.ply;
            }
            f(seq, moved);
        })?;
    }
    Ok(())
}

/// The moves of a game after a ply.
fn moves(
    conn: &Connection,
    id: i64,
    game: GameId,
    after: u32,
    f: &mut dyn FnMut(Stamped),
) -> rusqlite::Result<()> {
    let sql = format!("SELECT {MOVED} FROM moves WHERE game = ? AND ply > ? ORDER BY ply");
    let mut moves = conn.prepare_cached(&sql)?;
    let mut rows = moves.query((id, after))?;
    while let Some(row) = rows.next()? {
        let (at, moved) = row::moved(row, game)?;
        f(Stamped { at, entry: Entry::Moved(moved) });
    }
    Ok(())
}

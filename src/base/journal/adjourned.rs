//! The adjourned game from which a game of the schedule is played on.

use super::{EventId, FullGame, GameRow, Store, StoreError, row::int};
use contest::schedule::Pairing;
use referee::{entry::Moved, ids::GameId};
use rusqlite::{OptionalExtension, Row};

/// What was played at a place of the schedule before an attempt, the last first: the cause of each end, and the operation
/// that adjourned the game, or that had it played from its opening.
const BEFORE: &str = "SELECT g.number, g.cause, \
    (SELECT o.action FROM operations o WHERE o.event = g.event AND o.game = g.number \
     AND o.action IN ('adjourned', 'restarted') ORDER BY o.number DESC LIMIT 1) \
    FROM games g WHERE g.event = ?1 AND g.stage = ?2 AND g.index_ = ?3 AND g.attempt < ?4 AND g.result IS NOT NULL \
    ORDER BY g.attempt DESC, g.number DESC";

/// The last game with an end of its own at a place of the schedule before an attempt, and whether it is a draw that is
/// replayed by the rules.
const LAST: &str = "SELECT g.number, g.result = 'draw' AND g.replayed AND g.ruling IS NULL FROM games g \
    WHERE g.event = ?1 AND g.stage = ?2 AND g.index_ = ?3 AND g.attempt < ?4 AND g.result IS NOT NULL \
    AND g.cause NOT IN ('stopped', 'not-started') ORDER BY g.attempt DESC, g.number DESC LIMIT 1";

impl Store {
    /// The game that the operator adjourned at this place of the schedule, if this attempt continues it. An attempt that
    /// was stopped since, or rejected, changes nothing; a game that ended otherwise begins anew.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn adjourned_at(&self, event: EventId, pairing: &Pairing) -> Result<Option<FullGame>, StoreError> {
        let before: Vec<(u64, String, Option<String>)> = self.database().check(|conn| {
            let mut statement = conn.prepare_cached(BEFORE)?;
            let place = (event.0, pairing.stage, int(pairing.index), pairing.attempt);
            let rows = statement.query_map(place, |row| {
                Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?, row.get(2)?))
            })?;
            rows.collect()
        })?;
        for (game, cause, operation) in before {
            match (operation.as_deref(), cause.as_str()) {
                (Some("adjourned"), _) => return self.game(event, GameId(game)),
                (None, "stopped" | "not-started") => {}
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The moves of the games that a game goes on from, in order: the last moves of its opening.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn moves_before(&self, event: EventId, row: &GameRow) -> Result<Vec<(i64, Moved)>, StoreError> {
        let (mut moves, mut row) = (vec![], row.clone());
        while let Some(before) = self.adjourned_at(event, &row.pairing)? {
            let played = before.moves.iter().map(|(_, moved)| moved.mv.to_usi());
            let opening = before.row.opening.iter().flat_map(|opening| opening.split_whitespace());
            let on_board: Vec<_> = opening.map(str::to_owned).chain(played).collect();
            // Where the game could not be read, or had been pruned, this one began at its own opening.
            if !row.opening.is_some_and(|opening| opening.split_whitespace().eq(&on_board)) {
                break;
            }
            moves.splice(0..0, before.moves);
            row = before.row;
        }
        Ok(moves)
    }

    /// The draw that this attempt replays, by the rules of the event. An attempt that was stopped since, or rejected,
    /// changes nothing; after a game that ended otherwise, or that the operator had played again, there is none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn replayed_at(&self, event: EventId, pairing: &Pairing) -> Result<Option<FullGame>, StoreError> {
        let last: Option<(u64, bool)> = self.database().check(|conn| {
            let mut statement = conn.prepare_cached(LAST)?;
            let place = (event.0, pairing.stage, int(pairing.index), pairing.attempt);
            let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?));
            statement.query_row(place, row).optional()
        })?;
        match last {
            Some((game, true)) => self.game(event, GameId(game)),
            _ => Ok(None),
        }
    }
}

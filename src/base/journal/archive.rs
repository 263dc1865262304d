//! Questions of the pages: the games that are over, and what is shown of one of them.

use super::{
    EventId, GameState, Store, StoreError,
    operations::{disqualified, stored},
    row::{self, int, unsigned},
};
use referee::{
    Color,
    entry::{GameId, PlayerId},
    operation::Action,
};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashSet;

/// A game that is over, without what only its record needs. Text is that of the row.
#[derive(Clone, Copy, Debug)]
pub struct EndedGame<'a> {
    /// Number of the game.
    pub game: GameId,
    /// Stage, from 0.
    pub stage: u8,
    /// Round, from 1.
    pub round: u32,
    /// The players, black first.
    pub players: [PlayerId; 2],
    /// Start in ms since 1970-01-01 UTC; `None` when it never began, or its date is unknown.
    pub started: Option<i64>,
    /// End in ms since 1970-01-01 UTC.
    pub ended: i64,
    /// Plies at the end.
    pub plies: u32,
    /// The column `result`.
    pub result: &'a str,
    /// The column `cause`.
    pub cause: &'a str,
    /// True if it counts, for players none of whom is disqualified.
    pub counts: bool,
    /// The names that black and white had in the game, and the Game_ID, where they were asked for.
    pub names: [Option<&'a str>; 3],
}

const COLUMNS: &str =
    "g.number, g.stage, g.round, g.black, g.white, g.started_at, g.ended_at, g.plies, g.result, g.cause,
    g.state";
const NAMES: &str = "(SELECT name FROM players p WHERE p.event = g.event AND p.player = g.black),
    (SELECT name FROM players p WHERE p.event = g.event AND p.player = g.white),
    (SELECT name FROM game_names n WHERE n.event = g.event AND n.number = g.number)";
const NO_NAMES: &str = "NULL, NULL, NULL";
/// Games that ended, or were ruled on, after an entry of the log.
const CHANGED: &str = "g.id IN (
    SELECT game FROM log WHERE event = ?1 AND seq > ?2 AND kind = 'ended'
    UNION SELECT r.id FROM operations o JOIN games r ON r.event = o.event AND r.number = o.game
    WHERE o.event = ?1 AND o.seq > ?2)";

impl Store {
    /// Hands the games that ended, or were ruled on, after an entry of the log to `f`, in the order of their numbers, with
    /// the names of players and game if `with_names`; all games after a disqualification. Returns the number of the last entry, to go on from.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn ended_since(
        &self,
        EventId(event): EventId,
        seq: u64,
        with_names: bool,
        f: &mut dyn FnMut(EndedGame<'_>),
    ) -> Result<u64, StoreError> {
        self.database().check(|conn| {
            let snapshot = conn.unchecked_transaction()?;
            let last = "SELECT coalesce(max(seq), 0) FROM log WHERE event = ?";
            let last = snapshot.prepare_cached(last)?.query_row([event], |row| unsigned(row, 0))?;
            if last > seq {
                let names = if with_names { NAMES } else { NO_NAMES };
                let out = disqualified(&snapshot, event)?;
                let decided = "SELECT EXISTS (SELECT 1 FROM operations WHERE event = ? AND seq > ?
                    AND action = 'disqualified')";
                let decided =
                    snapshot.prepare_cached(decided)?.query_row((event, int(seq)), |row| row.get(0))?;
                // At the first look all games are wanted, which takes no index.
                let which = if seq == 0 || decided { "?2 >= 0" } else { CHANGED };
                let sql = format!(
                    "SELECT {COLUMNS}, {names} FROM games g
                     WHERE g.event = ?1 AND g.ended_at IS NOT NULL AND {which} ORDER BY g.number"
                );
                let swaps = if with_names { swaps(&snapshot, event)? } else { vec![] };
                let mut games = snapshot.prepare_cached(&sql)?;
                let mut rows = games.query((event, int(seq)))?;
                while let Some(row) = rows.next()? {
                    let game = ended_game(row, &swaps)?;
                    let counts = game.counts && !game.players.iter().any(|player| out.contains(player));
                    f(EndedGame { counts, ..game });
                }
            }
            snapshot.commit()?;
            Ok(last)
        })
    }

    /// The names that black and white of a game had in it, and its Game_ID if it has one; `None` if there is no such game.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn names(&self, EventId(event): EventId, game: GameId) -> Result<Option<Vec<String>>, StoreError> {
        self.database().check(|conn| {
            let swaps = swaps(conn, event)?;
            let sql = format!("SELECT {COLUMNS}, {NAMES} FROM games g WHERE g.event = ? AND g.number = ?");
            let mut games = conn.prepare_cached(&sql)?;
            let mut rows = games.query((event, int(game.0)))?;
            let Some(row) = rows.next()? else { return Ok(None) };
            let names = ended_game(row, &swaps)?.names;
            Ok(Some(names.into_iter().flatten().map(str::to_owned).collect()))
        })
    }

    /// Hands the first moves of a game to `f` in USI, those of its opening included, `most` at most.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn first_moves(
        &self,
        event: EventId,
        game: GameId,
        most: usize,
        f: &mut dyn FnMut(&str),
    ) -> Result<(), StoreError> {
        self.database().check(|conn| first_moves(conn, (event.0, int(game.0)), most, f))
    }

    /// Games that began or ended after an entry of the log, up to another one, and are over: the first 2,000.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn changed_games(
        &self,
        EventId(event): EventId,
        after: u64,
        until: u64,
    ) -> Result<Vec<GameId>, StoreError> {
        let sql = "SELECT DISTINCT g.number FROM log l JOIN games g ON g.id = l.game
             WHERE l.event = ? AND l.seq > ? AND l.seq <= ? AND g.ended_at IS NOT NULL
             ORDER BY g.number LIMIT 2000";
        self.database().check(|conn| {
            conn.prepare_cached(sql)?.query_map((event, int(after), int(until)), number)?.collect()
        })
    }

    /// Games that ended after a time, in ms since 1970-01-01 UTC.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn games_ended_after(
        &self,
        EventId(event): EventId,
        time: i64,
    ) -> Result<HashSet<GameId>, StoreError> {
        let sql = "SELECT number FROM games WHERE event = ? AND ended_at > ?";
        self.database().check(|conn| conn.prepare_cached(sql)?.query_map((event, time), number)?.collect())
    }

    /// The last game that a login name has lines of, that ended until a time and that `is_shown`, with the name's colour
    /// in it. In an open league a player's name is the login name with a trip.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_game_of(
        &self,
        EventId(event): EventId,
        login: &str,
        until: i64,
        is_shown: &mut dyn FnMut(GameId, i64) -> bool,
    ) -> Result<Option<(GameId, Color)>, StoreError> {
        let sql = "SELECT g.number, g.black = p.player, g.ended_at FROM games g
             JOIN players p ON p.event = g.event AND p.player IN (g.black, g.white)
             WHERE g.event = ?1 AND g.ended_at <= ?2
             AND (p.name = ?3 OR substr(p.name, 1, length(?3) + 1) = ?3 || '+')
             AND EXISTS (SELECT 1 FROM wire w WHERE w.event = g.event AND w.number = g.number)
             ORDER BY g.number DESC";
        self.database().check(|conn| {
            let mut games = conn.prepare_cached(sql)?;
            let mut rows = games.query((event, until, login))?;
            while let Some(row) = rows.next()? {
                let game = number(row)?;
                if is_shown(game, row.get(2)?) {
                    let color = if row.get(1)? { Color::Black } else { Color::White };
                    return Ok(Some((game, color)));
                }
            }
            Ok(None)
        })
    }
}

fn number(row: &Row<'_>) -> rusqlite::Result<GameId> {
    unsigned(row, 0).map(GameId)
}

/// A place that was given to a substitute: since when, and who had it until then.
type Swap = (i64, PlayerId, String);

/// The places that were given to substitutes, the first first.
fn swaps(conn: &Connection, event: i64) -> rusqlite::Result<Vec<Swap>> {
    let sql = "SELECT * FROM operations WHERE event = ? AND action = 'swapped' ORDER BY seq";
    let swap = |row: &Row<'_>| match stored(row)?.action {
        Action::Swapped { player, out, .. } => Ok(Some((row.get(2)?, player, out))),
        _ => Ok(None),
    };
    conn.prepare_cached(sql)?.query_map([event], swap)?.filter_map(Result::transpose).collect()
}

/// Of a game that runs, the end is that of time.
fn ended_game<'a>(row: &'a Row<'_>, swaps: &'a [Swap]) -> rusqlite::Result<EndedGame<'a>> {
    let text = |at: usize| row.get_ref(at)?.as_str_or_null().map_err(|why| row::bad(at, why.to_string()));
    let players = [PlayerId(row.get(3)?), PlayerId(row.get(4)?)];
    let ended = row.get::<_, Option<i64>>(6)?.unwrap_or(i64::MAX);
    // A player's place is given away between two games.
    let former = |player: PlayerId| swaps.iter().find(|(at, of, _)| *of == player && *at >= ended);
    let [black, white] = players.map(|player| former(player).map(|(_, _, out)| out.as_str()));
    Ok(EndedGame {
        game: number(row)?,
        stage: row.get(1)?,
        round: row.get(2)?,
        players,
        started: row.get(5)?,
        ended,
        plies: row.get::<_, Option<u32>>(7)?.unwrap_or(0),
        result: text(8)?.unwrap_or_default(),
        cause: text(9)?.unwrap_or_default(),
        counts: text(10)? == Some(GameState::Counted.name()),
        names: [
            text(11)?.map(|now| black.unwrap_or(now)),
            text(12)?.map(|now| white.unwrap_or(now)),
            text(13)?,
        ],
    })
}

/// The opening of a game is one text of its row; its own moves are rows of their own, by their plies.
fn first_moves(
    conn: &Connection,
    game: (i64, i64),
    most: usize,
    f: &mut dyn FnMut(&str),
) -> rusqlite::Result<()> {
    let sql = "SELECT id, coalesce(opening_moves, '') FROM games WHERE event = ? AND number = ?";
    let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    let found = conn.prepare_cached(sql)?.query_row(game, row).optional()?;
    let Some((id, opening)) = found else { return Ok(()) };
    opening.split_whitespace().take(most).for_each(&mut *f);
    let known = opening.split_whitespace().count();
    let sql = "SELECT move FROM moves WHERE game = ? AND ply > ? AND ply <= ? ORDER BY ply";
    let mut moves = conn.prepare_cached(sql)?;
    let mut rows = moves.query((id, known as i64, most as i64))?;
    while let Some(row) = rows.next()? {
        f(row.get_ref(0)?.as_str()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fineness, Writer};

    fn ended(number: u32, black: u32, white: u32) -> String {
        format!(
            "INSERT INTO games (id, event, number, stage, index_, attempt, round, pair, opening, black, white, ended_at,
             result, cause, plies, opening_moves)
             VALUES ({number}, 1, {number}, 0, 0, 0, 1, 0, 0, {black}, {white}, {number}, 'black', 'mate', 9, '7g7f 3c3d');
             INSERT INTO moves (game, ply, color, move, at, charged_ms, elapsed_us, left_ms)
             VALUES ({number}, 3, 0, '2g2f', 0, 0, 0, 0), ({number}, 4, 1, '8c8d', 0, 0, 0, 0);
             INSERT INTO wire VALUES (1, {number}, 0, 0, 0, x'');
             INSERT INTO log VALUES (1, {number}, 'ended', {number});
             INSERT INTO game_names VALUES (1, {number}, 'game{number}');"
        )
    }

    fn league() -> (tempfile::TempDir, Writer) {
        let directory = tempfile::tempdir().unwrap();
        let store = Writer::open(directory.path().join("event.db")).unwrap();
        let event =
            "INSERT INTO events (id, name, created_at, plan, fingerprint) VALUES (1, 'e', 0, '{}', '');
             INSERT INTO players VALUES (1, 0, 'mori'), (1, 1, 'kawa'), (1, 2, 'kawa+trip');";
        let games = [ended(1, 0, 1), ended(2, 2, 0), ended(3, 1, 0)].concat();
        store.database().conn.execute_batch(&(event.to_owned() + &games)).unwrap();
        (directory, store)
    }

    #[test]
    fn ended_games_come_once_and_a_game_that_is_ruled_on_again() {
        let (_directory, store) = league();
        let look = |seq: u64, with_names: bool| {
            let mut found = vec![];
            let each = &mut |game: EndedGame<'_>| {
                let name = game.names[2].map(str::to_owned);
                found.push((game.game.0, name));
            };
            (store.ended_since(EventId(1), seq, with_names, each).unwrap(), found)
        };
        assert_eq!(look(0, false), (3, vec![(1, None), (2, None), (3, None)]));
        assert_eq!(look(2, true), (3, vec![(3, Some("game3".to_owned()))]));
        assert_eq!(look(3, true), (3, vec![]));
        let ruled =
            "INSERT INTO operations (event, seq, at, number, by_, reason, action, game, words, details)
             VALUES (1, 4, 7, 1, 'kai', 'a fault', 'restarted', 2, '', '{\"action\":\"restarted\",\"game\":2,\"black\":\"kawa+trip\",\"white\":\"mori\",\"round\":1}');
             INSERT INTO log VALUES (1, 4, 'operation', NULL);";
        store.database().conn.execute_batch(ruled).unwrap();
        assert_eq!(look(3, false), (4, vec![(2, None)]));
        let about = |until| store.operations_about(EventId(1), GameId(2), until).unwrap();
        assert_eq!(about(7).iter().map(|operation| &*operation.reason).collect::<Vec<_>>(), ["a fault"]);
        assert!(about(6).is_empty());
    }

    #[test]
    fn games_of_a_disqualified_player_count_for_nobody_until_that_is_taken_back() {
        let (_directory, store) = league();
        let decided = |seq: u64, holds: bool| {
            let sql = format!(
                "INSERT INTO operations (event, seq, at, number, by_, reason, action, words, details)
                 VALUES (1, {seq}, 7, {seq}, 'kai', 'by proof', 'disqualified', '',
                 '{{\"action\":\"disqualified\",\"player\":1,\"name\":\"kawa\",\"stage\":0,\"round\":1,\"holds\":{holds}}}');
                 INSERT INTO log VALUES (1, {seq}, 'operation', NULL);"
            );
            store.database().conn.execute_batch(&sql).unwrap();
        };
        let counting = |seq: u64| {
            let mut found = vec![];
            let each = &mut |game: EndedGame<'_>| found.push((game.game.0, game.counts));
            store.ended_since(EventId(1), seq, false, each).unwrap();
            let fineness = Fineness { moments: &[], by_day: false };
            let tallies = store.tallies(EventId(1), fineness).unwrap();
            (found, tallies.iter().map(|tally| tally.results.iter().sum::<u64>()).sum::<u64>())
        };
        assert_eq!(counting(3), (vec![], 3));
        decided(4, true);
        let struck = vec![(1, false), (2, true), (3, false)];
        assert_eq!(counting(3), (struck.clone(), 1), "all games are looked at again");
        assert_eq!((counting(0).0, counting(4).0), (struck, vec![]));
        decided(5, false);
        assert_eq!(counting(4), (vec![(1, true), (2, true), (3, true)], 3));
    }

    #[test]
    fn a_game_has_the_names_that_its_players_had_then() {
        let (_directory, store) = league();
        // The place of the second player was given away after its second game.
        let swapped = "INSERT INTO operations (event, seq, at, number, by_, reason, action, words, details)
             VALUES (1, 4, 2, 1, 'kai', 'ill', 'swapped', '', '{\"action\":\"swapped\",\"player\":0,\"out\":\"secret\",\"substitute\":\"mori\"}')";
        store.database().conn.execute_batch(swapped).unwrap();
        let names = |game| store.names(EventId(1), GameId(game)).unwrap().map(|names| names.join(" "));
        let known = [1, 2, 3, 4].map(names);
        let known = known.each_ref().map(|names| names.as_deref());
        assert_eq!(
            known,
            [Some("secret kawa game1"), Some("kawa+trip secret game2"), Some("kawa mori game3"), None]
        );
        let mut ended = vec![];
        let each =
            &mut |game: EndedGame<'_>| ended.push(game.names.map(|name| name.unwrap().to_owned()).join(" "));
        store.ended_since(EventId(1), 0, true, each).unwrap();
        assert_eq!(ended.iter().map(|names| Some(names.as_str())).collect::<Vec<_>>(), known[..3]);
    }

    #[test]
    fn first_moves_begin_with_the_opening() {
        let (_directory, store) = league();
        let first = |most: usize| {
            let mut moves = vec![];
            store.first_moves(EventId(1), GameId(1), most, &mut |usi| moves.push(usi.to_owned())).unwrap();
            moves
        };
        assert_eq!(first(1), ["7g7f"]);
        assert_eq!(first(3), ["7g7f", "3c3d", "2g2f"]);
        assert_eq!(first(9).len(), 4);
    }

    #[test]
    fn games_are_found_by_entry_by_time_and_by_login_name() {
        let (_directory, store) = league();
        let event = EventId(1);
        assert_eq!(store.changed_games(event, 1, 2).unwrap(), [GameId(2)]);
        assert_eq!(store.games_ended_after(event, 2).unwrap(), HashSet::from([GameId(3)]));
        let last = |until: i64, hidden: u64| {
            store.last_game_of(event, "kawa", until, &mut |game, _| game.0 != hidden).unwrap()
        };
        assert_eq!(last(9, 0), Some((GameId(3), Color::Black)));
        assert_eq!(last(9, 3), Some((GameId(2), Color::Black)), "the name has a trip there");
        assert_eq!(last(1, 0), Some((GameId(1), Color::White)));
        assert_eq!(last(0, 0), None);
    }
}

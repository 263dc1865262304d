//! The games that are over, in memory: a search of a million of them takes milliseconds there, and a second in the
//! database. A game takes 64 bytes.

use journal::{EventId, Store};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::HashMap;

/// First moves of a game that are kept.
pub const KEPT: usize = 8;

/// Games whose first moves are read at once while nobody asks.
const AT_ONCE: usize = 500;

/// Who won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// Black.
    Black,
    /// White.
    White,
    /// Nobody; the game counts.
    Draw,
    /// The game does not count.
    None,
}

impl Result {
    fn of(word: &str) -> Self {
        match word {
            "black" => Self::Black,
            "white" => Self::White,
            "draw" => Self::Draw,
            _ => Self::None,
        }
    }

    /// `black`, `white`, `draw` or `none`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::White => "white",
            Self::Draw => "draw",
            Self::None => "none",
        }
    }
}

/// A game that is over.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Number of the game.
    pub number: u64,
    /// Black and white, by number.
    pub players: [u32; 2],
    /// Start in ms since 1970-01-01 UTC; `i64::MIN` for a game that never began.
    pub started: i64,
    /// End in the same.
    pub ended: i64,
    /// Plies at the end.
    pub plies: u32,
    /// The winner.
    pub result: Result,
    /// Whether it counts.
    pub counts: bool,
    /// The cause of its ending, in [`Catalogue::causes`].
    cause: u16,
    /// Codes of its first moves, 0 after the last; unknown before [`Catalogue::read_openings`].
    moves: [u16; KEPT],
}

/// The games of an event that are over, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Catalogue {
    games: Vec<Entry>,
    causes: Vec<String>,
    places: HashMap<String, u16>,
    /// The last entry of the log that was read.
    seq: i64,
    /// Number of the first game whose moves are not known yet.
    unread: u64,
}

const COLUMNS: &str =
    "g.number, g.black, g.white, g.started_at, g.ended_at, g.plies, g.result, g.cause, g.state";

/// Further columns: the names that a pattern of `[http] private` may fit.
const NAMES: &str = "
    (SELECT name FROM players p WHERE p.event = g.event AND p.player = g.black),
    (SELECT name FROM players p WHERE p.event = g.event AND p.player = g.white),
    (SELECT name FROM game_names n WHERE n.event = g.event AND n.number = g.number)";

/// The columns that are read; the names only where there are patterns.
fn columns(private: &[String]) -> String {
    format!("{COLUMNS}, {}", if private.is_empty() { "NULL, NULL, NULL" } else { NAMES })
}

/// Whether a row of [`columns`] is that of a private game. The store is asked, because the feed may not have come to the
/// game yet.
fn is_private(row: &Row<'_>, private: &[String]) -> rusqlite::Result<bool> {
    let fits = |at: usize| -> rusqlite::Result<bool> {
        let name: Option<String> = row.get(at)?;
        Ok(name.is_some_and(|name| plan::http::is_private(private, &name)))
    };
    Ok(!private.is_empty() && (fits(9)? || fits(10)? || fits(11)?))
}

/// Games that ended, or were ruled on, after an entry of the log.
pub const CHANGED: &str = "
    SELECT game FROM log WHERE event = ?1 AND seq > ?2 AND kind = 'ended'
    UNION SELECT g.id FROM operations o JOIN games g ON g.event = o.event AND g.number = o.game
    WHERE o.event = ?1 AND o.seq > ?2";

impl Catalogue {
    /// Takes what ended since the last call, without the games that fit a pattern of `private`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn refresh(
        &mut self,
        store: &Store,
        EventId(event): EventId,
        private: &[String],
    ) -> rusqlite::Result<()> {
        let snapshot = store.connection().unchecked_transaction()?;
        let last = "SELECT max(seq) FROM log WHERE event = ?";
        let last = snapshot.prepare_cached(last)?.query_row([event], |row| row.get::<_, Option<i64>>(0))?;
        let Some(last) = last.filter(|last| *last > self.seq) else { return snapshot.commit() };
        if self.seq == 0 {
            self.read_all(&snapshot, event, private)?;
        } else {
            self.read_changed(&snapshot, event, private)?;
        }
        self.seq = last;
        snapshot.commit()
    }

    /// Takes what ended since the last call, and a part of the first moves that are not known yet. Returns whether all are
    /// known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn prepare(&mut self, store: &Store, event: EventId, private: &[String]) -> rusqlite::Result<bool> {
        self.refresh(store, event, private)?;
        self.read_openings(store, event, false)
    }

    fn read_all(&mut self, conn: &Connection, event: i64, private: &[String]) -> rusqlite::Result<()> {
        let columns = columns(private);
        let sql = format!(
            "SELECT {columns} FROM games g WHERE g.event = ? AND g.ended_at IS NOT NULL ORDER BY g.number"
        );
        let mut games = conn.prepare(&sql)?;
        let mut rows = games.query([event])?;
        while let Some(row) = rows.next()? {
            if is_private(row, private)? {
                continue;
            }
            let game = self.entry(row)?;
            self.games.push(game);
        }
        Ok(())
    }

    fn read_changed(&mut self, conn: &Connection, event: i64, private: &[String]) -> rusqlite::Result<()> {
        let columns = columns(private);
        let sql =
            format!("SELECT {columns} FROM games g WHERE g.id IN ({CHANGED}) AND g.ended_at IS NOT NULL");
        let mut games = conn.prepare_cached(&sql)?;
        let mut rows = games.query([event, self.seq])?;
        while let Some(row) = rows.next()? {
            if is_private(row, private)? {
                continue;
            }
            let game = self.entry(row)?;
            match self.games.binary_search_by_key(&game.number, |known| known.number) {
                Ok(at) => self.games[at] = Entry { moves: self.games[at].moves, ..game },
                Err(at) => {
                    // A game may end after one with a higher number whose moves are known already.
                    self.unread = self.unread.min(game.number);
                    self.games.insert(at, game);
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, row: &Row<'_>) -> rusqlite::Result<Entry> {
        let cause = row.get_ref(7)?.as_str_or_null()?.unwrap_or_default();
        Ok(Entry {
            number: row.get::<_, i64>(0)?.unsigned_abs(),
            players: [row.get(1)?, row.get(2)?],
            started: row.get::<_, Option<i64>>(3)?.unwrap_or(i64::MIN),
            ended: row.get(4)?,
            plies: row.get::<_, Option<u32>>(5)?.unwrap_or(0),
            result: Result::of(row.get_ref(6)?.as_str_or_null()?.unwrap_or_default()),
            counts: row.get_ref(8)?.as_str_or_null()? == Some("counted"),
            cause: self.cause_place(cause),
            moves: [0; KEPT],
        })
    }

    /// The place of a cause in their list. A database of somebody else may have any number of them.
    fn cause_place(&mut self, cause: &str) -> u16 {
        if let Some(place) = self.places.get(cause) {
            return *place;
        }
        let place = u16::try_from(self.causes.len()).unwrap_or(u16::MAX);
        if place < u16::MAX {
            self.causes.push(cause.to_owned());
            self.places.insert(cause.to_owned(), place);
        }
        place
    }

    /// The games, newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Entry> {
        self.games.iter().rev()
    }

    /// The cause of a game's ending.
    #[must_use]
    pub fn cause(&self, game: &Entry) -> &str {
        self.causes.get(usize::from(game.cause)).map_or("", String::as_str)
    }

    /// Whether each cause, by its place, fits.
    #[must_use]
    pub fn causes(&self, fits: impl Fn(&str) -> bool) -> Vec<bool> {
        self.causes.iter().map(|cause| fits(cause)).collect()
    }

    /// Reads the first moves of games that are not known yet: all of them, or a part while nobody asks. Returns whether
    /// all are known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_openings(
        &mut self,
        store: &Store,
        EventId(event): EventId,
        all: bool,
    ) -> rusqlite::Result<bool> {
        let first = self.games.partition_point(|game| game.number < self.unread);
        let most = if all { usize::MAX } else { AT_ONCE };
        let conn = store.connection();
        for game in self.games[first..].iter_mut().take(most) {
            if game.moves[0] == 0 {
                game.moves = first_moves(conn, event, game.number)?;
            }
            self.unread = game.number + 1;
        }
        Ok(self.games.last().is_none_or(|last| last.number < self.unread))
    }
}

impl Entry {
    /// Whether a player, by number, takes part.
    #[must_use]
    pub fn has(&self, player: u32) -> bool {
        self.players.contains(&player)
    }

    /// Whether the cause of its ending is one of these, by their places.
    #[must_use]
    pub fn ended_by(&self, causes: &[bool]) -> bool {
        causes.get(usize::from(self.cause)).copied().unwrap_or(false)
    }

    /// Whether the game begins with these moves, as far as its own first moves are kept.
    #[must_use]
    pub fn begins_with(&self, moves: &[u16]) -> bool {
        moves.iter().zip(&self.moves).all(|(asked, played)| asked == played)
    }
}

/// The codes of a game's first moves, those of its opening included.
fn first_moves(conn: &Connection, event: i64, number: u64) -> rusqlite::Result<[u16; KEPT]> {
    let mut codes = [0; KEPT];
    let sql = "SELECT id, coalesce(opening_moves, '') FROM games WHERE event = ? AND number = ?";
    let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    let found = conn.prepare_cached(sql)?.query_row((event, number.cast_signed()), row).optional()?;
    let Some((id, opening)) = found else { return Ok(codes) };
    let mut known = 0;
    for (code, usi) in codes.iter_mut().zip(opening.split_whitespace()) {
        *code = code_of(usi);
        known += 1;
    }
    let sql = "SELECT move FROM moves WHERE game = ? AND ply > ? AND ply <= ? ORDER BY ply";
    let mut moves = conn.prepare_cached(sql)?;
    let mut rows = moves.query((id, known as i64, KEPT as i64))?;
    for code in &mut codes[known..] {
        let Some(row) = rows.next()? else { break };
        *code = code_of(row.get_ref(0)?.as_str()?);
    }
    Ok(codes)
}

/// A code for a move in USI; no two moves have the same, and none has 0.
#[must_use]
pub fn code_of(usi: &str) -> u16 {
    let bytes = usi.as_bytes();
    let square = |at: usize| -> Option<u16> {
        let (file, rank) = (bytes.get(at)?.checked_sub(b'1')?, bytes.get(at + 1)?.checked_sub(b'a')?);
        (file < 9 && rank < 9).then(|| u16::from(file) * 9 + u16::from(rank))
    };
    let from = match bytes {
        [piece, b'*', ..] => b"PLNSBRG".iter().position(|known| known == piece).map(|at| 81 + at as u16),
        _ => square(0),
    };
    let is_promotion = u16::from(bytes.get(4) == Some(&b'+'));
    match (from, square(2)) {
        (Some(from), Some(to)) => 2 * (81 * from + to) + is_promotion + 1,
        _ => u16::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_games_are_left_out_by_what_the_store_says_of_them() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("event.db")).unwrap();
        let game = |number: u32, black: u32, white: u32| {
            format!(
                "INSERT INTO games (id, event, number, stage, index_, attempt, round, pair, opening, black, white, ended_at, \
                 result, cause, plies) VALUES ({number}, 1, {number}, 0, 0, 0, 1, 0, 0, {black}, {white}, 5, 'black', 'mate', 9);
                 INSERT INTO log VALUES (1, {number}, 'ended', {number});
                 INSERT INTO game_names VALUES (1, {number}, 'game{number}');"
            )
        };
        let write = |sql: &str| store.connection().execute_batch(sql).unwrap();
        write(
            "INSERT INTO events (id, name, created_at, plan, fingerprint) VALUES (1, 'e', 0, '{}', '');
             INSERT INTO players VALUES (1, 0, 'mori'), (1, 1, 'kawa'), (1, 2, 'secret+trip');",
        );
        write(&[game(1, 0, 1), game(2, 0, 2), game(3, 1, 0)].concat());
        let private = ["secret".to_owned(), "game3".to_owned(), "game5".to_owned()];
        let mut catalogue = Catalogue::default();
        let numbers = |catalogue: &Catalogue| catalogue.newest().map(|game| game.number).collect::<Vec<_>>();
        catalogue.refresh(&store, EventId(1), &private).unwrap();
        assert_eq!(numbers(&catalogue), [1]);
        write(&[game(4, 1, 0), game(5, 0, 1), game(6, 2, 1)].concat());
        catalogue.refresh(&store, EventId(1), &private).unwrap();
        assert_eq!(numbers(&catalogue), [4, 1], "also of games that ended since");
        let mut all = Catalogue::default();
        all.refresh(&store, EventId(1), &[]).unwrap();
        assert_eq!(numbers(&all), [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn moves_have_codes_of_their_own() {
        let moves = ["7g7f", "7f7g", "8h2b", "8h2b+", "P*2b", "R*2b", "1a1b", "9i9h", "resign"];
        let mut codes: Vec<u16> = moves.iter().map(|usi| code_of(usi)).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), moves.len());
        assert!(codes[0] > 0);
    }

    #[test]
    fn a_game_is_small() {
        assert!(size_of::<Entry>() <= 64, "{}", size_of::<Entry>());
    }
}

//! What play over a network leaves beside the events: names of games, what was said in them, buoys.

use super::{EventId, Store, StoreError, row::int};
use referee::{Color, event::GameId};
use rusqlite::{Connection, OptionalExtension};
use std::{
    io::Write,
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// A piece of a tape is stored when it has so many bytes, or is so old.
const PIECE: usize = 4096;
const AGE: Duration = Duration::from_secs(10);
/// Bytes kept of what was said on one line in one game.
const TAPE: usize = 256 * 1024;

/// Something to be kept that is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aside {
    /// How the players know a game.
    Named(GameId, String),
    /// A piece of what was said in a game.
    Said(TapePiece),
    /// A buoy as it is from now on.
    Buoy(StoredBuoy),
    /// A buoy of that name is no more.
    NoBuoy(String),
}

/// Moves that games of a name start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBuoy {
    /// The name of the games.
    pub name: String,
    /// The moves, in CSA.
    pub moves: Vec<String>,
    /// Who set it.
    pub owner: String,
    /// Games still to come.
    pub left: i64,
}

/// Asides on their way to the writer; whoever has the writer takes them along.
#[derive(Clone, Debug, Default)]
pub struct Asides(Arc<Pile>);

#[derive(Debug, Default)]
struct Pile {
    asides: Mutex<Vec<Aside>>,
    /// Tapes that run.
    running: Mutex<usize>,
    stopped: Condvar,
}

impl Asides {
    /// One more.
    pub fn push(&self, aside: Aside) {
        locked(&self.0.asides).push(aside);
    }

    /// All there are.
    #[must_use]
    pub fn take(&self) -> Vec<Aside> {
        mem::take(&mut locked(&self.0.asides))
    }

    /// Waits, so long at most, until every tape has ended.
    pub fn settle(&self, patience: Duration) {
        let running = locked(&self.0.running);
        let _late = self.0.stopped.wait_timeout_while(running, patience, |running| *running > 0);
    }

    fn count(&self, change: impl FnOnce(&mut usize)) {
        change(&mut locked(&self.0.running));
        self.0.stopped.notify_all();
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which way a line went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the other side.
    Received,
    /// To the other side.
    Sent,
}

/// What is said on one player's line in one game, as it is said; bounded.
#[derive(Debug)]
pub struct Tape {
    game: GameId,
    color: Color,
    part: u32,
    /// The beginning of the piece, by both clocks.
    began: (Instant, i64),
    lines: Vec<u8>,
    kept: usize,
    asides: Asides,
}

/// A piece of a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapePiece {
    /// The game.
    pub game: GameId,
    /// Whose line.
    pub color: Color,
    /// Its place among the pieces of the line, from 0.
    pub part: u32,
    /// When it begins, in ms since 1970-01-01 UTC.
    pub at: i64,
    /// For each line: microseconds since `at`, `<` or `>`, the bytes as they were, LF.
    pub lines: Vec<u8>,
}

/// A line of a tape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TapeLine {
    /// Microseconds since 1970-01-01 UTC.
    pub at: i64,
    /// Whose line.
    pub color: Color,
    /// Which way.
    pub way: Way,
    /// The bytes as they were, without the line's end.
    pub bytes: Vec<u8>,
}

impl Tape {
    /// An empty tape; its pieces go to `asides`.
    #[must_use]
    pub fn new(game: GameId, color: Color, asides: Asides) -> Self {
        let began = (Instant::now(), super::now());
        asides.count(|running| *running += 1);
        Self { game, color, part: 0, began, lines: vec![], kept: 0, asides }
    }

    /// A line was read or written at that instant.
    pub fn line(&mut self, at: Instant, way: Way, bytes: &[u8]) {
        if self.kept >= TAPE {
            return;
        }
        if self.lines.is_empty() {
            self.began = (at, super::now() - age_ms(at));
        }
        let (begun, after) = (self.lines.len(), at.saturating_duration_since(self.began.0));
        let way = if way == Way::Received { '<' } else { '>' };
        let _infallible = write!(self.lines, "{} {way} ", after.as_micros());
        self.lines.extend_from_slice(bytes);
        self.lines.push(b'\n');
        self.kept += self.lines.len() - begun;
        if self.kept >= TAPE {
            let _infallible =
                writeln!(self.lines, "{} {way} (no more is kept of this line)", after.as_micros());
        }
        if self.lines.len() >= PIECE || after >= AGE {
            self.cut();
        }
    }

    /// Hands over what was said since the last piece.
    pub fn cut(&mut self) {
        if !self.lines.is_empty() {
            let Self { game, color, part, began: (_, at), .. } = *self;
            let lines = mem::take(&mut self.lines);
            self.asides.push(Aside::Said(TapePiece { game, color, part, at, lines }));
            self.part += 1;
        }
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        self.cut();
        self.asides.count(|running| *running -= 1);
    }
}

fn age_ms(at: Instant) -> i64 {
    i64::try_from(at.elapsed().as_millis()).unwrap_or(0)
}

impl TapePiece {
    /// Its lines; what cannot be read as one is passed over.
    pub fn lines(&self) -> impl Iterator<Item = TapeLine> {
        self.lines.split(|b| *b == b'\n').filter_map(|line| {
            let (micros, rest) = line.split_at(line.iter().position(|b| *b == b' ')?);
            let way = match rest.get(1)? {
                b'<' => Way::Received,
                _ => Way::Sent,
            };
            let micros: i64 = str::from_utf8(micros).ok()?.parse().ok()?;
            let at = self.at.saturating_mul(1000).saturating_add(micros);
            Some(TapeLine { at, color: self.color, way, bytes: rest.get(3..)?.to_vec() })
        })
    }
}

impl Aside {
    pub(super) fn store(&self, conn: &Connection, EventId(event): EventId) -> rusqlite::Result<()> {
        match self {
            Self::Named(game, name) => conn
                .prepare_cached("INSERT OR REPLACE INTO game_names VALUES (?, ?, ?)")?
                .execute((event, int(game.0), name)),
            Self::Said(piece) => {
                let TapePiece { game, color, part, at, lines } = piece;
                conn.prepare_cached("INSERT OR REPLACE INTO wire VALUES (?, ?, ?, ?, ?, ?)")?.execute((
                    event,
                    int(game.0),
                    color.index() as i64,
                    part,
                    at,
                    lines,
                ))
            }
            Self::Buoy(StoredBuoy { name, moves, owner, left }) => conn
                .prepare_cached("INSERT OR REPLACE INTO buoys VALUES (?, ?, ?, ?, ?)")?
                .execute((event, name, moves.concat(), owner, left)),
            Self::NoBuoy(name) => {
                conn.prepare_cached("DELETE FROM buoys WHERE event = ? AND name = ?")?.execute((event, name))
            }
        }
        .map(drop)
    }
}

impl Store {
    /// The buoys of an event.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn buoys(&self, event: EventId) -> Result<Vec<StoredBuoy>, StoreError> {
        self.database.check(|conn| {
            let mut buoys = conn.prepare("SELECT name, moves, owner, left_ FROM buoys WHERE event = ?")?;
            let buoy = |row: &rusqlite::Row<'_>| {
                let glued: String = row.get(1)?;
                let moves = glued.as_bytes().chunks(7).map(|mv| String::from_utf8_lossy(mv).into_owned());
                Ok(StoredBuoy {
                    name: row.get(0)?,
                    moves: moves.collect(),
                    owner: row.get(2)?,
                    left: row.get(3)?,
                })
            };
            buoys.query_map([event.0], buoy)?.collect()
        })
    }

    /// The number of the game that players know by that name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn game_named(&self, event: EventId, name: &str) -> Result<Option<GameId>, StoreError> {
        self.database.check(|conn| {
            let number = "SELECT number FROM game_names WHERE event = ? AND name = ?";
            let number = conn.query_row(number, (event.0, name), |row| row.get::<_, i64>(0)).optional()?;
            Ok(number.map(|number| GameId(number.unsigned_abs())))
        })
    }

    /// Everything that was said in a game, in the order of time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn said(&self, event: EventId, game: GameId) -> Result<Vec<TapeLine>, StoreError> {
        self.database.check(|conn| {
            let sql =
                "SELECT color, part, at, lines FROM wire WHERE event = ? AND number = ? ORDER BY color, part";
            let piece = |row: &rusqlite::Row<'_>| {
                let color = if row.get::<_, i64>(0)? == 0 { Color::Black } else { Color::White };
                Ok(TapePiece { game, color, part: row.get(1)?, at: row.get(2)?, lines: row.get(3)? })
            };
            let pieces = conn
                .prepare(sql)?
                .query_map((event.0, int(game.0)), piece)?
                .collect::<Result<Vec<_>, _>>()?;
            let mut lines: Vec<_> = pieces.iter().flat_map(TapePiece::lines).collect();
            lines.sort_by_key(|line| line.at);
            Ok(lines)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_keeps_bytes_as_they_were_and_is_bounded() {
        let asides = Asides::default();
        let mut tape = Tape::new(GameId(7), Color::White, asides.clone());
        let at = Instant::now();
        tape.line(at, Way::Received, b"+7776FU,'* 1 \xff\x1b[2J < x");
        tape.line(at + Duration::from_micros(1500), Way::Sent, b"");
        tape.cut();
        tape.cut();
        let taken = asides.take();
        let [Aside::Said(piece)] = &taken[..] else { panic!("{taken:?}") };
        let lines: Vec<_> = piece.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(
            (lines[0].way, &lines[0].bytes[..]),
            (Way::Received, &b"+7776FU,'* 1 \xff\x1b[2J < x"[..])
        );
        assert_eq!(
            (lines[1].way, &lines[1].bytes[..], lines[1].at - lines[0].at),
            (Way::Sent, &b""[..], 1500)
        );
        for _ in 0..1000 {
            tape.line(at, Way::Received, &[b'x'; 1000]);
        }
        drop(tape);
        let pieces = asides.take();
        let kept: usize = pieces
            .iter()
            .map(|aside| if let Aside::Said(piece) = aside { piece.lines.len() } else { 0 })
            .sum();
        assert!((TAPE..TAPE + 2000).contains(&kept), "{kept}");
        let Some(Aside::Said(last)) = pieces.last() else { panic!("the last piece") };
        assert!(last.lines.ends_with(b"(no more is kept of this line)\n"));
    }
}

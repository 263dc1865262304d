//! Games that other machines play now, as far as these tell: for whoever looks on. Nothing of it counts, and nothing is
//! kept: a board may be late, stand still, or vanish before its game is in the journal.

use parking_lot::{Mutex, MutexGuard};
use referee::entry::{GameId, Stamped};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Most boards that are wanted of all machines together: nobody looks at more at once.
const MOST: usize = 64;

/// The boards, by the numbers that they have for those who look on ([`GameId::ELSEWHERE`]).
#[derive(Debug, Default)]
pub struct LiveBoards {
    watched: AtomicBool,
    changes: AtomicU64,
    boards: Mutex<BTreeMap<GameId, LiveBoard>>,
}

/// A game that another machine plays.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveBoard {
    /// Name of the machine.
    pub machine: String,
    /// Its entries so far, the first one of which is its start. The clocks are always in it.
    pub entries: Vec<Stamped>,
}

impl LiveBoards {
    /// Notes that somebody looks on: until then no machine is asked for a board.
    pub fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Boards that all machines together are asked for.
    #[must_use]
    pub fn wanted(&self) -> usize {
        if self.watched.load(Ordering::Relaxed) { MOST } else { 0 }
    }

    fn changed(&self) -> MutexGuard<'_, BTreeMap<GameId, LiveBoard>> {
        let boards = self.boards.lock();
        self.changes.fetch_add(1, Ordering::Release);
        boards
    }

    /// Whether something has changed since the look whose count is `seen`; then it is a new count.
    pub fn has_news(&self, seen: &mut u64) -> bool {
        let now = self.changes.load(Ordering::Acquire);
        std::mem::replace(seen, now) != now
    }

    /// Adds a board, or puts another in its place.
    pub fn begin(&self, game: GameId, board: LiveBoard) {
        self.changed().insert(game, board);
    }

    /// Adds moves to a board.
    pub fn extend(&self, game: GameId, moves: Vec<Stamped>) {
        if let Some(board) = self.changed().get_mut(&game) {
            board.entries.extend(moves);
        }
    }

    /// Takes a board away.
    pub fn end(&self, game: GameId) {
        self.changed().remove(&game);
    }

    /// Reads the boards. Nothing else can be told of them meanwhile.
    pub fn read<T>(&self, read: impl FnOnce(&BTreeMap<GameId, LiveBoard>) -> T) -> T {
        read(&self.boards.lock())
    }
}

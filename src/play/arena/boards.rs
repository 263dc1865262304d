//! Games that other machines play now, as far as these tell: for whoever looks on. Nothing of it counts, and nothing is
//! kept: a board may be late, stand still, or vanish before its game is in the journal.

use parking_lot::{Mutex, MutexGuard};
use referee::{entry::GameId, running::RunningGame};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

/// Most boards that are wanted of all machines together: nobody looks at more at once.
const MAX_BOARDS: usize = 64;

/// The boards, by the numbers that they have for those who look on ([`GameId::ELSEWHERE`]).
#[derive(Debug, Default)]
pub struct LiveBoards {
    watched: AtomicBool,
    changes: AtomicU64,
    boards: Mutex<BTreeMap<GameId, RunningGame>>,
}

impl LiveBoards {
    /// Notes that somebody looks on: until then no machine is asked for a board.
    pub fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Boards that all machines together are asked for.
    pub fn wanted(&self) -> usize {
        if self.watched.load(Ordering::Relaxed) { MAX_BOARDS } else { 0 }
    }

    fn changed(&self) -> MutexGuard<'_, BTreeMap<GameId, RunningGame>> {
        let boards = self.boards.lock();
        self.changes.fetch_add(1, Ordering::Release);
        boards
    }

    /// True if something has changed since the look whose count is `seen`; then it is a new count.
    pub fn has_news(&self, seen: &mut u64) -> bool {
        let now = self.changes.load(Ordering::Acquire);
        std::mem::replace(seen, now) != now
    }

    /// Adds a board, or puts another in its place.
    pub fn begin(&self, board: RunningGame) {
        self.changed().insert(board.id, board);
    }

    /// Adds moves to a board; `extend` returns whether there were any.
    pub fn extend(&self, game: GameId, extend: impl FnOnce(&mut RunningGame) -> bool) {
        let has_news = self.boards.lock().get_mut(&game).is_some_and(extend);
        self.changes.fetch_add(u64::from(has_news), Ordering::Release);
    }

    /// Takes a board away.
    pub fn end(&self, game: GameId) {
        self.changed().remove(&game);
    }

    /// Reads the boards. Nothing else can be told of them meanwhile.
    pub fn read<T>(&self, read: impl FnOnce(&BTreeMap<GameId, RunningGame>) -> T) -> T {
        read(&self.boards.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::{
        entry::{GameStarted, PlayerId},
        opening::EVEN,
        pairing::Pairing,
    };

    #[test]
    fn boards_are_asked_for_when_somebody_looks_on_and_each_change_is_news_once() {
        rsshogi::board::init();
        let (boards, mut seen) = (LiveBoards::default(), 0);
        assert_eq!(boards.wanted(), 0);
        boards.watch();
        assert_eq!(boards.wanted(), MAX_BOARDS);
        assert!(!boards.has_news(&mut seen));
        let (game, black, white) = (GameId(1), PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let (start, opening) = (EVEN.to_owned(), String::new());
        let started = GameStarted { game, pairing, start, opening, times: None };
        let changes: [(&dyn Fn(), bool); 5] = [
            (&|| boards.begin(RunningGame::new(&started, Default::default(), 0)), true),
            (&|| boards.extend(game, |board| board.plies.is_empty()), true),
            (&|| boards.extend(game, |_| false), false),
            (&|| boards.extend(GameId(2), |_| true), false),
            (&|| boards.end(game), true),
        ];
        let counts: Vec<usize> = changes
            .iter()
            .map(|(change, is_news)| {
                change();
                assert_eq!([(); 2].map(|()| boards.has_news(&mut seen)), [*is_news, false]);
                boards.read(BTreeMap::len)
            })
            .collect();
        assert_eq!(counts, [1, 1, 1, 1, 0]);
    }
}

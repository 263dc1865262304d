//! The judge of an event: a neutral engine that looks at the running games, and that no game waits for.
//!
//! A reader of the committed entries keeps the last position of each running game; a thread of its own asks the engine for
//! the newest of them, again and again. Positions that were overtaken meanwhile are never looked at. What the engine says
//! is an entry of the stream like any other, from which nothing follows. So an engine that hangs, dies or answers nonsense
//! costs its own opinion alone.

use arena::Say;
use explain::{AskFault, Asker, Effort};
use journal::Reader;
use parking_lot::Mutex;
use plan::JudgePlan;
use referee::{
    Color,
    entry::{Entry, GameId, GameStarted, Judged, Stamped},
    opening::EVEN,
    sink::Sink,
};
use rsshogi::{board::Position, types::Color as Side};
use std::{
    collections::BTreeMap,
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::{runtime::Builder, sync::Notify, time};
use tokio_util::task::TaskTracker;

/// Positions in a row that an engine may fail at, each with two processes.
const FAULTS: u32 = 5;

/// Wait before a failed engine is asked again.
const REST: Duration = Duration::from_secs(1);

/// Most time that the engine has to leave at the end of the event.
const LEAVING: Duration = Duration::from_secs(2);

/// A judge at work. Dropping it ends its engine.
pub struct Judge {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

/// What the reader hands to the thread.
#[derive(Default)]
struct Desk {
    games: Mutex<Games>,
    news: Notify,
}

#[derive(Default)]
struct Games {
    running: BTreeMap<GameId, Board>,
    /// Number of the newest move.
    moves: u64,
    is_over: bool,
}

/// A running game as USI writes it.
struct Board {
    /// The argument of `position`.
    position: String,
    has_moves: bool,
    ply: u32,
    turn: Color,
    /// Number of its last move among those of all games; `None` once its position has been taken.
    newest: Option<u64>,
}

/// A position to look at.
struct Task {
    game: GameId,
    position: String,
    ply: u32,
    turn: Color,
}

impl Board {
    fn new(started: &GameStarted) -> Self {
        let moves = started.opening.split_whitespace();
        let turn = Position::from_sfen(&started.start).map_or(Side::BLACK, |position| position.turn());
        let position =
            if started.start == EVEN { "startpos".to_owned() } else { format!("sfen {}", started.start) };
        let mut board = Self { position, has_moves: false, ply: 0, turn: turn.into(), newest: None };
        moves.for_each(|mv| board.play(mv));
        board
    }

    fn play(&mut self, mv: &str) {
        self.position.push_str(if self.has_moves { " " } else { " moves " });
        self.position.push_str(mv);
        (self.has_moves, self.turn) = (true, !self.turn);
        self.ply += 1;
    }
}

impl Games {
    fn take(&mut self, entry: &Entry) {
        match entry {
            Entry::GameStarted(started) => {
                self.running.insert(started.game, Board::new(started));
            }
            Entry::Moved(moved) => {
                self.moves += 1;
                let number = self.moves;
                let Some(board) = self.running.get_mut(&moved.game) else { return };
                board.play(&moved.mv.to_usi());
                board.newest = Some(number);
            }
            Entry::GameEnded(end) => _ = self.running.remove(&end.game),
            _ => {}
        }
    }

    /// The newest position that nobody has looked at.
    fn newest(&mut self) -> Option<Task> {
        let unseen = self.running.iter_mut().filter(|(_, board)| board.newest.is_some());
        let (game, board) = unseen.max_by_key(|(_, board)| board.newest)?;
        board.newest = None;
        let Board { position, ply, turn, .. } = &*board;
        Some(Task { game: *game, position: position.clone(), ply: *ply, turn: *turn })
    }
}

impl Judge {
    /// Seats the judge of a plan: its reader takes the entries of the event, `sink` receives its opinions, and `say` a note
    /// when it is given up.
    ///
    /// # Errors
    /// When its thread cannot be started.
    pub fn seat(plan: &JudgePlan, sink: Arc<dyn Sink>, say: Say) -> io::Result<(Self, Reader)> {
        let desk = Arc::<Desk>::default();
        let (here, plan) = (desk.clone(), plan.clone());
        let work = move || {
            let fault = match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime.block_on(attend(&here, &plan, &*sink)).map(|fault| fault.to_string()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(fault) = fault {
                say(&format!("the judge is not asked any more: {fault}; the games go on without it"));
            }
        };
        let thread = thread::Builder::new().name("judge".to_owned()).spawn(work)?;
        let reading = desk.clone();
        let reader = Reader::new("judge", move |batch| reading.take(batch));
        Ok((Self { desk, thread: Some(thread) }, reader))
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        self.desk.games.lock().is_over = true;
        self.desk.news.notify_one();
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

impl Desk {
    fn take(&self, batch: &[Stamped]) {
        let mut games = self.games.lock();
        batch.iter().for_each(|stamped| games.take(&stamped.entry));
        drop(games);
        self.news.notify_one();
    }

    /// The next position; `None` at the end of the event.
    async fn next(&self) -> Option<Task> {
        loop {
            {
                let mut games = self.games.lock();
                if games.is_over {
                    return None;
                }
                if let Some(task) = games.newest() {
                    return Some(task);
                }
            }
            self.news.notified().await;
        }
    }

    /// Returns at the end of the event.
    async fn over(&self) {
        while !self.games.lock().is_over {
            self.news.notified().await;
        }
        // `next` has to see the end, too.
        self.news.notify_one();
    }
}

/// Asks for positions until the event is over, or until the engine has failed too often in a row.
async fn attend(desk: &Desk, plan: &JudgePlan, sink: &dyn Sink) -> Option<AskFault> {
    let actors = TaskTracker::new();
    let fault = {
        let effort = plan.time.map_or(Effort::Nodes(plan.nodes), Effort::Time);
        let patience = plan.patience + plan.time.unwrap_or_default();
        let mut asker = Asker::new(Arc::new(plan.engine.clone()), patience, &actors);
        let mut faults = 0;
        loop {
            let Some(task) = desk.next().await else { break None };
            let asked = asker.ask(&task.position, task.turn, effort);
            let answer = tokio::select! {
                answer = asked => answer,
                () = desk.over() => break None,
            };
            match answer {
                Ok(found) => {
                    faults = 0;
                    if let Some(score) = found.judgement() {
                        let Task { game, ply, turn: color, .. } = task;
                        let (depth, nodes) = (found.depth, found.nodes);
                        let score = plan.scale.unwrap_or_default().common_score(score);
                        sink.happened(Entry::Judged(Judged { game, ply, color, score, depth, nodes }));
                    }
                }
                Err(fault) => {
                    faults += 1;
                    if faults >= FAULTS {
                        break Some(fault);
                    }
                    time::sleep(REST).await;
                }
            }
        }
    };
    actors.close();
    // An engine that does not leave is killed with the runtime.
    let _left = time::timeout(LEAVING, actors.wait()).await;
    fault
}

#[cfg(test)]
mod tests {
    use super::*;
    use contest::schedule::Pairing;
    use referee::entry::{Moved, PlayerId};
    use rsshogi::types::Move;

    fn started(game: u64, start: &str, opening: &str) -> Entry {
        let (black, white) = (PlayerId(0), PlayerId(1));
        let pairing = Pairing { stage: 0, index: 0, attempt: 0, round: 1, pair: 0, opening: 0, black, white };
        let (start, opening) = (start.to_owned(), opening.to_owned());
        Entry::GameStarted(GameStarted { game: GameId(game), pairing, start, opening, times: None })
    }

    fn moved(game: u64, ply: u32, color: Color, usi: &str) -> Entry {
        let (mv, time) = (Move::from_usi(usi).unwrap(), Duration::ZERO);
        let game = GameId(game);
        Entry::Moved(Moved { game, ply, color, mv, charged: time, elapsed: time, left: time, thought: None })
    }

    #[test]
    fn the_newest_position_comes_first_and_those_that_were_overtaken_never() {
        rsshogi::board::init();
        let mut games = Games::default();
        let entries = [
            started(1, EVEN, "7g7f 3c3d"),
            started(2, EVEN, ""),
            moved(1, 3, Color::Black, "2g2f"),
            moved(2, 1, Color::Black, "7g7f"),
            moved(1, 4, Color::White, "8c8d"),
        ];
        entries.iter().for_each(|entry| games.take(entry));
        let mut next = || games.newest().map(|task| (task.game.0, task.position, task.ply, task.turn));
        let first = "startpos moves 7g7f 3c3d 2g2f 8c8d".to_owned();
        assert_eq!(next(), Some((1, first, 4, Color::Black)));
        assert_eq!(next(), Some((2, "startpos moves 7g7f".to_owned(), 1, Color::White)));
        assert_eq!(next(), None, "each position is looked at once");
    }

    #[test]
    fn a_handicap_game_begins_with_white_and_a_game_that_is_over_is_forgotten() {
        rsshogi::board::init();
        let lance = "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
        let mut games = Games::default();
        games.take(&started(1, lance, ""));
        games.take(&moved(1, 1, Color::White, "3c3d"));
        let task = games.newest().unwrap();
        assert_eq!((task.position, task.turn), (format!("sfen {lance} moves 3c3d"), Color::Black));
        assert!(games.newest().is_none());
    }

    #[derive(Debug)]
    struct Nowhere;

    impl Sink for Nowhere {
        fn happened(&self, entry: Entry) {
            panic!("a judge that cannot be started says {entry:?}");
        }

        fn keep(&self, _: referee::sink::SideRecord) {}
    }

    /// Six games wait, and the judge is given up at the fifth.
    #[tokio::test(start_paused = true)]
    async fn a_judge_that_fails_again_and_again_is_given_up() {
        rsshogi::board::init();
        let desk = Desk::default();
        for game in 1..=6 {
            desk.games.lock().take(&started(game, EVEN, ""));
            desk.games.lock().take(&moved(game, 1, Color::Black, "7g7f"));
        }
        let engine = plan::EnginePlan {
            name: "none".to_owned(),
            command: "/nowhere/engine".into(),
            ..plan::EnginePlan::default()
        };
        let plan = JudgePlan { engine, ..JudgePlan::default() };
        let fault = attend(&desk, &plan, &Nowhere).await.unwrap();
        assert_eq!(fault.engine, "none");
        let left = desk.games.lock().newest().unwrap();
        assert_eq!(left.game, GameId(1), "the newest came first");
        assert!(desk.games.lock().newest().is_none());
    }
}

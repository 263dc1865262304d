//! One game: its moves, and its board at any of them.

use crate::{board::Board, state::clean_lines, text::clean};
use referee::{
    Color, Outcome,
    clock::TimeControl,
    entry::{GameEnded, GameId, GameStarted, Moved, PlayerId, Thought},
    evaluation::Evaluation,
    schedule::Pairing,
};

/// A move on the board.
#[derive(Clone, Debug, PartialEq)]
pub struct Ply {
    /// The move in USI.
    pub usi: String,
    /// The side that moved.
    pub color: Color,
    /// Time charged, in ms; `None` for moves of the opening.
    pub charged: Option<u64>,
    /// Main time left to the mover, in ms.
    pub left: u64,
    /// The last `info` of the engine.
    pub thought: Option<Box<Thought>>,
}

impl Ply {
    /// The evaluation that the engine of the ply printed, from black's side.
    #[must_use]
    pub fn evaluation(&self) -> Option<Evaluation> {
        Some(Evaluation::of(self.thought.as_ref()?.score?, self.color))
    }
}

/// The ending of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// The result.
    pub outcome: Outcome,
    /// Time in ms since 1970 UTC.
    pub at: i64,
    /// Evidence for disputes, printable.
    pub evidence: String,
    /// Why it ended so, printable; `None` where the result says it all.
    pub reason: Option<String>,
}

impl End {
    /// The ending of an entry.
    #[must_use]
    pub fn of(ended: &GameEnded, at: i64) -> Self {
        let reason = ended.reason().map(|reason| clean(&reason));
        Self { outcome: ended.outcome, at, evidence: clean_lines(&ended.evidence), reason }
    }
}

/// A game with its moves.
#[derive(Clone, Debug)]
pub struct Game {
    /// The game.
    pub id: GameId,
    /// The machine that plays it, if it is another one: then it has no number of the event yet.
    pub machine: Option<String>,
    /// Place in the schedule.
    pub pairing: Pairing,
    /// Start in ms since 1970 UTC.
    pub started: i64,
    /// The moves, those of the opening first.
    pub plies: Vec<Ply>,
    /// The ending; `None` while the game runs.
    pub end: Option<End>,
    /// The board now.
    pub board: Board,
    first: Board,
    times: [TimeControl; 2],
    turn_began: i64,
}

impl Game {
    /// A game that has just begun.
    #[must_use]
    pub fn new(started: &GameStarted, times: [TimeControl; 2], at: i64) -> Self {
        let even = || Board::from_sfen(referee::opening::EVEN);
        let first = Board::from_sfen(&started.start).or_else(even).unwrap_or_else(Board::empty);
        let (id, pairing) = (started.game, started.pairing);
        let board = first.clone();
        let mut game = Self {
            id,
            machine: None,
            pairing,
            started: at,
            plies: vec![],
            end: None,
            board,
            first,
            times,
            turn_began: at,
        };
        for usi in started.opening.split_whitespace() {
            let left = millis(times[game.board.turn.index()].main);
            game.put(usi, None, left, None);
        }
        game
    }

    fn put(&mut self, usi: &str, charged: Option<u64>, left: u64, thought: Option<Box<Thought>>) {
        let color = self.board.turn;
        if self.board.apply(usi).is_some() {
            self.plies.push(Ply { usi: usi.to_owned(), color, charged, left, thought });
        }
    }

    /// Adds a move; returns whether it was new.
    pub fn moved(&mut self, moved: &Moved, at: i64) -> bool {
        if usize::try_from(moved.ply).is_ok_and(|ply| ply != self.plies.len() + 1) {
            return false;
        }
        self.put(&moved.mv.to_usi(), Some(millis(moved.charged)), millis(moved.left), moved.thought.clone());
        self.turn_began = at;
        true
    }

    /// What the game is called: its number, or the machine that plays it.
    #[must_use]
    pub fn label(&self) -> String {
        self.machine.clone().unwrap_or_else(|| format!("#{}", self.id.0))
    }

    /// The moves in Japanese notation.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut board = self.first.clone();
        let spell = |ply: &Ply| {
            let words = board.spell(&ply.usi).unwrap_or_default();
            let _spelled = board.apply(&ply.usi);
            words
        };
        self.plies.iter().map(spell).collect()
    }

    /// Black and white.
    #[must_use]
    pub fn players(&self) -> [PlayerId; 2] {
        [self.pairing.black, self.pairing.white]
    }

    /// The board after so many plies.
    #[must_use]
    pub fn board_at(&self, ply: usize) -> Board {
        if ply >= self.plies.len() {
            return self.board.clone();
        }
        let mut board = self.first.clone();
        self.plies[..ply].iter().for_each(|ply| _ = board.apply(&ply.usi));
        board
    }

    /// The last ply up to `ply` that a side made with a thought.
    #[must_use]
    pub fn last_of(&self, color: Color, ply: usize) -> Option<&Ply> {
        self.plies[..ply.min(self.plies.len())].iter().rev().find(|ply| ply.color == color)
    }

    /// Main time and byoyomi left to a side after `ply` plies, in ms; the clock of the side to move runs while the
    /// game does and the last ply is shown. `None` for an untimed side.
    #[must_use]
    pub fn clock(&self, color: Color, ply: usize, now: i64) -> Option<Clock> {
        let time = &self.times[color.index()];
        if !time.is_timed() {
            return None;
        }
        let main = self.last_of(color, ply).map_or_else(|| millis(time.main), |ply| ply.left);
        let running = self.end.is_none() && ply >= self.plies.len() && self.board.turn == color;
        let spent = if running { u64::try_from(now - self.turn_began).unwrap_or(0) } else { 0 };
        let spent = spent.saturating_sub(millis(time.delay));
        let main = main + millis(time.increment);
        let extra = millis(time.fixed.unwrap_or(time.byoyomi));
        let over = spent.saturating_sub(main);
        Some(Clock { main: main.saturating_sub(spent), byoyomi: extra.saturating_sub(over), running })
    }

    /// The line that the engine of a ply (from 0) expected, its own move first, in USI, up to the first invalid move.
    #[must_use]
    pub fn variation(&self, at: usize) -> Vec<&str> {
        let thought = self.plies.get(at).and_then(|ply| ply.thought.as_ref());
        let Some(pv) = thought.and_then(|thought| thought.pv.as_deref()) else { return vec![] };
        let mut board = self.board_at(at);
        pv.split_whitespace().take_while(|usi| board.apply(usi).is_some()).collect()
    }

    /// The time of the side that has less of it left, in ms; untimed games have the most.
    #[must_use]
    pub fn least_left(&self, now: i64) -> u64 {
        let left = |color| self.clock(color, self.plies.len(), now).map(|clock| clock.main + clock.byoyomi);
        Color::BOTH.into_iter().filter_map(left).min().unwrap_or(u64::MAX)
    }

    /// Expected score of black, 0 to 1, by the last printed evaluation.
    #[must_use]
    pub fn expected(&self) -> Option<f64> {
        self.plies.iter().rev().find_map(Ply::evaluation).map(Evaluation::black_share)
    }

    /// Time a side has used up to `ply`, in ms.
    #[must_use]
    pub fn used(&self, color: Color, ply: usize) -> u64 {
        let plies = &self.plies[..ply.min(self.plies.len())];
        plies.iter().filter(|ply| ply.color == color).filter_map(|ply| ply.charged).sum()
    }
}

/// A clock as it is shown, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Main time left, the increment of this move included.
    pub main: u64,
    /// Byoyomi (or the fixed time) left.
    pub byoyomi: u64,
    /// Whether the clock runs.
    pub running: bool,
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

//! State of one search thread, and state shared by all threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rsshogi::board::Position;
use rsshogi::types::{Color, EnteringKingRule, Move, Move32};
use usi_shell::{Clock, Game, Path, Repetition};

use super::history::{Before, History, PieceTo};
use super::order::Arena;
use super::parts::{Part, Parts};
use super::table::{NO_EVALUATION, Table};
use super::tuned::Tuned;
use super::value::{EVALUATION_LIMIT, MAX_PLY, rule_win_in};
use crate::evaluation::{Accumulator, Shares, Weights};

/// State shared by all threads of a search.
pub struct Shared<'a> {
    /// The evaluation.
    pub weights: &'a Weights,
    /// The transposition table.
    pub table: &'a Table,
    /// Rules and draw value of this search.
    pub terms: Terms,
    clock: Option<Clock>,
    stop: AtomicBool,
    /// Remaining node budget; present only if the number of nodes is limited.
    left: Option<AtomicU64>,
    /// Nodes searched, as reported by the threads.
    visited: AtomicU64,
}

/// Rules and draw value of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    /// The constants of the search.
    pub tuned: Tuned,
    /// The value of a draw for the side to move at the root, in centipawns.
    pub draw_value: i32,
    /// A game of this many plies is drawn; 0 for no such rule.
    pub max_moves: u32,
    /// Rule for declaring a win.
    pub declaration: EnteringKingRule,
    /// The parts of the search.
    pub parts: Parts,
}

/// Nodes between two polls of the clock.
const POLL: u64 = 512;

impl<'a> Shared<'a> {
    /// A search that ends by `clock`, after `nodes` nodes, or by itself.
    pub fn new(
        weights: &'a Weights,
        table: &'a Table,
        terms: Terms,
        clock: Option<Clock>,
        nodes: Option<u64>,
    ) -> Self {
        Self {
            weights,
            table,
            terms,
            clock,
            stop: AtomicBool::new(false),
            left: nodes.map(AtomicU64::new),
            visited: AtomicU64::new(0),
        }
    }

    /// Stops all threads.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.clock.as_ref().is_some_and(Clock::is_stopped)
    }

    /// Takes up to [`POLL`] nodes from the budget.
    fn grant(&self) -> u64 {
        let Some(left) = &self.left else { return POLL };
        let take = |left: u64| Some(left - left.min(POLL));
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_or(0, |left| left.min(POLL))
    }
}

/// Search stack entry of one ply.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// The move made at this ply.
    pub mv: Move32,
    /// Killer moves of this ply.
    pub killers: [Move; 2],
    /// The static evaluation, or [`NO_EVALUATION`] in check.
    pub evaluation: i32,
    /// Move excluded by a singular extension search.
    pub excluded: Move,
}

impl Frame {
    const EMPTY: Self = Self {
        mv: Move32::MOVE_NONE,
        killers: [Move::MOVE_NONE; 2],
        evaluation: NO_EVALUATION,
        excluded: Move::MOVE_NONE,
    };
}

/// Extra stack entries below the root, so that access to earlier plies needs no bounds check.
const LEAD: usize = 4;

/// One search thread.
pub struct Worker<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) history: &'a mut History,
    pub(super) position: Position,
    pub(super) arena: Arena,
    /// Triangular table of principal variations.
    pub(super) lines: Vec<Vec<Move>>,
    pub(super) deepest: usize,
    pub(super) root_depth: i32,
    path: Path,
    sums: Vec<Accumulator>,
    frames: Vec<Frame>,
    root_side: Color,
    granted: u64,
    nodes: u64,
    stopped: bool,
}

impl<'a> Worker<'a> {
    /// A thread that searches the position of `game`.
    pub fn new(shared: &'a Shared<'a>, history: &'a mut History, game: &Game) -> Self {
        let mut position = game.position().clone();
        position.set_entering_king_rule(shared.terms.declaration);
        let sums = vec![shared.weights.accumulate(&position); MAX_PLY + 2];
        Self {
            shared,
            history,
            arena: Arena::with_capacity(4096),
            lines: vec![Vec::new(); MAX_PLY + 2],
            deepest: 0,
            root_depth: 0,
            path: game.path(),
            sums,
            frames: vec![Frame::EMPTY; MAX_PLY + LEAD + 3],
            root_side: position.turn(),
            position,
            granted: 0,
            nodes: 0,
            stopped: false,
        }
    }

    /// True if the search has a part.
    #[inline(always)]
    pub(super) fn has(&self, part: Part) -> bool {
        self.shared.terms.parts.has(part)
    }

    /// The transposition table.
    pub fn table(&self) -> &'a Table {
        self.shared.table
    }

    /// The expected reply to the first move of a principal variation, from there or from the table.
    pub fn expected_reply(&mut self, line: &[Move]) -> Option<Move> {
        if let Some(&reply) = line.get(1) {
            return Some(reply);
        }
        let mv = self.position.move32_from_move(*line.first()?);
        self.position.try_apply_move32(mv).ok()?;
        let known = self.shared.table.probe(self.key());
        let reply = known.map(|known| known.mv).filter(|&mv| self.position.is_legal_move(mv));
        self.take_back(mv);
        reply
    }

    fn take_back(&mut self, mv: Move32) {
        // Undoing a move just made cannot fail.
        let undone = self.position.undo_move32(mv);
        debug_assert!(undone.is_ok());
    }

    /// Nodes searched by this thread.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Nodes searched by all threads; for the others, including nodes granted but not yet searched.
    pub fn nodes_of_all(&self) -> u64 {
        self.shared.visited.load(Ordering::Relaxed) - self.granted
    }

    /// True if the search was stopped; values returned from then on are invalid.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    pub(super) fn frame(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + LEAD]
    }

    /// The static evaluation `back` plies before `ply`, if there is one.
    pub(super) fn evaluation_before(&self, ply: usize, back: usize) -> Option<i32> {
        let evaluation = self.frames[ply + LEAD - back].evaluation;
        (evaluation != NO_EVALUATION).then_some(evaluation)
    }

    /// The moves that led to `ply`.
    pub(super) fn before(&self, ply: usize) -> Before {
        [1, 2, 4].map(|back| PieceTo::of(self.frames[ply + LEAD - back].mv))
    }

    /// True if the last move was a null move.
    pub(super) fn after_null(&self, ply: usize) -> bool {
        self.frames[ply + LEAD - 1].mv == Move32::MOVE_NONE
    }

    /// Counts a node; returns false if the search has to stop.
    pub(super) fn visit(&mut self) -> bool {
        if self.stopped {
            return false;
        }
        if self.granted == 0 {
            self.granted = if self.shared.is_over() { 0 } else { self.shared.grant() };
            if self.granted == 0 {
                self.stopped = true;
                return false;
            }
            self.shared.visited.fetch_add(self.granted, Ordering::Relaxed);
        }
        self.granted -= 1;
        self.nodes += 1;
        true
    }

    pub(super) fn make(&mut self, mv: Move32, ply: usize) {
        let gives_check = self.position.gives_check_move32(mv);
        self.sums[ply + 1] = self.shared.weights.advance(&self.sums[ply], &self.position, mv);
        self.frame(ply).mv = mv;
        self.position.apply_move32_with_gives_check(mv, gives_check);
        self.path.push(&self.position);
    }

    pub(super) fn unmake(&mut self, mv: Move32) {
        self.path.pop();
        self.take_back(mv);
    }

    /// Makes a null move, searches with `f`, and undoes it.
    pub(super) fn with_null_move(&mut self, ply: usize, f: impl FnOnce(&mut Self) -> i32) -> Option<i32> {
        self.position.apply_null_move().ok()?;
        self.sums[ply + 1] = self.sums[ply];
        self.frame(ply).mv = Move32::MOVE_NONE;
        let floor = self.path.push_null(&self.position);
        let value = f(self);
        self.path.pop_null(floor);
        self.position.undo_null_move().ok()?;
        Some(value)
    }

    pub(super) fn evaluate(&self, ply: usize) -> i32 {
        let tuned = self.shared.terms.tuned;
        let shares = Shares { king: tuned.king_relations(), pair: tuned.pair_relations() };
        let value =
            self.shared.weights.value_with(&self.sums[ply], &self.position, shares) + tuned.turn_bonus();
        value.clamp(-EVALUATION_LIMIT, EVALUATION_LIMIT)
    }

    pub(super) fn key(&self) -> u64 {
        self.position.key().low_u64()
    }

    fn draw(&self) -> i32 {
        let value = self.shared.terms.draw_value;
        if self.position.turn() == self.root_side { value } else { -value }
    }

    /// The value of a node that the rules decide: by repetition, by the maximum number of moves, or by
    /// declaration.
    pub(super) fn ruled(&self, ply: usize) -> Option<i32> {
        if let Some(found) = self.path.returned() {
            return Some(match found.means {
                Repetition::Draw => self.draw(),
                Repetition::Win => rule_win_in(ply),
                Repetition::Loss => -rule_win_in(ply),
            });
        }
        let max_moves = self.shared.terms.max_moves;
        if max_moves > 0 && u32::from(self.position.game_ply()) > max_moves && !self.position.is_in_check() {
            return Some(self.draw());
        }
        self.may_declare().then(|| rule_win_in(ply))
    }

    /// True if the side to move may declare a win, or reaches the target square under the try rule.
    fn may_declare(&self) -> bool {
        // Cheap test first: both need the king on the last ranks.
        let side = self.position.turn();
        let king = self.position.king_square(side);
        if king.is_none() {
            return false;
        }
        let advanced = if side == Color::BLACK { king.rank().raw() } else { 8 - king.rank().raw() };
        advanced <= 2 && self.position.declaration_win_move() != Move32::MOVE_NONE
    }

    /// Sets the principal variation of `ply` to `mv` followed by that of the next ply.
    pub(super) fn extend_line(&mut self, ply: usize, mv: Move32) {
        let (here, below) = self.lines.split_at_mut(ply + 1);
        let line = &mut here[ply];
        line.clear();
        line.push(mv.to_move());
        line.extend_from_slice(&below[0]);
    }
}

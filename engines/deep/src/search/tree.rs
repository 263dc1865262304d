//! The tree: nodes and their moves in memory of a fixed size, shared by all threads without locks.
//!
//! A node is a position reached by one line of moves. What it counts is seen by the player who moved there, because
//! that is who compares it with its siblings.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{
        AtomicU32, AtomicU64,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

use rsshogi::types::Move;
use usi_shell::Game;

use super::{
    pool::{Budget, Cell, NONE, Pool},
    proof::Proof,
};

/// Sums of probabilities are kept in units of this, exactly, so that their order does not matter. 2^32 visits fit.
const UNIT: f64 = (1_u64 << 30) as f64;

/// A position. See [`Stage`] for its life.
#[derive(Debug, Default)]
pub struct Node {
    visits: AtomicU32,
    pending: AtomicU32,
    wins: AtomicU64,
    draws: AtomicU64,
    proven: AtomicU32,
    /// The first block of moves; of a node without use, the next such node.
    head: AtomicU32,
    /// Number of moves, or one of the two below.
    stage: AtomicU32,
    /// Moves from this one on were never tried.
    touched: AtomicU32,
}

const FRESH: u32 = 0;
const CLAIMED: u32 = u32::MAX;

/// How far a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Nobody has looked at it.
    Fresh,
    /// Someone is looking at it.
    Claimed,
    /// Its moves are known: so many.
    Grown(usize),
}

/// How a playout ended, for one of the players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// Probability of a win.
    pub win: f64,
    /// Probability of a draw.
    pub draw: f64,
}

/// What the visits of a node say.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Visits that have ended.
    pub visits: u32,
    /// Visits under way.
    pub pending: u32,
    wins: u64,
    draws: u64,
}

/// Moves of a node, by descending prior.
#[derive(Debug, Default)]
struct Block {
    next: AtomicU32,
    edges: [AtomicU64; EDGES],
}

/// Moves in a block: with the link, 128 bytes.
const EDGES: usize = 15;

/// A move, its prior, and the node it leads to if there is one: 16, 16 and 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Edge(u64);

/// Nodes from the position before the root on.
#[derive(Debug)]
pub struct Tree {
    nodes: Pool<Node>,
    blocks: Pool<Block>,
    most: usize,
    /// The oldest node kept: where possible the one before the root, so that another reply than the expected one can
    /// be found too.
    base: u32,
    /// The game up to the base.
    base_line: Vec<Move>,
    start: Option<String>,
    root_ply: usize,
    epoch: u32,
    /// Nodes that were cut off and not yet taken apart.
    garbage: Mutex<Vec<u32>>,
}

impl Cell for Node {
    fn link(&self) -> &AtomicU32 {
        &self.head
    }
}

impl Cell for Block {
    fn link(&self) -> &AtomicU32 {
        &self.next
    }
}

impl Ending {
    /// The same ending for the other player.
    pub fn turned(self) -> Self {
        Self { win: 1.0 - self.win - self.draw, draw: self.draw }
    }
}

impl Tally {
    /// The value for the player who moved there, with a draw worth `draw`; half where there are no visits.
    pub fn value(&self, draw: f32) -> f32 {
        if self.visits == 0 {
            return 0.5;
        }
        ((self.wins as f64 + f64::from(draw) * self.draws as f64) / (UNIT * f64::from(self.visits))) as f32
    }

    /// The value for the player who is to move there.
    pub fn value_to_move(&self, draw: f32) -> f32 {
        if self.visits == 0 {
            return 0.5;
        }
        let all = UNIT * f64::from(self.visits);
        let (wins, draws) = (self.wins as f64, self.draws as f64);
        ((all - wins - draws + f64::from(draw) * draws) / all) as f32
    }

    /// The share of draws.
    pub fn draw(&self) -> f32 {
        (self.draws as f64 / (UNIT * f64::from(self.visits.max(1)))) as f32
    }
}

impl Node {
    fn clear(&self) {
        for word in [&self.visits, &self.pending, &self.proven, &self.head, &self.stage, &self.touched] {
            word.store(0, Relaxed);
        }
        self.wins.store(0, Relaxed);
        self.draws.store(0, Relaxed);
    }

    /// How far it has come.
    pub fn stage(&self) -> Stage {
        match self.stage.load(Acquire) {
            FRESH => Stage::Fresh,
            CLAIMED => Stage::Claimed,
            moves => Stage::Grown(moves as usize),
        }
    }

    /// Takes it upon oneself to look at it; `false` if someone else has.
    pub fn claim(&self) -> bool {
        self.stage.compare_exchange(FRESH, CLAIMED, AcqRel, Acquire).is_ok()
    }

    /// Leaves it to others after all.
    pub fn release(&self) {
        self.stage.store(FRESH, Release);
    }

    /// What its visits say.
    pub fn tally(&self) -> Tally {
        Tally {
            visits: self.visits.load(Relaxed),
            pending: self.pending.load(Relaxed),
            wins: self.wins.load(Relaxed),
            draws: self.draws.load(Relaxed),
        }
    }

    /// Moves from this one on were never tried.
    pub fn touched(&self) -> usize {
        self.touched.load(Relaxed) as usize
    }

    /// A visit begins.
    pub fn enter(&self) {
        self.pending.fetch_add(1, Relaxed);
    }

    /// A visit comes to nothing.
    pub fn leave(&self) {
        self.pending.fetch_sub(1, Relaxed);
    }

    /// A visit has ended, thus for the player who moved here.
    pub fn count(&self, ending: Ending) {
        self.wins.fetch_add((ending.win * UNIT) as u64, Relaxed);
        if ending.draw > 0.0 {
            self.draws.fetch_add((ending.draw * UNIT) as u64, Relaxed);
        }
        self.visits.fetch_add(1, Relaxed);
        self.pending.fetch_sub(1, Relaxed);
    }
}

impl Edge {
    /// A move that nobody has tried.
    pub fn new(mv: Move, prior: u16) -> Self {
        Self(u64::from(mv.raw()) | u64::from(prior) << 16)
    }

    /// The move.
    pub const fn mv(self) -> Move {
        Move::from_raw(self.0 as u16)
    }

    /// Its prior, 0 to 1.
    pub fn prior(self) -> f32 {
        f32::from((self.0 >> 16) as u16) / f32::from(u16::MAX)
    }

    /// Where it leads, if someone has tried it.
    pub fn child(self) -> Option<u32> {
        let child = (self.0 >> 32) as u32;
        (child != NONE).then_some(child)
    }

    const fn to(self, child: u32) -> Self {
        Self(self.0 & 0xffff_ffff | (child as u64) << 32)
    }
}

impl Tree {
    /// A tree that takes at most `bytes`.
    pub fn new(bytes: usize) -> Self {
        let budget = Budget::new(bytes);
        Self {
            nodes: Pool::new(budget.clone(), bytes),
            blocks: Pool::new(budget, bytes),
            most: bytes,
            base: NONE,
            base_line: Vec::new(),
            start: None,
            root_ply: 0,
            epoch: 0,
            garbage: Mutex::default(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.nodes.reset();
        self.blocks.reset();
        self.garbage().clear();
        self.base = NONE;
        self.base_line.clear();
        self.start = None;
    }

    /// A node that was reached from the root.
    pub fn node(&self, index: u32) -> &Node {
        self.nodes.get(index)
    }

    /// What is proven of a node, for the player to move there.
    pub fn proof(&self, node: &Node) -> Option<Proof> {
        Proof::unpack(node.proven.load(Relaxed), self.epoch)
    }

    /// Notes what is proven of a node.
    pub fn prove(&self, node: &Node, proof: Proof) {
        node.proven.store(proof.pack(self.epoch), Relaxed);
    }

    /// Forgets what is proven of a node.
    pub fn unprove(&self, node: &Node) {
        node.proven.store(0, Relaxed);
    }

    /// Draws a conclusion from what is proven of a node's children. Whether there was one.
    pub fn conclude(&self, node: &Node) -> bool {
        let proof = |edge: Edge| edge.child().and_then(|child| self.proof(self.node(child)));
        let found = Proof::of_children(self.edges(node).map(proof));
        if let Some(found) = found {
            self.prove(node, found);
        }
        found.is_some()
    }

    /// The moves of a node, by descending prior.
    pub fn edges<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Edge> + 'a {
        self.words(node).map(|word| Edge(word.load(Acquire)))
    }

    fn words<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a AtomicU64> + 'a {
        let moves = match node.stage() {
            Stage::Grown(moves) => moves,
            _ => 0,
        };
        let first = if moves > 0 { node.head.load(Relaxed) } else { NONE };
        let block =
            |&index: &u32| Some(self.blocks.get(index).next.load(Relaxed)).filter(|&next| next != NONE);
        let chain = std::iter::successors((first != NONE).then_some(first), block);
        chain.flat_map(|index| &self.blocks.get(index).edges).take(moves)
    }

    /// Gives a claimed node its moves, which may be sorted already. Whether there was room; if not, it is as before.
    pub fn grow(&self, node: &Node, moves: &[(Move, u16)]) -> bool {
        self.sweep(2);
        let Some(head) = self.provide(|| self.blocks.take(moves.len().div_ceil(EDGES))) else { return false };
        let mut block = head;
        for part in moves.chunks(EDGES) {
            let cell = self.blocks.get(block);
            for (word, &(mv, prior)) in cell.edges.iter().zip(part) {
                word.store(Edge::new(mv, prior).0, Relaxed);
            }
            block = cell.next.load(Relaxed);
        }
        node.head.store(head, Relaxed);
        node.touched.store(0, Relaxed);
        node.stage.store(moves.len() as u32, Release);
        true
    }

    /// The node after the move of this number, made if there is none; `None` when there is no room.
    pub fn child(&self, node: &Node, number: usize) -> Option<(Move, u32)> {
        let word = self.words(node).nth(number)?;
        let edge = Edge(word.load(Acquire));
        let child = match edge.child() {
            Some(child) => child,
            None => self.first_child(node, number, word, edge)?,
        };
        Some((edge.mv(), child))
    }

    fn first_child(&self, node: &Node, number: usize, word: &AtomicU64, edge: Edge) -> Option<u32> {
        let fresh = self.fresh_node()?;
        node.touched.fetch_max(number as u32 + 1, Relaxed);
        match word.compare_exchange(edge.0, edge.to(fresh).0, AcqRel, Acquire) {
            Ok(_) => Some(fresh),
            Err(taken) => {
                self.nodes.give_back(fresh);
                Edge(taken).child()
            }
        }
    }

    /// Whether a node has this move, and its number.
    pub fn number_of(&self, node: &Node, mv: Move) -> Option<usize> {
        self.edges(node).position(|edge| edge.mv() == mv)
    }

    fn fresh_node(&self) -> Option<u32> {
        let fresh = self.provide(|| self.nodes.take(1))?;
        self.nodes.get(fresh).clear();
        Some(fresh)
    }

    /// Takes from a pool; where it is empty, garbage may help.
    fn provide(&self, take: impl Fn() -> Option<u32>) -> Option<u32> {
        loop {
            match take() {
                None if self.sweep(64) => {}
                taken => return taken,
            }
        }
    }

    /// Takes up to `most` nodes of the garbage apart. Whether there were any.
    pub fn sweep(&self, most: usize) -> bool {
        let mut garbage = self.garbage();
        let mut swept = false;
        for _ in 0..most {
            let Some(index) = garbage.pop() else { break };
            swept = true;
            let node = self.nodes.get(index);
            garbage.extend(self.edges(node).filter_map(Edge::child));
            if matches!(node.stage(), Stage::Grown(_)) {
                self.blocks.give_back(node.head.load(Relaxed));
            }
            node.head.store(NONE, Relaxed);
            self.nodes.give_back(index);
        }
        swept
    }

    fn garbage(&self) -> MutexGuard<'_, Vec<u32>> {
        self.garbage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the node of the game's position, or begins a new tree with it; everything but the node before it and
    /// what comes after is cut off. `None` when there is no room for a single node.
    pub fn root_for(&mut self, game: &Game) -> Option<u32> {
        let start = game.start().to_sfen(None);
        let line: Vec<Move> = game.moves().iter().map(|mv| mv.to_move()).collect();
        let known =
            self.base != NONE && self.start.as_ref() == Some(&start) && line.starts_with(&self.base_line);
        if self.root_ply != line.len() || !known {
            self.epoch = self.epoch.wrapping_add(1);
        }
        self.root_ply = line.len();
        if let Some(path) = known.then(|| self.follow(&line[self.base_line.len()..])).flatten() {
            return self.move_base(&path, line);
        }
        self.clear();
        (self.start, self.base_line) = (Some(start), line);
        self.base = self.fresh_node()?;
        Some(self.base)
    }

    /// The nodes from the base along a line, with the numbers of the moves; `None` where it leaves the tree.
    fn follow(&self, line: &[Move]) -> Option<Vec<u32>> {
        let mut path = vec![self.base];
        for &mv in line {
            let node = self.node(*path.last()?);
            path.push(self.child(node, self.number_of(node, mv)?)?.1);
        }
        Some(path)
    }

    fn move_base(&mut self, path: &[u32], mut line: Vec<Move>) -> Option<u32> {
        let root = *path.last()?;
        let &[.., before, base, _] = path else {
            // The root is the base or comes next after it: nothing is to be cut off.
            return Some(root);
        };
        line.pop();
        let before = self.node(before);
        for word in self.words(before) {
            let edge = Edge(word.load(Acquire));
            if edge.child() == Some(base) {
                word.store(edge.to(NONE).0, Release);
            }
        }
        self.garbage().push(self.base);
        (self.base, self.base_line) = (base, line);
        Some(root)
    }

    /// Makes room: nodes of few visits lose what comes after them, of as few as it takes to empty a third of the
    /// memory. They can grow again. Whether there is room now.
    pub fn prune(&mut self, root: u32) -> bool {
        let tight = |tree: &Self| tree.nodes.is_tight() || tree.blocks.is_tight();
        let mut fewest = 8;
        while tight(self) && fewest < 1 << 24 {
            self.cut_below(root, fewest);
            while self.sweep(usize::MAX) {}
            fewest *= 4;
        }
        !tight(self)
    }

    fn cut_below(&self, root: u32, fewest: u32) {
        let mut open = vec![root];
        while let Some(index) = open.pop() {
            let node = self.node(index);
            let children: Vec<u32> = self.edges(node).filter_map(Edge::child).collect();
            if node.tally().visits >= fewest || index == root {
                open.extend(children);
            } else if matches!(node.stage(), Stage::Grown(_)) {
                self.garbage().extend(children);
                self.blocks.give_back(node.head.swap(NONE, Relaxed));
                node.release();
            }
        }
    }

    /// Bytes in use.
    pub fn bytes_used(&self) -> usize {
        self.nodes.bytes_used() + self.blocks.bytes_used()
    }

    /// Bytes that may be used.
    pub const fn bytes_allowed(&self) -> usize {
        self.most
    }

    /// Bytes taken from the machine.
    pub fn bytes_held(&self) -> usize {
        self.nodes.bytes_held() + self.blocks.bytes_held()
    }
}

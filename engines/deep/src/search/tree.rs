//! The search tree: nodes and their moves in memory of a fixed size, shared by all threads without locks.
//!
//! A node is a position reached by one line of moves; transpositions have separate nodes. Its sums are from the
//! view of the player who moved there, who compares it with its siblings.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use rsshogi::types::Move;
use usi_shell::Game;

use super::{
    pool::{Budget, Cell, NONE, Pool},
    proof::Proof,
};

/// Fixed-point unit of probability sums: integers make the sums exact and independent of their order. Up to
/// 2^32 visits fit.
const UNIT: f64 = (1_u64 << 30) as f64;

/// A node. See [`Stage`] for its life cycle. On a cache line of its own: a descent looks at all children of a node, and
/// threads that count different ones do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Node {
    visits: AtomicU32,
    pending: AtomicU32,
    wins: AtomicU64,
    draws: AtomicU64,
    proven: AtomicU32,
    /// The first block of moves; in a free node, the next free node.
    head: AtomicU32,
    /// Number of moves, or one of the two constants below.
    stage: AtomicU32,
    /// Index of the first move never visited.
    touched: AtomicU32,
}

const FRESH: u32 = 0;
const CLAIMED: u32 = u32::MAX;

/// Life cycle of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not yet evaluated.
    Fresh,
    /// A thread is evaluating it.
    Claimed,
    /// Expanded, with this number of moves.
    Grown(usize),
}

/// The result of a playout for one of the players.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// Probability of a win.
    pub win: f64,
    /// Probability of a draw.
    pub draw: f64,
}

/// Visit statistics of a node.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Completed visits.
    pub visits: u32,
    /// Pending visits.
    pub pending: u32,
    wins: u64,
    draws: u64,
}

/// A block of a node's moves, by descending prior, on two cache lines.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Block {
    next: AtomicU32,
    edges: [AtomicU64; EDGES],
}

/// Moves per block: 128 bytes with the link.
const EDGES: usize = 15;

/// A move, its prior, and the index of its node if it has one: 16, 16 and 32 bits.
#[derive(Clone, Copy, Debug)]
pub struct Edge(u64);

/// The tree, from the position before the root on.
#[derive(Debug)]
pub struct Tree {
    nodes: Pool<Node>,
    blocks: Pool<Block>,
    most: usize,
    /// The oldest node kept: if possible the one before the root, so that another reply than the expected one
    /// is found too.
    base: u32,
    /// The moves of the game up to the base.
    base_line: Vec<Move>,
    start: Option<String>,
    root_ply: usize,
    epoch: u32,
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
    /// The same result for the other player.
    pub fn turned(self) -> Self {
        Self { win: 1.0 - self.win - self.draw, draw: self.draw }
    }
}

impl Tally {
    /// The value for the player who moved there, with a draw worth `draw`; 0.5 without visits.
    pub fn value(&self, draw: f32) -> f32 {
        if self.visits == 0 {
            return 0.5;
        }
        ((self.wins as f64 + f64::from(draw) * self.draws as f64) / (UNIT * f64::from(self.visits))) as f32
    }

    /// The value for the side to move.
    pub fn value_to_move(&self, draw: f32) -> f32 {
        if self.visits == 0 {
            return 0.5;
        }
        let all = UNIT * f64::from(self.visits);
        let (wins, draws) = (self.wins as f64, self.draws as f64);
        ((all - wins - draws + f64::from(draw) * draws) / all) as f32
    }

    /// The value for the player who moved there when each pending visit counts as `virtual_loss` lost ones, and the
    /// number of visits with these; `None` without a visit.
    pub fn pessimistic(&self, draw: f32, virtual_loss: u32) -> Option<(f32, f32)> {
        const PER_UNIT: f32 = (1.0 / UNIT) as f32;
        let visits = self.visits + self.pending * virtual_loss;
        if visits == 0 {
            return None;
        }
        let drawn = if self.draws == 0 { 0.0 } else { draw * self.draws as f32 };
        // Signed: below 2^63 it is the same number, and one instruction.
        Some(((self.wins as i64 as f32 + drawn) * PER_UNIT / visits as f32, visits as f32))
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

    pub fn stage(&self) -> Stage {
        match self.stage.load(Acquire) {
            FRESH => Stage::Fresh,
            CLAIMED => Stage::Claimed,
            moves => Stage::Grown(moves as usize),
        }
    }

    /// Claims the node for evaluation; `false` if another thread has claimed it.
    pub fn claim(&self) -> bool {
        self.stage.compare_exchange(FRESH, CLAIMED, AcqRel, Acquire).is_ok()
    }

    /// Releases the claim.
    pub fn release(&self) {
        self.stage.store(FRESH, Release);
    }

    /// Its visit statistics.
    pub fn tally(&self) -> Tally {
        Tally {
            visits: self.visits.load(Relaxed),
            pending: self.pending.load(Relaxed),
            wins: self.wins.load(Relaxed),
            draws: self.draws.load(Relaxed),
        }
    }

    /// Index of the first move never visited.
    pub fn touched(&self) -> usize {
        self.touched.load(Relaxed) as usize
    }

    /// Starts a visit (virtual loss).
    pub fn enter(&self) {
        self.pending.fetch_add(1, Relaxed);
    }

    /// Cancels a visit.
    pub fn leave(&self) {
        self.pending.fetch_sub(1, Relaxed);
    }

    /// Completes a visit with a result for the player who moved here.
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
    /// An unvisited move.
    pub fn new(mv: Move, prior: u16) -> Self {
        Self(u64::from(mv.raw()) | u64::from(prior) << 16)
    }

    pub const fn mv(self) -> Move {
        Move::from_raw(self.0 as u16)
    }

    /// Its prior, 0 to 1.
    pub fn prior(self) -> f32 {
        const UNIT: f32 = 1.0 / u16::MAX as f32;
        f32::from((self.0 >> 16) as u16) * UNIT
    }

    /// The index of its node, if it was visited.
    pub fn child(self) -> Option<u32> {
        let child = (self.0 >> 32) as u32;
        (child != NONE).then_some(child)
    }

    const fn to(self, child: u32) -> Self {
        Self(self.0 & 0xffff_ffff | (child as u64) << 32)
    }
}

impl Tree {
    /// A tree of at most `bytes`.
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
        }
    }

    /// Removes all nodes.
    pub fn clear(&mut self) {
        self.nodes.reset();
        self.blocks.reset();
        self.base = NONE;
        self.base_line.clear();
        self.start = None;
    }

    /// A node reachable from the root.
    pub fn node(&self, index: u32) -> &Node {
        self.nodes.get(index)
    }

    /// The proven result of a node, for the side to move.
    pub fn proof(&self, node: &Node) -> Option<Proof> {
        Proof::unpack(node.proven.load(Relaxed), self.epoch)
    }

    /// Stores a proven result.
    pub fn prove(&self, node: &Node, proof: Proof) {
        node.proven.store(proof.pack(self.epoch), Relaxed);
    }

    /// Removes a proven result.
    pub fn unprove(&self, node: &Node) {
        node.proven.store(0, Relaxed);
    }

    /// Derives a proven result from those of the children; returns whether there is one.
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

    /// Looks at the first moves of a node, at most so many, each with its index and with its node if it has one: what a descent
    /// does most. Nothing in the loop depends on the move before, so the processor reads several nodes at once.
    #[inline]
    pub fn each_edge<'a>(
        &'a self,
        node: &Node,
        most: usize,
        mut look: impl FnMut(usize, Edge, Option<&'a Node>),
    ) {
        let Stage::Grown(moves) = node.stage() else { return };
        let (moves, mut number) = (moves.min(most), 0);
        let mut index = node.head.load(Relaxed);
        while number < moves && index != NONE {
            let block = self.blocks.get(index);
            for word in block.edges.iter().take(moves - number) {
                let edge = Edge(word.load(Acquire));
                look(number, edge, edge.child().map(|child| self.node(child)));
                number += 1;
            }
            index = block.next.load(Relaxed);
        }
    }

    /// Adds the moves to a claimed node and sorts them. Returns false, without a change, if the memory is full.
    pub fn grow(&self, node: &Node, moves: &[(Move, u16)]) -> bool {
        let Some(head) = self.blocks.take(moves.len().div_ceil(EDGES)) else { return false };
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

    /// The move with this index and its node, created if missing; `None` if the memory is full.
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

    /// The index of a move of a node.
    pub fn number_of(&self, node: &Node, mv: Move) -> Option<usize> {
        self.edges(node).position(|edge| edge.mv() == mv)
    }

    fn fresh_node(&self) -> Option<u32> {
        let fresh = self.nodes.take(1)?;
        self.nodes.get(fresh).clear();
        Some(fresh)
    }

    /// Frees subtrees that were cut off. No search may run.
    fn free(&mut self, mut open: Vec<u32>) {
        while let Some(index) = open.pop() {
            let node = self.nodes.get(index);
            open.extend(self.edges(node).filter_map(Edge::child));
            if matches!(node.stage(), Stage::Grown(_)) {
                self.blocks.give_back(node.head.load(Relaxed));
            }
            // A free node's link to the next one.
            node.head.store(NONE, Relaxed);
            self.nodes.give_back(index);
        }
    }

    /// Finds the node of the game's position, or starts a new tree with it; everything but the node before it
    /// and its subtree is cut off. `None` if the memory is too small for a single node.
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

    /// The nodes from the base along a line, with the indices of the moves; `None` if the line leaves the tree.
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
            // The root is the base or its child: nothing is cut off.
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
        self.free(vec![self.base]);
        (self.base, self.base_line) = (base, line);
        Some(root)
    }

    /// Frees memory: removes the subtrees of the nodes with the fewest visits until a third of the memory is
    /// free. They can grow again. Returns whether there is room now.
    pub fn prune(&mut self, root: u32) -> bool {
        let tight = |tree: &Self| tree.nodes.is_tight() || tree.blocks.is_tight();
        let mut fewest = 8;
        while tight(self) && fewest < 1 << 24 {
            let cut = self.cut_below(root, fewest);
            self.free(cut);
            fewest *= 4;
        }
        !tight(self)
    }

    /// Makes leaves of the nodes with fewer visits, and returns their children.
    fn cut_below(&self, root: u32, fewest: u32) -> Vec<u32> {
        let (mut open, mut cut) = (vec![root], Vec::new());
        while let Some(index) = open.pop() {
            let node = self.node(index);
            let children: Vec<u32> = self.edges(node).filter_map(Edge::child).collect();
            if node.tally().visits >= fewest || index == root {
                open.extend(children);
            } else if matches!(node.stage(), Stage::Grown(_)) {
                cut.extend(children);
                self.blocks.give_back(node.head.swap(NONE, Relaxed));
                node.release();
            }
        }
        cut
    }

    /// Bytes in use.
    pub fn bytes_used(&self) -> usize {
        self.nodes.bytes_used() + self.blocks.bytes_used()
    }

    pub const fn bytes_allowed(&self) -> usize {
        self.most
    }

    /// Bytes allocated.
    pub fn bytes_held(&self) -> usize {
        self.nodes.bytes_held() + self.blocks.bytes_held()
    }
}

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

/// A node, in 32 bytes. See [`Stage`] for its life cycle.
#[derive(Debug, Default)]
pub struct Node {
    visits: AtomicU32,
    pending: AtomicU32,
    wins: AtomicU64,
    draws: AtomicU32,
    proven: AtomicU32,
    /// The first block of moves; in a free family, the next free family.
    head: AtomicU32,
    /// The number of moves and, in the upper half, the index of the first move never visited; or one of the two constants
    /// below.
    stage: AtomicU32,
}

const FRESH: u32 = 0;
const CLAIMED: u32 = u32::MAX;
const TOUCHED_SHIFT: u32 = 16;

/// The nodes of consecutive moves, side by side on two cache lines: a descent looks at all children of a node.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Family([Node; FAMILY]);

/// Nodes per family. The index of a node is that of its family times this, and its place there.
const FAMILY: usize = 4;

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
    /// True for a draw by the rules.
    pub drawn: bool,
}

/// Visit statistics of a node.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// Completed visits.
    pub visits: u32,
    /// Pending visits.
    pub pending: u32,
    wins: u64,
    draws: u32,
}

/// A block of a node's moves, by descending prior, on two cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Block {
    next: AtomicU32,
    /// The families of the moves, as far as one of their moves was visited.
    families: [AtomicU32; EDGES / FAMILY],
    /// Moves and priors, 16 bits each.
    edges: [AtomicU32; EDGES],
}

/// Moves per block: 124 bytes with the links.
const EDGES: usize = 24;

/// A move, its prior, and the index of its node if it has one, visited or not.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub mv: Move,
    /// The prior, 0 to 1.
    pub prior: f32,
    pub child: Option<u32>,
}

/// The tree, from the position before the root on.
#[derive(Debug)]
pub struct Tree {
    families: Pool<Family>,
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

impl Cell for Family {
    fn link(&self) -> &AtomicU32 {
        &self.0[0].head
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
        if self.drawn { self } else { Self { win: 1.0 - self.win, ..self } }
    }
}

impl Tally {
    /// The value for the player who moved there, with a draw worth `draw`; 0.5 without visits.
    pub fn value(&self, draw: f32) -> f32 {
        if self.visits == 0 {
            return 0.5;
        }
        let draws = UNIT * f64::from(self.draws);
        ((self.wins as f64 + f64::from(draw) * draws) / (UNIT * f64::from(self.visits))) as f32
    }

    /// The value for the side to move.
    pub fn value_to_move(&self, draw: f32) -> f32 {
        if self.visits == 0 {
            return 0.5;
        }
        let all = UNIT * f64::from(self.visits);
        let (wins, draws) = (self.wins as f64, UNIT * f64::from(self.draws));
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
        let drawn = if self.draws == 0 { 0.0 } else { draw * (self.draws as f32 * UNIT as f32) };
        // Signed: below 2^63 it is the same number, and one instruction.
        Some(((self.wins as i64 as f32 + drawn) * PER_UNIT / visits as f32, visits as f32))
    }

    /// The share of draws.
    pub fn draw(&self) -> f32 {
        (f64::from(self.draws) / f64::from(self.visits.max(1))) as f32
    }
}

impl Node {
    fn words(&self) -> [&AtomicU32; 6] {
        [&self.visits, &self.pending, &self.draws, &self.proven, &self.head, &self.stage]
    }

    fn clear(&self) {
        self.words().iter().for_each(|word| word.store(0, Relaxed));
        self.wins.store(0, Relaxed);
    }

    /// Moves its contents to another node. What stays is a fresh node.
    fn move_to(&self, other: &Self) {
        self.words()
            .iter()
            .zip(other.words())
            .for_each(|(from, to)| to.store(from.swap(0, Relaxed), Relaxed));
        other.wins.store(self.wins.swap(0, Relaxed), Relaxed);
    }

    pub fn stage(&self) -> Stage {
        match self.stage.load(Acquire) {
            FRESH => Stage::Fresh,
            CLAIMED => Stage::Claimed,
            grown => Stage::Grown(grown as usize & 0xffff),
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

    /// Index of the first move never visited, of a node that has grown.
    pub fn touched(&self) -> usize {
        (self.stage.load(Relaxed) >> TOUCHED_SHIFT) as usize
    }

    /// Notes that a move is visited.
    fn touch(&self, number: usize) {
        if number >= self.touched() {
            let moves = self.stage.load(Relaxed) & 0xffff;
            self.stage.fetch_max((number as u32 + 1) << TOUCHED_SHIFT | moves, Relaxed);
        }
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
        if ending.drawn {
            self.draws.fetch_add(1, Relaxed);
        }
        self.visits.fetch_add(1, Relaxed);
        self.pending.fetch_sub(1, Relaxed);
    }
}

/// The prior in the word of an edge, 0 to 1.
fn prior(word: u32) -> f32 {
    const UNIT: f32 = 1.0 / u16::MAX as f32;
    f32::from((word >> 16) as u16) * UNIT
}

impl Block {
    fn edge(&self, at: usize) -> Edge {
        let (word, family) = (self.edges[at].load(Relaxed), self.families[at / FAMILY].load(Acquire));
        Edge {
            mv: Move::from_raw(word as u16),
            prior: prior(word),
            child: (family != NONE).then_some(family * FAMILY as u32 + (at % FAMILY) as u32),
        }
    }
}

impl Tree {
    /// A tree of at most `bytes`.
    pub fn new(bytes: usize) -> Self {
        let budget = Budget::new(bytes);
        // As many as have an index.
        let families = bytes.min(u32::MAX as usize / FAMILY * size_of::<Family>());
        Self {
            families: Pool::new(budget.clone(), families),
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
        self.families.reset();
        self.blocks.reset();
        self.base = NONE;
        self.base_line.clear();
        self.start = None;
    }

    /// A node reachable from the root.
    pub fn node(&self, index: u32) -> &Node {
        &self.families.get(index / FAMILY as u32).0[index as usize % FAMILY]
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
        let proof = |edge: Edge| edge.child.and_then(|child| self.proof(self.node(child)));
        let found = Proof::of_children(self.edges(node).map(proof));
        if let Some(found) = found {
            self.prove(node, found);
        }
        found.is_some()
    }

    /// The moves of a node, by descending prior.
    pub fn edges<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = Edge> + 'a {
        let moves = match node.stage() {
            Stage::Grown(moves) => moves,
            _ => 0,
        };
        let blocks = (moves > 0).then(|| self.blocks_of(node)).into_iter().flatten();
        blocks.flat_map(|block| (0..EDGES).map(|at| block.edge(at))).take(moves)
    }

    /// The blocks of a node that has grown.
    fn blocks_of<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Block> + 'a {
        let get = |index: u32| (index != NONE).then(|| self.blocks.get(index));
        std::iter::successors(get(node.head.load(Relaxed)), move |block| get(block.next.load(Relaxed)))
    }

    /// Looks at the first moves of a node, at most so many, each with its index, its prior and its node if it has one: what a
    /// descent does most. Nothing in the loop depends on the move before, so the processor reads several families at once.
    #[inline]
    pub fn each_edge<'a>(
        &'a self,
        node: &'a Node,
        most: usize,
        mut look: impl FnMut(usize, f32, Option<&'a Node>),
    ) {
        let Stage::Grown(moves) = node.stage() else { return };
        let (moves, mut number) = (moves.min(most), 0);
        for block in self.blocks_of(node) {
            for at in (0..EDGES).step_by(FAMILY) {
                if number >= moves {
                    return;
                }
                let first = block.families[at / FAMILY].load(Acquire);
                let family = (first != NONE).then(|| self.families.get(first));
                for (slot, word) in block.edges[at..at + FAMILY].iter().take(moves - number).enumerate() {
                    look(number, prior(word.load(Relaxed)), family.map(|family| &family.0[slot]));
                    number += 1;
                }
            }
        }
    }

    /// Adds the moves to a claimed node and sorts them. Returns false, without a change, if the memory is full.
    pub fn grow(&self, node: &Node, moves: &[(Move, u16)]) -> bool {
        let Some(head) = self.blocks.take(moves.len().div_ceil(EDGES)) else { return false };
        let mut index = head;
        for part in moves.chunks(EDGES) {
            let block = self.blocks.get(index);
            block.families.iter().for_each(|family| family.store(NONE, Relaxed));
            for (word, &(mv, prior)) in block.edges.iter().zip(part) {
                word.store(u32::from(mv.raw()) | u32::from(prior) << 16, Relaxed);
            }
            index = block.next.load(Relaxed);
        }
        node.head.store(head, Relaxed);
        node.stage.store(moves.len() as u32, Release);
        true
    }

    /// The move with this index and its node, created if missing; `None` if the memory is full.
    pub fn child(&self, node: &Node, number: usize) -> Option<(Move, u32)> {
        let (block, at) = (self.blocks_of(node).nth(number / EDGES)?, number % EDGES);
        let edge = block.edge(at);
        let child = match edge.child {
            Some(child) => child,
            None => self.found(&block.families[at / FAMILY])? * FAMILY as u32 + (at % FAMILY) as u32,
        };
        node.touch(number);
        Some((edge.mv, child))
    }

    /// The family that `place` refers to, created if missing; `None` if the memory is full.
    fn found(&self, place: &AtomicU32) -> Option<u32> {
        let fresh = self.fresh_family()?;
        match place.compare_exchange(NONE, fresh, AcqRel, Acquire) {
            Ok(_) => Some(fresh),
            Err(taken) => {
                self.families.give_back(fresh);
                Some(taken)
            }
        }
    }

    /// The index of a move of a node.
    pub fn number_of(&self, node: &Node, mv: Move) -> Option<usize> {
        self.edges(node).position(|edge| edge.mv == mv)
    }

    fn fresh_family(&self) -> Option<u32> {
        let fresh = self.families.take(1)?;
        self.families.get(fresh).0.iter().for_each(Node::clear);
        Some(fresh)
    }

    /// Frees families and the subtrees of their nodes. No search may run.
    fn free(&mut self, mut open: Vec<u32>) {
        while let Some(index) = open.pop() {
            for node in &self.families.get(index).0 {
                open.extend(self.families_below(node));
                if matches!(node.stage(), Stage::Grown(_)) {
                    self.blocks.give_back(node.head.load(Relaxed));
                }
                // The first node's is the link to the next free family.
                node.head.store(NONE, Relaxed);
            }
            self.families.give_back(index);
        }
    }

    /// The families of the children of a node.
    fn families_below<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = u32> + 'a {
        let first = |edge: Edge| edge.child.map(|child| child / FAMILY as u32);
        self.edges(node).step_by(FAMILY).filter_map(first)
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
        self.base = self.fresh_family()? * FAMILY as u32;
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
        let &[.., _, base, _] = path else {
            // The root is the base or its child: nothing is cut off.
            return Some(root);
        };
        line.pop();
        // What stays leaves its family, which is freed with the rest.
        let kept = Node::default();
        self.node(base).move_to(&kept);
        self.free(vec![self.base / FAMILY as u32]);
        self.base = self.fresh_family()? * FAMILY as u32;
        kept.move_to(self.node(self.base));
        self.base_line = line;
        Some(root)
    }

    /// Frees memory: removes the subtrees of the nodes with the fewest visits until a third of the memory is
    /// free. They can grow again. Returns whether there is room now.
    pub fn prune(&mut self, root: u32) -> bool {
        let tight = |tree: &Self| tree.families.is_tight() || tree.blocks.is_tight();
        let mut fewest = 8;
        while tight(self) && fewest < 1 << 24 {
            let cut = self.cut_below(root, fewest);
            self.free(cut);
            fewest *= 4;
        }
        !tight(self)
    }

    /// Makes leaves of the nodes with fewer visits, and returns the families of their children.
    fn cut_below(&self, root: u32, fewest: u32) -> Vec<u32> {
        let (mut open, mut cut) = (vec![root], Vec::new());
        while let Some(index) = open.pop() {
            let node = self.node(index);
            if node.tally().visits >= fewest || index == root {
                open.extend(self.edges(node).filter_map(|edge| edge.child));
            } else if matches!(node.stage(), Stage::Grown(_)) {
                cut.extend(self.families_below(node));
                self.blocks.give_back(node.head.swap(NONE, Relaxed));
                node.release();
            }
        }
        cut
    }

    /// Bytes in use.
    pub fn bytes_used(&self) -> usize {
        self.families.bytes_used() + self.blocks.bytes_used()
    }

    pub const fn bytes_allowed(&self) -> usize {
        self.most
    }

    /// Bytes allocated.
    pub fn bytes_held(&self) -> usize {
        self.families.bytes_held() + self.blocks.bytes_held()
    }
}

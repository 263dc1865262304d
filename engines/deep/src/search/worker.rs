//! One search thread: it gathers a batch of leaves, hands it to the evaluator, and expands the leaves and backs up their
//! values when the answers come. Before a device of its own it gathers on meanwhile.

use std::{collections::VecDeque, mem, sync::atomic::Ordering::Relaxed, thread, time::Duration};

use rsshogi::{
    board::{Position, zobrist::ZobristKey},
    types::{Color, Move, Move32},
};
use usi_shell::{Game, Path};

use crate::evaluator::{Answer, EvaluatorError, Pending, Question};

use super::{
    Proven,
    cache::Known,
    leaf::{self, LeafEvaluator, LeafResult},
    proof::Proof,
    select::Weights,
    shared::Shared,
    tree::{Ending, Node, Stage, Tree},
};

/// Nodes of a path for which there is room at its begin.
const PATH: usize = 32;

/// A leaf waiting for evaluation, with its path.
struct Leaf {
    path: Vec<u32>,
    moves: Vec<Move>,
    key: ZobristKey,
}

/// The end of a descent.
enum Reached {
    /// A leaf, added to the batch.
    Leaf,
    /// A position whose value is known.
    Known,
    /// A leaf claimed by another thread, or already in this batch.
    Collision,
    /// The memory is full.
    Full,
    RootProven,
}

/// One search thread.
pub struct Worker<'a> {
    shared: &'a Shared<'a>,
    evaluator: LeafEvaluator<'a>,
    /// The side to move at the root.
    side: Color,
    /// The nodes of the descent, and the moves between them.
    path: Vec<u32>,
    moves: Vec<Move>,
    /// The board, which stays at the last leaf: the next descent often shares its first moves.
    position: Position,
    line: Path,
    played: Vec<Move32>,
    leaves: Vec<Leaf>,
    /// Batches at the evaluator, the oldest first. The virtual loss of their leaves stays.
    out: VecDeque<(Pending, Vec<Leaf>)>,
    questions: Vec<Question>,
    /// Paths to leaves claimed by others. Their virtual loss stays until the batch is done; otherwise the next
    /// descent would end at the same leaf.
    collisions: Vec<Vec<u32>>,
}

impl<'a> Worker<'a> {
    /// A thread that searches the position of `game`.
    pub fn new(shared: &'a Shared<'a>, game: &Game) -> Self {
        let mut position = game.position().clone_compact();
        position.init_stack();
        position.set_entering_king_rule(shared.task.terms.declaration);
        let mut line = game.path();
        line.mark_root();
        let evaluator =
            LeafEvaluator { terms: &shared.task.terms, mate: shared.task.leaf_mate, cache: shared.cache };
        Self {
            shared,
            evaluator,
            side: position.turn(),
            path: Vec::new(),
            moves: Vec::new(),
            position,
            line,
            played: Vec::new(),
            leaves: Vec::new(),
            out: VecDeque::new(),
            questions: Vec::new(),
            collisions: Vec::new(),
        }
    }

    /// Expands the root if necessary. The network's value of it counts as its first visit.
    pub fn open_root(&mut self) {
        let root = self.shared.tree.node(self.shared.root);
        // A root proven as a leaf lacks its moves, and the proof does not say which one to play.
        if root.stage() == Stage::Fresh {
            self.shared.tree.unprove(root);
        }
        if root.stage() != Stage::Fresh || !root.claim() {
            return;
        }
        self.shared.counts.begin_playout();
        self.path.clear();
        self.path.push(self.shared.root);
        root.enter();
        let mut moves = Vec::new();
        leaf::legal(&self.position, &mut moves);
        if moves.is_empty() {
            self.back_up_proof(Proof::firm(Proven::Loss(0)));
            return root.release();
        }
        let seen = self.line.seen();
        let key = leaf::cache_key(&self.position, seen);
        match self.shared.cache.get(key) {
            Some(known) => drop(self.expand(&known)),
            None => self.ask(moves, seen, key),
        }
        self.submit();
        self.collect(0);
    }

    /// Runs until the search ends. `after` is called after each batch.
    pub fn run(&mut self, mut after: impl FnMut()) {
        while !self.shared.is_over() && self.gather() {
            // A thread that found no leaf waits for those that are out.
            let most = if self.leaves.is_empty() { self.out.len().saturating_sub(1) } else { self.ahead() };
            self.submit();
            self.collect(most);
            after();
        }
        self.collect(0);
        self.cancel_collisions();
    }

    /// Number of batches that may be out while this thread gathers another one.
    fn ahead(&self) -> usize {
        if self.shared.task.deterministic { 0 } else { self.shared.evaluator.ahead() }
    }

    /// Gathers a batch of leaves; returns whether the search may continue.
    fn gather(&mut self) -> bool {
        let wanted = self.batch();
        let (mut taken, mut known) = (0, 0);
        while self.leaves.len() < wanted && taken < wanted && known < 8 * wanted {
            if self.shared.is_over() || self.shared.is_decided() {
                self.questions.clear();
                let leaves = mem::take(&mut self.leaves);
                self.discard(leaves);
                return false;
            }
            if !self.shared.counts.begin_playout() {
                // Another thread may return a playout to the limit, but then takes it again itself.
                return !self.leaves.is_empty();
            }
            match self.descend() {
                Reached::Leaf => {}
                Reached::Known => known += 1,
                Reached::Collision => {
                    taken += 1;
                    self.shared.counts.collisions.fetch_add(1, Relaxed);
                    self.shared.counts.call_off_playout();
                }
                Reached::Full => {
                    self.shared.counts.call_off_playout();
                    self.shared.pause();
                }
                Reached::RootProven => {
                    self.shared.counts.call_off_playout();
                    self.shared.end();
                }
            }
        }
        if self.leaves.is_empty() && taken > 0 && self.out.is_empty() {
            thread::sleep(Duration::from_micros(50));
        }
        true
    }

    /// Small while the tree is small, because the leaves of a batch are chosen without each other's values.
    fn batch(&self) -> usize {
        let visits = self.shared.tree.node(self.shared.root).tally().visits as usize;
        let gathered = self.shared.task.threads.max(1) * (1 + self.ahead());
        (visits / (2 * gathered)).clamp(1, self.shared.task.batch.max(1))
    }

    /// Descends by PUCT to a leaf.
    fn descend(&mut self) -> Reached {
        self.path.clear();
        self.moves.clear();
        let reached = self.walk();
        self.shared.counts.note_depth(self.moves.len() as u32);
        match reached {
            Reached::Leaf | Reached::Known => {}
            Reached::Collision => {
                let path = self.take_path();
                self.collisions.push(path);
            }
            Reached::Full | Reached::RootProven => leave(self.shared.tree, &self.path),
        }
        reached
    }

    /// Chooses moves by the tree alone; the board follows only to a leaf that is to be evaluated.
    fn walk(&mut self) -> Reached {
        let (tree, terms) = (self.shared.tree, &self.shared.task.terms);
        let (mut index, mut side) = (self.shared.root, self.side);
        loop {
            let node = tree.node(index);
            self.path.push(index);
            node.enter();
            let at_root = self.path.len() == 1;
            if !at_root && let Some(proof) = tree.proof(node) {
                self.back_up_proof(proof);
                return Reached::Known;
            }
            match node.stage() {
                Stage::Fresh if node.claim() => {
                    self.follow();
                    return self.evaluate_leaf(node);
                }
                Stage::Fresh | Stage::Claimed => return Reached::Collision,
                Stage::Grown(_) => {}
            }
            let weights = Weights::new(&self.shared.task.constants, terms.draw_value(side), at_root);
            let Some(number) = weights.choose(tree, node) else {
                tree.conclude(node);
                return if at_root { Reached::RootProven } else { Reached::Collision };
            };
            let Some((mv, child)) = tree.child(node, number) else { return Reached::Full };
            self.moves.push(mv);
            (index, side) = (child, side.flip());
        }
    }

    /// Brings the board from the last leaf to the end of the path.
    fn follow(&mut self) {
        let same = self.moves.iter().zip(&self.played).take_while(|(mv, played)| **mv == played.to_move());
        let same = same.count();
        for mv in self.played.drain(same..).rev() {
            super::mate::back(&mut self.position, mv);
            self.line.pop();
        }
        for &mv in &self.moves[same..] {
            let mv = self.position.move32_from_move(mv);
            self.position.apply_move32(mv);
            self.played.push(mv);
            self.line.push(&self.position);
        }
    }

    /// Evaluates a claimed leaf by rules, mate search and cache.
    fn evaluate_leaf(&mut self, node: &Node) -> Reached {
        let mut moves = Vec::new();
        match self.evaluator.evaluate(&mut self.position, &self.line, &mut moves) {
            LeafResult::Open { seen, key } => {
                self.ask(moves, seen, key);
                Reached::Leaf
            }
            LeafResult::Ended(proof) => {
                self.shared.tree.prove(node, proof);
                node.release();
                self.back_up_proof(proof);
                Reached::Known
            }
            LeafResult::Known(known) if self.expand(&known) => Reached::Known,
            LeafResult::Known(_) => Reached::Full,
        }
    }

    /// Adds the last position of the path to the batch.
    fn ask(&mut self, moves: Vec<Move>, seen: u8, key: ZobristKey) {
        let question = self.shared.evaluator.encoding().question(&self.position, &moves, seen);
        self.questions.push(question);
        let path = self.take_path();
        self.leaves.push(Leaf { path, moves, key });
    }

    fn take_path(&mut self) -> Vec<u32> {
        mem::replace(&mut self.path, Vec::with_capacity(PATH))
    }

    /// Expands the last node of the path, which is claimed, and backs up its value. Returns whether there was
    /// room.
    fn expand(&self, known: &Known) -> bool {
        let has_room = expand(self.shared.tree, &self.path, known);
        self.shared.counts.playouts.fetch_add(u64::from(has_room), Relaxed);
        has_room
    }

    /// Hands the batch to the evaluator.
    fn submit(&mut self) {
        if self.questions.is_empty() {
            return;
        }
        let pending = self.shared.evaluator.submit(mem::take(&mut self.questions));
        self.out.push_back((pending, mem::take(&mut self.leaves)));
    }

    /// Expands the leaves of batches whose answers are here, and waits for answers while more than `most` batches are out.
    fn collect(&mut self, most: usize) {
        while let Some((pending, leaves)) = self.out.pop_front() {
            match if self.out.len() >= most { Some(pending.wait()) } else { pending.poll(Duration::ZERO) } {
                Some(Ok(answers)) => self.absorb(leaves, &answers),
                Some(Err(fault)) => {
                    match fault {
                        EvaluatorError::Stopped => self.shared.end(),
                        fault => self.shared.fail(fault),
                    }
                    self.discard(leaves);
                }
                None => return self.out.push_front((pending, leaves)),
            }
            self.cancel_collisions();
        }
        if self.out.is_empty() {
            self.cancel_collisions();
        }
    }

    fn cancel_collisions(&mut self) {
        for path in self.collisions.drain(..) {
            leave(self.shared.tree, &path);
        }
    }

    fn absorb(&mut self, leaves: Vec<Leaf>, answers: &[Answer]) {
        let mut playouts = 0;
        for (leaf, answer) in leaves.into_iter().zip(answers) {
            let known = leaf::known(&leaf.moves, &answer.priors, answer.value);
            self.shared.cache.keep(leaf.key, &known);
            if expand(self.shared.tree, &leaf.path, &known) {
                playouts += 1;
            } else {
                call_off(self.shared, &leaf.path);
                self.shared.pause();
            }
        }
        // Once a batch, because all threads wait for the cache line.
        self.shared.counts.evaluations.fetch_add(answers.len() as u64, Relaxed);
        self.shared.counts.playouts.fetch_add(playouts, Relaxed);
    }

    /// Abandons the leaves of a batch.
    fn discard(&mut self, leaves: Vec<Leaf>) {
        for leaf in leaves {
            if let Some(&last) = leaf.path.last() {
                self.shared.tree.node(last).release();
            }
            call_off(self.shared, &leaf.path);
        }
    }

    /// Backs up a playout that ended with a proven result for the side to move, and the proofs that follow from
    /// it.
    fn back_up_proof(&self, proof: Proof) {
        let ending = match proof.result {
            Proven::Win(_) => Ending { win: 0.0, drawn: false },
            Proven::Loss(_) => Ending { win: 1.0, drawn: false },
            Proven::Draw => Ending { win: 0.0, drawn: true },
        };
        let tree = self.shared.tree;
        back_up(tree, &self.path, ending);
        self.shared.counts.playouts.fetch_add(1, Relaxed);
        if let Some(&last) = self.path.last() {
            tree.prove(tree.node(last), proof);
        }
        let before = self.path.iter().rev().skip(1);
        before.take_while(|&&index| tree.conclude(tree.node(index))).count();
    }
}

fn expand(tree: &Tree, path: &[u32], known: &Known) -> bool {
    let Some(&last) = path.last() else { return true };
    let node = tree.node(last);
    if !tree.grow(node, &known.moves) {
        node.release();
        return false;
    }
    back_up(tree, path, Ending { win: 1.0 - f64::from(known.value), drawn: false });
    true
}

/// Backs up the result of a playout; `ending` is for the player who made the last move of the path.
fn back_up(tree: &Tree, path: &[u32], mut ending: Ending) {
    for &index in path.iter().rev() {
        tree.node(index).count(ending);
        ending = ending.turned();
    }
}

fn leave(tree: &Tree, path: &[u32]) {
    path.iter().for_each(|&index| tree.node(index).leave());
}

fn call_off(shared: &Shared<'_>, path: &[u32]) {
    leave(shared.tree, path);
    shared.counts.call_off_playout();
}

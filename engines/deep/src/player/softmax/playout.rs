//! Playouts: descent by softmax probabilities, backup by weighted means.

use super::{
    super::{choice, legal, repeated},
    table::{Edge, Key, Node, Table, key},
};
use crate::{
    evaluator::{Answer, Encoding, Question},
    search::{Proven, Terms},
};
use rsshogi::{
    board::Position,
    mate::solve_mate_in_one_in_place,
    types::{Move, Move32},
};
use usi_shell::{Game, Path, SplitMix64};

/// Parameters of the playouts.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    /// Softmax temperature of the descent in centipawns: higher values explore more.
    pub(super) descent: f32,
    /// Softmax temperature of the backup in centipawns: higher values give worse moves more weight.
    pub(super) backup: f32,
    /// Weight of the log priors in both softmaxes and in the choice of the move; 0 for none.
    pub(super) policy: f32,
    /// Replies with a prior below this share of the highest are not evaluated by the network; 0 to evaluate
    /// all.
    pub(super) cut: f32,
    /// True if positions are searched for a short mate before evaluation.
    pub(super) mate: bool,
    pub(super) terms: Terms,
}

/// A search: its position on the current path, and its table.
pub(super) struct Playouts<'a> {
    table: &'a mut Table,
    parameters: Parameters,
    encoding: Encoding,
    position: Position,
    path: Path,
    root: Key,
    ply: u32,
    /// The moves from the root to the current position.
    line: Vec<Move32>,
    /// Length of the longest path in plies.
    pub(super) deepest: u32,
}

/// A root move.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedMove {
    pub(super) mv: Move,
    /// Its win probability.
    pub(super) value: f32,
    /// Its score for the choice, prior included.
    pub(super) merit: f32,
}

/// The end of a playout's descent.
pub(super) enum PlayoutEnd {
    /// A new node was expanded: its path, and the questions about its successors.
    Expanded(Expansion, Vec<Question>),
    /// A terminal or proven position.
    Terminal,
    /// A position whose evaluation is pending.
    Pending,
}

/// An expanded node, with those of its successors that the network evaluates.
#[derive(Debug)]
pub(super) struct Expansion {
    line: Vec<Move32>,
    pub(super) asked: Vec<Key>,
}

impl<'a> Playouts<'a> {
    pub(super) fn new(
        table: &'a mut Table,
        game: &Game,
        answer: &Answer,
        parameters: Parameters,
        encoding: Encoding,
    ) -> Self {
        let mut position = game.position().clone();
        position.set_entering_king_rule(parameters.terms.declaration);
        let root = key(&position);
        table.begin_search();
        table.vacant(root);
        table.learn(root, answer);
        let (path, ply) = (game.path(), game.ply());
        Self { table, parameters, encoding, position, path, root, ply, line: Vec::new(), deepest: 0 }
    }

    pub(super) fn is_full(&self) -> bool {
        self.table.fullness() >= 1000
    }

    pub(super) fn fullness(&self) -> u32 {
        self.table.fullness()
    }

    pub(super) fn proof(&self) -> Option<Proven> {
        self.table.get(self.root)?.proof
    }

    /// Runs one playout.
    pub(super) fn run(&mut self, rng: &mut SplitMix64) -> PlayoutEnd {
        let mut at = self.root;
        loop {
            let Some(edges) = self.edges(at) else { return self.open(at) };
            let values: Vec<Option<f32>> = edges.iter().map(|edge| self.value_of(*edge)).collect();
            let merit = |(edge, value): (&Edge, &Option<f32>)| {
                value.map_or(f32::NEG_INFINITY, |value| self.merit(edge, value, self.parameters.descent))
            };
            let merits: Vec<f32> = edges.iter().zip(&values).map(merit).collect();
            if values.iter().all(Option::is_none) {
                self.return_to_root(false);
                return PlayoutEnd::Pending;
            }
            let chosen = choice::draw(&merits, 1.0, rng).unwrap_or(0);
            let edge = edges[chosen];
            let ends = self.is_over(edge) || self.table.get(edge.key).is_none_or(|node| node.proof.is_some());
            if ends || values[chosen].is_none() {
                self.return_to_root(true);
                return PlayoutEnd::Terminal;
            }
            self.step(edge.mv);
            at = edge.key;
        }
    }

    /// Stores the evaluations of an expanded node's successors and backs their values up to the root.
    pub(super) fn evaluated(&mut self, expansion: &Expansion, answers: &[Answer]) {
        for (&key, answer) in expansion.asked.iter().zip(answers) {
            self.table.learn(key, answer);
        }
        expansion.line.iter().for_each(|&mv| self.step(mv));
        self.return_to_root(true);
    }

    /// The root moves with known values, best first.
    pub(super) fn moves(&mut self) -> Vec<RankedMove> {
        self.choices(self.root).into_iter().map(|(choice, _)| choice).collect()
    }

    fn choices(&mut self, at: Key) -> Vec<(RankedMove, Edge)> {
        let edges = self.edges(at).unwrap_or_default();
        let choice = |edge: Edge| {
            let value = self.value_of(edge)?;
            let merit = self.merit(&edge, value, self.parameters.backup);
            Some((RankedMove { mv: edge.mv.to_move(), value, merit }, edge))
        };
        let mut choices: Vec<(RankedMove, Edge)> = edges.into_iter().filter_map(choice).collect();
        choices.sort_by(|one, other| other.0.merit.total_cmp(&one.0.merit));
        choices
    }

    /// The score of a move in softmax units. Proven results outweigh every prior.
    fn merit(&self, edge: &Edge, value: f32, temperature: f32) -> f32 {
        let proven = self.table.get(edge.key).is_some_and(|node| node.proof.is_some());
        let log_prior = if proven { 0.0 } else { self.parameters.policy * edge.log_prior };
        logit(value) * 600.0 / temperature + log_prior
    }

    /// The principal variation that starts with `first`, as far as it is known.
    pub(super) fn line(&mut self, first: Move) -> Vec<Move> {
        let mut line = Vec::new();
        let mut next =
            self.edges(self.root).and_then(|edges| edges.into_iter().find(|edge| edge.mv.to_move() == first));
        while let Some(edge) = next {
            line.push(edge.mv.to_move());
            let over = self.is_over(edge);
            self.step(edge.mv);
            next = if over { None } else { self.choices(edge.key).first().map(|&(_, edge)| edge) };
        }
        self.return_to_root(false);
        line
    }

    fn edges(&self, at: Key) -> Option<Vec<Edge>> {
        self.table.get(at)?.edges.as_deref().map(<[Edge]>::to_vec)
    }

    fn step(&mut self, mv: Move32) {
        self.position.apply_move32(mv);
        self.path.push(&self.position);
        self.line.push(mv);
    }

    fn retreat(&mut self) {
        if let Some(mv) = self.line.pop() {
            self.path.pop();
            let _ = self.position.undo_move32(mv);
        }
    }

    /// Returns to the root; with `with_values` the values along the path are updated.
    fn return_to_root(&mut self, with_values: bool) {
        loop {
            if with_values {
                self.update_value();
            }
            if self.line.is_empty() {
                return;
            }
            self.retreat();
        }
    }

    /// True if the position after this move ends the game on this path: by repetition or by the maximum number
    /// of moves.
    fn is_over(&self, edge: Edge) -> bool {
        let last = self.parameters.terms.max_moves;
        self.path.meets(edge.key.0) || last > 0 && self.ply + self.line.len() as u32 >= last
    }

    /// The value of a move for its player; `None` while its evaluation is pending.
    fn value_of(&mut self, edge: Edge) -> Option<f32> {
        let node = self.table.get(edge.key)?;
        if node.proof.is_none() && self.is_over(edge) {
            return Some(self.verdict(edge));
        }
        node.value.map(|value| 1.0 - value)
    }

    fn verdict(&mut self, edge: Edge) -> f32 {
        let mover = self.position.turn();
        self.step(edge.mv);
        let returned = self.path.returned();
        self.retreat();
        match returned {
            Some(returned) => repeated(returned.means, &self.parameters.terms, mover),
            None => self.parameters.terms.draw_value(mover),
        }
    }

    /// Updates the value of the current position from its moves' values.
    fn update_value(&mut self) {
        let at = key(&self.position);
        let Some(edges) = self.edges(at) else { return };
        let choices = self.choices(at);
        if choices.is_empty() {
            return;
        }
        let merits: Vec<f32> = choices.iter().map(|(choice, _)| choice.merit).collect();
        let weights = choice::softmax(&merits, 1.0);
        let mean = weights.iter().zip(&choices).map(|(weight, (choice, _))| weight * choice.value).sum();
        // Only path-independent results are in the table.
        let proof = |edge: &Edge| self.table.get(edge.key).and_then(|node| node.proof);
        let proof = Proven::of_children(edges.iter().map(proof));
        if let Some(node) = self.table.get_mut(at) {
            node.value = Some(mean);
            if let Some(proof) = proof {
                let edges = node.edges.take();
                *node = Node { edges, ..Node::proven(proof) };
            }
        }
    }

    fn open(&mut self, at: Key) -> PlayoutEnd {
        let (mut edges, mut asked, mut questions) = (Vec::new(), Vec::new(), Vec::new());
        let priors: Vec<u16> = self.table.get(at).map(|node| node.priors.to_vec()).unwrap_or_default();
        let least = f32::from(priors.iter().copied().max().unwrap_or(0)) * self.parameters.cut;
        for (nth, mv) in legal(&self.position).into_iter().enumerate() {
            let mv = self.position.move32_from_move(mv);
            let prior = priors.get(nth).copied().unwrap_or(0);
            self.step(mv);
            let after = key(&self.position);
            if self.table.get(after).is_none() {
                match self.judge() {
                    Ok(_) if f32::from(prior) < least => {}
                    Ok(question) => {
                        asked.push(after);
                        questions.push(question);
                        self.table.vacant(after);
                    }
                    Err(proof) => {
                        if let Some(node) = self.table.vacant(after) {
                            *node = Node::proven(proof);
                        }
                    }
                }
            }
            self.retreat();
            edges.push(Edge::new(mv, prior, after));
        }
        self.table.open(at, edges);
        let line = self.line.clone();
        self.deepest = self.deepest.max(line.len() as u32 + 1);
        self.return_to_root(questions.is_empty());
        if questions.is_empty() {
            PlayoutEnd::Terminal
        } else {
            PlayoutEnd::Expanded(Expansion { line, asked }, questions)
        }
    }

    /// The result by the rules and mate search at the current position, or else the question for the network.
    fn judge(&mut self) -> Result<Question, Proven> {
        let replies = legal(&self.position);
        if replies.is_empty() {
            return Err(Proven::Loss(0));
        }
        if self.position.declaration_win_move() != Move32::MOVE_NONE {
            return Err(Proven::Win(1));
        }
        if self.parameters.mate && solve_mate_in_one_in_place(&mut self.position).is_some() {
            return Err(Proven::Win(1));
        }
        Ok(self.encoding.question(&self.position, &replies, 0))
    }
}

fn logit(value: f32) -> f32 {
    let value = value.clamp(1e-4, 1.0 - 1e-4);
    (value / (1.0 - value)).ln()
}

//! PUCT selection, with an exploration constant that grows with the visits (as in AlphaZero's published
//! pseudocode and dlshogi).

use super::{
    Constants, Proven,
    proof::Proof,
    tree::{Edge, Node, Tally, Tree},
};

/// Parameters of selection at one node.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a> {
    /// Initial exploration constant.
    pub init: f32,
    /// Visits after which it grows.
    pub base: f32,
    /// First play urgency reduction.
    pub fpu: f32,
    /// Lost visits per pending playout.
    pub virtual_loss: u32,
    /// The value of a draw for the side to move.
    pub draw: f32,
    /// Priors that replace the network's, in the order of the moves.
    pub priors: Option<&'a [f32]>,
}

/// The best move so far.
struct Best {
    score: f32,
    number: Option<usize>,
}

impl Best {
    fn offer(&mut self, score: f32, number: usize) {
        if score > self.score || self.number.is_none() {
            *self = Self { score, number: Some(number) };
        }
    }
}

impl<'a> Weights<'a> {
    /// The parameters of the root.
    pub fn at_root(constants: &Constants, draw: f32, priors: Option<&'a [f32]>) -> Self {
        let Constants { root_init: init, root_base: base, root_fpu: fpu, virtual_loss, .. } = *constants;
        Self { init, base, fpu, virtual_loss, draw, priors }
    }

    /// The parameters of all other nodes.
    pub fn below(constants: &Constants, draw: f32) -> Self {
        let Constants { init, base, fpu, virtual_loss, .. } = *constants;
        Self { init, base, fpu, virtual_loss, draw, priors: None }
    }

    /// The index of the move to visit, `None` if all moves are proven: the maximum of
    /// Q(a) + c(N) sqrt(N) P(a) / (1 + N(a)) with c(N) = init + ln((N + base + 1) / base). Moves proven won or lost
    /// are not visited again.
    pub fn choose(&self, tree: &Tree, node: &Node) -> Option<usize> {
        let tally = node.tally();
        // The node's first visit was its own evaluation.
        let visits = (tally.visits + tally.pending * self.virtual_loss).saturating_sub(1).max(1) as f32;
        let weight = (self.init + ((visits + self.base + 1.0) / self.base).ln()) * visits.sqrt();
        let mut best = Best { score: f32::NEG_INFINITY, number: None };
        let (mut tried, mut fresh) = (0.0, None::<(usize, f32)>);
        // Unvisited moves are sorted by prior, so only the first of them can be the best.
        let most = if self.priors.is_some() { usize::MAX } else { node.touched() + 1 };
        tree.each_edge(node, most, |number, edge, child| {
            let prior = self.prior(number, edge);
            match child.map_or(Worth::Fresh, |child| self.worth(child)) {
                Worth::Tried(value, visits) => {
                    tried += edge.prior();
                    best.offer(value + weight * prior / (1.0 + visits), number);
                }
                Worth::Fresh if fresh.is_none_or(|(_, highest)| prior > highest) => {
                    fresh = Some((number, prior));
                }
                Worth::Fresh | Worth::Decided => {}
            }
        });
        if let Some((number, prior)) = fresh {
            let first = tally.value_to_move(self.draw) - self.fpu * tried.sqrt();
            best.offer(first + weight * prior, number);
        }
        best.number
    }

    fn prior(&self, number: usize, edge: Edge) -> f32 {
        self.priors.and_then(|priors| priors.get(number).copied()).unwrap_or_else(|| edge.prior())
    }

    fn worth(&self, (tally, proof): (Tally, Option<Proof>)) -> Worth {
        match proof.map(|proof| proof.result) {
            Some(Proven::Win(_) | Proven::Loss(_)) => Worth::Decided,
            Some(Proven::Draw) => {
                Worth::Tried(self.draw, (tally.visits + tally.pending * self.virtual_loss) as f32)
            }
            None => match tally.pessimistic(self.draw, self.virtual_loss) {
                Some((value, visits)) => Worth::Tried(value, visits),
                None => Worth::Fresh,
            },
        }
    }
}

/// The value of a move for selection.
enum Worth {
    /// Not yet visited.
    Fresh,
    /// Value and visits.
    Tried(f32, f32),
    /// Proven; further visits are useless.
    Decided,
}

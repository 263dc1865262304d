//! PUCT selection, with an exploration constant that grows with the visits (as in AlphaZero's published
//! pseudocode and dlshogi).

use super::{
    Constants, Proven,
    tree::{Node, Tree},
};

/// Parameters of selection at one node.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
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
}

impl Weights {
    /// The parameters of the root, or of all other nodes.
    pub fn new(constants: &Constants, draw: f32, at_root: bool) -> Self {
        let Constants { init, base, root_init, root_base, fpu, root_fpu, virtual_loss } = *constants;
        let (init, base, fpu) = if at_root { (root_init, root_base, root_fpu) } else { (init, base, fpu) };
        Self { init, base, fpu, virtual_loss, draw }
    }

    /// The index of the move to visit, `None` if all moves are proven: the maximum of
    /// Q(a) + c(N) sqrt(N) P(a) / (1 + N(a)) with c(N) = init + ln((N + base + 1) / base). Moves proven won or lost
    /// are not visited again.
    pub fn choose(&self, tree: &Tree, node: &Node) -> Option<usize> {
        let tally = node.tally();
        // The node's first visit was its own evaluation.
        let visits = (tally.visits + tally.pending * self.virtual_loss).saturating_sub(1).max(1) as f32;
        let weight = (self.init + ((visits + self.base + 1.0) / self.base).ln()) * visits.sqrt();
        let mut best = None::<(f32, usize)>;
        let mut offer = |score, number| {
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, number));
            }
        };
        let (mut tried, mut fresh) = (0.0, None);
        // Unvisited moves are sorted by prior, so only the first of them can be the best.
        tree.each_edge(node, node.touched() + 1, |number, prior, child| {
            let known = child.map(|child| (child.tally(), tree.proof(child)));
            let known = match known {
                Some((_, Some(proof))) if proof.result != Proven::Draw => return,
                Some((tally, Some(_))) => {
                    Some((self.draw, (tally.visits + tally.pending * self.virtual_loss) as f32))
                }
                Some((tally, None)) => tally.pessimistic(self.draw, self.virtual_loss),
                None => None,
            };
            match known {
                Some((value, visits)) => {
                    tried += prior;
                    offer(value + weight * prior / (1.0 + visits), number);
                }
                None => fresh = fresh.or(Some((number, prior))),
            }
        });
        if let Some((number, prior)) = fresh {
            offer(tally.value_to_move(self.draw) - self.fpu * tried.sqrt() + weight * prior, number);
        }
        best.map(|(_, number)| number)
    }
}

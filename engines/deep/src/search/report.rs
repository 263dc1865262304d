//! Builds the results reported to the caller of a search.

use rsshogi::types::Move;

use super::{
    Progress, Proven, RootMove,
    tree::{Edge, Node, Tree},
};

/// Maximum length of a principal variation in plies.
const MOST_PLIES: usize = 64;
/// A move leads only with this part of the most visits.
const LEADERS_PART: u64 = 5;
/// Doubt about the value of a move after one visit. It falls with the square root of the visits.
const DOUBT: f32 = 0.4;

/// Builds reports from a tree.
pub struct Reporter<'a> {
    pub tree: &'a Tree,
    /// The index of the root.
    pub root: u32,
    /// The value of a draw for the side to move at the root.
    pub draw: f32,
    /// A mate found by the solver.
    pub mate: Option<&'a [Move]>,
}

impl Reporter<'_> {
    /// The root moves by their visits, but for the one that leads; `lines` of them with principal variations.
    pub fn moves(&self, lines: usize) -> Vec<RootMove> {
        let root = self.tree.node(self.root);
        let mut moves: Vec<RootMove> = self.tree.edges(root).map(|edge| self.root_move(edge)).collect();
        if let Some(line) = self.mate {
            note_mate(&mut moves, line);
        }
        moves.sort_by(|one, other| other.rank().cmp(&one.rank()).then(other.prior.total_cmp(&one.prior)));
        lead_by_bound(&mut moves);
        let edges: Vec<Edge> = self.tree.edges(root).collect();
        for mv in moves.iter_mut().take(lines.max(1)) {
            let solved = self.mate.filter(|line| line.first() == Some(&mv.mv));
            mv.line = match (solved, edges.iter().find(|edge| edge.mv == mv.mv)) {
                (Some(line), _) => line.to_vec(),
                (None, Some(&edge)) => self.line(edge),
                (None, None) => vec![mv.mv],
            };
        }
        moves
    }

    /// Fills in the fields that come from the tree.
    pub fn complete(&self, lines: usize, progress: Progress) -> Progress {
        let moves = self.moves(lines);
        let depth = moves.first().map_or(0, |best| best.line.len() as u32);
        let visits = u64::from(self.tree.node(self.root).tally().visits);
        Progress { moves, visits, depth, ..progress }
    }

    fn root_move(&self, edge: Edge) -> RootMove {
        let mut mv = RootMove {
            mv: edge.mv,
            visits: 0,
            value: 0.0,
            draw: 0.0,
            prior: edge.prior,
            proven: None,
            line: vec![edge.mv],
        };
        let known = |child: &&Node| child.tally().visits > 0 || self.tree.proof(child).is_some();
        let Some(child) = edge.child.map(|child| self.tree.node(child)).filter(known) else {
            mv.value = self.tree.node(self.root).tally().value_to_move(self.draw);
            return mv;
        };
        let tally = child.tally();
        (mv.visits, mv.draw) = (u64::from(tally.visits), tally.draw());
        mv.value = tally.value(self.draw).clamp(0.0, 1.0);
        mv.proven = self.tree.proof(child).map(|proof| turned(proof.result));
        match mv.proven {
            Some(Proven::Win(_)) => (mv.value, mv.draw) = (1.0, 0.0),
            Some(Proven::Loss(_)) => (mv.value, mv.draw) = (0.0, 0.0),
            Some(Proven::Draw) => (mv.value, mv.draw) = (self.draw, 1.0),
            None => {}
        }
        mv
    }

    fn line(&self, first: Edge) -> Vec<Move> {
        let mut line = vec![first.mv];
        let mut at = first.child;
        while let Some(index) = at.filter(|_| line.len() < MOST_PLIES) {
            let Some(next) = self.expected(self.tree.node(index)) else { break };
            line.push(next.mv);
            at = next.child;
        }
        line
    }

    /// The expected move at a node: for a proven node the move that proves it, else the one with most visits.
    fn expected(&self, node: &Node) -> Option<Edge> {
        let ranked = |edge: &Edge| {
            let child = edge.child.map(|child| self.tree.node(child))?;
            let visits = u64::from(child.tally().visits);
            let proven = self.tree.proof(child).map(|proof| turned(proof.result));
            (visits > 0).then_some(rank(proven, visits))
        };
        let best = self.tree.edges(node).filter_map(|edge| Some((ranked(&edge)?, edge)));
        // The first of equals, which has the higher prior.
        best.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, edge)| edge)
    }
}

/// Of the open moves with a good part of the most visits, the one with the highest lower bound of its value leads: the visits of
/// a move that a search has just found to be better come late.
fn lead_by_bound(moves: &mut [RootMove]) {
    let most = moves.first().map_or(0, |mv| mv.visits).max(1);
    let open = |mv: &&RootMove| mv.rank().0 == OPEN && mv.visits * LEADERS_PART >= most;
    let bounds = moves.iter().take_while(open).map(|mv| mv.value - DOUBT / (mv.visits as f32).sqrt());
    let best = bounds.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
    let leader = best.map_or(0, |(number, _)| number);
    if let Some(front) = moves.get_mut(..=leader) {
        front.rotate_right(1);
    }
}

/// The first part of the sort key of a move that is neither won nor lost.
const OPEN: u8 = 1;

impl RootMove {
    fn rank(&self) -> (u8, u64) {
        rank(self.proven, self.visits)
    }
}

/// Sort key: wins first, shortest first; losses last, longest first.
fn rank(proven: Option<Proven>, visits: u64) -> (u8, u64) {
    match proven {
        Some(Proven::Win(plies)) => (2, u64::MAX - u64::from(plies)),
        Some(Proven::Draw) | None => (OPEN, visits),
        Some(Proven::Loss(plies)) => (0, u64::from(plies)),
    }
}

fn note_mate(moves: &mut Vec<RootMove>, line: &[Move]) {
    let Some(&first) = line.first() else { return };
    let proven = Some(Proven::Win(line.len() as u32));
    match moves.iter_mut().find(|mv| mv.mv == first) {
        Some(mv) => (mv.value, mv.draw, mv.proven) = (1.0, 0.0, proven),
        None => moves.push(RootMove {
            mv: first,
            visits: 0,
            value: 1.0,
            draw: 0.0,
            prior: 0.0,
            proven,
            line: vec![first],
        }),
    }
}

/// The result of a position from the view of the player who moved to it.
const fn turned(proven: Proven) -> Proven {
    match proven {
        Proven::Win(plies) => Proven::Loss(plies + 1),
        Proven::Loss(plies) => Proven::Win(plies + 1),
        Proven::Draw => Proven::Draw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(moves: &[(&str, u64, f32, Option<Proven>)]) -> Vec<String> {
        let root = |&(mv, visits, value, proven): &(&str, u64, f32, Option<Proven>)| RootMove {
            mv: Move::from_usi(mv).unwrap(),
            visits,
            value,
            draw: 0.0,
            prior: 0.1,
            proven,
            line: Vec::new(),
        };
        let mut moves: Vec<RootMove> = moves.iter().map(root).collect();
        lead_by_bound(&mut moves);
        moves.iter().map(|mv| mv.mv.to_usi()).collect()
    }

    #[test]
    fn a_move_leads_that_was_found_late_and_is_surely_better() {
        let late = [("7g7f", 100, 0.55, None), ("2g2f", 60, 0.6, None), ("5g5f", 40, 0.5, None)];
        assert_eq!(order(&late), ["2g2f", "7g7f", "5g5f"]);
        let unsure = [("7g7f", 100, 0.55, None), ("2g2f", 20, 0.59, None), ("5g5f", 19, 0.9, None)];
        assert_eq!(order(&unsure), ["7g7f", "2g2f", "5g5f"], "too few visits");
        let equal = [("7g7f", 50, 0.5, None), ("2g2f", 50, 0.5, None)];
        assert_eq!(order(&equal), ["7g7f", "2g2f"]);
        let won = [("7g7f", 3, 1.0, Some(Proven::Win(5))), ("2g2f", 90, 0.9, None)];
        assert_eq!(order(&won), ["7g7f", "2g2f"]);
        let lost = [("2g2f", 9, 0.1, None), ("7g7f", 60, 0.0, Some(Proven::Loss(2)))];
        assert_eq!(order(&lost), ["2g2f", "7g7f"]);
        assert_eq!(order(&[("7g7f", 0, 0.5, None)]), ["7g7f"]);
    }
}

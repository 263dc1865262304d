//! Perfect matching of least cost in a complete graph: Edmonds' blossom algorithm (J. Edmonds, "Maximum matching and
//! a polyhedron with 0,1-vertices", 1965), the primal-dual form that grows all trees at once.
//!
//! Costs are compared criterion by criterion, the first criterion first: they form an ordered group, which is all the
//! algorithm asks of them, and no weights are needed to make one criterion outweigh the next.
//!
//! The work grows with the cube of the vertices. A large field is matched in windows of neighbours instead, each of them
//! exactly.

use std::{
    cmp::Reverse,
    ops::{Add, Sub},
};

/// Number of criteria of a cost.
const CRITERIA: usize = 7;
/// The first criteria: what a pair should not be at all, wherever a partner for it has to come from.
const RULES: usize = 4;
/// Most players who are matched exactly as a whole.
const EXACT: usize = 200;
/// Pairs in a row without a better partner anywhere in the field after which none is sought for the others.
const PATIENCE: usize = 32;

/// A cost: criteria by falling importance, each of them added up over the matching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost(pub [i64; CRITERIA]);

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] + other.0[at]))
    }
}

impl Sub for Cost {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] - other.0[at]))
    }
}

impl Cost {
    fn half(self) -> Self {
        Self(self.0.map(|part| part / 2))
    }
}

/// The partner of each player, by the least sum of costs; with an odd number, the vertex after the last player is the bye.
/// Costs must not be negative; `cost` is called with the lower vertex first.
///
/// `order` has the players so that good partners are near. More than [`EXACT`] of them are matched in windows of so many
/// neighbours: each window exactly, then those that lie halfway between. What breaks a rule after that exchanges partners
/// with any pair of the field.
pub(super) fn partners(
    mut order: Vec<usize>,
    window: usize,
    cost: impl Fn(usize, usize) -> Cost,
) -> Vec<usize> {
    let players = order.len();
    if players <= EXACT {
        return least_cost(players.next_multiple_of(2), cost);
    }
    if !players.is_multiple_of(2) {
        let sits_out = (0..players).min_by_key(|&at| cost(order[at], players)).unwrap_or(0);
        order.insert(sits_out, players);
    }
    let cost = |[one, other]: [usize; 2]| cost(one.min(other), one.max(other));
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&vertex, place)| places[vertex] = place);
    let mut pairs: Vec<[usize; 2]> = order.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    for begin in [0, window / 4] {
        pairs.sort_by_key(|&[one, other]| places[one] + places[other]);
        pairs[begin..].chunks_mut(window / 2).for_each(|pairs| match_exactly(pairs, &cost));
    }
    exchange(&mut pairs, &cost);
    let mut mate = places;
    pairs.iter().for_each(|&[one, other]| (mate[one], mate[other]) = (other, one));
    mate
}

/// Matches the vertices of some pairs anew.
fn match_exactly(pairs: &mut [[usize; 2]], cost: &impl Fn([usize; 2]) -> Cost) {
    let vertices = pairs.as_flattened().to_vec();
    let mate = least_cost(vertices.len(), |one, other| cost([vertices[one], vertices[other]]));
    let matched = mate.iter().enumerate().filter(|(one, other)| one < other);
    pairs.iter_mut().zip(matched).for_each(|(pair, (one, &other))| *pair = [vertices[one], vertices[other]]);
}

/// Lets pairs that break a rule exchange partners with the pair with which that costs least, the worst pair first.
fn exchange(pairs: &mut [[usize; 2]], cost: &impl Fn([usize; 2]) -> Cost) {
    let breaks_rule = |cost: &Cost| cost.0[..RULES] != [0; RULES];
    let mut costs: Vec<Cost> = pairs.iter().map(|&pair| cost(pair)).collect();
    let mut broken: Vec<usize> = (0..pairs.len()).filter(|&at| breaks_rule(&costs[at])).collect();
    broken.sort_by_key(|&at| Reverse(costs[at]));
    let mut in_vain = 0;
    for at in broken {
        let [a, b] = pairs[at];
        let ways = (0..pairs.len()).filter(|&other| other != at).flat_map(|other| {
            let [c, d] = pairs[other];
            [[[a, c], [b, d]], [[a, d], [b, c]]].map(|way| (other, way))
        });
        let change =
            |(other, [one, two]): &(usize, [_; 2])| cost(*one) + cost(*two) - costs[at] - costs[*other];
        let best = ways.map(|way| (change(&way), way)).min();
        match best.filter(|(change, _)| breaks_rule(&costs[at]) && *change < Cost::default()) {
            Some((_, (other, way))) => {
                [pairs[at], pairs[other]] = way;
                [costs[at], costs[other]] = way.map(cost);
                in_vain = 0;
            }
            None => in_vain += 1,
        }
        if in_vain == PATIENCE {
            break;
        }
    }
}

/// The partner of each of `vertices` vertices (an even number) in the perfect matching with the least sum of costs.
fn least_cost(vertices: usize, cost: impl Fn(usize, usize) -> Cost) -> Vec<usize> {
    let mut matcher = Matcher::new(vertices, cost);
    let found = matcher.begin();
    for _ in found..vertices / 2 {
        matcher.add_edge();
    }
    matcher.mate.into_iter().flatten().collect()
}

/// An edge, with its end in the node it leaves first.
type Edge = (usize, usize);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    /// Matched, and in no tree.
    Free,
    /// At an even distance from the root of its tree.
    Outer,
    /// At an odd distance; reached by this edge from an outer node.
    Inner(Edge),
}

/// A vertex, or a blossom: an odd cycle of nodes that acts as one.
struct Node {
    label: Label,
    /// The vertex that is matched to the outside, or to nothing.
    base: usize,
    /// The cycle, the child with the base first; empty for a vertex.
    children: Vec<usize>,
    /// From each child to the next in the cycle.
    links: Vec<Edge>,
    /// The dual value of a blossom.
    dual: Cost,
}

enum Step {
    /// An edge from an outer node to a free one or to another outer one became tight.
    Tight(Edge),
    /// The dual value of an inner blossom became zero.
    Expand(usize),
}

struct Matcher {
    vertices: usize,
    /// Four times the costs, so that all dual values stay whole.
    costs: Vec<Cost>,
    mate: Vec<Option<usize>>,
    /// Vertices, then blossoms.
    nodes: Vec<Node>,
    /// The outermost node of each vertex.
    top: Vec<usize>,
    /// The sum of the dual values of a vertex and of all blossoms around it.
    height: Vec<Cost>,
    /// For each vertex, of the outer vertices in other nodes the one with the least slack. It stays so while dual values
    /// change, because the heights of all outer vertices change alike.
    nearest: Vec<Option<usize>>,
}

impl Matcher {
    fn new(vertices: usize, cost: impl Fn(usize, usize) -> Cost) -> Self {
        let fourfold = |at: usize| {
            let (from, to) = (at / vertices, at % vertices);
            // A vertex has no edge to itself.
            let cost = if from == to { Cost::default() } else { cost(from.min(to), from.max(to)) };
            Cost(cost.0.map(|part| 4 * part))
        };
        let vertex = |base| Node {
            label: Label::Free,
            base,
            children: Vec::new(),
            links: Vec::new(),
            dual: Cost::default(),
        };
        Self {
            vertices,
            costs: (0..vertices * vertices).map(fourfold).collect(),
            mate: vec![None; vertices],
            nodes: (0..vertices).map(vertex).collect(),
            top: (0..vertices).collect(),
            height: vec![Cost::default(); vertices],
            nearest: vec![None; vertices],
        }
    }

    fn slack(&self, from: usize, to: usize) -> Cost {
        self.costs[from * self.vertices + to] - self.height[from] - self.height[to]
    }

    /// Raises vertices until their edges are tight, and matches those whose edge leads to one without a partner; most
    /// vertices need no tree. Returns the number of edges.
    fn begin(&mut self) -> usize {
        let all = 0..self.vertices;
        let others = |from: usize| all.clone().filter(move |&to| to != from);
        let least = |from| others(from).map(|to| self.slack(from, to)).min().unwrap_or_default().half();
        self.height = all.clone().map(least).collect();
        let mut edges = 0;
        for from in all.clone() {
            // Of equal edges the longest: in a Swiss the upper half is to meet the lower one.
            let edges_of =
                others(from).map(|to| (self.slack(from, to), self.mate[to].is_some(), Reverse(to)));
            let Some((slack, is_matched, Reverse(to))) = edges_of.min().filter(|_| self.mate[from].is_none())
            else {
                continue;
            };
            self.height[from] = self.height[from] + slack;
            if !is_matched {
                (self.mate[from], self.mate[to]) = (Some(to), Some(from));
                edges += 1;
            }
        }
        edges
    }

    /// Grows trees from all unmatched vertices until two of them meet, and adds an edge to the matching.
    fn add_edge(&mut self) {
        for at in 0..self.vertices {
            let top = self.top[at];
            let unmatched = self.mate[self.nodes[top].base].is_none();
            self.nodes[top].label = if unmatched { Label::Outer } else { Label::Free };
        }
        self.nearest.fill(None);
        for at in 0..self.vertices {
            if self.label(at) == Label::Outer {
                self.reach(at);
            }
        }
        while let Some((shift, step)) = self.next_step() {
            self.shift(shift);
            match step {
                Step::Expand(blossom) => self.expand(blossom),
                Step::Tight((from, to)) if self.label(to) == Label::Free => self.grow((from, to)),
                Step::Tight((from, to)) => match self.common_ancestor(self.top[from], self.top[to]) {
                    Some(ancestor) => self.contract((from, to), ancestor),
                    None => return self.augment((from, to)),
                },
            }
        }
    }

    fn label(&self, vertex: usize) -> Label {
        self.nodes[self.top[vertex]].label
    }

    /// Takes in that a vertex became outer.
    fn reach(&mut self, from: usize) {
        for to in 0..self.vertices {
            let is_nearer = |near| self.slack(from, to) < self.slack(near, to);
            if self.top[to] != self.top[from] && self.nearest[to].is_none_or(is_nearer) {
                self.nearest[to] = Some(from);
            }
        }
    }

    /// Makes a node outer.
    fn make_outer(&mut self, node: usize) {
        self.nodes[node].label = Label::Outer;
        for vertex in 0..self.vertices {
            if self.top[vertex] == node {
                self.reach(vertex);
            }
        }
    }

    /// The outermost blossoms.
    fn blossoms(&self) -> Vec<usize> {
        let mut tops: Vec<usize> = self.top.iter().copied().filter(|&top| top >= self.vertices).collect();
        tops.sort_unstable();
        tops.dedup();
        tops
    }

    /// The smallest change of dual values that makes a step possible, and the step.
    fn next_step(&self) -> Option<(Cost, Step)> {
        let mut best: Option<(Cost, Step)> = None;
        let mut offer = |shift: Cost, step: Step| {
            if best.as_ref().is_none_or(|(least, _)| shift < *least) {
                best = Some((shift, step));
            }
            shift == Cost::default()
        };
        for top in self.blossoms() {
            let node = &self.nodes[top];
            if matches!(node.label, Label::Inner(_)) && offer(node.dual, Step::Expand(top)) {
                return best;
            }
        }
        for to in 0..self.vertices {
            let Some(from) = self.nearest[to] else { continue };
            let shift = match self.label(to) {
                Label::Free => self.slack(from, to),
                Label::Outer => self.slack(from, to).half(),
                Label::Inner(_) => continue,
            };
            if offer(shift, Step::Tight((from, to))) {
                return best;
            }
        }
        best
    }

    fn shift(&mut self, shift: Cost) {
        if shift == Cost::default() {
            return;
        }
        for vertex in 0..self.vertices {
            match self.label(vertex) {
                Label::Free => {}
                Label::Outer => self.height[vertex] = self.height[vertex] + shift,
                Label::Inner(_) => self.height[vertex] = self.height[vertex] - shift,
            }
        }
        for top in self.blossoms() {
            let node = &mut self.nodes[top];
            match node.label {
                Label::Free => {}
                Label::Outer => node.dual = node.dual + shift,
                Label::Inner(_) => node.dual = node.dual - shift,
            }
        }
    }

    /// Takes a free node and its partner into the tree.
    fn grow(&mut self, (from, to): Edge) {
        let inner = self.top[to];
        self.nodes[inner].label = Label::Inner((from, to));
        if let Some(mate) = self.mate[self.nodes[inner].base] {
            self.make_outer(self.top[mate]);
        }
    }

    /// The two edges from an outer node to the next outer one towards the root, and the inner node between them.
    fn upward(&self, outer: usize) -> Option<(Edge, usize, Edge)> {
        let base = self.nodes[outer].base;
        let mate = self.mate[base]?;
        let inner = self.top[mate];
        match self.nodes[inner].label {
            Label::Inner((from, to)) => Some(((base, mate), inner, (to, from))),
            _ => None,
        }
    }

    fn ancestors(&self, outer: usize) -> Vec<usize> {
        let above = |&node: &usize| self.upward(node).map(|(_, _, (_, up))| self.top[up]);
        std::iter::successors(Some(outer), above).collect()
    }

    fn common_ancestor(&self, one: usize, other: usize) -> Option<usize> {
        let ancestors = self.ancestors(other);
        self.ancestors(one).into_iter().find(|node| ancestors.contains(node))
    }

    /// The nodes from an outer node up to (without) an ancestor, each with its edge to the next.
    fn path(&self, mut outer: usize, ancestor: usize) -> Vec<(usize, Edge)> {
        let mut path = Vec::new();
        while outer != ancestor {
            let Some((down, inner, up)) = self.upward(outer) else { break };
            path.extend([(outer, down), (inner, up)]);
            outer = self.top[up.1];
        }
        path
    }

    /// Contracts the cycle through two outer nodes of a tree into one outer node.
    fn contract(&mut self, meeting: Edge, ancestor: usize) {
        let (mut children, mut links) = (vec![ancestor], Vec::new());
        for (node, (from, to)) in self.path(self.top[meeting.0], ancestor).into_iter().rev() {
            links.push((to, from));
            children.push(node);
        }
        links.push(meeting);
        for (node, link) in self.path(self.top[meeting.1], ancestor) {
            children.push(node);
            links.push(link);
        }
        let (blossom, base) = (self.nodes.len(), self.nodes[ancestor].base);
        let inside: Vec<usize> = (0..self.vertices).filter(|&at| children.contains(&self.top[at])).collect();
        let were_inner: Vec<usize> =
            inside.iter().copied().filter(|&at| self.label(at) != Label::Outer).collect();
        self.nodes.push(Node { label: Label::Outer, base, children, links, dual: Cost::default() });
        inside.iter().for_each(|&at| self.top[at] = blossom);
        were_inner.into_iter().for_each(|at| self.reach(at));
        for at in inside {
            if self.nearest[at].is_some_and(|near| self.top[near] == blossom) {
                let outside = (0..self.vertices).filter(|&from| self.top[from] != blossom);
                let outer = outside.filter(|&from| self.label(from) == Label::Outer);
                self.nearest[at] = outer.min_by_key(|&from| self.slack(from, at));
            }
        }
    }

    /// Expands an inner blossom; the children on the path of the tree stay in the tree.
    fn expand(&mut self, blossom: usize) {
        let Label::Inner(entry) = self.nodes[blossom].label else { return };
        let children = std::mem::take(&mut self.nodes[blossom].children);
        let links = std::mem::take(&mut self.nodes[blossom].links);
        for &child in &children {
            self.nodes[child].label = Label::Free;
            self.raise(child, child);
        }
        let size = children.len();
        let Some(first) = children.iter().position(|&child| child == self.top[entry.1]) else { return };
        // The way to the base that has an even number of edges begins with a matched one.
        let forward = !first.is_multiple_of(2);
        let (mut at, mut reached_by) = (first, entry);
        loop {
            self.nodes[children[at]].label = Label::Inner(reached_by);
            if at == 0 {
                break;
            }
            let outer = if forward { at + 1 } else { at - 1 };
            self.make_outer(children[outer]);
            (at, reached_by) = match forward {
                true => ((outer + 1) % size, links[outer]),
                false => (outer - 1, (links[outer - 1].1, links[outer - 1].0)),
            };
        }
    }

    /// Makes `top` the outermost node of all vertices in `node`.
    fn raise(&mut self, node: usize, top: usize) {
        if node < self.vertices {
            self.top[node] = top;
        }
        for child in self.nodes[node].children.clone() {
            self.raise(child, top);
        }
    }

    /// Swaps matched and unmatched edges on the path from root to root through `meeting`.
    fn augment(&mut self, (one, other): Edge) {
        for (mut from, mut to) in [(one, other), (other, one)] {
            loop {
                let outer = self.top[from];
                let up = self.upward(outer);
                self.rebase(outer, from);
                self.mate[from] = Some(to);
                let Some((_, inner, (below, above))) = up else { break };
                self.rebase(inner, below);
                self.mate[below] = Some(above);
                (from, to) = (above, below);
            }
        }
    }

    /// Makes `vertex` the base of `node`, and matches the rest of it within itself.
    fn rebase(&mut self, node: usize, vertex: usize) {
        self.nodes[node].base = vertex;
        let holds = |&child: &usize| self.holds(child, vertex);
        let Some(first) = self.nodes[node].children.iter().position(holds) else { return };
        self.nodes[node].children.rotate_left(first);
        self.nodes[node].links.rotate_left(first);
        let children = self.nodes[node].children.clone();
        self.rebase(children[0], vertex);
        for at in (1..children.len()).step_by(2) {
            let (from, to) = self.nodes[node].links[at];
            self.rebase(children[at], from);
            self.rebase(children[at + 1], to);
            self.mate[from] = Some(to);
            self.mate[to] = Some(from);
        }
    }

    fn holds(&self, node: usize, vertex: usize) -> bool {
        node == vertex || self.nodes[node].children.iter().any(|&child| self.holds(child, vertex))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By trying every matching.
    fn least_sum(vertices: usize, cost: &impl Fn(usize, usize) -> Cost) -> Cost {
        let mut best = vec![None; 1 << vertices];
        best[0] = Some(Cost::default());
        for set in 1..1_usize << vertices {
            let first = set.trailing_zeros() as usize;
            best[set] = (first + 1..vertices)
                .filter(|&other| set >> other & 1 == 1)
                .filter_map(|other| Some(best[set & !(1 << first) & !(1 << other)]? + cost(first, other)))
                .min();
        }
        best[(1 << vertices) - 1].unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        #[test]
        fn no_other_matching_costs_less(
            half in 1..6_usize,
            range in 1..40_i64,
            parts in prop::collection::vec(0..1_000_000_i64, 10 * 10 * 2),
        ) {
            let vertices = 2 * half;
            let cost = |a: usize, b: usize| {
                let at = 2 * (a * 10 + b);
                Cost([0, 0, parts[at] % 3 / 2, 0, 0, 0, parts[at + 1] % range])
            };
            let mate = least_cost(vertices, cost);
            prop_assert_eq!(mate.len(), vertices);
            let mut sum = Cost::default();
            for (vertex, &other) in mate.iter().enumerate() {
                prop_assert_eq!(mate[other], vertex);
                prop_assert_ne!(other, vertex);
                if vertex < other {
                    sum = sum + cost(vertex, other);
                }
            }
            prop_assert_eq!(sum, least_sum(vertices, &cost));
        }
    }

    #[test]
    fn no_vertices_have_an_empty_matching() {
        assert!(partners(vec![], 32, |_, _| Cost::default()).is_empty());
    }

    /// Players on a line, who must not meet their neighbour.
    fn on_a_line(one: usize, other: usize) -> Cost {
        let place = |at: usize| (at as i64 * 7919 % 1000).pow(2);
        Cost([0, 0, i64::from(one ^ 1 == other), 0, (place(one) - place(other)).abs(), 0, 0])
    }

    fn along_the_line(players: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..players).collect();
        order.sort_by_key(|at| at * 7919 % 1000);
        order
    }

    #[test]
    fn a_field_four_times_as_large_has_four_times_as_many_costs_looked_at() {
        let looks = |players: usize| {
            let looks = std::cell::Cell::new(0);
            let cost = |one, other| {
                looks.set(looks.get() + 1);
                on_a_line(one, other)
            };
            let mate = partners(along_the_line(players), 32, cost);
            assert!(mate.iter().enumerate().all(|(at, &other)| other != at && mate[other] == at));
            looks.get()
        };
        let (few, many) = (looks(300), looks(1200));
        assert!(many < 5 * few, "{few} and {many}");
    }

    #[test]
    fn windows_of_neighbours_cost_hardly_more_than_the_whole_field_at_once() {
        let sum = |mate: Vec<usize>| {
            let pairs = mate.iter().enumerate().filter(|(at, other)| at < other);
            pairs.map(|(at, &other)| on_a_line(at, other)).fold(Cost::default(), |sum, cost| sum + cost)
        };
        let players = EXACT + 20;
        let [exact, windows] =
            [least_cost(players, on_a_line), partners(along_the_line(players), 32, on_a_line)].map(sum);
        assert_eq!((exact.0[2], windows.0[2]), (0, 0), "nobody meets a neighbour");
        assert!(exact <= windows && windows.0[4] * 100 <= exact.0[4] * 102, "{windows:?}, {exact:?}");
    }
}

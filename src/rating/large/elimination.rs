//! A Cholesky factor without fill of the strengths' part of the information.

/// The players in an order of elimination, each with those eliminated later whom it met.
pub(super) struct Elimination {
    order: Vec<usize>,
    /// Later players and the information of the games against them, by player.
    later: Vec<Vec<(usize, f64)>>,
    pivots: Vec<f64>,
}

/// A pivot is at least this share of its diagonal: the last one of a field that nothing pins would be 0.
const LEAST_PIVOT: f64 = 1e-6;

impl Elimination {
    /// Eliminates the players with the fewest opponents left first. `edges` are pairs of players with the information
    /// of their games; the same pair may come more than once.
    pub fn new(
        diagonal: &nalgebra::DVector<f64>,
        players: usize,
        edges: impl Iterator<Item = (usize, usize, f64)>,
    ) -> Self {
        let met = opponents(players, edges);
        let order = fewest_first(&met);
        let mut place = vec![0; players];
        order.iter().enumerate().for_each(|(at, &player)| place[player] = at);
        let later: Vec<Vec<(usize, f64)>> = (0..players)
            .map(|player| {
                met[player].iter().copied().filter(|&(other, _)| place[other] > place[player]).collect()
            })
            .collect();
        let mut pivots = diagonal.as_slice()[..players].to_vec();
        for &player in &order {
            pivots[player] = pivots[player].max(LEAST_PIVOT * diagonal[player]).max(f64::MIN_POSITIVE);
            for &(other, weight) in &later[player] {
                pivots[other] -= weight * weight / pivots[player];
            }
        }
        Self { order, later, pivots }
    }

    /// Solves with the factor, in place.
    pub fn solve(&self, right: &mut [f64]) {
        for &player in &self.order {
            let known = right[player] / self.pivots[player];
            for &(other, weight) in &self.later[player] {
                right[other] += weight * known;
            }
        }
        for &player in self.order.iter().rev() {
            let found: f64 = self.later[player].iter().map(|&(other, weight)| weight * right[other]).sum();
            right[player] = (right[player] + found) / self.pivots[player];
        }
    }
}

/// The opponents of each player, each once.
fn opponents(players: usize, edges: impl Iterator<Item = (usize, usize, f64)>) -> Vec<Vec<(usize, f64)>> {
    let mut met = vec![Vec::new(); players];
    for (black, white, weight) in edges.filter(|(black, white, _)| black != white) {
        met[black].push((white, weight));
        met[white].push((black, weight));
    }
    for opponents in &mut met {
        opponents.sort_unstable_by_key(|&(other, _)| other);
        opponents.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
    }
    met
}

/// The players in the order in which each has the fewest opponents among those left. Buckets by that number make it
/// linear (V. Batagelj and M. Zaversnik, "An O(m) algorithm for cores decomposition of networks", 2003).
fn fewest_first(met: &[Vec<(usize, f64)>]) -> Vec<usize> {
    let mut left: Vec<usize> = met.iter().map(Vec::len).collect();
    let mut buckets = vec![Vec::new(); left.iter().max().map_or(0, |most| most + 1)];
    left.iter().enumerate().for_each(|(player, &count)| buckets[count].push(player));
    let mut order = Vec::with_capacity(met.len());
    let mut gone = vec![false; met.len()];
    let mut lowest = 0;
    while order.len() < met.len() {
        let Some(player) = buckets[lowest].pop() else {
            lowest += 1;
            continue;
        };
        // A player stands in a bucket for each number it ever had; only the last one counts.
        if gone[player] || left[player] != lowest {
            continue;
        }
        gone[player] = true;
        order.push(player);
        for &(other, _) in met[player].iter().filter(|&&(other, _)| !gone[other]) {
            left[other] -= 1;
            buckets[left[other]].push(other);
            lowest = lowest.min(left[other]);
        }
    }
    order
}

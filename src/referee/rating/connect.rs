//! The players whose ratings are bound to each other by results.

use super::CrossTable;

/// The players whose ratings relative to each other have a finite maximum of the likelihood and who are the core of
/// the field, by player: the largest set in which everyone can be reached from everyone over games won or drawn (L.
/// R. Ford, "Solution of a ranking problem from binary comparisons", 1957). Where two sets are equally large the one
/// with more games is the core, and where that too is equal there is none: neither set can be preferred.
pub(super) fn core(table: &CrossTable) -> Vec<bool> {
    let scored = Scored::from(table);
    let mut group = vec![usize::MAX; table.players()];
    for player in 0..table.players() {
        if group[player] == usize::MAX {
            let (down, up) = (reachable(player, &scored.on), reachable(player, &scored.by));
            for member in (0..table.players()).filter(|&p| down[p] && up[p]) {
                group[member] = player;
            }
        }
    }
    let core = largest(table, &group);
    group.into_iter().map(|g| Some(g) == core).collect()
}

/// For each player, the opponents against whom it scored at least half a point, and the opponents who did so against
/// it.
struct Scored {
    on: Vec<Vec<usize>>,
    by: Vec<Vec<usize>>,
}

impl From<&CrossTable> for Scored {
    fn from(table: &CrossTable) -> Self {
        let mut scored =
            Self { on: vec![Vec::new(); table.players()], by: vec![Vec::new(); table.players()] };
        let mut note = |winner: usize, loser: usize| {
            scored.on[winner].push(loser);
            scored.by[loser].push(winner);
        };
        for (black, white, results) in table.cells() {
            if results.black_wins + results.draws > 0.0 {
                note(black, white);
            }
            if results.white_wins + results.draws > 0.0 {
                note(white, black);
            }
        }
        scored
    }
}

fn reachable(from: usize, edges: &[Vec<usize>]) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    seen[from] = true;
    let mut open = vec![from];
    while let Some(player) = open.pop() {
        for &next in &edges[player] {
            if !seen[next] {
                seen[next] = true;
                open.push(next);
            }
        }
    }
    seen
}

/// The group (named by its first player) with most players, then most games; none if two are equal in both.
fn largest(table: &CrossTable, group: &[usize]) -> Option<usize> {
    let mut sizes = vec![(0usize, 0.0f64); group.len()];
    for &g in group {
        sizes[g].0 += 1;
    }
    for (black, white, results) in table.cells() {
        if group[black] == group[white] {
            sizes[group[black]].1 += results.games();
        }
    }
    let most = sizes.iter().copied().max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    let mut holders = (0..sizes.len()).filter(|&g| sizes[g] == most);
    let first = holders.next();
    if holders.next().is_none() { first } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::Results;

    fn won(pairs: &[(usize, usize)], players: usize) -> CrossTable {
        let mut table = CrossTable::new(players);
        for &(winner, loser) in pairs {
            table.add(winner, loser, Results { black_wins: 1.0, ..Results::default() }).unwrap();
        }
        table
    }

    #[test]
    fn a_circle_of_wins_is_a_core_without_the_undefeated_and_the_idle() {
        let table = won(&[(0, 1), (1, 2), (2, 0), (3, 0), (3, 1)], 5);
        assert_eq!(core(&table), [true, true, true, false, false]);
    }

    #[test]
    fn two_equal_groups_have_no_core() {
        let table = won(&[(0, 1), (1, 0), (2, 3), (3, 2)], 4);
        assert_eq!(core(&table), [false; 4]);
    }

    #[test]
    fn a_draw_binds_both_ways() {
        let mut table = CrossTable::new(2);
        table.add(0, 1, Results { draws: 1.0, ..Results::default() }).unwrap();
        assert_eq!(core(&table), [true, true]);
    }
}

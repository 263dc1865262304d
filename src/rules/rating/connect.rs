//! The players whose ratings are bound to each other by results.

use super::CrossTable;

/// The players whose ratings relative to each other have a finite maximum of the likelihood and who are the core of
/// the field, by player: the largest set in which everyone can be reached from everyone over games won or drawn (L.
/// R. Ford, "Solution of a ranking problem from binary comparisons", 1957). Where two sets are equally large the one
/// with more games is the core, and where that too is equal there is none: neither set can be preferred.
pub(super) fn core(table: &CrossTable) -> Vec<bool> {
    let scored = Scored::from(table);
    let group = groups(&scored);
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

/// The sets in which everyone can be reached from everyone: for each player one member of its set, the same for all of
/// them. Two walks along the games, with a stack of their own, since a field may be a chain of any length (the
/// algorithm of S. R. Kosaraju).
fn groups(scored: &Scored) -> Vec<usize> {
    let players = scored.on.len();
    let mut seen = vec![false; players];
    let mut left = Vec::with_capacity(players);
    for player in 0..players {
        walk(player, &scored.on, &mut seen, |done| left.push(done));
    }
    let mut group = vec![usize::MAX; players];
    seen.fill(false);
    for &player in left.iter().rev() {
        walk(player, &scored.by, &mut seen, |member| group[member] = player);
    }
    group
}

/// Visits everyone who can be reached from `from` and was not seen, and tells of each after its successors.
fn walk(from: usize, edges: &[Vec<usize>], seen: &mut [bool], mut done: impl FnMut(usize)) {
    if std::mem::replace(&mut seen[from], true) {
        return;
    }
    let mut path = vec![(from, 0)];
    while let Some((player, next)) = path.last_mut() {
        match edges[*player].get(*next) {
            Some(&other) => {
                *next += 1;
                if !std::mem::replace(&mut seen[other], true) {
                    path.push((other, 0));
                }
            }
            None => {
                done(*player);
                path.pop();
            }
        }
    }
}

/// The group (named by one of its players) with most players, then most games; none if two are equal in both.
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
    use crate::Results;

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

    #[test]
    fn of_two_groups_the_larger_is_the_core_and_of_equal_ones_that_with_more_games() {
        let larger = won(&[(0, 1), (1, 0), (2, 3), (3, 4), (4, 2)], 5);
        assert_eq!(core(&larger), [false, false, true, true, true]);
        let more = won(&[(0, 1), (1, 0), (2, 3), (3, 2), (3, 2)], 4);
        assert_eq!(core(&more), [false, false, true, true]);
        // Games between the groups are games of neither.
        let across = won(&[(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (0, 3)], 4);
        assert_eq!(core(&across), [false; 4]);
    }

    #[test]
    fn a_long_chain_is_one_group_only_if_it_leads_back() {
        let chain: Vec<(usize, usize)> = (0..50).map(|player| (player, player + 1)).collect();
        assert_eq!(core(&won(&chain, 51)), [false; 51]);
        let ring = [&chain[..], &[(50, 0)]].concat();
        assert_eq!(core(&won(&ring, 51)), [true; 51]);
    }
}

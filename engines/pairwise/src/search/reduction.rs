//! Late move reductions and late move pruning.

use std::sync::LazyLock;

use super::tree::{Node, Trial};

const SIZE: usize = 64;

/// Reduction in plies by depth and move number.
static TABLE: LazyLock<[[i32; SIZE]; SIZE]> = LazyLock::new(|| {
    let mut table = [[0; SIZE]; SIZE];
    for (depth, row) in table.iter_mut().enumerate().skip(1) {
        for (count, plies) in row.iter_mut().enumerate().skip(1) {
            *plies = (0.6 + (depth as f64).ln() * (count as f64).ln() / 2.1) as i32;
        }
    }
    table
});

/// The reduction by depth and move number alone, in plies.
pub(super) fn base(node: &Node, count: i32) -> i32 {
    let at = |value: i32| value.clamp(0, SIZE as i32 - 1) as usize;
    TABLE[at(node.depth)][at(count)] + i32::from(!node.improving && node.depth > 2)
}

/// The reduction of a move in plies; may be negative.
pub(super) fn late(node: &Node, trial: &Trial) -> i32 {
    let mut plies = base(node, node.count);
    plies += i32::from(node.cut) + i32::from(node.cut && trial.quiet);
    plies -= i32::from(node.pv) + i32::from(trial.check) + i32::from(node.in_check);
    if trial.quiet {
        plies - (trial.score / 6000).clamp(-2, 2)
    } else {
        plies - 1 - (trial.score / 4000).clamp(-1, 2)
    }
}

/// Number of moves after which the remaining quiet moves are pruned.
pub(super) fn moves_worth_trying(depth: i32, improving: bool) -> i32 {
    (4 + depth * depth) * if improving { 2 } else { 1 }
}

/// The reduction of a quiet root move, in plies.
pub(super) fn at_root(depth: i32, index: i32) -> i32 {
    let at = |value: i32| value.clamp(0, SIZE as i32 - 1) as usize;
    (TABLE[at(depth)][at(index)] - 1).clamp(0, (depth - 2).max(0))
}

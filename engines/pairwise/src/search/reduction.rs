//! Late move reductions and late move pruning.

#[cfg(not(feature = "tune"))]
use std::sync::LazyLock;

use super::node::{Node, Trial};
use super::tuned::Tuned;

const SIZE: usize = 64;

/// Reduction in plies by depth and move number.
#[cfg(not(feature = "tune"))]
static TABLE: LazyLock<[[i32; SIZE]; SIZE]> = LazyLock::new(|| {
    let (mut table, tuned) = ([[0; SIZE]; SIZE], Tuned::default());
    for (depth, row) in table.iter_mut().enumerate().skip(1) {
        for (count, plies) in row.iter_mut().enumerate().skip(1) {
            let [base, divisor] =
                [tuned.reduction_base(), tuned.reduction_divisor()].map(|it| f64::from(it) / 100.0);
            *plies = (base + (depth as f64).ln() * (count as f64).ln() / divisor) as i32;
        }
    }
    table
});

/// The reduction by depth and move number alone, in plies.
pub(super) fn base(node: &Node, count: i32) -> i32 {
    by_number(node.depth, count, node.tuned) + i32::from(!node.improving && node.depth > 2)
}

#[cfg(not(feature = "tune"))]
fn by_number(depth: i32, count: i32, _tuned: Tuned) -> i32 {
    let at = |value: i32| value.clamp(0, SIZE as i32 - 1) as usize;
    TABLE[at(depth)][at(count)]
}

/// The same by the tuned constants, without a table.
#[cfg(feature = "tune")]
fn by_number(depth: i32, count: i32, tuned: Tuned) -> i32 {
    let ln = |value: i32| f64::from(value.clamp(0, SIZE as i32 - 1)).ln();
    if depth < 1 || count < 1 {
        return 0;
    }
    let [base, divisor] = [tuned.reduction_base(), tuned.reduction_divisor()].map(|it| f64::from(it) / 100.0);
    (base + ln(depth) * ln(count) / divisor) as i32
}

/// The reduction of a move in plies; may be negative.
pub(super) fn late(node: &Node, trial: &Trial) -> i32 {
    let mut plies = base(node, node.count);
    plies += i32::from(node.cut) + i32::from(node.cut && trial.quiet);
    plies -= i32::from(node.pv) + i32::from(trial.check) + i32::from(node.in_check);
    if trial.quiet {
        plies - (trial.score / node.tuned.reduction_history()).clamp(-2, 2)
    } else {
        plies - 1 - (trial.score / 4000).clamp(-1, 2)
    }
}

/// Number of moves after which the remaining quiet moves are pruned.
pub(super) fn moves_worth_trying(node: &Node) -> i32 {
    (node.tuned.late_moves() + node.depth * node.depth) * if node.improving { 2 } else { 1 }
}

/// The reduction of a quiet root move, in plies.
pub(super) fn at_root(depth: i32, index: i32, tuned: Tuned) -> i32 {
    (by_number(depth, index, tuned) - 1).clamp(0, (depth - 2).max(0))
}

//! Lots drawn from the event's seed: the same seed and numbers always give the same lot.

use rating::mix::{GOLDEN, mix};

/// 64 mixed bits of a seed and a number.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    mix((seed ^ number.wrapping_add(1).wrapping_mul(GOLDEN)).wrapping_sub(GOLDEN))
}

/// One of two, with equal chances.
pub(super) fn lot(seed: u64, number: u64) -> bool {
    mixed(seed, number) & 1 == 1
}

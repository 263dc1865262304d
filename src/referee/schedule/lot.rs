//! Lots drawn from the event's seed: the same seed and numbers always give the same lot.

/// 64 mixed bits of a seed and a number (the finaliser of SplitMix64 by G. Steele, D. Lea and C. Flood, 2014).
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    let mut bits = seed ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// One of two, with equal chances.
pub(super) fn lot(seed: u64, number: u64) -> bool {
    mixed(seed, number) & 1 == 1
}

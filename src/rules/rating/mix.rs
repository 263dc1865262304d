//! Numbers that look random and are the same everywhere: the mixing function of splitmix64.

/// What splitmix64 adds to its state.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// 64 mixed bits of a number: what splitmix64 (G. Steele, D. Lea and C. Flood, 2014) returns in this state. Stored
/// schedules and tunings depend on it.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

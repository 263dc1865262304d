//! A seeded random number generator, so that a game can be reproduced.

/// The SplitMix64 generator (Steele, Lea, Flood 2014): eight bytes of state, the same on every machine.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts the sequence that belongs to `seed`; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to 1, 1 excluded.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of `items`, uniformly distributed up to 2^-64; `None` if `items` is empty.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let wide = u128::from(self.next_u64()) * items.len() as u128;
        items.get((wide >> 64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_published_generator() {
        let mut rng = SplitMix64::new(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn uniform_numbers_lie_between_zero_and_one() {
        let mut rng = SplitMix64::new(1);
        let numbers: Vec<f64> = (0..100).map(|_| rng.uniform()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        assert!(numbers.iter().any(|number| *number < 0.2) && numbers.iter().any(|number| *number > 0.8));
    }

    #[test]
    fn choosing_reaches_every_item_and_none_of_nothing() {
        let mut rng = SplitMix64::new(1);
        let mut seen = [false; 5];
        (0..100).for_each(|_| seen[*rng.choose(&[0, 1, 2, 3, 4]).unwrap()] = true);
        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.choose::<u8>(&[]), None);
    }
}

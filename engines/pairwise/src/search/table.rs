//! The transposition table, shared by all threads without locks.
//!
//! An entry has two words; the first is the key XORed with the second (R. M. Hyatt and T. Mann, "A lock-less
//! transposition table implementation", 2002): an entry torn by two concurrent writes does not match its key
//! and is treated as another position.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rsshogi::types::Move;

/// The bound type of a stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The true value is at most the stored one.
    Upper,
    /// The true value is at least the stored one.
    Lower,
    /// The true value is the stored one.
    Exact,
}

impl Bound {
    const fn to_bits(self) -> u64 {
        match self {
            Self::Upper => 1,
            Self::Lower => 2,
            Self::Exact => 3,
        }
    }

    const fn from_bits(bits: u64) -> Option<Self> {
        match bits & 3 {
            1 => Some(Self::Upper),
            2 => Some(Self::Lower),
            3 => Some(Self::Exact),
            _ => None,
        }
    }

    /// True if a value with this bound proves that the true value is at least `beta`.
    pub const fn fails_high(self) -> bool {
        !matches!(self, Self::Upper)
    }

    /// True if a value with this bound proves that the true value is at most `alpha`.
    pub const fn fails_low(self) -> bool {
        !matches!(self, Self::Lower)
    }
}

/// A decoded entry. Mate values count from the node itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The best move, or [`Move::MOVE_NONE`].
    pub mv: Move,
    pub value: i32,
    /// The static evaluation, or [`NO_EVALUATION`].
    pub evaluation: i32,
    /// Depth of the search in plies; at most 127.
    pub depth: i32,
    /// The bound type of the value.
    pub bound: Bound,
    /// True if the node was on a principal variation.
    pub pv: bool,
}

/// Marks a missing static evaluation.
pub const NO_EVALUATION: i32 = 32_002;

const GENERATIONS: u64 = 32;
const DEPTH_OFFSET: i32 = 128;

impl Known {
    fn pack(&self, generation: u64) -> u64 {
        let half = |value: i32| u64::from((value as i16).cast_unsigned());
        u64::from(self.mv.raw())
            | half(self.value) << 16
            | half(self.evaluation) << 32
            | ((self.depth + DEPTH_OFFSET) as u64 & 0xff) << 48
            | (self.bound.to_bits() | u64::from(self.pv) << 2 | generation << 3) << 56
    }

    fn unpack(data: u64) -> Option<Self> {
        let half = |shift: u32| i32::from((data >> shift) as u16 as i16);
        Some(Self {
            mv: Move::from_raw(data as u16),
            value: half(16),
            evaluation: half(32),
            depth: ((data >> 48) & 0xff) as i32 - DEPTH_OFFSET,
            bound: Bound::from_bits(data >> 56)?,
            pv: data >> 58 & 1 == 1,
        })
    }
}

/// An entry: the check word and the data.
type Slot = [AtomicU64; 2];

/// Words of a cluster: four entries of two words, in one cache line.
const CLUSTER: usize = 8;
const CACHE_LINE: usize = CLUSTER * size_of::<u64>();

/// The transposition table.
pub struct Table {
    /// Zero from the system, which gives the memory when it is written to: an engine that searches little starts
    /// at once whatever its size.
    words: Box<[AtomicU64]>,
    /// Where the first cluster begins.
    first: usize,
    clusters: usize,
    /// Searches since the table was cleared.
    generation: AtomicU32,
}

impl Table {
    /// An empty table of about `megabytes` MiB, at least one.
    pub fn new(megabytes: usize) -> Self {
        let clusters = megabytes.max(1) * (1 << 20) / CACHE_LINE;
        let words: Box<[AtomicU64]> = bytemuck::zeroed_slice_box((clusters + 1) * CLUSTER);
        let first = words.as_ptr().align_offset(CACHE_LINE);
        Self { words, first, clusters, generation: AtomicU32::new(0) }
    }

    /// Its size in MiB.
    pub fn megabytes(&self) -> usize {
        (self.clusters * CACHE_LINE) >> 20
    }

    /// Removes all entries: other memory is zero from the system as well, so a short game costs what it used and not
    /// the size of the table.
    pub fn clear(&mut self) {
        if *self.generation.get_mut() > 0 {
            let megabytes = self.megabytes();
            // Never two tables at once.
            self.words = Box::default();
            *self = Self::new(megabytes);
        }
    }

    /// Starts a new generation, as every search has to; entries of earlier ones are replaced first.
    pub fn age(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    fn generation(&self) -> u64 {
        u64::from(self.generation.load(Ordering::Relaxed)) % GENERATIONS
    }

    fn cluster(&self, key: u64) -> &[Slot] {
        // Multiplying the high bits maps keys evenly to any table size.
        let index = (u128::from(key) * self.clusters as u128) >> 64;
        self.slots(index as usize, 1)
    }

    /// The entries of `count` clusters from `cluster` on.
    fn slots(&self, cluster: usize, count: usize) -> &[Slot] {
        self.words[self.first + cluster * CLUSTER..][..count * CLUSTER].as_chunks().0
    }

    /// The entry of the position with `key`.
    pub fn probe(&self, key: u64) -> Option<Known> {
        self.cluster(key).iter().find_map(|[check, data]| {
            let data = data.load(Ordering::Relaxed);
            (check.load(Ordering::Relaxed) ^ data == key).then(|| Known::unpack(data)).flatten()
        })
    }

    /// Stores `known` for the position with `key`, unless the present entry is more valuable.
    pub fn store(&self, key: u64, mut known: Known) {
        let generation = self.generation();
        let slots = self.cluster(key);
        let mut worst = &slots[0];
        let mut lowest = i64::MAX;
        for slot in slots {
            let [check, data] = slot;
            let data = data.load(Ordering::Relaxed);
            if check.load(Ordering::Relaxed) ^ data == key {
                match Known::unpack(data) {
                    Some(old) if keeps(&old, data >> 59, &known, generation) => return,
                    Some(old) if known.mv == Move::MOVE_NONE => known.mv = old.mv,
                    _ => {}
                }
                worst = slot;
                break;
            }
            let worth = worth(data, generation);
            if worth < lowest {
                (worst, lowest) = (slot, worth);
            }
        }
        let data = known.pack(generation);
        worst[1].store(data, Ordering::Relaxed);
        worst[0].store(key ^ data, Ordering::Relaxed);
    }

    /// Share of entries from this search, in permille.
    pub fn fullness(&self) -> u32 {
        let generation = self.generation();
        let sample = self.slots(0, self.clusters.min(250));
        let recent = |[_, data]: &&Slot| {
            let data = data.load(Ordering::Relaxed);
            data != 0 && data >> 59 == generation
        };
        (sample.iter().filter(recent).count() * 1000 / sample.len()) as u32
    }
}

/// True if the present entry of the same position is more valuable than the new one.
fn keeps(old: &Known, born: u64, new: &Known, generation: u64) -> bool {
    new.bound != Bound::Exact && born == generation && new.depth + 4 < old.depth
}

/// Replacement priority: depth, less two plies per generation of age; lowest for an empty slot.
fn worth(data: u64, generation: u64) -> i64 {
    if data == 0 {
        return i64::MIN;
    }
    let age = (GENERATIONS + generation - (data >> 59)) % GENERATIONS;
    (data >> 48 & 0xff) as i64 - 2 * age as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(depth: i32, value: i32) -> Known {
        Known { mv: "7g7f".parse().unwrap(), value, evaluation: -3, depth, bound: Bound::Lower, pv: true }
    }

    #[test]
    fn entries_survive_a_round_trip() {
        let table = Table::new(1);
        for (key, value) in [(1, -31_999), (u64::MAX, 31_999), (0x1234_5678_9abc_def0, 0)] {
            table.store(key, known(-2, value));
            assert_eq!(table.probe(key), Some(known(-2, value)));
        }
        assert_eq!(table.probe(7), None);
    }

    #[test]
    fn a_shallow_value_does_not_push_out_a_deep_one_of_the_same_search() {
        let table = Table::new(1);
        table.store(9, known(12, 1));
        table.store(9, known(3, 2));
        assert_eq!(table.probe(9).map(|known| known.value), Some(1));
        table.age();
        table.store(9, known(3, 2));
        assert_eq!(table.probe(9).map(|known| known.value), Some(2));
    }

    #[test]
    fn a_store_without_a_move_keeps_the_move() {
        let table = Table::new(1);
        table.store(9, known(3, 1));
        table.store(9, Known { mv: Move::MOVE_NONE, ..known(5, 2) });
        assert_eq!(table.probe(9).map(|known| (known.value, known.mv.to_string())), Some((2, "7g7f".into())));
    }

    #[test]
    fn of_a_full_cluster_the_shallowest_goes() {
        let table = Table::new(1);
        (1..=5).for_each(|key| table.store(key, known(10 - key as i32, 0)));
        let left: Vec<u64> = (1..=5).filter(|&key| table.probe(key).is_some()).collect();
        assert_eq!(left, [1, 2, 3, 5]);
    }

    #[test]
    fn a_cleared_table_knows_nothing() {
        let mut table = Table::new(1);
        table.age();
        table.store(1, known(1, 1));
        assert_eq!(table.fullness(), 1);
        table.clear();
        assert_eq!((table.probe(1), table.fullness(), table.megabytes()), (None, 0, 1));
    }
}

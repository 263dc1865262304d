//! Evaluation cache by position, so that transpositions are not evaluated twice.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasherDefault, Hasher},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use rsshogi::{board::zobrist::ZobristKey, types::Move};

/// An evaluation in the tree's format. Copies share the moves.
#[derive(Clone, Debug)]
pub struct Known {
    /// Win probability of the side to move.
    pub value: f32,
    /// The moves with their priors in units of 1/65535, highest first.
    pub moves: Arc<[(Move, u16)]>,
}

/// A first-in, first-out cache of evaluations.
#[derive(Debug)]
pub struct Cache {
    shards: Vec<Mutex<Shard>>,
    bytes: AtomicUsize,
    most: usize,
}

/// The key of a position is a hash already.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_ne_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = self.0.rotate_left(32) ^ word;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Debug, Default)]
struct Shard {
    known: HashMap<ZobristKey, Known, BuildHasherDefault<KeyHasher>>,
    order: VecDeque<ZobristKey>,
    bytes: usize,
}

const SHARDS: usize = 32;

/// Bytes per entry besides its moves: the key twice, pointers, counters, gaps in hash tables and allocator.
const OVERHEAD: usize = 240;

impl Known {
    fn bytes(&self) -> usize {
        OVERHEAD + size_of_val(&*self.moves)
    }
}

impl Cache {
    /// A cache of at most about `bytes`.
    pub fn new(bytes: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, bytes: AtomicUsize::new(0), most: bytes / SHARDS }
    }

    /// The evaluation of a position.
    pub fn get(&self, key: ZobristKey) -> Option<Known> {
        self.shard(key).known.get(&key).cloned()
    }

    /// Stores an evaluation.
    pub fn keep(&self, key: ZobristKey, known: &Known) {
        let mut shard = self.shard(key);
        let before = shard.bytes;
        if shard.known.insert(key, known.clone()).is_none() {
            shard.order.push_back(key);
            shard.bytes += known.bytes();
        }
        while shard.bytes > self.most {
            let Some(oldest) = shard.order.pop_front() else { break };
            let gone = shard.known.remove(&oldest).map_or(0, |known| known.bytes());
            shard.bytes -= gone;
        }
        self.bytes.fetch_add(shard.bytes, Relaxed);
        self.bytes.fetch_sub(before, Relaxed);
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        let bytes = self.most * SHARDS;
        *self = Self::new(bytes);
    }

    /// Approximate size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    fn shard(&self, key: ZobristKey) -> MutexGuard<'_, Shard> {
        let shard = &self.shards[(key.high_u64() >> 32) as usize % SHARDS];
        shard.lock()
    }
}

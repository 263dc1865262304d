//! Answers of the network, kept by position: a position reached again by another line is not asked about again.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use rsshogi::{board::zobrist::ZobristKey, types::Move};

/// An answer as the tree wants it.
#[derive(Debug)]
pub struct Known {
    /// The probability that the player to move wins.
    pub value: f32,
    /// The moves with their priors in units of 1/65535, highest first.
    pub moves: Box<[(Move, u16)]>,
}

/// The most recent answers. What was kept first is forgotten first.
#[derive(Debug)]
pub struct Cache {
    shards: Vec<Mutex<Shard>>,
    bytes: AtomicUsize,
    most: usize,
}

#[derive(Debug, Default)]
struct Shard {
    known: HashMap<ZobristKey, Arc<Known>>,
    order: VecDeque<ZobristKey>,
    bytes: usize,
}

const SHARDS: usize = 32;

/// What an answer takes besides its moves: key twice, pointers, counters, the gaps that tables and allocators leave.
const OVERHEAD: usize = 240;

impl Known {
    fn bytes(&self) -> usize {
        OVERHEAD + size_of_val(&*self.moves)
    }
}

impl Cache {
    /// A cache of about `bytes` at most.
    pub fn new(bytes: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { shards, bytes: AtomicUsize::new(0), most: bytes / SHARDS }
    }

    /// The answer about a position.
    pub fn get(&self, key: ZobristKey) -> Option<Arc<Known>> {
        self.shard(key).known.get(&key).cloned()
    }

    /// Keeps an answer.
    pub fn keep(&self, key: ZobristKey, known: &Arc<Known>) {
        let mut shard = self.shard(key);
        let before = shard.bytes;
        if shard.known.insert(key, Arc::clone(known)).is_none() {
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

    /// Forgets everything.
    pub fn clear(&mut self) {
        let bytes = self.most * SHARDS;
        *self = Self::new(bytes);
    }

    /// Bytes taken, about.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    fn shard(&self, key: ZobristKey) -> MutexGuard<'_, Shard> {
        let shard = &self.shards[(key.high_u64() >> 32) as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

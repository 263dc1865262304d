//! Pools of cells of one size, within a fixed memory budget.

use parking_lot::{Mutex, MutexGuard};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
};

/// The null index.
pub const NONE: u32 = 0;

/// Cells allocated at a time.
const CHUNK: usize = 1 << 10;

/// An object in a pool. Free cells are linked, and users may link theirs.
pub trait Cell: Default {
    /// The next cell of the chain.
    fn link(&self) -> &AtomicU32;
}

/// Bytes left in a budget shared by several pools.
#[derive(Clone, Debug)]
pub struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// A budget of `bytes`.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(bytes)))
    }

    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// An array, so that an index within it needs no check.
type Chunk<T> = Box<[T; CHUNK]>;

/// Cells, addressed by index.
#[derive(Debug)]
pub struct Pool<T> {
    chunks: Box<[OnceLock<Chunk<T>>]>,
    supply: Mutex<Supply>,
    budget: Budget,
}

#[derive(Debug)]
struct Supply {
    /// Head of the chain of returned cells.
    free: u32,
    /// The first cell never used.
    fresh: u32,
    used: usize,
}

impl Supply {
    const WHOLE: Self = Self { free: NONE, fresh: NONE + 1, used: 0 };
}

impl<T: Cell> Pool<T> {
    /// A pool that allocates from `budget`, up to `most` bytes.
    pub fn new(budget: Budget, most: usize) -> Self {
        // Limited by the range of an index.
        let chunks = (most / Self::chunk_bytes()).min(u32::MAX as usize / CHUNK);
        Self {
            chunks: (0..chunks).map(|_| OnceLock::new()).collect(),
            supply: Mutex::new(Supply::WHOLE),
            budget,
        }
    }

    const fn chunk_bytes() -> usize {
        CHUNK * size_of::<T>()
    }

    /// A cell in use.
    pub fn get(&self, index: u32) -> &T {
        let chunk = self.chunks[index as usize / CHUNK].get();
        &chunk.expect("a cell that was handed out exists")[index as usize % CHUNK]
    }

    /// Takes a chain of `length` cells with unspecified contents; `None` if there are not enough.
    pub fn take(&self, length: usize) -> Option<u32> {
        let mut supply = self.supply();
        let mut chain = NONE;
        for _ in 0..length {
            let Some(index) = self.take_one(&mut supply) else {
                self.put(&mut supply, chain);
                return None;
            };
            self.get(index).link().store(chain, Relaxed);
            chain = index;
        }
        Some(chain)
    }

    fn take_one(&self, supply: &mut Supply) -> Option<u32> {
        let index = if supply.free != NONE {
            let index = supply.free;
            supply.free = self.get(index).link().load(Relaxed);
            index
        } else {
            let index = supply.fresh;
            self.provide(self.chunks.get(index as usize / CHUNK)?)?;
            supply.fresh += 1;
            index
        };
        supply.used += 1;
        Some(index)
    }

    fn provide(&self, chunk: &OnceLock<Chunk<T>>) -> Option<()> {
        if chunk.get().is_none() {
            self.budget.take(Self::chunk_bytes()).then_some(())?;
            let cells: Box<[T]> = (0..CHUNK).map(|_| T::default()).collect();
            let Ok(cells) = cells.try_into() else { return None };
            chunk.get_or_init(|| cells);
        }
        Some(())
    }

    /// Returns a chain.
    pub fn give_back(&self, chain: u32) {
        self.put(&mut self.supply(), chain);
    }

    fn put(&self, supply: &mut Supply, mut chain: u32) {
        while chain != NONE {
            let next = self.get(chain).link().swap(supply.free, Relaxed);
            supply.free = chain;
            supply.used -= 1;
            chain = next;
        }
    }

    /// Returns all cells; allocated memory is kept.
    pub fn reset(&mut self) {
        *self.supply() = Supply::WHOLE;
    }

    /// True if less than a third of the allocated memory is free.
    pub fn is_tight(&self) -> bool {
        self.bytes_used() > self.bytes_held() / 3 * 2
    }

    /// Bytes of the cells in use.
    pub fn bytes_used(&self) -> usize {
        self.supply().used * size_of::<T>()
    }

    /// Bytes allocated.
    pub fn bytes_held(&self) -> usize {
        self.chunks.iter().filter(|chunk| chunk.get().is_some()).count() * Self::chunk_bytes()
    }

    fn supply(&self) -> MutexGuard<'_, Supply> {
        self.supply.lock()
    }
}

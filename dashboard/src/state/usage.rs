//! What an engine does with its time.

use referee::event::Moved;

/// Counts of the moves seen while this screen is open; memory is flat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Moves made.
    pub moves: u64,
    /// Time charged for them, in ms.
    pub charged: u64,
    /// The longest, in ms.
    pub longest: u64,
    /// Sum of the depths told, and how many told one.
    pub depth: (u64, u64),
    /// Nodes told, in all, and the ms told with them.
    pub nodes: (u64, u64),
    latency: Latency,
}

/// Buckets of a factor of two, from an eighth of a millisecond on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Latency([u64; 24]);

impl Usage {
    /// Takes in a move.
    pub fn add(&mut self, moved: &Moved) {
        let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.moves += 1;
        self.charged = self.charged.saturating_add(ms(moved.charged));
        self.longest = self.longest.max(ms(moved.charged));
        let Some(thought) = &moved.thought else { return };
        if let Some(depth) = thought.depth {
            self.depth = (self.depth.0 + u64::from(depth), self.depth.1 + 1);
        }
        if let (Some(nodes), Some(time)) = (thought.nodes, thought.time) {
            self.nodes = (self.nodes.0.saturating_add(nodes), self.nodes.1.saturating_add(time));
        }
        if let Some(time) = thought.time {
            let late = moved.elapsed.as_secs_f64() * 1000.0 - time as f64;
            self.latency.add(late.max(0.0));
        }
    }

    /// The mean time of a move, in ms.
    #[must_use]
    pub fn mean(&self) -> Option<u64> {
        self.charged.checked_div(self.moves)
    }

    /// The mean depth told.
    #[must_use]
    pub fn mean_depth(&self) -> Option<f64> {
        (self.depth.1 > 0).then(|| self.depth.0 as f64 / self.depth.1 as f64)
    }

    /// Nodes a second.
    #[must_use]
    pub fn nps(&self) -> Option<u64> {
        self.nodes.0.saturating_mul(1000).checked_div(self.nodes.1)
    }

    /// Time measured beyond what the engine told, in ms, that this share of its moves does not exceed (to a factor of
    /// two).
    #[must_use]
    pub fn latency(&self, share: f64) -> Option<f64> {
        self.latency.quantile(share)
    }
}

impl Latency {
    fn add(&mut self, ms: f64) {
        let bucket = (ms * 8.0).max(1.0).log2().ceil() as usize;
        self.0[bucket.min(self.0.len() - 1)] += 1;
    }

    fn quantile(&self, share: f64) -> Option<f64> {
        let total: u64 = self.0.iter().sum();
        let mut seen = 0;
        let found = self.0.iter().position(|count| {
            seen += count;
            total > 0 && seen as f64 >= share * total as f64
        });
        found.map(|bucket| 2f64.powi(i32::try_from(bucket).unwrap_or(0)) / 8.0)
    }
}

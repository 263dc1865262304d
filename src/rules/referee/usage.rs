//! Time use of an engine, as a fold of its moves.

use crate::entry::Moved;

/// Plies that [`Usage::phases`] counts together.
pub const PHASE: u32 = 10;

/// Number of phases; later plies count with the last.
const PHASES: usize = 40;

/// Counts over all moves, in constant memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of moves.
    pub moves: u64,
    /// Time charged for them, in ms.
    pub charged: u64,
    /// The longest, in ms.
    pub longest: u64,
    /// Sum of the printed depths, and number of moves with one.
    pub depth: (u64, u64),
    /// Sum of the printed nodes, and of the times in ms printed with them.
    pub nodes: (u64, u64),
    /// Peak memory of one process, in KiB; 0 if unknown.
    pub memory: u64,
    /// Time charged, in ms, and moves made, by phase of the game: [`PHASE`] plies each.
    pub phases: Vec<(u64, u64)>,
    latency: Latency,
}

/// Buckets of a factor of two, from an eighth of a millisecond on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Latency([u64; 24]);

impl Usage {
    /// Adds a move.
    pub fn add(&mut self, moved: &Moved) {
        let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.moves += 1;
        self.charged = self.charged.saturating_add(ms(moved.charged));
        self.longest = self.longest.max(ms(moved.charged));
        self.phase(moved.ply, ms(moved.charged));
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

    /// Peak memory of one process with its unit, such as `48 MiB`; none if unknown.
    pub fn memory_words(&self) -> Option<String> {
        let mib = self.memory.div_ceil(1024);
        match mib {
            0 => None,
            1..10_000 => Some(format!("{mib} MiB")),
            _ => Some(format!("{} GiB", mib.div_ceil(1024))),
        }
    }

    fn phase(&mut self, ply: u32, charged: u64) {
        let phase = usize::try_from(ply.saturating_sub(1) / PHASE).unwrap_or(PHASES).min(PHASES - 1);
        if phase >= self.phases.len() {
            self.phases.resize(phase + 1, (0, 0));
        }
        let (time, moves) = self.phases[phase];
        self.phases[phase] = (time.saturating_add(charged), moves + 1);
    }

    /// The mean time of a move, in ms.
    pub fn mean(&self) -> Option<u64> {
        self.charged.checked_div(self.moves)
    }

    /// Mean of the printed depths.
    pub fn mean_depth(&self) -> Option<f64> {
        (self.depth.1 > 0).then(|| self.depth.0 as f64 / self.depth.1 as f64)
    }

    /// Nodes a second.
    pub fn nps(&self) -> Option<u64> {
        self.nodes.0.saturating_mul(1000).checked_div(self.nodes.1)
    }

    /// Quantile of the measured time beyond the engine's own count, in ms (to a factor of two).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Color, entry::GameId};
    use rsshogi::types::Move;
    use std::time::Duration;

    #[test]
    fn time_is_counted_by_phase_of_the_game() {
        let mut usage = Usage::default();
        for (ply, ms) in [(1, 100), (10, 300), (11, 50), (100_000, 7)] {
            let time = Duration::from_millis(ms);
            let mv = Move::from_usi("7g7f").unwrap();
            let (color, left) = (Color::Black, Duration::ZERO);
            let moved =
                Moved { game: GameId(1), ply, color, mv, charged: time, elapsed: time, left, thought: None };
            usage.add(&moved);
        }
        assert_eq!(usage.phases[..2], [(400, 2), (50, 1)]);
        assert_eq!((usage.phases.len(), usage.phases.last()), (PHASES, Some(&(7, 1))));
        assert_eq!((usage.mean(), usage.longest), (Some(114), 300));
    }
}

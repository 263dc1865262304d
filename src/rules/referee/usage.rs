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
    use crate::{
        Color,
        entry::{GameId, Thought},
    };
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

    fn moved(ply: u32, charged_us: u64, elapsed_us: u64, thought: Option<Thought>) -> Moved {
        let [charged, elapsed] = [charged_us, elapsed_us].map(Duration::from_micros);
        let (game, mv, left) = (GameId(1), Move::from_usi("7g7f").unwrap(), Duration::ZERO);
        Moved { game, ply, color: Color::Black, mv, charged, elapsed, left, thought: thought.map(Box::new) }
    }

    fn thought(depth: Option<u32>, nodes: Option<u64>, time: Option<u64>) -> Option<Thought> {
        Some(Thought { depth, nodes, time, ..Thought::default() })
    }

    #[test]
    fn an_engine_that_prints_nothing_has_its_times_and_nothing_else() {
        let none = Usage::default();
        assert_eq!((none.mean(), none.mean_depth(), none.nps(), none.latency(0.5)), (None, None, None, None));
        let mut silent = Usage::default();
        silent.add(&moved(1, 5_999, 6_000, None));
        silent.add(&moved(3, 2_000, 2_000, thought(None, None, None)));
        assert_eq!((silent.moves, silent.charged, silent.longest, silent.mean()), (2, 7, 5, Some(3)));
        assert_eq!((silent.mean_depth(), silent.nps(), silent.latency(0.5)), (None, None, None));
    }

    #[test]
    fn depths_and_nodes_are_means_over_the_moves_that_print_them() {
        let mut usage = Usage::default();
        for (depth, nodes, time) in [
            (Some(10), Some(3000), Some(2)),
            (Some(13), Some(5000), Some(2)),
            (None, Some(9_000_000), None), // nodes without a time say nothing of a speed
            (None, None, Some(50)),        // nor does a time without nodes
        ] {
            usage.add(&moved(1, 60_000, 60_000, thought(depth, nodes, time)));
        }
        assert_eq!((usage.depth, usage.mean_depth()), ((23, 2), Some(11.5)));
        assert_eq!((usage.nodes, usage.nps()), ((8000, 4), Some(2_000_000)));
        usage.add(&moved(1, 0, 0, thought(None, Some(0), Some(1))));
        assert_eq!(usage.nps(), Some(1_600_000), "no node at all is a number of nodes");
    }

    /// The latency of a share of the moves is the bound of its bucket: the next power of two times an eighth of a ms.
    #[test]
    fn a_quantile_of_the_latency_is_the_bound_of_the_bucket_that_it_falls_into() {
        let of = |late_us: &[u64]| {
            let mut usage = Usage::default();
            for late in late_us {
                usage.add(&moved(1, 0, 7_000 + late, thought(None, None, Some(7))));
            }
            usage
        };
        for (late_us, bound) in [
            (0, 0.125),
            (125, 0.125),
            (126, 0.25),
            (250, 0.25),
            (251, 0.5),
            (1000, 1.0),
            (1001, 2.0),
            (64_000, 64.0),
            (3_000_000_000, 1_048_576.0),
        ] {
            assert_eq!(
                [0.0, 0.5, 1.0]
                    .map(|share| of(&[late_us]).latency(share).unwrap())
                    .into_iter()
                    .skip(1)
                    .collect::<Vec<_>>(),
                [bound; 2],
                "{late_us} us"
            );
        }
        let mixed = of(&[0, 0, 0, 0, 0, 900, 900, 900, 900, 3000]);
        assert_eq!(
            [0.5, 0.51, 0.9, 0.91, 1.0].map(|share| mixed.latency(share)),
            [0.125, 1.0, 1.0, 4.0, 4.0].map(Some)
        );
        // An engine that counts more than was measured is not late.
        let mut early = Usage::default();
        early.add(&moved(1, 0, 1_000, thought(None, None, Some(7))));
        assert_eq!(early.latency(1.0), Some(0.125));
    }

    #[test]
    fn memory_is_shown_in_a_unit_that_is_read_at_once() {
        let words = |memory| Usage { memory, ..Usage::default() }.memory_words();
        assert_eq!(words(0), None);
        for (kib, shown) in [
            (1, "1 MiB"),
            (1024, "1 MiB"),
            (1025, "2 MiB"),
            (9_999 * 1024, "9999 MiB"),
            (10_000 * 1024, "10 GiB"),
            (10_240 * 1024 + 1, "11 GiB"),
        ] {
            assert_eq!(words(kib).as_deref(), Some(shown));
        }
    }

    #[test]
    fn the_last_phase_takes_all_later_plies() {
        let mut usage = Usage::default();
        for ply in [0, 1, 10, 11, 390, 391, 400, 401, u32::MAX] {
            usage.add(&moved(ply, 1_000, 1_000, None));
        }
        let counted: Vec<(usize, u64)> = usage
            .phases
            .iter()
            .enumerate()
            .filter(|(_, phase)| phase.1 > 0)
            .map(|(at, phase)| (at, phase.1))
            .collect();
        assert_eq!(counted, [(0, 3), (1, 1), (38, 1), (39, 4)]);
    }

    #[test]
    fn a_move_in_the_database_has_its_times_in_milliseconds_with_their_fraction() {
        let json = serde_json::to_value(moved(1, 1_500, 2_250, None)).unwrap();
        assert_eq!(
            (&json["charged_ms"], &json["elapsed_ms"], &json["mv"]),
            (&1.5.into(), &2.25.into(), &"7g7f".into())
        );
        assert_eq!(serde_json::from_value::<Moved>(json).unwrap(), moved(1, 1_500, 2_250, None));
        assert_eq!([(1 << 31) - 1, 1 << 31].map(|id| GameId(id).is_elsewhere()), [false, true]);
    }
}

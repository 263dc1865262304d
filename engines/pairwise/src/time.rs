//! Time management.

use rsshogi::types::Move;
use usi_shell::Spending;

use crate::search::{Found, is_decided};

/// Stability of the best move over the iterations so far.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    best: Option<Move>,
    value: i32,
    /// Number of iterations since the best move changed.
    steady: u32,
    /// Drop of the value in the last iteration, in centipawns.
    fallen: i32,
    /// Share of the nodes spent on the best move, from 0 to 1.
    share: f64,
    depth: u32,
}

/// No iteration is started after this fraction of the planned time: it would take as long as all earlier ones
/// together.
const ENOUGH: f64 = 0.6;

impl Plan {
    /// Updates the plan with the result of an iteration.
    pub fn note(&mut self, found: &Found) {
        let Some(best) = found.best.first() else { return };
        let mv = best.line.first().copied();
        self.steady = if mv == self.best { self.steady + 1 } else { 0 };
        self.fallen = if self.best.is_some() { (self.value - best.value).max(0) } else { 0 };
        (self.best, self.value, self.share, self.depth) = (mv, best.value, found.share, found.depth);
    }

    /// Factor on the planned time: below 1 if the best move is stable and takes nearly all nodes, above 1 if it
    /// changes or its value drops.
    pub fn worth(&self) -> f64 {
        let steady = [1.7, 1.4, 1.2, 1.1, 1.0, 0.9, 0.85, 0.8][self.steady.min(7) as usize];
        let fallen = 1.0 + f64::from(self.fallen.min(300)) / 300.0;
        let obvious = if self.depth >= 6 { 1.5 - self.share } else { 1.0 };
        (steady * fallen * obvious).clamp(0.3, 2.5)
    }

    /// True if the engine answers now instead of starting another iteration. `choices` is the number of legal moves.
    pub fn is_enough(&self, spending: &Spending, choices: usize) -> bool {
        // A mate that might still be shortened is searched up to this depth only.
        if choices == 1 || is_decided(self.value) && self.depth >= 12 {
            return true;
        }
        let budget = spending.budget;
        if budget.soft >= budget.hard {
            // With byoyomi or an exact time, unused time is lost.
            return false;
        }
        spending.spent.as_secs_f64() >= ENOUGH * self.worth() * budget.soft.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use usi_shell::Budget;

    use super::*;
    use crate::search::RootMove;

    fn found(depth: u32, mv: &str, value: i32, share: f64) -> Found {
        Found { depth, deepest: depth, best: vec![RootMove::found(mv.parse().unwrap(), value)], share }
    }

    fn plan(depths: &[(&str, i32, f64)]) -> Plan {
        let mut plan = Plan::default();
        for (index, &(mv, value, share)) in depths.iter().enumerate() {
            plan.note(&found(index as u32 + 1, mv, value, share));
        }
        plan
    }

    fn spending(spent: u64, soft: u64, hard: u64) -> Spending {
        let ms = Duration::from_millis;
        Spending { spent: ms(spent), budget: Budget { soft: ms(soft), hard: ms(hard) } }
    }

    #[test]
    fn an_obvious_move_deserves_less_time_than_one_that_changes() {
        let obvious = plan(&[("7g7f", 30, 0.95); 12]);
        let doubtful = plan(&[[("7g7f", 30, 0.4), ("2g2f", 20, 0.4)]; 6].concat());
        assert!(obvious.worth() < 0.6 && doubtful.worth() > 1.2, "{} {}", obvious.worth(), doubtful.worth());
        assert!(obvious.is_enough(&spending(400, 1000, 3000), 30));
        assert!(!doubtful.is_enough(&spending(400, 1000, 3000), 30));
        assert!(doubtful.is_enough(&spending(1600, 1000, 3000), 30));
    }

    #[test]
    fn a_falling_value_deserves_more_time() {
        let calm = plan(&[("7g7f", 30, 0.5); 9]);
        let mut falling = calm.clone();
        falling.note(&found(10, "7g7f", -200, 0.5));
        assert!(falling.worth() > 1.5 * calm.worth());
    }

    #[test]
    fn byoyomi_is_used_up_because_it_cannot_be_saved() {
        let obvious = plan(&[("7g7f", 30, 0.95); 12]);
        assert!(!obvious.is_enough(&spending(949, 950, 950), 30));
    }

    #[test]
    fn a_forced_move_and_a_mate_are_played_at_once() {
        assert!(plan(&[("7g7f", 30, 0.9)]).is_enough(&spending(0, 950, 950), 1));
        assert!(plan(&[("7g7f", 31_995, 0.9); 12]).is_enough(&spending(0, 950, 950), 30));
        assert!(!plan(&[("7g7f", 31_995, 0.9); 3]).is_enough(&spending(0, 950, 950), 30));
    }
}

//! What a policy spends on the moves of a game.

use super::{PlayedGame, Question};
use referee::clock::{Clock, TimeControl};
use std::time::Duration;
use usi_shell::{Budget, OwnClock, Seen, TimePolicy};

/// A move that took less than this part of its plan was answered at once: a forced move, a mate.
const AT_ONCE: f64 = 0.05;

/// How an engine uses its budgets.
///
/// A policy plans a time for a move, and the engine stops somewhat before or after it, as its search wants. What it used
/// of its plan at a move of the game, it is taken to use of another plan for the same move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Habits {
    /// Mean use of a plan that it may exceed.
    open: f64,
    /// Mean use of a plan that is all there is.
    closed: f64,
}

/// The turn of a move under a policy.
struct Turn {
    budget: Budget,
    /// True if the engine may exceed the plan.
    open: bool,
}

impl Turn {
    fn of(
        policy: &TimePolicy,
        control: &TimeControl,
        left: Duration,
        ply: u32,
        seen: Seen,
        delay: Duration,
    ) -> Self {
        let clock = OwnClock { time: left, byoyomi: control.byoyomi, increment: control.increment };
        let budget = policy.budget(clock, ply, seen, delay);
        Self { open: budget.soft < budget.hard, budget }
    }

    /// The part of the plan that a time is.
    fn part(&self, elapsed: Duration) -> f64 {
        elapsed.min(self.budget.hard).as_secs_f64() / self.budget.soft.as_secs_f64().max(1e-6)
    }
}

impl Habits {
    /// What the engine did in its games.
    pub fn of(games: &[&PlayedGame], question: &Question) -> Self {
        let mut sums = [(0.0, 0.0); 2];
        let present =
            question.present.iter().flat_map(|present| games.iter().map(move |game| (present, game)));
        for (present, game) in present {
            for (own, seen) in game.turns() {
                let turn = Turn::of(present, &game.control, own.left, own.ply, seen, question.delay);
                let part = turn.part(own.elapsed);
                if own.searched().is_some() && part >= AT_ONCE {
                    let sum = &mut sums[usize::from(turn.open)];
                    *sum = (sum.0 + part, sum.1 + 1.0);
                }
            }
        }
        let [closed, open] = sums.map(|(sum, count)| if count > 0.0 { sum / count } else { 1.0 });
        Self { open, closed }
    }

    /// Walks a game with the policy: the time of each move, the main time left, and whether the flag fell at the last one.
    pub fn walk(&self, game: &PlayedGame, question: &Question) -> (Vec<Duration>, Duration, bool) {
        let (control, delay) = (&game.control, question.delay);
        let start = game.moves.first().map_or(control.main, |own| own.left);
        let (mut clock, mut spent) = (Clock::resumed(*control, start), Vec::with_capacity(game.moves.len()));
        for (own, seen) in game.turns() {
            let then = Turn::of(&question.policy, control, clock.left(), own.ply, seen, delay);
            let took = match (&question.present, own.searched()) {
                (_, None) => own.elapsed,
                (None, _) => then.budget.soft,
                (Some(present), _) => {
                    let now = Turn::of(present, control, own.left, own.ply, seen, delay);
                    self.used(&now, &then, own.elapsed)
                }
            };
            let (left, fell) = after(clock, took);
            if fell {
                return (spent, left, true);
            }
            clock = Clock::resumed(*control, left);
            spent.push(took);
        }
        (spent, clock.left(), false)
    }

    /// The time of a move under another budget, and what the machine took beyond its budget.
    fn used(&self, now: &Turn, then: &Turn, elapsed: Duration) -> Duration {
        let over = elapsed.saturating_sub(now.budget.hard);
        let part = now.part(elapsed);
        let part = match (now.open, then.open) {
            _ if part < AT_ONCE => return elapsed,
            (true, false) => self.closed,
            (false, true) => self.open,
            _ => part,
        };
        then.budget.soft.mul_f64(part).min(then.budget.hard) + over
    }
}

/// The main time left after a move, and whether the flag fell.
pub(super) fn after(mut clock: Clock, took: Duration) -> (Duration, bool) {
    let fell = clock.charge(took).is_err();
    (clock.left(), fell)
}

impl PlayedGame {
    /// Its moves, each with what the search before knew.
    fn turns(&self) -> impl Iterator<Item = (&super::OwnMove, Seen)> {
        let mut score = None;
        self.moves.iter().map(move |own| {
            let seen = Seen { score, expected: own.expected };
            score = own.score.or(score);
            (own, seen)
        })
    }
}

//! Clocks against a second reckoning of the rules, in whole nanoseconds, at both sides of every instant at which the
//! verdict or the charge may change.

use super::*;
use rating::mix::mix;
use std::collections::BTreeSet;

const MS: i128 = 1_000_000;
const SECOND: i128 = 1000 * MS;

/// The rules as the documentation of [`TimeControl`] and [`Accounting`] has them; every time in nanoseconds.
struct Model {
    accounting: Accounting,
    main: i128,
    byoyomi: i128,
    increment: i128,
    delay: i128,
    fixed: Option<i128>,
    margin: i128,
    least: i128,
    patience: i128,
    left: i128,
}

impl Model {
    fn is_timed(&self) -> bool {
        self.fixed.is_some() || self.main + self.byoyomi + self.increment > 0
    }

    /// What a move of that length costs.
    fn cost(&self, elapsed: i128) -> i128 {
        let net = (elapsed - self.delay).max(0);
        match self.accounting {
            Accounting::Milliseconds => (net / MS * MS).max(self.least),
            Accounting::Seconds => (net / SECOND * SECOND).max(self.least),
            Accounting::StopWatch => {
                let press = if self.byoyomi > 0 { self.byoyomi } else { SECOND };
                net.max(self.least) / press * press
            }
        }
    }

    /// All there is for a move.
    fn available(&self) -> i128 {
        match (self.fixed, self.accounting) {
            (Some(fixed), _) => fixed,
            (None, _) if !self.is_timed() => self.patience,
            (None, Accounting::StopWatch) => {
                let press = if self.byoyomi > 0 { self.byoyomi } else { SECOND };
                (self.left + press - 1) / press * press
            }
            (None, _) => self.left + self.byoyomi + self.increment,
        }
    }

    /// The cost, or `None` for a flag that fell.
    fn play(&mut self, elapsed: i128) -> Option<i128> {
        let available = self.available();
        let forgiven = (elapsed - self.margin).max(0);
        let is_late = match self.accounting {
            _ if !self.is_timed() => forgiven - self.delay > available,
            // To the nanosecond; the least time alone can use up more than there is.
            Accounting::Milliseconds => forgiven - self.delay > available || self.least > available,
            Accounting::Seconds | Accounting::StopWatch => self.cost(forgiven) >= available,
        };
        if is_late {
            return None;
        }
        let cost = self.cost(elapsed);
        if self.fixed.is_none() && self.is_timed() {
            self.left = (self.left + self.increment - cost).max(0);
        }
        Some(cost)
    }

    /// Lengths of a move at which something may change.
    fn boundaries(&self) -> Vec<i128> {
        let press = if self.byoyomi > 0 { self.byoyomi } else { SECOND };
        let ends = [0, self.least, self.left, self.byoyomi, self.increment, self.available(), self.patience];
        let units = [MS, SECOND, 2 * SECOND, press];
        let halves = (1..9).map(|half| half * SECOND / 2);
        let whole = ends.iter().flat_map(|end| units.map(|unit| end / unit * unit));
        let points: Vec<i128> = whole.chain(ends).chain(halves).collect();
        let around: BTreeSet<i128> = points
            .iter()
            .flat_map(|point| [0, self.delay].map(|more| point + more))
            .flat_map(|point| [0, self.margin].map(|more| point + more))
            .flat_map(|point| [point - 1, point, point + 1])
            .filter(|point| *point >= 0)
            .collect();
        around.into_iter().collect()
    }
}

struct Draws(u64);

impl Draws {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        self.0 += 1;
        choices[(mix(self.0) % choices.len() as u64) as usize]
    }
}

fn nanos(ns: i128) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap())
}

/// A clock of every kind: sudden death, byoyomi, increment, both, fixed, nodes alone; with and without delay, margin and
/// least time; in all three ways of counting.
fn any_clock(draws: &mut Draws) -> TimeControl {
    let accounting = draws.of(&[Accounting::Milliseconds, Accounting::Seconds, Accounting::StopWatch]);
    let unit = if accounting == Accounting::Milliseconds { MS } else { SECOND };
    let mut some = |units: &[i128]| nanos(draws.of(units) * unit);
    let time = TimeControl {
        main: some(&[0, 1, 3, 10, 61, 7500]),
        byoyomi: some(&[0, 0, 1, 2, 5]),
        increment: some(&[0, 0, 1, 4]),
        least: some(&[0, 0, 1, 2, 7]),
        patience: some(&[5, 20]),
        ..TimeControl::default()
    };
    let margin = nanos(draws.of(&[0, 0, MS, 100 * MS, 1500 * MS, 1]));
    let delay = nanos(draws.of(&[0, 0, unit, 3 * unit, 300 * MS]));
    let time = TimeControl { margin, delay, accounting, ..time };
    match draws.of(&[0, 1, 2, 3, 4, 5]) {
        0 if accounting != Accounting::StopWatch => {
            let fixed = Some(nanos(draws.of(&[1, 2, 9]) * unit));
            let none = Duration::ZERO;
            TimeControl { fixed, main: none, byoyomi: none, increment: none, ..time }
        }
        1 if accounting != Accounting::StopWatch => {
            let none = Duration::ZERO;
            TimeControl { nodes: Some(1), main: none, byoyomi: none, increment: none, ..time }
        }
        _ => time,
    }
}

#[test]
fn every_clock_charges_and_falls_as_the_rules_say_a_nanosecond_before_at_and_after_each_boundary() {
    let (mut judged, mut fell) = (0_u64, 0_u64);
    for seed in 0..testing::repetitions(4000, 300) {
        let mut draws = Draws(mix(seed) & 0xFFFF_FFFF_FFFF);
        let time = any_clock(&mut draws);
        let ns = |time: Duration| time.as_nanos() as i128;
        let mut model = Model {
            accounting: time.accounting,
            main: ns(time.main),
            byoyomi: ns(time.byoyomi),
            increment: ns(time.increment),
            delay: ns(time.delay),
            fixed: time.fixed.map(ns),
            margin: ns(time.margin),
            least: ns(time.least),
            patience: ns(time.patience),
            left: ns(time.main),
        };
        let mut clock = Clock::new(time);
        for ply in 0..6 {
            let boundaries = model.boundaries();
            for &elapsed in &boundaries {
                let mut expected = Model { left: model.left, ..model };
                let mut tried = clock;
                let charged = tried.charge(nanos(elapsed)).ok().map(|charged| ns(charged.0));
                assert_eq!(
                    charged,
                    expected.play(elapsed),
                    "seed {seed}, ply {ply}, {elapsed} ns, {clock:?}"
                );
                assert_eq!(
                    ns(tried.left()),
                    expected.left,
                    "seed {seed}, ply {ply}, {elapsed} ns, {clock:?}"
                );
                if charged.is_none() {
                    assert_eq!(tried, clock, "a late reply leaves the clock as it was");
                }
                (judged, fell) = (judged + 1, fell + u64::from(charged.is_none()));
            }
            let elapsed = draws.of(&boundaries);
            if clock.charge(nanos(elapsed)).is_err() {
                break;
            }
            model.play(elapsed);
        }
    }
    assert!(judged / 10 < fell && fell < judged * 9 / 10, "{fell} of {judged} fell");
}

/// No reply after the allowance is in time, and where fractions are counted every one up to it is.
#[test]
fn the_allowance_is_the_last_moment_at_which_a_reply_can_be_in_time() {
    for seed in 0..2000 {
        let control = any_clock(&mut Draws(mix(seed) & 0xFFFF_FFFF_FFFF));
        let clock = Clock::new(control);
        let is_in_time = |elapsed: Duration| { clock }.charge(elapsed).is_ok();
        let (allowance, ns) = (clock.allowance(), Duration::from_nanos(1));
        assert!(!is_in_time(allowance + ns), "{control:?}");
        // Where whole units are counted the end itself is late; and the least time may be more than there is.
        let rounds = control.accounting != Accounting::Milliseconds && control.is_timed();
        let spent = match rounds {
            true => control.least >= clock.ceiling(),
            false => control.is_timed() && control.least > clock.ceiling(),
        };
        assert_eq!(is_in_time(allowance), !rounds && !spent, "{control:?}");
        assert_eq!(is_in_time(allowance.saturating_sub(ns)), !spent, "{control:?}");
    }
}

#[test]
fn a_move_that_costs_more_than_there_is_by_its_least_time_loses_however_it_is_counted() {
    for accounting in [Accounting::Milliseconds, Accounting::Seconds] {
        let time = TimeControl {
            main: Duration::from_secs(5),
            least: Duration::from_secs(2),
            margin: Duration::from_millis(100),
            accounting,
            ..TimeControl::default()
        };
        let mut clock = Clock::new(time);
        let moves = (0..9).take_while(|_| clock.charge(Duration::from_millis(1)).is_ok()).count();
        assert_eq!(moves, 2, "{accounting:?}");
    }
}

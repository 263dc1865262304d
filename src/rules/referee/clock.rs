//! Clocks: main time, byoyomi, Fischer increment, delay; counted in milliseconds or in whole seconds.
//!
//! One [`Charged`] value comes out of every reply. It is deducted here, written in the record and sent to the
//! players, so that the three can never disagree.

use crate::Color;
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// The unit in which the time of a move is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accounting {
    /// To the millisecond; a reply is late when it uses *more* than what is left plus the margin.
    #[default]
    Milliseconds,
    /// In whole seconds, fractions dropped, as CSA servers count (CSA server protocol 1.2.1); using *exactly* what
    /// is left loses.
    Seconds,
    /// As with a stop-watch: a move costs whole multiples of the byoyomi (whole seconds without byoyomi), and the
    /// remainder is free. There is only main time, and using exactly what is left of it loses. shogi-server counts so
    /// in games whose name has a byoyomi with a leading zero, such as `-060`. The least time is applied before the
    /// multiples are counted.
    StopWatch,
}

/// The time one player has for a game. All durations zero and no limit: untimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeControl {
    /// Main time for the whole game.
    pub main: Duration,
    /// Byoyomi: time for each move once the main time is used up.
    pub byoyomi: Duration,
    /// Fischer increment, added for every move, the first included.
    pub increment: Duration,
    /// Time at the start of each move that is never charged.
    pub delay: Duration,
    /// Exact time for each move (`go movetime`); main time, byoyomi and increment are then zero.
    pub fixed: Option<Duration>,
    /// Nodes to search (`go nodes`).
    pub nodes: Option<u64>,
    /// By how many per cent the nodes of a move differ from [`Self::nodes`] at most, drawn anew for each move, so that
    /// engines that always answer alike do not repeat their games.
    #[serde(default)]
    pub jitter: u32,
    /// Depth to search in plies (`go depth`).
    pub depth: Option<u32>,
    /// Overrun of a move that is forgiven; it is not added to what is left.
    pub margin: Duration,
    /// How the time is counted.
    pub accounting: Accounting,
    /// Least time charged for a move.
    pub least: Duration,
    /// Time limit of a turn that only nodes or depth limit, so that no game hangs for ever.
    pub patience: Duration,
}

/// By how much the clocks of a machine are longer than those of the plan, because the machine is slower; in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Scale(u32);

impl Scale {
    /// The clocks of the plan.
    pub const ONE: Self = Self(1000);
    /// The shortest clocks: those of a machine that is four times as fast.
    pub const MIN: Self = Self(250);
    /// The longest clocks: those of a machine that is four times as slow.
    pub const MAX: Self = Self(4000);

    /// A scale in thousandths; `None` beyond the bounds.
    pub fn new(thousandths: u32) -> Option<Self> {
        (Self::MIN.0..=Self::MAX.0).contains(&thousandths).then_some(Self(thousandths))
    }

    /// The scale of a ratio of speeds; `None` beyond the bounds.
    pub fn of(ratio: f64) -> Option<Self> {
        // A float that is no number, or too large, becomes a number beyond the bounds.
        Self::new((ratio * 1000.0).round() as u32)
    }

    /// The scale in thousandths.
    pub fn thousandths(self) -> u32 {
        self.0
    }
}

/// Thousandths that are no scale of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} thousandths are no scale of clocks")]
pub struct NoScale(pub u32);

impl TryFrom<u32> for Scale {
    type Error = NoScale;

    fn try_from(thousandths: u32) -> Result<Self, NoScale> {
        Self::new(thousandths).ok_or(NoScale(thousandths))
    }
}

impl From<Scale> for u32 {
    fn from(scale: Scale) -> Self {
        scale.0
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 1000, self.0 % 1000 / 10)
    }
}

/// Time charged for one move: deducted, recorded and sent alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Charged(pub Duration);

/// The flag fell: the reply came too late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagFell;

/// One player's running clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    control: TimeControl,
    left: Duration,
}

/// The time that a player may use for its move: the content of a `go` line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Main time left by side, without the byoyomi and the increment of this move.
    pub left: [Duration; 2],
    /// Byoyomi by side.
    pub byoyomi: [Duration; 2],
    /// Increment by side.
    pub increment: [Duration; 2],
    /// Exact time for this move.
    pub fixed: Option<Duration>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Depth to search, in plies.
    pub depth: Option<u32>,
}

impl TimeControl {
    /// True if a clock runs at all (else only [`TimeControl::patience`] limits a move).
    pub fn is_timed(&self) -> bool {
        self.fixed.is_some() || self.main + self.byoyomi + self.increment > Duration::ZERO
    }

    /// True if the nodes of each move are drawn.
    pub fn is_jittered(&self) -> bool {
        self.nodes.is_some() && self.jitter > 0
    }

    /// The nodes of a move by 64 random bits: all numbers within the jitter with the same chance, at least 1.
    fn nodes_drawn(&self, random: u64) -> Option<u64> {
        let within = |nodes: u64| (u128::from(nodes) * u128::from(self.jitter) / 100) as u64;
        self.nodes.map(|nodes| match within(nodes) {
            0 => nodes,
            most => {
                let least = nodes.saturating_sub(most);
                least.saturating_add(random % most.saturating_mul(2).saturating_add(1)).max(1)
            }
        })
    }

    /// The ms of which every amount of time is a multiple, and what is left with it.
    pub fn unit_ms(&self) -> u64 {
        match self.accounting {
            Accounting::Milliseconds => 1,
            Accounting::Seconds | Accounting::StopWatch => 1000,
        }
    }

    /// The same time on a machine of another speed, in whole units of its accounting: at least one, where there is any.
    /// Nodes, depth and what is forgiven stay as they are.
    #[must_use]
    pub fn scaled(self, scale: Scale) -> Self {
        let unit = self.unit_ms();
        let to_units = |time: Duration| match u64::try_from(time.as_millis()).unwrap_or(u64::MAX) {
            0 => Duration::ZERO,
            ms => {
                let thousandths = ms.saturating_mul(scale.0.into());
                let units = thousandths.saturating_add(500 * unit) / (1000 * unit);
                Duration::from_millis(units.max(1) * unit)
            }
        };
        if scale == Scale::ONE {
            return self;
        }
        Self {
            main: to_units(self.main),
            byoyomi: to_units(self.byoyomi),
            increment: to_units(self.increment),
            delay: to_units(self.delay),
            fixed: self.fixed.map(to_units),
            ..self
        }
    }

    /// The time charged for a reply that took `elapsed`.
    fn counted(&self, elapsed: Duration) -> Duration {
        let net = elapsed.saturating_sub(self.delay);
        // CSA servers count whole units: rounding once, here, keeps our clock equal to theirs.
        match self.accounting {
            Accounting::Milliseconds => whole(net, Duration::from_millis(1)).max(self.least),
            Accounting::Seconds => whole(net, Duration::from_secs(1)).max(self.least),
            Accounting::StopWatch => whole(net.max(self.least), self.press()),
        }
    }

    /// The unit of a stop-watch.
    fn press(&self) -> Duration {
        if self.byoyomi.is_zero() { Duration::from_secs(1) } else { self.byoyomi }
    }
}

/// As many whole units as fit into `time`.
fn whole(time: Duration, unit: Duration) -> Duration {
    let rest = time.as_nanos().checked_rem(unit.as_nanos()).unwrap_or(0);
    time.saturating_sub(Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX)))
}

impl Clock {
    /// A clock at the start of a game.
    pub fn new(control: TimeControl) -> Self {
        Self { control, left: control.main }
    }

    /// A clock in mid-game, with `left` of the main time.
    pub fn resumed(control: TimeControl, left: Duration) -> Self {
        Self { control, left }
    }

    /// The time control of this clock.
    pub fn control(&self) -> &TimeControl {
        &self.control
    }

    /// Main time left.
    pub fn left(&self) -> Duration {
        self.left
    }

    /// The most a move may be charged: main time, byoyomi and increment together.
    fn ceiling(&self) -> Duration {
        match self.control.fixed {
            Some(fixed) => fixed,
            None if !self.control.is_timed() => self.control.patience,
            // A move is counted in whole presses: the last one begun may still be used up to its end.
            None if self.control.accounting == Accounting::StopWatch => {
                let begun = whole(self.left, self.control.press());
                if begun == self.left { begun } else { begun + self.control.press() }
            }
            None => self.left + self.control.byoyomi + self.control.increment,
        }
    }

    /// How long after the start of a turn a reply can still be in time (delay and margin included).
    pub fn allowance(&self) -> Duration {
        self.ceiling() + self.control.delay + self.control.margin
    }

    /// Charges a reply that took `elapsed`. Byoyomi is used after the main time; the increment counts from the first
    /// move on. An overrun within the margin is forgiven.
    ///
    /// # Errors
    /// [`FlagFell`] when the reply was late; the clock is then as it was.
    pub fn charge(&mut self, elapsed: Duration) -> Result<Charged, FlagFell> {
        let counted = self.control.counted(elapsed);
        if self.is_late(elapsed) {
            return Err(FlagFell);
        }
        if self.control.fixed.is_none() && self.control.is_timed() {
            self.left = (self.left + self.control.increment).saturating_sub(counted);
        }
        Ok(Charged(counted))
    }

    /// Takes over the time that a foreign server charged: the server has ruled, so nothing is late. If it names no
    /// time, the time is counted here.
    pub fn settle(&mut self, charged: Option<Duration>, elapsed: Duration) -> Charged {
        let charged = charged.unwrap_or_else(|| self.control.counted(elapsed));
        if self.control.fixed.is_none() && self.control.is_timed() {
            self.left = (self.left + self.control.increment).saturating_sub(charged);
        }
        Charged(charged)
    }

    /// Byoyomi is consumed only after the main time, so the comparison is with all time available for this move. A move
    /// that costs more than that by its least time alone is late however soon it comes.
    fn is_late(&self, elapsed: Duration) -> bool {
        let judged = self.control.counted(elapsed.saturating_sub(self.control.margin));
        match self.control.accounting {
            Accounting::Seconds | Accounting::StopWatch if self.control.is_timed() => {
                judged >= self.ceiling()
            }
            _ => elapsed > self.allowance() || (self.control.is_timed() && judged > self.ceiling()),
        }
    }
}

impl Budget {
    /// The budget of `color` with both clocks as they stand; jittered nodes are drawn by `random` bits.
    pub fn new(clocks: &[Clock; 2], color: Color, random: u64) -> Self {
        let own = clocks[color.index()].control;
        // The byoyomi of a stop-watch is its unit and adds nothing to the main time.
        let byoyomi = |control: &TimeControl| match control.accounting {
            Accounting::StopWatch => Duration::ZERO,
            Accounting::Milliseconds | Accounting::Seconds => control.byoyomi,
        };
        Self {
            left: [clocks[0].left, clocks[1].left],
            byoyomi: [byoyomi(&clocks[0].control), byoyomi(&clocks[1].control)],
            increment: [clocks[0].control.increment, clocks[1].control.increment],
            fixed: own.fixed,
            nodes: own.nodes_drawn(random),
            depth: own.depth,
        }
    }

    /// All time that `color` may use for this move; `None` without a clock.
    pub fn all(&self, color: Color) -> Option<Duration> {
        let own = color.index();
        let clock = self.left[own] + self.byoyomi[own] + self.increment[own];
        self.fixed.or((!clock.is_zero()).then_some(clock))
    }

    /// The budget without `time`: `color` loses it from the main time first, then from byoyomi and increment.
    #[must_use]
    pub fn without(mut self, time: Duration, color: Color) -> Self {
        let own = color.index();
        let rest = time.saturating_sub(self.left[own]);
        self.left[own] = self.left[own].saturating_sub(time);
        self.byoyomi[own] = self.byoyomi[own].saturating_sub(rest);
        self.increment[own] = self.increment[own].saturating_sub(rest);
        self
    }
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn csa(main: u64, byoyomi: u64, increment: u64) -> Clock {
        Clock::new(TimeControl {
            main: ms(main * 1000),
            byoyomi: ms(byoyomi * 1000),
            increment: ms(increment * 1000),
            accounting: Accounting::Seconds,
            ..TimeControl::default()
        })
    }

    #[test]
    fn byoyomi_comes_after_main_time_and_is_there_again_for_every_move() {
        let control = TimeControl { main: ms(1000), byoyomi: ms(500), ..TimeControl::default() };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(ms(800)), Ok(Charged(ms(800))));
        assert_eq!((clock.left(), clock.allowance()), (ms(200), ms(700)));
        assert_eq!(clock.charge(ms(700)), Ok(Charged(ms(700))), "exactly all of it is in time");
        assert_eq!(clock.left(), ms(0));
        assert_eq!(clock.charge(ms(501)), Err(FlagFell));
        assert_eq!(clock.charge(ms(500)), Ok(Charged(ms(500))));
    }

    #[test]
    fn a_machine_half_as_fast_has_twice_the_time_in_whole_units() {
        let control =
            TimeControl { main: ms(60_000), byoyomi: ms(101), margin: ms(50), ..TimeControl::default() };
        let slow = control.scaled(Scale::of(2.0).unwrap());
        assert_eq!((slow.main, slow.byoyomi, slow.margin), (ms(120_000), ms(202), ms(50)));
        let fast = control.scaled(Scale::of(0.5).unwrap());
        assert_eq!((fast.main, fast.byoyomi, fast.increment), (ms(30_000), ms(51), ms(0)));
        let seconds = csa(10, 1, 0).control.scaled(Scale::of(0.25).unwrap());
        assert_eq!((seconds.main, seconds.byoyomi), (ms(3000), ms(1000)), "no clock vanishes");
        assert_eq!(control.scaled(Scale::ONE), control);
    }

    #[test]
    fn a_machine_four_times_as_slow_is_the_slowest() {
        assert_eq!(Scale::of(4.0), Some(Scale::MAX));
        assert_eq!([4.001, 0.249, 0.0, -1.0, f64::NAN, f64::INFINITY].map(Scale::of), [None; 6]);
        assert_eq!(Scale::of(1.234).unwrap().to_string(), "1.23");
    }

    #[test]
    fn the_increment_is_there_for_the_first_move() {
        let control = TimeControl { main: ms(1000), increment: ms(200), ..TimeControl::default() };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(ms(1200)), Ok(Charged(ms(1200))));
        assert_eq!(clock.left(), ms(0));
        assert_eq!(clock.charge(ms(50)), Ok(Charged(ms(50))));
        assert_eq!(clock.left(), ms(150));
    }

    #[test]
    fn an_overrun_within_the_margin_is_forgiven_but_not_given() {
        let control = TimeControl { main: ms(100), margin: ms(50), ..TimeControl::default() };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(ms(150)), Ok(Charged(ms(150))));
        assert_eq!(clock.left(), ms(0));
        assert_eq!(clock.charge(ms(51)), Err(FlagFell));
    }

    /// The figures were recorded on the server that runs floodgate.
    #[test]
    fn whole_seconds_are_counted_as_csa_servers_do() {
        assert_eq!(csa(0, 3, 0).charge(ms(2800)), Ok(Charged(ms(2000))));
        assert_eq!(csa(0, 3, 0).charge(ms(3100)), Err(FlagFell));
        assert_eq!(csa(2, 3, 0).charge(ms(4990)), Ok(Charged(ms(4000))));
        assert_eq!(csa(2, 3, 0).charge(ms(5000)), Err(FlagFell), "using exactly the limit loses");
        let mut fischer = csa(2, 0, 3);
        assert_eq!(fischer.charge(ms(4500)), Ok(Charged(ms(4000))));
        assert_eq!(fischer.left(), ms(1000));
        assert_eq!(fischer.charge(ms(4100)), Err(FlagFell));
        assert_eq!(fischer.charge(ms(3900)), Ok(Charged(ms(3000))));
    }

    /// The first five were recorded on the server that runs floodgate, with six seconds and presses of two.
    #[test]
    fn a_stop_watch_counts_whole_presses_and_its_main_time_is_all_there_is() {
        let control = TimeControl { accounting: Accounting::StopWatch, ..csa(6, 2, 0).control };
        let mut clocks = [Clock::new(control); 2];
        for (ply, (took, charged)) in
            [(40, 0), (1900, 0), (3900, 2000), (2100, 2000), (3000, 2000)].into_iter().enumerate()
        {
            assert_eq!(clocks[ply % 2].charge(ms(took)), Ok(Charged(ms(charged))), "ply {ply}");
        }
        assert_eq!((clocks[0].left(), clocks[0].allowance()), (ms(2000), ms(2000)));
        assert_eq!(clocks[0].charge(ms(2000)), Err(FlagFell), "using exactly what is left loses");
        assert_eq!(clocks[0].charge(ms(1999)), Ok(Charged(ms(0))));
        assert_eq!(Budget::new(&clocks, Color::Black, 0).byoyomi, [ms(0), ms(0)]);
    }

    #[test]
    fn a_press_that_was_begun_may_be_used_to_its_end() {
        let control = TimeControl { accounting: Accounting::StopWatch, ..csa(5, 2, 0).control };
        let mut clock = Clock::new(control);
        assert_eq!(clock.allowance(), ms(6000));
        assert_eq!(clock.charge(ms(6000)), Err(FlagFell));
        assert_eq!(clock.charge(ms(5999)), Ok(Charged(ms(4000))));
        assert_eq!((clock.left(), clock.allowance()), (ms(1000), ms(2000)));
        assert_eq!(clock.charge(ms(2000)), Err(FlagFell));
    }

    #[test]
    fn a_stop_watch_without_a_press_counts_seconds() {
        let control =
            TimeControl { accounting: Accounting::StopWatch, least: ms(1000), ..csa(5, 0, 0).control };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(ms(3)), Ok(Charged(ms(1000))));
        assert_eq!(clock.charge(ms(4000)), Err(FlagFell));
        assert_eq!(clock.charge(ms(3999)), Ok(Charged(ms(3000))));
    }

    #[test]
    fn a_move_costs_at_least_the_least_time() {
        let mut clock = csa(10, 0, 0);
        clock.control.least = ms(1000);
        assert_eq!(clock.charge(ms(3)), Ok(Charged(ms(1000))));
        assert_eq!(clock.left(), ms(9000));
    }

    #[test]
    fn the_delay_is_never_charged() {
        let control = TimeControl { main: ms(100), delay: ms(30), ..TimeControl::default() };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(ms(30)), Ok(Charged(ms(0))));
        assert_eq!(clock.charge(ms(130)), Ok(Charged(ms(100))));
    }

    #[test]
    fn jittered_nodes_fill_their_range_and_are_the_same_for_the_same_bits() {
        let control = TimeControl { nodes: Some(200), jitter: 3, ..TimeControl::default() };
        let clocks = [Clock::new(control); 2];
        let drawn = |random| Budget::new(&clocks, Color::White, random).nodes.unwrap();
        let seen: std::collections::BTreeSet<u64> = (0..2000).map(|n| drawn(rating::mix::mix(n))).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), (194..=206).collect::<Vec<_>>());
        assert_eq!(drawn(12_345), drawn(12_345));
        let all = TimeControl { nodes: Some(u64::MAX), jitter: 50, ..control };
        assert!(all.nodes_drawn(u64::MAX).is_some() && all.is_jittered());
        let plain = TimeControl { jitter: 0, ..control };
        assert_eq!((plain.nodes_drawn(7), plain.is_jittered()), (Some(200), false));
    }

    #[test]
    fn a_turn_limited_only_by_nodes_ends_when_patience_does() {
        let control = TimeControl { nodes: Some(1000), patience: ms(60_000), ..TimeControl::default() };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(ms(60_000)), Ok(Charged(ms(60_000))));
        assert_eq!(clock.charge(ms(60_001)), Err(FlagFell));
        assert_eq!(clock.left(), ms(0));
    }

    #[test]
    fn fixed_time_is_the_same_for_every_move() {
        let control = TimeControl { fixed: Some(ms(100)), margin: ms(10), ..TimeControl::default() };
        let mut clock = Clock::new(control);
        assert_eq!(clock.charge(ms(110)), Ok(Charged(ms(110))));
        assert_eq!(clock.charge(ms(110)), Ok(Charged(ms(110))));
        assert_eq!(clock.charge(ms(111)), Err(FlagFell));
    }

    #[test]
    fn a_foreign_server_has_the_last_word_on_the_time_and_none_is_late() {
        let control = TimeControl { main: ms(10_000), increment: ms(2000), ..csa(0, 0, 0).control };
        let mut clock = Clock::resumed(control, ms(4000));
        assert_eq!(clock.settle(Some(ms(3000)), ms(9900)), Charged(ms(3000)));
        assert_eq!(clock.left(), ms(3000));
        assert_eq!(
            clock.settle(None, ms(1999)),
            Charged(ms(1000)),
            "counted here where the server is silent"
        );
        assert_eq!(clock.left(), ms(4000));
        assert_eq!(clock.settle(Some(ms(60_000)), ms(1)), Charged(ms(60_000)));
        assert_eq!(clock.left(), ms(0));
        let fixed = TimeControl { fixed: Some(ms(100)), ..TimeControl::default() };
        let mut clock = Clock::resumed(fixed, ms(7));
        clock.settle(Some(ms(90)), ms(90));
        assert_eq!(clock.left(), ms(7), "a fixed time is the same for every move");
        let mut untimed = Clock::resumed(TimeControl { patience: ms(9), ..TimeControl::default() }, ms(7));
        untimed.settle(Some(ms(90)), ms(90));
        assert_eq!(untimed.left(), ms(7));
    }

    #[test]
    fn a_clock_runs_as_soon_as_one_of_its_times_is_there() {
        let one = ms(1);
        let plain =
            TimeControl { delay: one, margin: one, least: one, patience: one, ..TimeControl::default() };
        assert!(!plain.is_timed());
        for timed in [
            TimeControl { main: one, ..plain },
            TimeControl { byoyomi: one, ..plain },
            TimeControl { increment: one, ..plain },
            TimeControl { fixed: Some(one), ..plain },
        ] {
            assert!(timed.is_timed(), "{timed:?}");
        }
    }

    #[test]
    fn go_has_the_clocks_of_both_colours_and_the_limits_of_the_one_that_moves() {
        let black = TimeControl {
            main: ms(10_000),
            byoyomi: ms(1000),
            increment: ms(300),
            fixed: Some(ms(7)),
            nodes: Some(500),
            depth: Some(5),
            ..TimeControl::default()
        };
        let white =
            TimeControl { main: ms(20_000), byoyomi: ms(2000), increment: ms(400), ..TimeControl::default() };
        let clocks = [Clock::resumed(black, ms(9000)), Clock::resumed(white, ms(18_000))];
        let both = Budget {
            left: [ms(9000), ms(18_000)],
            byoyomi: [ms(1000), ms(2000)],
            increment: [ms(300), ms(400)],
            ..Budget::default()
        };
        let limits = Budget { fixed: Some(ms(7)), nodes: Some(500), depth: Some(5), ..both };
        assert_eq!(Budget::new(&clocks, Color::Black, 0), limits);
        assert_eq!(Budget::new(&clocks, Color::White, 0), both);
        // The presses of a stop-watch are not added to anybody's time, whoever has one.
        let watch = Clock::resumed(TimeControl { accounting: Accounting::StopWatch, ..white }, ms(18_000));
        let seen =
            [Color::Black, Color::White].map(|color| Budget::new(&[clocks[0], watch], color, 0).byoyomi);
        assert_eq!(seen, [[ms(1000), ms(0)]; 2]);
        assert_eq!(Budget::new(&[watch, clocks[1]], Color::White, 0).byoyomi, [ms(0), ms(2000)]);

        assert_eq!(
            [Color::Black, Color::White].map(|color| both.all(color)),
            [Some(ms(10_300)), Some(ms(20_400))]
        );
        assert_eq!(limits.all(Color::Black), Some(ms(7)), "a fixed time is all there is");
        assert_eq!(Budget::default().all(Color::Black), None);
    }

    #[test]
    fn time_that_is_taken_from_a_budget_comes_from_the_main_time_first() {
        let all = Budget {
            left: [ms(100), ms(200)],
            byoyomi: [ms(50), ms(60)],
            increment: [ms(30), ms(40)],
            ..Budget::default()
        };
        let without = |time| {
            let Budget { left, byoyomi, increment, .. } = all.without(ms(time), Color::White);
            assert_eq!(
                [left[0], byoyomi[0], increment[0]],
                [ms(100), ms(50), ms(30)],
                "black keeps what it has"
            );
            [left[1], byoyomi[1], increment[1]]
        };
        assert_eq!(without(0), [200, 60, 40].map(ms));
        assert_eq!(without(200), [0, 60, 40].map(ms));
        assert_eq!(without(225), [0, 35, 15].map(ms));
        assert_eq!(without(1000), [0, 0, 0].map(ms));
    }

    #[test]
    fn every_time_of_a_clock_is_scaled_in_its_unit() {
        let control = TimeControl {
            main: ms(10_000),
            byoyomi: ms(3000),
            increment: ms(1000),
            delay: ms(301),
            fixed: Some(ms(150)),
            ..csa(0, 0, 0).control
        };
        let scaled = control.scaled(Scale::of(1.5).unwrap());
        assert_eq!((scaled.main, scaled.byoyomi, scaled.increment), (ms(15_000), ms(5000), ms(2000)));
        assert_eq!(
            (scaled.delay, scaled.fixed),
            (ms(1000), Some(ms(1000))),
            "whole seconds, and one at least"
        );
        let least = TimeControl { delay: ms(1), ..TimeControl::default() }.scaled(Scale::MIN);
        assert_eq!((least.delay, least.main, least.fixed), (ms(1), ms(0), None));
        assert_eq!([TimeControl::default().unit_ms(), control.unit_ms()], [1, 1000]);
        let watch = TimeControl { accounting: Accounting::StopWatch, ..control };
        assert_eq!(watch.unit_ms(), 1000);
    }

    #[test]
    fn a_scale_is_within_four_times_either_way_and_is_read_back() {
        let edges =
            [249, 250, 1000, 4000, 4001].map(|thousandths| Scale::new(thousandths).map(Scale::thousandths));
        assert_eq!(edges, [None, Some(250), Some(1000), Some(4000), None]);
        assert_eq!(
            (Scale::MIN.thousandths(), Scale::ONE.thousandths(), Scale::MAX.thousandths()),
            (250, 1000, 4000)
        );
        assert_eq!(Scale::try_from(249), Err(NoScale(249)));
        assert_eq!(Scale::try_from(1059).map(u32::from), Ok(1059));
        assert_eq!(
            [250, 1059, 1999, 4000].map(|scale| Scale(scale).to_string()),
            ["0.25", "1.05", "1.99", "4.00"]
        );
    }

    #[test]
    fn a_jitter_that_is_less_than_a_node_draws_nothing_and_no_search_has_none() {
        let drawn = |nodes, jitter, random| {
            TimeControl { nodes: Some(nodes), jitter, ..TimeControl::default() }.nodes_drawn(random)
        };
        assert_eq!(
            (drawn(33, 3, 5), drawn(34, 3, 0), drawn(34, 3, 1), drawn(34, 3, 2)),
            (Some(33), Some(33), Some(34), Some(35))
        );
        assert_eq!((drawn(2, 100, 0), drawn(2, 100, 4), drawn(2, 100, 5)), (Some(1), Some(4), Some(1)));
        assert_eq!(TimeControl::default().nodes_drawn(5), None);
        let jittered = TimeControl { nodes: Some(1), jitter: 1, ..TimeControl::default() };
        assert!(jittered.is_jittered() && !TimeControl { nodes: None, ..jittered }.is_jittered());
    }
}

//! Search limits: the `go` line, the time budget derived from it, and the running clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rsshogi::types::Color;

use crate::policy::{OwnClock, Seen, TimePolicy};

/// The limits of a `go` line. Times are as sent: without byoyomi and without the increment of this move.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Black's remaining time.
    pub btime: Option<Duration>,
    /// White's remaining time.
    pub wtime: Option<Duration>,
    /// Time per move once the remaining time is used up.
    pub byoyomi: Option<Duration>,
    /// Black's increment per move.
    pub binc: Option<Duration>,
    /// White's increment per move.
    pub winc: Option<Duration>,
    /// Exact time for this move.
    pub movetime: Option<Duration>,
    /// Maximum depth in plies.
    pub depth: Option<u32>,
    /// Maximum number of nodes.
    pub nodes: Option<u64>,
    /// Search until `stop`.
    pub infinite: bool,
    /// The opponent's time is running; the times count from `ponderhit`.
    pub ponder: bool,
    /// Set for `go mate`: search for a mate instead of a move.
    pub mate: Option<MateLimit>,
}

/// Time limit of `go mate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MateLimit {
    /// Until `stop`.
    Infinite,
    /// This long.
    Within(Duration),
}

impl Limits {
    /// Parses a `go` line. Unknown words and unreadable numbers are skipped, as the protocol demands; a
    /// negative time, which some managers send after a flag fall, counts as zero.
    pub fn parse(line: &str) -> Self {
        let mut limits = Self::default();
        let mut words = line.split_ascii_whitespace().skip_while(|&word| word == "go").peekable();
        while let Some(word) = words.next() {
            let value = words.peek().copied();
            limits.set(word, value);
        }
        limits
    }

    fn set(&mut self, word: &str, value: Option<&str>) {
        match word {
            "btime" => self.btime = millis(value),
            "wtime" => self.wtime = millis(value),
            "byoyomi" => self.byoyomi = millis(value),
            "binc" => self.binc = millis(value),
            "winc" => self.winc = millis(value),
            "movetime" => self.movetime = millis(value),
            "depth" => self.depth = value.and_then(|text| text.parse().ok()),
            "nodes" => self.nodes = value.and_then(|text| text.parse().ok()),
            "infinite" => self.infinite = true,
            "ponder" => self.ponder = true,
            "mate" => self.mate = Some(millis(value).map_or(MateLimit::Infinite, MateLimit::Within)),
            _ => {}
        }
    }

    /// Overwrites times with those of `other` that are present: `ponderhit` may carry new times.
    pub fn refresh_times(&mut self, other: &Self) {
        let fresh = |old: &mut Option<Duration>, new: Option<Duration>| *old = new.or(*old);
        fresh(&mut self.btime, other.btime);
        fresh(&mut self.wtime, other.wtime);
        fresh(&mut self.byoyomi, other.byoyomi);
        fresh(&mut self.binc, other.binc);
        fresh(&mut self.winc, other.winc);
    }

    /// The time budget for `mover`'s move at `ply` (from 1), or `None` if time does not limit the search.
    ///
    /// `policy` divides a clock; an exact time is used up. `delay` is deducted for the latency between engine and
    /// clock, as in [`TimePolicy::budget`].
    pub fn budget(
        &self,
        policy: &TimePolicy,
        mover: Color,
        ply: u32,
        seen: Seen,
        delay: Duration,
    ) -> Option<Budget> {
        if self.infinite {
            return None;
        }
        let exact = match self.mate {
            Some(MateLimit::Infinite) => return None,
            Some(MateLimit::Within(time)) => Some(time),
            None => self.movetime,
        };
        if let Some(time) = exact {
            let time = time.saturating_sub(delay.min(time / 2));
            return Some(Budget { soft: time, hard: time });
        }
        let (time, increment) = match mover {
            Color::Black => (self.btime, self.binc),
            Color::White => (self.wtime, self.winc),
        };
        if time.is_none() && increment.is_none() && self.byoyomi.is_none() {
            return None;
        }
        let [time, byoyomi, increment] = [time, self.byoyomi, increment].map(Option::unwrap_or_default);
        Some(policy.budget(OwnClock { time, byoyomi, increment }, ply, seen, delay))
    }
}

fn millis(text: Option<&str>) -> Option<Duration> {
    let millis: i64 = text?.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// Time budget of one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// After this time no new iteration is started.
    pub soft: Duration,
    /// After this time the search must end.
    pub hard: Duration,
}

/// A budget and the time used of it, excluding pondering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spending {
    /// Time since the budget started.
    pub spent: Duration,
    /// The budget.
    pub budget: Budget,
}

/// The clock of one search. Clones share its state, so each search thread can hold one.
#[derive(Clone, Debug)]
pub struct Clock {
    begun: Instant,
    stop: Arc<AtomicBool>,
    deadlines: Arc<Deadlines>,
}

/// Deadlines in microseconds after `begun`; `NEVER` if absent.
#[derive(Debug)]
struct Deadlines {
    /// Start of the budget.
    from: AtomicU64,
    soft: AtomicU64,
    hard: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl Clock {
    /// A clock started at `begun`. Without a budget it ends only by [`stop`](Self::stop).
    pub fn start(begun: Instant, budget: Option<Budget>) -> Self {
        let never = || AtomicU64::new(NEVER);
        let deadlines = Deadlines { from: never(), soft: never(), hard: never() };
        let clock = Self { begun, stop: Arc::default(), deadlines: Arc::new(deadlines) };
        clock.allow(begun, budget);
        clock
    }

    /// Starts `budget` at `from`: at `go`, or at `ponderhit`.
    pub fn allow(&self, from: Instant, budget: Option<Budget>) {
        let gone = from.saturating_duration_since(self.begun);
        let at = |time: Duration| u64::try_from((gone + time).as_micros()).unwrap_or(NEVER);
        self.deadlines.from.store(at(Duration::ZERO), Ordering::Relaxed);
        self.deadlines.soft.store(budget.map_or(NEVER, |budget| at(budget.soft)), Ordering::Relaxed);
        self.deadlines.hard.store(budget.map_or(NEVER, |budget| at(budget.hard)), Ordering::Relaxed);
    }

    /// True if the search must end now: it was stopped, or the hard limit has passed.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_past(&self.deadlines.hard)
    }

    /// The budget and the time used of it, for engines with time management of their own; `None` if time does
    /// not limit the search.
    pub fn spending(&self) -> Option<Spending> {
        let load = |micros: &AtomicU64| micros.load(Ordering::Relaxed);
        let from = load(&self.deadlines.from);
        let after = |micros: u64| Duration::from_micros(micros.saturating_sub(from));
        let (soft, hard) = (load(&self.deadlines.soft), load(&self.deadlines.hard));
        let spent = self.elapsed().saturating_sub(Duration::from_micros(from));
        (soft != NEVER).then(|| Spending { spent, budget: Budget { soft: after(soft), hard: after(hard) } })
    }

    /// True if the soft limit has passed, so that no new iteration should start.
    pub fn is_winding_up(&self) -> bool {
        self.is_stopped() || self.is_past(&self.deadlines.soft)
    }

    fn is_past(&self, deadline: &AtomicU64) -> bool {
        let deadline = deadline.load(Ordering::Relaxed);
        deadline != NEVER && self.elapsed().as_micros() >= u128::from(deadline)
    }

    /// Time since the `go` line was read, pondering included.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Orders the search to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Sleeps until `elapsed` reaches `time`, or until stopped.
    pub fn wait_until(&self, time: Duration) {
        while let Some(left) = time.checked_sub(self.elapsed()).filter(|left| !left.is_zero()) {
            if self.is_stopped() {
                break;
            }
            std::thread::sleep(left.min(Duration::from_millis(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn budget(line: &str, mover: Color, delay: u64) -> Option<(u128, u128)> {
        let budget =
            Limits::parse(line).budget(&TimePolicy::default(), mover, 1, Seen::default(), ms(delay))?;
        Some((budget.soft.as_millis(), budget.hard.as_millis()))
    }

    #[test]
    fn a_go_line_is_read_whole() {
        let limits = Limits::parse("go ponder btime 1000 wtime -5 binc 10 winc 20 depth 9 nodes 77");
        assert_eq!(limits.btime, Some(ms(1000)));
        assert_eq!(limits.wtime, Some(ms(0)));
        assert_eq!((limits.binc, limits.winc), (Some(ms(10)), Some(ms(20))));
        assert_eq!((limits.depth, limits.nodes, limits.ponder), (Some(9), Some(77), true));
        assert_eq!(Limits::parse("go mate infinite").mate, Some(MateLimit::Infinite));
        assert_eq!(Limits::parse("go mate 500").mate, Some(MateLimit::Within(ms(500))));
        assert_eq!(Limits::parse("go searchmoves 7g7f btime x"), Limits::default());
    }

    #[test]
    fn each_side_plans_with_its_own_time() {
        let line = "go btime 60000 wtime 6000 binc 1000 winc 100";
        assert_eq!(budget(line, Color::Black, 0), Some((2000, 13000)));
        assert_eq!(budget(line, Color::White, 0), Some((200, 1300)));
    }

    #[test]
    fn byoyomi_is_used_up_but_for_the_delay() {
        assert_eq!(budget("go btime 0 wtime 0 byoyomi 1000", Color::Black, 50), Some((950, 950)));
        assert_eq!(budget("go byoyomi 60", Color::White, 50), Some((30, 30)));
    }

    #[test]
    fn the_increment_of_this_move_is_never_spent_before_it_is_gained() {
        assert_eq!(budget("go btime 100 wtime 100 binc 5000 winc 5000", Color::Black, 20), Some((80, 80)));
    }

    #[test]
    fn only_time_makes_a_budget() {
        for line in ["go", "go depth 3", "go nodes 1000", "go infinite", "go mate infinite"] {
            assert_eq!(budget(line, Color::Black, 0), None, "{line}");
        }
        assert_eq!(budget("go movetime 300", Color::Black, 100), Some((200, 200)));
    }

    #[test]
    fn a_clock_stops_at_its_limit_or_when_stopped() {
        let begun = Instant::now() - ms(500);
        let clock = Clock::start(begun, Some(Budget { soft: ms(400), hard: ms(3_600_000) }));
        assert!(clock.is_winding_up() && !clock.is_stopped());
        clock.clone().stop();
        assert!(clock.is_stopped());
        assert!(Clock::start(begun, Some(Budget { soft: ms(1), hard: ms(500) })).is_stopped());
        assert!(!Clock::start(begun, None).is_winding_up());
    }

    #[test]
    fn a_ponderhit_starts_the_time() {
        let begun = Instant::now() - ms(500);
        let clock = Clock::start(begun, None);
        clock.allow(Instant::now(), Some(Budget { soft: ms(3_600_000), hard: ms(3_600_000) }));
        assert!(!clock.is_winding_up());
        clock.allow(begun, Some(Budget { soft: ms(1), hard: ms(1) }));
        assert!(clock.is_stopped());
    }

    #[test]
    fn pondering_time_is_not_spent() {
        let begun = Instant::now() - ms(3_600_000);
        let clock = Clock::start(begun, None);
        assert_eq!(clock.spending(), None);
        let budget = Budget { soft: ms(7), hard: ms(9) };
        clock.allow(begun + ms(3_600_000), Some(budget));
        let spending = clock.spending().unwrap();
        assert_eq!(spending.budget, budget);
        assert!(spending.spent < ms(3_600_000));
    }
}

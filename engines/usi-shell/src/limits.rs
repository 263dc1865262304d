//! How long and how deep to think: the `go` line, the plan made of it, and the clock that runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rsshogi::types::Color;

/// What a `go` line allows. Times as sent: without the byoyomi, and without the coming increment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Black's remaining time.
    pub btime: Option<Duration>,
    /// White's remaining time.
    pub wtime: Option<Duration>,
    /// Time for each move once the remaining time is used up.
    pub byoyomi: Option<Duration>,
    /// What Black gains after each move.
    pub binc: Option<Duration>,
    /// What White gains after each move.
    pub winc: Option<Duration>,
    /// Exact time for this move.
    pub movetime: Option<Duration>,
    /// Greatest depth in plies.
    pub depth: Option<u32>,
    /// Greatest number of positions.
    pub nodes: Option<u64>,
    /// Think until told to stop.
    pub infinite: bool,
    /// The opponent's time is running; the times count from `ponderhit`.
    pub ponder: bool,
    /// Not a move but a mate is asked for.
    pub mate: Option<MateLimit>,
}

/// How long `go mate` may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MateLimit {
    /// Until told to stop.
    Infinite,
    /// This long.
    Within(Duration),
}

impl Limits {
    /// Reads a `go` line. Unknown words and unreadable numbers are skipped, as the protocol asks; a
    /// negative time, which some managers send for a lost flag, is no time.
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

    /// Takes the times of `other` where it has any: `ponderhit` may carry fresh ones.
    pub fn refresh_times(&mut self, other: &Self) {
        let fresh = |old: &mut Option<Duration>, new: Option<Duration>| *old = new.or(*old);
        fresh(&mut self.btime, other.btime);
        fresh(&mut self.wtime, other.wtime);
        fresh(&mut self.byoyomi, other.byoyomi);
        fresh(&mut self.binc, other.binc);
        fresh(&mut self.winc, other.winc);
    }

    /// The time for `mover`'s move at `ply` (from 1), or `None` where time does not end the search.
    ///
    /// `delay` of every move is lost between engine and clock; it is kept back, but never more than
    /// half of what there is, so that a short byoyomi still leaves time to think.
    pub fn budget(&self, mover: Color, ply: u32, delay: Duration) -> Option<Budget> {
        let keep_back = |time: Duration| time.saturating_sub(delay.min(time / 2));
        if self.infinite {
            return None;
        }
        let exact = match self.mate {
            Some(MateLimit::Infinite) => return None,
            Some(MateLimit::Within(time)) => Some(time),
            None => self.movetime,
        };
        if let Some(time) = exact {
            return Some(Budget { soft: keep_back(time), hard: keep_back(time) });
        }
        let (time, increment) = match mover {
            Color::Black => (self.btime, self.binc),
            Color::White => (self.wtime, self.winc),
        };
        if time.is_none() && increment.is_none() && self.byoyomi.is_none() {
            return None;
        }
        let time = time.unwrap_or_default();
        let (increment, byoyomi) = (increment.unwrap_or_default(), self.byoyomi.unwrap_or_default());
        // The increment comes after the move, so it cannot be spent on it, only planned with.
        let all = keep_back(time + byoyomi);
        let soft = time / moves_to_come(ply) + increment + byoyomi;
        let hard = time / 5 + increment + byoyomi;
        Some(Budget { soft: soft.min(all), hard: hard.min(all) })
    }
}

/// How many own moves the remaining time should last. Games of shogi engines take 110 to 150 plies on
/// average, and one that has gone on for long may go on for longer: never plan for fewer than 20.
fn moves_to_come(ply: u32) -> u32 {
    60_u32.saturating_sub(ply / 2).max(20)
}

fn millis(text: Option<&str>) -> Option<Duration> {
    let millis: i64 = text?.parse().ok()?;
    Some(Duration::from_millis(u64::try_from(millis).unwrap_or(0)))
}

/// The time for one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// When it is spent, do not begin anything new.
    pub soft: Duration,
    /// When it is spent, answer.
    pub hard: Duration,
}

/// A budget and what is spent of it, pondering not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spending {
    /// Time since the budget began to run.
    pub spent: Duration,
    /// The budget.
    pub budget: Budget,
}

/// The running time of one search; clones share it, so every thread of an engine can hold one.
#[derive(Clone, Debug)]
pub struct Clock {
    begun: Instant,
    stop: Arc<AtomicBool>,
    deadlines: Arc<Deadlines>,
}

/// Microseconds after `begun`; `NEVER` while there is no such deadline.
#[derive(Debug)]
struct Deadlines {
    /// When the budget began to run.
    from: AtomicU64,
    soft: AtomicU64,
    hard: AtomicU64,
}

const NEVER: u64 = u64::MAX;

impl Clock {
    /// Starts a clock that began at `begun`. Without a budget only [`stop`](Self::stop) ends it.
    pub fn start(begun: Instant, budget: Option<Budget>) -> Self {
        let never = || AtomicU64::new(NEVER);
        let deadlines = Deadlines { from: never(), soft: never(), hard: never() };
        let clock = Self { begun, stop: Arc::default(), deadlines: Arc::new(deadlines) };
        clock.allow(begun, budget);
        clock
    }

    /// Lets `budget` run from `from`: at the beginning, or at `ponderhit`.
    pub fn allow(&self, from: Instant, budget: Option<Budget>) {
        let gone = from.saturating_duration_since(self.begun);
        let at = |time: Duration| u64::try_from((gone + time).as_micros()).unwrap_or(NEVER);
        self.deadlines.from.store(at(Duration::ZERO), Ordering::Relaxed);
        self.deadlines.soft.store(budget.map_or(NEVER, |budget| at(budget.soft)), Ordering::Relaxed);
        self.deadlines.hard.store(budget.map_or(NEVER, |budget| at(budget.hard)), Ordering::Relaxed);
    }

    /// Whether the engine must answer now: it was told to, or its time is used up.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_past(&self.deadlines.hard)
    }

    /// The budget with the part of it that is spent, for an engine that plans on its own; `None` where
    /// time does not end the search.
    pub fn spending(&self) -> Option<Spending> {
        let load = |micros: &AtomicU64| micros.load(Ordering::Relaxed);
        let from = load(&self.deadlines.from);
        let after = |micros: u64| Duration::from_micros(micros.saturating_sub(from));
        let (soft, hard) = (load(&self.deadlines.soft), load(&self.deadlines.hard));
        let spent = self.elapsed().saturating_sub(Duration::from_micros(from));
        (soft != NEVER).then(|| Spending { spent, budget: Budget { soft: after(soft), hard: after(hard) } })
    }

    /// Whether it is too late to begin something long, such as another depth.
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

    /// Tells the engine to answer now.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The flag behind [`stop`](Self::stop), for code that wants no more than a flag. It knows nothing
    /// of the time.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
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
        let budget = Limits::parse(line).budget(mover, 1, ms(delay))?;
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
    fn a_clock_stops_at_its_limit_or_when_told() {
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
    fn what_was_pondered_is_not_spent() {
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

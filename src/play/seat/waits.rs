//! For how long an engine waits for a processor: time that no limit counts.
//!
//! The kernel adds a wait to its count when it is over. An engine that waits while its limit ends is therefore looked at again
//! and again: a thread that is ready to run waits if none of the engine has run since the look before.

use platform::usage::{self, Thread};
use std::time::Duration;
use tokio::time::Instant;

/// Age from which the waits are read anew: reading them takes as long as some moves.
const KNOWN: Duration = Duration::from_millis(20);
/// Time between two looks at a late engine.
pub(crate) const LOOK: Duration = Duration::from_millis(20);
/// Time for an answer after the end of a wait.
const MOMENT: Duration = Duration::from_millis(100);
/// The longest wait for an engine, in limits of time.
const MOST: u32 = 10;

/// The waits of an engine's processes; nothing is known of an engine elsewhere, and where the system does not count.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// The process that leads the engine, and those that it has started.
    processes: Vec<u32>,
    /// At the begin of the turn, or a moment before.
    begun: Option<(Instant, Vec<Thread>)>,
    /// At the last look of a turn.
    looked: Option<Look>,
    /// Time between looks in which the engine was seen to wait.
    seen: Duration,
    /// As much of it as was followed by a moment for the answer.
    told: Duration,
}

#[derive(Debug)]
struct Look {
    at: Instant,
    ran: Duration,
    is_ready: bool,
}

impl Waits {
    /// Those of an engine that is led by this process.
    pub fn of(leader: Option<u32>) -> Self {
        Self { processes: leader.map(system::family).unwrap_or_default(), ..Self::default() }
    }

    /// Notes that something is asked of the engine.
    pub fn begin(&mut self) {
        (self.looked, self.seen, self.told) = (None, Duration::ZERO, Duration::ZERO);
        let is_known = self.begun.as_ref().is_some_and(|(at, _)| at.elapsed() < KNOWN);
        if !self.processes.is_empty() && !is_known {
            self.begun = Some((Instant::now(), self.read()));
        }
    }

    fn read(&self) -> Vec<Thread> {
        self.processes.iter().filter_map(|process| system::threads(*process)).flatten().collect()
    }

    /// For how long a thread of the engine has waited since it was asked at that moment, at least: what it may have waited
    /// between the last reading and that moment is left out.
    pub fn since(&self, asked: Instant) -> Duration {
        let Some((at, before)) = &self.begun else { return Duration::ZERO };
        let ended = usage::waited(before, &self.read()).saturating_sub(asked.saturating_duration_since(*at));
        ended.max(self.seen)
    }

    /// For how much longer to wait for an engine that was asked at that moment, after the limit of its answer: as long as it
    /// waited for a processor, and as long as it may be waiting for one now. `None` when its time is up.
    pub fn more(&mut self, asked: Instant, limit: Duration) -> Option<Duration> {
        // What it has started meanwhile.
        self.processes = self.processes.first().map(|leader| system::family(*leader)).unwrap_or_default();
        let elapsed = asked.elapsed();
        let rest = limit.saturating_mul(MOST).checked_sub(elapsed).filter(|rest| !rest.is_zero())?;
        let could_run = elapsed.saturating_sub(self.since(asked));
        let more = match limit.checked_sub(could_run).filter(|more| !more.is_zero()) {
            Some(more) => more.max(LOOK),
            None => self.look().then_some(LOOK)?,
        };
        Some(more.min(rest))
    }

    /// For how much longer to wait for an answer that is too late: while the engine waits for a processor, and a moment longer,
    /// so that the system has counted the wait.
    pub fn a_moment(&mut self, asked: Instant, limit: Duration) -> Option<Duration> {
        let seen = self.seen;
        let rest = limit.saturating_mul(MOST).checked_sub(asked.elapsed()).filter(|rest| !rest.is_zero())?;
        let more = match self.look() {
            true => LOOK,
            false if self.told < seen => MOMENT,
            false => return None,
        };
        self.told = if more == LOOK { self.told } else { seen };
        Some(more.min(rest))
    }

    /// True if the engine may be waiting for a processor.
    fn look(&mut self) -> bool {
        let ran = self.read().iter().map(|thread| thread.ran).sum();
        let is_ready = self.processes.iter().any(|process| system::is_ready(*process));
        let now = Look { at: Instant::now(), ran, is_ready };
        match self.looked.replace(now) {
            Some(last) if last.is_ready && is_ready && last.ran == ran => {
                self.seen += last.at.elapsed();
                true
            }
            Some(_) => false,
            None => is_ready,
        }
    }
}

#[cfg(not(test))]
use usage as system;

/// Processes of scripts.
#[cfg(test)]
pub(crate) mod system {
    use super::Thread;
    use std::cell::RefCell;

    /// The thread of a script, and whether it is ready to run.
    pub type State = Box<dyn Fn() -> (Thread, bool)>;

    /// The process of every script.
    pub const SCRIPT: u32 = 7;

    thread_local! {
        /// Its thread.
        pub static STATE: RefCell<Option<State>> = const { RefCell::new(None) };
    }

    pub fn threads(_process: u32) -> Option<Vec<Thread>> {
        STATE.with_borrow(|state| state.as_ref().map(|state| vec![state().0]))
    }

    pub fn is_ready(_process: u32) -> bool {
        STATE.with_borrow(|state| state.as_ref().is_some_and(|state| state().1))
    }

    pub fn family(process: u32) -> Vec<u32> {
        vec![process]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const SECOND: Duration = Duration::from_secs(1);

    /// For how long an engine with this state is waited for beyond a limit of a second.
    async fn waited(state: impl Fn(Duration) -> (Duration, Duration, bool) + 'static) -> Duration {
        waited_by(Waits::more, state).await.0
    }

    /// The same by one of both ways; and for how long it is known to have waited by then.
    async fn waited_by(
        way: fn(&mut Waits, Instant, Duration) -> Option<Duration>,
        state: impl Fn(Duration) -> (Duration, Duration, bool) + 'static,
    ) -> (Duration, Duration) {
        let asked = Instant::now();
        let state = move || {
            let (ran, queued, is_ready) = state(asked.elapsed());
            (Thread { id: 1, ran, queued }, is_ready)
        };
        system::STATE.set(Some(Box::new(state)));
        let mut waits = Waits::of(Some(system::SCRIPT));
        waits.begin();
        advance(SECOND).await;
        while let Some(more) = way(&mut waits, asked, SECOND) {
            advance(more).await;
        }
        (asked.elapsed() - SECOND, waits.since(asked))
    }

    #[tokio::test(start_paused = true)]
    async fn a_flag_that_falls_while_an_engine_waits_for_a_processor_shows_for_how_long_it_waits() {
        let zero = Duration::ZERO;
        let late = |state: fn(Duration) -> (Duration, Duration, bool)| waited_by(Waits::a_moment, state);
        assert_eq!(late(|_| (Duration::ZERO, Duration::ZERO, false)).await, (zero, zero), "it sleeps");
        assert_eq!(late(|now| (now, Duration::ZERO, true)).await, (LOOK, zero), "it computes");
        // It computes for a while, waits, and sleeps when it has answered.
        let (more, waited) = late(|now| {
            let (early, wait) = (now.min(SECOND / 2), 2 * SECOND);
            let is_over = now >= early + wait;
            let queued = if is_over { wait } else { Duration::ZERO };
            (early + if is_over { LOOK } else { Duration::ZERO }, queued, !is_over)
        })
        .await;
        assert_eq!(waited, 2 * SECOND);
        assert!(more >= 3 * SECOND / 2 && more <= 2 * SECOND, "{more:?}");
        let (more, waited) = late(|_| (Duration::ZERO, Duration::ZERO, true)).await;
        assert_eq!((more, waited), (9 * SECOND, 9 * SECOND - LOOK), "there is an end");
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_leaves_out_the_waits_for_a_processor() {
        let zero = Duration::ZERO;
        assert_eq!(waited(move |_| (zero, zero, false)).await, zero, "it sleeps");
        assert_eq!(waited(move |now| (now, zero, true)).await, LOOK, "it computes");
        let three = waited(move |now| (zero, (3 * SECOND).min(now), false)).await;
        assert_eq!(three, 3 * SECOND, "it waited, and sleeps");
        // The kernel counts a wait when it is over.
        let five = waited(move |now| match now < 5 * SECOND {
            true => (zero, zero, true),
            false => (now - 5 * SECOND, 5 * SECOND, true),
        });
        let late = five.await;
        assert!(late >= 5 * SECOND && late <= 5 * SECOND + 2 * LOOK, "{late:?}");
        assert_eq!(waited(move |_| (zero, zero, true)).await, 9 * SECOND, "there is an end");
    }
}

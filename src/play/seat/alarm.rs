//! A timer for deadlines that move at every turn and seldom pass.

use std::{future::pending, pin::Pin, time::Duration};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// A timer that is moved often and rings seldom: moving it later costs nothing, because the timer of the runtime is
/// armed anew only when it has fired too early.
#[derive(Debug)]
pub struct Alarm {
    sleep: Pin<Box<Sleep>>,
    at: Option<Instant>,
}

/// An alarm that is not set.
impl Default for Alarm {
    fn default() -> Self {
        Self { sleep: Box::pin(sleep(Duration::from_secs(3600))), at: None }
    }
}

impl Alarm {
    /// Sets the time at which the alarm rings; `None` switches it off.
    pub fn set(&mut self, at: Option<Instant>) {
        self.at = at;
        if let Some(at) = at
            && self.sleep.deadline() > at
        {
            self.sleep.as_mut().reset(at);
        }
    }

    /// Resolves when the alarm rings; pending while it is not set.
    pub async fn rings(&mut self) {
        let Some(at) = self.at else { return pending().await };
        loop {
            self.sleep.as_mut().await;
            if Instant::now() >= at {
                return;
            }
            self.sleep = Box::pin(sleep_until(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn an_alarm_rings_at_the_time_it_was_last_set_to() {
        let start = Instant::now();
        for (first, second) in [(5, 9), (9, 5), (2 * 3600, 3 * 3600)] {
            let mut alarm = Alarm::default();
            let from = Instant::now();
            alarm.set(Some(from + first * SECOND));
            let early = tokio::time::timeout(SECOND, alarm.rings()).await;
            assert!(early.is_err(), "it is not time yet");
            alarm.set(Some(from + second * SECOND));
            alarm.rings().await;
            assert_eq!(from.elapsed(), second * SECOND);
        }
        assert!(start.elapsed() > 3 * 3600 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn an_alarm_that_was_switched_off_is_silent() {
        let mut alarm = Alarm::default();
        alarm.set(Some(Instant::now() + SECOND));
        alarm.set(None);
        assert!(tokio::time::timeout(100 * SECOND, alarm.rings()).await.is_err());
    }
}

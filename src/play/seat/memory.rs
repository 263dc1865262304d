//! What an engine's processes have held at most, told when there is news.

use std::time::Duration;
use tokio::time::Instant;

/// Least time between two questions to the system.
const PAUSE: Duration = Duration::from_secs(5);

/// The peak of one engine's processes, one after another.
#[derive(Debug, Default)]
pub struct Peak {
    told: u64,
    asked: Option<Instant>,
}

impl Peak {
    /// The peak in KiB, if it is time to ask for it and it has grown by a sixteenth since it was told.
    pub fn news(&mut self, now: Instant, ask: impl FnOnce() -> Option<u64>) -> Option<u64> {
        if self.asked.is_some_and(|asked| now.saturating_duration_since(asked) < PAUSE) {
            return None;
        }
        self.asked = Some(now);
        let kib = ask()?;
        if kib <= self.told + self.told / 16 {
            return None;
        }
        self.told = kib;
        Some(kib)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_told_when_it_is_asked_for_and_has_grown() {
        let (mut peak, begin) = (Peak::default(), Instant::now());
        assert_eq!(peak.news(begin, || Some(1600)), Some(1600));
        assert_eq!(peak.news(begin + PAUSE / 2, || Some(9999)), None, "asked too soon");
        assert_eq!(peak.news(begin + 2 * PAUSE, || Some(1700)), None, "it has hardly grown");
        assert_eq!(peak.news(begin + 3 * PAUSE, || None), None, "the system does not tell");
        assert_eq!(peak.news(begin + 4 * PAUSE, || Some(1701)), Some(1701));
    }
}

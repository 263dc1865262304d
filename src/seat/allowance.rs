//! What the players of one address may have kept of what no game needs: lines that a game does not expect, long lines and
//! comments. A game alone is bounded too, but an address may begin many.

use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// Bytes of a line that are always kept: more than any move, declaration or answer to an offer has.
pub const PLAIN: usize = 64;
/// Seconds of an hour.
const HOUR: f64 = 3600.0;

/// Bytes that may be kept in an hour, for whoever has a clone of it. It refills steadily.
#[derive(Clone, Debug)]
pub struct Allowance {
    per_hour: f64,
    /// Bytes left at an instant.
    left: Arc<Mutex<(f64, Instant)>>,
}

impl Allowance {
    /// A full allowance.
    #[must_use]
    pub fn per_hour(bytes: u64) -> Self {
        let per_hour = bytes as f64;
        Self { per_hour, left: Arc::new(Mutex::new((per_hour, Instant::now()))) }
    }

    /// Takes so many bytes; false when there are not so many.
    #[must_use]
    pub fn take(&self, bytes: usize, now: Instant) -> bool {
        let mut guard = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, at) = *guard;
        let since = now.saturating_duration_since(at).as_secs_f64();
        let left = (left + since * self.per_hour / HOUR).min(self.per_hour);
        let fits = bytes as f64 <= left;
        *guard = (if fits { left - bytes as f64 } else { left }, at.max(now));
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn an_allowance_is_shared_and_comes_back_within_an_hour() {
        let allowance = Allowance::per_hour(3600);
        let (other, now) = (allowance.clone(), Instant::now());
        assert!(allowance.take(3000, now) && other.take(600, now));
        assert!(!allowance.take(1, now));
        let later = now + Duration::from_secs(60);
        assert!(!other.take(61, later));
        assert!(other.take(60, later));
        assert!(allowance.take(3600, later + Duration::from_secs(36_000)), "never more than an hour's");
        assert!(!allowance.take(1, later + Duration::from_secs(36_000)));
    }
}

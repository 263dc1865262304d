//! `[[serve.rounds]]`: when rounds begin, and how they are paired.

use crate::time_text;
use referee::schedule::rounds::Method;
use serde::{Serialize, Serializer};
use std::time::Duration;

const HOUR_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;

/// `[[serve.rounds]]`: when rounds of a game begin, and how they are paired.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundsConfig {
    /// Name of the game, with its time: `floodgate-300-10F`.
    pub game: String,
    /// Minutes of the hour at which rounds begin.
    pub minutes: Vec<u8>,
    /// Hours of the day (UTC) in which rounds begin; empty: all.
    pub hours: Vec<u8>,
    /// Instead of `minutes`: time from one round to the next, from the start of the league on; above 0.
    #[serde(serialize_with = "as_text")]
    pub every: Option<Duration>,
    /// Who is paired with whom.
    pub pairing: Method,
}

fn as_text<S: Serializer>(every: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    every.map(time_text::text).serialize(serializer)
}

impl RoundsConfig {
    /// Start of the next round after `now`; all times in ms since 1970 UTC, `begun` is the start of the league.
    #[must_use]
    pub fn next(&self, begun: i64, now: i64) -> Option<i64> {
        if let Some(every) = self.every {
            let every = i64::try_from(every.as_millis()).ok()?.max(1);
            return Some(begun + ((now - begun).div_euclid(every) + 1) * every);
        }
        let from = now.div_euclid(HOUR_MS) * HOUR_MS;
        let hours = (0..=24).map(|hour| from + hour * HOUR_MS);
        let open = |at: &i64| {
            let hour = at.div_euclid(HOUR_MS).rem_euclid(24);
            self.hours.is_empty() || self.hours.iter().any(|open| i64::from(*open) == hour)
        };
        let times = hours
            .filter(open)
            .flat_map(|hour| self.minutes.iter().map(move |minute| hour + i64::from(*minute) * MINUTE_MS));
        times.filter(|at| *at > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(minutes: &[u8], hours: &[u8]) -> RoundsConfig {
        let game = "floodgate-300-10F".to_owned();
        let (minutes, hours) = (minutes.to_vec(), hours.to_vec());
        RoundsConfig { game, minutes, hours, every: None, pairing: Method::default() }
    }

    #[test]
    fn rounds_begin_at_their_minutes_in_their_hours() {
        let half_hours = rounds(&[0, 30], &[]);
        assert_eq!(half_hours.next(0, 0), Some(30 * MINUTE_MS), "not twice at the same instant");
        assert_eq!(half_hours.next(0, 30 * MINUTE_MS), Some(HOUR_MS));
        let nightly = rounds(&[15], &[3, 22]);
        assert_eq!(nightly.next(0, 4 * HOUR_MS), Some(22 * HOUR_MS + 15 * MINUTE_MS));
        assert_eq!(nightly.next(0, 23 * HOUR_MS), Some(27 * HOUR_MS + 15 * MINUTE_MS));
        let every = RoundsConfig { every: Some(Duration::from_secs(90)), ..rounds(&[], &[]) };
        assert_eq!(every.next(1000, 91_000), Some(181_000));
    }
}

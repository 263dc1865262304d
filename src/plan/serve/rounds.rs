//! `[[serve.rounds]]`: when rounds begin, and how they are paired.

use crate::config::time_text;
use notation::csa::game_name::GameName;
use referee::schedule::rounds::Method;
use serde::{Deserialize, Serialize};

const HOUR_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;

/// `[[serve.rounds]]`: when rounds of a game begin, and how they are paired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundsConfig {
    /// The name of the game, with its time: `floodgate-300-10F`.
    pub game: String,
    /// The minutes of an hour at which rounds begin.
    #[serde(default)]
    pub minutes: Vec<u8>,
    /// The hours of the day (UTC) in which they do; empty: all.
    #[serde(default)]
    pub hours: Vec<u8>,
    /// Instead of `minutes`: from one round to the next, beginning with the start of the league.
    #[serde(default)]
    pub every: Option<String>,
    /// Who is paired with whom.
    #[serde(default)]
    pub pairing: Method,
}

impl RoundsConfig {
    /// What is wrong with it.
    #[must_use]
    pub fn fault(&self) -> Option<&'static str> {
        let every = self.every.as_deref().map(time_text::duration);
        match () {
            () if !self.game.parse::<GameName>().is_ok_and(|game| game.is_floodgate()) => {
                Some("`game` must be a name such as floodgate-300-10F: only those wait for a round")
            }
            () if every.as_ref().is_some_and(|every| every.as_ref().is_ok_and(|every| !every.is_zero())) => {
                (!self.minutes.is_empty() || !self.hours.is_empty())
                    .then_some("has `every` beside `minutes` or `hours`")
            }
            () if every.is_some() => Some("`every` must be a duration above 0"),
            () if self.minutes.is_empty() => Some("needs `minutes` or `every`"),
            () if self.minutes.iter().any(|minute| *minute > 59) => Some("`minutes` must be 0 to 59"),
            () if self.hours.iter().any(|hour| *hour > 23) => Some("`hours` must be 0 to 23"),
            () => None,
        }
    }

    /// When the next round begins after `now`, both in ms since 1970; `begun` is when the league did.
    #[must_use]
    pub fn next(&self, begun: i64, now: i64) -> Option<i64> {
        if let Some(Ok(every)) = self.every.as_deref().map(time_text::duration) {
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

    fn rounds(text: &str) -> RoundsConfig {
        toml::from_str(&format!("game = \"floodgate-300-10F\"\n{text}")).unwrap()
    }

    #[test]
    fn rounds_begin_at_their_minutes_in_their_hours() {
        let half_hours = rounds("minutes = [0, 30]");
        assert_eq!(half_hours.next(0, 0), Some(30 * MINUTE_MS), "not twice at the same instant");
        assert_eq!(half_hours.next(0, 30 * MINUTE_MS), Some(HOUR_MS));
        let nightly = rounds("minutes = [15]\nhours = [3, 22]");
        assert_eq!(nightly.next(0, 4 * HOUR_MS), Some(22 * HOUR_MS + 15 * MINUTE_MS));
        assert_eq!(nightly.next(0, 23 * HOUR_MS), Some(27 * HOUR_MS + 15 * MINUTE_MS));
        assert_eq!(rounds("every = \"90s\"").next(1000, 91_000), Some(181_000));
    }

    #[test]
    fn a_schedule_that_cannot_be_kept_is_refused() {
        assert_eq!(rounds("minutes = [0]").fault(), None);
        assert_eq!(rounds("every = \"90s\"").fault(), None);
        for bad in ["", "minutes = [60]", "hours = [24]\nminutes = [0]", "every = \"0s\"", "every = \"x\""] {
            assert!(rounds(bad).fault().is_some(), "{bad}");
        }
        assert!(rounds("minutes = [0]\nevery = \"90s\"").fault().is_some());
        let other = RoundsConfig { game: "test-300-0".to_owned(), ..rounds("minutes = [0]") };
        assert!(other.fault().unwrap().contains("floodgate-300-10F"));
    }
}

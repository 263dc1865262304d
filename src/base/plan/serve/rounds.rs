//! `[[serve.rounds]]`: when rounds begin, and how they are paired.

use super::read::{hours, minutes, zone};
use crate::{
    keys::{
        Fallback::{Is, Needed, Says},
        Kind::{self, Other, Text, Words},
    },
    settings::settings,
    time_text,
};
use contest::schedule::rounds::Method;
use serde::{Serialize, Serializer};
use std::time::Duration;

const HOUR_MS: i64 = 3_600_000;
const MINUTE_MS: i64 = 60_000;

settings! {
    /// `[[serve.rounds]]`: when rounds of a game begin, and how they are paired.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct RoundsConfig in "`[[serve.rounds]]`",
        "A schedule for games whose names begin with `floodgate-`: their players wait for a round.";

    game: String = (String::new()) shown Needed, Text, "name of the game, with its time: `floodgate-300-10F`";
    minutes: Vec<u8> = (vec![]) by minutes shown Says("needed without `every`"),
        Other("list of whole numbers, 0 to 59"),
        "minutes of the hour at which rounds begin";
    hours: Vec<u8> = (vec![]) by hours shown Says("all"), Other("list of whole numbers, 0 to 23"),
        "hours of the day in which rounds begin, with `minutes`";
    timezone: i16 = 0 by zone shown Is("\"UTC\""), Text,
        "time zone of `minutes` and `hours` as its distance from UTC: `+09:00` is Japan's";
    every: #[serde(serialize_with = "as_text")] Option<Duration> = None shown Says("needed without `minutes`"),
        Kind::Duration { zero: false },
        "time from one round to the next, from the start of the league on";
    pairing: Method = (Method::LeastDifference) shown Is("\"least-difference\""),
        Words(&["least-difference", "swiss", "random"]),
        "pair players of near rating, players of near points, or by lot";
}

fn as_text<S: Serializer>(every: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    every.map(time_text::text).serialize(serializer)
}

impl RoundsConfig {
    /// Start of the next round after `now`; all times in ms since 1970 UTC, `begun` is the start of the league.
    pub fn next(&self, begun: i64, now: i64) -> Option<i64> {
        if let Some(every) = self.every {
            let every = i64::try_from(every.as_millis()).ok()?.max(1);
            return Some(begun + ((now - begun).div_euclid(every) + 1) * every);
        }
        let ahead = i64::from(self.timezone) * MINUTE_MS;
        let now = now + ahead;
        let from = now.div_euclid(HOUR_MS) * HOUR_MS;
        let hours = (0..=24).map(|hour| from + hour * HOUR_MS);
        let open = |at: &i64| {
            let hour = at.div_euclid(HOUR_MS).rem_euclid(24);
            self.hours.is_empty() || self.hours.iter().any(|open| i64::from(*open) == hour)
        };
        let times = hours
            .filter(open)
            .flat_map(|hour| self.minutes.iter().map(move |minute| hour + i64::from(*minute) * MINUTE_MS));
        times.filter(|at| *at > now).min().map(|at| at - ahead)
    }
}

/// Minutes that a time zone is before UTC: `+09:00`, `-03:30`, `UTC`; `None` for anything else. Names of places are not
/// read: they would need tables that change.
pub fn timezone(text: &str) -> Option<i16> {
    if matches!(text, "UTC" | "Z") {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str| (text.len() == 2).then(|| text.parse::<u8>().ok()).flatten().map(i16::from);
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 14 && minutes < 60).then_some(sign * (60 * hours + minutes))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_time_zone_is_its_distance_from_utc() {
        assert_eq!(["+09:00", "-03:30", "UTC"].map(timezone), [Some(540), Some(-210), Some(0)]);
        assert_eq!(["JST", "+9", "09:00", "+25:00", ""].map(timezone), [None; 5]);
    }

    use super::*;

    fn rounds(minutes: &[u8], hours: &[u8]) -> RoundsConfig {
        let game = "floodgate-300-10F".to_owned();
        let (minutes, hours) = (minutes.to_vec(), hours.to_vec());
        RoundsConfig { game, minutes, hours, timezone: 0, every: None, pairing: Method::default() }
    }

    #[test]
    fn rounds_begin_at_their_minutes_in_their_hours() {
        let half_hours = rounds(&[0, 30], &[]);
        assert_eq!(half_hours.next(0, 0), Some(30 * MINUTE_MS), "not twice at the same instant");
        assert_eq!(half_hours.next(0, 30 * MINUTE_MS), Some(HOUR_MS));
        let nightly = rounds(&[15], &[3, 22]);
        assert_eq!(nightly.next(0, 4 * HOUR_MS), Some(22 * HOUR_MS + 15 * MINUTE_MS));
        assert_eq!(nightly.next(0, 23 * HOUR_MS), Some(27 * HOUR_MS + 15 * MINUTE_MS));
        let in_tokyo = RoundsConfig { timezone: 540, ..rounds(&[15], &[3, 22]) };
        assert_eq!(in_tokyo.next(0, 4 * HOUR_MS), Some(13 * HOUR_MS + 15 * MINUTE_MS), "22:15 there");
        let in_delhi = RoundsConfig { timezone: 330, ..rounds(&[0], &[]) };
        assert_eq!(in_delhi.next(0, 0), Some(30 * MINUTE_MS), "06:00 there");
        let every = RoundsConfig { every: Some(Duration::from_secs(90)), ..rounds(&[], &[]) };
        assert_eq!(every.next(1000, 91_000), Some(181_000));
    }
}

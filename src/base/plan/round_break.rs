//! `break` of `[event]`: how long a round waits for its beginning.

use crate::{
    hall::{Moment, moment},
    reader::Table,
};
use std::time::Duration;

const DAY: i64 = 86_400_000;

/// The break between two rounds.
#[derive(Clone, Debug, PartialEq)]
pub enum RoundBreak {
    /// So long; zero: rounds do not wait for each other beyond what their pairings need.
    Lasts(Duration),
    /// Until the next of these times of the day: the ms since midnight UTC of each, and how it is written.
    Until(Vec<(i64, String)>),
}

impl Default for RoundBreak {
    fn default() -> Self {
        Self::Lasts(Duration::ZERO)
    }
}

impl RoundBreak {
    pub(crate) fn read(event: &Table<'_>) -> Self {
        let Some(text) = event
            .item("break")
            .and_then(|item| item.as_text())
            .filter(|text| text.contains(':') && !text.contains(char::is_control))
        else {
            return Self::Lasts(event.duration("break").unwrap_or_default());
        };
        let time = |text: &str| {
            if let Some(Moment::OfDay(at)) = moment(text) {
                return Some((at, text.to_owned()));
            }
            let form = "is no time of the day; write it as in \"13:30\", which is UTC, or \"13:30 +09:00\"";
            event.fault("break", format!("`{text}` {form}"));
            None
        };
        Self::Until(text.split(',').filter_map(|text| time(text.trim())).collect())
    }

    /// True if there is none.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }

    /// How long a break lasts that begins at a time in ms since 1970-01-01 UTC, and the time at its end, if it has one.
    pub fn from(&self, now: i64) -> (Duration, Option<String>) {
        match self {
            Self::Lasts(time) => (*time, None),
            Self::Until(times) => {
                let left = times.iter().map(|(at, text)| ((at - now).rem_euclid(DAY), text));
                let Some((ms, text)) = left.min() else { return Default::default() };
                // Its day begins at the midnight of its own offset.
                let since_midnight = text.split_whitespace().next().and_then(moment);
                let is_later = matches!(since_midnight, Some(Moment::OfDay(since)) if since < ms);
                let day = if is_later { " tomorrow" } else { "" };
                (Duration::from_millis(ms.unsigned_abs()), Some(format!("{text}{day}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_break_ends_at_the_next_of_its_times_of_the_day() {
        let hours = |hours: f64| (hours * 3_600_000.0) as i64;
        let times = [(hours(1.0), "10:00 +09:00"), (hours(4.5), "13:30 +09:00")];
        let until = RoundBreak::Until(times.map(|(at, text)| (at, text.to_owned())).to_vec());
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        for (now, left, text) in [
            (hours(1.5), minutes(180), "13:30 +09:00"),
            (DAY + hours(4.5) - 1, Duration::from_millis(1), "13:30 +09:00"),
            (hours(4.5), Duration::ZERO, "13:30 +09:00"),
            (hours(23.0), minutes(120), "10:00 +09:00"),
            (hours(14.0), minutes(660), "10:00 +09:00 tomorrow"),
            (hours(15.0), minutes(600), "10:00 +09:00"),
        ] {
            assert_eq!(until.from(now), (left, Some(text.to_owned())));
        }
        assert!(!until.is_zero() && RoundBreak::default().is_zero());
        assert_eq!(RoundBreak::Lasts(minutes(3)).from(0), (minutes(3), None));
    }
}

//! Dates in UTC: `2026/11/21 09:30:00` as records write them, `20261121093000` as in names of games.

const DAY: i64 = 86_400_000;

/// Milliseconds since 1970-01-01 as a date; the milliseconds are dropped.
pub fn text(at: i64) -> String {
    let (year, month, day) = civil(at.div_euclid(DAY));
    let seconds = at.rem_euclid(DAY) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}/{month:02}/{day:02} {hours:02}:{minutes:02}:{seconds:02}")
}

/// Milliseconds since 1970-01-01 as digits alone: `20261121093000`.
pub fn digits(at: i64) -> String {
    text(at).replace(['/', ' ', ':'], "")
}

/// Milliseconds since 1970-01-01 of what [`digits`] writes.
pub fn of_digits(digits: &str) -> Option<i64> {
    let part = |range: std::ops::Range<usize>| digits.get(range);
    let (day, time) = ((part(0..4)?, part(4..6)?, part(6..8)?), (part(8..10)?, part(10..12)?, part(12..14)?));
    let whole = digits.len() == 14 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let text = format!("{}/{}/{} {}:{}:{}", day.0, day.1, day.2, time.0, time.1, time.2);
    parse(&text).filter(|_| whole)
}

/// Milliseconds since 1970-01-01; the time of day may be missing, and text after it is ignored.
pub fn parse(text: &str) -> Option<i64> {
    let mut numbers =
        text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).map(str::parse::<i64>);
    let mut next = |range: std::ops::RangeInclusive<i64>| match numbers.next() {
        Some(Ok(number)) if range.contains(&number) => Some(number),
        _ => None,
    };
    let date = (next(1000..=9999)?, next(1..=12)?, next(1..=31)?);
    let days = days(date.0, date.1, date.2);
    if civil(days) != date {
        return None;
    }
    let (hours, minutes) = (next(0..=23).unwrap_or(0), next(0..=59).unwrap_or(0));
    Some(days * DAY + (hours * 3600 + minutes * 60 + next(0..=60).unwrap_or(0)) * 1000)
}

// Both by H. Hinnant, "chrono-compatible low-level date algorithms" (2013): years begin in March, eras have 400 years.

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_back() {
        for (at, date) in [
            (0, "1970/01/01 00:00:00"),
            (951_782_400_000, "2000/02/29 00:00:00"),
            (1_795_253_771_000, "2026/11/21 09:36:11"),
            (-1000, "1969/12/31 23:59:59"),
        ] {
            assert_eq!((text(at).as_str(), parse(date)), (date, Some(at)));
        }
        assert_eq!(digits(1_735_689_599_999), "20241231235959");
        assert_eq!(of_digits("20241231235959"), Some(1_735_689_599_000));
        assert_eq!(
            (of_digits("2024123123595"), of_digits("2024123123595é"), of_digits("20241331235959")),
            (None, None, None)
        );
        assert_eq!(parse("2000/02/29"), Some(951_782_400_000));
        for no_day in ["2026/02/29", "2100/02/29", "2026/04/31", "2024/02/30"] {
            assert_eq!(parse(no_day), None, "{no_day}");
        }
        assert_eq!(parse("2000-02-29T00:00:00Z"), Some(951_782_400_000));
        assert_eq!(parse("平成12年"), None);
        assert_eq!(parse("99999999999999999999/1/1"), None);
    }
}

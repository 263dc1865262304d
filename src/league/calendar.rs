//! Dates in UTC.

/// Year, month, day, hour, minute, second of a time in ms since 1970.
fn civil(ms: i64) -> [i64; 6] {
    let seconds = ms.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years are counted from March, so that the day that comes and goes is the last of its year.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march = (5 * day + 2) / 153;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = year + 400 * era + i64::from(month <= 2);
    [year, month, day - (153 * march + 2) / 5 + 1, second / 3600, second / 60 % 60, second % 60]
}

/// `20261121055505`.
#[must_use]
pub fn digits(ms: i64) -> String {
    let [y, m, d, h, min, s] = civil(ms);
    format!("{y:04}{m:02}{d:02}{h:02}{min:02}{s:02}")
}

/// `2026/11/21 05:55:05`.
#[must_use]
pub fn spelled(ms: i64) -> String {
    let [y, m, d, h, min, s] = civil(ms);
    format!("{y:04}/{m:02}/{d:02} {h:02}:{min:02}:{s:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_and_turns_of_the_year_are_dated_right() {
        assert_eq!(spelled(0), "1970/01/01 00:00:00");
        assert_eq!(digits(951_782_400_000), "20000229000000");
        assert_eq!(digits(1_735_689_599_999), "20241231235959");
        assert_eq!(digits(1_795_240_505_000), "20261121055505");
    }
}

//! Clocks in the words of Japanese record files: `10分+30秒`, `5分+10秒加算`.

use rsshogi::records::parse_kif_time_control;

/// A text in the words of KIF; `main+byoyomi+increment` in seconds is `10分+30秒+5秒加算`, other texts stay as they are.
pub(super) fn to_kif(control: &str) -> String {
    let sides = control.strip_prefix("black ").and_then(|sides| sides.split_once(", white "));
    match (sides, of_spec(control)) {
        (Some((black, white)), _) => format!("先手{}、後手{}", to_kif(black), to_kif(white)),
        (_, Some(clock)) => words(clock),
        (None, None) => control.to_owned(),
    }
}

/// The inverse of [`to_kif`], which also reads the words of other programs.
pub(super) fn from_kif(text: &str) -> String {
    if let Some((black, white)) = text.strip_prefix("先手").and_then(|sides| sides.split_once("、後手"))
    {
        return format!("black {}, white {}", from_kif(black), from_kif(white));
    }
    match (of_words(text), parse_kif_time_control(text)) {
        (Some([main, byoyomi, increment]), _) => {
            format!("{}+{}+{}", seconds(main), seconds(byoyomi), seconds(increment))
        }
        (None, Some(control)) => control.to_spec(),
        (None, None) => text.to_owned(),
    }
}

/// Main time, byoyomi and increment, in milliseconds.
type Clock = [u32; 3];

fn of_spec(spec: &str) -> Option<Clock> {
    let mut parts = spec.split('+').map(milliseconds);
    let clock = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(clock)
}

fn words([main, byoyomi, increment]: Clock) -> String {
    let (minutes, rest) = (main / 60_000, main % 60_000);
    let mut out = String::new();
    for (number, unit) in [(minutes / 60, "時間"), (minutes % 60, "分")] {
        if number > 0 {
            out += &format!("{number}{unit}");
        }
    }
    match (rest, out.is_empty()) {
        (0, true) => out += "0分",
        (0, false) => {}
        _ => out += &format!("{}秒", seconds(rest)),
    }
    // Without this, seconds behind minutes would be read as byoyomi.
    if byoyomi > 0 || rest > 0 && increment == 0 {
        out += &format!("+{}秒", seconds(byoyomi));
    }
    if increment > 0 {
        out += &format!("+{}秒加算", seconds(increment));
    }
    out
}

/// Our own words alone: they begin with the main time, and a `+` stands before each other part.
fn of_words(text: &str) -> Option<Clock> {
    let (mut rest, more) = text.split_once('+')?;
    let mut clock = [0; 3];
    for (unit, factor) in [("時間", 3600), ("分", 60), ("秒", 1)] {
        if let Some((number, after)) = rest.split_once(unit) {
            clock[0] = milliseconds(number)?.checked_mul(factor)?.checked_add(clock[0])?;
            rest = after;
        }
    }
    for part in more.split('+') {
        let (number, place) = match part.strip_suffix("秒加算") {
            Some(number) => (number, 2),
            None => (part.strip_suffix('秒')?, 1),
        };
        clock[place] = milliseconds(number)?;
    }
    rest.is_empty().then_some(clock)
}

/// `12`, `6.123`: seconds to milliseconds.
pub(super) fn milliseconds(seconds: &str) -> Option<u32> {
    let (whole, part) = seconds.trim().split_once('.').unwrap_or((seconds.trim(), ""));
    let thousandths = match part.len() {
        0 => 0,
        digits @ 1..=3 => part.parse::<u32>().ok()? * [100, 10, 1][digits - 1],
        _ => return None,
    };
    whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(thousandths)
}

/// The inverse of [`milliseconds`].
fn seconds(ms: u32) -> String {
    match ms % 1000 {
        0 => (ms / 1000).to_string(),
        part => format!("{}.{part:03}", ms / 1000).trim_end_matches('0').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_have_the_words_of_japanese_programs_and_are_read_again() {
        for (spec, words) in [
            ("600+30+0", "10分+30秒"),
            ("5400+60+0", "1時間30分+60秒"),
            ("300+0+10", "5分+10秒加算"),
            ("600+30+5", "10分+30秒+5秒加算"),
            ("2+0+0.1", "2秒+0.1秒加算"),
            ("90+0+0", "1分30秒+0秒"),
            ("600+0+0", "10分"),
            ("0+12.5+0", "0分+12.5秒"),
            ("black 0+10+0, white fixed 100ms", "先手0分+10秒、後手fixed 100ms"),
            ("nodes 1000", "nodes 1000"),
        ] {
            assert_eq!(to_kif(spec), words);
            assert_eq!(from_kif(words), spec, "{words}");
        }
    }

    #[test]
    fn the_words_of_other_programs_are_read() {
        for (words, spec) in [
            ("１時間３０分秒読み３０秒加算５秒", "5400+30+5"),
            ("10分30秒", "600+30+0"),
            ("600+30+0", "600+30+0"),
            ("各10分", "600+0+0"),
            ("4294967295時間+1秒", "4294967295時間+1秒"),
        ] {
            assert_eq!(from_kif(words), spec);
        }
    }
}

//! Durations and time controls as text: `1h30m`, `5m+10s`, `10m byoyomi 30s`, `nodes 1000`; the same in the
//! configuration file and on the command line of `match`.

use crate::fault::nearest;
use referee::clock::TimeControl;
use std::time::Duration;

/// Why a duration or a time control cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeTextError {
    /// Not a duration.
    #[error("`{0}` is not a duration; write it as in `10s`, `500ms`, `5m` or `1h30m`")]
    NotADuration(String),
    /// A number without a unit.
    #[error("`{0}` has no unit; did you mean `{0}s` or `{0}ms`?")]
    NoUnit(String),
    /// A last part without a unit.
    #[error("`{0}` ends without a unit; write it as in `1h30m`")]
    NoLastUnit(String),
    /// An unknown unit.
    #[error("`{0}` has an unknown unit; the units are `h`, `m`, `s` and `ms`")]
    UnknownUnit(String),
    /// Units that do not become smaller from part to part.
    #[error("`{0}` has its units out of order; write the larger ones first, as in `1h30m`")]
    Disordered(String),
    /// More than a year.
    #[error("`{0}` is more than a year")]
    TooLong(String),
    /// An unknown word of a time control.
    #[error("`{word}` is not a word of a time control{}", meant(.nearest))]
    UnknownWord {
        /// The word.
        word: String,
        /// The nearest known word.
        nearest: Option<&'static str>,
    },
    /// A word of a time control without its value.
    #[error("`{0}` needs a value, as in `{1}`")]
    NoValue(&'static str, &'static str),
    /// A part of a time control that is given twice.
    #[error("`{0}` is given twice")]
    Twice(&'static str),
    /// Not a count.
    #[error("`{0}` is not a number above 0")]
    NotACount(String),
    /// Not a share by which nodes may differ.
    #[error("`{0}` is not between `1%` and `{1}%`")]
    NotAJitter(String, u32),
    /// Moves per session, as in chess.
    #[error("`{0}`: no shogi clock counts moves to a time control; write byoyomi as in `10m byoyomi 30s`")]
    Session(String),
    /// The time in the name of a game of CSA servers.
    #[error("`{0}` is the time in the name of a game; write it as `{1}`")]
    GameName(String, String),
    /// Empty text.
    #[error("the time control is empty; write it as in {EXAMPLES}")]
    Empty,
}

/// Examples of time controls, for messages.
pub const EXAMPLES: &str =
    "`5m+10s`, `10m byoyomi 30s`, `byoyomi 1s`, `fixed 100ms`, `nodes 1000` or `depth 6`";

/// Per cent by which the nodes of a move may differ.
pub const JITTER: std::ops::RangeInclusive<u32> = 1..=50;

const YEAR: f64 = 365.0 * 24.0 * 3600.0 * 1000.0;
const UNITS: [(&str, f64); 5] =
    [("h", 3_600_000.0), ("m", 60_000.0), ("min", 60_000.0), ("s", 1000.0), ("ms", 1.0)];
/// The words of a time control, each with an example.
const WORDS: [(&str, &str); 8] = [
    ("main", "main 5m"),
    ("byoyomi", "byoyomi 30s"),
    ("increment", "increment 10s"),
    ("delay", "delay 1s"),
    ("fixed", "fixed 100ms"),
    ("nodes", "nodes 1000"),
    ("jitter", "jitter 3%"),
    ("depth", "depth 6"),
];

fn meant(nearest: &Option<&str>) -> String {
    match nearest {
        Some(word) => format!("; did you mean `{word}`?"),
        None => format!("; write it as in {EXAMPLES}"),
    }
}

/// Reads a duration such as `10s`, `500ms`, `0.1s`, `1h30m` or `0`, to the microsecond.
///
/// # Errors
/// [`TimeTextError`] saying what is wrong and what would be right.
pub fn duration(text: &str) -> Result<Duration, TimeTextError> {
    let text = text.trim();
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    if text.parse::<f64>().is_ok_and(f64::is_finite) {
        return Err(TimeTextError::NoUnit(text.to_owned()));
    }
    let (mut rest, mut total, mut last) = (text, 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let (amount, unit, tail) = part(rest, text)?;
        if unit >= last {
            return Err(TimeTextError::Disordered(text.to_owned()));
        }
        (rest, total, last) = (tail.trim_start(), total + amount * unit, unit);
    }
    match total {
        _ if last.is_infinite() => Err(TimeTextError::NotADuration(text.to_owned())),
        total if total > YEAR => Err(TimeTextError::TooLong(text.to_owned())),
        total => Ok(milliseconds(total)),
    }
}

/// The amount and the unit (in milliseconds) at the start of `rest`, and what follows.
fn part<'a>(rest: &'a str, whole: &str) -> Result<(f64, f64, &'a str), TimeTextError> {
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, tail) = rest.split_at(digits);
    let amount: f64 = number.parse().map_err(|_| TimeTextError::NotADuration(whole.to_owned()))?;
    let tail = tail.trim_start();
    let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
    let (name, tail) = tail.split_at(letters);
    if name.is_empty() {
        return Err(TimeTextError::NoLastUnit(whole.to_owned()));
    }
    let unit = UNITS.iter().find(|(unit, _)| *unit == name);
    let (_, unit) = unit.ok_or_else(|| TimeTextError::UnknownUnit(whole.to_owned()))?;
    Ok((amount, *unit, tail))
}

/// Rounded to the microsecond, so that `0.1s` is 100 ms exactly.
fn milliseconds(total: f64) -> Duration {
    Duration::from_micros((total * 1000.0).round() as u64)
}

/// Writes a duration as [`duration`] reads it.
pub fn text(duration: Duration) -> String {
    let total = duration.as_micros();
    let (ms, micros) = (total / 1000, total % 1000);
    let parts = [(ms / 3_600_000, "h"), (ms / 60_000 % 60, "m"), (ms / 1000 % 60, "s")];
    let mut text: String =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    match (ms % 1000, micros) {
        (0, 0) => {}
        (ms, 0) => text += &format!("{ms}ms"),
        (ms, micros) => text += &format!("{ms}.{micros:03}ms"),
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// A time control in the configuration's spelling.
pub fn control_text(time: &TimeControl) -> String {
    let durations = [
        ("main", Some(time.main)),
        ("byoyomi", Some(time.byoyomi)),
        ("increment", Some(time.increment)),
        ("delay", Some(time.delay)),
        ("fixed", time.fixed),
    ];
    let durations =
        durations.into_iter().filter_map(|(name, value)| Some((name, value.filter(|it| !it.is_zero())?)));
    let mut parts: Vec<_> = durations.map(|(name, value)| format!("{name} {}", text(value))).collect();
    parts.extend(time.nodes.map(|nodes| format!("nodes {nodes}")));
    parts.extend((time.jitter > 0).then(|| format!("jitter {}%", time.jitter)));
    parts.extend(time.depth.map(|depth| format!("depth {depth}")));
    parts.join(" ")
}

/// Reads a time control: main time, with `+` an increment, then any of `byoyomi`, `delay`, `fixed`, `nodes`, `jitter`,
/// `depth` and `increment` with their values; `60+0.6` without units is in seconds, as chess tools write it. Margin and
/// accounting are as in [`TimeControl::default`].
///
/// # Errors
/// [`TimeTextError`] saying what is wrong and what would be right.
pub fn time_control(text: &str) -> Result<TimeControl, TimeTextError> {
    let mut words = text.split_whitespace().peekable();
    let first = words.peek().ok_or(TimeTextError::Empty)?;
    let mut control = Control::default();
    if first.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        control.main_and_increment(words.next().unwrap_or_default())?;
    }
    while let Some(word) = words.next() {
        let (word, example) = known(word)?;
        let value = words.next().ok_or(TimeTextError::NoValue(word, example))?;
        control.set(word, value)?;
    }
    Ok(control.time)
}

fn known(word: &str) -> Result<(&'static str, &'static str), TimeTextError> {
    WORDS.into_iter().find(|(known, _)| *known == word).ok_or_else(|| TimeTextError::UnknownWord {
        word: word.to_owned(),
        nearest: nearest(word, WORDS.map(|(word, _)| word)),
    })
}

/// A time control being read.
#[derive(Default)]
struct Control {
    time: TimeControl,
    given: Vec<&'static str>,
}

impl Control {
    fn main_and_increment(&mut self, text: &str) -> Result<(), TimeTextError> {
        if text.contains('/') {
            return Err(TimeTextError::Session(text.to_owned()));
        }
        let Some((main, increment)) = text.split_once('+') else {
            return match of_game_name(text) {
                Some(meant) => Err(TimeTextError::GameName(text.to_owned(), meant)),
                None => self.set("main", text),
            };
        };
        let bare = |text: &str| text.parse::<f64>().is_ok();
        if bare(main) && bare(increment) {
            self.set("main", &format!("{main}s"))?;
            return self.set("increment", &format!("{increment}s"));
        }
        self.set("main", main)?;
        self.set("increment", increment)
    }

    fn set(&mut self, word: &'static str, value: &str) -> Result<(), TimeTextError> {
        if self.given.contains(&word) {
            return Err(TimeTextError::Twice(word));
        }
        self.given.push(word);
        match word {
            "main" => self.time.main = duration(value)?,
            "byoyomi" => self.time.byoyomi = duration(value)?,
            "increment" => self.time.increment = duration(value)?,
            "delay" => self.time.delay = duration(value)?,
            "fixed" => self.time.fixed = Some(duration(value)?),
            "nodes" => self.time.nodes = Some(count(value)?),
            "jitter" => self.time.jitter = percent(value)?,
            _ => self.time.depth = Some(count(value)?),
        }
        Ok(())
    }
}

/// What `600-10F` or `600-10` stands for in the name of a game.
fn of_game_name(text: &str) -> Option<String> {
    let (total, turn) = text.split_once('-')?;
    let seconds = |digits: &str| digits.parse().ok().map(|seconds| self::text(Duration::from_secs(seconds)));
    match turn.strip_suffix('F') {
        Some(increment) => Some(format!("{}+{}", seconds(total)?, seconds(increment)?)),
        None => Some(format!("{} byoyomi {}", seconds(total)?, seconds(turn)?)),
    }
}

/// Per cent by which nodes may differ: `3%`.
fn percent(text: &str) -> Result<u32, TimeTextError> {
    let number = text.strip_suffix('%').and_then(|number| number.parse().ok());
    number
        .filter(|percent| JITTER.contains(percent))
        .ok_or_else(|| TimeTextError::NotAJitter(text.to_owned(), *JITTER.end()))
}

/// A count, optionally with `,` or `_` between its digits and with `k` or `M` after them.
fn count<T: TryFrom<u64>>(text: &str) -> Result<T, TimeTextError> {
    let plain = text.replace([',', '_'], "");
    let (digits, factor) = match plain.strip_suffix(['k', 'M']) {
        Some(digits) if plain.ends_with('k') => (digits, 1000),
        Some(digits) => (digits, 1_000_000),
        None => (plain.as_str(), 1),
    };
    let count = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).filter(|n| *n > 0);
    count.and_then(|n| T::try_from(n).ok()).ok_or_else(|| TimeTextError::NotACount(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn durations_read_as_people_write_them() {
        let table = [
            ("10s", 10_000),
            ("500ms", 500),
            ("5m", 300_000),
            ("5min", 300_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1 h", 3_600_000),
            ("0.1s", 100),
            ("1.5m", 90_000),
            ("1m0.25s", 60_250),
            ("0", 0),
            ("0s", 0),
        ];
        for (text, expected) in table {
            assert_eq!(duration(text), Ok(ms(expected)), "{text}");
        }
    }

    #[test]
    fn a_duration_that_is_none_is_told_what_would_be_right() {
        let table = [
            ("10", "`10` has no unit; did you mean `10s` or `10ms`?"),
            ("1h30", "`1h30` ends without a unit; write it as in `1h30m`"),
            ("10sec", "`10sec` has an unknown unit; the units are `h`, `m`, `s` and `ms`"),
            ("30s1m", "`30s1m` has its units out of order; write the larger ones first, as in `1h30m`"),
            ("99999h", "`99999h` is more than a year"),
        ];
        for (text, message) in table {
            assert_eq!(duration(text).unwrap_err().to_string(), message);
        }
        for text in ["", "soon", "-5s", "s", "1..5s", "nan", "infs", "１s"] {
            assert!(matches!(duration(text), Err(TimeTextError::NotADuration(_))), "{text}");
        }
    }

    #[test]
    fn a_written_duration_reads_back() {
        for (written, millis) in [("0", 0), ("10s", 10_000), ("1h30m", 5_400_000), ("1s250ms", 1250)] {
            assert_eq!(text(ms(millis)), written);
            assert_eq!(duration(written), Ok(ms(millis)));
        }
        assert_eq!(duration(&text(Duration::from_micros(100_020))), Ok(Duration::from_micros(100_020)));
    }

    /// Of every size, from microseconds to months.
    #[test]
    fn every_duration_reads_back_as_it_is_written() {
        for number in 0..3000 {
            let micros = referee::rating::mix::mix(number) % 10_u64.pow(1 + (number % 13) as u32);
            let (time, written) = (Duration::from_micros(micros), text(Duration::from_micros(micros)));
            assert_eq!(duration(&written), Ok(time), "{written}");
            let numbers = written.split(|c: char| c.is_alphabetic()).filter(|number| !number.is_empty());
            let of_hours = written.contains('h');
            for number in numbers.skip(of_hours.into()) {
                assert!(number.parse::<f64>().unwrap() < 1000.0, "{written}");
            }
        }
        assert_eq!((duration("8760h"), text(ms(59_999))), (Ok(ms(31_536_000_000)), "59s999ms".to_owned()));
        assert_eq!(duration("8760h1ms"), Err(TimeTextError::TooLong("8760h1ms".to_owned())));
    }

    #[test]
    fn time_controls_read_as_people_write_them() {
        let none = TimeControl::default();
        let table = [
            ("5m+10s", TimeControl { main: ms(300_000), increment: ms(10_000), ..none }),
            ("60+0.6", TimeControl { main: ms(60_000), increment: ms(600), ..none }),
            ("15m", TimeControl { main: ms(900_000), ..none }),
            ("10m byoyomi 30s", TimeControl { main: ms(600_000), byoyomi: ms(30_000), ..none }),
            ("byoyomi 1s", TimeControl { byoyomi: ms(1000), ..none }),
            ("0+2s", TimeControl { increment: ms(2000), ..none }),
            ("1m delay 200ms", TimeControl { main: ms(60_000), delay: ms(200), ..none }),
            ("fixed 100ms", TimeControl { fixed: Some(ms(100)), ..none }),
            ("nodes 1000", TimeControl { nodes: Some(1000), ..none }),
            ("nodes 20k depth 9", TimeControl { nodes: Some(20_000), depth: Some(9), ..none }),
            ("nodes 4000 jitter 3%", TimeControl { nodes: Some(4000), jitter: 3, ..none }),
            ("nodes 4M jitter 50%", TimeControl { nodes: Some(4_000_000), jitter: 50, ..none }),
            ("nodes 1_000 jitter 1%", TimeControl { nodes: Some(1000), jitter: 1, ..none }),
            (".5m+.5s", TimeControl { main: ms(30_000), increment: ms(500), ..none }),
            ("nodes 1,000,000", TimeControl { nodes: Some(1_000_000), ..none }),
            ("depth 6", TimeControl { depth: Some(6), ..none }),
        ];
        for (text, expected) in table {
            assert_eq!(time_control(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_time_control_that_is_none_is_told_what_would_be_right() {
        let table = [
            ("byoyommi 1s", "`byoyommi` is not a word of a time control; did you mean `byoyomi`?"),
            ("5m byoyomi", "`byoyomi` needs a value, as in `byoyomi 30s`"),
            ("main 1m main 2m", "`main` is given twice"),
            ("1m+1s increment 2s", "`increment` is given twice"),
            ("nodes 0", "`0` is not a number above 0"),
            ("nodes 9 jitter 3", "`3` is not between `1%` and `50%`"),
            ("nodes 9 jitter 0%", "`0%` is not between `1%` and `50%`"),
            ("nodes 9 jitter 51%", "`51%` is not between `1%` and `50%`"),
            ("depth 1.5", "`1.5` is not a number above 0"),
            ("5m+10", "`10` has no unit; did you mean `10s` or `10ms`?"),
            ("600-10F", "`600-10F` is the time in the name of a game; write it as `10m+10s`"),
            ("900-10", "`900-10` is the time in the name of a game; write it as `15m byoyomi 10s`"),
            ("60", "`60` has no unit; did you mean `60s` or `60ms`?"),
        ];
        for (text, message) in table {
            assert_eq!(time_control(text).unwrap_err().to_string(), message);
        }
        assert!(matches!(time_control("40/60+0.6"), Err(TimeTextError::Session(_))));
        assert_eq!(time_control("  "), Err(TimeTextError::Empty));
    }
}

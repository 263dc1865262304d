//! Clocks in the words of Japanese record files: `10分+30秒`, `5分+10秒加算`.

use rsshogi::records::{parse_csa_time_control, parse_kif_time_control};
use rsshogi::types::Color;

use super::GameRecord;

/// The clock of each side in the time control of a record, black's first.
pub(super) fn sides(control: &str) -> [Option<&str>; 2] {
    match (control.strip_prefix("black "), control.strip_prefix("white ")) {
        (Some(black), _) => match black.split_once(", white ") {
            Some((black, white)) => [Some(black), Some(white)],
            None => [Some(black), None],
        },
        (None, white @ Some(_)) => [None, white],
        (None, None) => [Some(control); 2],
    }
}

/// The inverse of [`sides`].
fn joined(sides: [Option<&str>; 2]) -> Option<String> {
    match sides {
        [Some(black), Some(white)] if black == white => Some(black.to_owned()),
        [Some(black), Some(white)] => Some(format!("black {black}, white {white}")),
        [Some(black), None] => Some(format!("black {black}")),
        [None, Some(white)] => Some(format!("white {white}")),
        [None, None] => None,
    }
}

/// Stores the clock of a side, or of both; that of both does not replace clocks that differ.
pub(super) fn set(record: &mut GameRecord, side: Option<Color>, clock: &str) {
    let before = record.time_control.take().unwrap_or_default();
    let mut clocks = sides(&before).map(|clock| clock.filter(|clock| !clock.is_empty()));
    if side.is_some() || clocks[0] == clocks[1] {
        // The header of the byoyomi may come before that of the main time.
        let merged = match (clocks[0].and_then(of_spec), of_spec(clock)) {
            (Some([0, byoyomi, 0]), Some([main, 0, increment])) => spec([main, byoyomi, increment]),
            _ => clock.to_owned(),
        };
        for color in [Color::BLACK, Color::WHITE] {
            if side.is_none_or(|side| side == color) {
                clocks[color.to_index()] = Some(&merged);
            }
        }
        record.time_control = joined(clocks);
    } else {
        record.time_control = Some(before);
    }
}

/// Adds a byoyomi, `30秒` or `30`, to the clocks of both sides.
pub(super) fn set_byoyomi(record: &mut GameRecord, text: &str) {
    let text = in_our_words(text);
    let Some(byoyomi) = milliseconds(&text).or_else(|| duration(&text)) else { return };
    let before = record.time_control.take().unwrap_or_else(|| spec([0; 3]));
    let clocks = sides(&before).map(|clock| {
        let clock = clock?;
        Some(of_spec(clock).map_or(clock.to_owned(), |[main, _, increment]| spec([main, byoyomi, increment])))
    });
    record.time_control = joined(clocks.each_ref().map(Option::as_deref));
}

/// The headers of KIF with a time control: one for both sides, or one for each.
pub(super) fn headers(control: &str) -> Vec<(&'static str, String)> {
    match sides(control) {
        [Some(black), Some(white)] if black == white => vec![("持ち時間", to_kif(black))],
        sides => {
            let keyed = ["先手持ち時間", "後手持ち時間"].into_iter().zip(sides);
            keyed.filter_map(|(key, clock)| Some((key, to_kif(clock?)))).collect()
        }
    }
}

/// A clock in the words of KIF; `main+byoyomi+increment` in seconds is `10分+30秒+5秒加算`, other texts stay as they are.
fn to_kif(clock: &str) -> String {
    of_spec(clock).map_or_else(|| clock.to_owned(), words)
}

/// The inverse of [`to_kif`], which also reads the words of other programs.
pub(super) fn from_kif(text: &str) -> String {
    if let Some((black, white)) = text.strip_prefix("先手").and_then(|sides| sides.split_once("、後手"))
    {
        return format!("black {}, white {}", from_kif(black), from_kif(white));
    }
    let others = || parse_kif_time_control(text).or_else(|| parse_csa_time_control(text));
    let clock = of_words(&in_our_words(text)).map(spec);
    clock.or_else(|| Some(others()?.to_spec())).unwrap_or_else(|| text.to_owned())
}

/// Main time, byoyomi and increment, in milliseconds.
type Clock = [u32; 3];

pub(super) fn of_spec(spec: &str) -> Option<Clock> {
    let mut parts = spec.split('+').map(milliseconds);
    let clock = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(clock)
}

fn spec(clock: Clock) -> String {
    clock.map(seconds).join("+")
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

/// The words of other programs for the parts of a clock, and ours.
const SPELLINGS: [(&str, &str); 12] = [
    (" ", ""),
    ("　", ""),
    ("、", ""),
    ("各", ""),
    ("1手", ""),
    ("一手", ""),
    ("秒読み", "+"),
    ("切れ負け", "+0秒"),
    ("＋", "+"),
    ("（", "+"),
    ("(", "+"),
    ("加算", "加算+"),
];

fn in_our_words(text: &str) -> String {
    let text = SPELLINGS.iter().fold(ascii_digits(text), |text, (theirs, ours)| text.replace(theirs, ours));
    let text = text.trim_end_matches([')', '）', '+']);
    // `10分加算5秒` for `10分+5秒加算`.
    match text.split_once("加算+") {
        Some((before, after)) if !after.is_empty() => format!("{before}+{after}加算"),
        _ => text.to_owned(),
    }
}

/// A text with full-width digits as ASCII.
pub(super) fn ascii_digits(text: &str) -> String {
    let ascii = |c: char| "０１２３４５６７８９".chars().zip('0'..).find(|(wide, _)| *wide == c);
    text.chars().map(|c| ascii(c).map_or(c, |(_, digit)| digit)).collect()
}

/// Our own words alone: they begin with the main time, and a `+` stands before each other part.
fn of_words(text: &str) -> Option<Clock> {
    let (main, more) = text.split_once('+')?;
    let mut clock = [duration(main)?, 0, 0];
    for part in more.split('+').filter(|part| !part.is_empty()) {
        let (part, place) = part.strip_suffix("加算").map_or((part, 1), |part| (part, 2));
        clock[place] = duration(part)?;
    }
    Some(clock)
}

/// `1時間30分`, `90秒`: to milliseconds.
fn duration(text: &str) -> Option<u32> {
    let (mut rest, mut sum) = (text, 0u32);
    for (unit, factor) in [("時間", 3600), ("分", 60), ("秒", 1)] {
        if let Some((number, after)) = rest.split_once(unit) {
            sum = milliseconds(number)?.checked_mul(factor)?.checked_add(sum)?;
            rest = after;
        }
    }
    rest.is_empty().then_some(sum)
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
            ("00:10+30", "600+30+0"),
            ("120秒切れ負け", "120+0+0"),
            ("10分（切れ負け）", "600+0+0"),
            ("90秒、秒読み10秒", "90+10+0"),
            ("600秒 加算5秒", "600+0+5"),
            ("６００秒（1手５秒加算）", "600+0+5"),
            ("10分加算なし", "600+0+0"),
            ("一手30秒", "0+30+0"),
            ("先手1時間、後手30分+60秒", "black 3600+0+0, white 1800+60+0"),
            ("各10分", "600+0+0"),
            ("4294967295時間+1秒", "4294967295時間+1秒"),
        ] {
            assert_eq!(from_kif(words), spec);
        }
    }

    #[test]
    fn headers_of_the_sides_and_of_the_byoyomi_make_one_time_control_in_any_order() {
        let read = |headers: &[(&str, &str)]| {
            let mut record = GameRecord::default();
            headers.iter().for_each(|(key, value)| crate::record::kif::set_header(&mut record, key, value));
            record.time_control.unwrap()
        };
        let (main, byoyomi) = (("持ち時間", "10分"), ("秒読み", "30秒"));
        assert_eq!([read(&[main, byoyomi]), read(&[byoyomi, main])], ["600+30+0"; 2]);
        assert_eq!(read(&[("秒読み", "なし"), main]), "600+0+0");
        let (black, white) = (("先手持ち時間", "10分"), ("後手持ち時間", "5分"));
        for order in [[black, white, byoyomi], [white, black, byoyomi]] {
            assert_eq!(read(&order), "black 600+30+0, white 300+30+0");
        }
        assert_eq!(read(&[black, white, main]), "black 600+0+0, white 300+0+0");
        assert_eq!(read(&[main, white]), "black 600+0+0, white 300+0+0");
        for control in ["600+0+0", "black 0+10+0, white fixed 100ms", "white 300+0+5"] {
            let headers = headers(control);
            let headers: Vec<_> = headers.iter().map(|(key, value)| (*key, value.as_str())).collect();
            assert_eq!(read(&headers), control);
        }
    }
}

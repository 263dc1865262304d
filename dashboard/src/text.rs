//! Text for terminals: escaped, measured in columns, cut and padded.

use std::time::Duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Untrusted text with every control sequence escaped.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        // Format characters (bidirectional overrides, joiners) move what stands beside them.
        match c.is_control() || c.width() == Some(0) || matches!(c, '\u{ad}' | '\u{2028}' | '\u{2029}') {
            true => cleaned.extend(c.escape_unicode()),
            false => cleaned.push(c),
        }
    }
    cleaned
}

/// Untrusted text of several lines, as [`clean`] does it.
pub fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// Columns that text takes; kanji take two.
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Text cut to at most `width` columns, with an ellipsis if something is cut off.
pub fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), 0);
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        kept.push(c);
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// A name cut to at most `width` columns: the end is kept, because versions of an engine differ there.
pub fn name(name: &str, width: usize) -> String {
    // Fewer columns leave no room for the end.
    if columns(name) <= width || width < 7 {
        return cut(name, width);
    }
    let mut end = name.len();
    while let Some(c) = name[..end].chars().next_back()
        && columns(&name[end - c.len_utf8()..]) <= (width - 1) / 2
    {
        end -= c.len_utf8();
    }
    let tail = &name[end..];
    cut(&name[..end], width - columns(tail)) + tail
}

/// Text in lines of at most `width` columns, broken at blanks if possible.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (vec![], String::new());
    for word in text.split_inclusive(' ') {
        if !line.is_empty() && columns(&line) + columns(word.trim_end()) > width {
            lines.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            if c != ' ' && columns(&line) + c.width().unwrap_or(0) > width {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
    lines
}

/// Text in exactly `width` columns, at the left.
pub fn left(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let gap = width.saturating_sub(columns(&text));
    text + &" ".repeat(gap)
}

/// Text in exactly `width` columns, at the right.
pub fn right(text: &str, width: usize) -> String {
    let text = cut(text, width);
    " ".repeat(width.saturating_sub(columns(&text))) + &text
}

/// Whole milliseconds.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A time as on a clock: tenths below ten seconds, then `m:ss`, then `h:mm:ss`.
pub fn clock(time: Duration) -> String {
    let ms = millis(time);
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    match ms {
        0..10_000 => format!("{seconds}.{}", ms / 100 % 10),
        10_000..3_600_000 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The time of day in UTC of a time in ms since 1970: `21:40:05`.
pub fn time_of_day(at: i64) -> String {
    let seconds = at.div_euclid(1000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A duration in ms with its unit: `42 s`, `7 min`, `3 h 05`, `4 d 02 h`.
pub fn lasting(ms: u64) -> String {
    let (minutes, hours) = (ms / 60_000, ms / 3_600_000);
    match ms {
        0..120_000 => format!("{} s", ms / 1000),
        120_000..7_200_000 => format!("{minutes} min"),
        7_200_000..172_800_000 => format!("{hours} h {:02}", minutes % 60),
        _ => format!("{} d {:02} h", hours / 24, hours % 24),
    }
}

/// A large count in four or five columns: `999`, `12.3k`, `4.5M`.
pub fn short(count: u64) -> String {
    let scaled = |unit: f64, name: &str| {
        let value = count as f64 / unit;
        if value < 99.95 { format!("{value:.1}{name}") } else { format!("{value:.0}{name}") }
    };
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => scaled(1e3, "k"),
        1_000_000..1_000_000_000 => scaled(1e6, "M"),
        _ => scaled(1e9, "G"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(clean("\u{1b}[2Jname\u{9b}\u{202e}\r"), "\\u{1b}[2Jname\\u{9b}\\u{202e}\\u{d}");
        assert_eq!(clean("先手 ok"), "先手 ok");
    }

    #[test]
    fn kanji_are_cut_and_padded_by_their_columns() {
        assert_eq!(cut("先手番の将棋", 7), "先手番…");
        assert_eq!(cut("先手番の将棋", 6), "先手…");
        assert_eq!(left("先手", 6), "先手  ");
        assert_eq!(right("先手", 5), " 先手");
        assert_eq!(cut("name", 0), "");
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        assert_eq!(["fairy 1000", "fairy 10000"].map(|long| name(long, 8)), ["fair…000", "fair…000"]);
        assert_eq!(["fairy 1000", "fairy 10000"].map(|long| name(long, 10)), ["fairy 1000", "fairy…0000"]);
        assert_eq!(name("engine-2026-11-20-dev", 12), "engine…0-dev");
        assert_eq!(name("先手番の将棋", 7), "先手…棋");
        assert_eq!(name("fairy 1000", 6), "fairy…");
    }

    #[test]
    fn times_and_counts_are_short() {
        assert_eq!(
            [0, 9_990, 10_000, 61_000, 3_661_000].map(|ms| clock(Duration::from_millis(ms))),
            ["0.0", "9.9", "0:10", "1:01", "1:01:01"]
        );
        assert_eq!([5_000, 600_000, 11_100_000].map(lasting), ["5 s", "10 min", "3 h 05"]);
        assert_eq!([950, 12_345, 4_500_000, 123_456_789].map(short), ["950", "12.3k", "4.5M", "123M"]);
    }

    #[test]
    fn long_lines_are_broken_at_blanks_and_words_only_where_they_must() {
        assert_eq!(wrapped("no connection; in 2 s", 10), ["no", "connection", "; in 2 s"]);
        assert_eq!(wrapped("将棋将棋 ok", 5), ["将棋", "将棋", "ok"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}

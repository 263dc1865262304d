//! Escaping of untrusted text.

use std::{borrow::Cow, fmt::Write as _};

/// True for a character that changes the text around it instead of being shown: terminal controls (C0, C1), line
/// separators, and format characters, which reverse the direction of text or make two names look the same.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Untrusted text, safe for a terminal, a log or a page: hidden characters and bytes that are not UTF-8 are escaped.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_hidden(c) { text.extend(c.escape_default()) } else { text.push(c) }
        }
        for byte in chunk.invalid() {
            let _infallible = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Text of several lines, made safe as [`printable`] does; line ends are kept.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c, to| to.extend(c.escape_default()))
}

/// A JSON document with its hidden characters escaped; JSON itself allows most of them.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    replaced(json, |c, to| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _infallible = write!(to, "\\u{unit:04x}");
        }
    })
}

/// Replaces the hidden characters of a text except line ends.
fn replaced(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let hidden = |c: char| c != '\n' && is_hidden(c);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) { escape(c, &mut shown) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Untrusted text in printable form, cut to `most` bytes: a single byte may become ten.
pub fn clipped(text: &str, most: usize) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        let printed = printable(c.encode_utf8(&mut [0; 4]).as_bytes());
        if shown.len() + printed.len() > most {
            return shown + "...";
        }
        shown += &printed;
    }
    shown
}

/// A player's name as part of a file name: letters, digits and a few signs that are safe in paths, shells and
/// terminals, and short enough for every file system.
pub fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '.' | '+') { c } else { '_' };
    let mut safe = no_device(name.chars().take(80).map(safe).collect());
    safe.truncate(safe.floor_char_boundary(80));
    safe
}

/// Names that Windows keeps for devices, with any extension and in either case.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "COM", "LPT"];

/// The name of a file, with `_` before it where Windows would open a device: `CON.kifu`, `com1`.
pub fn no_device(name: String) -> String {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_device = DEVICES.iter().any(|device| match stem.strip_prefix(device) {
        Some("") => !matches!(*device, "COM" | "LPT"),
        Some(port) => {
            let digits = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '¹', '²', '³'];
            matches!(*device, "COM" | "LPT") && port.chars().count() == 1 && port.contains(digits)
        }
        None => false,
    });
    if is_device { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_an_engine_prints_can_move_the_cursor() {
        assert_eq!(printable(b"\x1b[2Jab\xff\tc"), "\\u{1b}[2Jab\\xff\\tc");
        assert_eq!(printable("先手 ok".as_bytes()), "先手 ok");
        let hidden = "\u{9b}\u{202e}\u{2066}\u{200f}\u{2028}\u{feff}\u{200b}\u{e0041}";
        assert!(hidden.chars().all(is_hidden) && printable(hidden.as_bytes()).is_ascii());
        assert_eq!(printable("évaluation ✓ 歩 e\u{301}".as_bytes()), "évaluation ✓ 歩 e\u{301}");
    }

    #[test]
    fn json_stays_json_when_hidden_characters_are_escaped() {
        let json = "{\"a\": \"x\u{202e}y\u{7f}\u{e0041}\",\n\"b\": 1}";
        assert_eq!(printable_json(json), "{\"a\": \"x\\u202ey\\u007f\\udb40\\udc41\",\n\"b\": 1}");
        assert_eq!(printable_lines("a\n\u{1b}b\r\n"), "a\n\\u{1b}b\\r\n");
    }

    #[test]
    fn no_name_escapes_from_its_directory_or_is_that_of_a_device() {
        for (name, expected) in [
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("a\0b\nc", "a_b_c"),
            ("C:\\x", "C__x"),
            ("評価関数 1.0", "評価関数_1.0"),
            ("-rf", "_rf"),
            ("CON", "_CON"),
            ("nul.txt", "_nul.txt"),
            ("Com1.a.b", "_Com1.a.b"),
            ("LPT³", "_LPT³"),
            ("com", "com"),
            ("console", "console"),
            ("com10", "com10"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        for long in ["角".repeat(500), format!("nul.{}", "x".repeat(500))] {
            assert!((78..=80).contains(&file_name(&long).len()));
        }
    }
}

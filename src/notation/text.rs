//! Escaping of untrusted text.

/// Untrusted text, safe for a terminal, a log or a page: control characters and bytes that are not UTF-8 are escaped.
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c.is_control() {
                true => text.extend(c.escape_default()),
                false => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Untrusted text in printable form, with its end left out where that has more than `most` bytes: a single byte may
/// become ten.
#[must_use]
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
#[must_use]
pub fn file_name(name: &str) -> String {
    let mut safe = String::new();
    for c in name.chars() {
        let c = if c.is_alphanumeric() || matches!(c, '_' | '.' | '+') { c } else { '_' };
        if safe.len() + c.len_utf8() > 80 {
            break;
        }
        safe.push(c);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_an_engine_prints_can_move_the_cursor() {
        assert_eq!(printable(b"\x1b[2Jab\xff\tc"), "\\u{1b}[2Jab\\xff\\tc");
        assert_eq!(printable("先手 ok".as_bytes()), "先手 ok");
    }

    #[test]
    fn no_name_escapes_from_its_directory() {
        for (name, expected) in [
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("a\0b\nc", "a_b_c"),
            ("C:\\x", "C__x"),
            ("評価関数 1.0", "評価関数_1.0"),
            ("-rf", "_rf"),
        ] {
            assert_eq!(file_name(name), expected);
        }
        assert!(file_name(&"角".repeat(500)).len() <= 80);
    }
}

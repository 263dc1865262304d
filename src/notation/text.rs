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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_an_engine_prints_can_move_the_cursor() {
        assert_eq!(printable(b"\x1b[2Jab\xff\tc"), "\\u{1b}[2Jab\\xff\\tc");
        assert_eq!(printable("先手 ok".as_bytes()), "先手 ok");
    }
}

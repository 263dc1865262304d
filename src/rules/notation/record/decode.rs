//! Decoding of bytes to lines, and detection of their format.

use std::{
    borrow::Cow,
    cell::Cell,
    io::{self, BufRead},
    iter, mem,
};

use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS, UTF_16BE, UTF_16LE};

use super::{Format, LARGEST_GAME};

/// The byte order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// True for bytes with control characters other than blanks and line ends.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1a | 0x1b))
}

/// A text in UTF-16 as UTF-8; its first bytes, a byte order mark, name it. Other bytes stay as they are.
pub fn unicode(bytes: &[u8]) -> Cow<'_, [u8]> {
    let encoding = match bytes {
        [0xff, 0xfe, ..] => UTF_16LE,
        [0xfe, 0xff, ..] => UTF_16BE,
        _ => return Cow::Borrowed(bytes),
    };
    Cow::Owned(encoding.decode_with_bom_removal(bytes).0.into_owned().into_bytes())
}

/// The lines of a text in UTF-8 (with or without BOM), CP932, EUC-JP or ISO-2022-JP. Each line is decoded alone, because real
/// files mix encodings; invalid bytes are replaced.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    // The end of the last line begins no other.
    let whole = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines = (!bytes.is_empty()).then(|| whole.split(|byte| *byte == b'\n').flat_map(old_mac_lines));
    lines.into_iter().flatten().map(decoded)
}

/// The lines of a text that is read as far as they are asked for, as [`lines`] has them. Of a line that is longer than any game
/// as much is kept as shows that. They end where the text cannot be read; `broken` is why.
pub(super) fn read_lines(
    mut text: impl BufRead,
    broken: &Cell<Option<io::Error>>,
) -> impl Iterator<Item = String> {
    let (mut is_first, mut ended_by) = (true, None);
    iter::from_fn(move || {
        let line = line(&mut text, &mut ended_by).unwrap_or_else(|error| {
            broken.set(Some(error));
            None
        })?;
        let bom = mem::take(&mut is_first).then(|| line.strip_prefix(BOM)).flatten();
        Some(decoded(bom.unwrap_or(&line)).into_owned())
    })
}

/// The next line of a text; `ended_by` is the end of the one before.
fn line(text: &mut impl BufRead, ended_by: &mut Option<u8>) -> io::Result<Option<Vec<u8>>> {
    let (mut line, mut is_begun) = (vec![], false);
    loop {
        let bytes = text.fill_buf()?;
        let Some(first) = bytes.first() else { return Ok(is_begun.then_some(line)) };
        if ended_by.take() == Some(b'\r') && *first == b'\n' {
            text.consume(1);
            continue;
        }
        is_begun = true;
        let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let part = end.unwrap_or(bytes.len());
        line.extend_from_slice(&bytes[..part.min((LARGEST_GAME + 1).saturating_sub(line.len()))]);
        *ended_by = end.map(|at| bytes[at]);
        text.consume(part + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

fn old_mac_lines(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.strip_suffix(b"\r").unwrap_or(line).split(|byte| *byte == b'\r')
}

pub(super) fn decoded(line: &[u8]) -> Cow<'_, str> {
    // ISO-2022-JP has bytes of ASCII alone, and every line of it begins in ASCII.
    if line.windows(2).any(|pair| pair == b"\x1b$") {
        return ISO_2022_JP.decode_without_bom_handling(line).0;
    }
    if let Ok(text) = std::str::from_utf8(line) {
        return text.into();
    }
    let (cp932, cp932_broken) = SHIFT_JIS.decode_without_bom_handling(line);
    let (euc, euc_broken) = EUC_JP.decode_without_bom_handling(line);
    // Kana in EUC-JP are half-width katakana in CP932, which no record writes.
    let looks_euc = cp932_broken || cp932.chars().any(|c| ('\u{ff61}'..='\u{ff9f}').contains(&c));
    if looks_euc && !euc_broken { euc } else { cp932 }
}

/// The encoding of a text that is not UTF-8, for messages.
pub fn encoding_of(bytes: &[u8]) -> &'static str {
    let is = |encoding: &'static encoding_rs::Encoding| !encoding.decode_without_bom_handling(bytes).1;
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        _ if is(EUC_JP) => "EUC-JP",
        _ if is(SHIFT_JIS) => "Shift_JIS (CP932)",
        _ => "an unknown encoding",
    }
}

/// A text in CP932; `None` if a reader would not get every line of it back as it is.
pub(super) fn to_cp932(text: &str) -> Option<Vec<u8>> {
    let bytes = SHIFT_JIS.encode(text).0.into_owned();
    let is_read_back = lines(&bytes).eq(text.lines());
    is_read_back.then_some(bytes)
}

/// True for a book of YaneuraOu, which looks like lines of USI and holds none.
pub(super) fn is_book(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    bytes.starts_with(b"#YANEURAOU-DB") || bytes.starts_with(b"YANE-BINBOOK")
}

/// The format of the first line that identifies one.
pub(super) fn format_of<L: AsRef<str>>(mut lines: impl Iterator<Item = L>) -> Option<Format> {
    lines.find_map(|line| format_of_line(line.as_ref().trim()))
}

fn format_of_line(line: &str) -> Option<Format> {
    let first = line.chars().next()?;
    match first {
        '{' => return Some(Format::Jkf),
        '▲' | '△' | '▼' | '▽' | '☗' | '☖' => return Some(Format::Ki2),
        '#' | '*' | '\'' | '&' => return None,
        _ => {}
    }
    if is_csa(line) {
        return Some(Format::Csa);
    }
    if line.starts_with("手数-") || line.starts_with("まで") || is_numbered_kif(line) {
        return Some(Format::Kif);
    }
    if super::lines::is_usi(line) {
        return Some(Format::Usi);
    }
    // A header or a diagram: KIF and KI2 share them, and one parser reads both.
    (line.contains('：') || line.starts_with("+--") || line.starts_with('|')).then_some(Format::Kif)
}

fn is_csa(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_move = |bytes: &[u8]| {
        matches!(bytes, [b'+' | b'-', rest @ ..] if rest.len() >= 6
            && rest[..4].iter().all(u8::is_ascii_digit)
            && rest[4..6].iter().all(u8::is_ascii_uppercase))
    };
    match bytes {
        [b'V', b'1'..=b'9', ..] | [b'N', b'+' | b'-', ..] | [b'%', ..] => true,
        [b'P', b'1'..=b'9' | b'+' | b'-' | b'I', ..] => !line.contains('*') || line.len() > 10,
        [b'$', b'A'..=b'Z', ..] => line.contains(':'),
        _ => is_move(bytes),
    }
}

fn is_numbered_kif(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len()
        && rest.starts_with([' ', '　'])
        && rest.trim_start().chars().take(3).any(|c| !c.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_same_lines_however_it_is_read() {
        for text in [
            "",
            "a",
            "a\n",
            "\n",
            "\r",
            "a\r\n\r\nb",
            "a\rb\r",
            "a\n\nb\r\r\n",
            "\u{feff}a\r\nあ",
            "\r\r",
            "a\n\r\n",
        ] {
            for size in [1, 2, 3, 64] {
                let (text, broken) = (text.as_bytes(), Cell::default());
                let read: Vec<_> = read_lines(io::BufReader::with_capacity(size, text), &broken).collect();
                assert_eq!(read, lines(text).collect::<Vec<_>>(), "{text:?} by {size}");
            }
        }
    }

    #[test]
    fn every_encoding_of_the_wild_is_understood() {
        let text = "先手：あべ\n後手：漢字";
        let utf8 = text.as_bytes().to_vec();
        let with_bom = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        let crlf = text.replace('\n', "\r\n").into_bytes();
        let mac = text.replace('\n', "\r").into_bytes();
        let cp932 = SHIFT_JIS.encode(text).0.into_owned();
        let euc = EUC_JP.encode(text).0.into_owned();
        let iso2022 = ISO_2022_JP.encode(text).0.into_owned();
        for bytes in [utf8, with_bom, crlf, mac, cp932, euc, iso2022] {
            assert!(lines(&bytes).eq(["先手：あべ", "後手：漢字"]), "{bytes:x?}");
        }
    }

    #[test]
    fn an_encoding_other_than_utf8_is_named() {
        let text = "# 大会の設定\nname = \"水匠\"";
        assert_eq!(encoding_of(&SHIFT_JIS.encode(text).0), "Shift_JIS (CP932)");
        assert_eq!(encoding_of(&EUC_JP.encode(text).0), "EUC-JP");
        assert_eq!(encoding_of(b"\xff\xfea\0"), "UTF-16");
        assert_eq!(encoding_of(b"\xff\xff\xff"), "an unknown encoding");
    }

    #[test]
    fn a_line_in_another_encoding_does_not_spoil_the_rest() {
        let mixed = [b"N+\xe5\x85\x88\n'** \x82\xa0\xff\n+7776FU\n".as_slice()].concat();
        let lines: Vec<_> = lines(&mixed).collect();
        assert_eq!((&*lines[0], &*lines[2]), ("N+先", "+7776FU"));
    }

    #[test]
    fn a_text_that_cp932_would_not_give_back_has_no_bytes_in_it() {
        assert_eq!(to_cp932("先手\n"), Some(b"\x90\xe6\x8e\xe8\n".to_vec()));
        for lost in ["é1", "a☗b", "¥", "*ｱｲ"] {
            assert_eq!(to_cp932(lost), None, "{lost}");
        }
    }

    #[test]
    fn the_format_is_found_by_content() {
        for (line, format) in [
            ("V2.2", Some(Format::Csa)),
            ("+7776FU,T1", Some(Format::Csa)),
            ("手数----指手---------消費時間--", Some(Format::Kif)),
            ("   1 ７六歩(77)", Some(Format::Kif)),
            ("先手：A", Some(Format::Kif)),
            ("▲７六歩", Some(Format::Ki2)),
            ("{\"moves\":[]}", Some(Format::Jkf)),
            ("startpos moves 7g7f", Some(Format::Usi)),
            ("7g7f 3c3d", Some(Format::Usi)),
            ("hello world", None),
        ] {
            assert_eq!(format_of([line].iter()), format, "{line}");
        }
    }
}

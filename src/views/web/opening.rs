//! First moves as somebody types them: in USI, or as they are printed in Japanese.

use notation::record::{self, Format};
use std::borrow::Cow;

/// The moves in USI, as far as they are moves of KI2 from the even position; any other text is returned as it is.
pub fn in_usi(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    // Blanks may be wide, and a mark may stand apart from its move, or be missing.
    let words = text.replace(['▲', '☗', '△', '☖', '▽', '\u{3000}'], " ");
    let marked = words.split_whitespace().enumerate().map(|(at, mv)| format!("{}{mv}", ["▲", "△"][at % 2]));
    let record = marked.collect::<Vec<_>>().join("\n");
    match record::read(record.as_bytes(), Some(Format::Ki2u)).as_deref() {
        Ok([game]) if game.plies.len() == words.split_whitespace().count() => {
            game.plies.iter().map(|ply| ply.mv.to_usi()).collect::<Vec<_>>().join(" ").into()
        }
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_read_as_they_are_printed_in_japanese() {
        for text in
            ["▲７六歩 △３四歩 ▲２六歩", "☗７六歩☖３四歩☗２六歩", "７六歩　３四歩　２六歩", "▲76歩△34歩▲26歩"]
        {
            assert_eq!(in_usi(text), "7g7f 3c3d 2g2f", "{text}");
        }
        assert_eq!(in_usi("▲７六歩 △３四歩 ▲２二角成 △同銀"), "7g7f 3c3d 8h2b+ 3a2b");
        assert_eq!(in_usi("7g7f 3c3d"), "7g7f 3c3d");
        assert_eq!(in_usi("▲９九歩"), "▲９九歩", "what is no move is refused later");
    }
}

//! Moves in KIF and KI2 notation, resolved to legal moves.

use rsshogi::board::{LegalAll, MoveList, Position, generate_moves};
use rsshogi::types::{Color, Move, PieceType, Square};

use crate::csa::square;

/// Names of pieces; the first of a piece is the one that is written.
const PIECES: [(&str, PieceType); 21] = [
    ("成香", PieceType::PRO_LANCE),
    ("成桂", PieceType::PRO_KNIGHT),
    ("成銀", PieceType::PRO_SILVER),
    ("歩", PieceType::PAWN),
    ("香", PieceType::LANCE),
    ("桂", PieceType::KNIGHT),
    ("銀", PieceType::SILVER),
    ("金", PieceType::GOLD),
    ("角", PieceType::BISHOP),
    ("飛", PieceType::ROOK),
    ("玉", PieceType::KING),
    ("王", PieceType::KING),
    ("と", PieceType::PRO_PAWN),
    ("杏", PieceType::PRO_LANCE),
    ("仝", PieceType::PRO_LANCE),
    ("圭", PieceType::PRO_KNIGHT),
    ("今", PieceType::PRO_KNIGHT),
    ("全", PieceType::PRO_SILVER),
    ("馬", PieceType::HORSE),
    ("龍", PieceType::DRAGON),
    ("竜", PieceType::DRAGON),
];

/// Splits a piece name from the text after it.
pub(super) fn piece(text: &str) -> Option<(PieceType, &str)> {
    PIECES.iter().find_map(|(name, kind)| Some((*kind, text.strip_prefix(name)?)))
}

/// The name of a piece.
pub(super) fn piece_name(piece: PieceType) -> &'static str {
    PIECES.iter().find(|(_, kind)| *kind == piece).map_or("玉", |(name, _)| *name)
}

/// The marks of the side that moves. They are not checked: real files of handicap games use either.
pub(super) const MARKS: [char; 6] = ['▲', '△', '▼', '▽', '☗', '☖'];

/// The numbers from 1 to 9.
pub(super) const KANJI: &str = "一二三四五六七八九";

/// A digit from 1 to 9 in any of the three scripts.
pub(super) fn digit(c: char) -> Option<u8> {
    let number = match c {
        '1'..='9' => u32::from(c) - u32::from('0'),
        '１'..='９' => u32::from(c) - u32::from('０'),
        _ => KANJI.chars().position(|kanji| kanji == c)? as u32 + 1,
    };
    Some(number as u8)
}

#[derive(Default)]
struct Described {
    promotes: bool,
    drops: bool,
    from: Option<Square>,
    /// 左 右 直 上 引 寄 (行 is 上), in the order written.
    manner: Vec<char>,
}

/// True if a text begins like a move: a square, or 同.
pub(super) fn begins_like_a_move(text: &str) -> bool {
    let text = text.trim_start_matches(MARKS);
    let mut chars = text.chars();
    let first = chars.next();
    first == Some('同') || (first.and_then(digit).is_some() && chars.next().and_then(digit).is_some())
}

/// Resolves a text such as `７六歩(77)`, `同　銀` or `▲５八金右` in a position. Legality is checked only to choose between
/// moves.
///
/// # Errors
/// The text matches no move, or more than one.
pub(super) fn resolve(position: &Position, last: Option<Square>, text: &str) -> Result<Move, &'static str> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace() && !MARKS.contains(c)).collect();
    let (to, rest) = destination(&compact, last)?;
    let (kind, rest) = piece(rest).ok_or("no piece is named")?;
    let described = describe(rest)?;
    match described {
        Described { drops: true, .. } => drop(kind, to),
        Described { from: Some(from), .. } => from_square(position, from, to, kind, described.promotes),
        _ => search(position, to, kind, &described),
    }
}

fn destination(text: &str, last: Option<Square>) -> Result<(Square, &str), &'static str> {
    if let Some(rest) = text.strip_prefix('同') {
        return Ok((last.ok_or("同 without a move before it")?, rest));
    }
    let mut chars = text.chars();
    let mut next = || chars.next().and_then(digit).ok_or("no square is named");
    let (file, rank) = (next()?, next()?);
    Ok((square(file, rank).ok_or("no square is named")?, chars.as_str()))
}

fn describe(text: &str) -> Result<Described, &'static str> {
    let mut described = Described::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '成' => described.promotes = true,
            '不' => rest = rest.strip_prefix('成').ok_or("stray 不")?,
            '打' => described.drops = true,
            '行' => described.manner.push('上'),
            '左' | '右' | '直' | '上' | '引' | '寄' => described.manner.push(c),
            '(' | '（' => {
                let (origin, after) = rest.split_once([')', '）']).ok_or("origin without its end")?;
                // Denryu-sen and others write a drop as a move from no square.
                match origin {
                    "00" => described.drops = true,
                    _ => described.from = Some(origin_square(origin)?),
                }
                rest = after;
            }
            _ => return Err("unknown word after the piece"),
        }
    }
    Ok(described)
}

fn origin_square(text: &str) -> Result<Square, &'static str> {
    let mut digits = text.chars().map(digit);
    match (digits.next().flatten(), digits.next().flatten(), digits.next()) {
        (Some(file), Some(rank), None) => square(file, rank).ok_or("origin off the board"),
        _ => Err("origin that is no square"),
    }
}

fn drop(kind: PieceType, to: Square) -> Result<Move, &'static str> {
    if kind.is_promoted() || kind == PieceType::KING {
        Err("a piece that cannot be dropped")
    } else {
        Ok(Move::drop(kind, to))
    }
}

fn from_square(
    position: &Position,
    from: Square,
    to: Square,
    kind: PieceType,
    promotes: bool,
) -> Result<Move, &'static str> {
    let standing = position.piece_on(from);
    if standing.is_empty() || standing.piece_type().demote() != kind.demote() {
        return Err("the piece named does not stand on the origin");
    }
    // A promoted name for an unpromoted piece means that the piece promotes.
    let promotes = promotes || (kind.is_promoted() && !standing.is_promoted());
    Ok(if promotes { Move::promotion(from, to) } else { Move::normal(from, to) })
}

fn search(
    position: &Position,
    to: Square,
    kind: PieceType,
    described: &Described,
) -> Result<Move, &'static str> {
    let mut legal = MoveList::new();
    generate_moves::<LegalAll>(position, &mut legal);
    let moves = |mover: PieceType, promotes: bool| -> Vec<Move> {
        let found = legal
            .iter()
            .copied()
            .filter(|mv| !mv.is_drop() && mv.to_sq() == to && mv.is_promotion() == promotes);
        found.filter(|mv| position.piece_on(mv.from_sq()).piece_type() == mover).collect()
    };
    let mut found = moves(kind, described.promotes);
    // Lossy files have the name of the promoted piece.
    if found.is_empty() && kind.is_promoted() {
        found = moves(kind.demote(), true);
    }
    if found.is_empty() && described.manner.is_empty() && !described.promotes {
        return drop(kind, to)
            .ok()
            .filter(|mv| legal.iter().any(|known| known == mv))
            .ok_or("no such move here");
    }
    for manner in &described.manner {
        narrow(&mut found, *manner, kind, position.turn());
    }
    match found[..] {
        [mv] => Ok(mv),
        [] => Err("no such move here"),
        _ => Err("more than one piece could move so"),
    }
}

/// Distance of the origin to the left and behind, from the mover's side.
fn offset(mv: Move, mover: Color) -> (i32, i32) {
    let files = i32::from(mv.from_sq().file().raw()) - i32::from(mv.to_sq().file().raw());
    let ranks = i32::from(mv.from_sq().rank().raw()) - i32::from(mv.to_sq().rank().raw());
    if mover == Color::BLACK { (files, ranks) } else { (-files, -ranks) }
}

fn narrow(found: &mut Vec<Move>, manner: char, kind: PieceType, mover: Color) {
    let left = |mv: &Move| offset(*mv, mover).0;
    // Of two horses or dragons one may stand straight behind: left and right are then relative.
    if matches!(kind, PieceType::HORSE | PieceType::DRAGON) && matches!(manner, '左' | '右') {
        let most = if manner == '左' { found.iter().map(left).max() } else { found.iter().map(left).min() };
        found.retain(|mv| Some(left(mv)) == most);
        return;
    }
    found.retain(|mv| match (manner, offset(*mv, mover)) {
        ('左', (left, _)) => left > 0,
        ('右', (left, _)) => left < 0,
        ('直', (left, behind)) => left == 0 && behind > 0,
        ('上', (_, behind)) => behind > 0,
        ('引', (_, behind)) => behind < 0,
        (_, (_, behind)) => behind == 0,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usi(sfen: &str, text: &str) -> Result<String, &'static str> {
        let position = Position::from_sfen(sfen).unwrap();
        resolve(&position, square(5, 5), text).map(|mv| mv.to_usi())
    }

    #[test]
    fn squares_are_read_in_every_script() {
        for text in ["７六歩(77)", "▲76歩", "７６歩", "☗7六歩", "７六歩（７七）"] {
            assert_eq!(usi(rsshogi::board::STARTPOS_SFEN, text).as_deref(), Ok("7g7f"), "{text}");
        }
    }

    #[test]
    fn relative_words_are_seen_by_the_mover() {
        let golds = "4k4/9/9/3ggg3/9/3GGG3/9/9/4K4 b - 1";
        for (text, mv) in [("同金左", "6f5e"), ("同金直", "5f5e"), ("同　金右", "4f5e")] {
            assert_eq!(usi(golds, text).as_deref(), Ok(mv), "{text}");
        }
        let white = golds.replace(" b ", " w ");
        for (text, mv) in [("同金左", "4d5e"), ("同金直", "5d5e"), ("同金右", "6d5e")] {
            assert_eq!(usi(&white, text).as_deref(), Ok(mv), "{text}");
        }
        let silvers = "4k4/9/9/3S5/9/3S5/9/9/4K4 b - 1";
        assert_eq!(usi(silvers, "同銀上").as_deref(), Ok("6f5e"));
        assert_eq!(usi(silvers, "同銀引").as_deref(), Ok("6d5e"));
        assert_eq!(usi(silvers, "同銀"), Err("more than one piece could move so"));
    }

    #[test]
    fn left_and_right_of_two_horses_are_relative() {
        let horses = "4k4/9/9/9/9/3+B+B4/9/9/4K4 b - 1";
        assert_eq!(usi(horses, "同馬左").as_deref(), Ok("6f5e"));
        assert_eq!(usi(horses, "同馬右").as_deref(), Ok("5f5e"));
    }

    #[test]
    fn promotion_drops_and_lossy_names_are_distinguished() {
        let sfen = "4k4/9/9/2B6/9/9/9/9/4K4 b P 1";
        assert_eq!(usi(sfen, "５二角").as_deref(), Ok("7d5b"));
        assert_eq!(usi(sfen, "５二角成").as_deref(), Ok("7d5b+"));
        assert_eq!(usi(sfen, "５二角不成").as_deref(), Ok("7d5b"));
        assert_eq!(usi(sfen, "５二馬").as_deref(), Ok("7d5b+"));
        assert_eq!(usi(sfen, "５五歩").as_deref(), Ok("P*5e"));
        assert_eq!(usi(sfen, "５五歩打").as_deref(), Ok("P*5e"));
    }

    #[test]
    fn text_without_a_move_is_refused_with_a_reason() {
        let start = rsshogi::board::STARTPOS_SFEN;
        for (text, reason) in [
            ("７零歩", "no square is named"),
            ("７六駒", "no piece is named"),
            ("７六歩(70)", "origin that is no square"),
            ("７六歩(7", "origin without its end"),
            ("７六銀(77)", "the piece named does not stand on the origin"),
            ("５五歩", "no such move here"),
            ("７六歩回", "unknown word after the piece"),
            ("５五玉打", "a piece that cannot be dropped"),
        ] {
            assert_eq!(usi(start, text), Err(reason), "{text}");
        }
    }
}

//! A position as a picture that needs no script, with the lines of the one that `board.js` draws; and a game of a record for
//! the script of its page.

use crate::{
    game::Game,
    parts::{data, to_json},
};
use journal::FullGame;
use maud::{Markup, PreEscaped, html};
use notation::record::GameRecord;
use referee::clock::TimeControl;
use rsshogi::{
    board::Position,
    types::{Color, HandPiece, Move, PieceType, Square},
};
use serde::Serialize;

/// Width and height of a square.
const SQUARE: [i32; 2] = [40, 44];
/// The upper left corner of the squares.
const ORIGIN: [i32; 2] = [8, 60];
/// Width and height of the picture.
const BOARD: [i32; 2] = [384, 60 + 9 * 44 + 62];
/// Pieces as they are held, the strongest first.
const HELD: [HandPiece; 7] = [
    HandPiece::ROOK,
    HandPiece::BISHOP,
    HandPiece::GOLD,
    HandPiece::SILVER,
    HandPiece::KNIGHT,
    HandPiece::LANCE,
    HandPiece::PAWN,
];

/// A position, black below: the last move is marked, and an arrow shows another one.
pub fn drawn(position: &Position, last: Option<Move>, arrow: Option<Move>) -> Markup {
    let ([width, height], [left, top], [wide, high]) = (SQUARE, ORIGIN, BOARD);
    let (right, bottom) = (left + 9 * width, top + 9 * height);
    html! { svg viewBox=(format!("0 0 {wide} {high}")) {
        rect.wood x=(left - 4) y=(top - 4) width=(9 * width + 8) height=(9 * height + 8) rx="3" {}
        @if let Some(mv) = last { @for (class, square) in [("from", mv.dropped_piece().is_none().then(|| mv.from_sq())), ("last", Some(mv.to_sq()))] {
            @if let Some([x, y]) = square.map(middle) { rect class=(class) x=(x - width / 2) y=(y - height / 2) width=(width) height=(height) {} }
        } }
        @for line in 0..=9 {
            line.line x1=(left + line * width) x2=(left + line * width) y1=(top) y2=(bottom) {}
            line.line x1=(left) x2=(right) y1=(top + line * height) y2=(top + line * height) {}
        }
        @for (file, rank) in [(3, 3), (6, 3), (3, 6), (6, 6)] { circle.star cx=(left + file * width) cy=(top + rank * height) r="2.4" {} }
        @for (line, kanji) in (0..9).zip("一二三四五六七八九".chars()) {
            text.edge x=(left + line * width + width / 2) y=(top - 7) { (9 - line) }
            text.edge x=(right + 9) y=(top + line * height + height / 2 + 3) { (kanji) }
        }
        @for square in (0..81).map(Square::new) {
            @let piece = position.piece_on(square);
            @if !piece.is_empty() { (drawn_piece(piece.piece_type(), piece.color(), middle(square))) }
        }
        @for color in [Color::BLACK, Color::WHITE] { (hand(position, color)) }
        @if let Some(mv) = arrow { (drawn_arrow(position, mv)) }
    } }
}

fn middle(square: Square) -> [i32; 2] {
    let (file, rank) = (i32::from(square.file().raw()), i32::from(square.rank().raw()));
    [ORIGIN[0] + (8 - file) * SQUARE[0] + SQUARE[0] / 2, ORIGIN[1] + rank * SQUARE[1] + SQUARE[1] / 2]
}

fn kanji(piece: PieceType, color: Color) -> &'static str {
    const NAMES: [&str; 15] =
        ["", "歩", "香", "桂", "銀", "角", "飛", "金", "王", "と", "杏", "圭", "全", "馬", "龍"];
    match piece {
        PieceType::KING if color == Color::BLACK => "玉",
        other => NAMES.get(other.to_index()).copied().unwrap_or_default(),
    }
}

fn drawn_piece(piece: PieceType, color: Color, [x, y]: [i32; 2]) -> Markup {
    let turned = if color == Color::WHITE { " rotate(180)" } else { "" };
    html! { g transform=(format!("translate({x} {y}){turned}")) {
        path.piece d="M0-19 12-14 16 18H-16L-12-14Z" {}
        text.red[piece.is_promoted()] y="10.3" font-size="23" { (kanji(piece, color)) }
    } }
}

/// The pieces that a side holds: how many of each, and where it is drawn.
fn held(position: &Position, color: Color) -> Vec<(HandPiece, u32, [i32; 2])> {
    let hand = position.hand(color);
    let held: Vec<_> = HELD.into_iter().filter(|piece| hand.count(*piece) > 0).collect();
    let last = i32::try_from(held.len()).unwrap_or(0) - 1;
    let place = |at: i32| match color == Color::WHITE {
        true => [20 + 52 * at, 24],
        false => [BOARD[0] - 44 - 52 * (last - at), BOARD[1] - 24],
    };
    (0..).zip(held).map(|(at, piece)| (piece, hand.count(piece), place(at))).collect()
}

fn hand(position: &Position, color: Color) -> Markup {
    html! { @for (piece, count, [x, y]) in held(position, color) {
        (drawn_piece(piece.to_piece_type(), color, [x, y]))
        @if count > 1 { text.count x=(x + 24) y=(y + 6) { (count) } }
    } }
}

/// The arrow of a move: from its square, or from the piece in hand.
fn drawn_arrow(position: &Position, mv: Move) -> Markup {
    let of_hand = |piece| {
        let held = held(position, position.turn());
        held.into_iter().find(|(held, ..)| held.to_piece_type() == piece).map(|(.., place)| place)
    };
    let from = mv.dropped_piece().map_or_else(|| Some(middle(mv.from_sq())), of_hand);
    let Some(from) = from else { return Markup::default() };
    let [from, to] = [from, middle(mv.to_sq())].map(|at| at.map(f64::from));
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    // Along the way, and beside it.
    let at = |along: f64, beside: f64| {
        let (x, y) = (from[0] + ux * along - uy * beside, from[1] + uy * along + ux * beside);
        format!("{x:.1} {y:.1}")
    };
    let neck = length - 16.0;
    let outline =
        [(0.0, 3.0), (neck, 4.0), (neck, 11.0), (length, 0.0), (neck, -11.0), (neck, -4.0), (0.0, -3.0)];
    let path = outline.map(|(along, beside)| at(along, beside)).join("L");
    html! { path.arrow d={ "M" (path) "Z" } {} }
}

/// Width of the graph, its left and right edges, and the highest and the lowest place of an evaluation, as in `viewer.js`.
const GRAPH: [f64; 5] = [460.0, 40.0, 452.0, 6.0, 140.0];

/// The evaluations of a line as expected scores from black's side, as the script draws them; a mark is at the ply that is shown.
/// Without evaluations it is empty.
pub fn graph(line: &GameRecord, at: usize) -> Markup {
    let ([width, left, right, top, bottom], count) = (GRAPH, line.plies.len());
    let x = |ply: usize| left + (right - left) * ply as f64 / count.max(1) as f64;
    let y = |cp: i32| bottom - (bottom - top) / (1.0 + (-f64::from(cp) / 600.0).exp());
    let scores = |first: usize| line.plies.iter().enumerate().skip(first).step_by(2);
    let points = |first| {
        let scored = scores(first).filter_map(|(before, ply)| Some((before + 1, ply.score?)));
        scored.map(|(ply, cp)| format!("{:.1},{:.1}", x(ply), y(cp))).collect::<Vec<_>>().join(" ")
    };
    let sides = match line.start.split_whitespace().nth(1) == Some("w") {
        true => ["white", "black"],
        false => ["black", "white"],
    };
    html! { @if line.plies.iter().any(|ply| ply.score.is_some()) { svg viewBox=(format!("0 0 {width} 190")) aria-hidden="true" {
        line.zero x1=(left) x2=(right) y1=(y(0)) y2=(y(0)) {}
        @for (first, side) in sides.into_iter().enumerate() { g.(side) { polyline points=(points(first)) {} } }
        line.mark x1=(x(at)) x2=(x(at)) y1=(top) y2="184" {}
    } } }
}

/// A line of play for the script of its page, which draws it as that of a game is drawn.
#[derive(Serialize)]
struct Shown {
    now: i64,
    game: Game,
    /// Comments on the start, and after each move.
    comments: Vec<String>,
}

/// A line of a record without variations, for the script of its page.
pub fn line_of_play(line: &GameRecord, names: [String; 2]) -> Markup {
    let comments = std::iter::once(&line.comment).chain(line.plies.iter().map(|ply| &ply.comment));
    let comments = comments.map(|text| notation::printable_lines(text).into_owned()).collect();
    data(&Shown { now: journal::now(), game: Game::of_record(line, names), comments })
}

/// A game with its clocks, for the script of its page.
pub fn game(game: &FullGame, times: [TimeControl; 2]) -> Markup {
    let names = [game.row.black.clone(), game.row.white.clone()];
    data(&Shown { now: journal::now(), game: Game::stored(game, names, times), comments: vec![] })
}

/// Moves in USI as JSON.
pub fn moves(moves: &[String]) -> Markup {
    PreEscaped(to_json(&moves))
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::record::Ply;

    #[test]
    fn evaluations_are_drawn_from_the_side_of_black_for_each_player() {
        let mut plies = ["7g7f", "3c3d", "2g2f"].map(|usi| Ply::from(Move::from_usi(usi).unwrap()));
        let line = |plies: &[Ply]| GameRecord { plies: plies.to_vec(), ..GameRecord::default() };
        assert_eq!(graph(&line(&plies), 0).into_string(), "");
        (plies[0].score, plies[1].score, plies[2].score) = (Some(0), Some(-100_000), Some(100_000));
        let picture = graph(&line(&plies), 3).into_string();
        for part in [
            "<g class=\"black\"><polyline points=\"177.3,73.0 452.0,6.0\"",
            "<g class=\"white\"><polyline points=\"314.7,140.0\"",
        ] {
            assert!(picture.contains(part), "{part}: {picture}");
        }
    }

    #[test]
    fn a_position_is_drawn_with_its_hands_its_last_move_and_an_arrow() {
        rsshogi::board::init();
        let position = Position::from_sfen("4k4/9/9/9/4+R4/9/9/9/4K4 b 2Pg 1").unwrap();
        let usi = |text: &str| Move::from_usi(text).unwrap();
        let picture = drawn(&position, Some(usi("5f5e")), Some(usi("P*5b"))).into_string();
        for part in
            ["玉", "王", "龍", "金", "<text class=\"count\" x=\"364\"", "class=\"red\"", "class=\"arrow\""]
        {
            assert!(picture.contains(part), "{part}: {picture}");
        }
        assert_eq!(
            (picture.matches("class=\"piece\"").count(), picture.matches("class=\"last\"").count()),
            (5, 1)
        );
        let drop = drawn(&position, Some(usi("P*5b")), None).into_string();
        assert!(!drop.contains("class=\"from\"") && !drop.contains("arrow"), "{drop}");
    }
}

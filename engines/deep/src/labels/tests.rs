use super::*;
use rsshogi::board::{MoveList, position_from_sfen};
use rsshogi::movegen::generate_legal_all;
use std::collections::HashMap;
use usi_shell::Game;

fn position(sfen: &str) -> Position {
    position_from_sfen(sfen).unwrap()
}

fn legal(position: &Position) -> MoveList {
    let mut legal = MoveList::new();
    generate_legal_all(position, &mut legal);
    legal
}

/// The moves of a position that share a label with another.
fn ambiguous(labels: Labels, position: &Position) -> Vec<String> {
    let mut by_label: HashMap<u16, Vec<String>> = HashMap::new();
    for &mv in legal(position).iter() {
        let label = labels.label(position, mv).unwrap();
        assert!(usize::from(label) < labels.count(), "{}", mv.to_usi());
        by_label.entry(label).or_default().push(mv.to_usi());
    }
    let mut shared: Vec<String> = by_label.into_values().filter(|moves| moves.len() > 1).flatten().collect();
    shared.sort();
    shared
}

/// Gold on 4i and 6i both reach 5h; a knight in hand may be dropped where one may jump; a horse on the fifth
/// rank.
const CROWDED: &str = "4k4/9/9/9/3+B5/9/4p4/9/3GKG3 b N 1";

#[test]
fn directional_labels_name_every_legal_move_of_hundreds_of_positions() {
    let lines = ["kifu/openings.sfen", "kifu/middlegames.sfen", "kifu/check.sfen"]
        .map(|file| testing::text(&testing::repository().join(file)))
        .concat();
    let games = lines.lines().filter(|line| line.starts_with("sfen ") || line.starts_with("startpos "));
    let mut tried = 0;
    for line in games {
        let game = Game::parse(&format!("position {line}")).unwrap();
        assert_eq!(ambiguous(Labels::Directional, game.position()), [""; 0], "{line}");
        tried += 1;
    }
    tried += are_all_named(&testing::positions());
    assert!(tried > 900, "{tried}");
}

/// Asserts that every legal move of these positions has a unique label; returns the number of positions.
fn are_all_named(listed: &[testing::Listed]) -> usize {
    for testing::Listed { sfen, .. } in listed {
        assert_eq!(ambiguous(Labels::Directional, &position(sfen)), [""; 0], "{sfen}");
    }
    listed.len()
}

mod oracles {
    use super::*;

    #[test]
    #[ignore = "needs the oracles in ../shared/data: 5,200 positions of random games"]
    fn directional_labels_name_every_legal_move_of_thousands_of_positions() {
        assert_eq!(are_all_named(&testing::oracle_positions()), 5200);
    }
}

#[test]
fn kind_and_square_cannot_tell_two_golds_apart() {
    let position = position(CROWDED);
    assert_eq!(ambiguous(Labels::Directional, &position), [""; 0]);
    let shared = ambiguous(Labels::KindAndSquare, &position);
    assert_eq!(shared, ["4i5h", "6i5h"]);
}

#[test]
fn kind_and_square_cannot_tell_a_move_from_a_drop() {
    let position = position("4k4/9/9/9/9/9/9/9/4K1G2 b G 1");
    let shared = ambiguous(Labels::KindAndSquare, &position);
    assert!(shared.contains(&"G*3h".to_owned()) && shared.contains(&"3i3h".to_owned()), "{shared:?}");
}

#[test]
fn a_move_and_the_same_move_of_the_other_side_have_one_label() {
    let (black, white) = (position("4k4/9/9/9/9/9/P8/9/4K4 b - 1"), position("4k4/9/8p/9/9/9/9/9/4K4 w - 1"));
    for labels in [Labels::Directional, Labels::KindAndSquare] {
        let label = |position: &Position, mv| labels.label(position, Move::from_usi(mv).unwrap());
        assert_eq!(label(&black, "9g9f"), label(&white, "1c1d"));
        assert!(label(&black, "9g9f").is_some());
    }
}

#[test]
fn mirroring_a_label_is_labelling_the_mirrored_move() {
    let (left, right) =
        (position("4k4/9/9/9/9/9/P8/1B7/4K4 b N 1"), position("4k4/9/9/9/9/9/8P/7B1/4K4 b N 1"));
    for labels in [Labels::Directional, Labels::KindAndSquare] {
        for &mv in legal(&left).iter() {
            let mirrored = labels.label(&right, mv.mirror_file());
            let label = labels.label(&left, mv).unwrap();
            assert_eq!(Some(labels.mirrored(label)), mirrored, "{}", mv.to_usi());
            assert_eq!(labels.mirrored(labels.mirrored(label)), label);
        }
    }
}

#[test]
fn a_resignation_has_no_label() {
    let position = position(CROWDED);
    for labels in [Labels::Directional, Labels::KindAndSquare] {
        assert_eq!(labels.label(&position, rsshogi::types::Move::MOVE_RESIGN), None);
    }
}

#[test]
fn directional_labels_are_those_of_the_rules_library() {
    let black = "4k4/1R5B1/2SNL4/9/9/9/9/9/4K4 b RB3G2S2N2L9P 1";
    let white = "4k4/9/9/9/9/9/4lns2/1b5r1/4K4 w rb3g2s2n2l9p 1";
    for position in [black, white].map(position) {
        let mut moves = MoveList::new();
        generate_legal_all(&position, &mut moves);
        assert!(moves.iter().any(|mv| mv.is_promotion()) && moves.iter().any(|mv| mv.is_drop()));
        for &mv in moves.iter() {
            let known = MoveLabel::from_move(mv, position.turn()).map(MoveLabel::raw);
            assert_eq!(Labels::Directional.label(&position, mv), known, "{}", mv.to_usi());
        }
        assert_eq!(Labels::Directional.label(&position, Move::MOVE_NONE), None);
    }
}

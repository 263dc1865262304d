use rsshogi::board::{self, InitialPosition, Move32List, Position};
use rsshogi::movegen::generate_legal_all_move32;
use usi_shell::SplitMix64;

use super::*;
use crate::evaluation::sharing::Group;

/// Weights that are all different, so that a piece counted on the wrong square is detected.
fn random_weights(seed: u64) -> Weights {
    let sharing = Sharing::new();
    let mut random = SplitMix64::new(seed);
    let mut parameters = Parameters::material(&sharing);
    for group in &Group::ALL[1..] {
        for value in &mut parameters.values[sharing.range(*group)] {
            *value = (random.next_u64() % 4001) as f32 / SCALE as f32 - 62.5;
        }
    }
    parameters.expand(&sharing)
}

/// Plays at most `plies` random legal moves and calls `before` ahead of each.
fn random_game(sfen: &str, seed: u64, plies: usize, mut before: impl FnMut(&Position, Move32)) {
    let mut position = board::position_from_sfen(sfen).unwrap();
    let mut random = SplitMix64::new(seed);
    for _ in 0..plies {
        let mut legal = Move32List::new();
        generate_legal_all_move32(&position, &mut legal);
        let Some(&mv) = random.choose(legal.as_slice()) else { return };
        before(&position, mv);
        position.apply_move32(mv);
    }
}

fn sums(sums: &Accumulator) -> (i32, i32, [i32; 2], Vec<u16>) {
    let mut pieces = sums.pieces.to_vec();
    pieces.sort_unstable();
    (sums.single, sums.pair, sums.king, pieces)
}

#[derive(Default)]
struct Seen {
    promotions: usize,
    captures: usize,
    drops: usize,
    king_moves: usize,
    king_captures: usize,
    captures_of_promoted: usize,
}

impl Seen {
    fn note(&mut self, position: &Position, mv: Move32) {
        let captured = position.piece_on(mv.to_sq());
        let king = !mv.is_drop() && position.piece_on(mv.from_sq()).piece_type() == PieceType::KING;
        self.promotions += usize::from(mv.is_promotion());
        self.captures += usize::from(!captured.is_empty());
        self.drops += usize::from(mv.is_drop());
        self.king_moves += usize::from(king);
        self.king_captures += usize::from(king && !captured.is_empty());
        self.captures_of_promoted += usize::from(captured.is_promoted());
    }

    fn fewest(&self) -> usize {
        let kinds = [self.promotions, self.captures, self.drops, self.king_moves, self.king_captures];
        kinds.into_iter().chain([self.captures_of_promoted]).min().unwrap()
    }
}

const STARTS: [&str; 5] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    // Handicap positions: two pieces, eight pieces.
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "3gkg3/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    // A late middle game with many pieces in hand and exposed kings.
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
    "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124",
];

#[test]
fn incremental_sums_equal_those_from_scratch() {
    let weights = random_weights(1);
    let (mut seen, mut positions) = (Seen::default(), 0);
    for (at, sfen) in STARTS.iter().cycle().take(60).enumerate() {
        let mut kept: Option<Accumulator> = None;
        random_game(sfen, at as u64, 150, |position, mv| {
            let fresh = weights.accumulate(position);
            let held = kept.unwrap_or(fresh);
            assert_eq!(sums(&held), sums(&fresh), "{}", position.to_sfen(None));
            assert_eq!(weights.value(&held, position), weights.value(&fresh, position));
            kept = Some(weights.advance(&held, position, mv));
            seen.note(position, mv);
            positions += 1;
        });
    }
    assert!(positions > 5000 && seen.fewest() > 20, "{positions} positions say too little");
}

fn mirrored(position: &Position) -> Position {
    let sfen = position.to_sfen(None);
    let mut fields: Vec<String> = sfen.split(' ').map(str::to_owned).collect();
    let rank = |rank: &str| {
        let mut pieces = Vec::new();
        let mut rest = rank.chars();
        while let Some(letter) = rest.next() {
            pieces.push(if letter == '+' {
                format!("+{}", rest.next().unwrap())
            } else {
                letter.to_string()
            });
        }
        pieces.reverse();
        pieces.concat()
    };
    fields[0] = fields[0].split('/').map(rank).collect::<Vec<_>>().join("/");
    board::position_from_sfen(&fields.join(" ")).unwrap()
}

#[test]
fn a_mirrored_position_is_worth_the_same_and_the_opponents_view_of_it_too() {
    let weights = random_weights(2);
    for (at, sfen) in STARTS.iter().enumerate() {
        random_game(sfen, at as u64, 120, |position, _| {
            let value = |position: &Position| weights.value(&weights.accumulate(position), position);
            // Flipping changes side to move and colours, so the value for the side to move is the same.
            assert_eq!(value(&position.to_flipped()), value(position), "{}", position.to_sfen(None));
            assert_eq!(value(&mirrored(position)), value(position), "{}", position.to_sfen(None));
        });
    }
}

#[test]
fn the_start_position_is_even_and_a_missing_rook_costs_a_rook() {
    let weights = Weights::material();
    let value = |position: &Position| weights.value(&weights.accumulate(position), position);
    assert_eq!(value(&board::hirate_position()), 0);
    let handicap = board::position_from_sfen(InitialPosition::HandicapRook.to_sfen()).unwrap();
    assert_eq!(handicap.turn(), Color::WHITE);
    assert_eq!(value(&handicap), -piece_value(PieceType::ROOK));
}

#[test]
fn a_board_with_too_many_pieces_is_still_evaluated() {
    let weights = random_weights(3);
    let sfen = "GGGGGGGGG/GGGGGGGGG/GGGGGGGGG/4k4/9/4K4/ggggggggg/ggggggggg/ggggggggg b 18P18p 1";
    let position = Position::from_sfen(sfen).unwrap();
    weights.value(&weights.accumulate(&position), &position);
}

#[test]
fn parameters_survive_a_round_trip_through_a_file() {
    let sharing = Sharing::new();
    let mut parameters = Parameters::material(&sharing);
    for (at, value) in parameters.values.iter_mut().enumerate().skip(sharing::MATERIAL).step_by(97) {
        *value = (at % 2001) as f32 / 32.0 - 31.0;
    }
    let mut bytes = Vec::new();
    file::write(&parameters, &mut bytes).unwrap();
    assert!(bytes.len() < 1 << 20);
    assert_eq!(file::read(&bytes[..], &sharing).unwrap(), parameters);
}

#[test]
fn a_file_without_weights_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.kpw");
    let reason = |path: &Path| Weights::load(path).err().unwrap().to_string();
    assert!(reason(&path).contains("broken.kpw"));
    fs::write(&path, "something else altogether").unwrap();
    assert!(reason(&path).ends_with("not a weights file of renmei-pairwise"));
    let sharing = Sharing::new();
    let mut bytes = Vec::new();
    file::write(&Parameters::material(&sharing), &mut bytes).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(reason(&path).contains("broken.kpw"));
    fs::write(&path, &bytes).unwrap();
    assert!(Weights::load(&path).unwrap() == Weights::material());
}

#[test]
fn the_program_brings_learned_weights() {
    let weights = Weights::embedded();
    assert!(weights != Weights::material());
    // Any sensible weights value an advantage of two rooks as a lead.
    let position = Position::from_sfen(STARTS[1]).unwrap();
    assert!(weights.value(&weights.accumulate(&position), &position) < -500);
}

#[test]
fn the_option_tells_material_from_a_file_of_that_name() {
    assert!(Weights::choose("material").unwrap() == Weights::material());
    assert!(Weights::choose("").unwrap() == Weights::choose("default").unwrap());
    assert!(Weights::choose("./material").is_err());
}

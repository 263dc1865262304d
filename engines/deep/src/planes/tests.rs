use super::*;
use rsshogi::board::{STARTPOS_SFEN, position_from_sfen};
use rsshogi::types::Square;
use tch::{Device, Kind, Tensor};

const ALL: [Features; 3] = [Features::Joint, Features::Nene, Features::Optim];
const MIDDLE: &str = "ln1g3nl/1r2gks2/p1ppppb1p/6pp1/1p7/2P1P1P1P/PPSP1P3/1BG1GS1R1/LN1K3NL b Pp 31";

/// The planes of a position without the constant ones, 81 floats per plane.
fn expand(features: Features, packed: &Packed, cells: &mut [f32]) {
    cells.fill(0.0);
    replace(features, packed, &mut vec![0; features.packed_len()], cells);
}

fn position(sfen: &str) -> Position {
    position_from_sfen(sfen).unwrap()
}

/// All planes of a position, constant ones included, `[plane][cell]`.
fn planes(features: Features, position: &Position, seen: u8) -> Vec<Vec<f32>> {
    let mut cells = vec![7.0; (features.boards() + features.fills()) * 81];
    expand(features, &features.pack(position, seen), &mut cells);
    let constants = constants(features, Device::Cpu, Kind::Float).flatten(0, 3);
    cells.extend(Vec::<f32>::try_from(constants).unwrap());
    cells.chunks(81).map(<[f32]>::to_vec).collect()
}

fn cell(usi: &str) -> usize {
    Square::from_usi(usi).unwrap().to_board_index()
}

/// The squares where a plane is not 0.
fn set(plane: &[f32]) -> Vec<String> {
    let raised = (0..81).filter(|&cell| plane[cell] != 0.0);
    raised.map(|cell| Square::from_index(cell).to_usi()).collect()
}

fn filled(plane: &[f32]) -> Option<f32> {
    plane.iter().all(|&cell| cell == plane[0]).then_some(plane[0])
}

#[test]
fn the_numbers_of_planes_are_those_of_the_originals() {
    assert_eq!(ALL.map(Features::planes), [95, 61, 104]);
    for features in ALL {
        assert_eq!(planes(features, &position(STARTPOS_SFEN), 0).len(), features.planes());
        assert_eq!(features.pack(&position(STARTPOS_SFEN), 0).0.len(), features.packed_len());
    }
}

#[test]
fn pieces_are_set_on_their_squares() {
    for features in ALL {
        let planes = planes(features, &position(STARTPOS_SFEN), 0);
        assert_eq!(set(&planes[0]).len(), 9);
        assert!(set(&planes[0]).iter().all(|square| square.ends_with('g')));
        assert_eq!(set(&planes[4]), ["8h"], "bishop");
        assert_eq!(set(&planes[5]), ["2h"], "rook");
        assert_eq!(set(&planes[7]), ["5i"], "king");
        assert_eq!(set(&planes[14 + 4]), ["2b"], "the opponent's bishop");
        assert_eq!(set(&planes[14 + 13]), [""; 0], "the opponent's dragon");
    }
}

#[test]
fn white_sees_what_black_would_see_with_the_colours_exchanged() {
    let (black, turned) = (position(MIDDLE), position(MIDDLE).to_flipped());
    assert_ne!(black.turn(), turned.turn());
    for features in ALL {
        assert_eq!(features.pack(&black, 1), features.pack(&turned, 1));
    }
}

#[test]
fn a_mirrored_position_is_the_position_of_the_mirrored_board() {
    let (one, other) = ("4k4/1r7/9/9/9/2P6/9/7B1/4KG3 b GSPp 1", "4k4/7r1/9/9/9/6P2/9/1B7/3GK4 b GSPp 1");
    for features in ALL {
        assert_eq!(features.pack_view(&position(one), 0, true), features.pack(&position(other), 0));
        assert_ne!(features.pack(&position(one), 0), features.pack(&position(other), 0));
    }
}

#[test]
fn eighteen_pawns_in_hand_fit() {
    let position = position("4k4/9/9/9/9/9/9/9/4K4 b 18P 1");
    let optim = planes(Features::Optim, &position, 0);
    let own: Vec<_> = optim[28..66].iter().map(|plane| filled(plane)).collect();
    assert_eq!(own, [vec![Some(1.0); 18], vec![Some(0.0); 20]].concat());
    assert!(optim[66..].iter().all(|plane| filled(plane) == Some(0.0)));
    let nene = planes(Features::Nene, &position, 0);
    assert_eq!(nene[28..42].iter().map(|plane| filled(plane).unwrap()).sum::<f32>(), 18.0);
    assert_eq!(filled(&nene[28]), Some(18.0));
    let joint = planes(Features::Joint, &position, 0);
    assert!(joint[34..42].iter().all(|plane| filled(plane) == Some(1.0)));
    assert!(joint[42..94].iter().all(|plane| filled(plane) == Some(0.0)));
}

#[test]
fn each_count_in_hand_has_its_plane() {
    let optim = planes(Features::Optim, &position("4k4/9/9/9/9/9/9/9/4K4 w 2B2GPr3s 1"), 0);
    let raised: Vec<usize> = (28..104).filter(|&plane| filled(&optim[plane]) == Some(1.0)).collect();
    // White is to move, with three silvers and a rook in hand; the opponent has a pawn, two golds and two
    // bishops.
    assert_eq!(raised, [28 + 26, 28 + 27, 28 + 28, 28 + 36, 66, 66 + 30, 66 + 31, 66 + 34, 66 + 35]);
}

#[test]
fn nene_planes_have_ranks_files_and_ones() {
    let planes = planes(Features::Nene, &position(STARTPOS_SFEN), 0);
    assert!(set(&planes[42]).iter().all(|square| square.ends_with('a')) && set(&planes[42]).len() == 9);
    assert!(set(&planes[51]).iter().all(|square| square.starts_with('1')) && set(&planes[51]).len() == 9);
    assert_eq!(filled(&planes[60]), Some(1.0));
}

#[test]
fn joint_planes_have_attacks_check_and_repetition() {
    // A rook on 5e checks the king on 5a; gold and king both guard 5h.
    let planes = planes(Features::Joint, &position("4k4/9/9/9/4R4/9/9/9/4KG3 w - 1"), 2);
    assert_eq!(filled(&planes[90]), Some(1.0), "check");
    let repeated: Vec<_> = planes[91..94].iter().map(|plane| filled(plane).unwrap()).collect();
    assert_eq!(repeated, [1.0, 1.0, 0.0]);
    assert_eq!(filled(&planes[94]), Some(1.0), "ones");
    // White is to move, so the board is rotated: 5h becomes 5b.
    let (once, twice, thrice) = (&planes[31], &planes[32], &planes[33]);
    assert_eq!([once[cell("5b")], twice[cell("5b")], thrice[cell("5b")]], [1.0, 1.0, 1.0]);
    assert_eq!([once[cell("5i")], twice[cell("5i")]], [1.0, 0.0], "the checked king's square");
    assert_eq!([once[cell("1e")], once[cell("1a")]], [1.0, 0.0]);
    assert_eq!(set(&planes[28]).len(), 5, "the bare king's five squares");
}

#[test]
fn a_fourth_occurrence_sets_three_repetition_planes() {
    let position = position(MIDDLE);
    assert_ne!(Features::Joint.pack(&position, 0), Features::Joint.pack(&position, 3));
    assert_eq!(Features::Joint.pack(&position, 3), Features::Joint.pack(&position, 200));
}

#[test]
fn a_device_expands_planes_as_the_cpu_does() {
    for features in ALL {
        let positions =
            [position(STARTPOS_SFEN), position(MIDDLE), position("4k4/9/9/9/9/9/9/9/4K4 w 18P2Br 1")];
        let packed: Vec<Packed> = positions.iter().map(|position| features.pack(position, 1)).collect();
        let bytes: Vec<u8> = packed.iter().flat_map(|packed| packed.0.to_vec()).collect();
        let there = unpack_on_device(features, &Tensor::from_slice(&bytes).view([3, -1]), Kind::Float);
        let varying = (features.boards() + features.fills()) * 81;
        let mut here = vec![0.0; 3 * varying];
        packed
            .iter()
            .zip(here.chunks_mut(varying))
            .for_each(|(packed, cells)| expand(features, packed, cells));
        assert_eq!(Vec::<f32>::try_from(there.contiguous().flatten(0, 3)).unwrap(), here, "{features:?}");
    }
}

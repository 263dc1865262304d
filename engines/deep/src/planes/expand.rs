//! Expands packed planes to floats: on the CPU cell by cell, on a GPU with a few operations over a whole batch.

use super::{BOARD_BYTES, Features, Packed};
use tch::{Device, Kind, Tensor};

const CELLS: usize = 81;

/// Writes the planes of a position without the constant ones into `cells`, 81 floats per plane, which have those of the packed
/// bytes in `shown` before. Positions of a search are alike, so few of their 7,000 cells are written.
pub(crate) fn replace(features: Features, packed: &Packed, shown: &mut [u8], cells: &mut [f32]) {
    let split = features.boards() * BOARD_BYTES;
    let (boards, fills) = packed.0.split_at(split);
    let (old_boards, old_fills) = shown.split_at(split);
    let (board_cells, fill_cells) = cells.split_at_mut(features.boards() * CELLS);
    let pairs = boards.chunks_exact(BOARD_BYTES).zip(old_boards.chunks_exact(BOARD_BYTES));
    for (plane, (new, old)) in board_cells.chunks_exact_mut(CELLS).zip(pairs) {
        let (new, old) = (bits(new), bits(old));
        let mut changed = new ^ old;
        while changed != 0 {
            let cell = changed.trailing_zeros();
            plane[cell as usize] = f32::from((new >> cell) as u8 & 1);
            changed &= changed - 1;
        }
    }
    for (plane, (&new, &old)) in fill_cells.chunks_exact_mut(CELLS).zip(fills.iter().zip(old_fills)) {
        if new != old {
            plane.fill(f32::from(new));
        }
    }
    shown.copy_from_slice(&packed.0);
}

fn bits(bytes: &[u8]) -> u128 {
    let mut wide = [0; 16];
    wide[..BOARD_BYTES].copy_from_slice(bytes);
    u128::from_le_bytes(wide)
}

/// Expands a batch of packed positions (`[batch, packed_len]`, bytes) on their device: `[batch, planes without
/// the constant ones, 9, 9]`.
pub(crate) fn unpack_on_device(features: Features, packed: &Tensor, kind: Kind) -> Tensor {
    let (batch, boards) = (packed.size()[0], features.boards() as i64);
    let board_bytes = boards * BOARD_BYTES as i64;
    let masks = Tensor::from_slice(&[1u8, 2, 4, 8, 16, 32, 64, 128]).to_device(packed.device());
    let bits = packed.narrow(1, 0, board_bytes).view([batch, boards, BOARD_BYTES as i64, 1]);
    let bits = bits.bitwise_and_tensor(&masks).not_equal(0).view([batch, boards, 8 * BOARD_BYTES as i64]);
    let cells = bits.narrow(2, 0, CELLS as i64).to_kind(kind).view([batch, boards, 9, 9]);
    let fills = packed.narrow(1, board_bytes, features.fills() as i64).to_kind(kind);
    let fills = fills.view([batch, -1, 1, 1]).expand([batch, features.fills() as i64, 9, 9], false);
    Tensor::cat(&[cells, fills], 1)
}

/// The planes that are equal in every position: `[1, constant planes, 9, 9]`.
pub(crate) fn constants(features: Features, device: Device, kind: Kind) -> Tensor {
    let ones = vec![1.0; CELLS];
    let one_hot = |is_set: fn(usize, usize) -> bool| {
        (0..9).flat_map(move |which| (0..CELLS).map(move |cell| f32::from(u8::from(is_set(cell, which)))))
    };
    let cells: Vec<f32> = match features {
        Features::Joint => ones,
        Features::Nene => {
            let ranks = one_hot(|cell, rank| cell % 9 == rank);
            let files = one_hot(|cell, file| cell / 9 == file);
            ranks.chain(files).chain(ones).collect()
        }
        Features::Optim => Vec::new(),
    };
    Tensor::from_slice(&cells)
        .view([1, features.constant_planes() as i64, 9, 9])
        .to_device(device)
        .to_kind(kind)
}

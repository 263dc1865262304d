//! Binary formats with entries of fixed length.

use super::content;
use crate::samples::{Corpus, Sample};
use anyhow::{Context, Result, bail};
use rsshogi::{
    board::{PackedSfen, Position},
    records::formats::hcpe::{HCPE_ENTRY_BYTES, HcpeGameResult, decode_entry},
    types::{Color, Move},
};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
};

/// Bytes: position 32, score 2, move 2, ply 2, result 1, padding 1; little-endian, from the view of the side to
/// move.
const PSV_ENTRY_BYTES: usize = 40;

/// A ply that does not follow the previous one starts another game, so that shuffled files are split by
/// position.
pub(super) fn read_psv(path: &Path, bytes: &[u8], corpus: &mut Corpus) -> Result<()> {
    let (mut game, mut expected) = (0, None);
    for (number, entry) in entries(path, bytes, PSV_ENTRY_BYTES)? {
        let ply = u16::from_le_bytes([entry[36], entry[37]]);
        if expected != Some(ply) {
            game = hash(&entry[..32]);
            corpus.games += 1;
        }
        expected = ply.checked_add(1);
        let sample = psv(entry, game).map_err(|fault| invalid(path, number, &fault.to_string()))?;
        corpus.samples.push(sample);
    }
    Ok(())
}

fn psv(entry: &[u8], game: u64) -> Result<Sample> {
    let mut data = [0; 32];
    data.copy_from_slice(&entry[..32]);
    let half_points = match entry[38] as i8 {
        result @ -1..=1 => (result + 1) as u8,
        other => bail!("result {other} is not -1, 0 or 1"),
    };
    let sample = Sample {
        position: PackedSfen { data },
        mv: Move::from_raw(u16::from_le_bytes([entry[34], entry[35]])),
        seen: 0,
        score: Some(i16::from_le_bytes([entry[32], entry[33]])),
        half_points: Some(half_points),
        game,
        source: 0,
    };
    legal(sample)
}

/// The format has no game boundaries, so it is split by position.
pub(super) fn read_hcpe(path: &Path, bytes: &[u8], corpus: &mut Corpus) -> Result<()> {
    for (number, entry) in entries(path, bytes, HCPE_ENTRY_BYTES)? {
        let sample = hcpe(entry).map_err(|fault| invalid(path, number, &fault.to_string()))?;
        corpus.samples.push(sample);
    }
    Ok(())
}

fn hcpe(entry: &[u8]) -> Result<Sample> {
    let decoded = decode_entry(entry)?;
    let mut position = Position::empty();
    position.set_huffman_coded_pos(&decoded.hcp, 1)?;
    let half_points = match decoded.game_result {
        HcpeGameResult::Draw => 1,
        HcpeGameResult::BlackWin => 2 * u8::from(position.turn() == Color::BLACK),
        HcpeGameResult::WhiteWin => 2 * u8::from(position.turn() == Color::WHITE),
    };
    let sample = Sample {
        position: position.try_to_packed_sfen()?,
        mv: decoded.best_move16.to_move(),
        seen: 0,
        score: Some(decoded.eval),
        half_points: Some(half_points),
        game: hash(&entry[..32]),
        source: 0,
    };
    legal(sample)
}

fn legal(sample: Sample) -> Result<Sample> {
    let (_, legal) = sample.unpacked().context("the position cannot be unpacked")?;
    let is_legal = legal.as_slice().contains(&sample.mv);
    is_legal.then_some(sample).with_context(|| format!("move `{}` is not legal", sample.mv.to_usi()))
}

fn entries<'a>(
    path: &Path,
    bytes: &'a [u8],
    length: usize,
) -> Result<impl Iterator<Item = (usize, &'a [u8])>> {
    let entries = bytes.chunks_exact(length);
    if entries.remainder().is_empty() {
        return Ok(entries.enumerate());
    }
    let reason = format!("{} bytes are left over: entries have {length}", entries.remainder().len());
    Err(invalid(path, bytes.len() / length, &reason))
}

fn invalid(path: &Path, number: usize, reason: &str) -> anyhow::Error {
    content(path, format_args!("entry {}", number + 1), reason)
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

//! File format of weights: a header line, then the compressed parameters.
//!
//! A parameter has two bytes (a piece value four), little-endian, in units of 1/32 centipawn, in the order of
//! [`Sharing`](super::sharing::Sharing). Most are zero, so files are small.

use std::io::{self, Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::parameters::Parameters;
use super::sharing::{MATERIAL, Sharing};

const FORMAT: &[u8] = b"renmei-pairwise 1\n";

/// Why a file is not a weights file.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The header is wrong.
    #[error("not a weights file of renmei-pairwise")]
    Foreign,
    /// The number of bytes is wrong.
    #[error("{found} bytes of parameters instead of {expected}")]
    Length {
        /// Bytes found.
        found: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// The file cannot be read or decompressed.
    #[error("decompression failed: {0}")]
    Unpack(#[from] io::Error),
}

/// Reads parameters.
pub fn read(mut from: impl Read, sharing: &Sharing) -> Result<Parameters, FileFault> {
    let mut format = [0; FORMAT.len()];
    match from.read_exact(&mut format) {
        Ok(()) if format == FORMAT => {}
        _ => return Err(FileFault::Foreign),
    }
    let expected = 2 * sharing.parameters() + 2 * MATERIAL;
    let mut bytes = Vec::with_capacity(expected);
    ZlibDecoder::new(from).take(expected as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() != expected {
        return Err(FileFault::Length { found: bytes.len(), expected });
    }
    let (material, rest) = bytes.split_at(4 * MATERIAL);
    let material = material.as_chunks().0.iter().map(|&four| i32::from_le_bytes(four));
    let rest = rest.as_chunks().0.iter().map(|&two| i32::from(i16::from_le_bytes(two)));
    Ok(Parameters::from_units(&material.chain(rest).collect::<Vec<_>>()))
}

/// Writes parameters, rounded to whole units.
pub fn write(parameters: &Parameters, mut to: impl Write) -> io::Result<()> {
    to.write_all(FORMAT)?;
    let units = parameters.whole_units();
    let (material, rest) = units.split_at(MATERIAL);
    let mut bytes: Vec<u8> = material.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    bytes.extend(rest.iter().flat_map(|&unit| (unit as i16).to_le_bytes()));
    let mut packed = ZlibEncoder::new(&mut to, Compression::best());
    packed.write_all(&bytes)?;
    packed.finish()?;
    to.flush()
}

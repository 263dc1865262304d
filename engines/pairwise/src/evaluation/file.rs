//! Weights as a file: a line that names the format, then the parameters, compressed.
//!
//! Two bytes for each parameter (four for piece values), little end first, in units of 1/32 centipawn, in
//! the order of [`Sharing`](super::sharing::Sharing). Most are zero, so a file is small.

use std::io::{self, Read, Write};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::parameters::Parameters;
use super::sharing::{MATERIAL, Sharing};

const FORMAT: &[u8] = b"renmei-pairwise 1\n";

/// Why bytes are no weights.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// They do not begin as they should.
    #[error("this is no evaluation of renmei-pairwise")]
    Foreign,
    /// They end early, or go on where they should end.
    #[error("it holds {found} bytes of parameters instead of {expected}")]
    Length {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// They cannot be read or unpacked.
    #[error("it cannot be unpacked: {0}")]
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

/// Writes parameters; what is finer than a unit is rounded.
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

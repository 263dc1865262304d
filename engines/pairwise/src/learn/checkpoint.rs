//! Checkpoints between passes: a resumed run gives the same result as an uninterrupted one.
//!
//! File format: a header line, a line of JSON (the progress), then the parameters and the optimiser's sums as
//! little-endian 32-bit floats.

use std::io::Write;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::report::Stage;
use super::settings::Settings;
use crate::Fault;

const FORMAT: &str = "renmei-pairwise training 1";

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub settings: Settings,
    /// Number of training samples; a run with other samples is refused.
    pub positions: usize,
    /// Agreement before and after each pass.
    pub stages: Vec<Stage>,
}

/// Writes a checkpoint atomically: after a crash the previous one is intact.
///
/// # Errors
/// When the file cannot be written.
pub fn save(path: &Path, progress: &Progress, numbers: [&[f32]; 2]) -> Result<(), Fault> {
    let io = |fault: io::Error| Fault::from(format!("checkpoint `{}`: {fault}", path.display()));
    let mut bytes = format!("{FORMAT}\n").into_bytes();
    serde_json::to_writer(&mut bytes, progress).map_err(|fault| io(fault.into()))?;
    bytes.push(b'\n');
    bytes.extend(numbers.into_iter().flatten().flat_map(|number| number.to_le_bytes()));
    let fresh = path.with_extension("new");
    let mut file = fs::File::create(&fresh).map_err(io)?;
    file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(io)?;
    fs::rename(&fresh, path).map_err(io)
}

/// Reads a checkpoint of `count` parameters: progress, parameters, and the optimiser's sums.
///
/// # Errors
/// When the file is missing or does not match.
pub fn load(path: &Path, count: usize) -> Result<(Progress, [Vec<f32>; 2]), Fault> {
    let bytes = fs::read(path).map_err(|fault| format!("checkpoint `{}`: {fault}", path.display()))?;
    parse(&bytes, count).map_err(|fault| unusable(path, &fault.to_string()))
}

/// A checkpoint that does not match this run.
pub fn unusable(path: &Path, reason: &str) -> Fault {
    format!("checkpoint `{}` cannot be used: {reason}", path.display()).into()
}

fn parse(bytes: &[u8], count: usize) -> Result<(Progress, [Vec<f32>; 2]), Fault> {
    let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
    let (format, json, numbers) = (lines.next(), lines.next(), lines.next());
    if format != Some(FORMAT.as_bytes()) {
        return Err("it is not of this program or of another version".into());
    }
    let progress = serde_json::from_slice(json.unwrap_or_default())?;
    let (numbers, rest) = numbers.unwrap_or_default().as_chunks::<4>();
    if numbers.len() != 2 * count || !rest.is_empty() {
        return Err(format!("{} numbers instead of {}", numbers.len(), 2 * count).into());
    }
    let (parameters, squares) = numbers.split_at(count);
    let floats = |bytes: &[[u8; 4]]| bytes.iter().map(|&four| f32::from_le_bytes(four)).collect();
    Ok((progress, [floats(parameters), floats(squares)]))
}

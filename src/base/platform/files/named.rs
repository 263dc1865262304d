//! Files that somebody has named: nobody at the other end of a pipe is waited for, and nothing is read without a bound.
//!
//! What a configuration, a form or a directory names is a regular file, as nobody is there to end a wait. What is typed on the
//! command line to be read once may also be a pipe whose other end is open by then, or a terminal; what is to be written, a
//! device, too. A file that is written replaces what the same command wrote before, and no other.

use super::{Stamp, refuse_input, side};
use std::{
    fs::{File, OpenOptions},
    io::{self, IsTerminal, Read},
    path::Path,
};

/// Most bytes of a configuration, and of certificates: a bundle of all authorities has a quarter of it.
pub const SMALL: u64 = 1_000_000;
/// Most bytes of records, openings and logs.
pub const LARGE: u64 = 1_000_000_000;
/// Bytes that say what a file holds: whole entries of packed positions, which have 40 or 38 bytes.
const HEAD: u64 = 40 * 38 * 1024;

/// Opens a regular file for reading.
///
/// # Errors
/// When it cannot be read, or is none.
pub fn regular(path: &Path) -> io::Result<File> {
    checked(opened(path)?)
}

fn opened(path: &Path) -> io::Result<File> {
    side::at_once(OpenOptions::new().read(true), path).map_err(|error| match path.is_symlink() {
        true if error.kind() == io::ErrorKind::NotFound => {
            io::Error::new(error.kind(), "it is a link to a file that is not there")
        }
        _ => error,
    })
}

pub(super) fn checked(file: File) -> io::Result<File> {
    match file.metadata()? {
        found if found.is_file() => Ok(file),
        found if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("it is a pipe or a device; name a regular file")),
    }
}

/// Opens what was typed on the command line for reading.
///
/// # Errors
/// When it cannot be read, or is a device: those such as `/dev/random` have no end.
pub fn typed(path: &Path) -> io::Result<File> {
    let file = opened(path)?;
    match Stamp::of(&file).is_ok_and(|found| found.is_device()) && !file.is_terminal() {
        true => Err(io::Error::other("it is a device; name a file or a pipe")),
        false => Ok(file),
    }
}

/// The contents of a regular file of at most `most` bytes.
///
/// # Errors
/// When it cannot be read, is none, or is larger.
pub fn contents(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(regular(path)?, most)
}

/// The contents, of at most `most` bytes, of what was typed on the command line; `-` is standard input.
///
/// # Errors
/// When it cannot be read, is larger, or is a pipe into which nobody writes.
pub fn typed_contents(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let is_input = path == Path::new("-");
    let bytes = if is_input { whole(io::stdin(), most) } else { whole(typed(path)?, most) }?;
    match bytes.is_empty() && !path.is_file() {
        true => Err(io::Error::other("nothing came out of it; start first what writes into a pipe")),
        false => Ok(bytes),
    }
}

fn whole(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    from.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it is larger than {} MB", most / 1_000_000))),
        false => Ok(bytes),
    }
}

/// The text of contents.
///
/// # Errors
/// When they are not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Opens a file for appending `what`: a new or an empty one, or one whose beginning `is_ours`.
///
/// # Errors
/// When it holds something else or cannot be written, or is a pipe that nobody reads.
pub fn append(path: &Path, what: &str, is_ours: impl FnOnce(&[u8]) -> bool) -> io::Result<File> {
    refuse_other(path, what, is_ours)?;
    side::at_once(OpenOptions::new().create(true).append(true), path)
}

/// Creates a file for `what`, with the mode of the user's umask; it replaces an empty one, or one whose beginning `is_ours`,
/// which keeps its mode.
///
/// # Errors
/// When it holds something else or cannot be written, or is a pipe that nobody reads.
pub fn create_shared(path: &Path, what: &str, is_ours: impl FnOnce(&[u8]) -> bool) -> io::Result<File> {
    refuse_other(path, what, is_ours)?;
    side::create_shared(path)
}

/// A slip of the keyboard costs nobody a file.
fn refuse_other(path: &Path, what: &str, is_ours: impl FnOnce(&[u8]) -> bool) -> io::Result<()> {
    let mut head = vec![];
    if path.is_file() {
        regular(path)?.take(HEAD).read_to_end(&mut head)?;
    }
    match head.is_empty() || is_ours(&head) {
        true => refuse_input(path),
        false => {
            Err(io::Error::other(format!("it holds something else than {what}; give the file another name")))
        }
    }
}

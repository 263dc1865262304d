//! Game records: one neutral [`GameRecord`], read from and written to every common format.
//!
//! [`read`] and [`each`] detect encoding and format by content and report line and reason of a fault; [`write()`] writes a
//! record in a [`Format`]. Files are untrusted: they are read game by game, and a game has a bound.
//!
//! Contents of each format (comments belong to plies and to the ending; "reason" is the [`Ending`]):
//!
//! | format | times | scores, PV | comments | variations | names, dates | reason |
//! |---|---|---|---|---|---|---|
//! | CSA 3.0 | ms | yes | yes | no | yes | all but [`Ending::Won`]; perpetual check and refused declarations in a comment |
//! | CSA 2.2 | seconds | yes | yes | no | yes | likewise |
//! | KIF, KIFU | seconds | yes | yes | yes | yes | all, but a win against the side to move becomes a resignation, and a refused declaration is illegal |
//! | KI2, KI2U | no | yes | yes | yes | yes | likewise, and defaults become a win or a resignation |
//! | JKF | seconds | yes | yes | behind a move or an ending | yes | all but [`Ending::Won`]; perpetual check and refused declarations become illegal |
//! | USI lines | no | no | no | no | no | none |
//! | PSV, hcpe | no | 16-bit score, no PV | no | no | no | who won |
//!
//! KIF has one word for every draw. Program comments (`#`), which other readers pass over, name the draw, and the length
//! of an opening whose moves have no time.
//!
//! The text formats have parsers of their own, which name the line at fault and never panic. JKF, KI2 moves, diagrams
//! and the two binary formats use `rsshogi`.

mod clock;
mod csa;
mod decode;
mod ending;
mod handicap;
mod jkf;
mod kif;
mod kif_move;
mod kif_write;
mod lines;
mod model;
mod packed;
mod replay;

pub use decode::{encoding_of, lines, unicode};
pub use ending::Ending;
pub use handicap::{NAMED as HANDICAPS, Named};
pub use kif_write::spelled_moves;
pub use model::{DISTANT_MATE, Flaw, Format, GameRecord, LONGEST_MATE, Ply, RecordFault, Variation};
use std::{
    cell::Cell,
    io::{self, BufRead, Read as _},
    ops::ControlFlow,
};

/// Largest game of a text, in bytes: what is read of it takes many times as much memory.
const LARGEST_GAME: usize = 8 << 20;
/// Bytes of a file from which its format is known: more than the largest game, and whole entries of 40 and of 38 bytes.
pub const HEAD: usize = 40 * 38 * 5520;

/// Reads all records of a file. Encoding and format are detected by content; `hint`, usually from the file's
/// extension, decides only if the content is ambiguous.
///
/// # Errors
/// The first line that cannot be read, with the reason.
pub fn read(bytes: &[u8], hint: Option<Format>) -> Result<Vec<GameRecord>, RecordFault> {
    let (mut records, mut first) = (Vec::new(), None);
    each(bytes, hint, |_, read| match read {
        Ok(record) => {
            records.push(record);
            ControlFlow::Continue(())
        }
        Err(fault) => {
            first = Some(fault);
            ControlFlow::Break(())
        }
    });
    first.map_or(Ok(records), Err)
}

/// Calls `each` with every record of a file, or why it cannot be read, and with the line, from 1, where it begins (in a binary
/// format the entry), until it breaks off. A fault in one record does not affect the others, as far as the format separates
/// records.
pub fn each(bytes: &[u8], hint: Option<Format>, each: impl FnMut(usize, Read) -> ControlFlow<()>) {
    each_of(&unicode(bytes), io::empty(), hint, each);
}

/// Does the same for a file that begins with `head`, its first [`HEAD`] bytes or all of it, and goes on with `rest`, of which
/// a game at a time is in memory. The head decides on the format; it is no UTF-16 where something follows.
pub fn each_of(
    head: &[u8],
    rest: impl BufRead,
    hint: Option<Format>,
    mut each: impl FnMut(usize, Read) -> ControlFlow<()>,
) {
    let _is_broken_off = walk(head, rest, hint, &mut each);
}

fn walk(bytes: &[u8], rest: impl BufRead, hint: Option<Format>, each: &mut Each<'_>) -> ControlFlow<()> {
    if decode::is_book(bytes) {
        let what =
            "an opening book of YaneuraOu: moves for positions, not games; give it to an engine as its book";
        return each(1, Err(RecordFault::new(1, what)));
    }
    if decode::is_binary(bytes) {
        return packed::read(bytes, rest, hint, each);
    }
    let lines = || decode::lines(bytes);
    let alone = |read: &dyn Fn() -> Read| within_bound(bytes.len(), 1).and_then(|()| read());
    match decode::format_of(lines()).or(hint) {
        Some(Format::Csa | Format::Csa3) => unbroken(bytes.chain(rest), each, csa::read),
        Some(Format::Kif | Format::Kifu | Format::Ki2 | Format::Ki2u) => {
            each(1, alone(&|| kif::read(lines())))
        }
        Some(Format::Jkf) => each(1, alone(&|| jkf::read(lines()))),
        Some(Format::Usi) => unbroken(bytes.chain(rest), each, lines::read),
        Some(Format::Psv | Format::Hcpe) => packed::read(bytes, rest, hint, each),
        None => each(1, Err(RecordFault::new(1, "unknown record format"))),
    }
}

/// What becomes of each record, or of why it cannot be read.
type Each<'a> = dyn FnMut(usize, Read) -> ControlFlow<()> + 'a;

/// Reads the games of a text line by line. One in the middle of which the text cannot be read any more is none.
fn unbroken(
    text: impl BufRead,
    each: &mut Each<'_>,
    read: fn(&mut dyn Iterator<Item = String>, &mut Each<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let broken = Cell::new(None);
    let fault = |at, error: io::Error| Err(RecordFault::new(at, format!("cannot be read: {error}")));
    read(&mut decode::read_lines(text, &broken), &mut |at, read| match broken.take() {
        None => each(at, read),
        Some(error) => {
            each(at, fault(at, error))?;
            ControlFlow::Break(())
        }
    })?;
    broken.take().map_or(ControlFlow::Continue(()), |error| each(1, fault(1, error)))
}

/// Refuses a game that has so many bytes up to a line.
fn within_bound(bytes: usize, line: usize) -> Result<(), RecordFault> {
    match bytes > LARGEST_GAME {
        true => Err(RecordFault::new(line, format!("a game of more than {} MiB", LARGEST_GAME >> 20))),
        false => Ok(()),
    }
}

/// A record, or why it cannot be read.
pub type Read = Result<GameRecord, RecordFault>;

/// Writes a record in a format; information that the format cannot hold is left out (see the table of this module). A record
/// with characters that Shift_JIS lacks is written in UTF-8.
///
/// # Errors
/// The ply whose move is illegal, or a start position or number that the format cannot hold.
pub fn write(record: &GameRecord, format: Format) -> Result<Vec<u8>, RecordFault> {
    written(record, format).map(|(bytes, _)| bytes)
}

/// Does the same, and returns the format that was written: [`Format::Kifu`] and [`Format::Ki2u`] in place of the formats in
/// Shift_JIS, where that lacks characters.
///
/// # Errors
/// See [`write()`].
pub fn written(record: &GameRecord, format: Format) -> Result<(Vec<u8>, Format), RecordFault> {
    let (narrow, wide) = match format {
        Format::Kif => (kif_write::kif(record, "Shift_JIS")?, Format::Kifu),
        Format::Ki2 => (kif_write::ki2(record)?, Format::Ki2u),
        _ => return bytes(record, format).map(|bytes| (bytes, format)),
    };
    match decode::to_cp932(&narrow) {
        Some(bytes) => Ok((bytes, format)),
        None => bytes(record, wide).map(|bytes| (bytes, wide)),
    }
}

/// The bytes of a record in a format other than those in Shift_JIS.
fn bytes(record: &GameRecord, format: Format) -> Result<Vec<u8>, RecordFault> {
    let text = match format {
        Format::Csa => csa::write(record, false)?,
        Format::Csa3 => csa::write(record, true)?,
        Format::Kif | Format::Kifu => kif_write::kif(record, "UTF-8")?,
        Format::Ki2 | Format::Ki2u => kif_write::ki2(record)?,
        Format::Jkf => jkf::write(record)?,
        Format::Usi => lines::write(record)?,
        Format::Psv => return packed::write_psv(record),
        Format::Hcpe => return packed::write_hcpe(record),
    };
    Ok(text.into_bytes())
}

#[cfg(test)]
mod tests;

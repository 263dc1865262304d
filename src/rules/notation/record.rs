//! Game records: one neutral [`GameRecord`], read from and written to every common format.
//!
//! [`read`] detects encoding and format by content and reports line and reason of a fault; [`write()`] writes a
//! record in a [`Format`].
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
//! | USEN | no | no | no | no | no | resign, time up, draws as impasse, interrupted |
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
mod usen;

pub use decode::{encoding_of, lines, unicode};
pub use ending::Ending;
pub use kif_write::spelled_moves;
pub use model::{DISTANT_MATE, Flaw, Format, GameRecord, Ply, RecordFault, Variation};

/// Reads all records of a file. Encoding and format are detected by content; `hint`, usually from the file's
/// extension, decides only if the content is ambiguous.
///
/// # Errors
/// The first line that cannot be read, with the reason.
pub fn read(bytes: &[u8], hint: Option<Format>) -> Result<Vec<GameRecord>, RecordFault> {
    let bytes = &*unicode(bytes);
    if decode::is_binary(bytes) {
        return packed::read(bytes, hint);
    }
    let lines = decode::lines(bytes);
    match decode::format_of(&lines).or(hint) {
        Some(Format::Csa | Format::Csa3) => csa::read(&lines),
        Some(Format::Kif | Format::Kifu | Format::Ki2 | Format::Ki2u) => kif::read(&lines),
        Some(Format::Jkf) => jkf::read(&lines),
        Some(Format::Usi) => lines::read(&lines),
        Some(Format::Usen) => usen::read(&lines),
        Some(Format::Psv | Format::Hcpe) => packed::read(bytes, hint),
        None => Err(RecordFault::new(1, "unknown record format")),
    }
}

/// Writes a record in a format; information that the format cannot hold is left out (see the table of this module).
///
/// # Errors
/// The ply whose move is illegal, or a start position or number that the format cannot hold.
pub fn write(record: &GameRecord, format: Format) -> Result<Vec<u8>, RecordFault> {
    let text = match format {
        Format::Csa => csa::write(record, false)?,
        Format::Csa3 => csa::write(record, true)?,
        Format::Kif => kif_write::kif(record, "Shift_JIS")?,
        Format::Kifu => kif_write::kif(record, "UTF-8")?,
        Format::Ki2 | Format::Ki2u => kif_write::ki2(record)?,
        Format::Jkf => jkf::write(record)?,
        Format::Usi => lines::write(record)?,
        Format::Usen => usen::write(record)?,
        Format::Psv => return packed::write_psv(record),
        Format::Hcpe => return packed::write_hcpe(record),
    };
    Ok(match format {
        Format::Kif | Format::Ki2 => decode::to_cp932(&text),
        _ => text.into_bytes(),
    })
}

#[cfg(test)]
mod tests;

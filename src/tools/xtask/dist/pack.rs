//! Archives, byte for byte the same for the same files: in order, owned by root, as old as the commit.

use crate::tree::Tree;
use anyhow::{Context, Result};
use std::io::{Cursor, Write};

/// Level of zstd: 22 is a tenth smaller than 19, and unpacking needs no more than 32 MiB with its default window.
const LEVEL: i32 = 19;

/// A tar of the files, directories first.
pub fn tar(tree: &Tree, epoch: u64) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for directory in tree.directories() {
        entry(&mut tar, &format!("{directory}/"), &[], Kind::Directory, epoch)?;
    }
    for (path, file) in tree.files() {
        entry(&mut tar, path, &file.bytes, Kind::File { runs: file.runs }, epoch)?;
    }
    tar.into_inner().context("a tar could not be ended")
}

/// What an entry of a tar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File {
        runs: bool,
    },
    Directory,
    /// A directory of this user, in which others read nothing.
    Own {
        user: u64,
    },
    /// A directory of temporary files of everybody.
    Temporary,
}

/// Appends an entry to a tar.
pub fn entry(
    tar: &mut tar::Builder<Vec<u8>>,
    path: &str,
    bytes: &[u8],
    kind: Kind,
    epoch: u64,
) -> Result<()> {
    let mut header = tar::Header::new_gnu();
    let (mode, owner) = match kind {
        Kind::File { runs: false } => (0o644, 0),
        Kind::File { runs: true } | Kind::Directory => (0o755, 0),
        Kind::Own { user } => (0o700, user),
        Kind::Temporary => (0o1777, 0),
    };
    let is_file = matches!(kind, Kind::File { .. });
    header.set_entry_type(if is_file { tar::EntryType::Regular } else { tar::EntryType::Directory });
    header.set_mode(mode);
    header.set_uid(owner);
    header.set_gid(owner);
    header.set_mtime(epoch);
    header.set_size(bytes.len() as u64);
    tar.append_data(&mut header, path, bytes).with_context(|| format!("`{path}` could not be packed"))
}

/// A `.tar.zst` of the files.
pub fn tar_zst(tree: &Tree, epoch: u64) -> Result<Vec<u8>> {
    let mut packer = zstd::Encoder::new(Vec::new(), LEVEL).context("zstd")?;
    packer.include_checksum(true).context("zstd")?;
    packer.write_all(&tar(tree, epoch)?).context("zstd")?;
    packer.finish().context("zstd")
}

/// A `.gz` without a time and a name.
pub fn gz(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packer = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::best());
    packer.write_all(bytes).context("gzip")?;
    packer.finish().context("gzip")
}

/// A zip of the files.
pub fn zip(tree: &Tree, epoch: u64) -> Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let plain = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(dos_time(epoch)?);
    for (path, file) in tree.files() {
        let mode = if file.runs { 0o755 } else { 0o644 };
        zip.start_file(path, plain.unix_permissions(mode))
            .and_then(|()| zip.write_all(&file.bytes).map_err(Into::into))
            .with_context(|| format!("`{path}` could not be packed"))?;
    }
    Ok(zip.finish().context("a zip could not be ended")?.into_inner())
}

/// A time as zip has it, which is UTC here: it knows no zones, and two seconds are its unit.
fn dos_time(epoch: u64) -> Result<zip::DateTime> {
    let (year, month, day) = date(epoch / 86_400);
    let second = epoch % 86_400;
    let part = |value: u64| u8::try_from(value).unwrap_or(0);
    let (hour, minute, second) = (part(second / 3600), part(second / 60 % 60), part(second % 60));
    let year = u16::try_from(year).unwrap_or(1980);
    zip::DateTime::from_date_and_time(year, part(month), part(day), hour, minute, second)
        .ok()
        .context("the commit's time is outside the range of a zip")
}

/// Year, month and day of a day since 1970, by the proleptic Gregorian calendar.
pub fn date(day: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last of its year; 400 years have 146,097 days.
    let day = day + 719_468;
    let era = day / 146_097;
    let of_era = day % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small artefact, its files added in this order.
    fn tree(order: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for path in order {
            tree.add(path, format!("text of {path}\n").repeat(100));
        }
        tree
    }

    #[test]
    fn the_same_files_give_the_same_bytes_in_whatever_order_they_were_found() {
        let (one, other) = (tree(&["r/b", "r/a", "r/d/c"]), tree(&["r/d/c", "r/a", "r/b"]));
        let epoch = 1_700_000_000;
        assert_eq!(tar_zst(&one, epoch).unwrap(), tar_zst(&other, epoch).unwrap());
        assert_eq!(zip(&one, epoch).unwrap(), zip(&other, epoch).unwrap());
        assert_eq!(gz(b"page").unwrap(), gz(b"page").unwrap());
        assert_ne!(tar(&one, epoch).unwrap(), tar(&one, epoch + 1).unwrap());
    }

    #[test]
    fn a_tar_has_directories_first_and_names_no_user_of_this_machine() {
        let packed = tar(&tree(&["r/b", "r/d/c"]), 1_700_000_000).unwrap();
        let mut archive = tar::Archive::new(packed.as_slice());
        let entries: Vec<_> = archive.entries().unwrap().map(Result::unwrap).collect();
        let paths: Vec<_> = entries.iter().map(|entry| entry.path().unwrap().display().to_string()).collect();
        assert_eq!(paths, ["r/", "r/d/", "r/b", "r/d/c"]);
        for entry in entries {
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.mtime().unwrap()), (0, 1_700_000_000));
        }
    }

    #[test]
    fn days_are_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(19_675), (2023, 11, 14));
        assert_eq!(date(20_780), (2026, 11, 23));
    }
}

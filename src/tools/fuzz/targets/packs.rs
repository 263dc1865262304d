//! Archives of a database with its records, that `renmei verify` unpacks.

use crate::scratch::Scratch;
use flate2::{Compression, write::GzEncoder};
use records::pack::unpack;
use std::{fs, io::Write};

/// An archive, as it is before it is compressed, is refused, or everything in it is below the directory that it was to be
/// unpacked in, and goes with it.
pub fn packs(data: &[u8]) {
    let place = Scratch::new();
    let mut compressed = GzEncoder::new(vec![], Compression::none());
    compressed.write_all(data).expect("it is written to memory");
    let archive = place.file("archive", &compressed.finish().expect("it is written to memory"));
    if let Ok(unpacked) = unpack(&archive, &place.path("")) {
        assert!(unpacked.database().starts_with(place.path("")) && unpacked.database().is_file());
        let _contradicts_or_not = unpacked.contradictions();
    }
    let left: Vec<_> = fs::read_dir(place.path("")).into_iter().flatten().flatten().collect();
    assert_eq!(left.len(), 1, "beside the archive: {left:?}");
}

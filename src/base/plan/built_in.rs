//! The openings that the program carries, under a name that stands in place of a path.

use std::{borrow::Cow, fs, io, path::Path};

/// The name. Paths of a plan are absolute, so that no file is meant by it; `./built-in` is a file.
pub const NAME: &str = "built-in";

/// The openings as `records::openings` reads them: `kifu/openings.bin`, made by
/// `engines/pairwise/examples/make_openings.rs`.
pub const PACKED: &[u8] = include_bytes!("../../../kifu/openings.bin");

/// The contents of an opening file of a plan, which must not change while its event is played.
///
/// # Errors
/// If the file cannot be read.
pub fn contents(file: &Path) -> io::Result<Cow<'static, [u8]>> {
    if file == Path::new(NAME) { Ok(Cow::Borrowed(PACKED)) } else { fs::read(file).map(Cow::Owned) }
}

//! The openings that the program carries, under a name that stands in place of a path.

use platform::files;
use std::{borrow::Cow, io, path::Path};

/// The name. Paths of a plan are absolute, so that no file is meant by it; `./built-in` is a file.
pub const NAME: &str = "built-in";

/// The openings as `records::openings` reads them: `kifu/openings.bin`, made by
/// `engines/pairwise/examples/make_openings.rs`.
pub const PACKED: &[u8] = include_bytes!("../../../kifu/openings.bin");

/// The contents of an opening file of a plan, which must not change while its event is played.
///
/// # Errors
/// If the file cannot be read, or is no regular file.
pub fn contents(file: &Path) -> io::Result<Cow<'static, [u8]>> {
    match file == Path::new(NAME) {
        true => Ok(Cow::Borrowed(PACKED)),
        false => files::contents(file, files::LARGE).map(Cow::Owned),
    }
}

//! What a content is known by: its SHA-256, in lower-case hexadecimal digits wherever a person reads it.

use sha2::{Digest, Sha256};
use std::{
    io::{self, Read},
    path::Path,
};

/// Bytes read at once.
const CHUNK: usize = 1 << 18;

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of everything that can be read, and its length in bytes.
///
/// # Errors
/// When reading fails.
pub fn sha256(source: &mut impl Read) -> io::Result<([u8; 32], u64)> {
    let (mut hash, mut chunk, mut length) = (Sha256::new(), vec![0; CHUNK], 0);
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return Ok((hash.finalize().into(), length)),
            Ok(bytes) => {
                hash.update(&chunk[..bytes]);
                length += bytes as u64;
            }
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
}

/// SHA-256 of a file in hexadecimal digits.
///
/// # Errors
/// When it cannot be read, or is no regular file.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    sha256(&mut crate::files::regular(path)?).map(|(hash, _)| hex(&hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_abc_is_that_of_the_standard() {
        let (hash, length) = sha256(&mut &b"abc"[..]).unwrap();
        assert_eq!(hex(&hash), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(length, 3);
    }
}

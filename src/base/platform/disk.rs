//! Room on a disk.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`free`] for this user | `statvfs` | `statvfs` | `GetDiskFreeSpaceExW` |

use std::{io, path::Path};

/// Bytes that this user may still write where `place` is.
///
/// # Errors
/// When nothing is there, or its file system does not tell.
#[cfg(unix)]
pub fn free(place: &Path) -> io::Result<u64> {
    let found = nix::sys::statvfs::statvfs(place)?;
    #[allow(clippy::useless_conversion, reason = "the number is narrower on some systems")]
    let (blocks, bytes) = (u64::from(found.blocks_available()), u64::from(found.fragment_size()));
    Ok(blocks.saturating_mul(bytes))
}

/// Bytes that this user may still write where `place` is, a directory.
///
/// # Errors
/// When nothing is there, or its file system does not tell.
#[cfg(windows)]
#[allow(unsafe_code)]
pub fn free(place: &Path) -> io::Result<u64> {
    use std::ptr::null_mut;
    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;
    let (name, mut free) = (crate::windows::wide(place.as_os_str()), 0);
    // SAFETY: the name ends with a zero, and the number lives until after the call.
    crate::windows::done(unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &mut free, null_mut(), null_mut()) })?;
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_where_files_are_made_and_nothing_is_known_of_what_is_not_there() {
        let place = tempfile::tempdir().unwrap();
        assert!(free(place.path()).unwrap() > 0);
        assert!(free(&place.path().join("none")).is_err());
    }
}

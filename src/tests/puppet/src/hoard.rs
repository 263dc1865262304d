//! Memory and files that no process of the engine shows as its own.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use std::{mem, ptr};

use nix::errno::Errno;
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::process;

const MEBIBYTE: usize = 1 << 20;

/// Takes this much: MiB, thousands of files, or processes.
pub fn take(what: &str, much: usize) -> io::Result<()> {
    match what {
        "memfd" => memory_file(much),
        "sysv" => (0..much).try_for_each(|_| segment()),
        "shared" => mapping(much, None),
        "zero" => mapping(much, Some(&File::options().read(true).write(true).open("/dev/zero")?)),
        "sockets" => sockets(much),
        "files" => (0..much * 1000).try_for_each(|n| File::create(format!("/tmp/hoard-{n}")).map(drop)),
        "processes" => {
            process::spin(much, Duration::from_secs(3600), 1);
            Ok(())
        }
        _ => Err(io::Error::other("nothing is known of it")),
    }
}

/// A file that lies nowhere.
fn memory_file(mebibytes: usize) -> io::Result<()> {
    let mut file = File::from(memfd_create(c"hoard", MFdFlags::empty())?);
    let piece = vec![1; MEBIBYTE];
    (0..mebibytes).try_for_each(|_| file.write_all(&piece))?;
    mem::forget(file);
    Ok(())
}

/// A segment of shared memory of one MiB that no process has mapped.
#[allow(unsafe_code)]
fn segment() -> io::Result<()> {
    // SAFETY: the segment is ours, as large as what is written, and nobody else has it mapped.
    unsafe {
        let segment = Errno::result(libc::shmget(libc::IPC_PRIVATE, MEBIBYTE, 0o600))?;
        let at = libc::shmat(segment, ptr::null(), 0);
        if at as isize == -1 {
            return Err(io::Error::last_os_error());
        }
        ptr::write_bytes(at.cast::<u8>(), 1, MEBIBYTE);
        Errno::result(libc::shmdt(at))?;
    }
    Ok(())
}

/// A shared mapping whose pages the process gives back, and the mapping keeps.
#[allow(unsafe_code)]
fn mapping(mebibytes: usize, file: Option<&File>) -> io::Result<()> {
    let bytes = mebibytes * MEBIBYTE;
    let (flags, file) = file.map_or((libc::MAP_ANONYMOUS, -1), |file| (0, file.as_raw_fd()));
    // SAFETY: the mapping is new, as large as what is written, and never unmapped.
    unsafe {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let at = libc::mmap(ptr::null_mut(), bytes, rights, libc::MAP_SHARED | flags, file, 0);
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        for piece in 0..mebibytes {
            let piece = at.cast::<u8>().add(piece * MEBIBYTE);
            ptr::write_bytes(piece, 1, MEBIBYTE);
            Errno::result(libc::madvise(piece.cast(), MEBIBYTE, libc::MADV_DONTNEED))?;
        }
    }
    Ok(())
}

/// Sockets with unread bytes.
fn sockets(mebibytes: usize) -> io::Result<()> {
    let (piece, mut left) = ([1; 4096], mebibytes * MEBIBYTE);
    while left > 0 {
        let (mut one, other) = UnixStream::pair()?;
        one.set_nonblocking(true)?;
        while let Ok(written) = one.write(&piece) {
            left = left.saturating_sub(written);
        }
        mem::forget((one, other));
    }
    Ok(())
}

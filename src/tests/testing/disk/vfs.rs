//! The VFS of disks: SQLite's way to files, put over the one that it has by itself.
#![allow(unsafe_code)] // The methods of a VFS are called by SQLite.
#![allow(non_snake_case)] // They have its names.

use super::{DISKS, Inode, State, lock};
use rusqlite::ffi::{self, sqlite3_file, sqlite3_io_methods, sqlite3_vfs};
use std::{
    ffi::{CStr, OsStr, c_char, c_int, c_void},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    ptr, slice,
    sync::{
        Arc, Mutex, Once,
        atomic::{AtomicPtr, Ordering::Relaxed},
    },
};

/// A file of SQLite: what this VFS knows of it; the file of the VFS below follows in memory.
#[repr(C)]
struct Handle {
    file: sqlite3_file,
    disk: *const Mutex<State>,
    inode: Inode,
    /// True until the first sync of a new log, which syncs the directory as well.
    syncs_names: bool,
}

/// The VFS below.
static BELOW: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());

/// Makes the VFS of disks the default one.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: SQLite is initialized by the first call; a VFS has to live for ever, and this one does.
        unsafe {
            let below = ffi::sqlite3_vfs_find(ptr::null());
            BELOW.store(below, Relaxed);
            let vfs = sqlite3_vfs {
                szOsFile: size_of::<Handle>() as c_int + (*below).szOsFile,
                pNext: ptr::null_mut(),
                zName: c"forgetful".as_ptr(),
                xOpen: Some(open),
                xDelete: Some(delete),
                // The other methods do not ask which VFS they are called by.
                ..*below
            };
            assert_eq!(ffi::sqlite3_vfs_register(Box::into_raw(Box::new(vfs)), 1), ffi::SQLITE_OK);
        }
    });
}

/// The disk that a name is on.
///
/// # Safety
/// The name is null or a C string.
unsafe fn disk_of(name: *const c_char) -> Option<(Arc<Mutex<State>>, PathBuf)> {
    if name.is_null() {
        return None;
    }
    // SAFETY: as the caller says.
    let name = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(name) }.to_bytes()));
    let disk = lock(&DISKS).get(name.parent()?).cloned()?;
    Some((disk, name.to_owned()))
}

/// `xOpen`.
unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    opened: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives the room that the VFS asks for, and its own pointers.
    unsafe {
        let below = BELOW.load(Relaxed);
        let Some(open) = (*below).xOpen else { return ffi::SQLITE_CANTOPEN };
        let Some((disk, name_of_file)) = disk_of(name) else { return open(below, name, file, flags, opened) };
        (*file).pMethods = ptr::null();
        let mut state = lock(&disk);
        if state.is_dead {
            // Nobody tries again after it.
            return ffi::SQLITE_NOMEM;
        }
        let flags = match state.is_read_only {
            true => {
                (flags & !(ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE)) | ffi::SQLITE_OPEN_READONLY
            }
            false => flags,
        };
        let was_there = name_of_file.exists();
        let answer = open(below, name, self::below(file), flags, opened);
        if answer != ffi::SQLITE_OK {
            return answer;
        }
        let inode = state.opened(&name_of_file, || was_there.then(|| fs::read(&name_of_file).unwrap()));
        state.open += 1;
        drop(state);
        // So does the VFS below: it syncs the directory at the first sync of a log.
        let logs = ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL;
        let syncs_names = flags & logs != 0 && flags & ffi::SQLITE_OPEN_CREATE != 0;
        let handle = Handle {
            file: sqlite3_file { pMethods: &METHODS },
            disk: Arc::into_raw(disk),
            inode,
            syncs_names,
        };
        file.cast::<Handle>().write(handle);
    }
    ffi::SQLITE_OK
}

/// `xDelete`.
unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, with_names: c_int) -> c_int {
    // SAFETY: SQLite gives its own pointers.
    unsafe {
        let below = BELOW.load(Relaxed);
        let Some(delete) = (*below).xDelete else { return ffi::SQLITE_IOERR_DELETE };
        match disk_of(name) {
            None => delete(below, name, with_names),
            Some((disk, path)) => lock(&disk).remove(&path, with_names != 0, || delete(below, name, 0)),
        }
    }
}

/// The file of the VFS below.
///
/// # Safety
/// The file has the size that [`register`] names.
unsafe fn below(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: as the caller says.
    unsafe { file.cast::<Handle>().add(1).cast() }
}

/// Acts on the disk that a file is on.
///
/// # Safety
/// The file was opened by [`open`].
unsafe fn on_disk<T>(file: *mut sqlite3_file, act: impl FnOnce(&mut State, &mut Handle) -> T) -> T {
    // SAFETY: as the caller says; SQLite uses a file on one thread at a time.
    unsafe {
        let handle = &mut *file.cast::<Handle>();
        act(&mut lock(&*handle.disk), handle)
    }
}

/// Methods that are those of the file below.
macro_rules! delegated {
    ($($method:ident($($argument:ident: $kind:ty),*);)+) => {$(
        unsafe extern "C" fn $method(file: *mut sqlite3_file, $($argument: $kind),*) -> c_int {
            // SAFETY: SQLite calls methods of files that `open` has opened.
            unsafe {
                let below = below(file);
                match (*(*below).pMethods).$method {
                    Some(method) => method(below, $($argument),*),
                    None => ffi::SQLITE_IOERR,
                }
            }
        }
    )+};
}

delegated! {
    xRead(buffer: *mut c_void, amount: c_int, at: i64);
    xFileSize(size: *mut i64);
    xLock(level: c_int);
    xUnlock(level: c_int);
    xCheckReservedLock(result: *mut c_int);
    xFileControl(operation: c_int, argument: *mut c_void);
    xSectorSize();
    xDeviceCharacteristics();
    xShmMap(region: c_int, size: c_int, extends: c_int, mapped: *mut *mut c_void);
    xShmLock(offset: c_int, count: c_int, flags: c_int);
    xShmUnmap(deletes: c_int);
}

unsafe extern "C" fn xShmBarrier(file: *mut sqlite3_file) {
    // SAFETY: as in `delegated`.
    unsafe {
        let below = below(file);
        if let Some(method) = (*(*below).pMethods).xShmBarrier {
            method(below);
        }
    }
}

unsafe extern "C" fn xWrite(file: *mut sqlite3_file, bytes: *const c_void, amount: c_int, at: i64) -> c_int {
    // SAFETY: as in `delegated`; so many bytes are there.
    unsafe {
        let bytes = slice::from_raw_parts(bytes.cast::<u8>(), amount as usize);
        let below = below(file);
        let put = |part: &[u8]| match (*(*below).pMethods).xWrite {
            Some(method) => method(below, part.as_ptr().cast(), part.len() as c_int, at),
            None => ffi::SQLITE_IOERR_WRITE,
        };
        on_disk(file, |disk, handle| disk.write(handle.inode, at as u64, bytes, put))
    }
}

unsafe extern "C" fn xTruncate(file: *mut sqlite3_file, length: i64) -> c_int {
    // SAFETY: as in `delegated`.
    unsafe {
        let below = below(file);
        let put = || match (*(*below).pMethods).xTruncate {
            Some(method) => method(below, length),
            None => ffi::SQLITE_IOERR_TRUNCATE,
        };
        on_disk(file, |disk, handle| disk.set_length(handle.inode, length as u64, put))
    }
}

/// The system need not sync anything: it does not die.
unsafe extern "C" fn xSync(file: *mut sqlite3_file, _: c_int) -> c_int {
    // SAFETY: as in `delegated`.
    unsafe {
        on_disk(file, |disk, handle| {
            let answer = disk.sync(handle.inode, handle.syncs_names);
            handle.syncs_names &= answer != ffi::SQLITE_OK;
            answer
        })
    }
}

unsafe extern "C" fn xClose(file: *mut sqlite3_file) -> c_int {
    // SAFETY: as in `delegated`; the pointer was made of an `Arc`, and nobody uses it afterwards.
    unsafe {
        let below = below(file);
        let answer = match (*(*below).pMethods).xClose {
            Some(method) => method(below),
            None => ffi::SQLITE_OK,
        };
        on_disk(file, |disk, _| disk.open -= 1);
        drop(Arc::from_raw((*file.cast::<Handle>()).disk));
        (*file).pMethods = ptr::null();
        answer
    }
}

/// Version 2: with shared memory, and without mapped files, whose changes nobody would see.
static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(xClose),
    xRead: Some(xRead),
    xWrite: Some(xWrite),
    xTruncate: Some(xTruncate),
    xSync: Some(xSync),
    xFileSize: Some(xFileSize),
    xLock: Some(xLock),
    xUnlock: Some(xUnlock),
    xCheckReservedLock: Some(xCheckReservedLock),
    xFileControl: Some(xFileControl),
    xSectorSize: Some(xSectorSize),
    xDeviceCharacteristics: Some(xDeviceCharacteristics),
    xShmMap: Some(xShmMap),
    xShmLock: Some(xShmLock),
    xShmBarrier: Some(xShmBarrier),
    xShmUnmap: Some(xShmUnmap),
    xFetch: None,
    xUnfetch: None,
};

//! Windows: a named pipe. Its calls are overlapped, as only these can be given up.

use super::{DoorError, User, is_trusted};
use crate::windows::{self, Attributes, owned, wide};
use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    os::windows::io::{AsRawHandle, OwnedHandle},
    path::Path,
    ptr::{null, null_mut},
    sync::{Mutex, PoisonError},
    time::Duration,
};
use windows_sys::Win32::{
    Foundation::{
        ERROR_BROKEN_PIPE, ERROR_IO_PENDING, ERROR_NO_DATA, ERROR_PIPE_CONNECTED, GENERIC_READ,
        GENERIC_WRITE, HANDLE, INVALID_HANDLE_VALUE, WAIT_TIMEOUT,
    },
    Storage::FileSystem::{
        CreateFileW, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, OPEN_EXISTING, PIPE_ACCESS_DUPLEX,
        ReadFile, SECURITY_IDENTIFICATION, SECURITY_SQOS_PRESENT, WriteFile,
    },
    System::{
        IO::{CancelIoEx, GetOverlappedResult, GetOverlappedResultEx, OVERLAPPED},
        Pipes::{
            ConnectNamedPipe, CreateNamedPipeW, GetNamedPipeClientProcessId, GetNamedPipeServerProcessId,
            PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE, PIPE_UNLIMITED_INSTANCES,
        },
        Threading::{CreateEventW, INFINITE},
    },
};

/// Bytes that the system keeps for each direction.
const BUFFER: u32 = 16 * 1024;

/// A connection.
#[derive(Debug)]
pub struct Stream {
    pipe: OwnedHandle,
    is_server: bool,
    reads_within: Mutex<Option<Duration>>,
    writes_within: Mutex<Option<Duration>>,
}

/// The side of a door where connections come in.
#[derive(Debug)]
pub struct Listener {
    name: Vec<u16>,
    /// The end that waits for the next connection.
    next: Mutex<OwnedHandle>,
}

/// The name of a door. It stays until its listener is dropped.
#[derive(Debug)]
pub struct Door {
    name: Vec<u16>,
}

impl Listener {
    /// Opens a door.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(path: &Path) -> Result<(Self, Door), DoorError> {
        let name = name_of(path).map_err(DoorError::Name)?;
        let first = instance(&name, FILE_FLAG_FIRST_PIPE_INSTANCE);
        let first = first.map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => DoorError::Taken,
            _ => DoorError::Make(error),
        })?;
        Ok((Self { name: name.clone(), next: Mutex::new(first) }, Door { name }))
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// When the system has no pipe for it.
    pub fn accept(&self) -> io::Result<Stream> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        wait_for_client(&next)?;
        // There is always an end that clients find.
        let pipe = std::mem::replace(&mut *next, instance(&self.name, 0)?);
        Ok(Stream::new(pipe, true))
    }
}

impl Door {
    /// Wakes the thread that waits for a connection by a last one; whether it was woken.
    pub fn close(&self) -> bool {
        opened(&self.name).is_ok()
    }
}

/// The name of the pipe for a path: of its absolute spelling, as names of pipes have no directories.
fn name_of(path: &Path) -> io::Result<Vec<u16>> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let whole = parent.canonicalize()?.join(path.file_name().unwrap_or_default());
    let text = whole.to_string_lossy().to_lowercase();
    // FNV-1a: two paths with one name would only refuse the second door.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(wide(OsStr::new(&format!(r"\\.\pipe\renmei-{hash:016x}"))))
}

/// An end of the pipe for one connection.
#[allow(unsafe_code)]
fn instance(name: &[u16], first: u32) -> io::Result<OwnedHandle> {
    let private = Attributes::private()?;
    // SAFETY: the name ends with a zero, and the attributes live until after the call.
    unsafe {
        handle(CreateNamedPipeW(
            name.as_ptr(),
            PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | first,
            PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS,
            PIPE_UNLIMITED_INSTANCES,
            BUFFER,
            BUFFER,
            0,
            private.as_ptr(),
        ))
    }
}

#[allow(unsafe_code)]
fn opened(name: &[u16]) -> io::Result<OwnedHandle> {
    // The other end may learn the identity of this process, and not act in its name.
    let flags = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
    // SAFETY: the name ends with a zero.
    unsafe {
        handle(CreateFileW(
            name.as_ptr(),
            GENERIC_READ | GENERIC_WRITE,
            0,
            null(),
            OPEN_EXISTING,
            flags,
            null_mut(),
        ))
    }
}

/// # Safety
/// The handle is open if it is valid, and nothing else closes it.
#[allow(unsafe_code)]
unsafe fn handle(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: by the condition of this function.
    Ok(unsafe { owned(handle) })
}

/// Connects to a door, if a process has opened it that the user of this one trusts: its own, the system's, or for the
/// system that of the owner of `beside`.
///
/// # Errors
/// When there is no door, or somebody else may have made it.
pub fn connect(path: &Path, beside: &Path) -> io::Result<Stream> {
    let stream = Stream::new(opened(&name_of(path)?)?, false);
    let (knocks, owner, answers) = (User::own()?, User::owner_of(beside).ok(), peer(&stream)?);
    if is_trusted(&answers, &knocks, owner.as_ref()) {
        return Ok(stream);
    }
    let name = answers.name().unwrap_or_else(|| answers.to_string());
    let why = "who does not play the event: nothing was sent to it";
    Err(io::Error::other(format!("`{}` is answered by `{name}`, {why}", path.display())))
}

/// The user at the other end of a connection.
///
/// # Errors
/// When the system does not tell.
#[allow(unsafe_code)]
pub fn peer(stream: &Stream) -> io::Result<User> {
    let (pipe, mut process) = (stream.pipe.as_raw_handle(), 0);
    // SAFETY: the handle is open, and the number lives until after the call.
    windows::done(unsafe {
        match stream.is_server {
            true => GetNamedPipeClientProcessId(pipe, &mut process),
            false => GetNamedPipeServerProcessId(pipe, &mut process),
        }
    })?;
    windows::user_of(process).map(User)
}

impl Stream {
    fn new(pipe: OwnedHandle, is_server: bool) -> Self {
        Self { pipe, is_server, reads_within: Mutex::new(None), writes_within: Mutex::new(None) }
    }

    /// Most time for a read; without one it waits for ever.
    ///
    /// # Errors
    /// None.
    pub fn set_read_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        *self.reads_within.lock().unwrap_or_else(PoisonError::into_inner) = time;
        Ok(())
    }

    /// Most time for a write; without one it waits for ever.
    ///
    /// # Errors
    /// None.
    pub fn set_write_timeout(&self, time: Option<Duration>) -> io::Result<()> {
        *self.writes_within.lock().unwrap_or_else(PoisonError::into_inner) = time;
        Ok(())
    }
}

impl Read for &Stream {
    #[allow(unsafe_code)]
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let within = *self.reads_within.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = u32::try_from(into.len()).unwrap_or(u32::MAX);
        let pipe = self.pipe.as_raw_handle();
        // SAFETY: the buffer lives until `overlapped` has returned, which is when the call is over.
        let read = overlapped(&self.pipe, within, |at| unsafe {
            ReadFile(pipe, into.as_mut_ptr(), bytes, null_mut(), at)
        });
        match read {
            Err(error) if error.raw_os_error() == Some(ERROR_BROKEN_PIPE.cast_signed()) => Ok(0),
            read => read,
        }
    }
}

impl Write for &Stream {
    #[allow(unsafe_code)]
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let within = *self.writes_within.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = u32::try_from(from.len()).unwrap_or(u32::MAX);
        let pipe = self.pipe.as_raw_handle();
        // SAFETY: the buffer lives until `overlapped` has returned, which is when the call is over.
        overlapped(&self.pipe, within, |at| unsafe { WriteFile(pipe, from.as_ptr(), bytes, null_mut(), at) })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[allow(unsafe_code)]
fn wait_for_client(pipe: &OwnedHandle) -> io::Result<()> {
    let handle = pipe.as_raw_handle();
    // SAFETY: the handle is open, and the structure lives until the call is over.
    let waited = overlapped(pipe, None, |at| unsafe { ConnectNamedPipe(handle, at) });
    match waited {
        Ok(_) => Ok(()),
        // A client may be there already, or have been there and left.
        Err(error) => match error.raw_os_error().map(i32::cast_unsigned) {
            Some(ERROR_PIPE_CONNECTED | ERROR_NO_DATA) => Ok(()),
            _ => Err(error),
        },
    }
}

/// Begins a call and waits until it is over, or gives it up after some time; the number of bytes.
#[allow(unsafe_code)]
fn overlapped(
    pipe: &OwnedHandle,
    within: Option<Duration>,
    begin: impl FnOnce(*mut OVERLAPPED) -> i32,
) -> io::Result<usize> {
    let within = within.map_or(INFINITE, |time| u32::try_from(time.as_millis()).unwrap_or(INFINITE - 1));
    // SAFETY: the event and the structure live until the call is over, also where it is given up.
    unsafe {
        let event = CreateEventW(null(), 1, 0, null());
        if event.is_null() {
            return Err(io::Error::last_os_error());
        }
        let _closed = owned(event);
        let mut state = OVERLAPPED { hEvent: event, ..Default::default() };
        if begin(&mut state) == 0 {
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(ERROR_IO_PENDING.cast_signed()) {
                return Err(error);
            }
        }
        let (handle, mut bytes) = (pipe.as_raw_handle(), 0);
        if GetOverlappedResultEx(handle, &state, &mut bytes, within, 0) == 0 {
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(WAIT_TIMEOUT.cast_signed()) {
                return Err(error);
            }
            CancelIoEx(handle, &state);
            // What came in the last moment counts.
            if GetOverlappedResult(handle, &state, &mut bytes, 1) == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        usize::try_from(bytes).map_err(io::Error::other)
    }
}

//! What several modules need of Windows: texts, handles, jobs, access lists, and the user of this process.

pub(crate) mod job;

use std::{
    ffi::{OsStr, c_void},
    fs::File,
    io,
    os::windows::{
        ffi::OsStrExt,
        io::{AsRawHandle, FromRawHandle, OwnedHandle, RawHandle},
    },
    path::Path,
    ptr::{null, null_mut},
};
use windows_sys::Win32::{
    Foundation::{ERROR_SUCCESS, HANDLE, INVALID_HANDLE_VALUE, LocalFree},
    Security::{
        ACL,
        Authorization::{
            ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW,
            ConvertStringSidToSidW, GetNamedSecurityInfoW, SDDL_REVISION_1, SE_FILE_OBJECT,
            SetNamedSecurityInfoW, SetSecurityInfo,
        },
        DACL_SECURITY_INFORMATION, EqualSid, GetSecurityDescriptorDacl, GetTokenInformation,
        LookupAccountSidW, OWNER_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION,
        PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenOwner, TokenUser,
        UNPROTECTED_DACL_SECURITY_INFORMATION,
    },
    Storage::FileSystem::{
        FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, READ_CONTROL, ReOpenFile, WRITE_DAC,
    },
    System::{
        ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS},
        Threading::{GetCurrentProcess, OpenProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION},
    },
};

/// Units of the longest path (`\\?\`).
pub(crate) const LONGEST_PATH: usize = 32_768;

/// Units of the longest name of an account.
const LONGEST_NAME: usize = 512;

/// A text as the system takes it, with a zero at its end.
pub(crate) fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

/// The last error where a call has failed.
pub(crate) fn done(answer: i32) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The size of a structure, as the system takes it.
pub(crate) fn size_of_one<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}

/// An error where a call has returned a code.
fn code(code: u32) -> io::Result<()> {
    if code == ERROR_SUCCESS { Ok(()) } else { Err(io::Error::from_raw_os_error(code.cast_signed())) }
}

/// Memory that the system has allocated.
struct Local(*mut c_void);

impl Drop for Local {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the system allocated it, and nothing else frees it.
        unsafe { LocalFree(self.0) };
    }
}

/// Security attributes that let the user of this process, administrators and the system use an object, and nobody else.
pub(crate) struct Attributes {
    attributes: Box<SECURITY_ATTRIBUTES>,
    descriptor: Local,
}

impl Attributes {
    /// Attributes of a private object.
    pub(crate) fn private() -> io::Result<Self> {
        // P: nothing is inherited; OICI: what is made in a directory inherits; FA/GA: all rights.
        Self::new(&format!("D:P(A;OICI;GA;;;{})(A;OICI;GA;;;BA)(A;OICI;GA;;;SY)", user()?))
    }

    /// Attributes by a text in the language of security descriptors.
    #[allow(unsafe_code)]
    fn new(text: &str) -> io::Result<Self> {
        let (text, mut descriptor) = (wide(OsStr::new(text)), null_mut());
        // SAFETY: the text ends with a zero; the descriptor is freed by `Local`.
        done(unsafe {
            ConvertStringSecurityDescriptorToSecurityDescriptorW(
                text.as_ptr(),
                SDDL_REVISION_1,
                &mut descriptor,
                null_mut(),
            )
        })?;
        let attributes = Box::new(SECURITY_ATTRIBUTES {
            nLength: size_of_one::<SECURITY_ATTRIBUTES>(),
            lpSecurityDescriptor: descriptor,
            bInheritHandle: 0,
        });
        Ok(Self { attributes, descriptor: Local(descriptor) })
    }

    /// The attributes, which live as long as this value.
    pub(crate) fn as_ptr(&self) -> *const SECURITY_ATTRIBUTES {
        &raw const *self.attributes
    }

    /// The access list.
    #[allow(unsafe_code)]
    fn list(&self) -> io::Result<*const ACL> {
        let (mut present, mut list, mut default) = (0, null_mut(), 0);
        // SAFETY: the descriptor lives as long as `self`.
        done(unsafe { GetSecurityDescriptorDacl(self.descriptor.0, &mut present, &mut list, &mut default) })?;
        Ok(list)
    }
}

/// Gives a file or a directory the private access list.
#[allow(unsafe_code)]
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let (name, private) = (wide(path.as_os_str()), Attributes::private()?);
    let (what, list) = (DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION, private.list()?);
    // SAFETY: the name ends with a zero, and the list lives until after the call.
    code(unsafe {
        SetNamedSecurityInfoW(name.as_ptr(), SE_FILE_OBJECT, what, null_mut(), null_mut(), list, null())
    })
}

/// Gives an open file the access list of its directory alone.
#[allow(unsafe_code)]
pub(crate) fn inherit_rights(file: &File) -> io::Result<()> {
    let empty = Attributes::new("D:")?;
    let what = DACL_SECURITY_INFORMATION | UNPROTECTED_DACL_SECURITY_INFORMATION;
    let list = empty.list()?;
    // SAFETY: the handles are open, and the list lives until after the call.
    unsafe {
        // A handle for reading and writing has no right to change who may do so.
        let every = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
        let file = made(ReOpenFile(file.as_raw_handle(), WRITE_DAC | READ_CONTROL, every, 0))?;
        code(SetSecurityInfo(
            file.as_raw_handle(),
            SE_FILE_OBJECT,
            what,
            null_mut(),
            null_mut(),
            list,
            null(),
        ))
    }
}

/// Whether a file belongs to the user of this process, or to what owns the files that this process makes.
#[allow(unsafe_code)]
pub(crate) fn is_own(path: &Path) -> io::Result<bool> {
    let (owner, _descriptor) = owner_of(path)?;
    for kind in [TokenUser, TokenOwner] {
        let own = identity(kind)?;
        // SAFETY: both lie in memory that is alive; `TOKEN_OWNER` and `TOKEN_USER` begin with the identifier.
        if unsafe { EqualSid(owner, (*own.as_ptr().cast::<TOKEN_USER>()).User.Sid) } != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The owner of a file, and the memory that it lies in.
#[allow(unsafe_code)]
fn owner_of(path: &Path) -> io::Result<(PSID, Local)> {
    let name = wide(path.as_os_str());
    let (mut owner, mut descriptor): (PSID, PSECURITY_DESCRIPTOR) = (null_mut(), null_mut());
    // SAFETY: the name ends with a zero; the descriptor is freed by `Local`.
    code(unsafe {
        GetNamedSecurityInfoW(
            name.as_ptr(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &mut owner,
            null_mut(),
            null_mut(),
            null_mut(),
            &mut descriptor,
        )
    })?;
    Ok((owner, Local(descriptor)))
}

/// The security identifier of the owner of a file, as text.
#[allow(unsafe_code)]
pub(crate) fn owner(path: &Path) -> io::Result<String> {
    let (owner, _descriptor) = owner_of(path)?;
    // SAFETY: the owner lies in the descriptor, which lives until after the call.
    unsafe { text_of(owner) }
}

/// The security identifier of the user of this process, as text.
#[allow(unsafe_code)]
pub(crate) fn user() -> io::Result<String> {
    let own = identity(TokenUser)?;
    // SAFETY: the identifier lies in `own`.
    unsafe { text_of((*own.as_ptr().cast::<TOKEN_USER>()).User.Sid) }
}

/// The security identifier of the user of a process, as text.
#[allow(unsafe_code)]
pub(crate) fn user_of(process: u32) -> io::Result<String> {
    let process = opened(process, PROCESS_QUERY_LIMITED_INFORMATION)?;
    let found = token(process.as_raw_handle(), TokenUser)?;
    // SAFETY: the identifier lies in `found`.
    unsafe { text_of((*found.as_ptr().cast::<TOKEN_USER>()).User.Sid) }
}

/// The name of the account with a security identifier.
#[allow(unsafe_code)]
pub(crate) fn account(identifier: &str) -> io::Result<String> {
    let (text, mut sid) = (wide(OsStr::new(identifier)), null_mut());
    let (mut name, mut domain) = ([0_u16; LONGEST_NAME], [0_u16; LONGEST_NAME]);
    let room = u32::try_from(LONGEST_NAME).map_err(io::Error::other)?;
    let (mut units, mut domain_units, mut kind) = (room, room, 0);
    // SAFETY: the texts end with a zero; the identifier is freed by `Local`; the system writes no more than there is room.
    unsafe {
        done(ConvertStringSidToSidW(text.as_ptr(), &mut sid))?;
        let _freed = Local(sid);
        done(LookupAccountSidW(
            null(),
            sid,
            name.as_mut_ptr(),
            &mut units,
            domain.as_mut_ptr(),
            &mut domain_units,
            &mut kind,
        ))?;
    }
    let name = name.get(..usize::try_from(units).map_err(io::Error::other)?).unwrap_or_default();
    String::from_utf16(name).map_err(io::Error::other)
}

/// A security identifier as text.
///
/// # Safety
/// The identifier is valid.
#[allow(unsafe_code)]
unsafe fn text_of(sid: PSID) -> io::Result<String> {
    let mut text = null_mut();
    // SAFETY: by the condition of this function; the text is freed by `Local` after it was copied.
    unsafe {
        done(ConvertSidToStringSidW(sid, &mut text))?;
        let _freed = Local(text.cast());
        let units = (0..).take_while(|&at| *text.add(at) != 0).count();
        String::from_utf16(std::slice::from_raw_parts(text, units)).map_err(io::Error::other)
    }
}

/// What the token of this process has of a kind.
#[allow(unsafe_code)]
fn identity(kind: i32) -> io::Result<Vec<u64>> {
    // SAFETY: the handle of this process needs no closing.
    token(unsafe { GetCurrentProcess() }, kind)
}

/// What the token of a process has of a kind, aligned for every structure.
#[allow(unsafe_code)]
fn token(process: HANDLE, kind: i32) -> io::Result<Vec<u64>> {
    let mut token: HANDLE = null_mut();
    // SAFETY: the handle is closed by `OwnedHandle`; the system writes no more than there is room for.
    unsafe {
        done(OpenProcessToken(process, TOKEN_QUERY, &mut token))?;
        let token = owned(token);
        let (mut room, mut needed) = (vec![0_u64; 64], 0);
        let bytes = u32::try_from(size_of_val(room.as_slice())).map_err(io::Error::other)?;
        done(GetTokenInformation(token.as_raw_handle(), kind, room.as_mut_ptr().cast(), bytes, &mut needed))?;
        Ok(room)
    }
}

/// What a call has made that answers with null or an invalid handle where it fails.
///
/// # Safety
/// The handle is the answer of such a call, and nothing else closes it.
#[allow(unsafe_code)]
pub(crate) unsafe fn made(handle: RawHandle) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open, and nothing else closes it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// A process, with these rights.
#[allow(unsafe_code)]
pub(crate) fn opened(process: u32, rights: u32) -> io::Result<OwnedHandle> {
    // SAFETY: the call opens a handle, or answers with null.
    unsafe { made(OpenProcess(rights, 0, process)) }
}

/// The memory of a process.
#[allow(unsafe_code)]
pub(crate) fn memory_of(process: &OwnedHandle) -> io::Result<PROCESS_MEMORY_COUNTERS> {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let bytes = size_of_one::<PROCESS_MEMORY_COUNTERS>();
    // SAFETY: the handle is open, and the structure is the one that is asked for, with its size.
    done(unsafe { K32GetProcessMemoryInfo(process.as_raw_handle(), &mut counters, bytes) })?;
    Ok(counters)
}

/// A handle that is closed when it is dropped.
///
/// # Safety
/// The handle is open, and nothing else closes it.
#[allow(unsafe_code)]
pub(crate) unsafe fn owned(handle: RawHandle) -> OwnedHandle {
    // SAFETY: by the condition of this function.
    unsafe { OwnedHandle::from_raw_handle(handle) }
}

//! Windows: there are no stamps.

use socket2::SockRef;
use std::{
    io::{self, Read},
    net::SocketAddr,
    os::windows::io::AsRawSocket,
    time::Duration,
};
use windows_sys::Win32::Networking::WinSock::{IPPROTO_TCP, TCP_MAXRT, WSAENOPROTOOPT, setsockopt};

pub(super) fn is_own(_: SocketAddr, _: SocketAddr) -> Option<bool> {
    None
}

#[allow(unsafe_code)]
pub(super) fn give_up_after(socket: &SockRef<'_>, time: Duration) -> io::Result<()> {
    let seconds = u32::try_from(time.as_secs().max(1)).map_err(io::Error::other)?.to_ne_bytes();
    let bytes = i32::try_from(seconds.len()).map_err(io::Error::other)?;
    let handle = usize::try_from(socket.as_raw_socket()).map_err(io::Error::other)?;
    // SAFETY: the socket is open, and the number lives until after the call.
    match unsafe { setsockopt(handle, IPPROTO_TCP, TCP_MAXRT, seconds.as_ptr(), bytes) } {
        0 => Ok(()),
        _ => Err(match io::Error::last_os_error() {
            // Wine does not have it.
            error if error.raw_os_error() == Some(WSAENOPROTOOPT) => {
                crate::unanswered("how long a peer may leave what was sent unacknowledged")
            }
            error => error,
        }),
    }
}

pub(super) fn stamp_arrivals(_socket: &SockRef<'_>) -> io::Result<()> {
    Ok(())
}

pub(super) fn receive(socket: &SockRef<'_>, into: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    Ok(((&**socket).read(into)?, None))
}

pub(super) fn route(_socket: &SockRef<'_>) -> Option<super::Route> {
    None
}

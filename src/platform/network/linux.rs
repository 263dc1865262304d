//! Linux: stamps come beside the bytes.

use nix::libc;
use nix::sys::{
    socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns},
    time::TimeSpec,
};
use socket2::SockRef;
use std::{
    io::{self, IoSliceMut},
    os::fd::AsRawFd,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(super) fn give_up_after(socket: &SockRef<'_>, time: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(time))
}

pub(super) fn stamp_arrivals(socket: &SockRef<'_>) -> io::Result<()> {
    Ok(setsockopt(&**socket, ReceiveTimestampns, &true)?)
}

pub(super) fn receive(socket: &SockRef<'_>, into: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    let mut room = nix::cmsg_space!(TimeSpec);
    let mut into = [IoSliceMut::new(into)];
    let read = recvmsg::<()>(socket.as_raw_fd(), &mut into, Some(&mut room), MsgFlags::empty())?;
    let stamp = read.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
        _ => None,
    });
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok((read.bytes, stamp.map(|stamp| now.saturating_sub(stamp))))
}

#[allow(unsafe_code)]
pub(super) fn round_trip(socket: &SockRef<'_>) -> Option<Duration> {
    // SAFETY: all bytes of it are numbers.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut size = libc::socklen_t::try_from(size_of::<libc::tcp_info>()).ok()?;
    // SAFETY: the socket is open, and what is written into lives until after the call and has the size that is given.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        )
    };
    (answer == 0).then(|| Duration::from_micros(info.tcpi_rtt.into()))
}

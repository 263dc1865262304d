//! Linux: stamps come beside the bytes.

use super::Route;
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

/// Places in `struct tcp_info` (linux/tcp.h) of `tcpi_rtt`, in microseconds, and `tcpi_rcv_ooopack`, in words of 32 bits. The
/// struct only grows at its end; libc has its first half.
const ROUND_TRIP: usize = 17;
const OUT_OF_ORDER: usize = 56;

#[allow(unsafe_code)]
pub(super) fn route(socket: &SockRef<'_>) -> Option<Route> {
    // A kernel before 5.4 does not write the last word.
    let mut info = [0_u32; OUT_OF_ORDER + 1];
    let mut size = libc::socklen_t::try_from(size_of_val(&info)).ok()?;
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
    let round_trip = Duration::from_micros(info[ROUND_TRIP].into());
    (answer == 0).then(|| Route {
        round_trip: Some(round_trip).filter(|time| !time.is_zero()),
        out_of_order: info[OUT_OF_ORDER],
    })
}

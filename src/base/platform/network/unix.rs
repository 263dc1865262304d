//! Unix without stamps.

use socket2::SockRef;
use std::{
    io::{self, Read},
    net::SocketAddr,
    time::Duration,
};

pub(super) fn is_own(_: SocketAddr, _: SocketAddr) -> Option<bool> {
    None
}

pub(super) fn give_up_after(_socket: &SockRef<'_>, _time: Duration) -> io::Result<()> {
    Err(crate::unanswered("how long a peer may not acknowledge"))
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

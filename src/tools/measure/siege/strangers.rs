//! Attacks by connections that come and go: names, secrets, places, storms.

use super::{
    attack::{Target, address},
    client::connect,
    floods::log_in,
};
use std::{
    io::{Read, Write},
    time::Duration,
};

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends a line on a new connection and reads the beginning of the answer.
fn call(target: &Target<'_>, from: [u8; 4], line: &str) {
    let Ok(mut socket) = connect(from, target.address) else { return };
    let _closed = socket.write_all(line.as_bytes());
    let _waited = socket.set_read_timeout(Some(PATIENCE));
    let _answer = socket.read(&mut [0; 256]);
    target.hit();
}

/// Logs in under a new name, waits for a game, and leaves, again and again; every other time two meet for one.
pub fn names(target: &Target<'_>, n: usize, _: usize) {
    call(target, address(0), &format!("LOGIN n{n} name{n}-600-10,x\n"));
}

/// Guesses the secrets of players in running games, in both modes, to take their seats.
pub fn trips(target: &Target<'_>, n: usize, _: usize) {
    let (game, color) = (n % 20, if n % 8 < 4 { "black" } else { "white" });
    let secret =
        if n.is_multiple_of(3) { format!("guess{n} x1") } else { format!("siege{game}-3600-0,guess{n}") };
    call(target, address(20 + n % 30), &format!("LOGIN {color}{game} {secret}\n"));
}

/// Connects, sends something or nothing, and resets or closes the connection.
pub fn storm(target: &Target<'_>, n: usize, _: usize) {
    let Ok(mut socket) = connect(address(n % 25), target.address) else { return };
    let said = match n % 4 {
        0 => String::new(),
        1 => format!("LOGIN storm{} storm-600-10,x\n", n % 40),
        2 => format!("LOGIN storm{} x x1\n%%GAME storm-600-10 *\nAGREE\n", n % 40),
        _ => "LOGIN".to_owned(),
    };
    let _closed = socket.write_all(said.as_bytes());
    if n.is_multiple_of(3) {
        let _unsupported = socket2::SockRef::from(&socket).set_linger(Some(Duration::ZERO));
    }
    target.hit();
}

/// Holds connections that are silent after their login; those that are closed are opened again.
pub fn hold(target: &Target<'_>) {
    target.hold(600, |number| log_in(target, address(number % 10), &format!("holder{number}")));
}

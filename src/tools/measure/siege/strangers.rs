//! An attack by connections that come and go.

use super::{
    attack::{Target, address},
    client::connect,
};
use std::{io::Write, time::Duration};

/// Connects, sends something or nothing, and resets or closes the connection.
pub fn storm(target: &Target<'_>, n: usize) {
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

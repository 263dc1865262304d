//! The attacks. Each is bounded in connections, and ends when it is told to.

use super::client::connect;
use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread::{self, Scope, ScopedJoinHandle},
    time::{Duration, Instant},
};

/// An attack.
pub struct Attack {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Whether the host has accounts.
    pub accounts: bool,
    /// Further keys of the host's configuration.
    pub keys: &'static str,
    /// Begins it; counts what it sends, in packets or connections.
    pub begin: for<'scope, 'env> fn(
        &'scope Scope<'scope, 'env>,
        SocketAddr,
        &'env AtomicBool,
        &'env AtomicU64,
    ) -> Vec<ScopedJoinHandle<'scope, ()>>,
}

/// All attacks.
pub const ATTACKS: [Attack; 11] = [
    attack("who", "200 logins of one address, each sending packets of 341 %%WHO", |scope, to, stop, sent| {
        flood(scope, to, stop, sent, 200, 1, "%%WHO\n", Reads::All)
    }),
    attack("list", "200 logins of one address ask for %%LIST", |scope, to, stop, sent| {
        flood(scope, to, stop, sent, 200, 1, "%%LIST\n", Reads::All)
    }),
    attack("junk", "200 logins of one address send lines that mean nothing", |scope, to, stop, sent| {
        flood(scope, to, stop, sent, 200, 1, "x\n", Reads::All)
    }),
    attack("chat", "100 logins of ten addresses chat", |scope, to, stop, sent| {
        flood(scope, to, stop, sent, 100, 10, "%%CHAT a\n", Reads::All)
    }),
    attack(
        "nul",
        "50 logins of ten addresses chat in NUL bytes, which are shown as five bytes each",
        |scope, to, stop, sent| {
            let line: &'static str = Box::leak(format!("%%CHAT {}\n", "\0".repeat(8000)).into_boxed_str());
            flood(scope, to, stop, sent, 50, 10, line, Reads::All)
        },
    ),
    attack(
        "deaf",
        "100 logins of ten addresses ask for %%WHO and chat, and read nothing",
        |scope, to, stop, sent| flood(scope, to, stop, sent, 100, 10, "%%WHO\n%%CHAT a\n", Reads::Nothing),
    ),
    attack(
        "endless",
        "200 connections of ten addresses send a line without an end",
        |scope, to, stop, sent| flood(scope, to, stop, sent, 200, 10, "xxxxxxxxxxxxxxxx", Reads::All),
    ),
    attack("who-wide", "1,000 logins of 100 addresses ask for %%WHO", |scope, to, stop, sent| {
        flood(scope, to, stop, sent, 1000, 100, "%%WHO\n", Reads::All)
    }),
    attack("names", "one address logs in under ever new names", |scope, to, stop, sent| {
        (0..4).map(|n| scope.spawn(move || names(to, n, stop, sent))).collect()
    }),
    Attack {
        keys: "[serve.limits]\nconnections = 500\n",
        ..attack("places", "ten addresses hold as many connections as they get", |scope, to, stop, sent| {
            vec![scope.spawn(move || hold(to, stop, sent))]
        })
    },
    Attack {
        accounts: true,
        ..attack("guesses", "one address guesses passwords", |scope, to, stop, sent| {
            (0..8).map(|_| scope.spawn(move || guess(to, stop, sent))).collect()
        })
    },
];

type Begin = for<'scope, 'env> fn(
    &'scope Scope<'scope, 'env>,
    SocketAddr,
    &'env AtomicBool,
    &'env AtomicU64,
) -> Vec<ScopedJoinHandle<'scope, ()>>;

const fn attack(name: &'static str, about: &'static str, begin: Begin) -> Attack {
    Attack { name, about, accounts: false, keys: "", begin }
}

/// Whether an attacker reads what it is sent.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    All,
    Nothing,
}

/// Bytes of a packet.
const PACKET: usize = 2048;

fn address(n: usize) -> [u8; 4] {
    [127, 0, (n / 200) as u8, (n % 200 + 2) as u8]
}

/// Logs in with many connections and sends a line without pause on each, from one thread.
#[allow(clippy::too_many_arguments)]
fn flood<'scope>(
    scope: &'scope Scope<'scope, '_>,
    to: SocketAddr,
    stop: &'scope AtomicBool,
    sent: &'scope AtomicU64,
    connections: usize,
    addresses: usize,
    line: &'static str,
    reads: Reads,
) -> Vec<ScopedJoinHandle<'scope, ()>> {
    let packet = line.repeat((PACKET / line.len()).max(1));
    vec![scope.spawn(move || {
        let mut sockets: Vec<(TcpStream, usize)> = (0..connections)
            .filter_map(|n| {
                let mut socket = connect(address(n % addresses), to).ok()?;
                socket.write_all(format!("LOGIN stormer{n} x x1\n").as_bytes()).ok()?;
                socket.set_nonblocking(true).ok()?;
                Some((socket, 0))
            })
            .collect();
        while !stop.load(Ordering::Relaxed) {
            let mut moved = false;
            sockets.retain_mut(|(socket, from)| {
                if reads == Reads::All && !drain(socket, &mut moved) {
                    return false;
                }
                match socket.write(&packet.as_bytes()[*from..]) {
                    Ok(written) => {
                        moved = true;
                        *from = (*from + written) % packet.len();
                        sent.fetch_add(u64::from(*from == 0), Ordering::Relaxed);
                        true
                    }
                    Err(error) => error.kind() == ErrorKind::WouldBlock,
                }
            });
            if !moved {
                thread::sleep(Duration::from_millis(5));
            }
        }
    })]
}

/// Reads what is there; false at the end of the connection.
fn drain(socket: &mut TcpStream, moved: &mut bool) -> bool {
    let mut chunk = [0; 65536];
    match socket.read(&mut chunk) {
        Ok(0) => false,
        Ok(_) => {
            *moved = true;
            true
        }
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    }
}

/// Logs in under a new name, and leaves, again and again.
fn names(to: SocketAddr, number: usize, stop: &AtomicBool, sent: &AtomicU64) {
    let mut count = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        count += 1;
        if let Ok(mut socket) = connect(address(0), to) {
            let login = format!("LOGIN n{number}_{count} name{number}_{count}-600-10,x\n");
            let _closed = socket.write_all(login.as_bytes());
            let _waited = socket.set_read_timeout(Some(Duration::from_secs(1)));
            let _answer = socket.read(&mut [0; 256]);
            sent.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Holds connections that log in and say nothing more; those that are closed are opened again.
fn hold(to: SocketAddr, stop: &AtomicBool, sent: &AtomicU64) {
    let mut held: Vec<TcpStream> = vec![];
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        held.retain_mut(|socket| drain(socket, &mut false));
        let begun = Instant::now();
        while held.len() < 600 && begun.elapsed() < Duration::from_millis(100) {
            number += 1;
            let Ok(mut socket) = connect(address(number % 10), to) else { break };
            let _closed = socket.write_all(format!("LOGIN holder{number} x x1\n").as_bytes());
            let _blocking = socket.set_nonblocking(true);
            sent.fetch_add(1, Ordering::Relaxed);
            held.push(socket);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Guesses a password, again and again.
fn guess(to: SocketAddr, stop: &AtomicBool, sent: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        if let Ok(mut socket) = connect(address(0), to) {
            let _closed = socket.write_all(b"LOGIN newcomer guess x1\n");
            let _waited = socket.set_read_timeout(Some(Duration::from_secs(1)));
            let _answer = socket.read(&mut [0; 256]);
            sent.fetch_add(1, Ordering::Relaxed);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

//! Attacks on the pages, and what an arbiter and a viewer feel of them.

use super::{
    attack::{Target, address},
    client::connect,
    felt::Noted,
    games::Phase,
};
use anyhow::{Context, Result, ensure};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

/// The account of the arbiter.
pub const ARBITER: &str = "kai";
pub const PASSWORD: &str = "a-long-password";
/// Where the arbiter sits, with some of the attackers; and a viewer.
const VENUE: [u8; 4] = [127, 3, 0, 1];
const VIEWER: [u8; 4] = [127, 3, 0, 2];
/// Time between two requests of the arbiter and the viewer.
const PAUSE: Duration = Duration::from_secs(1);
/// How long they wait for an answer, and how long attackers do.
const PATIENCE: Duration = Duration::from_secs(20);
const IMPATIENCE: Duration = Duration::from_secs(2);

/// The arbiter logs in, and the viewer searches and comes to watch, again and again until the end.
pub fn visit(pages: SocketAddr, phase: &Phase) -> Vec<Noted> {
    let login = form(pages, "/arbiter/login", &format!("name={ARBITER}&password={PASSWORD}"));
    let search = get(pages, "/api/games?player=black0");
    let watch = get(pages, "/events");
    let visits = [(VENUE, login, 303), (VIEWER, search, 200), (VIEWER, watch, 200)];
    let mut noted = vec![];
    while !phase.is_over() {
        for (from, request, expected) in &visits {
            let (at, began) = (phase.now(), Instant::now());
            let answer = connect(*from, pages).and_then(|socket| status(socket, request, PATIENCE));
            let fits = answer.and_then(|status| {
                ensure!(status == *expected, "the pages answered {status} instead of {expected}");
                Ok(())
            });
            noted.push(match fits {
                Ok(()) => Noted::Page(at, began.elapsed().as_secs_f64() * 1000.0),
                Err(fault) => {
                    eprintln!("{}: {fault:#}", request.lines().next().unwrap_or_default());
                    Noted::NoPage(at)
                }
            });
        }
        thread::sleep(PAUSE);
    }
    noted
}

fn get(pages: SocketAddr, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {pages}\r\nConnection: close\r\n\r\n")
}

fn form(pages: SocketAddr, path: &str, fields: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {pages}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{fields}",
        fields.len()
    )
}

/// The status of an answer.
fn status(mut socket: TcpStream, request: &str, patience: Duration) -> Result<u16> {
    socket.set_read_timeout(Some(patience))?;
    socket.write_all(request.as_bytes())?;
    let mut head = [0; 64];
    let read = socket.read(&mut head).context("no answer")?;
    let head = String::from_utf8_lossy(&head[..read]);
    head.split(' ').nth(1).and_then(|status| status.parse().ok()).context("the pages hung up")
}

fn attack(target: &Target<'_>, from: [u8; 4], request: &str) {
    let Ok(socket) = connect(from, target.pages) else { return };
    let _refused = status(socket, request, IMPATIENCE);
    target.hit();
}

/// Guesses passwords of the arbiter and of others.
pub fn logins(target: &Target<'_>, n: usize, thread: usize) {
    let name = if n.is_multiple_of(3) { ARBITER.to_owned() } else { format!("guess{n}") };
    let request = form(target.pages, "/arbiter/login", &format!("name={name}&password=guess{n}"));
    attack(target, address((thread / 4 * 4 + n) % 70), &request);
}

/// Files appeals with wrong secrets in the name of the arbiter and of others, from the arbiter's own address.
pub fn secrets(target: &Target<'_>, n: usize, _: usize) {
    let name = if n.is_multiple_of(3) { ARBITER.to_owned() } else { format!("black{}", n % 20) };
    // Of these, those of newcomers are over.
    let fields = format!("game={}&name={name}&secret=guess{n}&words=why", n % 200 + 1);
    attack(target, VENUE, &form(target.pages, "/appeal", &fields));
}

/// Holds a thousand silent streams of 20 addresses; those that are closed are opened again.
pub fn streams(target: &Target<'_>) {
    target.hold(1000, |number| {
        let mut socket = connect(address(number % 20), target.pages).ok()?;
        socket.write_all(get(target.pages, "/events").as_bytes()).ok()?;
        socket.set_nonblocking(true).ok()?;
        Some(socket)
    });
}

/// Asks with 40 connections of one address for everything since the beginning.
pub fn since(target: &Target<'_>, _: usize, _: usize) {
    attack(target, address(30), &get(target.pages, "/events?since=1-1"));
}

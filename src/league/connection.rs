//! One accepted connection: the task that owns its socket, from the first byte to the last.

use super::{
    config::Limits,
    lobby::{Key, Lobby, Note, Offer, Stage},
};
use crate::seat::{
    csa_host::{CsaHost, Phase},
    usi::Alarm,
};
use notation::csa::wire::{ClientLine, Played};
use referee::game::Order;
use std::{
    io, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    io::AsyncReadExt,
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::mpsc,
};

/// Notes that may wait for a connection.
const MAILBOX: usize = 64;
/// Bytes read at once.
const CHUNK: usize = 2048;
/// How long the last lines may take to be read.
const FAREWELL: Duration = Duration::from_secs(2);
const TYPE: &str = "type 'LOGIN name password' or 'LOGIN name password x1'\n";

/// What every connection knows.
#[derive(Clone, Debug)]
pub struct Hall {
    /// The lobby.
    pub lobby: Arc<Mutex<Lobby>>,
    /// What strangers may ask for.
    pub limits: Limits,
}

impl Hall {
    /// The lobby; nobody holds it for long.
    pub fn lobby(&self) -> MutexGuard<'_, Lobby> {
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a connection to its end.
pub async fn attend(socket: TcpStream, hall: Hall) {
    let (read, write) = socket.into_split();
    let mut connection = Connection::new(read, write, hall);
    loop {
        connection.flush();
        if connection.is_done() {
            return;
        }
        match connection.hear().await {
            Heard::Order(order) => connection.obey(order),
            Heard::Note(note) => connection.note(note),
            Heard::Read(Ok(bytes @ 1..), at) => connection.take(bytes, at),
            Heard::Read(..) => connection.broken = true,
            Heard::Writable => {}
            Heard::Rings => connection.rings(),
        }
    }
}

enum Heard {
    Order(Option<Order>),
    Note(Option<Note>),
    Read(io::Result<usize>, Instant),
    Writable,
    Rings,
}

struct Player {
    key: Key,
    extended: bool,
    mailbox: mpsc::Receiver<Note>,
}

struct Connection {
    hall: Hall,
    read: OwnedReadHalf,
    write: OwnedWriteHalf,
    chunk: Vec<u8>,
    /// The beginning of a line whose end is not here yet.
    carry: Vec<u8>,
    pending: Vec<u8>,
    player: Option<Player>,
    seat: Option<Offer>,
    attempts: u32,
    opened: Instant,
    alarm: Alarm,
    /// Lines heard since then.
    chatter: (u32, Instant),
    paused: Option<Instant>,
    /// To be closed when the game is over.
    leaving: bool,
    /// To be closed once everything is written, or then.
    closing: Option<Instant>,
    broken: bool,
}

impl Connection {
    fn new(read: OwnedReadHalf, write: OwnedWriteHalf, hall: Hall) -> Self {
        let now = Instant::now();
        Self {
            hall,
            read,
            write,
            chunk: vec![0; CHUNK],
            carry: Vec::new(),
            pending: Vec::new(),
            player: None,
            seat: None,
            attempts: 0,
            opened: now,
            alarm: Alarm::new(),
            chatter: (0, now),
            paused: None,
            leaving: false,
            closing: None,
            broken: false,
        }
    }

    /// Orders and notes come first: a client that floods is the only one to wait for what it says.
    async fn hear(&mut self) -> Heard {
        self.alarm.set(self.deadline());
        let listens = self.closing.is_none() && self.paused.is_none();
        let unwritten = !self.pending.is_empty();
        tokio::select! { biased;
            order = next_order(&mut self.seat) => Heard::Order(order),
            note = next_note(&mut self.player) => Heard::Note(note),
            read = self.read.read(&mut self.chunk), if listens => Heard::Read(read, Instant::now()),
            _ = self.write.writable(), if unwritten => Heard::Writable,
            () = self.alarm.rings() => Heard::Rings,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let login = || self.opened + Duration::from_secs(self.hall.limits.login_seconds);
        let agreement = self.seat.as_ref().and_then(|seat| seat.host.deadline());
        let login = self.player.is_none().then(login);
        [self.closing, self.paused, login, agreement].into_iter().flatten().min()
    }

    fn rings(&mut self) {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.paused) {
            self.paused = None;
            self.chatter = (0, now);
        }
        if due(self.closing) {
            self.broken = true;
        }
        if self.player.is_none() && now >= self.opened + Duration::from_secs(self.hall.limits.login_seconds) {
            self.broken = true;
        }
        if let Some(seat) = &mut self.seat
            && due(seat.host.deadline())
        {
            seat.host.expire();
        }
    }

    fn is_done(&self) -> bool {
        self.broken || (self.closing.is_some() && self.pending.is_empty())
    }

    /// Writes what can be written now; the rest waits, to a limit.
    fn flush(&mut self) {
        while !self.pending.is_empty() && !self.broken {
            match self.write.try_write(&self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.broken = true,
            }
        }
        self.broken |= self.pending.len() > self.hall.limits.unread_bytes;
    }

    fn take(&mut self, bytes: usize, at: Instant) {
        let chunk = mem::take(&mut self.chunk);
        let mut rest = &chunk[..bytes];
        while let (None, Some(end)) = (self.closing, memchr::memchr(b'\n', rest)) {
            if self.carry.is_empty() {
                self.line(&rest[..end], at);
            } else {
                self.keep(&rest[..end]);
                let mut carry = mem::take(&mut self.carry);
                self.line(&carry, at);
                carry.clear();
                self.carry = carry;
            }
            rest = &rest[end + 1..];
        }
        self.keep(rest);
        self.chunk = chunk;
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.hall.limits.line_bytes.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, bytes: &[u8], at: Instant) {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if let Some(seat) = &self.seat {
            seat.host.received(bytes);
        }
        let text = String::from_utf8_lossy(bytes);
        let Ok(line) = text.parse::<ClientLine>();
        let in_turn = match self.player.as_ref().map(|player| player.key) {
            None => {
                self.stranger(line, &text);
                false
            }
            Some(key) => self.said(key, line, &text, at),
        };
        if !in_turn {
            self.count(at);
        }
    }

    /// Lines beyond the limit wait for the next second: nothing is read until then.
    fn count(&mut self, now: Instant) {
        let (lines, since) = self.chatter;
        let second = Duration::from_secs(1);
        self.chatter = if now >= since + second { (1, now) } else { (lines + 1, since) };
        if self.chatter.0 >= self.hall.limits.lines_per_second {
            self.paused = Some(self.chatter.1 + second);
        }
    }

    fn stranger(&mut self, line: ClientLine, text: &str) {
        let ClientLine::Login { name, password, extended } = line else {
            self.attempts += 1;
            self.send("LOGIN:incorrect\n");
            if text.split_whitespace().count() >= 4 {
                self.send(TYPE);
            }
            if self.attempts >= self.hall.limits.login_attempts {
                self.close();
            }
            return;
        };
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let login = self.hall.lobby().login(&name, &password, extended, sender);
        match login {
            Ok(key) => self.player = Some(Player { key, extended, mailbox }),
            Err(refusal) => {
                self.attempts += 1;
                self.send(&refusal.lines);
                if !refusal.again || self.attempts >= self.hall.limits.login_attempts {
                    self.close();
                }
            }
        }
    }

    /// Whether it was a move in turn.
    fn said(&mut self, key: Key, line: ClientLine, text: &str, at: Instant) -> bool {
        match line {
            ClientLine::Blank => self.send("\n"),
            ClientLine::Move(played) => return self.played(key, "MOVE", played, at),
            ClientLine::Special(played) => return self.played(key, "MOVE", played, at),
            ClientLine::Agree(_) => self.agree(key),
            ClientLine::Reject(_) => self.reject(key),
            ClientLine::Logout => self.logout(),
            ClientLine::Challenge => self.send("CHALLENGE ACCEPTED\n"),
            ClientLine::Command(command) => self.hall.lobby().command(key, command),
            ClientLine::Unknown(line) if line.trim().is_empty() => {}
            ClientLine::Unknown(_) | ClientLine::Login { .. } => self.hall.lobby().unknown(key, text),
        }
        false
    }

    fn played(&mut self, key: Key, word: &str, played: Played, at: Instant) -> bool {
        match &mut self.seat {
            Some(seat) if seat.host.phase() == Phase::Playing => {
                if let Some(comment) = played.rest.as_deref().filter(|rest| rest.starts_with("'*")) {
                    self.hall.lobby().commented(seat.game, &played.text, comment);
                }
                seat.host.played(played, at)
            }
            _ => {
                self.hall.lobby().untimely(key, word, "game");
                false
            }
        }
    }

    fn agree(&mut self, key: Key) {
        let agreed = self.seat.as_mut().is_some_and(|seat| seat.host.agree());
        let mut lobby = self.hall.lobby();
        match agreed {
            true => lobby.reached(key, Stage::StartWaiting),
            false => lobby.untimely(key, "AGREE", "agree_waiting"),
        }
    }

    fn reject(&mut self, key: Key) {
        if !self.seat.as_mut().is_some_and(|seat| seat.host.reject()) {
            self.hall.lobby().untimely(key, "REJECT", "agree_waiting");
        }
    }

    fn logout(&mut self) {
        self.send("LOGOUT:completed\n");
        match &mut self.seat {
            Some(seat) => {
                self.leaving = true;
                seat.host.leave("logged out");
            }
            None => self.close(),
        }
    }

    fn obey(&mut self, order: Option<Order>) {
        let Some(Offer { host, game, tells }) = &mut self.seat else { return };
        let Some(order) = order else {
            self.send("##[ERROR] the game could not be set up\n");
            return self.game_over();
        };
        let before = host.phase();
        host.obey(order, Instant::now(), &mut self.pending);
        let after = host.phase();
        if *tells {
            let lobby = &self.hall.lobby;
            host.take_heard().for_each(|(mv, seconds)| {
                lobby.lock().unwrap_or_else(PoisonError::into_inner).moved(*game, mv, seconds);
            });
        } else {
            host.take_heard();
        }
        match (before == after, after, &self.player) {
            (false, Phase::Playing, Some(player)) => self.hall.lobby().reached(player.key, Stage::Game),
            (_, Phase::Over, _) => self.game_over(),
            _ => {}
        }
    }

    /// In the extended mode a player stays for the next game.
    fn game_over(&mut self) {
        self.stand_up();
        match &self.player {
            Some(player) if player.extended && !self.leaving => self.hall.lobby().free(player.key),
            _ => self.close(),
        }
    }

    fn stand_up(&mut self) {
        if let Some(seat) = self.seat.take()
            && seat.tells
        {
            self.hall.lobby().told(seat.game);
        }
    }

    fn note(&mut self, note: Option<Note>) {
        match note {
            Some(Note::Lines(lines)) => self.send(&lines),
            Some(Note::Game(offer)) => self.seat = Some(*offer),
            Some(Note::Closing) if self.seat.is_some() => self.leaving = true,
            Some(Note::Closing | Note::Replaced) | None => self.close(),
        }
    }

    fn send(&mut self, lines: &str) {
        self.pending.extend_from_slice(lines.as_bytes());
    }

    /// Nothing more is heard; what is to be said still is.
    fn close(&mut self) {
        self.closing.get_or_insert_with(|| Instant::now() + FAREWELL);
        self.leave();
    }

    fn leave(&mut self) {
        if let Some(player) = self.player.take() {
            self.hall.lobby().leave(player.key);
        }
        self.stand_up();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.leave();
    }
}

async fn next_order(seat: &mut Option<Offer>) -> Option<Order> {
    match seat {
        Some(Offer { host, .. }) => CsaHost::order(host).await,
        None => std::future::pending().await,
    }
}

async fn next_note(player: &mut Option<Player>) -> Option<Note> {
    match player {
        Some(player) => player.mailbox.recv().await,
        None => std::future::pending().await,
    }
}

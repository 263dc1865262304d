//! One accepted connection: the task that owns its socket, from the first byte to the last.

use super::{
    door::{Door, Verdict, Visitor},
    grace::Entered,
    lobby::{Key, Lobby, Note, Offer, Refusal, Stage},
    waits::{handed_over, next_note, next_order, next_read, verdict, writable},
};
use notation::csa::wire::{ClientLine, Played};
use plan::serve::{Limits, ServeConfig};
use referee::game::Order;
use seat::{csa_host::Phase, usi::Alarm};
use std::{
    io, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::{
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, oneshot},
};

/// Notes that may wait for a connection.
const MAILBOX: usize = 64;
/// Bytes read at once.
const CHUNK: usize = 2048;
/// How long the last lines may take to be read.
const FAREWELL: Duration = Duration::from_secs(2);
const INCORRECT: &str = "LOGIN:incorrect\n";
const TYPE: &str = "type 'LOGIN name password' or 'LOGIN name password x1'\n";

/// What every connection knows.
#[derive(Clone, Debug)]
pub struct Hall {
    /// The lobby.
    pub lobby: Arc<Mutex<Lobby>>,
    /// What strangers may ask for.
    pub limits: Limits,
    /// How long a game is held for a player whose line dropped.
    pub grace: Duration,
    /// Who may come in.
    pub door: Door,
}

impl Hall {
    /// A lobby behind a door, as the configuration has it.
    #[must_use]
    pub fn new(config: &ServeConfig, lobby: Lobby, door: Door) -> Self {
        let (limits, grace) = (config.limits, config.grace());
        Self { lobby: Arc::new(Mutex::new(lobby)), limits, grace, door }
    }

    /// The lobby; nobody holds it for long.
    pub fn lobby(&self) -> MutexGuard<'_, Lobby> {
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a connection to its end.
pub async fn attend(socket: TcpStream, hall: Hall) {
    let mut connection = Connection::new(socket.into_split(), hall);
    loop {
        connection.flush();
        connection.hold();
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
            Heard::Verdict(admitted) => connection.admitted(admitted),
            Heard::Seat(seat) => connection.sit_down(seat),
        }
    }
}

enum Heard {
    Order(Option<Order>),
    Note(Option<Note>),
    Read(io::Result<usize>, Instant),
    Writable,
    Rings,
    Verdict(bool),
    Seat(Option<Box<Offer>>),
}

pub(super) struct Player {
    key: Key,
    extended: bool,
    pub(super) mailbox: mpsc::Receiver<Note>,
    /// Whether it can be told from others when it comes back.
    secret: bool,
}

struct Connection {
    hall: Hall,
    /// None: it dropped, and the game is held.
    socket: Option<(OwnedReadHalf, OwnedWriteHalf)>,
    /// Until when the game is held.
    held: Option<Instant>,
    chunk: Vec<u8>,
    /// The beginning of a line whose end is not here yet.
    carry: Vec<u8>,
    pending: Vec<u8>,
    /// Who waits at the door, and what it said since.
    knocked: Option<(Visitor, Verdict)>,
    unheard: Vec<u8>,
    player: Option<Player>,
    /// The seat in a game that goes on, as soon as the player's former connection gives it up.
    awaits: Option<oneshot::Receiver<Box<Offer>>>,
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
    fn new(socket: (OwnedReadHalf, OwnedWriteHalf), hall: Hall) -> Self {
        let now = Instant::now();
        Self {
            hall,
            socket: Some(socket),
            held: None,
            chunk: vec![0; CHUNK],
            carry: Vec::new(),
            pending: Vec::new(),
            knocked: None,
            unheard: Vec::new(),
            player: None,
            awaits: None,
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
        let listens = self.closing.is_none() && self.paused.is_none() && self.knocked.is_none();
        let unwritten = !self.pending.is_empty();
        let (read, write) = self.socket.as_mut().map(|(read, write)| (read, &*write)).unzip();
        tokio::select! { biased;
            order = next_order(&mut self.seat) => Heard::Order(order),
            note = next_note(&mut self.player) => Heard::Note(note),
            admitted = verdict(&mut self.knocked) => Heard::Verdict(admitted),
            seat = handed_over(&mut self.awaits) => Heard::Seat(seat),
            read = next_read(read, &mut self.chunk), if listens => Heard::Read(read, Instant::now()),
            () = writable(write), if unwritten => Heard::Writable,
            () = self.alarm.rings() => Heard::Rings,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let login = || self.opened + Duration::from_secs(self.hall.limits.login_seconds);
        let agreement = self.seat.as_ref().and_then(|seat| seat.host.deadline());
        let login = self.player.is_none().then(login);
        [self.closing, self.paused, self.held, login, agreement].into_iter().flatten().min()
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
        if due(self.held) {
            self.held = None;
            self.seat
                .iter_mut()
                .for_each(|seat| seat.host.leave("the connection ended, and nobody came back"));
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

    /// A line that drops takes the game with it only where the player could not come back for it.
    fn hold(&mut self) {
        let under_way = self.seat.as_ref().is_some_and(|seat| seat.host.is_under_way());
        let known = self.player.as_ref().is_some_and(|player| player.secret);
        if self.broken && under_way && known && self.closing.is_none() && !self.hall.grace.is_zero() {
            (self.broken, self.socket, self.paused) = (false, None, None);
            self.held = Some(Instant::now() + self.hall.grace);
        }
    }

    fn sit_down(&mut self, seat: Option<Box<Offer>>) {
        self.awaits = None;
        match (seat, &self.player) {
            (Some(mut seat), _) => {
                seat.host.come_back(Instant::now(), &mut self.pending);
                self.seat = Some(*seat);
            }
            // The game had ended in the meantime.
            (None, Some(player)) if player.extended => self.hall.lobby().free(player.key),
            (None, _) => self.close(),
        }
    }

    /// Writes what can be written now; the rest waits, to a limit.
    fn flush(&mut self) {
        let Some((_, write)) = &self.socket else { return self.pending.clear() };
        while !self.pending.is_empty() && !self.broken {
            match write.try_write(&self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.broken = true,
            }
        }
        self.broken |= self.pending.len() > self.hall.limits.unread_bytes;
    }

    fn take(&mut self, bytes: usize, at: Instant) {
        let chunk = mem::take(&mut self.chunk);
        self.cut(&chunk[..bytes], at);
        self.chunk = chunk;
    }

    fn cut(&mut self, mut rest: &[u8], at: Instant) {
        while let (None, None, Some(end)) = (self.closing, &self.knocked, memchr::memchr(b'\n', rest)) {
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
        match self.knocked {
            Some(_) => self.unheard = rest.to_vec(),
            None => self.keep(rest),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.hall.limits.line_bytes.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, bytes: &[u8], at: Instant) {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if let Some(seat) = &mut self.seat {
            seat.host.received(bytes, at);
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
            let hint = if text.split_whitespace().count() >= 4 { TYPE } else { "" };
            return self.refuse(&Refusal { lines: format!("{INCORRECT}{hint}"), again: true });
        };
        let visitor = Visitor { name, password, extended, vouched: false };
        match self.hall.door.knock(&visitor) {
            None => self.login(&visitor),
            Some(verdict) => self.knocked = Some((visitor, verdict)),
        }
    }

    fn admitted(&mut self, admitted: bool) {
        let Some((visitor, _)) = self.knocked.take() else { return };
        tracing::debug!(target: "host", name = ?visitor.name, admitted, "password checked");
        match admitted {
            true => self.login(&Visitor { vouched: true, ..visitor }),
            false => self.refuse(&Refusal { lines: INCORRECT.to_owned(), again: true }),
        }
        let said = mem::take(&mut self.unheard);
        self.cut(&said, Instant::now());
    }

    fn login(&mut self, visitor: &Visitor) {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let login = self.hall.lobby().login(visitor, sender);
        match login {
            Ok(Entered { key, seat }) => {
                tracing::info!(target: "host", name = ?visitor.name, extended = visitor.extended, resumes = seat.is_some(), "logged in");
                let (extended, secret) = (visitor.extended, visitor.secret().is_some());
                self.player = Some(Player { key, extended, mailbox, secret });
                self.awaits = seat;
            }
            Err(refusal) => {
                tracing::info!(target: "host", name = ?visitor.name, why = ?refusal.lines, "login refused");
                self.refuse(&refusal);
            }
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.attempts += 1;
        self.send(&refusal.lines);
        if !refusal.again || self.attempts >= self.hall.limits.login_attempts {
            self.close();
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
        if self.seat.as_mut().is_some_and(|seat| seat.host.go_on(Instant::now(), &mut self.pending)) {
            return;
        }
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
            Some(player) if player.extended && !self.leaving && self.socket.is_some() => {
                self.hall.lobby().free(player.key)
            }
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
            Some(Note::HandOver(to)) => self.hand_over(to),
            Some(Note::Closing) if self.seat.is_some() => self.leaving = true,
            Some(Note::Closing | Note::Replaced) | None => self.close(),
        }
    }

    fn hand_over(&mut self, to: oneshot::Sender<Box<Offer>>) {
        if let Some(seat) = self.seat.take() {
            // A new connection that is gone by now loses the game with its seat.
            let _gone = to.send(Box::new(seat));
        }
        self.close();
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

//! One accepted connection: the task that owns its socket, from the first byte to the last.

use super::{
    admission::{Decision, LoginRequest},
    context::HostContext,
    lobby::{LoggedIn, Refusal},
    presence::{LoginId, Message, Offer, Progress},
};
use notation::csa::wire::{ClientLine, Played};
use referee::game::Order;
use seat::{
    csa_host::{CsaHost, Phase},
    usi::Alarm,
};
use std::{io, mem, time::Duration};
use tokio::{
    io::AsyncReadExt,
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::{mpsc, oneshot},
    time::Instant,
};

/// Messages that may wait for a connection.
const MAILBOX: usize = 64;
/// Bytes read at once.
const CHUNK: usize = 2048;
/// How long the last lines may take to be read.
const FAREWELL: Duration = Duration::from_secs(2);
const INCORRECT: &str = "LOGIN:incorrect\n";
const TYPE: &str = "type 'LOGIN name password' or 'LOGIN name password x1'\n";

/// Serves a connection to its end.
pub async fn attend(socket: TcpStream, context: HostContext) {
    let mut connection = Connection::new(socket.into_split(), context);
    loop {
        connection.flush();
        connection.hold();
        if connection.is_done() {
            return;
        }
        match connection.hear().await {
            Heard::Order(order) => connection.obey(order),
            Heard::Message(message) => connection.message(message),
            Heard::Read(Ok(bytes @ 1..), at) => connection.take(bytes, at),
            Heard::Read(..) => connection.broken = true,
            Heard::Writable => {}
            Heard::Rings => connection.rings(),
            Heard::Admitted(admitted) => connection.admitted(admitted),
            Heard::HandedOver(seat) => connection.resume(seat),
        }
    }
}

/// Something that a connection hears.
enum Heard {
    Order(Option<Order>),
    Message(Option<Message>),
    Read(io::Result<usize>, Instant),
    Writable,
    Rings,
    Admitted(bool),
    HandedOver(Option<Box<Offer>>),
}

/// The login of a connection.
struct Login {
    id: LoginId,
    extended: bool,
    mailbox: mpsc::Receiver<Message>,
    /// Whether the player can be identified when it comes back.
    secret: bool,
}

struct Connection {
    context: HostContext,
    /// `None` when it dropped and the game is kept for the player.
    socket: Option<(OwnedReadHalf, OwnedWriteHalf)>,
    /// Until when the game is kept.
    kept_until: Option<Instant>,
    chunk: Vec<u8>,
    /// The beginning of a line whose end is not here yet.
    carry: Vec<u8>,
    /// Bytes to be written.
    pending: Vec<u8>,
    /// The login that is being checked.
    checking: Option<(LoginRequest, Decision)>,
    /// Bytes read while the login is checked.
    unheard: Vec<u8>,
    login: Option<Login>,
    /// The seat in a game that goes on, once the player's former connection has handed it over.
    handover: Option<oneshot::Receiver<Box<Offer>>>,
    seat: Option<Offer>,
    attempts: u32,
    opened: Instant,
    alarm: Alarm,
    /// Lines that count against the limit, since that time.
    chatter: (u32, Instant),
    /// Nothing is read until then.
    paused: Option<Instant>,
    /// To be closed when the game is over.
    leaving: bool,
    /// To be closed once everything is written, at the latest then.
    closing: Option<Instant>,
    broken: bool,
}

impl Connection {
    fn new(socket: (OwnedReadHalf, OwnedWriteHalf), context: HostContext) -> Self {
        let now = Instant::now();
        Self {
            context,
            socket: Some(socket),
            kept_until: None,
            chunk: vec![0; CHUNK],
            carry: Vec::new(),
            pending: Vec::new(),
            checking: None,
            unheard: Vec::new(),
            login: None,
            handover: None,
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

    /// Orders and messages come before bytes: a client that floods delays only itself.
    async fn hear(&mut self) -> Heard {
        self.alarm.set(self.deadline());
        let listens = self.closing.is_none() && self.paused.is_none() && self.checking.is_none();
        let unwritten = !self.pending.is_empty();
        let (read, write) = self.socket.as_mut().map(|(read, write)| (read, &*write)).unzip();
        tokio::select! { biased;
            order = next_order(&mut self.seat) => Heard::Order(order),
            message = next_message(&mut self.login) => Heard::Message(message),
            admitted = decision(&mut self.checking) => Heard::Admitted(admitted),
            seat = handed_over(&mut self.handover) => Heard::HandedOver(seat),
            read = next_read(read, &mut self.chunk), if listens => Heard::Read(read, Instant::now()),
            () = writable(write), if unwritten => Heard::Writable,
            () = self.alarm.rings() => Heard::Rings,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let login = || self.opened + Duration::from_secs(self.context.limits.login_seconds);
        let agreement = self.seat.as_ref().and_then(|seat| seat.host.deadline());
        let login = self.login.is_none().then(login);
        [self.closing, self.paused, self.kept_until, login, agreement].into_iter().flatten().min()
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
        if due(self.kept_until) {
            self.kept_until = None;
            self.seat
                .iter_mut()
                .for_each(|seat| seat.host.leave("the connection ended, and nobody came back"));
        }
        if self.login.is_none() && now >= self.opened + Duration::from_secs(self.context.limits.login_seconds)
        {
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

    /// Keeps the game of a connection that broke, if the player can come back for it.
    fn hold(&mut self) {
        let under_way = self.seat.as_ref().is_some_and(|seat| seat.host.is_under_way());
        let identified = self.login.as_ref().is_some_and(|login| login.secret);
        if self.broken && under_way && identified && self.closing.is_none() && !self.context.grace.is_zero() {
            (self.broken, self.socket, self.paused) = (false, None, None);
            self.kept_until = Some(Instant::now() + self.context.grace);
        }
    }

    fn resume(&mut self, seat: Option<Box<Offer>>) {
        self.handover = None;
        match (seat, &self.login) {
            (Some(mut seat), _) => {
                seat.host.come_back(Instant::now(), &mut self.pending);
                self.seat = Some(*seat);
            }
            // The game had ended in the meantime.
            (None, Some(login)) if login.extended => self.context.lobby().free(login.id),
            (None, _) => self.close(),
        }
    }

    /// Writes what can be written now. A connection with too much left to write is closed.
    fn flush(&mut self) {
        let Some((_, write)) = &self.socket else { return self.pending.clear() };
        while !self.pending.is_empty() && !self.broken {
            match write.try_write(&self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.broken = true,
            }
        }
        self.broken |= self.pending.len() > self.context.limits.unread_bytes;
    }

    fn take(&mut self, bytes: usize, at: Instant) {
        let chunk = mem::take(&mut self.chunk);
        self.cut(&chunk[..bytes], at);
        self.chunk = chunk;
    }

    fn cut(&mut self, mut rest: &[u8], at: Instant) {
        while let (None, None, Some(end)) = (self.closing, &self.checking, memchr::memchr(b'\n', rest)) {
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
        match self.checking {
            Some(_) => self.unheard = rest.to_vec(),
            None => self.keep(rest),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.context.limits.line_bytes.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn line(&mut self, bytes: &[u8], at: Instant) {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if let Some(seat) = &mut self.seat {
            seat.host.received(bytes, at);
        }
        let text = String::from_utf8_lossy(bytes);
        let Ok(line) = text.parse::<ClientLine>();
        let in_turn = match self.login.as_ref().map(|login| login.id) {
            None => {
                self.before_login(line, &text);
                false
            }
            Some(login) => self.handle(login, line, &text, at),
        };
        if !in_turn {
            self.count(at);
        }
    }

    /// Counts a line. At the limit nothing is read until the next second.
    fn count(&mut self, now: Instant) {
        let (lines, since) = self.chatter;
        let second = Duration::from_secs(1);
        self.chatter = if now >= since + second { (1, now) } else { (lines + 1, since) };
        if self.chatter.0 >= self.context.limits.lines_per_second {
            self.paused = Some(self.chatter.1 + second);
        }
    }

    fn before_login(&mut self, line: ClientLine, text: &str) {
        let ClientLine::Login { name, password, extended } = line else {
            let hint = if text.split_whitespace().count() >= 4 { TYPE } else { "" };
            return self.refuse(&Refusal { lines: format!("{INCORRECT}{hint}"), again: true });
        };
        let request = LoginRequest { name, password, extended, authenticated: false };
        match self.context.admission.check(&request) {
            None => self.login(&request),
            Some(decision) => self.checking = Some((request, decision)),
        }
    }

    fn admitted(&mut self, admitted: bool) {
        let Some((request, _)) = self.checking.take() else { return };
        tracing::debug!(target: "host", name = ?request.name, admitted, "password checked");
        match admitted {
            true => self.login(&LoginRequest { authenticated: true, ..request }),
            false => self.refuse(&Refusal { lines: INCORRECT.to_owned(), again: true }),
        }
        let unheard = mem::take(&mut self.unheard);
        self.cut(&unheard, Instant::now());
    }

    fn login(&mut self, request: &LoginRequest) {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let login = self.context.lobby().login(request, sender);
        match login {
            Ok(LoggedIn { login: id, seat }) => {
                tracing::info!(target: "host", name = ?request.name, extended = request.extended, resumes = seat.is_some(), "logged in");
                let (extended, secret) = (request.extended, request.secret().is_some());
                self.login = Some(Login { id, extended, mailbox, secret });
                self.handover = seat;
            }
            Err(refusal) => {
                tracing::info!(target: "host", name = ?request.name, why = ?refusal.lines, "login refused");
                self.refuse(&refusal);
            }
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.attempts += 1;
        self.send(&refusal.lines);
        if !refusal.again || self.attempts >= self.context.limits.login_attempts {
            self.close();
        }
    }

    /// Whether it was a move in turn.
    fn handle(&mut self, login: LoginId, line: ClientLine, text: &str, at: Instant) -> bool {
        match line {
            ClientLine::Blank => self.send("\n"),
            ClientLine::Move(played) => return self.played(login, "MOVE", played, at),
            ClientLine::Special(played) => return self.played(login, "MOVE", played, at),
            ClientLine::Agree(_) => self.agree(login),
            ClientLine::Reject(_) => self.reject(login),
            ClientLine::Logout => self.logout(),
            ClientLine::Challenge => self.send("CHALLENGE ACCEPTED\n"),
            ClientLine::Command(command) => self.context.lobby().command(login, command),
            ClientLine::Unknown(line) if line.trim().is_empty() => {}
            ClientLine::Unknown(_) | ClientLine::Login { .. } => self.context.lobby().unknown(login, text),
        }
        false
    }

    fn played(&mut self, login: LoginId, word: &str, played: Played, at: Instant) -> bool {
        match &mut self.seat {
            Some(seat) if seat.host.phase() == Phase::Playing => {
                if let Some(comment) = played.rest.as_deref().filter(|rest| rest.starts_with("'*")) {
                    self.context.lobby().commented(seat.game, &played.text, comment);
                }
                seat.host.played(played, at)
            }
            _ => {
                self.context.lobby().untimely(login, word, "game");
                false
            }
        }
    }

    fn agree(&mut self, login: LoginId) {
        if self.seat.as_mut().is_some_and(|seat| seat.host.go_on(Instant::now(), &mut self.pending)) {
            return;
        }
        let agreed = self.seat.as_mut().is_some_and(|seat| seat.host.agree());
        let mut lobby = self.context.lobby();
        match agreed {
            true => lobby.progressed(login, Progress::StartWaiting),
            false => lobby.untimely(login, "AGREE", "agree_waiting"),
        }
    }

    fn reject(&mut self, login: LoginId) {
        if !self.seat.as_mut().is_some_and(|seat| seat.host.reject()) {
            self.context.lobby().untimely(login, "REJECT", "agree_waiting");
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
        let Some(Offer { host, .. }) = &mut self.seat else { return };
        let Some(order) = order else {
            self.send("##[ERROR] the game could not be set up\n");
            return self.game_over();
        };
        let before = host.phase();
        host.obey(order, Instant::now(), &mut self.pending);
        let after = host.phase();
        match (before == after, after, &self.login) {
            (false, Phase::Playing, Some(login)) => {
                self.context.lobby().progressed(login.id, Progress::Game);
            }
            (_, Phase::Over, _) => self.game_over(),
            _ => {}
        }
    }

    /// In the extended mode a player stays for the next game.
    fn game_over(&mut self) {
        self.seat = None;
        match &self.login {
            Some(login) if login.extended && !self.leaving && self.socket.is_some() => {
                self.context.lobby().free(login.id);
            }
            _ => self.close(),
        }
    }

    fn message(&mut self, message: Option<Message>) {
        match message {
            Some(Message::Lines(lines)) => self.send(&lines),
            Some(Message::Game(offer)) => self.seat = Some(*offer),
            Some(Message::HandOver(to)) => self.hand_over(to),
            Some(Message::Closing) if self.seat.is_some() => self.leaving = true,
            Some(Message::Closing | Message::Replaced) | None => self.close(),
        }
    }

    fn hand_over(&mut self, to: oneshot::Sender<Box<Offer>>) {
        if let Some(seat) = self.seat.take() {
            // If the new connection is gone by now, the seat is dropped, and the game is lost by it.
            let _gone = to.send(Box::new(seat));
        }
        self.close();
    }

    fn send(&mut self, lines: &str) {
        self.pending.extend_from_slice(lines.as_bytes());
    }

    /// Hears nothing more; what is to be written still is.
    fn close(&mut self) {
        self.closing.get_or_insert_with(|| Instant::now() + FAREWELL);
        self.leave();
    }

    fn leave(&mut self) {
        if let Some(login) = self.login.take() {
            self.context.lobby().leave(login.id);
        }
        self.seat = None;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.leave();
    }
}

// Futures over optional resources; pending while absent.

async fn next_order(seat: &mut Option<Offer>) -> Option<Order> {
    match seat {
        Some(Offer { host, .. }) => CsaHost::order(host).await,
        None => std::future::pending().await,
    }
}

async fn handed_over(handover: &mut Option<oneshot::Receiver<Box<Offer>>>) -> Option<Box<Offer>> {
    match handover {
        Some(seat) => seat.await.ok(),
        None => std::future::pending().await,
    }
}

async fn next_read(read: Option<&mut OwnedReadHalf>, chunk: &mut [u8]) -> io::Result<usize> {
    match read {
        Some(read) => read.read(chunk).await,
        None => std::future::pending().await,
    }
}

async fn writable(write: Option<&OwnedWriteHalf>) {
    match write {
        Some(write) => drop(write.writable().await),
        None => std::future::pending().await,
    }
}

async fn decision(checking: &mut Option<(LoginRequest, Decision)>) -> bool {
    match checking {
        Some((_, decision)) => decision.await,
        None => std::future::pending().await,
    }
}

async fn next_message(login: &mut Option<Login>) -> Option<Message> {
    match login {
        Some(login) => login.mailbox.recv().await,
        None => std::future::pending().await,
    }
}

//! One accepted connection: the task that owns its socket, from the first byte to the last.
//!
//! The task runs on the thread of the network. While its player has a game, it runs on the thread of that game: there
//! its lines are read where no lobby work, no other connection's chat and no login can delay them, and a move reaches
//! the game without another wake-up. It never touches the lobby; it asks, and the answer comes into its mailbox.

use super::{
    admission::{Decision, Verdict},
    channel::{Carried, Channel, Event},
    context::HostContext,
    mailbox::{Inbox, Message, Offer, mailbox},
    places::{Standing, TakenPlace},
    presence::Progress,
    requests::{LoggedIn, LoginRequest, Membership, Note, Refusal, Request, logged},
};
use arena::actor_thread::ActorThread;
use notation::csa::wire::{ClientLine, Played};
use platform::limits::Bucket;
use referee::{game::Order, operation::InForce};
use seat::{
    csa_host::{CsaHost, Phase},
    usi::Alarm,
};
use std::{collections::VecDeque, future::pending, io, mem, sync::Arc, time::Duration};
use tokio::{sync::oneshot, time::Instant};

/// Bytes read at once.
const CHUNK: usize = 2048;
/// How long the last lines may take to be read.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long a connection on a place kept for returning players has to log in.
const RETURN: Duration = Duration::from_secs(10);
/// Commands of a player in a game that may wait for the answer to the one before.
const WAITING: usize = 8;
const TYPE: &str = "type 'LOGIN name password' or 'LOGIN name password x1'\n";
const LOCKED_OUT: &str = "##[ERROR] too many wrong passwords came from your address; try again later\n";
const CROWDED: &str = "##[ERROR] too many logins of your address wait; try again in a minute\n";
const BUSY: &str = "##[ERROR] too many commands at once; this one was left out\n";

/// Serves a connection, of which some bytes may have been read, to its end, on the thread of the network and on those of
/// its games.
pub fn attend(
    socket: Channel,
    heard: Vec<u8>,
    place: TakenPlace,
    context: HostContext,
    network: ActorThread,
) {
    let mut connection = Connection::new(socket, place, context, network.clone());
    connection.unheard.0 = heard;
    start(connection, network);
}

fn start(connection: Connection, thread: ActorThread) {
    let on = thread.clone();
    thread.start(async move {
        if let Some((connection, next)) = stay(connection, on).await {
            start(connection, next);
        }
    });
}

/// Serves a connection as long as it belongs on this thread; returns it with the one where it goes on.
async fn stay(mut connection: Connection, thread: ActorThread) -> Option<(Connection, ActorThread)> {
    connection.arrive(thread);
    loop {
        connection.flush();
        connection.go_on();
        connection.hold();
        if connection.is_done() {
            return None;
        }
        if let Some(next) = connection.belongs() {
            connection.depart();
            return Some((connection, next));
        }
        match connection.hear().await {
            Heard::Order(order) => connection.obey(order),
            Heard::Message(message) => connection.message(message),
            Heard::Lines(lines) => connection.show(lines),
            Heard::Bytes(Event::Read(Ok((bytes @ 1.., waited)))) => connection.take(bytes, waited),
            Heard::Bytes(Event::Read(_)) => connection.broken = true,
            Heard::Bytes(Event::Writable) => {}
            Heard::Rings => connection.rings(),
            Heard::Admitted(verdict) => connection.admitted(verdict),
            Heard::Entered(answer) => connection.entered(answer),
            Heard::Answered(cost) => connection.answered(cost),
            Heard::HandedOver(seat) => connection.resume(seat),
            Heard::GivesWay => connection.give_way(),
        }
    }
}

/// Something that a connection hears.
enum Heard {
    Order(Option<Order>),
    Message(Option<Message>),
    Lines(Arc<str>),
    Bytes(Event),
    Rings,
    Admitted(Verdict),
    Entered(Option<Result<LoggedIn, Refusal>>),
    Answered(u32),
    HandedOver(Option<Box<Offer>>),
    GivesWay,
}

/// The login of a connection.
struct Login {
    membership: Membership,
    name: String,
    extended: bool,
    inbox: Inbox,
    /// True if the player can be identified when it comes back.
    secret: bool,
}

/// A login under way.
enum Entering {
    /// The password is being checked.
    Checked(LoginRequest, Decision),
    /// The lobby is asked.
    Asked(LoginRequest, Inbox, oneshot::Receiver<Result<LoggedIn, Refusal>>),
}

/// What a line costs.
#[derive(Clone, Copy, PartialEq)]
enum Cost {
    /// A move in turn or an agreement to an offer: nothing.
    Nothing,
    /// Counted for the connection.
    Own,
    /// Counted also for the address and for the host: the lobby has work with it.
    Shared,
}

struct Connection {
    context: HostContext,
    network: ActorThread,
    thread: ActorThread,
    /// True if `thread` is that of the game.
    at_game: bool,
    /// `None` when it dropped and the game is kept for the player.
    socket: Option<Channel>,
    /// The socket on its way to another thread.
    carried: Option<Carried>,
    /// `None` when the connection dropped.
    place: Option<TakenPlace>,
    /// Until when the game is kept.
    kept_until: Option<Instant>,
    chunk: Vec<u8>,
    /// The beginning of a line whose end is not here yet.
    carry: Vec<u8>,
    /// Bytes to be written.
    pending: Vec<u8>,
    /// Lines of the lobby that are being written, and how much of them is. There are never more: what follows stays in
    /// the mailbox, and what has no room there is left out.
    shown: Option<(Arc<str>, usize)>,
    entering: Option<Entering>,
    /// Bytes read and not heard yet, because of a limit or an answer that is awaited, and when they arrived.
    unheard: (Vec<u8>, Instant),
    login: Option<Login>,
    /// The seat in a game that goes on, once the player's former connection has handed it over.
    handover: Option<oneshot::Receiver<Box<Offer>>>,
    seat: Option<Offer>,
    /// True if the player was given more time because it had not read the offer.
    postponed: bool,
    /// The request that the lobby is working on.
    asked: Option<oneshot::Receiver<u32>>,
    /// Commands of a player in a game that wait for their turn.
    commands: VecDeque<Ask>,
    attempts: u32,
    opened: Instant,
    alarm: Alarm,
    budget: Bucket,
    /// Nothing is read until then: the connection has used up its own budget, or, without a game, a shared one.
    paused: [Option<Instant>; 2],
    /// Until when the connection's own budget was used up last, or until when it had no seat. No line counts as heard
    /// before: the wait for one's own limit is one's own time.
    heard_from: Instant,
    /// Since when the client has read nothing of what waits for it.
    unread_since: Option<Instant>,
    /// To be closed when the game is over.
    leaving: bool,
    /// To be closed once everything is written, at the latest then.
    closing: Option<Instant>,
    broken: bool,
}

/// What a player asks of the lobby.
enum Ask {
    Command(notation::csa::wire::Command),
    Untimely(&'static str, &'static str),
}

impl Connection {
    fn new(socket: Channel, place: TakenPlace, context: HostContext, network: ActorThread) -> Self {
        let now = Instant::now();
        let budget = Bucket::new(context.limits.lines_per_second);
        // A new connection is no way around the budget of its address.
        let wait = place.place.budget.wait(&context.budget, now);
        let paused = [None, (!wait.is_zero()).then(|| now + wait)];
        Self {
            context,
            thread: network.clone(),
            network,
            at_game: false,
            socket: Some(socket),
            carried: None,
            place: Some(place),
            kept_until: None,
            chunk: vec![0; CHUNK],
            carry: Vec::new(),
            pending: Vec::new(),
            shown: None,
            entering: None,
            unheard: (Vec::new(), now),
            login: None,
            handover: None,
            seat: None,
            postponed: false,
            asked: None,
            commands: VecDeque::new(),
            attempts: 0,
            opened: now,
            alarm: Alarm::default(),
            budget,
            paused,
            heard_from: now,
            unread_since: None,
            leaving: false,
            closing: None,
            broken: false,
        }
    }

    /// The other thread to which the connection belongs now: that of its game, or that of the network.
    fn belongs(&self) -> Option<ActorThread> {
        match (&self.seat, self.at_game) {
            // A thread that ends takes nobody in; its last games are over.
            (Some(seat), false) => Some(seat.thread.clone()).filter(|thread| !thread.actors.is_closed()),
            (None, true) => Some(self.network.clone()),
            _ => None,
        }
    }

    /// Sockets and timers belong to a thread; they are taken off it.
    fn depart(&mut self) {
        if let Some(socket) = self.socket.take() {
            self.carried = socket.depart().ok();
            self.broken |= self.carried.is_none();
        }
        self.at_game = !self.at_game;
    }

    fn arrive(&mut self, thread: ActorThread) {
        self.thread = thread;
        self.alarm = Alarm::default();
        if let Some(socket) = self.carried.take() {
            self.socket = socket.arrive().ok();
            self.broken |= self.socket.is_none();
        }
    }

    /// Asks and hears what had to wait until the client has read the answers before.
    fn go_on(&mut self) {
        self.ask_next();
        self.hear_on();
    }

    /// Orders and messages come before bytes: a client that floods delays only itself.
    async fn hear(&mut self) -> Heard {
        self.alarm.set(self.deadline());
        let listens = self.may_hear() && self.unheard.0.is_empty();
        let unwritten = self.is_unwritten();
        let (priority, lines) = match &mut self.login {
            Some(Login { inbox: Inbox { priority, lines, .. }, .. }) => (Some(priority), Some(lines)),
            None => (None, None),
        };
        let socket = self.socket.as_mut();
        tokio::select! { biased;
            order = next_order(&mut self.seat) => Heard::Order(order),
            message = async { match priority { Some(inbox) => inbox.recv().await, None => pending().await } } => Heard::Message(message),
            verdict = verdict(&mut self.entering) => verdict,
            cost = answered(&mut self.asked) => Heard::Answered(cost),
            seat = handed_over(&mut self.handover) => Heard::HandedOver(seat),
            Some(lines) = async { match lines { Some(lines) => lines.recv().await, None => pending().await } }, if !unwritten => Heard::Lines(lines),
            event = async { match socket { Some(socket) => socket.event(&mut self.chunk, listens, unwritten).await, None => pending().await } } => Heard::Bytes(event),
            () = self.alarm.rings() => Heard::Rings,
            () = async { match &self.place { Some(taken) => taken.place.gives_way().await, None => pending().await } } => Heard::GivesWay,
        }
    }

    /// True if the next line may be heard. Without a game a line waits until the one before is answered, so that lines
    /// are carried out in their order; with one, moves must not wait.
    fn may_hear(&self) -> bool {
        let [own, shared] = self.paused;
        let in_game = self.seat.is_some();
        let answered = self.asked.is_none() && self.commands.is_empty();
        let free = own.is_none() && (in_game || (shared.is_none() && answered));
        self.closing.is_none() && self.entering.is_none() && free
    }

    fn is_unwritten(&self) -> bool {
        !self.pending.is_empty() || self.shown.is_some() || self.socket.as_ref().is_some_and(Channel::owes)
    }

    fn deadline(&self) -> Option<Instant> {
        let agreement = self.seat.as_ref().and_then(|seat| seat.host.deadline());
        let [own, shared] = self.paused;
        let login = self.owes_login().then(|| self.login_by());
        let unread = self.unread_until().filter(|_| self.seat.is_none());
        let idle = self.idle_until();
        let all = [self.closing, own, shared, self.kept_until, login, agreement, unread, idle];
        all.into_iter().flatten().min()
    }

    /// True if the host waits for a login. While it looks at one, the client waits for the host.
    fn owes_login(&self) -> bool {
        self.login.is_none() && self.entering.is_none() && self.closing.is_none()
    }

    fn login_by(&self) -> Instant {
        let time = Duration::from_secs(self.context.limits.login_seconds);
        let reserved = self.place.as_ref().is_some_and(|taken| taken.place.reserved);
        self.opened + if reserved { time.min(RETURN) } else { time }
    }

    /// When the connection has been idle for too long. Who waits for a game or plays is not idle.
    fn idle_until(&self) -> Option<Instant> {
        let place = self.place.as_ref()?.place.as_ref();
        let most = Duration::from_secs(self.context.limits.idle_seconds);
        let limited = self.login.is_some() && !most.is_zero() && self.closing.is_none();
        (limited && place.standing() == Standing::Idle).then(|| place.idle_since() + most)
    }

    /// Until when a client without a game has to read something.
    fn unread_until(&self) -> Option<Instant> {
        let most = Duration::from_secs(self.context.limits.unread_seconds);
        self.unread_since.map(|since| since + most)
    }

    fn rings(&mut self) {
        let now = Instant::now();
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.paused = self.paused.map(|paused| paused.filter(|at| *at > now));
        self.broken |= due(self.closing);
        self.broken |= self.seat.is_none() && due(self.unread_until());
        if self.owes_login() && now >= self.login_by() {
            let seconds = (now - self.opened).as_secs();
            self.send(&format!("##[ERROR] no login came within {seconds} s\n"));
            self.close();
        }
        if due(self.kept_until) {
            self.kept_until = None;
            self.seat
                .iter_mut()
                .for_each(|seat| seat.host.leave("the connection ended, and nobody came back"));
        }
        if due(self.idle_until()) {
            self.send("##[ERROR] you have been idle for too long\n");
            self.close();
        }
        if due(self.seat.as_ref().and_then(|seat| seat.host.deadline())) {
            self.expire(now);
        }
        self.hear_on();
    }

    /// The time to agree is over. It is given anew, once, to a client that has not taken the offer yet: nobody loses a
    /// game by an offer that was never written. A client that reads nothing for so long is not there.
    fn expire(&mut self, now: Instant) {
        let unwritten = self.is_unwritten();
        let Some(seat) = &mut self.seat else { return };
        match (unwritten, mem::replace(&mut self.postponed, true)) {
            (false, _) => seat.host.expire(),
            (true, false) => seat.host.postpone(now),
            (true, true) => self.broken = true,
        }
    }

    fn is_done(&self) -> bool {
        self.broken || (self.closing.is_some() && !self.is_unwritten())
    }

    /// Keeps the game of a connection that broke, if the player can come back for it.
    fn hold(&mut self) {
        let under_way = self.awaits_seat() || self.seat.as_ref().is_some_and(|seat| seat.host.is_under_way());
        let identified = self.login.as_ref().is_some_and(|login| login.secret);
        if self.broken && under_way && identified && self.closing.is_none() && !self.context.grace.is_zero() {
            (self.broken, self.socket, self.place, self.paused) = (false, None, None, [None; 2]);
            (self.unread_since, self.shown) = (None, None);
            self.unheard.0.clear();
            self.commands.clear();
            self.kept_until = Some(Instant::now() + self.context.grace);
            if let Some(login) = &self.login {
                self.context.note(Note::Dropped(login.membership.login));
            }
        }
    }

    /// True if the seat in a game that goes on is on its way to this connection.
    fn awaits_seat(&self) -> bool {
        self.handover.is_some()
    }

    fn resume(&mut self, seat: Option<Box<Offer>>) {
        self.handover = None;
        match (seat, &self.login) {
            (Some(mut seat), _) => {
                // What came before the seat did is no move of a player who is back.
                self.heard_from = Instant::now();
                seat.host.come_back(self.heard_from, &mut self.pending);
                self.seat = Some(*seat);
            }
            // The game had ended in the meantime.
            (None, Some(login)) if login.extended && !self.leaving && self.socket.is_some() => {
                self.context.note(Note::Free(login.membership.login))
            }
            (None, _) => self.close(),
        }
    }

    /// Writes what can be written now: the lines of the lobby that are begun, then the connection's own and those of its
    /// game. A connection with too much of the latter left to write is closed.
    fn flush(&mut self) {
        let Some(socket) = &mut self.socket else {
            self.shown = None;
            return self.pending.clear();
        };
        while !self.broken && (self.shown.is_some() || !self.pending.is_empty() || socket.owes()) {
            let bytes =
                self.shown.as_ref().map_or(&self.pending[..], |(lines, from)| &lines.as_bytes()[*from..]);
            match socket.try_write(bytes) {
                Ok(written) => {
                    self.unread_since = None;
                    self.place.iter().for_each(|taken| taken.place.is_active(Instant::now()));
                    match &mut self.shown {
                        Some((lines, from)) if *from + written < lines.len() => *from += written,
                        Some(_) => self.shown = None,
                        None => drop(self.pending.drain(..written)),
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.unread_since.get_or_insert_with(Instant::now);
                    break;
                }
                Err(_) => self.broken = true,
            }
        }
        if self.closing.is_some() && self.pending.is_empty() && self.shown.is_none() {
            socket.say_goodbye();
        }
        self.broken |= self.pending.len() > self.context.limits.unread_bytes;
        self.say_what_was_left_out();
    }

    fn show(&mut self, lines: Arc<str>) {
        self.shown = Some((lines, 0));
    }

    fn say_what_was_left_out(&mut self) {
        let written = !self.is_unwritten();
        let left_out = self.login.as_ref().filter(|_| written).map_or(0, |login| login.inbox.left_out());
        if left_out > 0 {
            self.send(&format!(
                "##[ERROR] {left_out} messages were left out, because you did not read in time\n"
            ));
        }
    }

    /// Takes bytes that were read now and have waited in the kernel for that long. The wait is this machine's, as far as
    /// the lag of this thread explains it.
    fn take(&mut self, bytes: usize, waited: Duration) {
        let now = Instant::now();
        let arrived = now.checked_sub(waited).unwrap_or(now);
        let way = self.socket.as_ref().and_then(Channel::way);
        let ours =
            forgiven(waited, self.thread.lag.longest_wait(arrived), way.map_or(0, |way| way.out_of_order));
        if let (Some(round_trip), Some(taken)) = (way.and_then(|way| way.round_trip), &self.place) {
            taken.place.set_round_trip(round_trip);
        }
        let chunk = mem::take(&mut self.chunk);
        self.cut(&chunk[..bytes], now.checked_sub(ours).unwrap_or(now));
        self.chunk = chunk;
    }

    /// Hears the lines in `rest`, which arrived at that instant. The limits are looked at before each.
    fn cut(&mut self, mut rest: &[u8], at: Instant) {
        while let (true, Some(end)) = (self.may_hear(), memchr::memchr(b'\n', rest)) {
            if self.carry.is_empty() {
                self.line(&rest[..end.min(self.context.limits.line_bytes)], at);
            } else {
                self.keep(&rest[..end], at);
                let mut carry = mem::take(&mut self.carry);
                self.line(&carry, at);
                carry.clear();
                self.carry = carry;
            }
            rest = &rest[end + 1..];
        }
        if self.may_hear() { self.keep(rest, at) } else { self.unheard = (rest.to_vec(), at) }
    }

    /// Hears what was left unheard, if nothing stands against it any more.
    fn hear_on(&mut self) {
        if self.may_hear() && !self.unheard.0.is_empty() {
            let (rest, at) = (mem::take(&mut self.unheard.0), self.unheard.1);
            self.cut(&rest, at);
        }
    }

    /// Keeps the beginning of a line. What is beyond the longest line is dropped, and costs as a line does, or endless
    /// ones would keep the thread busy.
    fn keep(&mut self, bytes: &[u8], at: Instant) {
        let room = self.context.limits.line_bytes.saturating_sub(self.carry.len());
        if bytes.len() > room {
            self.spend(1, false, at);
        }
        self.carry.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Hears a line that arrived at that instant.
    fn line(&mut self, bytes: &[u8], at: Instant) {
        let at = at.max(self.heard_from);
        self.place.iter().for_each(|taken| taken.place.is_active(Instant::now()));
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let Ok(line) = text.parse::<ClientLine>();
        if let Some(seat) = &mut self.seat {
            seat.host.received(bytes, &line, at);
        }
        let cost = match self.login.is_some() {
            false => {
                self.before_login(line, &text);
                Cost::Shared
            }
            true => self.handle(line, &text, at),
        };
        if cost != Cost::Nothing {
            self.spend(1, cost == Cost::Shared, at);
        }
    }

    /// Takes the cost of a line that counts as heard at that instant off the budgets; nothing more is read until something
    /// is left in them. The connection's own budget refills by the stamps of its lines, so that lines which this machine
    /// reads late, and all at once, wait no longer than if each had been read as it came.
    fn spend(&mut self, cost: u32, shared: bool, at: Instant) {
        let now = Instant::now();
        self.budget.spend(cost, at);
        if let Some(free) = self.budget.used_up_until(at) {
            self.heard_from = self.heard_from.max(free);
            self.paused[0] = Some(free).filter(|free| *free > now);
        }
        if let Some(taken) = self.place.as_ref().filter(|_| shared) {
            let budget = &taken.place.budget;
            budget.spend(&self.context.budget, cost, now);
            let wait = budget.wait(&self.context.budget, now);
            self.paused[1] = (!wait.is_zero()).then(|| now + wait);
        }
    }

    fn before_login(&mut self, line: ClientLine, text: &str) {
        let ClientLine::Login { name, password, extended } = line else {
            let hint = if text.split_whitespace().count() >= 4 { TYPE } else { "" };
            return self.refuse(&Refusal::new(hint, true));
        };
        let Some(taken) = &self.place else { return };
        let place = &taken.place;
        let returning_only = place.reserved;
        let request = LoginRequest { name, password, extended, trip: None, returning_only };
        let (decision, cost) = self.context.admission.check(&request, place);
        self.entering = Some(Entering::Checked(request, decision));
        if cost > 0 {
            self.spend(cost, true, Instant::now());
        }
    }

    fn admitted(&mut self, verdict: Verdict) {
        let Some(Entering::Checked(request, _)) = self.entering.take() else { return };
        tracing::debug!(target: "host", name = logged(&request.name), ?verdict, "password checked");
        match verdict {
            Verdict::Admitted(trip) => self.enter(LoginRequest { trip, ..request }),
            Verdict::Refused => self.refuse(&Refusal::new("", true)),
            Verdict::LockedOut => self.refuse(&Refusal::new(LOCKED_OUT, false)),
            Verdict::Crowded => {
                self.context.visits.turned_away("too many logins of an address wait", Instant::now());
                self.refuse(&Refusal::new(CROWDED, false));
            }
        }
        self.hear_on();
    }

    fn enter(&mut self, request: LoginRequest) {
        let Some(taken) = &self.place else { return };
        let (mailbox, inbox) = mailbox();
        let (answer, entered) = oneshot::channel();
        let place = taken.place.clone();
        self.context.ask(Request::Login { request: request.clone(), mailbox, place, answer });
        self.entering = Some(Entering::Asked(request, inbox, entered));
    }

    fn entered(&mut self, answer: Option<Result<LoggedIn, Refusal>>) {
        let Some(Entering::Asked(request, inbox, _)) = self.entering.take() else { return };
        match answer {
            Some(Ok(LoggedIn { membership, greeting, seat })) => {
                tracing::info!(target: "host", name = ?request.name, extended = request.extended, resumes = seat.is_some(), "logged in");
                let (extended, secret) = (request.extended, request.mark().is_some());
                let name = request.name.clone();
                self.login = Some(Login { membership, name, extended, inbox, secret });
                self.handover = seat;
                // What came in one packet with the login is answered before it, and a logout in its stead.
                self.hear_on();
                if self.login.is_some() {
                    self.send(&greeting);
                }
            }
            Some(Err(refusal)) => {
                match &self.place {
                    Some(taken) if refusal.guessed => {
                        self.context.admission.guessed(&request.name, &taken.place);
                    }
                    _ => self.log_refusal(&request.name, &refusal.lines),
                }
                self.refuse(&refusal);
            }
            None => self.broken = true,
        }
        self.hear_on();
    }

    /// Logs a login that the lobby refuses, in the form of the wrong passwords, but only so many of an address.
    fn log_refusal(&self, name: &str, lines: &str) {
        let Some(taken) = &self.place else { return };
        let (place, name) = (&taken.place, logged(name));
        let why = lines.lines().nth(1).unwrap_or("the name or the password is wrong");
        match place.budget.may_log(Instant::now()) {
            true => tracing::warn!(target: "login", "refused {} as {name:?}: {why}", place.address),
            false => tracing::debug!(target: "login", "refused {} as {name:?}: {why}", place.address),
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.attempts += 1;
        self.send(&refusal.lines);
        let is_over =
            self.attempts >= self.context.limits.login_attempts || Instant::now() >= self.login_by();
        if !refusal.again || is_over {
            self.close();
        }
    }

    fn handle(&mut self, line: ClientLine, text: &str, at: Instant) -> Cost {
        match line {
            ClientLine::Blank => self.send("\n"),
            ClientLine::Move(played) | ClientLine::Special(played) => return self.played(played, at),
            ClientLine::Agree(id) => return self.agree(id.as_deref()),
            ClientLine::Reject(id) => return self.reject(id.as_deref()),
            ClientLine::Logout => self.logout(),
            ClientLine::Challenge => self.send("CHALLENGE ACCEPTED\n"),
            ClientLine::Command(command) => return self.ask(Ask::Command(command)),
            ClientLine::Unknown(line) if line.trim().is_empty() => {}
            ClientLine::Unknown(_) | ClientLine::Login { .. } => {
                let shown = super::requests::clipped(text);
                self.send(&format!("##[ERROR] unknown command: {shown}\n"));
            }
        }
        Cost::Own
    }

    /// Asks something of the lobby, one thing after the other, and only when the client has read what it was sent: nobody
    /// can have answers made that pile up. A player in a game is not made to wait when a budget that
    /// it shares with others is used up, as its moves come on the same way; its command is left out.
    fn ask(&mut self, ask: Ask) -> Cost {
        let now = Instant::now();
        let place = self.place.as_ref().map(|taken| &taken.place);
        let spent = place.is_some_and(|place| !place.budget.wait(&self.context.budget, now).is_zero());
        if self.commands.len() >= WAITING || (self.seat.is_some() && spent) {
            self.send(BUSY);
            return Cost::Own;
        }
        self.commands.push_back(ask);
        self.ask_next();
        Cost::Shared
    }

    fn ask_next(&mut self) {
        let (None, None, Some(login)) = (&self.asked, &self.shown, &self.login) else { return };
        if !login.inbox.lines.is_empty() {
            return;
        }
        let Some(ask) = self.commands.pop_front() else { return };
        let login = login.membership.login;
        let (done, asked) = oneshot::channel();
        self.asked = Some(asked);
        self.context.ask(match ask {
            Ask::Command(command) => Request::Command(login, command, done),
            Ask::Untimely(word, valid) => Request::Untimely(login, word, valid, done),
        });
    }

    fn answered(&mut self, cost: u32) {
        self.asked = None;
        if cost > 0 {
            self.spend(cost, true, Instant::now());
        }
    }

    fn played(&mut self, mut played: Played, at: Instant) -> Cost {
        let phase = self.seat.as_ref().map(|seat| seat.host.phase());
        if phase == Some(Phase::Returning) {
            self.send("##[ERROR] you are back in your game: AGREE comes before the next MOVE\n");
            return Cost::Own;
        }
        let Some(seat) = self.seat.as_mut().filter(|_| phase == Some(Phase::Playing)) else {
            return self.ask(Ask::Untimely("MOVE", "game"));
        };
        let is_muted = |of: &InForce| self.login.as_ref().is_some_and(|login| of.is_muted(&login.name));
        if played.rest.is_some() && self.context.operations.in_force(is_muted) {
            played.drop_text();
        } else if let Some(comment) = played.rest.as_deref().filter(|rest| rest.starts_with("'*"))
            && self.context.comments
        {
            self.context.sights.commented(seat.game, &played.text, comment);
        }
        if seat.host.played(played, at) { Cost::Nothing } else { Cost::Own }
    }

    /// Tells a player that its answer names another game than its own; the offer stands.
    fn is_of_another_game(&mut self, word: &str, id: Option<&str>) -> bool {
        let (Some(seat), Some(id)) = (&self.seat, id) else { return false };
        if seat.host.is_meant(id) {
            return false;
        }
        let (own, other) = (seat.host.game_id(), super::requests::clipped(id));
        let refused = format!("##[ERROR] {word} of another game: {other}; your game is {own}\n");
        self.send(&refused);
        true
    }

    fn agree(&mut self, id: Option<&str>) -> Cost {
        if self.is_of_another_game("AGREE", id) {
            return Cost::Own;
        }
        if self.seat.as_mut().is_some_and(|seat| seat.host.go_on(Instant::now(), &mut self.pending)) {
            return Cost::Nothing;
        }
        match self.seat.as_mut().is_some_and(|seat| seat.host.agree()) {
            true => {
                self.progressed(Progress::StartWaiting);
                Cost::Nothing
            }
            false => self.ask(Ask::Untimely("AGREE", "agree_waiting")),
        }
    }

    fn reject(&mut self, id: Option<&str>) -> Cost {
        if self.is_of_another_game("REJECT", id) {
            return Cost::Own;
        }
        match self.seat.as_mut().is_some_and(|seat| seat.host.reject()) {
            true => Cost::Own,
            false => self.ask(Ask::Untimely("REJECT", "agree_waiting")),
        }
    }

    fn progressed(&self, progress: Progress) {
        if let Some(login) = &self.login {
            self.context.note(Note::Progressed(login.membership.login, progress));
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
        match (before == after, after) {
            (false, Phase::Playing) => self.progressed(Progress::Game),
            (_, Phase::Over) => self.game_over(),
            _ => {}
        }
    }

    /// In the extended mode a player stays for the next game.
    fn game_over(&mut self) {
        self.seat = None;
        match &self.login {
            Some(login) if login.extended && !self.leaving && self.socket.is_some() => {
                self.context.note(Note::Free(login.membership.login));
            }
            _ => self.close(),
        }
        self.hear_on();
    }

    fn message(&mut self, message: Option<Message>) {
        match message {
            Some(Message::Game(offer)) => {
                (self.seat, self.postponed) = (Some(*offer), false);
                self.hear_on();
            }
            Some(Message::HandOver(to)) => self.hand_over(to),
            Some(Message::SentAway(text)) => self.send_away(&text),
            Some(Message::Closing) if self.seat.is_some() || self.awaits_seat() => self.leaving = true,
            Some(Message::Closing | Message::Replaced) | None => self.close(),
        }
    }

    /// Passes the seat on; one that is still on its way here goes on to the next connection of the player.
    fn hand_over(&mut self, to: oneshot::Sender<Box<Offer>>) {
        match (self.seat.take(), self.handover.take()) {
            (Some(seat), _) => {
                // If the new connection is gone by now, the seat is dropped, and the game is lost by it.
                let _gone = to.send(Box::new(seat));
            }
            (None, Some(from)) => self.network.run(async move {
                if let Ok(seat) = from.await {
                    let _gone = to.send(seat);
                }
            }),
            (None, None) => {}
        }
        self.close();
    }

    /// Ends the connection by the operator's order. A game is kept as after a lost connection.
    fn send_away(&mut self, text: &str) {
        if self.login.as_ref().is_some_and(|login| login.extended) {
            self.send(&format!("##[ERROR] {text}\n"));
            self.flush();
        }
        match self.seat {
            None if !self.awaits_seat() => self.close(),
            _ => self.broken = true,
        }
    }

    /// Leaves the place to another connection, unless a game has begun meanwhile.
    fn give_way(&mut self) {
        if self.seat.is_none() && !self.awaits_seat() {
            self.send("##[ERROR] the host is full, and you have been idle for longest\n");
            self.close();
        }
    }

    fn send(&mut self, lines: &str) {
        self.pending.extend_from_slice(lines.as_bytes());
    }

    /// Hears nothing more; what is to be written still is.
    fn close(&mut self) {
        self.closing.get_or_insert_with(|| Instant::now() + FAREWELL);
        (self.login, self.seat) = (None, None);
    }
}

/// The part of a wait in the kernel that is this machine's. A line whose end comes before its beginning, which a client can
/// have its own TCP do, bears the stamp of the end, and may be completed much later: once a segment of a connection came
/// out of order, its stamps excuse nothing.
fn forgiven(waited: Duration, lag: Duration, out_of_order: u32) -> Duration {
    if out_of_order > 0 { Duration::ZERO } else { waited.min(lag) }
}

// Futures over optional resources; pending while absent.

async fn next_order(seat: &mut Option<Offer>) -> Option<Order> {
    match seat {
        Some(Offer { host, .. }) => CsaHost::order(host).await,
        None => pending().await,
    }
}

async fn handed_over(handover: &mut Option<oneshot::Receiver<Box<Offer>>>) -> Option<Box<Offer>> {
    match handover {
        Some(seat) => seat.await.ok(),
        None => pending().await,
    }
}

async fn verdict(entering: &mut Option<Entering>) -> Heard {
    match entering {
        Some(Entering::Checked(_, decision)) => Heard::Admitted(decision.await),
        Some(Entering::Asked(.., entered)) => Heard::Entered(entered.await.ok()),
        None => pending().await,
    }
}

async fn answered(asked: &mut Option<oneshot::Receiver<u32>>) -> u32 {
    match asked {
        Some(asked) => asked.await.unwrap_or(0),
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_whose_segments_came_out_of_order_is_forgiven_no_wait() {
        let ms = Duration::from_millis;
        assert_eq!(forgiven(ms(300), ms(40), 0), ms(40));
        assert_eq!(forgiven(ms(20), ms(40), 0), ms(20));
        assert_eq!(forgiven(ms(300), ms(40), 1), ms(0));
    }
}

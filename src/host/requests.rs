//! What connections ask of the lobby, and the thread that answers.
//!
//! No connection touches the lobby itself: it would wait while the lobby is busy, and with it the game that is played on
//! its thread. Notes come before requests. Both queues are short by protocol: a connection has at most one request under
//! way, and a game causes a few notes.

use super::{
    admission::LoginRequest,
    context::HostContext,
    lobby::{LoggedIn, Refusal},
    mailbox::Mailbox,
    places::Place,
    presence::{LoginId, Progress},
    rounds,
};
use arena::{actor_thread::ActorThread, play::Fixture};
use notation::csa::wire::Command;
use plan::serve::RoundsConfig;
use referee::entry::GameId;
use seat::Seat;
use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// What a connection asks of the lobby.
#[derive(Debug)]
pub enum Request {
    /// To log in.
    Login {
        /// The name and the password.
        request: LoginRequest,
        /// The mailbox of the connection.
        mailbox: Mailbox,
        /// Its place.
        place: Arc<Place>,
        /// The way of the answer.
        answer: oneshot::Sender<Result<LoggedIn, Refusal>>,
    },
    /// To carry out a command.
    Command(LoginId, Command, Done),
    /// To answer a line that is not valid in the player's state: its word, and the states in which it is.
    Untimely(LoginId, &'static str, &'static str, Done),
}

/// Tells the connection that its request was answered, and the cost of the answer beside that of its line.
pub type Done = oneshot::Sender<u32>;

/// What the lobby is told of a player or a game.
#[derive(Debug)]
pub enum Note {
    /// The game of a player has come so far.
    Progressed(LoginId, Progress),
    /// The game of a player is over, and the player stays.
    Free(LoginId),
    /// A player's connection has ended in its game, which is held for the player.
    Dropped(LoginId),
    /// A player has left.
    Left(LoginId),
    /// A game could not be set up.
    Cancelled(GameId),
    /// The players of a scheduled game are to be seated; the connections come to the thread of the game.
    Seat(Box<Fixture>, ActorThread, oneshot::Sender<Option<[Option<Seat>; 2]>>),
}

/// The ways to the lobby.
#[derive(Clone, Debug)]
pub struct Ways {
    /// Requests of connections.
    pub requests: mpsc::UnboundedSender<Request>,
    /// Notes.
    pub notes: mpsc::UnboundedSender<Note>,
}

/// The lobby's end of the ways to it.
#[derive(Debug)]
pub struct Arrivals {
    requests: mpsc::UnboundedReceiver<Request>,
    notes: mpsc::UnboundedReceiver<Note>,
}

/// The ways to a lobby, and their ends.
#[must_use]
pub fn ways() -> (Ways, Arrivals) {
    let (requests, requests_end) = mpsc::unbounded_channel();
    let (notes, notes_end) = mpsc::unbounded_channel();
    (Ways { requests, notes }, Arrivals { requests: requests_end, notes: notes_end })
}

/// The thread of the lobby. Dropping it ends the thread.
#[derive(Debug)]
pub struct LobbyThread {
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl LobbyThread {
    /// Starts the thread; timed rounds begin on it until `finishing`.
    ///
    /// # Errors
    /// When the system has no thread or event queue for it.
    pub fn start(
        context: HostContext,
        arrivals: Arrivals,
        schedules: Vec<RoundsConfig>,
        finishing: CancellationToken,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let work = move || {
            yield_to_games();
            runtime.block_on(async {
                tokio::spawn(context.clone().show_games());
                for schedule in schedules {
                    let rounds = rounds::keep(schedule, context.clone());
                    tokio::spawn(finishing.clone().run_until_cancelled_owned(rounds));
                }
                stopped.run_until_cancelled(answer(context, arrivals)).await;
            });
        };
        let thread = thread::Builder::new().name("lobby".to_owned()).spawn(work)?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for LobbyThread {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _panic_printed = thread.join();
        }
    }
}

/// Lowers the priority of this thread: games come first. Only Linux has a niceness for each thread.
pub fn yield_to_games() {
    #[cfg(target_os = "linux")]
    let _refused = rustix::process::setpriority_process(None, 5);
}

async fn answer(context: HostContext, mut arrivals: Arrivals) {
    loop {
        tokio::select! { biased;
            Some(note) = arrivals.notes.recv() => take(&context, note),
            Some(request) = arrivals.requests.recv() => carry_out(&context, request),
            else => return,
        }
    }
}

fn take(context: &HostContext, note: Note) {
    let mut lobby = context.lobby();
    match note {
        Note::Progressed(login, progress) => lobby.progressed(login, progress),
        Note::Free(login) => lobby.free(login),
        Note::Dropped(login) => lobby.dropped(login),
        Note::Left(login) => lobby.left(login),
        Note::Cancelled(game) => lobby.cancelled(game),
        Note::Seat(fixture, thread, answer) => {
            let _worker_gone = answer.send(lobby.seat_remote(&fixture, &thread));
        }
    }
}

fn carry_out(context: &HostContext, request: Request) {
    match request {
        // A connection that is gone costs nothing.
        Request::Login { answer, .. } if answer.is_closed() => {}
        Request::Login { request, mailbox, place, answer } => {
            let login = context.lobby().login(&request, mailbox, place, &context.ways.notes);
            let _gone_meanwhile = answer.send(login);
        }
        Request::Command(login, command, done) => {
            let cost = context.lobby().command(login, command);
            let _gone_meanwhile = done.send(cost);
        }
        Request::Untimely(login, word, valid, done) => {
            context.lobby().untimely(login, word, valid);
            let _gone_meanwhile = done.send(0);
        }
    }
}

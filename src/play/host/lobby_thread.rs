//! The thread of the lobby, which answers what connections ask.

use super::{
    context::HostContext,
    game_threads::yield_to_games,
    requests::{Arrivals, Note, Request},
    rounds,
};
use plan::serve::RoundsConfig;
use std::{
    io,
    thread::{self, JoinHandle},
};
use tokio_util::sync::CancellationToken;

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
        let thread = move || {
            yield_to_games();
            runtime.block_on(stopped.run_until_cancelled(work(context, arrivals, schedules, finishing)));
        };
        let thread = thread::Builder::new().name("lobby".to_owned()).spawn(thread)?;
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

/// The work of the lobby, for ever; timed rounds begin in it until `finishing`.
pub async fn work(
    context: HostContext,
    arrivals: Arrivals,
    schedules: Vec<RoundsConfig>,
    finishing: CancellationToken,
) {
    tokio::spawn(context.clone().show_games());
    for schedule in schedules {
        let rounds = rounds::keep(schedule, context.clone());
        tokio::spawn(finishing.clone().run_until_cancelled_owned(rounds));
    }
    answer(context, arrivals).await;
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

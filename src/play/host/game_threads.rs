//! The threads on which the games of an open league are played, with the connections of their players.

use arena::actor_thread::ActorThread;
use std::{
    io,
    num::NonZero,
    sync::mpsc,
    thread::{self, JoinHandle},
};
use tokio_util::sync::CancellationToken;

/// Most threads for games: a thread plays thousands of moves in a second.
const MAX_THREADS: usize = 8;

/// The threads. Dropping it ends them, when the actors on them have ended.
#[derive(Debug)]
pub struct GameThreads {
    threads: Vec<(ActorThread, JoinHandle<()>)>,
    stop: CancellationToken,
}

impl GameThreads {
    /// Starts a thread for each core but one, which the network and the lobby have.
    ///
    /// # Errors
    /// When the system has no thread or event queue for it.
    pub fn start() -> io::Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let mut started = Self { threads: vec![], stop: CancellationToken::new() };
        for number in 0..(cores - 1).clamp(1, MAX_THREADS) {
            let one = started.start_one(number)?;
            started.threads.push(one);
        }
        Ok(started)
    }

    fn start_one(&self, number: usize) -> io::Result<(ActorThread, JoinHandle<()>)> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (told, tell) = mpsc::channel();
        let stop = self.stop.clone();
        let work = move || {
            runtime.block_on(async {
                let own = ActorThread::current();
                let _starter_gone = told.send(own.clone());
                let lag = own.lag.clone();
                tokio::spawn(async move { lag.measure().await });
                stop.cancelled().await;
                own.actors.close();
                own.actors.wait().await;
            });
        };
        let thread = thread::Builder::new().name(format!("games-{number}")).spawn(work)?;
        Ok((tell.recv().map_err(io::Error::other)?, thread))
    }

    /// The threads, as others see them.
    pub fn all(&self) -> Vec<ActorThread> {
        self.threads.iter().map(|(thread, _)| thread.clone()).collect()
    }

    /// Waits until the connections on the threads have gone back to that of the network; their games are over.
    pub async fn settle(&self) {
        for (thread, _) in &self.threads {
            thread.actors.close();
            thread.actors.wait().await;
        }
    }
}

impl Drop for GameThreads {
    fn drop(&mut self) {
        self.stop.cancel();
        for (_, thread) in self.threads.drain(..) {
            let _panic_printed = thread.join();
        }
    }
}

/// Lowers the priority of this thread: games come first.
pub fn yield_to_games() {
    let _refused = platform::threads::yield_by(5);
}

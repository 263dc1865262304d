//! An engine's process: never outliving this program, ended in stages.

use crate::{Trace, far};
use plan::{EnginePlan, Sandbox};
use platform::life::{self, Order, Program, Strict, Tree};
pub use platform::life::{Exit, Reader, Writer};
use std::{future::Future, io, time::Duration};
use tokio::{io::AsyncRead, time::timeout};

/// What a worker may be told to join with: no engine's business.
const JOIN: &str = "RENMEI_JOIN";

/// A running engine. Its pipes are those of a process, except in tests, where a script stands in for the engine.
#[derive(Debug)]
pub struct Process<I = Writer, O = Reader> {
    /// Its stdin; `None` once it is closed.
    pub stdin: Option<I>,
    /// Its stdout.
    pub stdout: O,
    /// Its stderr, until it is taken to be read.
    pub stderr: Option<Reader>,
    /// Its end.
    pub exit: Exit,
    pub(crate) group: Group,
    /// True if the processes here are those of `ssh`, whose use of memory and threads says nothing of the engine.
    pub is_far: bool,
}

/// The end of a pipe that an engine reads from; writes never block.
pub trait Input {
    /// Writes what fits, and returns how many bytes that were.
    ///
    /// # Errors
    /// `WouldBlock` when nothing fits; others when the engine has closed its end.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;

    /// Resolves when more fits.
    fn writable(&self) -> impl Future<Output = ()> + Send;
}

/// The end of a pipe that an engine writes to.
pub trait Output: AsyncRead + Unpin {
    /// Reads what is there now.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there.
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize>;
}

impl Input for Writer {
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        Writer::try_write(self, bytes)
    }

    async fn writable(&self) {
        Writer::writable(self).await;
    }
}

impl Output for Reader {
    fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Reader::try_read(self, buffer)
    }
}

/// Starts engines.
pub(crate) trait Launcher {
    /// The engine's stdin.
    type Input: Input;
    /// The engine's stdout.
    type Output: Output;

    /// Starts an engine on the cores given, see [`spawn`].
    async fn launch(
        &self,
        engine: &EnginePlan,
        cores: &[usize],
    ) -> io::Result<Process<Self::Input, Self::Output>>;
}

/// Starts engines as processes of the operating system.
#[derive(Debug)]
pub(crate) struct System;

impl Launcher for System {
    type Input = Writer;
    type Output = Reader;

    async fn launch(&self, engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
        spawn(engine, cores).await
    }
}

/// An engine with everything that it has started.
#[derive(Debug)]
pub(crate) enum Group {
    /// Processes.
    Tree(Tree),
    /// A script that hears its orders.
    #[cfg(test)]
    Script(tokio::sync::mpsc::UnboundedSender<Order>),
}

impl Group {
    fn order(&self, order: Order) {
        match self {
            Self::Tree(tree) => {
                // Windows has no such order for programs without a window: an engine has its patience to leave by itself.
                if let Err(error) = tree.order(order) {
                    tracing::debug!(target: "seat", pid = tree.id(), ?order, %error, "order not given");
                }
            }
            #[cfg(test)]
            Self::Script(orders) => drop(orders.send(order)),
        }
    }

    fn kill(&self, exit: &Exit) {
        match self {
            Self::Tree(tree) => tree.kill(exit),
            #[cfg(test)]
            Self::Script(_) => self.order(Order::Kill),
        }
    }

    fn tree(&self) -> Option<&Tree> {
        match self {
            Self::Tree(tree) => Some(tree),
            #[cfg(test)]
            Self::Script(_) => None,
        }
    }
}

/// Starts an engine on the cores given; without any, on all that this program may use.
///
/// # Errors
/// When the program cannot be started.
pub async fn spawn(engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
    let child = life::spawn(&program(engine, cores)).await?;
    Ok(Process {
        stdin: Some(child.stdin),
        stdout: child.stdout,
        stderr: Some(child.stderr),
        exit: child.exit,
        group: Group::Tree(child.tree),
        is_far: engine.host.is_some(),
    })
}

fn program(engine: &EnginePlan, cores: &[usize]) -> Program {
    if let Some([file, arguments @ ..]) = far::start(engine).as_deref() {
        let (name, arguments) = (engine.name.clone(), arguments.iter().map(Into::into).collect());
        return Program { name, file: file.into(), arguments, hidden: &[JOIN], ..Program::default() };
    }
    Program {
        name: engine.name.clone(),
        file: engine.command.clone(),
        arguments: engine.args.iter().map(Into::into).collect(),
        environment: engine.environment.iter().map(|(key, value)| (key.into(), value.into())).collect(),
        hidden: &[JOIN],
        directory: engine.directory.clone(),
        cores: cores.to_vec(),
        strict: (engine.sandbox.kind == Sandbox::Strict).then(|| Strict {
            memory_mb: engine.sandbox.memory_mb,
            threads: (2.0 * engine.cores) as u64,
            writable: engine.sandbox.write.clone(),
        }),
    }
}

impl<I, O> Process<I, O> {
    /// How the process ended, or that it has not within `patience`.
    pub async fn ending(&mut self, patience: Duration) -> String {
        let _late = timeout(patience, self.exit.happened()).await;
        match self.exit.ending() {
            Some(ending) => ending.to_string(),
            None => "it closed its output and runs on".to_owned(),
        }
    }

    /// The process of the engine; on Unix, and without a strict sandbox, it leads its process group.
    pub fn group(&self) -> i32 {
        self.group.tree().map_or_else(std::process::id, Tree::id).cast_signed()
    }

    /// Most memory that the engine has held in KiB, see [`Tree::peak_kib`].
    pub(crate) fn peak_kib(&self) -> Option<u64> {
        self.group.tree().filter(|_| !self.is_far).and_then(Tree::peak_kib)
    }

    /// The number of the process that leads the engine; `None` on another host.
    pub(crate) fn leader(&self) -> Option<u32> {
        #[cfg(test)]
        if let Group::Script(_) = self.group {
            return Some(crate::waits::system::SCRIPT);
        }
        self.group.tree().filter(|_| !self.is_far).map(Tree::id)
    }

    /// Processor time that the engine has wanted, see [`platform::usage::wanted_by`]; `None` on another host as well.
    pub(crate) fn wanted(&self) -> Option<Duration> {
        self.leader().and_then(|leader| platform::usage::wanted_by(leader.cast_signed()))
    }

    /// Threads of the engine, see [`Tree::threads`].
    pub(crate) fn threads(&self) -> Option<u32> {
        self.group.tree().filter(|_| !self.is_far).and_then(Tree::threads)
    }

    /// Gives an order to everything that the engine has started; a group that is gone is no error.
    pub(crate) fn order(&self, order: Order) {
        self.group.order(order);
    }

    /// Ends the process and everything it started: waits for it to leave by itself after `quit`, then asks it to
    /// (SIGTERM on Unix), then kills it; the trace knows of its waits for a processor. False if it had to be killed.
    pub(crate) async fn end(mut self, quit: Duration, terminate: Duration, trace: &Trace) -> bool {
        self.stdin = None; // end of input: engines that do not know `quit` leave now
        if trace.within(quit, self.exit.happened()).await.is_none() {
            self.order(Order::Leave);
            if trace.within(terminate, self.exit.happened()).await.is_none() {
                self.kill().await;
                return false;
            }
        }
        self.order(Order::Kill); // what it has left behind
        self.exit.of_all().await;
        true
    }

    /// Ends the process at once.
    pub async fn kill(mut self) {
        self.group.kill(&self.exit);
        self.exit.of_all().await;
    }
}

impl<I, O> Drop for Process<I, O> {
    /// Kills what the engine started.
    fn drop(&mut self) {
        self.order(Order::Kill);
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;

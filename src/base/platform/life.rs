//! The life of an engine: its process, what it starts itself, its pipes, and its end.
//!
//! [`spawn`] starts a [`Program`] and returns a [`Child`]. An engine never outlives this program where the system can tie
//! them together, and [`Tree`] ends an engine with everything that it has started.
//!
//! | | Linux | another Unix | Windows |
//! |---|---|---|---|
//! | who ends the rest of the tree | a guardian process, which adopts it | the process group is killed; a process that left the group runs on | a job object |
//! | this program is killed | the guardian ends the tree | the engine sees the end of its input, no more | the system ends the job |
//! | cores | bound | refused | bound, for the whole job |
//! | a strict sandbox | `bwrap`, a filter of system calls, limits | refused | refused |
//! | a request to end | SIGTERM to the process group | SIGTERM to the process group | unsupported |
//! | rest | the whole tree is stopped | the process group is stopped | unsupported |

mod ending;
mod exit;
pub mod sandbox;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use ending::Ending;
pub use exit::Exit;
#[cfg(target_os = "linux")]
pub(crate) use system::keep_priority;

use std::{
    ffi::OsString,
    io,
    path::PathBuf,
    pin::Pin,
    process::ExitCode,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, ReadBuf};
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// What to start, and how. Its files get the user's umask ([`crate::files::keep_private`] is for this program alone).
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Name in the log.
    pub name: String,
    /// The executable.
    pub file: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its variables, beside those of this program.
    pub environment: Vec<(OsString, OsString)>,
    /// Variables of this program that it does not get.
    pub hidden: &'static [&'static str],
    /// Its directory; without one, that of this program.
    pub directory: Option<PathBuf>,
    /// Hardware threads that it may use; empty: those of this program. A system that cannot bind a process to them
    /// refuses the start.
    pub cores: Vec<usize>,
    /// A strict sandbox around it. A system that has none refuses the start.
    pub strict: Option<Strict>,
}

/// The bounds of a strict sandbox.
#[derive(Clone, Debug, Default)]
pub struct Strict {
    /// Most memory of all its processes in MiB; 0: any.
    pub memory_mb: u64,
    /// Most threads of all its processes; fewer than 512 count as 512.
    pub threads: u64,
    /// Directories and files that it may write to.
    pub writable: Vec<PathBuf>,
}

/// A running program.
#[derive(Debug)]
pub struct Child {
    /// Its stdin.
    pub stdin: Writer,
    /// Its stdout.
    pub stdout: Reader,
    /// Its stderr.
    pub stderr: Reader,
    /// Its end.
    pub exit: Exit,
    /// It and everything that it starts.
    pub tree: Tree,
}

/// Has to be the first call of a program whose engines are to end with everything that they have started. With a value,
/// this process was executed to guard an engine, has done so, and exits with that code.
///
/// On Linux every further engine gets a guardian: this program, executed anew. Without the call, in tests, engines are
/// children of the program itself. Other systems need no guardian, or have none.
#[must_use]
pub fn init() -> Option<ExitCode> {
    system::init()
}

/// Starts a program; the thread of the caller is not held up.
///
/// # Errors
/// When the program cannot be started, or the system cannot give what is asked for; or when this machine lacks what a start
/// needs ([`crate::lack`]).
pub async fn spawn(program: &Program) -> io::Result<Child> {
    system::spawn(program).await
}

/// What can be asked of a running tree of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Compute nothing until the next order.
    Rest,
    /// Go on after a rest.
    Resume,
    /// End, with time to put things in order.
    Leave,
    /// End at once.
    Kill,
}

/// A program and everything that it has started. Dropped, a guardian or a job ends the processes; without one they run on,
/// so that a caller has to give [`Order::Kill`] first.
#[derive(Debug)]
pub struct Tree(system::Tree);

impl Tree {
    /// The process of the program. On Unix, and without a strict sandbox, it leads its process group.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Passes an order on, and does not wait for its effect. A tree that is gone is no error.
    ///
    /// # Errors
    /// `Unsupported` where the system has no such order: on Windows all but [`Order::Kill`].
    pub fn order(&self, order: Order) -> io::Result<()> {
        self.0.order(order)
    }

    /// Ends everything at once, also where the engine has stopped the process that guards it. `exit` is that of the same
    /// child. [`Exit::of_all`] resolves when it is done.
    pub fn kill(&self, exit: &Exit) {
        self.0.kill(exit.ending().is_some());
    }

    /// Most memory held so far in KiB; `None` where the system does not tell, or the process is gone.
    ///
    /// Linux: resident memory of the engine's own process, or, in a control group, of the whole tree. Windows: committed
    /// memory of the whole tree, or, where jobs do not count it, the largest working set of the engine's own process.
    /// Another Unix does not tell it.
    pub fn peak_kib(&self) -> Option<u64> {
        self.0.peak_kib()
    }

    /// Threads of the engine's own process; `None` where the system does not tell, or the process is gone. Linux and
    /// Windows tell it.
    pub fn threads(&self) -> Option<u32> {
        self.0.threads()
    }
}

/// The end of a pipe that a program reads from; writes never block. Dropped, it closes the pipe.
#[derive(Debug)]
pub struct Writer(system::Writer);

impl Writer {
    /// Writes what fits, and returns how many bytes that were.
    ///
    /// # Errors
    /// `WouldBlock` when nothing fits; others when the program has closed its end.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    /// Resolves when more fits.
    pub async fn writable(&self) {
        // An error shows at the next write.
        let _error = self.0.writable().await;
    }
}

/// The end of a pipe that a program writes to. When all its writers are gone, it reads 0 bytes.
#[derive(Debug)]
pub struct Reader(system::Reader);

impl Reader {
    /// Reads what is there now.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there.
    pub fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)] // the runtime may not have heard of it yet
        let read = nix::unistd::read(&self.0, buffer).map_err(io::Error::from);
        #[cfg(windows)]
        let read = self.0.try_read(buffer);
        system::or_end(read, 0)
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer).map(|read| system::or_end(read, ()))
    }
}

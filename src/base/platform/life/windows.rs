//! Windows: a job object for each engine, and named pipes, which can be read and written without a thread for each.

mod calls;

pub(super) use tokio::net::windows::named_pipe::{NamedPipeServer as Reader, NamedPipeServer as Writer};

use super::{Child, Ending, Exit, Order, Program, sandbox::SandboxError};
use crate::windows::job::{Job, KILLED};
use std::{
    fs::OpenOptions,
    hash::{BuildHasher, RandomState},
    io,
    os::windows::io::OwnedHandle,
    process::{ExitCode, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::windows::named_pipe::{NamedPipeServer, PipeMode, ServerOptions},
    process::{Child as Process, Command},
    sync::oneshot,
    time::{sleep, timeout},
};

/// Most time for the system to end what an engine has started, before the game goes on without it.
const CLEARING: Duration = Duration::from_secs(5);
/// Time between two looks at a job that ends.
const GLANCE: Duration = Duration::from_millis(2);
/// Bytes that wait in a pipe for the other end: as in a pipe of Linux.
const PIPE: u32 = 64 * 1024;

/// Jobs need no guardians. The program asks for a clock that wakes its timers at the millisecond.
pub(super) fn init() -> Option<ExitCode> {
    calls::ask_for_fine_timers();
    None
}

/// There is no strict sandbox.
pub(super) fn sandbox_available() -> Result<(), SandboxError> {
    Err(SandboxError::System("Windows"))
}

/// See [`sandbox_available`].
pub(super) fn sandbox_counting() -> &'static str {
    "strict engines are not counted: Windows has no strict sandbox"
}

/// Starts a program in a job of its own.
pub(super) async fn spawn(program: &Program) -> io::Result<Child> {
    if program.strict.is_some() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "`sandbox = \"strict\"` needs Linux, and this is Windows; take `sandbox` out if you trust the engine",
        ));
    }
    let (stdin, its_stdin) = pipe(Flow::ToProgram).await?;
    let (stdout, its_stdout) = pipe(Flow::FromProgram).await?;
    let (stderr, its_stderr) = pipe(Flow::FromProgram).await?;
    let description = program.clone();
    // A new process holds its thread up, longer still where a virus scanner reads the file first.
    let start = move || start(&description, [its_stdin, its_stdout, its_stderr]);
    let (process, tree) = tokio::task::spawn_blocking(start).await.map_err(io::Error::other)??;
    tracing::debug!(target: "seat", pid = tree.engine, engine = ?program.name, program = ?program.file, "engine started");
    let ((tell, told), (clear, cleared)) = (oneshot::channel(), oneshot::channel());
    let (name, pid) = (program.name.clone(), tree.engine);
    let (job, killed) = (tree.job.clone(), tree.killed.clone());
    tokio::task::spawn(async move {
        let ending = end_of(process, &killed).await;
        tracing::debug!(target: "seat", pid, engine = ?name, how = %ending, "engine ended");
        let _nobody_asks = tell.send(ending);
        job.kill(); // what it has left behind
        let _given_up = timeout(CLEARING, until_empty(&job)).await;
        let _nobody_asks = clear.send(());
    });
    Ok(Child {
        stdin: super::Writer(stdin),
        stdout: super::Reader(stdout),
        stderr: super::Reader(stderr),
        exit: Exit::with_tree(told, cleared),
        tree: super::Tree(tree),
    })
}

/// Starts the process: without a window, and not running before it is in its job.
fn start(program: &Program, [stdin, stdout, stderr]: [Stdio; 3]) -> io::Result<(Process, Tree)> {
    calls::show_no_error_boxes();
    let job = calls::job(&program.cores)?;
    let mut command = Command::new(&program.file);
    for name in program.hidden {
        command.env_remove(name);
    }
    command
        .args(&program.arguments)
        .envs(program.environment.iter().map(|(key, value)| (key, value)))
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .creation_flags(calls::FLAGS)
        .kill_on_drop(true);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    let child = command.spawn()?;
    let engine = child.id().ok_or_else(|| io::Error::other("the new process has ended"))?;
    let process = calls::handle(&child)?;
    job.take(&process)?;
    calls::resume(engine)?;
    Ok((child, Tree { engine, process, job: Arc::new(job), killed: Arc::default() }))
}

/// Which way a pipe leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    ToProgram,
    FromProgram,
}

/// The two ends of a pipe: ours, which never blocks, and that of a program. Nobody else can have opened it, from this or
/// another machine: it has one instance, which we made and opened ourselves. Nor can anybody take its name before: an engine
/// of another event that could guess the next names would keep every later engine from starting.
async fn pipe(way: Flow) -> io::Result<(NamedPipeServer, Stdio)> {
    // Keyed with random numbers of the system; each state has another key.
    let secret = RandomState::new().hash_one(std::process::id());
    let name = format!(r"\\.\pipe\renmei-{}-{secret:016x}", std::process::id());
    let ours = ServerOptions::new()
        .access_inbound(way == Flow::FromProgram)
        .access_outbound(way == Flow::ToProgram)
        .first_pipe_instance(true)
        .max_instances(1)
        .in_buffer_size(PIPE)
        .out_buffer_size(PIPE)
        .pipe_mode(PipeMode::Byte)
        .reject_remote_clients(true)
        .create(&name)?;
    let theirs =
        OpenOptions::new().read(way == Flow::ToProgram).write(way == Flow::FromProgram).open(&name)?;
    ours.connect().await?; // it is connected, but reads hang until this was asked
    Ok((ours, theirs.into()))
}

/// Waits for the end of an engine.
async fn end_of(mut process: Process, killed: &AtomicBool) -> Ending {
    match process.wait().await {
        Ok(status) => ending(status, killed.load(Ordering::Relaxed)),
        Err(_) => Ending::Unknown,
    }
}

fn ending(status: ExitStatus, killed: bool) -> Ending {
    match status.code() {
        None => Ending::Unknown,
        Some(KILLED) if killed => Ending::Killed,
        // The two highest bits of an exception say that it is a warning or an error; exit codes of programs are small.
        Some(code) if code < 0 => Ending::Exception(code.cast_unsigned()),
        Some(code) => Ending::Exited(code),
    }
}

/// Resolves when no process of a job is left.
async fn until_empty(job: &Job) {
    while job.processes().is_ok_and(|left| left > 0) {
        sleep(GLANCE).await;
    }
}

/// An engine with what it has started: a job. Dropped, it ends them.
#[derive(Debug)]
pub(super) struct Tree {
    engine: u32,
    /// Keeps the number of the engine its own.
    process: OwnedHandle,
    job: Arc<Job>,
    /// Whether this program has ended the job.
    killed: Arc<AtomicBool>,
}

impl Tree {
    pub fn id(&self) -> u32 {
        self.engine
    }

    pub fn order(&self, order: Order) -> io::Result<()> {
        let unknown = |what| {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!("Windows {what} a program without a window"),
            ))
        };
        match order {
            Order::Leave => unknown("has no request to end for"),
            Order::Rest | Order::Resume => unknown("stops and resumes no"),
            Order::Kill => {
                self.kill(false);
                Ok(())
            }
        }
    }

    pub fn kill(&self, _has_ended: bool) {
        self.killed.store(true, Ordering::Relaxed);
        self.job.kill();
    }

    pub fn peak_kib(&self) -> Option<u64> {
        self.job.peak_kib().or_else(|| calls::largest_working_set_kib(&self.process))
    }

    pub fn threads(&self) -> Option<u32> {
        calls::threads(self.engine)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill(false);
    }
}

/// A pipe whose writers are gone is an error for Windows.
pub(super) fn or_end<T>(read: io::Result<T>, end: T) -> io::Result<T> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(end),
        read => read,
    }
}

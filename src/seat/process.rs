//! An engine's process: started in a group of its own, never outliving this program, ended in stages.

use nix::{
    sched::{CpuSet, sched_setaffinity},
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, killpg},
    },
    unistd::Pid,
};
use plan::EnginePlan;
use std::{
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
    time::Duration,
};
use tokio::{
    net::unix::pipe,
    process::{ChildStderr, Command},
    sync::oneshot,
    time::timeout,
};

/// A running engine.
#[derive(Debug)]
pub struct Process {
    /// Its stdin; writes never block.
    pub stdin: Option<pipe::Sender>,
    /// Its stdout.
    pub stdout: pipe::Receiver,
    /// Its stderr, until somebody takes it to read it.
    pub stderr: Option<ChildStderr>,
    /// Its end.
    pub exit: Exit,
    group: Pid,
}

/// The end of a process, to be waited for again and again.
#[derive(Debug)]
pub struct Exit {
    told: oneshot::Receiver<Option<ExitStatus>>,
    status: Option<Option<ExitStatus>>,
}

impl Exit {
    /// Resolves when the process has ended.
    pub async fn happened(&mut self) {
        if self.status.is_none() {
            self.status = Some((&mut self.told).await.ok().flatten());
        }
    }
}

/// Starts an engine on the cores given (all of them if empty).
///
/// # Errors
/// When the program cannot be started.
pub fn spawn(engine: &EnginePlan, cores: &[usize]) -> io::Result<Process> {
    let mut command = Command::new(&engine.command);
    command
        .args(&engine.args)
        .envs(engine.environment.iter().map(|(key, value)| (key, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(directory) = &engine.directory {
        command.current_dir(directory);
    }
    before_exec(&mut command, cores)?;
    let mut child = command.spawn()?;
    let taken = || io::Error::other("the new process has no pipes");
    let stdin = child.stdin.take().ok_or_else(taken)?.into_owned_fd()?;
    let stdout = child.stdout.take().ok_or_else(taken)?.into_owned_fd()?;
    let stderr = child.stderr.take();
    let group = Pid::from_raw(i32::try_from(child.id().ok_or_else(taken)?).map_err(io::Error::other)?);
    tracing::debug!(target: "seat", pid = group.as_raw(), engine = ?engine.name, program = ?engine.command, "engine started");
    let (tell, exit) = oneshot::channel();
    let name = engine.name.clone();
    // One task waits for the end, so that the reader's loop is not asked about it at every line.
    tokio::task::spawn(async move {
        let status = child.wait().await.ok();
        tracing::debug!(target: "seat", pid = group.as_raw(), engine = ?name, how = ending_text(status), "engine ended");
        let _nobody_asks = tell.send(status);
    });
    Ok(Process {
        stdin: Some(pipe::Sender::from_owned_fd(stdin)?),
        stdout: pipe::Receiver::from_owned_fd(stdout)?,
        stderr,
        exit: Exit { told: exit, status: None },
        group,
    })
}

/// What the child does between fork and exec: tie its life to this thread's (and so to this program's, which may be
/// killed outright), and take its place on the cores.
#[allow(unsafe_code)]
fn before_exec(command: &mut Command, cores: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &core in cores {
        set.set(core)?;
    }
    let pinned = !cores.is_empty();
    let parent = nix::unistd::getpid();
    // SAFETY: only async-signal-safe system calls, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(Signal::SIGKILL)?;
            if nix::unistd::getppid() != parent {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if pinned {
                sched_setaffinity(Pid::from_raw(0), &set)?;
            }
            Ok(())
        });
    }
    Ok(())
}

impl Process {
    /// Waits for its end for so long; then says how it ended, or that it has not.
    pub async fn ending(&mut self, patience: Duration) -> String {
        match timeout(patience, self.exit.happened()).await {
            Ok(()) => ending_text(self.exit.status.flatten()),
            Err(_) => "it closed its output and runs on".to_owned(),
        }
    }

    /// The process group it leads.
    #[must_use]
    pub fn group(&self) -> i32 {
        self.group.as_raw()
    }

    /// Sends a signal to the whole group; a group that is gone is no fault.
    pub fn signal(&self, signal: Signal) {
        let _gone = killpg(self.group, signal);
    }

    /// Ends the process and everything it started: waits for it to go by itself (it has been told `quit`), then
    /// SIGTERM, then SIGKILL.
    pub async fn end(mut self, quit: Duration, terminate: Duration) {
        self.stdin = None; // end of input: engines that do not know `quit` leave now
        if timeout(quit, self.exit.happened()).await.is_err() {
            self.signal(Signal::SIGTERM);
            if timeout(terminate, self.exit.happened()).await.is_err() {
                self.signal(Signal::SIGKILL);
                self.exit.happened().await;
            }
        }
    }

    /// Ends the process at once.
    pub async fn kill(mut self) {
        self.signal(Signal::SIGKILL);
        self.exit.happened().await;
    }
}

impl Drop for Process {
    /// Nothing it started outlives it.
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}

fn ending_text(status: Option<ExitStatus>) -> String {
    let Some(status) = status else { return "it ended".to_owned() };
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, Some(signal)) => {
            let name = Signal::try_from(signal).map_or("an unknown signal", Signal::as_str);
            format!("it was killed by {name}{}", if status.core_dumped() { " (core dumped)" } else { "" })
        }
        (None, None) => "it ended".to_owned(),
    }
}

//! A Unix that is not Linux: an engine leads a session of its own, and its pipes are all that ties it to this program.

use super::{
    super::{Program, sandbox::SandboxError},
    Child, Command, spawn_alone,
};
use nix::unistd::setsid;
use std::{env::consts::OS, io, process::ExitCode};

/// There are no guardians.
pub(in super::super) fn init() -> Option<ExitCode> {
    None
}

/// There is no strict sandbox.
pub(in super::super) fn sandbox_available() -> Result<(), SandboxError> {
    Err(SandboxError::System(OS))
}

/// See [`sandbox_available`].
pub(in super::super) fn sandbox_counting() -> &'static str {
    "strict engines are not counted: this system has no strict sandbox"
}

/// Starts a program as a child of this one.
pub(in super::super) async fn spawn(program: &Program) -> io::Result<Child> {
    if program.strict.is_some() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("`sandbox = \"strict\"` needs Linux, and this is {OS}"),
        ));
    }
    if !program.cores.is_empty() {
        let text = format!("{OS} binds no process to cores: take `affinity` out of the configuration");
        return Err(io::Error::new(io::ErrorKind::Unsupported, text));
    }
    spawn_alone(program).await
}

/// What the child does between fork and exec: it leaves the terminal.
#[allow(unsafe_code)]
pub(super) fn before_exec(command: &mut Command, _no_cores: &[usize]) -> io::Result<()> {
    // SAFETY: only an async-signal-safe system call, and no allocation, between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(setsid().map(drop)?));
    }
    Ok(())
}

/// No thread is bound to cores.
pub(super) fn take_cores_of_program() {}

/// The system does not tell it of a process that runs, other than to its own.
pub(super) fn peak_kib(_pid: u32) -> Option<u64> {
    None
}

/// See [`peak_kib`].
pub(super) fn threads(_pid: u32) -> Option<u32> {
    None
}

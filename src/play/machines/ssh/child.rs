//! The program `ssh` as a child of the manager.

use super::SshOptions;
use platform::programs::Tied;
use std::{
    io,
    process::{Command, Stdio},
    time::Duration,
};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout},
    time::{Instant, sleep},
};

/// Time between two looks whether it has ended.
const GLANCE: Duration = Duration::from_millis(20);

/// A running `ssh`. It ends with this value, and with the manager.
pub(super) struct Child(Tied);

/// Its standard input, output and error.
pub(super) type Pipes = (ChildStdin, ChildStdout, ChildStderr);

impl Child {
    /// Starts a shell on a host. The calling thread has to stay.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn start(options: &SshOptions, host: &str, shell: &str) -> io::Result<(Self, Pipes)> {
        let words = seat::far::ssh(&options.command).unwrap_or_default();
        let [program, given @ ..] = &words[..] else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command for ssh is empty"));
        };
        let mut command = Command::new(program);
        command.args(given).args([host, shell]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut tied = Tied::start(&mut command)?;
        let pipes = match (tied.child.stdin.take(), tied.child.stdout.take(), tied.child.stderr.take()) {
            (Some(input), Some(output), Some(errors)) => (input, output, errors),
            _ => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        let child = Self(tied);
        let input = ChildStdin::from_std(pipes.0)?;
        let output = ChildStdout::from_std(pipes.1)?;
        Ok((child, (input, output, ChildStderr::from_std(pipes.2)?)))
    }

    /// Waits until it has ended, and kills it after this time; its exit code, if it has ended by itself.
    pub async fn end(mut self, patience: Duration) -> Option<i32> {
        let until = Instant::now() + patience;
        loop {
            match self.0.child.try_wait() {
                Ok(Some(status)) => return status.code(),
                Ok(None) if Instant::now() < until => sleep(GLANCE).await,
                _ => return None,
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if matches!(self.0.child.try_wait(), Ok(None)) {
            let _gone = self.0.child.kill();
            let _reaped = self.0.child.wait();
        }
    }
}

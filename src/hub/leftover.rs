//! The server that a killed manager has left behind: found by the file with its process, proved to be ours, and ended.

use crate::{HubError, directory::Directory};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use platform::files;
use std::{fs, path::Path, time::Duration};

/// Where the server's process and its start time stand.
const FILE: &str = "server.pid";
/// The server's configuration. Its path is on the command line of our servers.
pub(crate) const CONFIGURATION: &str = "nats.conf";
/// How often it is looked at again, and how often at most: first it is asked, then it is killed.
const GLANCE: Duration = Duration::from_millis(10);
const GLANCES: u32 = 500;

/// Writes down the process of a server.
pub(crate) fn record(directory: &Path, process: Pid) {
    let Some(start) = start_time(process) else { return };
    let text = format!("{process} {start}\n");
    let written = files::write_below(directory, Path::new(FILE), text.as_bytes(), files::Access::Private);
    if let Err(error) = written {
        // It ends with this process all the same.
        tracing::warn!(target: "hub", "{}: {error}", directory.join(FILE).display());
    }
}

/// Ends the server that an earlier manager has started in this directory, if it is still there.
pub(crate) async fn end(directory: &Directory) -> Result<(), HubError> {
    let text = directory.read(FILE)?.unwrap_or_default();
    let Some((process, start)) = parse(&String::from_utf8_lossy(&text)) else { return Ok(()) };
    let configuration = directory.path(CONFIGURATION);
    let is_ours = || start_time(process) == Some(start) && runs_with(process, &configuration);
    if !is_ours() {
        return Ok(());
    }
    tracing::warn!(target: "hub", "ending the nats-server of an earlier renmei, process {process}");
    for (signal, glances) in [(Signal::SIGTERM, GLANCES), (Signal::SIGKILL, GLANCES)] {
        let _gone = kill(process, signal);
        for _ in 0..glances {
            if !is_ours() {
                return Ok(());
            }
            tokio::time::sleep(GLANCE).await;
        }
    }
    Err(HubError::Leftover { pid: process.as_raw() })
}

fn parse(text: &str) -> Option<(Pid, u64)> {
    let (process, start) = text.trim().split_once(' ')?;
    let process: i32 = process.parse().ok().filter(|process| *process > 1)?;
    Some((Pid::from_raw(process), start.parse().ok()?))
}

/// When a process was started, in ticks since the machine was: with its number, that is one process alone. None for one
/// that has ended, also if nobody has asked for its end yet.
fn start_time(process: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in brackets, may have spaces and brackets itself.
    let mut words = text[text.rfind(')')? + 1..].split_whitespace();
    let state = words.next()?;
    (!matches!(state, "Z" | "X")).then_some(())?;
    words.nth(18)?.parse().ok()
}

/// Whether a file is on the command line of a process.
fn runs_with(process: Pid, file: &Path) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let file = file.as_os_str().as_encoded_bytes();
    line.split(|byte| *byte == 0).any(|word| word == file)
}

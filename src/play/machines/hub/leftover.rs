//! The server that a killed manager has left behind: found by the file with its process, proved to be ours, and ended.

use crate::hub::{HubError, directory::Directory};
use platform::{
    files,
    programs::{Order, order},
    usage,
};
use std::{path::Path, time::Duration};

/// Where the server's process and its start time stand.
const FILE: &str = "server.pid";
/// The server's configuration. Its path is on the command line of our servers.
pub(crate) const CONFIGURATION: &str = "nats.conf";
/// How often it is looked at again, and how often at most: first it is asked, then it is killed.
const GLANCE: Duration = Duration::from_millis(10);
const GLANCES: u32 = 500;

/// Writes down the process of a server.
pub(crate) fn record(directory: &Path, process: u32) {
    let Some(start) = usage::start(process) else { return };
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
    let is_ours = || usage::start(process) == Some(start) && runs_with(process, &configuration);
    if !is_ours() {
        return Ok(());
    }
    tracing::warn!(target: "hub", "ending the nats-server of an earlier renmei, process {process}");
    for wish in [Order::End, Order::Kill] {
        let _gone = order(process, wish);
        for _ in 0..GLANCES {
            if !is_ours() {
                return Ok(());
            }
            tokio::time::sleep(GLANCE).await;
        }
    }
    Err(HubError::Leftover(process.cast_signed()))
}

fn parse(text: &str) -> Option<(u32, u64)> {
    let (process, start) = text.trim().split_once(' ')?;
    let process: u32 = process.parse().ok().filter(|process| *process > 1)?;
    Some((process, start.parse().ok()?))
}

/// True if a file is on the command line of a process.
fn runs_with(process: u32, file: &Path) -> bool {
    usage::command_line(process).is_some_and(|line| line.iter().any(|word| word == file.as_os_str()))
}

//! Delivery to a command: the notice stands on its standard input.

use super::channel::NotReceived;
use platform::programs::{self, Group};
use std::{
    io::{Read, Write},
    process::{Child, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// Most time for a command.
pub const LIMIT: Duration = Duration::from_secs(30);
/// Time between two looks whether the command has ended.
const GLANCE: Duration = Duration::from_millis(20);
/// Bytes of the command's stderr that are read.
const COMPLAINT: u64 = 4096;
/// Time for the rest of the stderr of a command that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Runs a command in the shell and waits for its success. The command is the user's own text; nothing is added to it, nor
/// to its environment. It has a process group of its own, so that an interruption at the terminal does not end it.
pub fn deliver(command: &str, body: String) -> Result<(), NotReceived> {
    let mut shell = programs::shell(command);
    platform::files::give_users_umask(&mut shell);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut group = Group::start(&mut shell).map_err(NotReceived::Shell)?;
    write(&mut group.child, body);
    let complaint = complaint(&mut group.child);
    let begun = Instant::now();
    let status = loop {
        match group.child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < LIMIT => thread::sleep(GLANCE),
            Ok(None) => {
                group.end();
                return Err(NotReceived::Late);
            }
            Err(error) => return Err(NotReceived::Wait(error)),
        }
    };
    match status.success() {
        true => Ok(()),
        false => {
            let said = complaint.recv_timeout(LAST_WORDS).unwrap_or_default();
            let said = said.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
            Err(NotReceived::Command(status, said))
        }
    }
}

/// Writes the notice on a thread of its own: a command that does not read must not hold up its own end.
fn write(child: &mut Child, body: String) {
    if let Some(mut stdin) = child.stdin.take() {
        thread::spawn(move || {
            let _it_need_not_read = writeln!(stdin, "{body}");
        });
    }
}

/// The first words on the command's stderr; the rest is read and dropped.
fn complaint(child: &mut Child) -> mpsc::Receiver<String> {
    let (tell, said) = mpsc::sync_channel(1);
    if let Some(mut stderr) = child.stderr.take() {
        thread::spawn(move || {
            let mut words = vec![];
            let _read = stderr.by_ref().take(COMPLAINT).read_to_end(&mut words);
            let _nobody_asks = tell.try_send(printable(&words));
            let _rest = std::io::copy(&mut stderr, &mut std::io::sink());
        });
    }
    said
}

fn printable(words: &[u8]) -> String {
    let text = String::from_utf8_lossy(words);
    text.chars().filter(|c| *c == '\n' || !notation::is_hidden(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_reads_the_notice_and_its_failure_is_told_with_its_last_word() {
        deliver("grep -q '^.\"id\":7.$'", "{\"id\":7}".to_owned()).unwrap();
        deliver("true", "x".repeat(1 << 20)).expect("it need not read");
        let failed = deliver("echo first >&2; echo no such host >&2; exit 3", String::new());
        assert_eq!(failed.unwrap_err().to_string(), "the command ended with exit status: 3: no such host");
    }
}

//! Faults of a process rather than of a player.

use std::fs::File;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{dup2_stdin, dup2_stdout};

/// Sleeps for ever.
pub fn sleep_for_ever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// Writes `chunk` again and again until nobody reads; waits `pause` after each.
pub fn pour(out: &mut impl Write, chunk: &[u8], pause: Duration) {
    while out.write_all(chunk).and_then(|()| out.flush()).is_ok() {
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
}

/// Writes `megabytes` of lines on stderr.
pub fn flood_stderr(megabytes: usize) {
    let mut kilobyte = [b'!'; 1024];
    kilobyte[1023] = b'\n';
    let mut stderr = io::stderr().lock();
    let _ = (0..megabytes * 1024).try_for_each(|_| stderr.write_all(&kilobyte));
}

/// Makes SIGTERM wait for ever. Blocking needs no handler, and this process has one thread.
pub fn block_sigterm() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    let _ = signals.thread_block();
}

/// Closes our end of stdin: the descriptor stays, the pipe does not.
pub fn close_stdin() {
    let _ = File::open("/dev/null").map(dup2_stdin);
}

/// Closes our end of stdout.
pub fn close_stdout() {
    let _ = File::create("/dev/null").map(dup2_stdout);
}

/// Starts this program asleep, in our process group and with our stdout, and forgets it: it is neither
/// ended nor waited for.
pub fn leave_child(sleep: Duration) {
    let Ok(program) = env::current_exe() else { return };
    let delay = sleep.as_millis().to_string();
    let _ = Command::new(program).args(["--mode", "sleep", "--delay", &delay]).stdin(Stdio::null()).spawn();
}

/// `bestmove` hidden in junk: no UTF-8, terminal codes, near misses of protocol words, 50 lines behind.
pub fn noise(bestmove: &str) -> Vec<u8> {
    let mut text = Vec::new();
    text.extend_from_slice(b"info string \x1b[2J\x1b[31mred \x1b]0;title\x07 bell\x08\x7f\n");
    text.extend_from_slice(b"info string \xff\xfe\x80\xc3\x28 \x83\x5c\x00 nul\r\n\r\n\n");
    text.extend((0..=255_u8).filter(|&byte| byte != b'\n'));
    text.extend_from_slice(
        b"\n bestmov 7g7f\nxbestmove resign\ninfo depth x score cp y pv\nreadyok\nusiok\n",
    );
    text.extend_from_slice(b"info string bestmove resign\n");
    text.extend_from_slice(bestmove.as_bytes());
    text.push(b'\n');
    for line in 1..=50 {
        text.extend_from_slice(format!("info string behind the move {line}\n").as_bytes());
    }
    text
}

//! Process-level faults.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Pid, dup2_stdin, dup2_stdout, getpid, getppid, setsid};

/// Sleeps for ever.
pub fn sleep_for_ever() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

/// Writes `chunk` repeatedly, with `pause` after each, until a write fails.
pub fn pour(out: &mut impl Write, chunk: &[u8], pause: Duration) {
    while out.write_all(chunk).and_then(|()| out.flush()).is_ok() {
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    }
}

/// Writes `megabytes` of lines to stderr.
pub fn flood_stderr(megabytes: usize) {
    let mut kilobyte = [b'!'; 1024];
    kilobyte[1023] = b'\n';
    let mut stderr = io::stderr().lock();
    let _ = (0..megabytes * 1024).try_for_each(|_| stderr.write_all(&kilobyte));
}

/// Connects to a socket, which succeeds or not: by its path, or by an address and a port.
pub fn connect(target: &str) {
    if target.starts_with('/') {
        let _ = UnixStream::connect(target);
    } else {
        let _ = TcpStream::connect(target);
    }
}

/// Blocks SIGTERM. A signal mask needs no handler, and this process has a single thread.
pub fn block_sigterm() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTERM);
    let _ = signals.thread_block();
}

/// Closes the read end of stdin.
pub fn close_stdin() {
    let _ = File::open("/dev/null").map(dup2_stdin);
}

/// Closes the write end of stdout.
pub fn close_stdout() {
    let _ = File::create("/dev/null").map(dup2_stdout);
}

/// Starts a sleeping copy of this program in our process group, with our stdout, and neither ends it nor waits
/// for it.
pub fn leave_child(sleep: Duration) {
    let Ok(program) = env::current_exe() else { return };
    let delay = sleep.as_millis().to_string();
    let _ = Command::new(program).args(["--mode", "sleep", "--delay", &delay]).stdin(Stdio::null()).spawn();
}

/// Starts a process that leaves our session and our descendants, and sleeps.
pub fn leave_daemon(sleep: Duration, seed: u64) {
    let _started = copy("detach", sleep, seed).and_then(|mut copy| copy.status());
}

/// Starts a sleeping copy of this program in a session of its own.
pub fn detach(sleep: Duration, seed: u64) {
    let _leader_already = setsid();
    let _started = copy("sleep", sleep, seed).and_then(|mut copy| copy.spawn());
}

/// Starts processes that compute, each in a session of its own.
pub fn spin(processes: usize, delay: Duration, seed: u64) {
    for _ in 0..processes {
        let Ok(mut copy) = copy("compute", delay, seed) else { continue };
        let _refused = copy.spawn();
    }
}

/// Computes in a session of its own.
pub fn compute(delay: Duration) {
    let _leader_already = setsid();
    let begun = Instant::now();
    while begun.elapsed() < delay {
        std::hint::spin_loop();
    }
}

/// Puts a link to the path after the comma in place of the file before it.
pub fn link(target: &str) {
    let Some((file, to)) = target.split_once(',') else { return };
    let _not_there = fs::remove_file(file);
    let _made_or_not = symlink(to, file);
}

/// A copy of this program without input and output; the seed marks it.
fn copy(mode: &str, delay: Duration, seed: u64) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["--mode", mode, "--delay", &delay.as_millis().to_string(), "--seed", &seed.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// Kills our parent, and every process with this text in its command line, ourselves left out.
pub fn kill_others(text: &str) {
    let _refused = kill(getppid(), Signal::SIGKILL);
    if text.is_empty() {
        return;
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        // Our own line has the text as the target.
        if line.contains(text) && !line.contains("--target") && Pid::from_raw(pid) != getpid() {
            let _refused = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}

/// `bestmove` amid noise: invalid UTF-8, terminal codes and near misses of protocol words before it, 50 lines
/// after it.
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

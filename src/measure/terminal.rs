//! A pseudo-terminal for programs that need one.

use anyhow::Result;
use nix::pty::{OpenptyResult, Winsize, openpty};
use parking_lot::Mutex;
use std::{
    fs::File,
    io::{Read, Write},
    process::Command,
    sync::Arc,
    thread,
};

/// The controlling side of a terminal, which reads all output at once.
pub struct Terminal {
    keys: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Opens a terminal and connects a command to it before its start. The command keeps the other side open until it
    /// is dropped.
    pub fn open(command: &mut Command) -> Result<Self> {
        let size = Winsize { ws_row: 50, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None)?;
        let (mut read, keys) = (File::from(master.try_clone()?), File::from(master));
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
        let seen = Arc::new(Mutex::new(vec![]));
        let theirs = seen.clone();
        thread::spawn(move || {
            let mut buf = [0; 1 << 14];
            while let Ok(count @ 1..) = read.read(&mut buf) {
                theirs.lock().extend_from_slice(&buf[..count]);
            }
        });
        Ok(Self { keys, seen })
    }

    /// All output so far.
    pub fn output(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock()).into_owned()
    }

    /// Sends keystrokes.
    pub fn press(&mut self, keys: &str) -> Result<()> {
        Ok(self.keys.write_all(keys.as_bytes())?)
    }
}

//! A terminal that nobody looks at, for programs that behave otherwise without one.

use anyhow::Result;
use nix::pty::{OpenptyResult, Winsize, openpty};
use std::{
    fs::File,
    io::{Read, Write},
    process::Command,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// The far end of a terminal: it takes everything that is written, as a fast terminal does.
pub struct Terminal {
    keys: File,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// A terminal for a command that is about to be started. The command holds the near end until it is dropped.
    ///
    /// # Errors
    /// When there is none to be had.
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
                theirs.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buf[..count]);
            }
        });
        Ok(Self { keys, seen })
    }

    /// Everything that was written so far.
    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    /// Types.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn press(&mut self, keys: &str) -> Result<()> {
        Ok(self.keys.write_all(keys.as_bytes())?)
    }
}

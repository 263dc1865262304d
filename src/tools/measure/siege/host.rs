//! The host under attack, in a directory of its own: its files and its process.

use anyhow::{Context, Result, ensure};
use platform::usage::resident;
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};
use xtask::{processes::signal, running::Running, workspace::Scratch};

/// A host of its own, with records and a log.
pub struct Host {
    process: Running,
    address: SocketAddr,
    dir: Scratch,
}

impl Host {
    /// Starts a host; `further` ends its file.
    pub fn start(program: &Path, further: &str) -> Result<Self> {
        let dir = Scratch::new("siege")?;
        let (file, db) = (dir.file("serve.toml"), dir.file("siege.db"));
        let records = dir.file("records");
        let text = format!(
            "[serve]\nname = \"siege\"\ntime_unit = \"msec\"\nmax_moves = 0\nrecords = {records:?}\n{further}"
        );
        fs::write(&file, text)?;
        let mut serve = Command::new(program);
        serve.arg("serve").arg(&file).args(["--listen", "127.0.0.1:0", "--quiet", "--db"]).arg(&db);
        let mut process = Running::start(&mut serve, ["host.out", "host.log"].map(|name| dir.file(name)))?;
        let line = process.wait_for("listening on ")?;
        let address = line.trim_start_matches("listening on ").parse()?;
        Ok(Self { process, address, dir })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn process(&self) -> u32 {
        self.process.id()
    }

    pub fn database(&self) -> PathBuf {
        self.dir.file("siege.db")
    }

    /// Forgets the most memory that it had.
    pub fn forget_peak(&self) {
        // Where the kernel does not let us, the peak is that since the start: the stricter one.
        let _refused = fs::write(format!("/proc/{}/clear_refs", self.process.id()), "5");
    }

    /// The most memory that it had since, in MB.
    pub fn memory(&self) -> Result<u64> {
        Ok(resident(self.process.id()).context("the host has ended")?.peak / 1024)
    }

    /// Bytes of its database, records and log.
    pub fn disk(&self) -> u64 {
        size(&self.dir.file(""))
    }

    /// Ends it as an operator would.
    ///
    /// # Errors
    /// When it is gone already, or fails.
    pub fn stop(&mut self) -> Result<()> {
        signal("TERM", self.process.id());
        let ended = self.process.finish()?;
        ensure!(ended.code == Some(0), "the host ended with {:?}:\n{}", ended.code, ended.stderr);
        Ok(())
    }
}

/// Bytes of all files below a directory; one that vanishes meanwhile counts nothing.
fn size(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

//! The host under attack, in a directory of its own: its files and its process.

use super::{PASSWORD, pages};
use crate::measure::own_time;
use anyhow::{Context, Result, ensure};
use std::{
    fs::{self, File},
    io::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};
use xtask::workspace::Scratch;

/// A host of its own, with records and a log.
pub struct Host {
    child: Child,
    address: SocketAddr,
    dir: Scratch,
}

impl Host {
    /// Starts a host with these keys after `[serve]`; where there are accounts, they have the password of all.
    ///
    /// # Errors
    /// When it cannot be started, or does not listen.
    pub fn start(program: &Path, keys: &str, accounts: &[String]) -> Result<Self> {
        let dir = Scratch::new("siege")?;
        let (file, db, log) = (dir.file("serve.toml"), dir.file("siege.db"), dir.file("host.log"));
        let records = dir.file("records");
        let text = format!(
            "[serve]\nname = \"siege\"\ntime_unit = \"msec\"\nmax_moves = 0\nrecords = {records:?}\n{keys}"
        );
        fs::write(&file, text)?;
        for name in accounts {
            add_account(program, &["account", "add", name, "--db"], &db, PASSWORD)?;
        }
        let mut serve = Command::new(program);
        serve.arg("serve").arg(&file).args(["--listen", "127.0.0.1:0", "--quiet", "--db"]).arg(&db);
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&log)?);
        let child = serve.spawn().context("the host could not be started")?;
        let mut host = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)), dir };
        host.address = said(&mut host.child, &log, "listening on ")?.parse()?;
        Ok(host)
    }

    /// Where its pages are, if its keys ask for some.
    ///
    /// # Errors
    /// When it ends before it says so.
    pub fn pages(&mut self) -> Result<SocketAddr> {
        let log = self.dir.file("host.log");
        Ok(said(&mut self.child, &log, "pages on http://")?.trim_end_matches('/').parse()?)
    }

    /// Adds the arbiter of its pages.
    ///
    /// # Errors
    /// When the account cannot be added.
    pub fn add_arbiter(&self, program: &Path) -> Result<()> {
        let (name, password) = (pages::ARBITER, pages::PASSWORD);
        let add = ["account", "web", "add", name, "--role", "arbiter", "--db"];
        add_account(program, &add, &self.database(), password)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its database.
    pub fn database(&self) -> PathBuf {
        self.dir.file("siege.db")
    }

    /// Forgets the most memory that it had.
    pub fn forget_peak(&self) {
        // Where the kernel does not let us, the peak is that since the start: the stricter one.
        let _refused = fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5");
    }

    /// The most memory that it had since, in MB.
    ///
    /// # Errors
    /// When the host is gone.
    pub fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.context("the host did not live")?;
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes: u64 = most.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        Ok(kilobytes / 1024)
    }

    /// Processor time of its threads whose names begin so.
    pub fn time_of(&self, name: &str) -> Duration {
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", self.child.id())) else {
            return Duration::ZERO;
        };
        let named =
            |task: &Path| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.starts_with(name));
        let time = |task: &Path| own_time(&fs::read_to_string(task.join("stat")).ok()?);
        tasks
            .flatten()
            .map(|task| task.path())
            .filter(|task| named(task))
            .filter_map(|task| time(&task))
            .sum()
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
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        let ended = asked.success() && self.child.wait()?.success();
        let said = fs::read_to_string(self.dir.file("host.log")).unwrap_or_default();
        let last = said.lines().rev().take(10).collect::<Vec<_>>();
        ensure!(ended, "the host did not live to its end; its last lines, backwards: {last:#?}");
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
        let _over = self.child.wait();
    }
}

/// What a program has written into its log after some words, as soon as the line is there.
///
/// # Errors
/// When it ends before.
pub fn said(child: &mut Child, log: &Path, words: &str) -> Result<String> {
    loop {
        let said = fs::read_to_string(log)?;
        let line = said.lines().find_map(|line| line.strip_prefix(words));
        match line.filter(|_| said.ends_with('\n')) {
            Some(rest) => return Ok(rest.trim().to_owned()),
            None => ensure!(child.try_wait()?.is_none(), "the program did not say `{words}`:\n{said}"),
        }
        thread::sleep(Duration::from_millis(20));
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

fn add_account(program: &Path, words: &[&str], db: &Path, password: &str) -> Result<()> {
    let mut add = Command::new(program);
    add.args(words).arg(db).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut add = add.spawn()?;
    add.stdin.take().context("stdin is piped")?.write_all(format!("{password}\n").as_bytes())?;
    ensure!(add.wait()?.success(), "an account could not be added: {}", words.join(" "));
    Ok(())
}

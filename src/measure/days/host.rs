//! The host of the soak: one port, one database, many processes.

use anyhow::{Context, Result, bail, ensure};
use std::{
    fs::{self, File},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use xtask::workspace::Scratch;

/// How long the host may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(120);
/// Seconds that a game waits for a player who dropped.
pub const GRACE: u64 = 1;

/// What a process has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Memory in RAM.
    pub megabytes: u64,
    pub threads: usize,
    pub descriptors: usize,
}

/// The host, running or not.
pub struct Host {
    program: PathBuf,
    dir: Scratch,
    address: SocketAddr,
    child: Option<Child>,
}

impl Host {
    /// Chooses a port and writes the configuration.
    pub fn prepare(program: PathBuf) -> Result<Self> {
        let dir = Scratch::new("days")?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let text = format!(
            "[serve]\nname = \"days\"\ngrace = {GRACE}\nagreement = 20\nrecords = {:?}\n[serve.limits]\n\
             lines_per_second = 1000\n",
            dir.file("records")
        );
        fs::write(dir.file("serve.toml"), text)?;
        Ok(Self { program, dir, address, child: None })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn database(&self) -> PathBuf {
        self.dir.file("days.db")
    }

    /// Starts it, and returns what it has as soon as it listens.
    pub fn start(&mut self) -> Result<Sample> {
        let mut serve = Command::new(&self.program);
        serve.arg("serve").arg(self.dir.file("serve.toml")).args(["--listen", &self.address.to_string()]);
        serve.args(["--quiet", "--db"]).arg(self.database());
        serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(self.dir.file("host.log"))?);
        self.child = Some(serve.spawn().context("the host could not be started")?);
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            self.expect_alive()?;
            ensure!(begun.elapsed() < PATIENCE, "the host does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        self.sample()
    }

    /// Fails with what the host said if it is gone.
    pub fn expect_alive(&mut self) -> Result<()> {
        let gone = self.child.as_mut().context("the host runs")?.try_wait()?;
        let said = || fs::read_to_string(self.dir.file("host.log")).unwrap_or_default();
        ensure!(gone.is_none(), "the host ended by itself:\n{}", said());
        Ok(())
    }

    /// Ends it, every other time by SIGKILL, else by SIGTERM; returns the signal's name.
    pub fn end(&mut self, number: usize) -> Result<&'static str> {
        if number % 2 == 1 {
            self.finish()?;
            return Ok("SIGTERM");
        }
        let mut child = self.child.take().context("the host runs")?;
        child.kill()?;
        child.wait()?;
        Ok("SIGKILL")
    }

    /// Ends it by SIGTERM.
    pub fn finish(&mut self) -> Result<()> {
        let mut child = self.child.take().context("the host runs")?;
        let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
        ensure!(asked.success(), "the host ended before it was asked to");
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                let said = fs::read_to_string(self.dir.file("host.log")).unwrap_or_default();
                ensure!(status.success(), "the host ended with {status}:\n{said}");
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                bail!("the host does not end {PATIENCE:?} after SIGTERM");
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// What it has now.
    pub fn sample(&self) -> Result<Sample> {
        let process = format!("/proc/{}", self.child.as_ref().context("the host runs")?.id());
        let status = fs::read_to_string(format!("{process}/status")).context("the host is gone")?;
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let count = |what: &str| fs::read_dir(format!("{process}/{what}")).map(Iterator::count);
        Ok(Sample {
            megabytes: number("VmRSS:").unwrap_or(0) / 1024,
            threads: count("task")?,
            descriptors: count("fd")?,
        })
    }

    /// What it has once it has at most so many descriptors, or after some seconds.
    pub fn settled(&self, descriptors: usize) -> Result<Sample> {
        let begun = Instant::now();
        loop {
            let sample = self.sample()?;
            if sample.descriptors <= descriptors || begun.elapsed() > Duration::from_secs(20) {
                return Ok(sample);
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Bytes of the database, without records.
    pub fn disk(&self) -> u64 {
        fs::metadata(self.database()).map_or(0, |file| file.len())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _over_already = child.kill();
            let _over = child.wait();
        }
    }
}

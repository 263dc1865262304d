//! The host of the soak: one port, one database, many processes.

use crate::process::Process;
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use xtask::workspace::Scratch;

/// How long the host may take to start or to end.
const PATIENCE: Duration = Duration::from_secs(120);
/// Without a change for so long, all threads have started.
const REST: Duration = Duration::from_millis(300);
/// Seconds that a game waits for a player who dropped.
pub const GRACE: u64 = 1;

/// Resources of a process.
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
    process: Option<Process>,
}

impl Host {
    /// Chooses a port and writes the configuration.
    pub fn prepare(program: PathBuf) -> Result<Self> {
        let dir = Scratch::new("days")?;
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let text = format!(
            "[serve]\nname = \"days\"\ngrace = {GRACE}\nagreement = 20\nrecords = {:?}\n[serve.limits]\n\
             lines_per_second = 1000\ngames_per_hour = 0\n",
            dir.file("records")
        );
        fs::write(dir.file("serve.toml"), text)?;
        Ok(Self { program, dir, address, process: None })
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
        self.process = Some(Process::start(&mut serve, &self.dir.file("host.log"))?);
        let begun = Instant::now();
        while TcpStream::connect(self.address).is_err() {
            self.expect_alive()?;
            ensure!(begun.elapsed() < PATIENCE, "the host does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        self.at_rest()
    }

    /// Its resources once all its threads have started.
    fn at_rest(&self) -> Result<Sample> {
        let mut last = self.sample()?;
        loop {
            thread::sleep(REST);
            let sample = self.sample()?;
            if sample.threads == last.threads {
                return Ok(sample);
            }
            last = sample;
        }
    }

    /// Fails with the host's log if it has ended.
    pub fn expect_alive(&mut self) -> Result<()> {
        let process = self.process.as_mut().context("the host runs")?;
        ensure!(process.is_running()?, "the host ended by itself:\n{}", process.log());
        Ok(())
    }

    /// Ends it, every other time by SIGKILL, else by SIGTERM; returns the signal's name.
    pub fn end(&mut self, number: usize) -> Result<&'static str> {
        if number % 2 == 1 {
            self.finish()?;
            return Ok("SIGTERM");
        }
        self.process.take().context("the host runs")?.kill()?;
        Ok("SIGKILL")
    }

    /// Ends it by SIGTERM.
    pub fn finish(&mut self) -> Result<()> {
        self.process.take().context("the host runs")?.terminate(PATIENCE, 0)
    }

    /// Its resources now.
    pub fn sample(&self) -> Result<Sample> {
        let process = self.process.as_ref().context("the host runs")?;
        let count = |what: &str| fs::read_dir(format!("/proc/{}/{what}", process.pid())).map(Iterator::count);
        Ok(Sample {
            megabytes: process.megabytes("VmRSS:")?,
            threads: count("task")?,
            descriptors: count("fd")?,
        })
    }

    /// Its resources once it has at most so many descriptors, or after some seconds.
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

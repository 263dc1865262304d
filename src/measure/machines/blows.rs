//! Blows at an event on three machines: kills, stops, partitions and a bad line, at random times, from a seed.
//!
//! `ann` is beside the manager, `bob` behind a proxy that delays, stalls and cuts, `cid` in a network namespace of its own,
//! whose cable is pulled out. Where namespaces may not be made, everything is on one network, and no cable is pulled out.

use crate::{
    machines::field::{Field, end, free_port, is_well},
    process::Process,
};
use anyhow::{Context, Result, ensure};
use nix::sys::signal::Signal::{self, SIGCONT, SIGSTOP};
use std::{
    fs,
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;
use trial::{Namespaces, Proxy};
use usi_shell::SplitMix64;

/// Workers, by what stands between them and the manager.
const NAMES: [&str; 3] = ["ann", "bob", "cid"];
/// Slots of each.
const SLOTS: usize = 2;
/// How long the proxy takes each way when it is slow.
const DELAY: Duration = Duration::from_millis(200);
/// Longer than a lease and a check for silent machines.
const PAST_THE_LEASE: Duration = Duration::from_secs(36);

/// A kind of blow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// SIGKILL of a worker, which is started again.
    WorkerKilled,
    /// SIGKILL of the manager, which is started again, with its server.
    ManagerKilled,
    /// SIGKILL of the server.
    ServerKilled,
    /// SIGKILL of the server, and nothing is left of its store.
    StoreWiped,
    /// SIGSTOP of a worker for a while.
    WorkerStopped,
    /// The cable between two network namespaces is pulled out for a while.
    Partition,
    /// The proxy takes 200 ms each way for a while.
    Delayed,
    /// The proxy passes nothing on for a while.
    Stalled,
    /// The proxy breaks all connections.
    Cut,
}

/// Every kind, in the order of the counts.
pub const BLOWS: [(Blow, &str); 9] = [
    (Blow::WorkerKilled, "workers killed"),
    (Blow::ManagerKilled, "managers killed"),
    (Blow::ServerKilled, "servers killed"),
    (Blow::StoreWiped, "stores wiped"),
    (Blow::WorkerStopped, "workers stopped"),
    (Blow::Partition, "partitions"),
    (Blow::Delayed, "times slow"),
    (Blow::Stalled, "stalls"),
    (Blow::Cut, "cuts"),
];

/// Counts of the blows at an event.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How often each of [`BLOWS`].
    pub counts: [u32; BLOWS.len()],
    /// How many of them lasted longer than a lease.
    pub long: u32,
}

impl Tally {
    /// Blows in all.
    pub fn sum(&self) -> u32 {
        self.counts.iter().sum()
    }

    pub fn words(&self) -> String {
        let message = BLOWS.iter().zip(self.counts).map(|((_, what), count)| format!("{count} {what}"));
        format!("{}; {} of them longer than a lease", message.collect::<Vec<_>>().join(", "), self.long)
    }
}

/// An event that is played by three machines.
pub struct Stage<'a> {
    field: &'a Field,
    random: SplitMix64,
    may_be_long: bool,
    port: u16,
    manager: Process,
    workers: [Process; 3],
    lines: [String; 3],
    proxy: Proxy,
    /// True if the server listens, for the proxy's runtime.
    runtime: Runtime,
    namespaces: Option<&'a Namespaces>,
    /// When what lasts ends: workers that are stopped, the cable, the slow proxy, the stalled one.
    stopped: [Option<Instant>; 3],
    unplugged: Option<Instant>,
    delayed: Option<Instant>,
    stalled: Option<Instant>,
    /// When the last of those that are longer than a lease ends.
    long: Option<Instant>,
    tally: Tally,
}

impl<'a> Stage<'a> {
    /// Starts the manager and its workers. What is started belongs to the network of the calling thread: the first of the
    /// namespaces, if there are any.
    pub fn start(
        field: &'a Field,
        namespaces: Option<&'a Namespaces>,
        seed: u64,
        may_be_long: bool,
    ) -> Result<Self> {
        let port = free_port()?;
        let mut manager = field.manager(None, &format!("0.0.0.0:{port}"))?;
        let line = field.line(&mut manager)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let proxy = runtime.block_on(Proxy::to(SocketAddr::from(([127, 0, 0, 1], port))))?;
        let here = format!("127.0.0.1:{port}");
        let there = namespaces.map(|machines| format!("{}:{port}", machines.address(0)));
        let lines = [here.clone(), proxy.address().to_string(), there.unwrap_or(here)];
        let lines = lines.map(|address| at(&line, &address));
        let worker = |which: usize| start_worker(field, namespaces, which, &lines[which]);
        let workers = [worker(0)?, worker(1)?, worker(2)?];
        Ok(Self {
            field,
            random: SplitMix64::new(seed),
            may_be_long,
            port,
            manager,
            workers,
            lines,
            proxy,
            runtime,
            namespaces,
            stopped: [None; 3],
            unplugged: None,
            delayed: None,
            stalled: None,
            long: None,
            tally: Tally::default(),
        })
    }

    /// Deals so many blows, or as many as there are until the event is over, and waits until the last one has passed.
    ///
    /// # Errors
    /// When a program cannot be started again.
    pub fn deal(&mut self, blows: u32) -> Result<()> {
        while self.tally.sum() < blows {
            let pause = Duration::from_millis(300 + self.below(2700));
            self.pass(pause)?;
            if !self.manager.is_running()? {
                break;
            }
            let kind = self.kind();
            if self.strike(BLOWS[kind].0)? {
                self.tally.counts[kind] += 1;
            }
        }
        while self.manager.is_running()? && self.lasts() {
            self.pass(Duration::from_millis(100))?;
        }
        if self.tally.long > 0 {
            // Answers that were held up come now, too late.
            self.pass(Duration::from_secs(8))?;
        }
        self.mend(None)
    }

    /// True while something is stopped, unplugged, slow or stalled.
    fn lasts(&self) -> bool {
        self.stopped.iter().chain([&self.unplugged, &self.delayed, &self.stalled]).any(Option::is_some)
    }

    /// Ends the manager by SIGKILL, so that its event can be given its last size.
    ///
    /// # Errors
    /// When it cannot be killed.
    pub fn interrupt(&mut self) -> Result<()> {
        self.manager.kill()
    }

    /// Starts the manager again.
    pub fn resume(&mut self) -> Result<()> {
        self.manager = self.field.manager(None, &format!("0.0.0.0:{}", self.port))?;
        Ok(())
    }

    /// Waits for the end of the event, and of the workers, which hear of it.
    ///
    /// # Errors
    /// When the manager does not end well, or a worker has not heard.
    pub fn end(mut self) -> Result<Tally> {
        self.mend(None)?;
        // The proxy works while its runtime does.
        while self.manager.is_running()? {
            self.pass(Duration::from_millis(50))?;
        }
        let code = end(&mut self.manager)?;
        ensure!(is_well(code), "the manager ended with {code:?}: {}", tail(&self.field.log("manager.log")));
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline
            && self.workers.iter_mut().any(|worker| worker.is_running().unwrap_or(false))
        {
            self.pass(Duration::from_millis(50))?;
        }
        Ok(self.tally.clone())
    }

    /// The next kind: every second time one that was not dealt yet.
    fn kind(&mut self) -> usize {
        let any = self.below(BLOWS.len() as u64) as usize;
        let new = self.tally.counts.iter().position(|count| *count == 0);
        new.filter(|_| self.below(2) == 0).unwrap_or(any)
    }

    fn below(&mut self, limit: u64) -> u64 {
        (self.random.uniform() * limit as f64) as u64
    }

    /// Lets time pass, in which the proxy works and what is over is mended.
    fn pass(&mut self, time: Duration) -> Result<()> {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
        self.mend(Some(Instant::now()))
    }

    /// Ends what has lasted long enough; without a time everything.
    fn mend(&mut self, now: Option<Instant>) -> Result<()> {
        let is_due = |until: &mut Option<Instant>| {
            until.take_if(|until| now.is_none_or(|now| *until <= now)).is_some()
        };
        for (worker, until) in self.workers.iter().zip(&mut self.stopped) {
            if is_due(until) {
                worker.signal(SIGCONT)?;
            }
        }
        if is_due(&mut self.unplugged) {
            plug(self.namespaces, true)?;
        }
        if is_due(&mut self.delayed) {
            self.proxy.delay(Duration::ZERO);
        }
        if is_due(&mut self.stalled) {
            self.proxy.resume();
        }
        Ok(())
    }

    /// How long something lasts: at most 8 s, or longer than a lease; the first of each kind is of the second sort.
    fn lasting(&mut self, kind: Blow) -> Instant {
        let count = BLOWS.iter().zip(self.tally.counts).find(|((blow, _), _)| *blow == kind);
        let is_first = count.is_some_and(|(_, count)| count == 0);
        let is_long = self.may_be_long && (is_first || self.below(50) == 0);
        if !is_long {
            return Instant::now() + Duration::from_millis(500 + self.below(7500));
        }
        self.tally.long += 1;
        let until = Instant::now() + PAST_THE_LEASE;
        self.long = Some(until);
        until
    }

    /// Deals a blow; false if it cannot be dealt now.
    fn strike(&mut self, blow: Blow) -> Result<bool> {
        let which = self.below(3) as usize;
        match blow {
            Blow::WorkerKilled => {
                self.stopped[which] = None;
                self.workers[which].kill()?;
                self.workers[which] = start_worker(self.field, self.namespaces, which, &self.lines[which])?;
            }
            // A manager that starts again gives every lease its time anew: none would ever be lost.
            Blow::ManagerKilled if self.long.is_some_and(|until| Instant::now() < until) => return Ok(false),
            Blow::ManagerKilled => {
                self.manager.kill()?;
                self.resume()?;
            }
            Blow::ServerKilled => return self.kill_server(false),
            Blow::StoreWiped => return self.kill_server(true),
            Blow::WorkerStopped if self.stopped[which].is_none() && self.workers[which].is_running()? => {
                self.workers[which].signal(SIGSTOP)?;
                self.stopped[which] = Some(self.lasting(blow));
            }
            Blow::Partition if self.namespaces.is_some() && self.unplugged.is_none() => {
                plug(self.namespaces, false)?;
                self.unplugged = Some(self.lasting(blow));
            }
            Blow::Delayed if self.delayed.is_none() => {
                self.proxy.delay(DELAY);
                self.delayed = Some(self.lasting(blow));
            }
            Blow::Stalled if self.stalled.is_none() => {
                self.proxy.stall();
                self.stalled = Some(self.lasting(blow));
            }
            Blow::Cut => self.proxy.cut(),
            Blow::WorkerStopped | Blow::Partition | Blow::Delayed | Blow::Stalled => return Ok(false),
        }
        Ok(true)
    }

    /// Kills the server, which its manager starts again; false where there is none just now.
    fn kill_server(&self, and_wipe: bool) -> Result<bool> {
        let Some(server) = server_of(self.field) else { return Ok(false) };
        let process = nix::unistd::Pid::from_raw(server.cast_signed());
        if nix::sys::signal::kill(process, Signal::SIGKILL).is_err() {
            return Ok(false);
        }
        if and_wipe {
            // Files that the next server is writing cannot be deleted.
            let _partly = fs::remove_dir_all(self.field.path("event.db-hub/store"));
        }
        Ok(true)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let _plugged_already = plug(self.namespaces, true);
    }
}

/// The process of the server that the manager has started, while it is one.
pub fn server_of(field: &Field) -> Option<u32> {
    let text = fs::read_to_string(field.path("event.db-hub/server.pid")).ok()?;
    let process = text.split_whitespace().next()?.parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    (name.trim() == "nats-server").then_some(process)
}

fn start_worker(field: &Field, namespaces: Option<&Namespaces>, which: usize, line: &str) -> Result<Process> {
    // `ip netns exec` becomes the program: signals reach it.
    let around = namespaces.filter(|_| which == 2).map(|machines| machines.around(1));
    field.worker(around, NAMES[which], SLOTS, line)
}

fn plug(namespaces: Option<&Namespaces>, is_in: bool) -> Result<()> {
    namespaces.map_or(Ok(()), |machines| machines.plug(is_in)).map_err(anyhow::Error::msg)
}

/// A line with another address.
fn at(line: &str, address: &str) -> String {
    let secret = line.split_once('#').map_or("", |(_, secret)| secret);
    format!("nats+tls://{address}#{secret}")
}

/// The last words of a log.
pub fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Runs something on a thread of its own in the first of two namespaces, or where it is if there are none.
pub fn inside<T: Send>(
    namespaces: Option<&Namespaces>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    thread::scope(|scope| {
        let there = scope.spawn(|| {
            if let Some(machines) = namespaces {
                machines.enter(0).map_err(anyhow::Error::msg).context("a thread in a network namespace")?;
            }
            work()
        });
        there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

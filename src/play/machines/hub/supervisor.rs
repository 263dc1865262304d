//! The thread that starts a server, reads what it prints, and starts it again when it has ended.
//!
//! It is a thread because Linux kills a child ([`Tied`]) when the thread ends that started it: so the server ends with the
//! manager, also when that is killed.

use crate::hub::{
    HubError,
    door::complaint,
    leftover,
    log::{LONGEST_LINE, Said},
    server::{Reloads, Setup, Shared, State},
};
use platform::programs::{Order, Tied, order};
use referee::number::number;
use std::{
    io::{self, BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot, watch};

/// First and longest wait before it is started again, and how long it must have run for the wait to be short again.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
const STEADY: Duration = Duration::from_secs(60);
/// The shortest time between two words about strangers that were refused.
const REFUSAL_INTERVAL: Duration = Duration::from_secs(10);

/// The thread.
pub(crate) struct Supervisor {
    program: PathBuf,
    setup: Setup,
    shared: Arc<Shared>,
    first: Option<oneshot::Sender<Result<u16, HubError>>>,
    reloads: watch::Sender<Reloads>,
    notices: mpsc::Sender<String>,
    refusals: Refusals,
}

/// Connections that were refused since the last word about it.
#[derive(Default)]
struct Refusals {
    times: usize,
    told: Option<Instant>,
}

/// One life of a server.
#[derive(Default)]
struct Life {
    port: u16,
    fatal: Option<String>,
}

impl Supervisor {
    pub fn new(
        program: PathBuf,
        setup: Setup,
        shared: Arc<Shared>,
        first: oneshot::Sender<Result<u16, HubError>>,
        reloads: watch::Sender<Reloads>,
        notices: mpsc::Sender<String>,
    ) -> Self {
        Self { program, setup, shared, first: Some(first), reloads, notices, refusals: Refusals::default() }
    }

    /// Keeps a server alive until it is told to stop, or the first one did not start.
    pub fn run(mut self) {
        let mut wait = BACK_OFF.0;
        while !self.shared.is_stopping() {
            let began = Instant::now();
            let why = self.live();
            if let Some(first) = self.first.take() {
                let _nobody_waits = first.send(Err(why));
                return;
            }
            if self.shared.is_stopping() {
                return;
            }
            self.tell(format!("nats-server ended, and is started again: {why}"));
            if began.elapsed() > STEADY {
                wait = BACK_OFF.0;
            }
            let going_on = |state: &mut State| !state.stopping;
            let _woken = self.shared.changed.wait_while_for(&mut self.shared.lock(), going_on, wait);
            wait = (wait * 2).min(BACK_OFF.1);
        }
    }

    /// Starts a server and stays with it until it has ended; returns why it did.
    fn live(&mut self) -> HubError {
        let mut server = match self.spawn() {
            Ok(server) => server,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return HubError::NoServer,
            Err(error) => return HubError::Start(error),
        };
        let process = server.child.id();
        leftover::record(&self.setup.directory, process);
        {
            let mut state = self.shared.lock();
            state.process = Some(process);
            if state.stopping {
                let _gone = order(process, Order::Kill);
            }
        }
        let life = self.listen(&mut server.child);
        self.shared.lock().process = None;
        // What closes its output without ending is no server.
        let _ended = server.child.kill();
        let _ended = server.child.wait();
        self.explain(life)
    }

    fn spawn(&self) -> io::Result<Tied> {
        let mut command = Command::new(&self.program);
        command.arg("-c").arg(self.setup.directory.join(leftover::CONFIGURATION));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Tied::start(&mut command)
    }

    /// Hears what a server says until it says no more.
    fn listen(&mut self, child: &mut Child) -> Life {
        let mut life = Life::default();
        let Some(output) = child.stderr.take() else { return life };
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A longer line is heard in pieces, of which the further ones mean nothing.
            match output.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(1..) => self.hear(String::from_utf8_lossy(&line).trim_end(), &mut life),
                Ok(0) | Err(_) => return life,
            }
        }
    }

    fn hear(&mut self, line: &str, life: &mut Life) {
        tracing::debug!(target: "hub", "nats-server: {line}");
        self.shared.lock().last_lines.push(line);
        match Said::of(line) {
            Said::Listening(port) => life.port = port,
            Said::Ready => self.ready(life),
            Said::Reloaded => self.reloaded(None),
            Said::NotReloaded(why) => self.reloaded(Some(why.to_owned())),
            Said::Refused => self.refused(line),
            Said::Fatal(why) => life.fatal = Some(why.to_owned()),
            Said::Error(what) => self.tell(complaint(what)),
            Said::Nothing => {}
        }
    }

    fn ready(&mut self, life: &Life) {
        match self.first.take() {
            Some(first) => {
                let _nobody_waits = first.send(Ok(life.port));
            }
            None => self.tell("nats-server is there again".to_owned()),
        }
        // Whoever waits for users to be taken over has them: the file was read just now.
        self.reloaded(None);
    }

    fn reloaded(&self, fault: Option<String>) {
        self.reloads.send_modify(|reloads| *reloads = Reloads { count: reloads.count + 1, fault });
    }

    /// Counts a stranger, and tells of it now and then: whoever tries a thousand keys fills no log.
    fn refused(&mut self, line: &str) {
        self.refusals.times += 1;
        if self.refusals.told.is_some_and(|told| told.elapsed() < REFUSAL_INTERVAL) {
            return;
        }
        let times = std::mem::take(&mut self.refusals.times);
        self.refusals.told = Some(Instant::now());
        let last = line.split("[ERR] ").nth(1).unwrap_or(line).split(" - ").next().unwrap_or_default();
        let last: String = last.chars().filter(|c| !c.is_control()).take(64).collect();
        let times = number(times, "connection");
        self.tell(format!("nats-server refused {times} without a valid key, the last one from {last}"));
    }

    /// What nobody listens to is lost: it was told for people.
    fn tell(&self, notice: String) {
        let _nobody_hears = self.notices.try_send(notice);
    }

    /// Why a server has ended.
    fn explain(&self, life: Life) -> HubError {
        let listen = || self.setup.listen.to_string();
        match life.fatal {
            Some(says) if says.contains("address already in use") => HubError::PortTaken(listen()),
            Some(says) if says.starts_with("Error listening on port") => {
                HubError::Listen { listen: listen(), says }
            }
            _ => HubError::Ended(self.shared.lock().last_lines.text()),
        }
    }
}

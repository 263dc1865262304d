//! A channel: a queue, and a thread that delivers one notice after the other until each is received.

use super::{
    Say, Subject,
    command::{self, LIMIT},
    notice::Notice,
    webhook::Webhook,
};
use journal::{EventId, StoreError, Writer, now};
use parking_lot::{Condvar, Mutex};
use platform::programs::SHELL;
use std::{
    collections::BTreeSet,
    io,
    process::ExitStatus,
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::{Duration, Instant},
};

/// Notices that wait at most. More are sent at the next start.
const QUEUE: usize = 256;
/// The first wait after a failure; each is twice the one before.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// The longest wait once the program ends.
const HURRIED_WAIT: Duration = Duration::from_secs(2);
/// Time for further attempts once the program ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// The notices that a channel wants.
pub type Wants = Box<dyn Fn(&Notice) -> bool + Send>;

/// Why a notice was not received.
#[derive(Debug, thiserror::Error)]
pub enum NotReceived {
    /// There is no shell.
    #[error("`{SHELL}` could not be started: {0}")]
    Shell(#[source] io::Error),
    /// The command runs on.
    #[error("the command did not finish within {} s and was killed", LIMIT.as_secs())]
    Late,
    /// The system does not tell of its end.
    #[error("cannot wait for the command: {0}")]
    Wait(#[source] io::Error),
    /// The command failed; what it said last, behind a colon.
    #[error("the command ended with {0}{1}")]
    Command(ExitStatus, String),
    /// The server sends elsewhere.
    #[error("the server redirects with status {0}; configure the address that it redirects to")]
    Redirected(u16),
    /// The server refuses.
    #[error("the server answers with status {0}")]
    Status(u16),
    /// The way to the server.
    #[error(transparent)]
    Http(#[from] ureq::Error),
}

/// The receiver of a channel's notices.
#[derive(Debug)]
pub enum Target {
    /// A command for the shell.
    Command(String),
    /// A URL.
    Webhook(Box<Webhook>),
}

impl Target {
    /// A webhook.
    pub fn webhook(url: &str) -> Self {
        Self::Webhook(Box::new(Webhook::new(url)))
    }

    fn deliver(&self, notice: &Notice) -> Result<(), NotReceived> {
        let body = notation::printable_json(&notice.body.to_string()).into_owned();
        match self {
            Self::Command(command) => command::deliver(command, body),
            Self::Webhook(webhook) => webhook.deliver(&body),
        }
    }
}

/// The sending side of a channel.
pub struct Channel {
    name: &'static str,
    wants: Wants,
    /// Since when the channel receives notices, and those that it has received in earlier runs.
    since: i64,
    received: BTreeSet<String>,
    queue: SyncSender<Notice>,
    closing: Arc<Closing>,
    left: Receiver<Vec<String>>,
}

/// Until when attempts are made; `None` while the program runs.
#[derive(Debug, Default)]
struct Closing {
    deadline: Mutex<Option<Instant>>,
    woken: Condvar,
}

impl Closing {
    fn set(&self, deadline: Instant) {
        *self.deadline.lock() = Some(deadline);
        self.woken.notify_all();
    }

    /// Waits before the next attempt; false if there is no time for it.
    fn wait(&self, wait: Duration) -> bool {
        let running = |deadline: &mut Option<Instant>| deadline.is_none();
        let mut deadline = self.deadline.lock();
        self.woken.wait_while_for(&mut deadline, running, wait);
        let Some(deadline) = *deadline else { return true };
        thread::sleep(wait.min(HURRIED_WAIT).min(deadline.saturating_duration_since(Instant::now())));
        Instant::now() < deadline
    }
}

impl Channel {
    /// Opens a channel; its thread begins at once.
    pub fn open(name: &'static str, target: Target, wants: Wants, subject: Subject, say: Say) -> Self {
        let (queue, inbox) = mpsc::sync_channel(QUEUE);
        let (tell_left, left) = mpsc::sync_channel(1);
        let closing = Arc::<Closing>::default();
        let delivery = Delivery { name, target, subject, say, closing: closing.clone(), store: None };
        let work = move || {
            let _nobody_asks = tell_left.send(delivery.run(&inbox));
        };
        if let Err(error) = thread::Builder::new().name(format!("notify-{name}")).spawn(work) {
            tracing::warn!(target: "notify", channel = name, %error, "no thread for a channel");
        }
        Self { name, wants, since: i64::MAX, received: BTreeSet::new(), queue, closing, left }
    }

    /// Reads the received notices of the channel and the time from which it receives any: `opened` at first.
    ///
    /// # Errors
    /// When the database fails.
    pub fn since(&mut self, store: &Writer, event: EventId, opened: i64) -> Result<(), StoreError> {
        self.since = store.notices_since(event, self.name, opened)?;
        self.received = store.delivered(event, self.name)?;
        Ok(())
    }

    /// Puts a notice into the queue, without waiting: a full one leaves the notice to the next start.
    pub fn offer(&self, notice: &Notice) {
        let due = notice.at >= self.since && !self.received.contains(&notice.id);
        if due && (self.wants)(notice) {
            let _full_or_gone = self.queue.try_send(notice.clone());
        }
    }

    /// Announces the end of the program, which bounds the time of further attempts.
    pub fn hurry(&self) {
        self.closing.set(Instant::now() + PATIENCE);
    }

    /// Waits a bounded time for the deliveries; returns a line about undelivered notices.
    pub fn finish(self) -> Option<String> {
        let Self { name, queue, left, .. } = self;
        drop(queue);
        // The attempt that is under way may take its own limit.
        let most = PATIENCE + command::LIMIT + HURRIED_WAIT;
        let undelivered = left.recv_timeout(most).unwrap_or_else(|_| vec!["a notice".to_owned()]);
        let again = "the same command sends it again";
        (!undelivered.is_empty())
            .then(|| format!("notify ({name}): not delivered: {}; {again}", undelivered.join(", ")))
    }
}

/// The thread's side of a channel.
struct Delivery {
    name: &'static str,
    target: Target,
    subject: Subject,
    say: Say,
    closing: Arc<Closing>,
    store: Option<(Writer, EventId)>,
}

impl Delivery {
    /// Delivers until the queue is closed and empty; returns the notices that were not received.
    fn run(mut self, inbox: &Receiver<Notice>) -> Vec<String> {
        let mut left = vec![];
        for notice in inbox {
            match self.deliver(&notice) {
                true => self.record(&notice),
                false => left.push(notice.kind.word().to_owned()),
            }
        }
        left
    }

    /// Tries until the notice is received; false if the program ends first.
    fn deliver(&self, notice: &Notice) -> bool {
        let mut wait = FIRST_WAIT;
        loop {
            match self.target.deliver(notice) {
                Ok(()) => return true,
                Err(why) => {
                    tracing::info!(target: "notify", channel = self.name, notice = notice.id, %why, "not received");
                    if wait == FIRST_WAIT {
                        let kind = notice.kind.word();
                        (self.say)(&format!(
                            "notify ({}): cannot deliver `{kind}`: {why}; trying again",
                            self.name
                        ));
                    }
                }
            }
            if !self.closing.wait(wait) {
                return false;
            }
            wait = (2 * wait).min(LONGEST_WAIT);
        }
    }

    fn record(&mut self, notice: &Notice) {
        tracing::debug!(target: "notify", channel = self.name, notice = notice.id, "received");
        if let Err(error) = self.try_record(notice) {
            (self.say)(&format!("notify ({}): cannot record the receipt of a notice: {error}", self.name));
        }
    }

    fn try_record(&mut self, notice: &Notice) -> Result<(), StoreError> {
        if self.store.is_none() {
            let store = Writer::open(&self.subject.database)?;
            self.store = store.event_named(&self.subject.name)?.map(|event| (store, event));
        }
        match &self.store {
            Some((store, event)) => store.deliver(*event, self.name, &notice.id, now()),
            None => Ok(()),
        }
    }
}

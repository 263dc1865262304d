//! A channel: a queue, and a thread that delivers each notice until it is received.

use super::{
    Say, Subject,
    command::{self, LIMIT},
    notice::Notice,
    webhook::Webhook,
};
use journal::{EventId, StoreError, Writer, now};
use platform::programs::SHELL;
use std::{
    collections::BTreeSet,
    io,
    process::ExitStatus,
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

/// Notices that wait at most. More are sent at the next start.
const QUEUE: usize = 256;
/// The first wait after a failure; each is twice the one before.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Time after which a notice is left to the next start.
const GIVEN_UP: Duration = Duration::from_hours(24);
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
    /// Closed once the program ends, which bounds the time of further attempts.
    queue: Option<SyncSender<Notice>>,
    left: Receiver<Vec<String>>,
}

impl Channel {
    /// Opens a channel; its thread begins at once.
    pub fn open(name: &'static str, target: Target, wants: Wants, subject: Subject, say: Say) -> Self {
        let (queue, inbox) = mpsc::sync_channel(QUEUE);
        let (tell_left, left) = mpsc::sync_channel(1);
        let delivery = Delivery { name, target, subject, say, store: None };
        let work = move || {
            let _nobody_asks = tell_left.send(delivery.run(&inbox));
        };
        if let Err(error) = thread::Builder::new().name(format!("notify-{name}")).spawn(work) {
            tracing::warn!(target: "notify", channel = name, %error, "no thread for a channel");
        }
        Self { name, wants, since: i64::MAX, received: BTreeSet::new(), queue: Some(queue), left }
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
            let _full_or_gone = self.queue.as_ref().map(|queue| queue.try_send(notice.clone()));
        }
    }

    /// Announces the end of the program, which bounds the time of further attempts.
    pub fn hurry(&mut self) {
        self.queue = None;
    }

    /// Waits a bounded time for the deliveries; returns a line about undelivered notices.
    pub fn finish(self) -> Option<String> {
        let Self { name, left, .. } = self;
        // The attempt that is under way may take its own limit.
        let most = PATIENCE + command::LIMIT + HURRIED_WAIT;
        let undelivered = left.recv_timeout(most).unwrap_or_else(|_| vec!["a notice".to_owned()]);
        let again = "the same command sends it again";
        (!undelivered.is_empty())
            .then(|| format!("notify ({name}): not delivered: {}; {again}", undelivered.join(", ")))
    }
}

/// A notice that is not received yet.
struct Attempt {
    notice: Notice,
    /// Time of the next attempt.
    due: Instant,
    /// The wait after it.
    wait: Duration,
    /// Time of the first attempt.
    since: Instant,
}

/// Notices that are not received yet. Each is tried by itself: one that is refused holds up no other.
#[derive(Default)]
struct Attempts(Vec<Attempt>);

impl Attempts {
    fn take(&mut self, notice: Notice, now: Instant) {
        self.0.push(Attempt { notice, due: now, wait: FIRST_WAIT, since: now });
    }

    /// What is tried now: the one that was refused least often, and of these the oldest.
    fn next(&mut self, now: Instant) -> Option<Attempt> {
        let due = self.0.iter().enumerate().filter(|(_, attempt)| attempt.due <= now);
        let (at, _) = due.min_by_key(|(_, attempt)| attempt.wait)?;
        Some(self.0.remove(at))
    }

    /// Tries it again later, sooner if the program ends; returns the notice if it was tried for long enough.
    fn failed(&mut self, attempt: Attempt, now: Instant, is_hurried: bool) -> Option<Notice> {
        let Attempt { notice, wait, since, .. } = attempt;
        if now.saturating_duration_since(since) >= GIVEN_UP {
            return Some(notice);
        }
        let due = now + if is_hurried { wait.min(HURRIED_WAIT) } else { wait };
        self.0.push(Attempt { notice, due, wait: (2 * wait).min(LONGEST_WAIT), since });
        None
    }

    /// The program ends.
    fn hurry(&mut self, now: Instant) {
        self.0.iter_mut().for_each(|attempt| attempt.due = attempt.due.min(now + HURRIED_WAIT));
    }
}

/// The thread's side of a channel.
struct Delivery {
    name: &'static str,
    target: Target,
    subject: Subject,
    say: Say,
    store: Option<(Writer, EventId)>,
}

impl Delivery {
    /// Delivers until the queue is closed and empty; returns the notices that were not received.
    fn run(mut self, inbox: &Receiver<Notice>) -> Vec<String> {
        let (mut attempts, mut left) = (Attempts::default(), vec![]);
        let mut deadline = None;
        loop {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| attempts.0.is_empty() || now >= deadline) {
                left.extend(attempts.0.into_iter().map(|attempt| attempt.notice));
                return left.iter().map(|notice| notice.kind.word().to_owned()).collect();
            }
            if let Some(attempt) = attempts.next(now) {
                match self.attempt(&attempt) {
                    true => self.record(&attempt.notice),
                    false => left.extend(attempts.failed(attempt, Instant::now(), deadline.is_some())),
                }
                continue;
            }
            let pause = attempts.0.iter().map(|attempt| attempt.due.saturating_duration_since(now)).min();
            match (deadline, pause) {
                (Some(_), pause) => thread::sleep(pause.unwrap_or_default()),
                (None, pause) => match inbox.recv_timeout(pause.unwrap_or(LONGEST_WAIT)) {
                    Ok(notice) => attempts.take(notice, now),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        deadline = Some(now + PATIENCE);
                        attempts.hurry(now);
                    }
                },
            }
        }
    }

    /// Tries once; true if the notice is received.
    fn attempt(&self, Attempt { notice, wait, .. }: &Attempt) -> bool {
        let Err(why) = self.target.deliver(notice) else { return true };
        tracing::info!(target: "notify", channel = self.name, notice = notice.id, %why, "not received");
        if *wait == FIRST_WAIT {
            let kind = notice.kind.word();
            (self.say)(&format!("notify ({}): cannot deliver `{kind}`: {why}; trying again", self.name));
        }
        false
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

#[cfg(test)]
mod tests {
    use super::*;
    use plan::NoticeKind;
    use serde_json::Value;

    #[test]
    fn a_notice_that_is_refused_holds_up_no_other_and_is_given_up_by_itself() {
        let notice = |kind| Notice { kind, id: String::new(), at: 0, decided: false, body: Value::Null };
        let (mut attempts, begun) = (Attempts::default(), Instant::now());
        attempts.take(notice(NoticeKind::Restarted), begun);
        let refused = attempts.next(begun).unwrap();
        assert!(attempts.failed(refused, begun, false).is_none());
        attempts.take(notice(NoticeKind::Verdict), begun);
        assert_eq!(attempts.next(begun).unwrap().notice.kind, NoticeKind::Verdict, "at once");
        assert!(attempts.next(begun).is_none(), "the other one waits");
        let mut now = begun;
        let last = loop {
            now += LONGEST_WAIT;
            attempts.take(notice(NoticeKind::End), now);
            assert_eq!(attempts.next(now).unwrap().notice.kind, NoticeKind::End, "a new one comes first");
            let refused = attempts.next(now).unwrap();
            if let Some(last) = attempts.failed(refused, now, false) {
                break last;
            }
        };
        assert_eq!((last.kind, now - begun), (NoticeKind::Restarted, GIVEN_UP));
        assert!(attempts.0.is_empty());
    }
}

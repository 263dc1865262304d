//! Notices of an event for a command or a webhook: a verdict, the end, a halted engine, a restart.
//!
//! Notices follow from the stored entries (`notice`), and the database records the notices that a channel has received.
//! So a notice survives a kill and is delivered once: the next start folds the entries again and sends the missing ones.
//! Only a kill between the receipt and its record repeats a notice, with the same `id`.
//!
//! Notices never delay a game. A reader of the journal folds the committed entries and puts notices into
//! bounded queues, without waiting; each channel has a thread that delivers (`channel`), and a notice that is
//! refused holds up no other. At the end of the program the
//! channels have a bounded time.
//!
//! Words of strangers, such as the names of remote players, stand only in the JSON of a notice, never in a command line
//! or an environment.

mod channel;
mod command;
mod notice;
mod webhook;

use channel::{Channel, Target};
use contest::{fault_limit::FaultLimit, stage::Stage};
use journal::{Moves, Reader, Store, StoreError, Writer, now};
use notice::{Notice, NoticeFold};
use parking_lot::Mutex;
use plan::{NoticeKind, NotifyConfig};
use std::{path::PathBuf, sync::Arc};

/// Shows a line to the followers of an event.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// The event that notices are about.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its database.
    pub database: PathBuf,
    /// Its name.
    pub name: String,
    /// Its stages.
    pub stages: Vec<Stage>,
    /// Limits of faults of its players.
    pub fault_limits: Vec<Option<FaultLimit>>,
}

/// Sends the notices of an event. Clones are handles to the same notifier.
#[derive(Clone)]
pub struct Notifier(Arc<Mutex<State>>);

struct State {
    subject: Subject,
    fold: NoticeFold,
    channels: Vec<Channel>,
    /// Notices of earlier runs, until the event is known to be ours.
    past: Option<Vec<Notice>>,
    /// When this run of the program opened the event, in ms since 1970-01-01 UTC.
    opened: i64,
    say: Say,
}

impl Notifier {
    /// A notifier for a new or a resumed event; `None` without a configured channel.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open(config: &NotifyConfig, subject: Subject, say: Say) -> Result<Option<Self>, StoreError> {
        if !config.is_wanted() {
            return Ok(None);
        }
        let mut fold = NoticeFold::new(&subject);
        let mut past = vec![];
        if subject.database.exists() {
            let store = Store::read(&subject.database)?;
            if let Some(event) = store.event_named(&subject.name)? {
                store.replay(event, Moves::Without, &mut |stamped| past.extend(fold.fold(stamped)))?;
            }
        }
        let channels = channels(config, &subject, &say);
        let (past, opened) = (Some(past), now());
        Ok(Some(Self(Arc::new(Mutex::new(State { subject, fold, channels, past, opened, say })))))
    }

    /// The reader of the journal that finds notices. Its first entry proves that the event is ours.
    pub fn reader(&self) -> Reader {
        let state = self.0.clone();
        Reader::new("notify", move |batch| {
            let mut state = state.lock();
            state.begin();
            for stamped in batch.iter() {
                let due = state.fold.fold(stamped);
                due.iter().for_each(|notice| state.offer(notice));
            }
        })
    }

    /// Sends a notice without an entry; `key` distinguishes it from notices of the same kind in all runs.
    pub fn tell(&self, kind: NoticeKind, key: u64, text: &str) {
        let mut state = self.0.lock();
        state.begin();
        let notice = state.fold.notice(kind, key, now(), text);
        state.offer(&notice);
    }

    /// Sends the notice of the end, for an event without a closing entry.
    pub fn tell_end(&self) {
        let games = self.0.lock().fold.games();
        self.tell(NoticeKind::End, games, &format!("complete after {games} games"));
    }

    /// Delivers the remaining notices within a bounded time; others are reported, and sent at the next start.
    pub fn finish(self) {
        let mut state = self.0.lock();
        state.begin();
        let mut channels = std::mem::take(&mut state.channels);
        let say = state.say.clone();
        drop(state);
        channels.iter_mut().for_each(Channel::hurry);
        for channel in channels {
            if let Some(words) = channel.finish() {
                say(&words);
            }
        }
    }
}

impl State {
    /// Takes up the event: notices of earlier runs that a channel has not received are sent now.
    fn begin(&mut self) {
        let Some(past) = self.past.take() else { return };
        if let Err(error) = self.take_up(&past) {
            (self.say)(&format!("cannot send the notices of earlier runs: {error}"));
        }
    }

    fn take_up(&mut self, past: &[Notice]) -> Result<(), StoreError> {
        let store = Writer::open(&self.subject.database)?;
        let Some(event) = store.event_named(&self.subject.name)? else { return Ok(()) };
        for channel in &mut self.channels {
            channel.since(&store, event, self.opened)?;
            past.iter().for_each(|notice| channel.offer(notice));
        }
        Ok(())
    }

    fn offer(&self, notice: &Notice) {
        self.channels.iter().for_each(|channel| channel.offer(notice));
    }
}

fn channels(config: &NotifyConfig, subject: &Subject, say: &Say) -> Vec<Channel> {
    let NotifyConfig { command, webhook, on_verdict, on } = config;
    let open = |name, target, wants| Channel::open(name, target, wants, subject.clone(), say.clone());
    let chosen = |on: &[NoticeKind]| -> channel::Wants {
        let on = on.to_vec();
        Box::new(move |notice| on.contains(&notice.kind))
    };
    [
        command.clone().map(|command| open("command", Target::Command(command), chosen(on))),
        webhook.clone().map(|url| open("webhook", Target::webhook(&url), chosen(on))),
        on_verdict
            .clone()
            .map(|command| open("on-verdict", Target::Command(command), Box::new(Notice::ends_test))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

//! `[notify]`: where notices of an event go.

use crate::{
    keys::NOTIFY,
    reader::{Table, listed},
};

/// Where notices go. Neither command nor URL is stored with the plan: both may hold secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyConfig {
    /// A command for the shell, which receives a notice on its standard input.
    pub command: Option<String>,
    /// A URL that a notice is sent to by POST.
    pub webhook: Option<String>,
    /// A command that is told how a sequential test ended, and nothing else.
    pub on_verdict: Option<String>,
    /// The kinds of notices for the command and the webhook.
    pub on: Vec<NoticeKind>,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// A sequential test reached its verdict.
    Verdict,
    /// The event was played to its end.
    End,
    /// The event ended before its end because engines are halted.
    FaultLimit,
    /// An engine reached its limit of faults: no further game of it begins.
    EngineHalted,
    /// The event, or the host, was started again.
    Restarted,
    /// The disk is nearly full, or has room again.
    Disk,
}

impl NoticeKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Verdict, Self::End, Self::FaultLimit, Self::EngineHalted, Self::Restarted, Self::Disk];

    /// Its word in configurations and notices.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::End => "end",
            Self::FaultLimit => "fault-limit",
            Self::EngineHalted => "engine-halted",
            Self::Restarted => "restarted",
            Self::Disk => "disk",
        }
    }
}

impl Default for NotifyConfig {
    fn default() -> Self {
        Self { command: None, webhook: None, on_verdict: None, on: NoticeKind::ALL.to_vec() }
    }
}

impl NotifyConfig {
    /// True if anybody is told anything.
    pub fn is_wanted(&self) -> bool {
        self.command.is_some() || self.webhook.is_some() || self.on_verdict.is_some()
    }

    pub(crate) fn read(root: &Table<'_>) -> Self {
        let table = root.table("notify", &NOTIFY);
        let command = table.text("command");
        let webhook = table.text("webhook");
        if webhook.as_deref().is_some_and(|url| !is_url(url)) {
            table.fault("webhook", "is no URL; write `http://` or `https://`, then a host");
        }
        if command.as_deref().is_some_and(|command| command.trim().is_empty()) {
            table.fault("command", "is empty");
        }
        if table.is_given() && command.is_none() && webhook.is_none() {
            table.fault("", "notifies nobody: set `command` or `webhook`");
        }
        let on = kinds(&table);
        table.refuse_unknown();
        Self { command, webhook, on_verdict: None, on }
    }
}

fn kinds(table: &Table<'_>) -> Vec<NoticeKind> {
    let Some(item) = table.item("on") else { return NoticeKind::ALL.to_vec() };
    let words = NoticeKind::ALL.map(NoticeKind::word);
    let chosen = item.elements(&format!("a list of {}", listed(words, "and")));
    let kind = |word: &str| NoticeKind::ALL.into_iter().find(|kind| kind.word() == word);
    chosen.iter().filter_map(|item| kind(item.word(&words)?)).collect()
}

fn is_url(url: &str) -> bool {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    host.is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['))
        && !url.contains(char::is_whitespace)
}

//! `[notify]`: where notices of an event go.

use crate::{
    keys::{
        Fallback::Says,
        Kind::{Other, Text},
    },
    reader::{Table, listed},
    settings::settings,
};

settings! {
    /// Where notices go. Neither command nor URL is stored with the plan: both may hold secrets.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NotifyConfig in "`[notify]`", "Also in a file of `renmei floodgate`. A notice is JSON, described in the guide to \
        results; each is delivered once, and tried again until it is received, at the next start if need be."
    with {
        /// A command for the shell that gets the verdict of a sequential test and no other notice.
        on_verdict: Option<String> = None;
    };

    command: Option<String> = None shown Says("none"), Text,
        "a command for the shell; a notice stands on its standard input";
    webhook: Option<String> = None shown Says("none"), Text,
        "a URL, `http://` or `https://`; a notice is the body of a POST";
    on: Vec<NoticeKind> = (NoticeKind::ALL.to_vec()) by kinds shown Says("all"), Other("list of words"),
        "`\"verdict\"`: of a sequential test; `\"end\"`: everything was played; `\"engine-halted\"`: an engine reached its limit of faults; `\"fault-limit\"`: the event cannot go on without such engines; `\"restarted\"`: the program was started again with the event; `\"disk\"`: the disk is nearly full, or has room again";
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
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
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its word in configurations and notices.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

impl NotifyConfig {
    /// True if anybody is told anything.
    pub fn is_wanted(&self) -> bool {
        self.command.is_some() || self.webhook.is_some() || self.on_verdict.is_some()
    }

    pub(crate) fn of(root: &Table<'_>) -> Self {
        let table = root.table("notify", &Self::SECTION);
        let config = Self::read(&table);
        let (command, webhook) = (config.command.as_deref(), config.webhook.as_deref());
        if webhook.is_some_and(|url| !is_url(url)) {
            table.fault("webhook", "is no URL; write `http://` or `https://`, then a host");
        }
        if command.is_some_and(|command| command.trim().is_empty()) {
            table.fault("command", "is empty");
        }
        if table.is_given() && command.is_none() && webhook.is_none() {
            table.fault("", "notifies nobody: set `command` or `webhook`");
        }
        config
    }
}

fn kinds(table: &Table<'_>) -> Option<Vec<NoticeKind>> {
    let item = table.item("on")?;
    let words: Vec<_> = NoticeKind::ALL.iter().map(|kind| kind.word()).collect();
    let chosen = item.elements(&format!("a list of {}", listed(words.iter().copied(), "and")));
    let kind = |word: &str| NoticeKind::ALL.iter().copied().find(|kind| kind.word() == word);
    Some(chosen.iter().filter_map(|item| kind(item.word(&words)?)).collect())
}

fn is_url(url: &str) -> bool {
    let host = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    host.is_some_and(|host| host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '['))
        && !url.contains(char::is_whitespace)
}

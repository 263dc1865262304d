//! What the lines mean that a nats-server prints.

/// Lines of its log that are kept for an error message.
const LAST: usize = 4;
/// Longest line that is looked at, in bytes.
pub(crate) const LONGEST_LINE: u64 = 4_096;

/// What a line of the log says, as far as anybody here wants to know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said<'a> {
    /// Its version.
    Version(&'a str),
    /// The port of its clients.
    Listening(u16),
    /// It takes connections.
    Ready,
    /// It has read its configuration again.
    Reloaded,
    /// It has not, and why.
    NotReloaded(&'a str),
    /// Somebody could not say who it is.
    Refused,
    /// Why it ends.
    Fatal(&'a str),
    /// Something does not work.
    Error(&'a str),
    /// Nothing of interest.
    Nothing,
}

impl<'a> Said<'a> {
    /// What a line says: `[PROCESS] [LEVEL] TEXT`, or a complaint about the configuration file without either.
    pub fn of(line: &'a str) -> Self {
        let Some((level, text)) = level_and_text(line) else {
            return line.strip_prefix("nats-server: ").map_or(Self::Nothing, Self::Fatal);
        };
        match level {
            "INF" => Self::notice(text),
            "FTL" => Self::Fatal(text),
            "ERR" if text.contains("authentication error") => Self::Refused,
            "ERR" if text.starts_with("Failed to reload") => Self::NotReloaded(text),
            // A stranger that speaks something else, or a worker whose line broke.
            "ERR" if text.contains(" - cid:") => Self::Nothing,
            "ERR" => Self::Error(text),
            _ => Self::Nothing,
        }
    }

    fn notice(text: &'a str) -> Self {
        let after = |start| text.strip_prefix(start).map(str::trim);
        if let Some(version) = after("  Version:") {
            return Self::Version(version);
        }
        if let Some(address) = after("Listening for client connections on ") {
            let port = address.rsplit(':').next().and_then(|port| port.parse().ok());
            return port.map_or(Self::Nothing, Self::Listening);
        }
        match text {
            "Server is ready" => Self::Ready,
            // Newer servers add a hash of the file.
            text if text.starts_with("Reloaded server configuration") => Self::Reloaded,
            _ => Self::Nothing,
        }
    }
}

fn level_and_text(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.strip_prefix('[')?.split_once("] [")?;
    rest.split_once("] ")
}

/// True if a version, `2.9.10` or `v2.10.0-beta`, has what a hub needs: pieces of files are read by name since 2.9.
pub(crate) fn is_new_enough(version: &str) -> bool {
    is_at_least(version, (2, 9))
}

/// True if a version is one or a later one.
pub(crate) fn is_at_least(version: &str, least: (u32, u32)) -> bool {
    let mut numbers = version.trim_start_matches('v').split(['.', '-']).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= least,
        _ => false,
    }
}

/// The last lines that say something.
#[derive(Debug, Default)]
pub(crate) struct LastLines(std::collections::VecDeque<String>);

impl LastLines {
    pub fn push(&mut self, line: &str) {
        let text = level_and_text(line).map_or(line, |(_, text)| text).trim();
        // The emblem that the server draws of its name says nothing.
        if !text.chars().any(char::is_alphanumeric) {
            return;
        }
        if self.0.len() == LAST {
            self.0.pop_front();
        }
        self.0.push_back(text.chars().filter(|c| !c.is_control()).take(300).collect());
    }

    pub fn text(&self) -> String {
        match self.0.is_empty() {
            true => "none".to_owned(),
            false => self.0.iter().map(String::as_str).collect::<Vec<_>>().join("; "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_real_log_are_understood() {
        for (line, expected) in [
            ("[12] [INF]   Version:  2.9.10", Said::Version("2.9.10")),
            ("[12] [INF] Listening for client connections on 0.0.0.0:4222", Said::Listening(4222)),
            ("[12] [INF] Listening for client connections on [::]:4222", Said::Listening(4222)),
            ("[12] [INF] Server is ready", Said::Ready),
            ("[12] [INF] Reloaded server configuration", Said::Reloaded),
            ("[12] [INF] Starting JetStream", Said::Nothing),
            ("[12] [ERR] 10.0.0.1:5 - cid:9 - authentication error - Nkey \"UABC\"", Said::Refused),
            ("[12] [ERR] 10.0.0.1:5 - cid:9 - Client parser ERROR, state=0", Said::Nothing),
            (
                "nats-server: hub/nats.conf:3:1: unknown field \"x\"",
                Said::Fatal("hub/nats.conf:3:1: unknown field \"x\""),
            ),
            ("", Said::Nothing),
            ("[", Said::Nothing),
        ] {
            assert_eq!(Said::of(line), expected, "{line}");
        }
    }

    #[test]
    fn servers_before_2_9_are_too_old() {
        assert!(["2.9.0", "2.9.10", "v2.12.0-beta.1", "3.0"].into_iter().all(is_new_enough));
        assert!(!["2.8.4", "1.99.0", "", "nginx/1.2", "2"].into_iter().any(is_new_enough));
    }
}

//! What the lines mean that a nats-server prints.

/// Lines of its log that are kept for an error message.
const LAST: usize = 4;
/// Longest line that is looked at, in bytes.
pub(crate) const LONGEST_LINE: u64 = 4_096;

/// What a line of the log says, as far as anybody here wants to know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said<'a> {
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
        if let Some(address) = text.strip_prefix("Listening for client connections on ") {
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
            ("[12] [INF]   Version:  2.9.10", Said::Nothing),
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
}

//! Conversations between clients and a CSA host, as text files.
//!
//! A line of a file is `[<seconds>] <client> <mark> <text>`. `>` marks a line of the client, `<` a line of the host,
//! `*` a note: `[connected]`, `[client closes the socket]`, `[server closed the connection]`, `[waits for TEXT]`. An
//! empty line of a client is written `(LF only)`. Seconds count from the beginning; golden files have none, because
//! clients in them wait only for lines. Lines that start with `#` are comments, those with `#:` are settings of the
//! host.
//!
//! Golden files are recorded by an ignored test of the test program `csa`: it replays the clients' lines and notes of
//! every file against the host and writes each file again with the host's lines. So a new conversation is written with
//! the clients' lines alone. The first game begins in second 20260101000001, the next in 20260101000002, and so on, so
//! that a client's line can name a game before the recording. A change in a recorded file is a change of the protocol
//! and must be reviewed as one.
//!
//! ```text
//! cargo test --test csa recorded_again -- --ignored
//! ```

use std::path::Path;

/// A step of a conversation on one connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The client connected.
    Connected,
    /// The client sent this line.
    Said(String),
    /// The host sent this line.
    Heard(String),
    /// The client closed the connection.
    ClientCloses,
    /// The host closed the connection.
    ServerCloses,
    /// The client waits until the host has sent a line with this prefix.
    Waits(String),
    /// A different host from here on.
    Server,
}

/// A line of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Seconds since the beginning.
    pub at: f64,
    /// Name of the connection.
    pub who: String,
    /// The step.
    pub step: Step,
}

/// A conversation file.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// File name without extension.
    pub name: String,
    /// Settings of the host, by key.
    pub settings: Vec<(String, String)>,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// All golden conversations.
#[must_use]
pub fn golden() -> Vec<Conversation> {
    all(&super::file("conversations"))
}

/// All conversations recorded from floodgate's server.
#[must_use]
pub fn oracle() -> Vec<Conversation> {
    all(&super::oracle("protocol/transcripts"))
}

fn all(directory: &Path) -> Vec<Conversation> {
    super::files(directory).iter().map(|path| Conversation::load(path)).collect()
}

impl Conversation {
    /// Reads a file.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn load(path: &Path) -> Self {
        let text = super::text(path);
        let setting = |line: &str| {
            let (key, value) = line.strip_prefix("#:")?.split_once('=')?;
            Some((key.trim().to_owned(), value.trim().to_owned()))
        };
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            settings: text.lines().filter_map(setting).collect(),
            lines: text.lines().filter_map(Line::read).collect(),
        }
    }

    /// Lines of one connection.
    pub fn of(&self, who: &str) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.who == who)
    }
}

impl Line {
    /// Parses a line; `None` for comments and irrelevant notes.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let line = Some(line.trim_start()).filter(|line| !line.starts_with('#'))?;
        let (first, rest) = line.split_once(' ')?;
        let (at, who, rest) = match first.parse() {
            Ok(at) => {
                let (who, rest) = rest.trim_start().split_once(' ')?;
                (at, who, rest)
            }
            Err(_) => (0.0, first, rest),
        };
        let (mark, said) = rest.trim_start().split_at_checked(1)?;
        let said = said.strip_prefix(' ').unwrap_or(said);
        let plain = if matches!(said, "(LF only)" | "(CRLF only)") { "" } else { said };
        let step = match (mark, said) {
            (">", _) => Step::Said(plain.strip_suffix("\\r\\n").unwrap_or(plain).to_owned()),
            ("<", _) => Step::Heard(plain.to_owned()),
            (_, "[connected]") => Step::Connected,
            (_, "[client closes the socket]") => Step::ClientCloses,
            (_, "[server closed the connection]") => Step::ServerCloses,
            (_, "least-time-per-move 1") => Step::Server,
            _ => Step::Waits(said.strip_prefix("[waits for ")?.strip_suffix(']')?.to_owned()),
        };
        Some(Self { at, who: who.to_owned(), step })
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plain = |line: &str| if line.is_empty() { "(LF only)".to_owned() } else { line.to_owned() };
        let (mark, text) = match &self.step {
            Step::Connected => ('*', "[connected]".to_owned()),
            Step::Said(line) => ('>', plain(line)),
            Step::Heard(line) => ('<', plain(line)),
            Step::ClientCloses => ('*', "[client closes the socket]".to_owned()),
            Step::ServerCloses => ('*', "[server closed the connection]".to_owned()),
            Step::Waits(line) => ('*', format!("[waits for {line}]")),
            Step::Server => ('*', "least-time-per-move 1".to_owned()),
        };
        write!(f, "{} {mark} {text}", self.who)
    }
}

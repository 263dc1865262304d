//! Result of a check: a table for people, JSON for scripts.

use referee::number::number;
use serde::Serialize;
use std::{fmt, time::Duration};

/// Longest line shown, in characters.
pub const SHOWN_WIDTH: usize = 160;
/// Advice on an answer that loses a game.
pub const LOSES: &str = "every such answer loses a game, and no configuration avoids this";

/// Verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Correct.
    Pass,
    /// Worth knowing, neither good nor bad.
    Note,
    /// Needs configuration or costs something, but then loses no game.
    Warn,
    /// Would lose games or hold up an event.
    Fault,
}

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Verdict.
    pub verdict: Verdict,
    /// Name of the check.
    pub check: String,
    /// The figure or fact observed.
    pub seen: String,
    /// Advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Lines of the conversation that show it: `>` sent, `<` received, `!` stderr.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// The result of all checks of an engine.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The command that was checked.
    pub command: String,
    /// `id name`.
    pub name: Option<String>,
    /// `id author`.
    pub author: Option<String>,
    /// Duration of the checks in seconds.
    pub seconds: f64,
    /// True if no row is a fault.
    pub passed: bool,
    /// The checks, in order.
    pub rows: Vec<Row>,
    /// A configuration table with the keys that this engine needs.
    pub toml: String,
}

impl Row {
    /// A row without advice and lines.
    pub fn new(verdict: Verdict, check: impl Into<String>, seen: impl Into<String>) -> Self {
        Self { verdict, check: check.into(), seen: seen.into(), advice: None, lines: Vec::new() }
    }

    /// A row without a fault.
    pub fn pass(check: impl Into<String>, seen: impl Into<String>) -> Self {
        Self::new(Verdict::Pass, check, seen)
    }

    /// A row with a fact.
    pub fn note(check: impl Into<String>, seen: impl Into<String>) -> Self {
        Self::new(Verdict::Note, check, seen)
    }

    /// A row with a warning.
    pub fn warn(check: impl Into<String>, seen: impl Into<String>) -> Self {
        Self::new(Verdict::Warn, check, seen)
    }

    /// A row with a fault.
    pub fn fault(check: impl Into<String>, seen: impl Into<String>) -> Self {
        Self::new(Verdict::Fault, check, seen)
    }

    /// Renames the check.
    #[must_use]
    pub fn named(mut self, check: impl Into<String>) -> Self {
        self.check = check.into();
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn advising(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Adds lines of the conversation.
    #[must_use]
    pub fn showing(mut self, lines: Vec<String>) -> Self {
        self.lines = lines;
        self
    }
}

impl Report {
    /// True if no row is a fault.
    pub fn passed(&self) -> bool {
        self.passed
    }

    /// Number of rows with a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Fault => "FAULT",
        })
    }
}

impl Row {
    /// Verdict, check and observation in one line.
    pub fn line(&self) -> String {
        format!("{:<5}  {:<24}  {}", self.verdict, self.check, self.seen)
    }
}

/// The row with lines and advice, as printed while the checks run.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line())?;
        for line in &self.lines {
            write!(f, "\n{:9}| {line}", "")?;
        }
        match &self.advice {
            Some(advice) => write!(f, "\n{:7}-> {advice}", ""),
            None => Ok(()),
        }
    }
}

/// The summary after the rows: the engine, the number of rows by verdict, the configuration.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("unnamed engine");
        writeln!(f, "\n{name}: `{}`", self.command)?;
        let passed = self.count(Verdict::Pass);
        let others = [(Verdict::Note, "note"), (Verdict::Warn, "warning"), (Verdict::Fault, "fault")];
        let others = others.map(|(verdict, noun)| number(self.count(verdict), noun)).join(", ");
        writeln!(f, "{passed} passed, {others} in {:.0} s", self.seconds)?;
        if self.toml.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nFor the configuration of an event:\n\n{}", self.toml.trim_end())
    }
}

/// Shortens a long line in the middle.
pub fn cut(line: &str) -> String {
    let count = line.chars().count();
    if count <= SHOWN_WIDTH {
        return line.to_owned();
    }
    let half = SHOWN_WIDTH / 2;
    let head: String = line.chars().take(half).collect();
    let tail: String = line.chars().skip(count - half).collect();
    format!("{head} ... {tail}")
}

/// Adds a position and its answer to the lines shown with a fault, up to `most` of them.
pub fn show(lines: &mut Vec<String>, most: usize, position: &str, answer: String) {
    if lines.len() < 2 * most {
        lines.extend([cut(&format!("> position {position}")), answer]);
    }
}

/// A duration: milliseconds below ten seconds, else seconds.
pub fn text(time: Duration) -> String {
    match time.as_millis() {
        ms @ ..10_000 => format!("{ms} ms"),
        ms => format!("{:.1} s", ms as f64 / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            command: "./engine".to_owned(),
            name: Some("Engine 1".to_owned()),
            author: None,
            seconds: 12.4,
            passed: false,
            rows: vec![
                Row::new(Verdict::Pass, "usi", "`usiok` after 3 ms"),
                Row::new(Verdict::Fault, "stop", "no answer within 1 s")
                    .showing(vec!["> stop".to_owned()])
                    .advising("raise `limits.stop`"),
            ],
            toml: "[[engines]]\n".to_owned(),
        }
    }

    #[test]
    fn the_table_shows_verdicts_with_lines_and_advice() {
        assert_eq!(
            report().rows.iter().map(|row| format!("{row}\n")).collect::<String>() + &report().to_string(),
            "\
pass   usi                       `usiok` after 3 ms
FAULT  stop                      no answer within 1 s
         | > stop
       -> raise `limits.stop`

Engine 1: `./engine`
1 passed, 0 notes, 0 warnings, 1 fault in 12 s

For the configuration of an event:

[[engines]]
"
        );
    }

    #[test]
    fn the_json_report_has_the_same_rows() {
        let json = serde_json::to_value(report()).unwrap();
        assert_eq!(json["passed"], false);
        assert_eq!(json["rows"][1]["verdict"], "fault");
        assert_eq!(json["rows"][0].get("advice"), None);
    }
}

//! Lines that tell of an event while it is played, after it is on the disk.

use super::Head;
use notation::printable;
use referee::{
    AbortBy, Outcome, WinBy,
    event::{Event, GameEnded, Stamped},
};
use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    path::Path,
};

/// A file that takes every event as a line of JSON.
#[derive(Debug)]
pub struct EventFile(Option<BufWriter<File>>);

impl EventFile {
    /// Opens a file, or makes it; lines are added at its end.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self(Some(BufWriter::new(file))))
    }

    /// Adds a committed batch. When the file cannot be written any more, stderr says so once and the event goes on.
    pub fn write(&mut self, batch: &[Stamped]) {
        if let Some(Err(error)) = self.0.as_mut().map(|to| lines(to, batch)) {
            let _nobody_reads = writeln!(io::stderr(), "events are no longer written: {error}");
            self.0 = None;
        }
    }
}

/// Tells what was committed: a line per game for people, and every event as a line of JSON for programs.
pub struct Announcer {
    head: Head,
    people: Option<Box<dyn Write + Send>>,
    programs: Option<EventFile>,
    total: Option<u64>,
    games: u64,
}

impl Announcer {
    /// For an event of `total` games, where that is known, of which `games` were played before.
    #[must_use]
    pub fn new(head: Head, total: Option<u64>, games: u64) -> Self {
        Self { head, people: None, programs: None, total, games }
    }

    /// Tells people here.
    #[must_use]
    pub fn people(mut self, to: Box<dyn Write + Send>) -> Self {
        self.people = Some(to);
        self
    }

    /// Tells programs here.
    #[must_use]
    pub fn programs(mut self, to: EventFile) -> Self {
        self.programs = Some(to);
        self
    }

    /// Tells of a committed batch. A reader that is gone is told nothing more; the event goes on.
    pub fn tell(&mut self, batch: &[Stamped]) {
        if let Some(programs) = &mut self.programs {
            programs.write(batch);
        }
        for stamped in batch {
            let Some(line) = self.line(&stamped.event) else { continue };
            if self.people.as_mut().is_some_and(|to| writeln!(to, "{line}").is_err()) {
                self.people = None;
            }
        }
    }

    fn line(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Opened(opened) => {
                let how = if opened.resumed { "goes on" } else { "begins" };
                Some(format!("{} {how}: {}", opened.name, opened.format))
            }
            Event::GameEnded(end) => Some(self.game_line(end)),
            Event::Bye { round, player, .. } => {
                Some(format!("round {round}: {} has a bye", self.head.player(*player)))
            }
            Event::Fault { text, .. } => Some(format!("fault:{}", indented(text))),
            Event::Verdict { verdict, llr, pairs } => {
                Some(format!("verdict after {pairs} pairs: {verdict} (LLR {llr:.2})"))
            }
            Event::GameStarted(_) | Event::Moved(_) | Event::Memory { .. } | Event::Closed => None,
        }
    }

    fn game_line(&mut self, end: &GameEnded) -> String {
        self.games += u64::from(end.outcome.counts() && !end.replayed);
        let total = self.total.map(|total| format!("/{total}")).unwrap_or_default();
        let (black, white) = (self.head.player(end.pairing.black), self.head.player(end.pairing.white));
        let result = match end.outcome {
            Outcome::Win { winner: referee::Color::Black, .. } => "1-0",
            Outcome::Win { .. } => "0-1",
            Outcome::Draw { .. } => "1/2",
            Outcome::Aborted { .. } => "---",
        };
        let mut line = format!(
            "{}{total}  {black} - {white}  {result}  {} ({} plies)",
            self.games,
            end.outcome.cause(),
            end.plies
        );
        if is_dispute(end.outcome) {
            line.push_str(&indented(&end.evidence));
        }
        line
    }
}

/// Lines of evidence under the line they belong to.
fn indented(text: &str) -> String {
    text.lines().take(50).map(|line| format!("\n      {}", printable(line.as_bytes()))).collect()
}

/// Endings that somebody will ask about.
fn is_dispute(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Win { by, .. } => matches!(
            by,
            WinBy::Time
                | WinBy::Disconnection
                | WinBy::IllegalMove(_)
                | WinBy::IllegalDeclaration
                | WinBy::Default
        ),
        Outcome::Draw { .. } => false,
        Outcome::Aborted { by } => by != AbortBy::Stopped,
    }
}

fn lines(to: &mut impl Write, batch: &[Stamped]) -> io::Result<()> {
    for stamped in batch {
        serde_json::to_writer(&mut *to, stamped)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

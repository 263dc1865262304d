//! The state of an examination: the engine as it runs, what is known of it, what was found.

use super::{
    info::InfoTally,
    report::{Report, Row, Verdict},
    settings::Settings,
    talk::{Line, Silence, Talk},
};
use notation::usi::{EngineLine, OptionDecl};
use plan::GoForms;
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// How long an engine may take beyond its time before it counts as silent.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Time between an answer and the next question: an opponent's, in a game.
const BREATH: Duration = Duration::from_millis(5);
/// Lines of the protocol shown with a fault.
const PROTOCOL: usize = 6;
/// Lines of stderr shown with a fault.
const STDERR: usize = 3;
/// Characters shown of each.
const SHOWN_WIDTH: usize = 160;

/// An examination under way.
pub struct Exam {
    /// What is checked.
    pub settings: Settings,
    /// What is known of the engine.
    pub facts: Facts,
    /// What its `info` lines were like.
    pub infos: InfoTally,
    /// Answers that did not come at first, but when it was asked again.
    pub lapses: Vec<Failure>,
    /// Lines outside the protocol, from every process.
    pub noise: BTreeSet<String>,
    rows: Vec<Row>,
    talk: Option<Talk>,
    began: Instant,
    progress: fn(&Row),
}

/// What is known of the engine: what its configuration is made from.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// `id name`.
    pub name: Option<String>,
    /// `id author`.
    pub author: Option<String>,
    /// The options it declared.
    pub options: Vec<OptionDecl>,
    /// The forms of `go` it takes.
    pub go: GoForms,
    /// It ponders as it should.
    pub ponders: bool,
    /// The longest time from its first `isready` to `readyok`.
    pub ready: Duration,
    /// The longest time of a later one.
    pub reload: Duration,
    /// The longest time from `stop` to `bestmove`.
    pub stop: Duration,
    /// The longest overrun of its time.
    pub overrun: Duration,
    /// Cores it was seen to keep busy.
    pub cores: f64,
    /// With main time it is late, as if it read its opponent's clock.
    pub misreads_clock: bool,
    /// It holds more memory after every game.
    pub grows: bool,
}

/// An answer to `go`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The word behind `bestmove`.
    pub mv: String,
    /// The time it took.
    pub took: Duration,
    /// Its last `info` lines.
    pub infos: Vec<String>,
}

/// The engine did not answer.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What happened.
    pub what: String,
    /// Its process is gone, by its own doing.
    pub ended: bool,
    /// The lines that show it.
    pub lines: Vec<String>,
}

impl Failure {
    /// There is no process to talk to.
    #[must_use]
    pub fn not_running(why: impl Into<String>) -> Self {
        Self { what: why.into(), ended: true, lines: Vec::new() }
    }

    /// The failure as a row.
    #[must_use]
    pub fn row(self, verdict: Verdict, check: &str) -> Row {
        Row::new(verdict, check, self.what).showing(self.lines)
    }
}

impl Exam {
    /// An examination in which the engine has just been started and nothing has been said.
    #[must_use]
    pub fn new(settings: Settings, talk: Talk, progress: fn(&Row)) -> Self {
        Self {
            settings,
            facts: Facts { cores: 1.0, ..Facts::default() },
            infos: InfoTally::default(),
            lapses: Vec::new(),
            noise: BTreeSet::new(),
            rows: Vec::new(),
            talk: Some(talk),
            began: Instant::now(),
            progress,
        }
    }

    /// Notes what was found.
    pub fn add(&mut self, row: Row) {
        (self.progress)(&row);
        self.rows.push(row);
    }

    /// The engine, started anew and made ready if it is gone.
    ///
    /// # Errors
    /// When it cannot be.
    pub async fn engine(&mut self) -> Result<&mut Talk, Failure> {
        if self.talk.is_none() {
            self.restart().await?;
        }
        self.talk.as_mut().ok_or_else(|| Failure::not_running("it is not running"))
    }

    async fn restart(&mut self) -> Result<(), Failure> {
        let started = Talk::start(&self.settings.plan).await;
        self.talk = Some(started.map_err(|error| Failure::not_running(error.to_string()))?);
        let limits = self.settings.plan.limits;
        self.usi(|_| {}).await?;
        self.set_options();
        self.ready(limits.ready).await?;
        Ok(())
    }

    /// Sends `usi` and hears the engine out to `usiok`.
    ///
    /// # Errors
    /// When `usiok` does not come in time.
    pub async fn usi(&mut self, mut heard: impl FnMut(&EngineLine)) -> Result<Duration, Failure> {
        let limit = self.settings.plan.limits.start;
        let talk = self.engine_running()?;
        let since = talk.send(&["usi"]);
        let heard = talk.wait(since + limit, |line| {
            heard(line);
            *line == EngineLine::UsiOk
        });
        match heard.await {
            Ok(line) => Ok(line.at.saturating_duration_since(since)),
            Err(silence) => Err(self.failed("usiok", limit, silence).await),
        }
    }

    /// Sets the options asked for on the command line.
    pub fn set_options(&mut self) {
        let options = self.settings.plan.options.clone();
        let Some(talk) = &mut self.talk else { return };
        for (name, value) in options {
            let value = if value.is_empty() { String::new() } else { format!(" value {value}") };
            talk.send(&[&format!("setoption name {name}{value}")]);
        }
    }

    /// `isready` until `readyok`, then `usinewgame`.
    ///
    /// # Errors
    /// When `readyok` does not come within `limit`.
    pub async fn ready(&mut self, limit: Duration) -> Result<Duration, Failure> {
        let talk = self.engine_running()?;
        match talk.ready(limit).await {
            Ok(took) => {
                talk.send(&["usinewgame"]);
                Ok(took)
            }
            Err(silence) => Err(self.failed("readyok", limit, silence).await),
        }
    }

    /// Asks for a move.
    ///
    /// # Errors
    /// When none comes within `limit` and [`PATIENCE`]; an engine that answers `stop` then runs on.
    pub async fn ask(&mut self, position: &str, go: &str, limit: Duration) -> Result<Answer, Failure> {
        let talk = self.engine().await?;
        talk.catch_up();
        talk.infos.clear();
        let since = talk.send(&[&format!("position {position}"), go]);
        self.answer(since, limit + PATIENCE).await
    }

    /// Asks for a move, and once more if none comes: one that does not come a second time is no accident.
    ///
    /// # Errors
    /// As [`Exam::ask`].
    pub async fn ask_again(&mut self, position: &str, go: &str, limit: Duration) -> Result<Answer, Failure> {
        tokio::time::sleep(BREATH).await;
        let first = match self.ask(position, go, limit).await {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let answer = self.ask(position, go, limit).await?;
        self.lapses.push(first);
        Ok(answer)
    }

    /// Waits for the answer to a question asked at `since`.
    ///
    /// # Errors
    /// As [`Exam::ask`].
    pub async fn answer(&mut self, since: Instant, limit: Duration) -> Result<Answer, Failure> {
        let talk = self.engine_running()?;
        match talk.wait(since + limit, is_best_move).await {
            Ok(line) => {
                let infos = std::mem::take(&mut talk.infos).into();
                let took = line.at.saturating_duration_since(since);
                Ok(Answer { mv: best_move(line), took, infos })
            }
            Err(silence) => Err(self.failed("bestmove", limit, silence).await),
        }
    }

    /// What to say of an engine that did not answer. It is ended, unless it answers `stop`.
    pub async fn failed(&mut self, wanted: &str, limit: Duration, silence: Silence) -> Failure {
        let Some(mut talk) = self.talk.take() else {
            return Failure::not_running("it is not running");
        };
        let mut what = match silence {
            Silence::Ended => talk.ending().await,
            Silence::Late => format!("no `{wanted}` within {}", text(limit)),
        };
        let lines = shown(&talk.trace.report());
        let ended = silence == Silence::Ended;
        let stops = silence == Silence::Late && wanted == "bestmove";
        if stops {
            let since = talk.send(&["stop"]);
            if talk.wait(since + Duration::from_secs(2), is_best_move).await.is_ok() {
                self.talk = Some(talk);
                what += "; it answered `stop`";
                return Failure { what, ended, lines };
            }
            what += ", nor after `stop`";
        }
        self.noise.append(&mut talk.noise);
        talk.kill().await;
        Failure { what, ended, lines }
    }

    /// The running engine, taken out: it is not used again.
    pub fn take_engine(&mut self) -> Option<Talk> {
        self.talk.take()
    }

    /// Answers that nobody had asked for since this was last called.
    pub fn unasked(&mut self) -> Vec<String> {
        let Some(talk) = &mut self.talk else { return vec![] };
        talk.catch_up();
        std::mem::take(&mut talk.unasked)
    }

    /// The last lines of the conversation, as they are shown with a fault.
    #[must_use]
    pub fn last_lines(&self) -> Vec<String> {
        self.talk.as_ref().map(|talk| shown(&talk.trace.report())).unwrap_or_default()
    }

    fn engine_running(&mut self) -> Result<&mut Talk, Failure> {
        self.talk.as_mut().ok_or_else(|| Failure::not_running("it is not running"))
    }

    /// Everything that was found.
    #[must_use]
    pub fn report(self) -> Report {
        let plan = &self.settings.plan;
        let command = std::iter::once(plan.command.display().to_string()).chain(plan.args.iter().cloned());
        Report {
            command: command.collect::<Vec<_>>().join(" "),
            name: self.facts.name.clone(),
            author: self.facts.author.clone(),
            seconds: self.began.elapsed().as_secs_f64(),
            passed: self.rows.iter().all(|row| row.verdict != Verdict::Fault),
            toml: super::advice::toml(plan, &self.facts),
            rows: self.rows,
        }
    }
}

/// Whether a line answers `go`.
#[must_use]
pub fn is_best_move(line: &EngineLine) -> bool {
    matches!(line, EngineLine::BestMove { .. }) || *line == EngineLine::Unknown("bestmove".to_owned())
}

fn best_move(line: Line) -> String {
    match line.said {
        EngineLine::BestMove { mv, .. } => mv,
        _ => String::new(),
    }
}

/// The last lines of a trace: the protocol without its crowd of `info` lines, then stderr.
#[must_use]
pub fn shown(report: &str) -> Vec<String> {
    let lines = || report.lines().map(str::trim_start);
    let last_info = lines().rfind(|line| line.starts_with("< info"));
    let stderr: Vec<_> = lines().filter(|line| line.starts_with('!')).map(cut).collect();
    let protocol: Vec<_> = lines()
        .filter(|line| !line.starts_with('!') && (!line.starts_with("< info") || Some(*line) == last_info))
        .map(cut)
        .collect();
    let last = |lines: &[String], count: usize| lines[lines.len().saturating_sub(count)..].to_vec();
    [last(&protocol, PROTOCOL), last(&stderr, STDERR)].concat()
}

/// A line that fits a page: a long one loses its middle.
#[must_use]
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

/// A time for people: milliseconds up to ten seconds.
#[must_use]
pub fn text(time: Duration) -> String {
    match time.as_millis() {
        ms @ ..10_000 => format!("{ms} ms"),
        ms => format!("{:.1} s", ms as f64 / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_shows_what_was_said_but_not_every_info() {
        let report = "  > go nodes 1\n  < info depth 1\n  < info depth 2\n  < bestmove 7g7e\n  ! oops\n";
        assert_eq!(shown(report), ["> go nodes 1", "< info depth 2", "< bestmove 7g7e", "! oops"]);
        let long = shown(&format!("  > position {}\n", "7g7f ".repeat(100)));
        assert!(long[0].starts_with("> position 7g7f") && long[0].chars().count() <= SHOWN_WIDTH + 5);
    }
}

//! State of an examination: the running engine, the facts known about it, the results so far.

use super::{
    advice::{self, Facts},
    info::InfoTally,
    report::{Report, Row, Verdict, cut, text},
    settings::Settings,
    talk::{Line, Silence, Talk},
};
use notation::usi::EngineLine;
use std::{
    collections::BTreeSet,
    pin::pin,
    time::{Duration, Instant},
};

/// Time beyond its limit after which an engine counts as silent.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Pause between an answer and the next question, like an opponent's move.
const BREATH: Duration = Duration::from_millis(5);
/// Number of protocol lines shown with a fault.
const PROTOCOL: usize = 6;
/// Number of stderr lines shown with a fault.
const STDERR: usize = 3;

pub struct Exam {
    pub settings: Settings,
    pub facts: Facts,
    /// Statistics of its `info` lines.
    pub infos: InfoTally,
    /// Questions that were answered only when asked again.
    pub lapses: Vec<Failure>,
    /// Waits for a processor that made answers late.
    pub waits: Vec<Duration>,
    /// Lines outside the protocol, from all processes.
    pub noise: BTreeSet<String>,
    rows: Vec<Row>,
    talk: Option<Talk>,
    began: Instant,
    progress: Box<dyn Fn(&Row)>,
}

#[derive(Clone, Debug)]
pub struct Answer {
    /// Its move: the word after `bestmove`.
    pub mv: String,
    pub took: Duration,
    /// Time of it in which the engine waited for a processor.
    pub waited: Duration,
    pub infos: Vec<String>,
}

/// A missing answer.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What happened.
    pub what: String,
    /// True if the process ended by itself.
    pub ended: bool,
    /// True if the engine answered `stop` instead.
    pub stops: bool,
    /// Lines of the conversation that show it.
    pub lines: Vec<String>,
}

impl Failure {
    /// A failure because no process is running.
    pub fn not_running(why: impl Into<String>) -> Self {
        Self { what: why.into(), ended: true, stops: false, lines: Vec::new() }
    }

    /// The failure as a row of the report, with the advice that fits every question.
    pub fn row(self, verdict: Verdict, check: &str) -> Row {
        let advice = match (self.ended, self.stops) {
            (true, _) => {
                "every such exit loses a game, and no configuration avoids it; see the engine's last lines"
            }
            (false, true) => "the engine ignores this limit and thinks until `stop`; it would lose on time",
            (false, false) => "the engine hangs, which loses a game each time; no configuration avoids this",
        };
        Row::new(verdict, check, self.what).showing(self.lines).advising(advice)
    }
}

impl Exam {
    pub fn new(settings: Settings, talk: Talk, progress: Box<dyn Fn(&Row)>) -> Self {
        Self {
            settings,
            facts: Facts { cores: Some(1.0), ..Facts::default() },
            infos: InfoTally::default(),
            lapses: Vec::new(),
            waits: Vec::new(),
            noise: BTreeSet::new(),
            rows: Vec::new(),
            talk: Some(talk),
            began: Instant::now(),
            progress,
        }
    }

    pub fn add(&mut self, row: Row) {
        (self.progress)(&row);
        self.rows.push(row);
    }

    /// The running engine; restarted and made ready if it has ended.
    pub async fn engine(&mut self) -> Result<&mut Talk, Failure> {
        if self.talk.is_none() {
            self.restart().await?;
        }
        running(&mut self.talk)
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

    /// Sends `usi` and reads up to `usiok`, passing each line to `heard`.
    pub async fn usi(&mut self, mut heard: impl FnMut(&EngineLine)) -> Result<Duration, Failure> {
        let limit = self.settings.plan.limits.start;
        let talk = running(&mut self.talk)?;
        let since = talk.send(&["usi"]);
        let heard = talk.wait(since + limit, |line| {
            heard(line);
            *line == EngineLine::UsiOk
        });
        match patiently("usiok", &self.progress, heard).await {
            Ok(line) => Ok(line.at.saturating_duration_since(since)),
            Err(silence) => Err(self.failed("usiok", limit, silence).await),
        }
    }

    /// Sends the options given on the command line.
    pub fn set_options(&mut self) {
        let options = self.settings.plan.options.clone();
        let Some(talk) = &mut self.talk else { return };
        for (name, value) in options {
            let value = if value.is_empty() { String::new() } else { format!(" value {value}") };
            talk.send(&[&format!("setoption name {name}{value}")]);
        }
    }

    /// Sends `isready`, waits for `readyok` and sends `usinewgame`.
    pub async fn ready(&mut self, limit: Duration) -> Result<Duration, Failure> {
        let talk = running(&mut self.talk)?;
        match patiently("readyok", &self.progress, talk.ready(limit)).await {
            Ok(took) => {
                talk.send(&["usinewgame"]);
                Ok(took)
            }
            Err(silence) => Err(self.failed("readyok", limit, silence).await),
        }
    }

    /// Asks for a move.
    pub async fn ask(&mut self, position: &str, go: &str, limit: Duration) -> Result<Answer, Failure> {
        let talk = self.engine().await?;
        talk.catch_up();
        talk.infos.clear();
        let since = talk.send(&[&format!("position {position}"), go]);
        self.answer(since, limit + PATIENCE).await.map_err(|mut failure| {
            // A flood of other lines must not hide the question.
            let sent = format!("> {go}");
            if !failure.lines.contains(&sent) {
                failure.lines.insert(0, sent);
            }
            failure
        })
    }

    /// Asks for a move, and a second time after a failure that `retries` accepts, to rule out an accident.
    pub async fn ask_again(
        &mut self,
        position: &str,
        go: &str,
        limit: Duration,
        retries: fn(&Failure) -> bool,
    ) -> Result<Answer, Failure> {
        tokio::time::sleep(BREATH).await;
        match self.ask(position, go, limit).await {
            Err(failure) if retries(&failure) => {
                let answer = self.ask(position, go, limit).await?;
                self.lapses.push(failure);
                Ok(answer)
            }
            answered => answered,
        }
    }

    /// Byoyomi in the form that the engine accepts.
    pub fn byoyomi(&self, ms: u64) -> String {
        match self.facts.go.zero_time {
            true => format!("go btime 0 wtime 0 byoyomi {ms}"),
            false => format!("go byoyomi {ms}"),
        }
    }

    /// The engine's working directory, for messages.
    pub fn place(&self) -> String {
        let directory = self.settings.plan.directory.as_ref();
        directory.map_or_else(|| "the current directory".to_owned(), |it| format!("`{}`", it.display()))
    }

    /// Waits for the answer to a question asked at `since`.
    pub async fn answer(&mut self, since: Instant, limit: Duration) -> Result<Answer, Failure> {
        let talk = running(&mut self.talk)?;
        match talk.wait(since + limit, is_best_move).await {
            Ok(line) => {
                let infos = std::mem::take(&mut talk.infos).into();
                let took = line.at.saturating_duration_since(since);
                Ok(Answer { mv: best_move(line), took, waited: talk.waited(), infos })
            }
            Err(silence) => Err(self.failed("bestmove", limit, silence).await),
        }
    }

    /// Describes a missing answer and kills the engine, unless it answers `stop`.
    pub async fn failed(&mut self, wanted: &str, limit: Duration, silence: Silence) -> Failure {
        let Some(mut talk) = self.talk.take() else {
            return Failure::not_running("the engine is not running");
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
                return Failure { what, ended, stops, lines };
            }
            what += ", nor after `stop`";
        }
        self.noise.append(&mut talk.noise);
        talk.kill().await;
        Failure { what, ended, stops: false, lines }
    }

    /// Takes the running engine out for good.
    pub fn take_engine(&mut self) -> Option<Talk> {
        self.talk.take()
    }

    /// Answers without a question since the last call.
    pub fn unasked(&mut self) -> Vec<String> {
        let Some(talk) = &mut self.talk else { return vec![] };
        talk.catch_up();
        std::mem::take(&mut talk.unasked)
    }

    /// Last lines of the conversation, as shown with a fault.
    pub fn last_lines(&self) -> Vec<String> {
        self.talk.as_ref().map(|talk| shown(&talk.trace.report())).unwrap_or_default()
    }

    pub fn report(self) -> Report {
        let plan = &self.settings.plan;
        let command = std::iter::once(plan.command.display().to_string()).chain(plan.args.iter().cloned());
        Report {
            command: command.collect::<Vec<_>>().join(" "),
            name: self.facts.name.clone(),
            author: self.facts.author.clone(),
            seconds: self.began.elapsed().as_secs_f64(),
            passed: self.rows.iter().all(|row| row.verdict != Verdict::Fault),
            toml: advice::toml(plan, &self.facts),
            rows: self.rows,
        }
    }
}

fn running(talk: &mut Option<Talk>) -> Result<&mut Talk, Failure> {
    talk.as_mut().ok_or_else(|| Failure::not_running("the engine is not running"))
}

/// Awaits an answer, and shows what is awaited when that takes long.
async fn patiently<T>(wanted: &str, progress: &dyn Fn(&Row), answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    if let Ok(answer) = tokio::time::timeout(PATIENCE, &mut answer).await {
        return answer;
    }
    progress(&Row::note("start", format!("waiting for `{wanted}`")));
    answer.await
}

pub fn is_best_move(line: &EngineLine) -> bool {
    matches!(line, EngineLine::BestMove { .. }) || *line == EngineLine::Unknown("bestmove".to_owned())
}

fn best_move(line: Line) -> String {
    match line.parsed {
        EngineLine::BestMove { mv, .. } => mv,
        _ => String::new(),
    }
}

/// Last lines of a trace: the protocol with few of its `info` lines, then stderr.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::SHOWN_WIDTH;
    use std::cell::RefCell;

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_awaited_for_long_is_named_once() {
        let shown = RefCell::new(vec![]);
        let show = |row: &Row| shown.borrow_mut().push(row.seen.clone());
        let after = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
        patiently("usiok", &show, after(4)).await;
        assert_eq!(*shown.borrow(), [""; 0]);
        patiently("usiok", &show, after(30)).await;
        assert_eq!(*shown.borrow(), ["waiting for `usiok`"]);
    }

    #[test]
    fn a_fault_shows_the_conversation_without_most_info_lines() {
        let report = "  > go nodes 1\n  < info depth 1\n  < info depth 2\n  < bestmove 7g7e\n  ! oops\n";
        assert_eq!(shown(report), ["> go nodes 1", "< info depth 2", "< bestmove 7g7e", "! oops"]);
        let long = shown(&format!("  > position {}\n", "7g7f ".repeat(100)));
        assert!(long[0].starts_with("> position 7g7f") && long[0].chars().count() <= SHOWN_WIDTH + 5);
    }
}

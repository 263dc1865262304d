//! `stop` and pondering: one answer to each question, when it is requested and not before.

use super::{
    exam::{Answer, Exam, Failure, is_best_move},
    positions::{Judged, MiddleGames, Spot},
    report::{Row, Verdict, text},
    talk::{Line, Silence},
};
use crate::GoForm;
use notation::usi::OptionKind;
use std::time::{Duration, Instant};

/// Time within which `stop` must be answered.
const PROMPT: Duration = Duration::from_secs(1);
/// Time to wait for a second answer.
const AFTERMATH: Duration = Duration::from_millis(250);
/// A position to ponder in, and another that the opponent may reach instead.
const EXPECTED: &str = "startpos moves 7g7f 3c3d";
const OTHER: &str = "startpos moves 7g7f 8c8d";

/// `stop` during an unlimited search, and `stop` right after `go`.
pub async fn stop(exam: &mut Exam) {
    for (check, wait) in [("stop", 400), ("stop at once", 0)] {
        let row = match stopped(exam, Duration::from_millis(wait)).await {
            Ok(row) => row,
            Err(failure) => failure.row(Verdict::Fault, ""),
        };
        exam.add(row.named(check));
    }
}

async fn stopped(exam: &mut Exam, wait: Duration) -> Result<Row, Failure> {
    // A middle game, because many engines answer from their book in the opening.
    let spot = MiddleGames::new().ok().and_then(|mut games| games.next());
    let line = spot.map_or(EXPECTED.to_owned(), |spot| spot.line);
    let talk = exam.engine().await?;
    talk.catch_up();
    talk.unasked.clear();
    let position = format!("position {line}");
    let mut since = match wait.is_zero() {
        true => talk.send(&[&position, "go infinite", "stop"]),
        false => talk.send(&[&position, "go infinite"]),
    };
    if !wait.is_zero() {
        if let Some(early) = early_answer(exam, wait).await? {
            return Ok(by_itself(exam, since, &early).await);
        }
        since = exam.engine().await?.send(&["stop"]);
    }
    let limit = exam.settings.plan.limits.stop;
    let answer = exam.answer(since, limit).await?;
    exam.facts.stop = exam.facts.stop.max(answer.took);
    let extra = second_answer(exam).await;
    Ok(promptness(exam, &line, &answer, extra))
}

/// Waits for a premature answer to `go infinite` or `go ponder`.
async fn early_answer(exam: &mut Exam, wait: Duration) -> Result<Option<Line>, Failure> {
    let talk = exam.engine().await?;
    match talk.wait(Instant::now() + wait, is_best_move).await {
        Ok(line) => Ok(Some(line)),
        Err(Silence::Late) => Ok(None),
        Err(ended) => Err(exam.failed("bestmove", wait, ended).await),
    }
}

async fn by_itself(exam: &mut Exam, since: Instant, early: &Line) -> Row {
    let took = text(early.at.saturating_duration_since(since));
    if let Ok(talk) = exam.engine().await {
        talk.send(&["stop"]);
    }
    match second_answer(exam).await {
        Some(second) => twice(exam, &second),
        None => Row::note("", format!("`go infinite` answered after {took}, without `stop`")),
    }
}

async fn second_answer(exam: &mut Exam) -> Option<String> {
    exam.engine().await.ok()?.listen(AFTERMATH).await;
    exam.unasked().into_iter().find(|line| line.starts_with("bestmove"))
}

fn twice(exam: &Exam, second: &str) -> Row {
    Row::fault("", format!("a second answer to one question: `{second}`"))
        .showing(exam.last_lines())
        .advising("the extra answer is a move out of turn and loses the game; no configuration avoids this")
}

fn promptness(exam: &Exam, position: &str, answer: &Answer, extra: Option<String>) -> Row {
    if let Some(second) = extra {
        return twice(exam, &second);
    }
    if let Some(Judged::Lost(why)) = Spot::read(position).ok().map(|spot| spot.judge(&answer.mv)) {
        return Row::fault("", why).showing(exam.last_lines());
    }
    let took = text(answer.took);
    if answer.took <= PROMPT {
        return Row::pass("", format!("one answer, after {took}"));
    }
    // The table that is printed at the end allows twice the time seen.
    let limit = match answer.took * 2 > exam.settings.plan.limits.stop {
        true => "raise `limits.stop`, and ",
        false => "",
    };
    Row::warn("", format!("answered only after {took}"))
        .advising(format!("{limit}leave `ponder` off: every ponder miss costs the engine that time"))
}

/// `go ponder` with a hit and with a miss.
pub async fn ponder(exam: &mut Exam) {
    if exam.settings.skip.contains(&GoForm::Ponder) {
        return;
    }
    if let Some(name) = ponder_option(exam)
        && let Ok(talk) = exam.engine().await
    {
        talk.send(&[&format!("setoption name {name} value true"), "usinewgame"]);
    }
    let hit = hit(exam).await;
    let hit_row = rated(exam, "ponder hit", hit);
    let miss = if hit_row.verdict == Verdict::Pass { Some(miss(exam).await) } else { None };
    exam.facts.ponders = matches!(&miss, Some(Ok(row)) if row.verdict == Verdict::Pass);
    exam.add(hit_row);
    if let Some(miss) = miss {
        let row = rated(exam, "ponder miss", miss);
        exam.add(row);
    }
}

fn ponder_option(exam: &Exam) -> Option<String> {
    let is_ponder = |name: &str| ["USI_Ponder", "Ponder"].contains(&name);
    let mut options = exam.facts.options.iter();
    let option = options.find(|o| is_ponder(&o.name) && matches!(o.kind, OptionKind::Check { .. }))?;
    Some(option.name.clone())
}

/// A warning only, for an engine that does not offer pondering.
fn rated(exam: &Exam, check: &str, outcome: Result<Row, Failure>) -> Row {
    let row = outcome.unwrap_or_else(|failure| failure.row(Verdict::Fault, ""));
    let row = row.named(check);
    match row.verdict {
        Verdict::Pass => row,
        _ => {
            let offered = ponder_option(exam).is_some();
            let verdict = if offered { row.verdict } else { Verdict::Warn };
            Row { verdict, ..row }.advising("leave `ponder` out of the configuration; it is off by default")
        }
    }
}

fn ponder_lines(exam: &Exam) -> [String; 2] {
    [format!("position {EXPECTED}"), exam.byoyomi(300).replacen("go", "go ponder", 1)]
}

async fn begin_ponder(exam: &mut Exam, wait: Duration) -> Result<Option<Row>, Failure> {
    let [position, go] = ponder_lines(exam);
    let talk = exam.engine().await?;
    talk.catch_up();
    let since = talk.send(&[&position, &go]);
    let Some(early) = early_answer(exam, wait).await? else { return Ok(None) };
    let took = text(early.at.saturating_duration_since(since));
    let seen = format!("`bestmove` after {took} of pondering, before `ponderhit`");
    Ok(Some(Row::fault("", seen).showing(exam.last_lines())))
}

async fn hit(exam: &mut Exam) -> Result<Row, Failure> {
    // Longer than the byoyomi: the clock must not run while the engine ponders.
    if let Some(row) = begin_ponder(exam, Duration::from_millis(500)).await? {
        return Ok(row);
    }
    let since = exam.engine().await?.send(&["ponderhit"]);
    let answer = exam.answer(since, Duration::from_secs(8)).await?;
    let extra = second_answer(exam).await;
    let row = promptness(exam, EXPECTED, &answer, extra);
    let late = answer.took.saturating_sub(Duration::from_millis(300) + exam.facts.overrun);
    Ok(match (row.verdict, late > Duration::from_millis(100)) {
        (Verdict::Pass, true) => {
            Row::warn("", format!("answered {} after `ponderhit`, 300 ms allowed", text(answer.took)))
        }
        _ => row,
    })
}

async fn miss(exam: &mut Exam) -> Result<Row, Failure> {
    if let Some(row) = begin_ponder(exam, Duration::from_millis(200)).await? {
        return Ok(row);
    }
    let since = exam.engine().await?.send(&["stop"]);
    let stopped = exam.answer(since, exam.settings.plan.limits.stop).await?;
    exam.facts.stop = exam.facts.stop.max(stopped.took);
    // The actual position follows at once, as in a game: its answer must not be the old one.
    let go = exam.byoyomi(300);
    let answer = exam.ask(OTHER, &go, Duration::from_millis(300)).await?;
    let extra = second_answer(exam).await;
    let row = promptness(exam, OTHER, &answer, extra);
    Ok(match row.verdict {
        Verdict::Pass => {
            let (stop, next) = (text(stopped.took), text(answer.took));
            // The engine's own clock runs meanwhile.
            let slow = stopped.took > Duration::from_millis(300);
            let verdict = if slow { Verdict::Warn } else { Verdict::Pass };
            Row::new(verdict, "", format!("`stop` answered after {stop}, the real position after {next}"))
        }
        _ => row,
    })
}

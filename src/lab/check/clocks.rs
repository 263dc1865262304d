//! Time controls: overruns and time to spare.

use super::{
    advice::{JITTER, reserve},
    exam::{Answer, Exam, Failure},
    positions::MiddleGames,
    report::{Row, Verdict, text},
};
use platform::usage;
use referee::number::number;
use std::time::Duration;

/// Byoyomi in ms, and the number of moves timed with it.
const BYOYOMI: [(u64, usize); 4] = [(100, 6), (200, 5), (500, 4), (1000, 3)];
/// Fixed time in ms, and the number of moves timed with it.
const MOVETIME: (u64, usize) = (200, 6);

/// How often an answer is measured again that a busy machine made late.
const AGAIN: usize = 3;

async fn ask(exam: &mut Exam, games: &mut MiddleGames, go: &str, limit: Duration) -> Result<Answer, Failure> {
    let spot = games.next().ok_or_else(|| Failure::not_running("no position to ask about"))?;
    let mut answer = exam.ask_again(&spot.line, go, limit, |_| true).await?;
    for _ in 0..AGAIN {
        if !is_starved(&answer, limit) {
            break;
        }
        exam.waits.push(answer.waited);
        answer = exam.ask_again(&spot.line, go, limit, |_| true).await?;
    }
    if is_starved(&answer, limit) {
        exam.waits.push(answer.waited);
        answer.took = answer.took.saturating_sub(answer.waited);
    }
    exam.infos.judge(&spot, &answer.infos);
    Ok(answer)
}

/// True if most of what an answer was late by was a wait for a processor.
fn is_starved(answer: &Answer, limit: Duration) -> bool {
    let late = answer.took.saturating_sub(limit);
    !late.is_zero() && answer.waited * 2 >= late
}

/// Names the machine where it, and not the engine, was late.
fn busy(waits: &[Duration]) -> Option<Row> {
    let longest = waits.iter().max()?;
    let seen = format!(
        "{} late after a wait for a processor, of up to {}, and measured again",
        number(waits.len(), "answer"),
        text(*longest)
    );
    Some(Row::note("busy machine", seen).advising(
        "other programs take the processors from the engine; check on a quiet machine for the exact time to spare",
    ))
}

/// Times moves under byoyomi of 100 ms to 1 s, then under other time controls.
pub async fn all(exam: &mut Exam) {
    let Ok(mut games) = MiddleGames::new() else { return };
    for (ms, moves) in BYOYOMI {
        let limit = Duration::from_millis(ms);
        let go = exam.byoyomi(ms);
        let before = exam.engine().await.ok().and_then(|talk| talk.cpu());
        let took = match timed(exam, &mut games, &go, limit, moves).await {
            Ok(took) => took,
            Err(failure) => {
                exam.add(failure.row(Verdict::Fault, &format!("byoyomi {ms} ms")));
                continue;
            }
        };
        if ms == 1000 {
            let used = exam.engine().await.ok().and_then(|talk| talk.cpu());
            let wall: Duration = took.iter().sum();
            let used = used.zip(before).map(|(used, before)| used.saturating_sub(before));
            exam.facts.cores = used.and_then(|used| cores(used, wall));
        }
        note(exam, &format!("byoyomi {ms} ms"), limit, &took);
    }
    main_times(exam, &mut games).await;
    let busy = busy(&exam.waits);
    busy.into_iter().for_each(|row| exam.add(row));
    load(exam);
}

/// Cores that an engine kept busy, by the processor time that it used while it thought; `None` if it thought for so short a
/// time that a tick of the system's counting would change the figure.
fn cores(used: Duration, wall: Duration) -> Option<f64> {
    (wall >= usage::TICK * 10).then(|| used.as_secs_f64() / wall.as_secs_f64())
}

async fn timed(
    exam: &mut Exam,
    games: &mut MiddleGames,
    go: &str,
    limit: Duration,
    moves: usize,
) -> Result<Vec<Duration>, Failure> {
    let mut took = Vec::new();
    for _ in 0..moves {
        took.push(ask(exam, games, go, limit).await?.took);
    }
    Ok(took)
}

fn note(exam: &mut Exam, check: &str, limit: Duration, took: &[Duration]) {
    let longest = took.iter().copied().max().unwrap_or_default();
    let overrun = overrun(longest, limit);
    exam.facts.overrun = exam.facts.overrun.max(overrun);
    exam.add(kept(check, limit, took));
}

/// Overrun in milliseconds, rounded up: a flag falls at the first microsecond.
fn overrun(took: Duration, limit: Duration) -> Duration {
    Duration::from_millis(took.saturating_sub(limit).as_micros().div_ceil(1000) as u64)
}

/// Verdict on moves that were allowed `limit` each.
pub fn kept(check: &str, limit: Duration, took: &[Duration]) -> Row {
    let longest = took.iter().copied().max().unwrap_or_default();
    let shortest = took.iter().copied().min().unwrap_or_default();
    let seen = match took {
        [one] => format!("1 move in {}", text(*one)),
        _ => format!("{} moves in {} to {}", took.len(), shortest.as_millis(), text(longest)),
    };
    let overrun = overrun(longest, limit);
    let spare = limit.saturating_sub(longest);
    if spare >= Duration::from_millis(1) {
        return Row::pass(check, format!("{seen}: {} to spare", text(spare)));
    }
    let how =
        if overrun.is_zero() { "0 ms to spare".to_owned() } else { format!("up to {} late", text(overrun)) };
    let row = Row::warn(check, format!("{seen}: {how}"));
    match overrun <= JITTER {
        true => row.advising(format!(
            "the default `margin` of {} covers this; with `margin = \"0\"` the engine loses on time",
            text(plan::MARGIN)
        )),
        false => row.advising(format!(
            "set `reserve = \"{}ms\"` and allow more time than that per move, or the engine loses on time",
            reserve(overrun).as_millis()
        )),
    }
}

/// Time controls with main time, each with the time a move may take under it.
async fn main_times(exam: &mut Exam, games: &mut MiddleGames) {
    let plain = [("main time, byoyomi", "go btime 1500 wtime 1500 byoyomi 200", 1700)];
    let increment = [("main time, increment", "go btime 500 wtime 500 binc 200 winc 200", 700)];
    let go = exam.facts.go;
    for &(check, go, limit) in plain.iter().chain(increment.iter().filter(|_| go.increment)) {
        one(exam, games, check, go, limit).await;
    }
    if go.movetime {
        movetime(exam, games).await;
    }
    own_clock(exam, games).await;
}

/// Times several moves: engines aim at the very end of a fixed time, so a single move proves little.
async fn movetime(exam: &mut Exam, games: &mut MiddleGames) {
    let limit = Duration::from_millis(MOVETIME.0);
    let go = format!("go movetime {}", MOVETIME.0);
    match timed(exam, games, &go, limit, MOVETIME.1).await {
        Ok(took) => note(exam, "movetime", limit, &took),
        Err(failure) => exam.add(failure.row(Verdict::Fault, "movetime")),
    }
}

/// Gives the side to move little time and the opponent much: an engine that reads the wrong clock is late.
async fn own_clock(exam: &mut Exam, games: &mut MiddleGames) {
    let usual = exam.facts.overrun;
    let limit = Duration::from_millis(400);
    let mut took = Vec::new();
    for _ in 0..4 {
        let black = games.peek().is_none_or(|spot| spot.position.turn() == rsshogi::types::Color::BLACK);
        let go = match black {
            true => "go btime 300 wtime 60000 byoyomi 100",
            false => "go btime 60000 wtime 300 byoyomi 100",
        };
        match ask(exam, games, go, limit).await {
            Err(failure) if failure.stops => {
                let seen =
                    format!("{} thinks on with {} allowed: {}", side(black), text(limit), failure.what);
                return misread(exam, seen, go);
            }
            Err(failure) => return exam.add(failure.row(Verdict::Fault, OWN_CLOCK)),
            Ok(answer) if unusually_late(answer.took, limit, usual) => {
                let seen =
                    format!("{} took {} of the {} allowed", side(black), text(answer.took), text(limit));
                return misread(exam, seen, go);
            }
            Ok(answer) => took.push(answer.took),
        }
    }
    note(exam, OWN_CLOCK, limit, &took);
}

fn side(black: bool) -> &'static str {
    if black { "Black" } else { "White" }
}

fn misread(exam: &mut Exam, seen: String, go: &str) {
    exam.facts.misreads_clock = true;
    let row = Row::warn(OWN_CLOCK, seen).showing(vec![format!("> {go}")]);
    let advice = "the engine seems to read the opponent's clock; `own_time_only = true` sends its own time for both sides";
    exam.add(row.advising(advice));
}

/// Name of the check of the engine's own clock.
const OWN_CLOCK: &str = "its own clock";

async fn one(exam: &mut Exam, games: &mut MiddleGames, check: &str, go: &str, limit: u64) {
    let limit = Duration::from_millis(limit);
    let usual = exam.facts.overrun;
    match ask(exam, games, go, limit).await {
        Err(failure) => exam.add(failure.row(Verdict::Fault, check)),
        Ok(answer) if unusually_late(answer.took, limit, usual) => {
            let seen = format!("`{go}`: 1 move in {} of the {} allowed", text(answer.took), text(limit));
            let lines = exam.last_lines();
            exam.add(
                Row::fault(check, seen)
                    .showing(lines)
                    .advising("the engine overruns this time control; use plain byoyomi"),
            );
        }
        Ok(answer) => note(exam, check, limit, &[answer.took]),
    }
}

/// An overrun far beyond the usual one, which no reserve would cover.
fn unusually_late(took: Duration, limit: Duration, usual: Duration) -> bool {
    took > limit + usual * 2 + Duration::from_millis(500)
}

fn load(exam: &mut Exam) {
    let Some(cores) = exam.facts.cores else { return exam.add(Row::note("load", "not measured")) };
    let seen = format!("{cores:.1} cores while thinking");
    let row = match cores > 1.3 {
        true => Row::note("load", seen)
            .advising("set `cores`, so that the scheduler does not start too many games"),
        false => Row::pass("load", seen),
    };
    exam.add(row);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn kept_time_is_reported_with_the_time_to_spare() {
        let row = kept("byoyomi", MS(100), &[MS(60), MS(85)]);
        assert_eq!(
            (row.verdict, row.seen.as_str()),
            (Verdict::Pass, "2 moves in 60 to 85 ms: 15 ms to spare")
        );
    }

    #[test]
    fn an_answer_that_a_busy_machine_made_late_is_not_held_against_the_engine() {
        let answer =
            |took, waited| Answer { mv: String::new(), took: MS(took), waited: MS(waited), infos: vec![] };
        assert!(is_starved(&answer(950, 800), MS(100)));
        assert!(!is_starved(&answer(950, 300), MS(100)), "it is late by itself");
        assert!(!is_starved(&answer(90, 80), MS(100)), "it is in time");
        let row = busy(&[MS(800), MS(20)]).unwrap();
        assert_eq!(
            row.seen,
            "2 answers late after a wait for a processor, of up to 800 ms, and measured again"
        );
        assert_eq!((row.verdict, busy(&[])), (Verdict::Note, None));
    }

    #[test]
    fn an_overrun_is_a_warning_that_recommends_a_reserve() {
        let row = kept("byoyomi", MS(1000), &[MS(900), MS(1930)]);
        assert_eq!(row.verdict, Verdict::Warn);
        assert!(row.seen.ends_with("up to 930 ms late"), "{row:?}");
        assert!(row.advice.unwrap().contains("reserve = \"1250ms\""));
        let row = kept("byoyomi", MS(100), &[MS(110)]);
        assert!(row.advice.unwrap().contains("margin"));
        let row = kept("byoyomi", MS(100), &[MS(100) + Duration::from_micros(100)]);
        assert!(row.seen.ends_with("up to 1 ms late"), "a flag falls at the first microsecond: {row:?}");
    }

    #[test]
    fn nothing_to_spare_is_a_warning() {
        let row = kept("movetime", MS(300), &[MS(300)]);
        assert_eq!((row.verdict, row.seen.as_str()), (Verdict::Warn, "1 move in 300 ms: 0 ms to spare"));
        assert!(row.advice.unwrap().contains("the default `margin` of 100 ms covers this"));
        assert_eq!(kept("movetime", MS(300), &[MS(299)]).verdict, Verdict::Pass);
    }

    #[test]
    fn a_reserve_is_never_below_the_overrun() {
        for ms in [1, 49, 50, 51, 870, 12_345] {
            assert!(reserve(MS(ms)) > MS(ms) && reserve(MS(ms)) <= MS(ms * 2 + 100));
        }
    }

    #[test]
    fn cores_are_not_counted_in_a_time_of_a_few_ticks() {
        assert_eq!(cores(usage::TICK * 7, usage::TICK), None);
        assert_eq!(cores(MS(3000), MS(1500)), Some(2.0));
    }

    #[test]
    fn only_an_overrun_beyond_the_usual_is_unusually_late() {
        assert!(!unusually_late(MS(880), MS(400), MS(0)));
        assert!(unusually_late(MS(1000), MS(400), MS(0)));
        assert!(!unusually_late(MS(1000), MS(400), MS(300)), "within its usual overrun");
    }
}

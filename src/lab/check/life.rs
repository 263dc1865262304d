//! Between games and at the end: idleness, new games, stray output, end of input, `quit`.

use super::{
    exam::{Answer, Exam, Failure},
    handshake::mebibytes,
    report::{Row, Verdict, cut, text},
    talk::Talk,
};
use referee::number::number;
use std::time::Duration;

/// Number of games begun one after the other.
const RELOADS: usize = 5;
/// Time an engine may take to end.
const END: Duration = Duration::from_secs(2);
/// Growth over these games that exceeds the warming up of a cache.
const GROWTH: u64 = 16 << 20;

/// Checks that an idle engine is silent and leaves the cores to its opponent.
pub async fn rest(exam: &mut Exam) {
    let Ok(talk) = exam.engine().await else { return };
    talk.listen(Duration::from_millis(50)).await;
    let load = talk.load(Duration::from_millis(400)).await;
    let unasked = exam.unasked();
    out_of_turn(&unasked).into_iter().for_each(|row| exam.add(row));
    let Some(load) = load else { return exam.add(Row::note("at rest", "not measured")) };
    let seen = format!("{:.0} % of a core while idle", load * 100.0);
    exam.add(match load > 0.3 {
        true => Row::warn("at rest", seen).advising(
            "the engine computes in its opponent's turn and takes the processor from it: `cores = 2` gives its opponent a core \
             of its own",
        ),
        false => Row::pass("at rest", seen),
    });
}

/// Answers without a question: a move out of turn loses the game; others are ignored.
fn out_of_turn(unasked: &[String]) -> Option<Row> {
    let (moves, others): (Vec<_>, Vec<_>) = unasked.iter().partition(|line| line.starts_with("bestmove"));
    let (verdict, lines, advice) = match (moves.is_empty(), others.is_empty()) {
        (false, _) => {
            (Verdict::Fault, moves, "a move out of turn loses the game; no configuration avoids this")
        }
        (true, false) => (
            Verdict::Warn,
            others,
            "send one answer per question; a manager might take this for the next answer",
        ),
        (true, true) => return None,
    };
    let seen = format!("{} without a question", number(lines.len(), "answer"));
    let lines = lines.iter().take(5).map(|line| format!("< {line}")).collect();
    Some(Row::new(verdict, "unasked answers", seen).showing(lines).advising(advice))
}

/// Checks that the engine ignores unknown lines.
pub async fn unknown_lines(exam: &mut Exam) {
    let cases = [
        ("unknown command", "renmei-check 1 2 3", Verdict::Warn),
        ("unknown option", "setoption name RenmeiCheck value 1", Verdict::Warn),
        ("lines ending in CR LF", "\r", Verdict::Note),
    ];
    for (check, line, bad) in cases {
        let limit = exam.facts.ready.max(exam.facts.reload) * 2 + Duration::from_secs(2);
        let Ok(talk) = exam.engine().await else { return };
        let asked = match line {
            "\r" => talk.send(&["isready\r"]),
            line => talk.send(&[line, "isready"]),
        };
        let heard = talk.wait(asked + limit, |line| *line == notation::usi::EngineLine::ReadyOk).await;
        let row = match heard {
            Ok(_) if line == "\r" => Row::pass(check, "understood"),
            Ok(_) => Row::pass(check, "ignored, then `readyok`"),
            Err(silence) => {
                let row = exam.failed("readyok", limit, silence).await.row(bad, check);
                row.advising("events never send such a line, but other managers may; USI requires engines to ignore it")
            }
        };
        exam.add(row);
    }
}

/// `gameover`, `isready` and `usinewgame` as between games: time, memory, and equal answers.
pub async fn reload(exam: &mut Exam) {
    match reloads(exam).await {
        Ok((memory, answers)) => {
            let slowest = text(exam.facts.reload);
            let seen = format!("{RELOADS} games started, slowest `readyok` after {slowest}");
            exam.add(Row::pass("between games", seen));
            let row = growth(&memory);
            exam.facts.grows = row.verdict == Verdict::Warn;
            exam.add(row);
            sameness(&answers).into_iter().for_each(|row| exam.add(row));
        }
        Err(failure) => {
            let advice = match failure.ended {
                true => "`restart = \"every-game\"` starts a new process for every game",
                false => {
                    "raise `limits.new_game`, or start a new process for every game: `restart = \"every-game\"`"
                }
            };
            let row = failure.row(Verdict::Fault, "between games");
            exam.facts.grows = true;
            exam.add(row.advising(advice));
        }
    }
}

async fn reloads(exam: &mut Exam) -> Result<(Vec<u64>, Vec<String>), Failure> {
    let (mut memory, mut answers) = (Vec::new(), Vec::new());
    for game in 0..RELOADS {
        let ending = ["gameover win", "gameover lose", "gameover draw"][game % 3];
        exam.engine().await?.send(&[ending]);
        let took = exam.ready(exam.settings.plan.limits.new_game).await?;
        exam.facts.reload = exam.facts.reload.max(took);
        let Answer { mv, .. } = match exam.facts.go.nodes {
            true => exam.ask("startpos", "go nodes 2000", Duration::from_secs(2)).await?,
            false => exam.ask("startpos", &exam.byoyomi(100), Duration::from_millis(100)).await?,
        };
        answers.push(mv);
        memory.extend(exam.engine().await?.memory());
    }
    Ok((memory, answers))
}

/// Verdict on the memory held after each of several games.
pub fn growth(memory: &[u64]) -> Row {
    let [_, second, .., before, last] = memory else {
        return Row::note("memory", "not measured");
    };
    let grown = last.saturating_sub(*second);
    let seen = format!("{} after {}", mebibytes(*last), number(memory.len(), "game"));
    // A cache grows less and less as it fills.
    let still_growing = last.saturating_sub(*before) > grown / 8;
    match grown > GROWTH && still_growing {
        true => Row::warn("memory", format!("{seen}, {} more than after 2", mebibytes(grown)))
            .advising("if the growth continues, set `restart = \"every-game\"`"),
        false => Row::pass("memory", seen),
    }
}

/// Compares the first moves of the games.
fn sameness(answers: &[String]) -> Option<Row> {
    let first = answers.first()?;
    let alike = answers.iter().all(|answer| answer == first);
    let seen = match alike {
        true => format!("`{first}` in all {} games: only openings vary its games", answers.len()),
        false => format!("first moves differ from game to game: {}", answers.join(" ")),
    };
    Some(Row::note("same again", seen))
}

/// Other output, from every process.
pub async fn noise(exam: &mut Exam) {
    let Ok(talk) = exam.engine().await else { return };
    let mut noise = std::mem::take(&mut talk.noise);
    let stderr = talk.trace.stderr_report();
    noise.append(&mut exam.noise);
    if !noise.is_empty() {
        let seen = format!("{} outside the protocol on stdout", number(noise.len(), "different line"));
        let lines = noise.iter().take(4).map(|line| cut(&format!("< {line}"))).collect();
        exam.add(Row::note("other output", seen).showing(lines));
    }
    let stderr: Vec<_> = stderr.lines().map(|line| cut(line.trim_start())).collect();
    if !stderr.is_empty() {
        let lines = stderr[stderr.len().saturating_sub(4)..].to_vec();
        exam.add(Row::note("stderr", "the engine writes to stderr; last lines:").showing(lines));
    }
}

/// `quit`, and the end of input in a second process: the engine must end with all its child processes.
pub async fn end(exam: &mut Exam) {
    for check in ["quit", "end of input"] {
        if let Err(failure) = exam.engine().await {
            exam.add(failure.row(Verdict::Fault, check));
            return;
        }
        let Some(mut talk) = exam.take_engine() else { return };
        match check {
            "quit" => drop(talk.send(&["quit"])),
            _ => talk.close_input(),
        }
        let row = ended(check, &mut talk).await;
        exam.add(row);
        talk.kill().await;
    }
}

async fn ended(check: &str, talk: &mut Talk) -> Row {
    let Some(took) = talk.ends_within(END).await else {
        let advice = match check {
            "quit" => "events kill it; raise `limits.quit` if saving its data takes longer",
            _ => "events kill it; without a manager it would keep running",
        };
        return Row::warn(check, format!("still running after {}", text(END))).advising(advice);
    };
    let how = talk.ending().await;
    let known = talk.members();
    let left = known.as_deref().unwrap_or_default();
    if !left.is_empty() {
        let names: Vec<_> = left.iter().map(|member| format!("{} ({})", member.name, member.pid)).collect();
        let seen = format!("{how}, but left processes running: {}", names.join(", "));
        return Row::warn(check, seen).advising("events kill them too; the engine should end them itself");
    }
    let clean = how == "it exited with code 0";
    let verdict = if clean { Verdict::Pass } else { Verdict::Warn };
    let left = if known.is_some() { "no process left" } else { "processes that are left are not known here" };
    Row::new(verdict, check, format!("{how} after {}; {left}", text(took)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_memory_is_reported_and_a_warming_cache_is_not() {
        let mib = |n: u64| n << 20;
        let row = growth(&[mib(20), mib(60), mib(100), mib(140), mib(180)]);
        assert_eq!(
            (row.verdict, row.seen.as_str()),
            (Verdict::Warn, "180 MiB after 5 games, 120 MiB more than after 2")
        );
        assert_eq!(growth(&[mib(20), mib(60), mib(60), mib(61), mib(62)]).verdict, Verdict::Pass);
        assert_eq!(growth(&[mib(20), mib(900), mib(920), mib(940), mib(960)]).verdict, Verdict::Warn);
        assert_eq!(growth(&[mib(20)]).verdict, Verdict::Note);
    }

    #[test]
    fn an_unasked_move_is_a_fault_and_another_unasked_answer_a_warning() {
        let verdict = |lines: &[&str]| {
            let lines: Vec<_> = lines.iter().map(|&line| line.to_owned()).collect();
            out_of_turn(&lines).map(|row| row.verdict)
        };
        assert_eq!(verdict(&[]), None);
        assert_eq!(verdict(&["readyok"]), Some(Verdict::Warn));
        assert_eq!(verdict(&["readyok", "bestmove 7g7f"]), Some(Verdict::Fault));
    }

    #[test]
    fn equal_first_moves_are_noted() {
        let moves = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert!(sameness(&moves(&["7g7f", "7g7f"])).unwrap().seen.starts_with("`7g7f` in all 2 games"));
        assert!(sameness(&moves(&["7g7f", "2g2f"])).unwrap().seen.contains("differ"));
        assert_eq!(sameness(&[]), None);
    }
}

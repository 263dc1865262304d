//! Forms of `go` that the engine accepts, and `MultiPV`. An unsupported form may end the process, which is then
//! restarted.

use super::{
    exam::Exam,
    positions::{Judged, Spot},
    report::{LOSES, Row, Verdict, text},
};
use crate::GoForm;
use notation::usi::{EngineLine, OptionKind};
use std::{collections::BTreeSet, time::Duration};

/// Each form with a short example, its time limit in ms, and advice for playing without it.
const FORMS: [(GoForm, &str, u64, &str); 4] = [
    (
        GoForm::Nodes,
        "go nodes 1000",
        2000,
        "leave `nodes` out of `go`; the engine does not support node limits",
    ),
    (
        GoForm::Depth,
        "go depth 3",
        2000,
        "leave `depth` out of `go`; the engine does not support depth limits",
    ),
    (
        GoForm::Movetime,
        "go movetime 200",
        200,
        "leave `movetime` out of `go`: fixed time is then sent as byoyomi",
    ),
    (
        GoForm::Increment,
        "go btime 1000 wtime 1000 binc 200 winc 200",
        1200,
        "leave `increment` out of `go`: increments are then sent as remaining time",
    ),
];

/// Byoyomi, which every engine must accept; returns true if the examination can continue.
pub async fn byoyomi(exam: &mut Exam) -> bool {
    let with_main_time = match taken(exam, "go btime 0 wtime 0 byoyomi 500", 500).await {
        Ok(row) => {
            exam.add(row);
            return true;
        }
        Err(row) => row,
    };
    exam.facts.go.zero_time = false;
    match taken(exam, "go byoyomi 500", 500).await {
        Ok(row) => {
            exam.add(with_main_time.advising("`zero_time = false` leaves this form out"));
            exam.add(row);
            true
        }
        // The engine fails at both, so the form is not the cause.
        Err(row) => {
            exam.facts.go.zero_time = true;
            exam.add(Row { verdict: Verdict::Fault, ..row });
            false
        }
    }
}

/// Nodes, depth, fixed time, increment.
pub async fn others(exam: &mut Exam) {
    for (form, go, limit, around) in FORMS {
        let row = if exam.settings.skip.contains(&form) { None } else { Some(taken(exam, go, limit).await) };
        if !matches!(row, Some(Ok(_))) {
            let forms = &mut exam.facts.go;
            match form {
                GoForm::Nodes => forms.nodes = false,
                GoForm::Depth => forms.depth = false,
                GoForm::Movetime => forms.movetime = false,
                GoForm::Increment => forms.increment = false,
                GoForm::Ponder => {}
            }
        }
        let row = row.map(|row| row.unwrap_or_else(|row| row.advising(around)));
        row.into_iter().for_each(|row| exam.add(row));
    }
}

/// Tries one form from the initial position; the error is a warning.
async fn taken(exam: &mut Exam, go: &str, limit: u64) -> Result<Row, Row> {
    let check = match go.split_ascii_whitespace().nth(1) {
        Some("btime") if go.contains("binc") => "go binc/winc",
        Some("btime" | "byoyomi") | None => "go byoyomi",
        Some(word) => &go[..3 + word.len()],
    };
    // A process that ends is asked again: only a second end is the form's fault.
    let answer = exam.ask_again("startpos", go, Duration::from_millis(limit), |failure| failure.ended).await;
    let answer = answer.map_err(|failure| failure.row(Verdict::Warn, check))?;
    match Spot::read("startpos").map(|spot| spot.judge(&answer.mv)) {
        Ok(Judged::Legal(_)) => Ok(Row::pass(check, format!("`{go}` answered after {}", text(answer.took)))),
        _ => {
            let seen = format!("`{go}` answered by `bestmove {}`", answer.mv);
            Err(Row::warn(check, seen).showing(exam.last_lines()).advising(LOSES))
        }
    }
}

/// Checks that `MultiPV` gives as many lines as set, if the engine has that option.
pub async fn multipv(exam: &mut Exam) {
    let option = exam.facts.options.iter().find(|option| option.name.eq_ignore_ascii_case("MultiPV"));
    let Some((name, default)) = option.and_then(|option| match option.kind {
        OptionKind::Spin { default, max: Some(3..), .. } => Some((option.name.clone(), default)),
        _ => None,
    }) else {
        return;
    };
    let Ok(talk) = exam.engine().await else { return };
    talk.send(&[&format!("setoption name {name} value 3")]);
    let answer = exam.ask("startpos", "go btime 0 wtime 0 byoyomi 300", Duration::from_millis(300)).await;
    let row = match answer {
        Err(failure) => failure.row(Verdict::Warn, "MultiPV"),
        Ok(answer) => match ranks(&answer.infos) {
            ranks if ranks == [1, 2, 3] => Row::pass("MultiPV", "3 lines for `MultiPV` 3"),
            ranks => Row::note("MultiPV", format!("`MultiPV` 3 gives the lines {ranks:?}")),
        },
    };
    exam.add(row);
    if let Ok(talk) = exam.engine().await {
        talk.send(&[&format!("setoption name {name} value {default}")]);
    }
}

fn ranks(infos: &[String]) -> Vec<u32> {
    let ranks = infos.iter().filter_map(|line| match EngineLine::parse(line.as_bytes()) {
        EngineLine::Info(info) => info.multipv,
        _ => None,
    });
    ranks.collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipv_ranks_are_counted_once() {
        let infos =
            ["info multipv 2 pv 7g7f", "info multipv 1 pv 2g2f", "info multipv 2 pv 5g5f", "info depth 1"];
        assert_eq!(ranks(&infos.map(str::to_owned)), [1, 2]);
    }
}

//! Forms of `go` that the engine accepts. An unsupported form may end the process, which is then restarted.

use super::{
    exam::{Exam, text},
    positions::{Judged, Spot},
    report::{Row, Verdict},
};
use crate::GoForm;
use plan::GoForms;
use std::time::Duration;

/// Each form with a short example and its time limit in ms.
const FORMS: [(GoForm, &str, u64); 4] = [
    (GoForm::Nodes, "go nodes 1000", 2000),
    (GoForm::Depth, "go depth 3", 2000),
    (GoForm::Movetime, "go movetime 200", 200),
    (GoForm::Increment, "go btime 1000 wtime 1000 binc 200 winc 200", 1200),
];

/// Byoyomi, which every engine must accept; returns whether the examination can continue.
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
        // The form is not what it fails at.
        Err(row) => {
            exam.facts.go.zero_time = true;
            exam.add(Row { verdict: Verdict::Fault, ..row });
            false
        }
    }
}

/// Nodes, depth, fixed time, increment.
pub async fn others(exam: &mut Exam) {
    for (form, go, limit) in FORMS {
        if exam.settings.skip.contains(&form) {
            set(&mut exam.facts.go, form, false);
            continue;
        }
        let row = match taken(exam, go, limit).await {
            Ok(row) => row,
            Err(row) => {
                set(&mut exam.facts.go, form, false);
                Row { verdict: Verdict::Warn, ..row }.advising(around(form))
            }
        };
        exam.add(row);
    }
}

/// Tries one form from the initial position.
async fn taken(exam: &mut Exam, go: &str, limit: u64) -> Result<Row, Row> {
    let check = match go.split_ascii_whitespace().nth(1) {
        Some("btime") if go.contains("binc") => "go binc/winc",
        Some("btime" | "byoyomi") | None => "go byoyomi",
        Some(word) => &go[..3 + word.len()],
    };
    let answer = exam.ask_if_ended_again("startpos", go, Duration::from_millis(limit)).await;
    let answer = answer.map_err(|failure| failure.row(Verdict::Warn, check))?;
    let judged = Spot::read("startpos").map(|spot| spot.judge(&answer.mv));
    match judged {
        Ok(Judged::Legal(_)) => {
            Ok(Row::new(Verdict::Pass, check, format!("`{go}` answered after {}", text(answer.took))))
        }
        _ => {
            let seen = format!("`{go}` answered by `bestmove {}`", answer.mv);
            Err(Row::new(Verdict::Warn, check, seen)
                .showing(exam.last_lines())
                .advising("each such answer loses a game; no configuration helps"))
        }
    }
}

fn set(forms: &mut GoForms, form: GoForm, taken: bool) {
    match form {
        GoForm::Nodes => forms.nodes = taken,
        GoForm::Depth => forms.depth = taken,
        GoForm::Movetime => forms.movetime = taken,
        GoForm::Increment => forms.increment = taken,
        GoForm::Ponder => {}
    }
}

/// Advice for playing without this form.
fn around(form: GoForm) -> &'static str {
    match form {
        GoForm::Nodes => "leave `nodes` out of `go`; it cannot play by nodes",
        GoForm::Depth => "leave `depth` out of `go`; it cannot play by depth",
        GoForm::Movetime => "leave `movetime` out of `go`: fixed time is then sent as byoyomi",
        GoForm::Increment => "leave `increment` out of `go`: it is then sent as remaining time",
        GoForm::Ponder => "leave `ponder` out",
    }
}

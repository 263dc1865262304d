//! An engine on another host: what it is there, and what the network costs it.

use super::{
    exam::Exam,
    report::{Row, Verdict},
};
use plan::MARGIN;
use referee::identity::short;
use seat::far::{self, Answer, PATIENCE};

/// Part of the margin from which on a round trip is worth a larger one.
const SHARE: u32 = 4;

/// Checks that the host says what the engine is, and measures the round trip while the engine is idle.
pub async fn identity(exam: &mut Exam) {
    let plan = exam.settings.plan.clone();
    if let Some(hint) = far::hint(&plan) {
        exam.add(Row::warn("identity", "that of `ssh`, not of the engine").advising(hint));
    }
    let Some(host) = plan.host.clone() else { return };
    let asked = tokio::task::spawn_blocking(move || far::ask(&plan, &[], PATIENCE)).await;
    let why = match asked {
        Ok(Ok(answer)) => return rows(&host, &answer).into_iter().for_each(|row| exam.add(row)),
        Ok(Err(why)) => why.to_string(),
        Err(panicked) => panicked.to_string(),
    };
    exam.add(
        Row::fault("identity", why)
            .advising("an event with it is refused: it must know that the engine stays the same"),
    );
}

fn rows(host: &str, answer: &Answer) -> [Row; 2] {
    let Answer { program, sha256, round_trip, .. } = answer;
    let identity = Row::pass("identity", format!("`{host}:{program}`, SHA-256 {}", short(sha256)));
    let seen = format!("{:.1} ms to `{host}` and back", round_trip.as_secs_f64() * 1000.0);
    let is_slow = *round_trip * SHARE > MARGIN;
    let verdict = if is_slow { Verdict::Warn } else { Verdict::Pass };
    let row = Row::new(verdict, "round trip", seen);
    // Lost packets cost a few round trips more than usual.
    let wanted = (MARGIN + *round_trip * SHARE).as_millis().div_ceil(50) * 50;
    let advice = format!(
        "its clock pays that with each move: `margin = \"{wanted}ms\"` in `time` forgives it, and `reserve = \"{wanted}ms\"` \
         keeps it from the engine"
    );
    let row = if is_slow { row.advising(advice) } else { row };
    [identity, row]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_round_trip_that_is_a_part_of_the_margin_asks_for_a_larger_one() {
        let answer = |ms| Answer { round_trip: Duration::from_millis(ms), ..Answer::default() };
        let [_, near] = rows("box", &answer(1));
        assert_eq!((near.verdict, near.seen.as_str()), (Verdict::Pass, "1.0 ms to `box` and back"));
        let [_, away] = rows("box", &answer(40));
        assert_eq!(away.verdict, Verdict::Warn);
        assert!(away.advice.unwrap().contains("`margin = \"300ms\"`"));
    }
}

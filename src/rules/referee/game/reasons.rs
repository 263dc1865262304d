//! Reasons that the referee gives with an ending.

use super::talk::Answer;
use rsshogi::board::DeclarationDetail;
use std::time::Duration;

/// Why a reply lost on time.
pub(super) fn late_text(answer: &Answer, allowance: Duration) -> String {
    let said = &answer.said;
    format!("`{said}`{CAME}{} ms{OF}{} ms", millis(answer.elapsed), millis(allowance))
}

const CAME: &str = " came after ";
const OF: &str = " of ";

/// Milliseconds with their fraction: 200.3 ms are more than 200.
fn millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1000.0
}

/// By how much the reply was late, beyond the margin, of a game that ended on time; `None` if no reply came. The
/// evidence of such a game begins with `late_text`.
pub fn lateness(evidence: &str) -> Option<Duration> {
    let (_, times) = evidence.lines().next()?.rsplit_once(CAME)?;
    let (took, allowed) = times.split_once(OF)?;
    let millis = |text: &str| text.strip_suffix(" ms")?.parse::<f64>().ok();
    Duration::try_from_secs_f64((millis(took)? - millis(allowed)?) / 1000.0).ok()
}

const WAITED: &str = "the engine waited ";
const FOR: &str = " ms of its turn for a processor";

/// The line of evidence of an engine whose threads waited for a processor while it lost on time.
pub fn starved_text(waited: Duration) -> String {
    format!("{WAITED}{}{FOR}", waited.as_millis())
}

/// True if the evidence of a game that ended on time has the line of [`starved_text`].
pub fn is_starved(evidence: &str) -> bool {
    evidence.lines().nth(1).is_some_and(|line| line.trim().starts_with(WAITED) && line.ends_with(FOR))
}

/// Why a declaration was not allowed.
pub(super) fn declaration_text(detail: &DeclarationDetail) -> String {
    match detail {
        DeclarationDetail::NoRule => "no declaration rule is in force".to_owned(),
        DeclarationDetail::TryRule { .. } => "the king cannot step onto the try square".to_owned(),
        DeclarationDetail::PointRule {
            not_in_check,
            king_in_enemy_camp,
            pieces_in_camp,
            points,
            required_points,
            ..
        } => format!(
            "in check: {}, king in the camp: {}, pieces there with the king: {pieces_in_camp} of 11, points: \
             {points} of {required_points}",
            yes(!not_in_check),
            yes(*king_in_enemy_camp)
        ),
    }
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Said;

    #[test]
    fn only_the_line_below_the_reason_says_that_an_engine_waited_for_a_processor() {
        let waited = starved_text(Duration::from_millis(850));
        assert_eq!(waited, "the engine waited 850 ms of its turn for a processor");
        assert!(is_starved(&format!("white: no reply\n  {waited}\n  > go\n")));
        assert!(!is_starved(&format!("white: no reply\n  > go\n  < {waited}\n")));
        assert!(!is_starved(&format!("white: {waited}\n")) && !is_starved(""));
    }

    #[test]
    fn the_evidence_of_a_late_reply_tells_by_how_much() {
        let late = |elapsed: u64| {
            let answer = Answer {
                said: Said::Resign,
                elapsed: Duration::from_micros(elapsed),
                thought: None,
                ponders: false,
            };
            lateness(&format!("white: {}\n  > go\n", late_text(&answer, Duration::from_millis(200))))
        };
        assert_eq!(late(202_300), Some(Duration::from_micros(2300)));
        assert_eq!(late(200_001), Some(Duration::from_micros(1)));
        assert_eq!(
            lateness("white: `7g7f` came after 203 ms of 200 ms"),
            Some(Duration::from_millis(3)),
            "earlier versions"
        );
        for silent in ["", "white: no reply within 200 ms\n", "`x` came after", "`x` came after 1 ms of 2 ms"]
        {
            assert_eq!(lateness(silent), None, "{silent}");
        }
    }
}

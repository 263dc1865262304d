//! Reasons that the referee gives with an ending.

use super::talk::Answer;
use rsshogi::board::DeclarationDetail;
use std::time::Duration;

/// Why a reply lost on time.
pub(super) fn late_text(answer: &Answer, allowance: Duration) -> String {
    let said = &answer.said;
    format!("`{said}` came after {} ms of {} ms", answer.elapsed.as_millis(), allowance.as_millis())
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

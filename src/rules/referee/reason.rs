//! Why a game ended as it did, in one phrase from its evidence. Everybody who tells of a game uses this: reports, records,
//! the page and the screens.

use crate::{AbortBy, Color, Foul, Outcome, WinBy, entry::GameEnded};

/// Letters of a phrase at most: an engine may print a line of any length.
const MAX_LETTERS: usize = 160;

/// Why a game ended as it did; `None` for endings that explain themselves, and where the evidence does not tell.
///
/// The first line of the evidence has the reason, after the loser's colour where a player failed.
pub fn reason(outcome: Outcome, evidence: &str) -> Option<String> {
    let first = evidence.lines().next()?.trim();
    let (said, foul) = match outcome {
        Outcome::Win { winner, by } => {
            let own = || first.strip_prefix(&format!("{}: ", !winner));
            match by {
                WinBy::IllegalMove(foul) => (own()?, Some(foul)),
                // On a foreign server an engine's fault ends in a resignation, see [`GameEnded::gave_up`].
                WinBy::Time
                | WinBy::Disconnection
                | WinBy::IllegalAction
                | WinBy::IllegalDeclaration
                | WinBy::Resignation => (own()?, None),
                WinBy::Default => (told(first)?, None),
                WinBy::Mate
                | WinBy::Declaration
                | WinBy::PerpetualCheck
                | WinBy::Adjudication
                | WinBy::Ruling => return None,
            }
        }
        Outcome::Aborted { by } => match by {
            AbortBy::Missing | AbortBy::NotStarted | AbortBy::Server => (told(first)?, None),
            AbortBy::Stopped | AbortBy::Annulled | AbortBy::NoResult => return None,
        },
        Outcome::Draw { .. } => return None,
    };
    if said.is_empty() {
        return None;
    }
    let said = short(said);
    Some(foul.map_or_else(|| said.clone(), |foul| format!("`{said}`: {}", meaning(foul))))
}

impl GameEnded {
    /// Why it ended as it did, see [`reason`].
    pub fn reason(&self) -> Option<String> {
        reason(self.outcome, &self.evidence)
    }

    /// The side that resigned because of a fault of its engine; the server that ruled the game knows only the resignation.
    pub fn gave_up(&self) -> Option<Color> {
        gave_up(self.outcome, &self.evidence)
    }
}

/// The side that resigned because of a fault, see [`GameEnded::gave_up`].
pub fn gave_up(outcome: Outcome, evidence: &str) -> Option<Color> {
    match outcome {
        Outcome::Win { winner, by: WinBy::Resignation } => reason(outcome, evidence).map(|_| !winner),
        _ => None,
    }
}

/// The evidence of games that were read in is where they come from.
fn told(first: &str) -> Option<&str> {
    (!first.starts_with("file: ")).then_some(first)
}

fn short(said: &str) -> String {
    let cut = said.char_indices().nth(MAX_LETTERS);
    cut.map_or_else(|| said.to_owned(), |(end, _)| format!("{} ...", &said[..end]))
}

/// What a foul means.
fn meaning(foul: Foul) -> &'static str {
    match foul {
        Foul::Nifu => "nifu, a second pawn on its file",
        Foul::Uchifuzume => "uchifuzume, mate by a dropped pawn",
        Foul::NoPiece => "no piece stands on its first square",
        Foul::OpponentsPiece => "the piece is the opponent's",
        Foul::OwnPieceOnTarget => "an own piece stands on its target",
        Foul::DropOnPiece => "a piece stands where it is dropped",
        Foul::Unreachable => "the piece cannot go there",
        Foul::KingLeftInCheck => "the king is left in check",
        Foul::DeadPiece => "the piece could never move again",
        Foul::BadPromotion => "nothing promotes there",
        Foul::NotInHand => "no such piece is in hand",
        Foul::OutOfTurn => "it came in the opponent's turn",
        Foul::Unreadable => "it is no move",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DrawBy;

    #[test]
    fn the_first_line_of_the_evidence_becomes_a_phrase() {
        let lost = |by| Outcome::loss(Color::Black, by);
        for (outcome, evidence, phrase) in [
            (
                lost(WinBy::IllegalMove(Foul::Nifu)),
                "black: P*3e\n  > go",
                Some("`P*3e`: nifu, a second pawn on its file"),
            ),
            (
                lost(WinBy::IllegalMove(Foul::Unreadable)),
                "black: bestmove hello",
                Some("`bestmove hello`: it is no move"),
            ),
            (lost(WinBy::Time), "black: no reply within 1000 ms\n", Some("no reply within 1000 ms")),
            (
                lost(WinBy::Disconnection),
                "black: it was killed by SIGABRT\n  ! x",
                Some("it was killed by SIGABRT"),
            ),
            (lost(WinBy::Default), "gps did not log in within 60 s", Some("gps did not log in within 60 s")),
            (lost(WinBy::Default), "file: a.kif\nrecord: 1.1", None),
            (lost(WinBy::Time), "file: a.csa", None),
            (lost(WinBy::Time), "white: the other side", None),
            (lost(WinBy::Resignation), "black: it ended; resigned\n%TORYO", Some("it ended; resigned")),
            (lost(WinBy::Resignation), "%TORYO #RESIGN #LOSE", None),
            (lost(WinBy::Mate), "", None),
            (lost(WinBy::Time), "", None),
            (Outcome::Draw { by: DrawBy::Sennichite }, "black: x", None),
        ] {
            assert_eq!(reason(outcome, evidence).as_deref(), phrase, "{outcome}: {evidence}");
        }
        for &by in WinBy::ALL.iter().filter(|by| by.is_fault()) {
            assert!(reason(lost(by), "black: x").is_some(), "the report of the game tells {by:?}");
        }
        let long = format!("black: {}", "角".repeat(1000));
        let phrase = reason(lost(WinBy::IllegalMove(Foul::Unreadable)), &long).unwrap();
        assert!(phrase.chars().count() < 200, "{phrase}");
    }

    #[test]
    fn a_side_gave_up_only_if_it_resigned_with_a_fault_of_its_own() {
        let pairing = crate::pairing::Pairing {
            stage: 0,
            index: 0,
            attempt: 0,
            round: 1,
            pair: 0,
            opening: 0,
            black: crate::ids::PlayerId(0),
            white: crate::ids::PlayerId(1),
        };
        let of = |outcome, evidence: &str| {
            let ended = GameEnded::new(crate::ids::GameId(1), pairing, outcome, 9);
            let ended = GameEnded { evidence: evidence.to_owned(), ..ended };
            (ended.gave_up(), ended.reason())
        };
        let resigned = |loser| Outcome::loss(loser, WinBy::Resignation);
        let reason = Some("it ended".to_owned());
        assert_eq!(of(resigned(Color::Black), "black: it ended"), (Some(Color::Black), reason.clone()));
        assert_eq!(of(resigned(Color::White), "white: it ended"), (Some(Color::White), reason.clone()));
        assert_eq!(of(resigned(Color::White), "black: it ended"), (None, None));
        assert_eq!(of(Outcome::loss(Color::Black, WinBy::Time), "black: it ended"), (None, reason));
        let aborted = |by| of(Outcome::Aborted { by }, "taka did not come").1;
        let told = Some("taka did not come".to_owned());
        let tells = [AbortBy::Missing, AbortBy::NotStarted, AbortBy::Server];
        for by in AbortBy::ALL {
            assert_eq!(aborted(*by), told.clone().filter(|_| tells.contains(by)), "{by:?}");
        }
        let exact = format!("black: {}", "x".repeat(MAX_LETTERS));
        let cut = of(Outcome::loss(Color::Black, WinBy::Time), &format!("{exact}y")).1;
        assert_eq!(of(Outcome::loss(Color::Black, WinBy::Time), &exact).1, Some("x".repeat(MAX_LETTERS)));
        assert_eq!(cut, Some(format!("{} ...", "x".repeat(MAX_LETTERS))));
    }

    #[test]
    fn every_foul_is_explained_in_words_of_its_own() {
        let fouls = WinBy::ALL.iter().filter_map(|by| match by {
            WinBy::IllegalMove(foul) => Some(*foul),
            _ => None,
        });
        let meanings: Vec<&str> = fouls.map(meaning).collect();
        assert_eq!(
            meanings,
            [
                "nifu, a second pawn on its file",
                "uchifuzume, mate by a dropped pawn",
                "no piece stands on its first square",
                "the piece is the opponent's",
                "an own piece stands on its target",
                "a piece stands where it is dropped",
                "the piece cannot go there",
                "the king is left in check",
                "the piece could never move again",
                "nothing promotes there",
                "no such piece is in hand",
                "it came in the opponent's turn",
                "it is no move",
            ]
        );
    }
}

//! Conversion between the referee's [`Outcome`] and the record's [`Ending`].

use journal::RuledGame;
use notation::record::{Ending, GameRecord};
use referee::{AbortBy, Color, DrawBy, Foul, Outcome, WinBy, reason::reason};
use rsshogi::types::Color as Side;

/// Prefix of a comment that holds the exact outcome.
const MARK: &str = "renmei: ";

fn side(color: Color) -> Side {
    color.into()
}

/// True if a line of a comment holds an outcome, which [`end`] writes anew.
pub(super) fn is_mark(line: &str) -> bool {
    line.trim().strip_prefix(MARK).and_then(parse_outcome).is_some()
}

/// Sets the ending of a record, with a comment where the ending alone would not be read back as the same outcome.
pub(super) fn end(record: &mut GameRecord, outcome: Outcome) {
    // The record has no result, or an ending without one.
    if outcome == NO_RESULT {
        return;
    }
    let to_move = Color::from(record.side_to_move());
    let ending = ending(outcome, to_move);
    if of_ending(&ending, to_move) != outcome {
        remark(record, &format!("{MARK}{outcome}"));
    }
    record.ending = Some(ending);
}

/// Adds a comment with the reason of a loss: no format has a place for the move that was not played.
pub(super) fn explain(record: &mut GameRecord, outcome: Outcome, evidence: &str) {
    if let Some(reason) = reason(outcome, evidence) {
        remark(record, &format!("reason: {reason}"));
    }
}

/// Adds a comment on the operator's ruling, with the original ending.
pub(super) fn note_ruling(record: &mut GameRecord, ruling: Option<&RuledGame>) {
    if let Some(RuledGame { was, by }) = ruling {
        remark(record, &format!("ruled by the operator, {by}; original ending: {was}"));
    }
}

/// Adds a line to the comment on the end of a game.
fn remark(record: &mut GameRecord, line: &str) {
    let comment = record.plies.last_mut().map_or(&mut record.comment, |ply| &mut ply.comment);
    if !comment.is_empty() {
        comment.push('\n');
    }
    comment.push_str(line);
}

/// The outcome of a record.
pub(super) fn outcome(record: &GameRecord) -> Outcome {
    let to_move = Color::from(record.side_to_move());
    let plain = record.ending.as_ref().map_or(NO_RESULT, |ending| of_ending(ending, to_move));
    let comment = record.plies.last().map_or(&record.comment, |ply| &ply.comment);
    let lines = comment.lines().chain(record.ending_comment.lines());
    let marked = lines.filter_map(|line| parse_outcome(line.trim().strip_prefix(MARK)?)).next();
    // The record's ending decides the winner; the comment only adds the cause.
    marked
        .filter(|marked| marked.half_points(Color::Black) == plain.half_points(Color::Black))
        .unwrap_or(plain)
}

/// The outcome of a record without an ending, or with an ending without a result.
pub(super) const NO_RESULT: Outcome = Outcome::Aborted { by: AbortBy::NoResult };

/// Inverse of [`Outcome`]'s `Display`.
fn parse_outcome(words: &str) -> Option<Outcome> {
    let winners = [(Some(Color::Black), "black wins by "), (Some(Color::White), "white wins by ")];
    let all = winners.into_iter().chain([(None, "draw by "), (None, "not counted: ")]);
    all.into_iter().find_map(|(winner, prefix)| Outcome::from_cause(words.strip_prefix(prefix)?, winner))
}

fn ending(outcome: Outcome, to_move: Color) -> Ending {
    match outcome {
        Outcome::Draw { by } => match by {
            DrawBy::Sennichite => Ending::Sennichite,
            DrawBy::MaxMoves => Ending::MaxMoves,
            DrawBy::Impasse => Ending::Impasse,
            DrawBy::Adjudication | DrawBy::Ruling => Ending::Draw,
        },
        Outcome::Aborted { .. } => Ending::Interrupted,
        Outcome::Win { winner, by } => {
            let ending = won(by, !winner, to_move);
            let is_exact = ending.winner(side(to_move)) == Some(side(winner));
            if is_exact { ending } else { generic_loss(!winner, to_move) }
        }
    }
}

fn won(by: WinBy, loser: Color, to_move: Color) -> Ending {
    match by {
        WinBy::Mate => Ending::Mate,
        WinBy::Resignation => Ending::Resign,
        WinBy::Time => Ending::TimeUp,
        WinBy::IllegalMove(_) | WinBy::IllegalAction => Ending::Illegal { by: side(loser) },
        WinBy::IllegalDeclaration => Ending::IllegalDeclaration { by: side(loser) },
        WinBy::Declaration => Ending::Declaration,
        WinBy::PerpetualCheck => Ending::PerpetualCheck { by: side(loser) },
        WinBy::Default if loser == to_move => Ending::LossByDefault,
        WinBy::Default => Ending::WinByDefault,
        WinBy::Disconnection | WinBy::Adjudication | WinBy::Ruling => generic_loss(loser, to_move),
    }
}

/// No format has a word for other losses; these two endings name the loser in all formats.
fn generic_loss(loser: Color, to_move: Color) -> Ending {
    if loser == to_move { Ending::Resign } else { Ending::Illegal { by: side(loser) } }
}

fn of_ending(ending: &Ending, to_move: Color) -> Outcome {
    let win = |winner, by| Outcome::Win { winner, by };
    let draw = |by| Outcome::Draw { by };
    match ending {
        Ending::Resign => Outcome::loss(to_move, WinBy::Resignation),
        Ending::TimeUp => Outcome::loss(to_move, WinBy::Time),
        Ending::Mate => Outcome::loss(to_move, WinBy::Mate),
        Ending::Declaration => win(to_move, WinBy::Declaration),
        Ending::PerpetualCheck { by } => Outcome::loss((*by).into(), WinBy::PerpetualCheck),
        // No format names the foul or keeps the illegal move.
        Ending::Illegal { by } => Outcome::loss((*by).into(), WinBy::IllegalMove(Foul::Unreadable)),
        Ending::IllegalDeclaration { by } => Outcome::loss((*by).into(), WinBy::IllegalDeclaration),
        Ending::WinByDefault => win(to_move, WinBy::Default),
        Ending::LossByDefault => Outcome::loss(to_move, WinBy::Default),
        Ending::Won { by } => win((*by).into(), WinBy::Adjudication),
        Ending::Sennichite => draw(DrawBy::Sennichite),
        Ending::MaxMoves => draw(DrawBy::MaxMoves),
        Ending::Impasse => draw(DrawBy::Impasse),
        Ending::Draw => draw(DrawBy::Adjudication),
        Ending::NoMate | Ending::Interrupted | Ending::Unknown(_) => NO_RESULT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notation::record::Ply;
    use rsshogi::types::Move;

    #[test]
    fn every_outcome_survives_a_round_trip_with_either_side_to_move() {
        let wins = WinBy::ALL
            .iter()
            .flat_map(|&by| [Color::Black, Color::White].map(|winner| Outcome::Win { winner, by }));
        let draws = DrawBy::ALL.iter().map(|&by| Outcome::Draw { by });
        let aborted = AbortBy::ALL.iter().map(|&by| Outcome::Aborted { by });
        for of in wins.chain(draws).chain(aborted) {
            for plies in [0, 1] {
                let plies = vec![Ply::from(Move::from_usi("7g7f").unwrap()); plies];
                let mut record = GameRecord { plies, ..GameRecord::default() };
                end(&mut record, of);
                assert_eq!(outcome(&record), of);
                assert_eq!(record.winner().map(Color::from), of.winner(), "{of}");
            }
            let word = of.cause().split(':').next().unwrap_or_default();
            let is_listed = |line: &str| line.starts_with("//! |") && line.contains(&format!("`{word}"));
            assert!(include_str!("lib.rs").lines().any(is_listed), "the table of endings has {word}");
        }
    }

    #[test]
    fn a_comment_cannot_change_the_winner() {
        let mut record = GameRecord { ending: Some(Ending::Resign), ..GameRecord::default() };
        record.comment = "renmei: black wins by mate".into();
        assert_eq!(outcome(&record), Outcome::loss(Color::Black, WinBy::Resignation));
    }
}

//! Our own referee replays every game that a machine has played: whoever sends a result does not rule it.
//!
//! What is found: moves that are illegal, out of turn or after the end, times that the clock does not charge so, endings
//! that do not follow. What is not: a legal move that the engine did not play, and time that did not pass.

use arena::play::Fixture;
use referee::{
    Color, DrawBy, Foul, Outcome, WinBy,
    entry::{Entry, GameEnded, GameStarted, Moved, PlayerId, Stamped},
    game::{Answer, Game, Input, Output, Reply, Said, SetupError},
};
use rsshogi::types::Move;
use std::time::Duration;

/// Most bytes of the evidence of an ending, or of a fault.
const TEXT: usize = 64 * 1024;
/// Most faults and notices of a game.
const FAULTS: usize = 100;

/// What our referee finds otherwise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayFault {
    /// The game that was to be played cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Its start is another one.
    #[error("it is not the game that was to be played")]
    OtherGame,
    /// An entry after the end.
    #[error("it goes on after its end")]
    GoesOn,
    /// An entry of something else.
    #[error("it has an entry that no game has")]
    OtherEntry,
    /// It does not end.
    #[error("it has no end")]
    NoEnd,
    /// More faults and notices than are kept.
    #[error("it reports {0} faults, more than {FAULTS}")]
    Faults(usize),
    /// A fault of somebody else.
    #[error("it names a player who does not play in it")]
    OtherPlayer,
    /// A text that is too long.
    #[error("a text in it has {0} bytes")]
    Long(usize),
    /// A move after the end.
    #[error("move {ply}, `{}`, comes after its end: {end}", mv.to_usi())]
    Late {
        /// Its number.
        ply: u32,
        /// The move.
        mv: Move,
        /// The end.
        end: Outcome,
    },
    /// A move with times that no clock gives.
    #[error("move {0}, `{mv}`: its number or its times are not those of the clock", mv = .1.to_usi())]
    Times(u32, Move),
    /// A move that ends the game, or is not the turn of its side.
    #[error("move {ply}, `{}`, cannot be played: {}", mv.to_usi(), end.map(|end| end.to_string()).unwrap_or_default())]
    Unplayable {
        /// Its number.
        ply: u32,
        /// The move.
        mv: Move,
        /// How it ends the game.
        end: Option<Outcome>,
    },
    /// An end without a cause.
    #[error("nothing in it led to its end: {0}")]
    NoCause(Outcome),
    /// Another end than the replay's.
    #[error("reported ending `{reported}` contradicts the replay: `{replayed}`")]
    OtherEnding {
        /// The machine's.
        reported: Outcome,
        /// Ours.
        replayed: Outcome,
    },
    /// An end before the beginning.
    #[error("it had not begun when it ended: {0}")]
    NotBegun(Outcome),
    /// An end with the facts of another game.
    #[error("its end is not that of this game")]
    EndOfOther,
}

/// Checks the entries of a game.
///
/// # Errors
/// What our referee finds otherwise.
pub fn check(fixture: &Fixture, entries: &[Stamped]) -> Result<(), ReplayFault> {
    let (mut game, _calls) = Game::start(fixture.setup.clone())?;
    let (mut started, mut ended, mut others) = (false, None, 0);
    for Stamped { entry, .. } in entries {
        if ended.is_some() {
            return Err(ReplayFault::GoesOn);
        }
        match entry {
            Entry::GameStarted(start) if !started => {
                started = true;
                check_start(fixture, start)?;
                for color in Color::BOTH {
                    game.handle(Input::Reply(color, Reply::Ready));
                }
            }
            Entry::Moved(moved) if started => check_move(&mut game, moved)?,
            Entry::GameEnded(end) => ended = Some(check_end(&mut game, fixture, end)?),
            Entry::Fault { player, text } => {
                others += 1;
                check_text(text)?;
                player.map_or(Ok(()), |player| check_player(fixture, player))?;
            }
            Entry::Memory { player, .. } => {
                others += 1;
                check_player(fixture, *player)?;
            }
            _ => return Err(ReplayFault::OtherEntry),
        }
    }
    match ended {
        None => Err(ReplayFault::NoEnd),
        Some(()) if others > FAULTS => Err(ReplayFault::Faults(others)),
        Some(()) => Ok(()),
    }
}

fn check_player(fixture: &Fixture, player: PlayerId) -> Result<(), ReplayFault> {
    match [fixture.pairing.black, fixture.pairing.white].contains(&player) {
        true => Ok(()),
        false => Err(ReplayFault::OtherPlayer),
    }
}

fn check_text(text: &str) -> Result<(), ReplayFault> {
    if text.len() > TEXT { Err(ReplayFault::Long(text.len())) } else { Ok(()) }
}

fn check_start(fixture: &Fixture, start: &GameStarted) -> Result<(), ReplayFault> {
    let setup = &fixture.setup;
    let opening = setup.opening.iter().map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ");
    let times = fixture.tells_times.then(|| Box::new(setup.times));
    let expected = GameStarted {
        game: start.game,
        pairing: fixture.pairing,
        start: setup.start.clone(),
        opening,
        times,
    };
    if expected == *start { Ok(()) } else { Err(ReplayFault::OtherGame) }
}

fn check_move(game: &mut Game, moved: &Moved) -> Result<(), ReplayFault> {
    let (ply, mv) = (moved.ply, moved.mv);
    if let Some(end) = game.outcome() {
        return Err(ReplayFault::Late { ply, mv, end });
    }
    let answer = Answer {
        said: Said::Move(moved.mv),
        elapsed: moved.elapsed,
        ponders: false,
        thought: moved.thought.clone(),
    };
    let outputs = game.handle(Input::Reply(moved.color, Reply::Answer(answer)));
    let ruled = outputs.into_iter().find_map(|output| match output {
        Output::Happened(Entry::Moved(ruled)) => Some(Moved { game: moved.game, ..ruled }),
        _ => None,
    });
    match ruled {
        Some(ruled) if ruled == *moved => Ok(()),
        Some(_) => Err(ReplayFault::Times(ply, mv)),
        None => Err(ReplayFault::Unplayable { ply, mv, end: game.outcome() }),
    }
}

fn check_end(game: &mut Game, fixture: &Fixture, end: &GameEnded) -> Result<(), ReplayFault> {
    check_text(&end.evidence)?;
    if !game.is_over() {
        game.handle(cause(end, game.turn()).ok_or(ReplayFault::NoCause(end.outcome))?);
    }
    match game.outcome() {
        Some(outcome) if outcome == end.outcome => {}
        Some(replayed) => return Err(ReplayFault::OtherEnding { reported: end.outcome, replayed }),
        None => return Err(ReplayFault::NotBegun(end.outcome)),
    }
    let replayed = fixture.replays(end.outcome, &end.evidence);
    let (pairing, plies, moves) = (fixture.pairing, game.plies(), Some(game.moves_hash()));
    if (end.pairing, end.plies, end.replayed, end.moves_hash) != (pairing, plies, replayed, moves) {
        return Err(ReplayFault::EndOfOther);
    }
    Ok(())
}

/// What a game ended by, if that was no move: only the machine has seen it.
fn cause(end: &GameEnded, turn: Color) -> Option<Input> {
    let said = |color, said| {
        let answer = Answer { said, elapsed: Duration::ZERO, ponders: false, thought: None };
        Some(Input::Reply(color, Reply::Answer(answer)))
    };
    match end.outcome {
        Outcome::Win { winner, by } => match by {
            WinBy::Resignation => said(!winner, Said::Resign),
            WinBy::Time if turn == !winner => Some(Input::FlagFell),
            WinBy::Declaration => said(winner, Said::Win),
            WinBy::IllegalDeclaration => said(!winner, Said::Win),
            WinBy::Disconnection => Some(Input::Reply(!winner, Reply::Gone(String::new()))),
            WinBy::IllegalMove(Foul::Unreadable | Foul::OutOfTurn) => {
                said(!winner, Said::Unreadable(String::new()))
            }
            WinBy::IllegalMove(_) => said(!winner, Said::Move(move_in(&end.evidence)?)),
            WinBy::Time | WinBy::Mate | WinBy::PerpetualCheck | WinBy::Adjudication => None,
            WinBy::Default | WinBy::Ruling | WinBy::IllegalAction => None,
        },
        Outcome::Draw { by } => match by {
            DrawBy::Impasse => said(turn, Said::Win),
            DrawBy::Sennichite | DrawBy::MaxMoves | DrawBy::Adjudication | DrawBy::Ruling => None,
        },
        Outcome::Aborted { .. } => None,
    }
}

/// The move that the evidence of an illegal move begins with: `black: 7g7f`.
fn move_in(evidence: &str) -> Option<Move> {
    let (_, usi) = evidence.lines().next()?.split_once(": ")?;
    Move::from_usi(usi)
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;

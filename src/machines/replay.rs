//! Our own referee replays every game that a machine has played: whoever sends a result does not rule it.
//!
//! What is found: moves that are illegal, out of turn or after the end, times that the clock does not charge so, endings
//! that do not follow. What is not: a legal move that the engine did not play, and time that did not pass.

use arena::play::Fixture;
use referee::{
    Color, DrawBy, Foul, Outcome, WinBy,
    entry::{Entry, GameEnded, GameStarted, Moved, PlayerId, Stamped},
    game::{Answer, Game, Input, Output, Reply, Said},
};
use rsshogi::types::Move;
use std::time::Duration;

/// Most bytes of the evidence of an ending, or of a fault.
const TEXT: usize = 64 * 1024;
/// Most faults and notices of a game.
const FAULTS: usize = 100;

/// Checks the entries of a game.
///
/// # Errors
/// What our referee finds otherwise, as a lowercase fragment.
pub fn check(fixture: &Fixture, entries: &[Stamped]) -> Result<(), String> {
    let (mut game, _calls) = Game::start(fixture.setup.clone()).map_err(|fault| fault.to_string())?;
    let (mut started, mut ended, mut others) = (false, None, 0);
    for Stamped { entry, .. } in entries {
        if ended.is_some() {
            return Err("it goes on after its end".to_owned());
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
            _ => return Err("it has an entry that no game has".to_owned()),
        }
    }
    match ended {
        None => Err("it has no end".to_owned()),
        Some(()) if others > FAULTS => Err(format!("it tells of {others} faults, more than {FAULTS}")),
        Some(()) => Ok(()),
    }
}

fn check_player(fixture: &Fixture, player: PlayerId) -> Result<(), String> {
    match [fixture.pairing.black, fixture.pairing.white].contains(&player) {
        true => Ok(()),
        false => Err("it tells of a player who does not play in it".to_owned()),
    }
}

fn check_text(text: &str) -> Result<(), String> {
    if text.len() > TEXT { Err(format!("a text in it has {} bytes", text.len())) } else { Ok(()) }
}

fn check_start(fixture: &Fixture, start: &GameStarted) -> Result<(), String> {
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
    if expected == *start { Ok(()) } else { Err("it is not the game that was to be played".to_owned()) }
}

fn check_move(game: &mut Game, moved: &Moved) -> Result<(), String> {
    let (ply, usi) = (moved.ply, moved.mv.to_usi());
    if let Some(outcome) = game.outcome() {
        return Err(format!("move {ply}, `{usi}`, comes after its end: {outcome}"));
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
        Some(_) => Err(format!("move {ply}, `{usi}`: its number or its times are not those of the clock")),
        None => {
            let ruling = game.outcome().map(|outcome| outcome.to_string()).unwrap_or_default();
            Err(format!("move {ply}, `{usi}`, cannot be played: {ruling}"))
        }
    }
}

fn check_end(game: &mut Game, fixture: &Fixture, end: &GameEnded) -> Result<(), String> {
    check_text(&end.evidence)?;
    if !game.is_over() {
        let turn = game.turn();
        let input =
            cause(end, turn).ok_or_else(|| format!("nothing in it led to its end: {}", end.outcome))?;
        game.handle(input);
    }
    match game.outcome() {
        Some(outcome) if outcome == end.outcome => {}
        Some(outcome) => {
            return Err(format!("reported ending `{}` contradicts the replay: `{outcome}`", end.outcome));
        }
        None => return Err(format!("it had not begun when it ended: {}", end.outcome)),
    }
    let replayed = fixture.replays(end.outcome);
    if (end.pairing, end.plies, end.replayed) != (fixture.pairing, game.plies(), replayed) {
        return Err("its end is not that of this game".to_owned());
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
            WinBy::Resignation | WinBy::IllegalMove(Foul::OutOfTurn) => said(!winner, Said::Resign),
            WinBy::Time if turn == !winner => Some(Input::FlagFell),
            WinBy::Declaration => said(winner, Said::Win),
            WinBy::IllegalDeclaration => said(!winner, Said::Win),
            WinBy::Disconnection => Some(Input::Reply(!winner, Reply::Gone(String::new()))),
            WinBy::IllegalMove(Foul::Unreadable) => said(!winner, Said::Unreadable(String::new())),
            WinBy::IllegalMove(_) => said(!winner, Said::Move(move_in(&end.evidence)?)),
            _ => None,
        },
        Outcome::Draw { by: DrawBy::Impasse } => said(turn, Said::Win),
        Outcome::Draw { .. } | Outcome::Aborted { .. } => None,
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

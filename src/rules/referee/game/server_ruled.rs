//! A game that a foreign server rules.
//!
//! The answers of our seat are submitted to the server. The server's moves are applied with the time that it charges,
//! and the game ends by its word. Our referee checks both directions: no illegal move of ours is submitted, and the
//! game is aborted when the server accepts a move that is illegal here.

use super::{
    reasons::declaration_text,
    setup::ServerRuled,
    state::{GameState, Phase},
    talk::{Answer, Input, Order, Output, Reply, RuledMove, Ruling, Said},
};
use crate::{
    AbortBy, Color, Foul, Outcome, WinBy,
    clock::{Budget, Clock},
    entry::{Entry, Moved},
    legality::foul,
};
use rsshogi::{board::Position, types::Move};
use std::time::Duration;

/// Time for the server to rule on a fallen flag: shogi-server looks at the clock after a minute of silence.
const SILENCE: Duration = Duration::from_secs(180);

/// The progress of a server-ruled game, beside the state that every game has.
#[derive(Debug)]
pub(super) struct ServerGame {
    terms: ServerRuled,
    /// Time for which our turn was running before our seat was asked.
    passed: Duration,
    /// Our answer that the server has not ruled on.
    submitted: Option<Answer>,
    /// Our seat began anew in the middle of the game and is not ready yet.
    reseating: bool,
    /// The game was stopped and we have resigned.
    leaving: bool,
    /// The fault of our seat that we have resigned for. The server hears the resignation alone.
    fault: Option<String>,
}

impl ServerGame {
    /// Sets the clocks to the server's.
    pub fn begin(terms: ServerRuled, state: &mut GameState) -> Self {
        for side in [0, 1] {
            state.clocks[side] = Clock::resumed(*state.clocks[side].control(), terms.left[side]);
        }
        Self { terms, passed: Duration::ZERO, submitted: None, reseating: false, leaving: false, fault: None }
    }

    fn ours(&self) -> Color {
        !self.terms.server
    }

    pub fn handle(&mut self, state: &mut GameState, input: Input) -> Vec<Output> {
        let server = self.terms.server;
        match (state.phase, input) {
            (Phase::Over(_), _) => vec![],
            (Phase::Running, Input::FlagFell) if !self.leaving => self.time_over(state),
            (Phase::Preparing { .. }, Input::Stop) | (_, Input::FlagFell) => {
                state.end(Outcome::Aborted { by: AbortBy::Stopped }, self.unruled().to_owned())
            }
            (Phase::Running, Input::Stop) => self.leave(),
            // A game on somebody else's server is not ours to rule.
            (_, Input::Ruled(..)) => vec![],
            (_, Input::Reply(color, Reply::Gone(how))) if color == server => {
                state.end(Outcome::Aborted { by: AbortBy::Server }, format!("{}{how}", self.unruled()))
            }
            (_, Input::Reply(_, Reply::Gone(how) | Reply::Unseated(how))) => self.reseat(state, how),
            (_, Input::Reply(_, Reply::Ruled(Ruling::Rejected(by)))) => {
                state.end(Outcome::Aborted { by: AbortBy::NotStarted }, by)
            }
            (_, Input::Reply(_, Reply::Ruled(Ruling::Ended { outcome, words }))) => {
                let reason = self.explained(outcome, words);
                state.end(outcome, reason)
            }
            (Phase::Preparing { .. }, Input::Reply(color, Reply::Ready)) => self.ready(state, color),
            (Phase::Running, Input::Reply(color, Reply::Ready)) if color != server => self.reseated(state),
            (Phase::Running, Input::Reply(color, Reply::Answer(answer))) if color != server => {
                self.answered(state, answer)
            }
            (Phase::Running, Input::Reply(_, Reply::Ruled(Ruling::Moved(ruled)))) => self.ruled(state, ruled),
            (_, Input::Reply(..)) => vec![],
        }
    }

    fn is_awaited(&self, state: &GameState) -> bool {
        state.turn() == self.ours() && self.submitted.is_none() && !self.leaving
    }

    /// How long after the start of the turn something must have happened.
    ///
    /// Our move: until the clock and the way to the server are over. The server's turn began before it was read here, and
    /// our move has a way to go, so past both there is no doubt. The server's word: until both clocks, as they were at the
    /// start of the turn, have run out, and [`SILENCE`] after that. `None` in a game without clocks, in which the opponent
    /// may think for ever, and while the game is being stopped.
    pub fn allowance(&self, state: &GameState) -> Option<Duration> {
        if self.is_awaited(state) {
            let clock = state.clocks[self.ours().index()].allowance();
            return Some((clock + self.terms.lag).saturating_sub(self.passed));
        }
        let timed = !self.leaving && state.clocks.iter().all(|clock| clock.control().fixed.is_none());
        timed.then(|| state.clocks.iter().map(Clock::allowance).sum::<Duration>() + self.terms.lag + SILENCE)
    }

    /// Resigns when our time is over. A server need not say so: shogi-server looks at the clock only after a minute of
    /// silence, and our keep-alives are no silence. A server that has not ruled when all time is over never will.
    fn time_over(&mut self, state: &mut GameState) -> Vec<Output> {
        match self.allowance(state) {
            None => vec![],
            Some(allowance) if self.is_awaited(state) => self
                .give_up(format!("our time is over: no move within {} ms; resigned", allowance.as_millis())),
            Some(allowance) => {
                let silent = format!(
                    "{}no move and no ruling of the server within {} s, although both clocks have run out",
                    self.unruled(),
                    allowance.as_secs()
                );
                state.end(Outcome::Aborted { by: AbortBy::Server }, silent)
            }
        }
    }

    /// What is to be said of a game that ends without a ruling.
    fn unruled(&self) -> &'static str {
        match self.submitted.as_ref().map(|answer| &answer.said) {
            Some(Said::Resign) => {
                "we had resigned, which the server did not confirm but may count as a loss; "
            }
            _ => "",
        }
    }

    fn ready(&mut self, state: &mut GameState, color: Color) -> Vec<Output> {
        let server = self.terms.server;
        if color != server {
            return vec![Output::Tell(server, Order::NewGame { game: state.id, color: server })];
        }
        state.phase = Phase::Running;
        let mut outputs = vec![Output::Started];
        outputs.extend(self.ask(state));
        outputs
    }

    /// Asks our seat for a move if it is our turn and the seat is ready.
    fn ask(&mut self, state: &GameState) -> Vec<Output> {
        if state.turn() != self.ours() || self.leaving {
            return vec![];
        }
        if self.terms.declares && state.position.evaluate_declaration().can_declare {
            return self.submit(without_thought(Said::Win));
        }
        match self.reseating {
            true => vec![],
            false => vec![Output::Tell(self.ours(), state.question(self.budget(state)))],
        }
    }

    /// The clocks as our seat receives them: without the time that the way to the server takes, and without what has
    /// passed of the turn.
    fn budget(&self, state: &GameState) -> Budget {
        state.budget(self.ours()).without(self.terms.lag + self.passed, self.ours())
    }

    /// Submits the answer of our seat if our referee accepts it, and resigns otherwise.
    fn answered(&mut self, state: &GameState, answer: Answer) -> Vec<Output> {
        if self.leaving || self.submitted.is_some() || state.turn() != self.ours() {
            let resigned = self.submitted.as_ref().is_some_and(|submitted| submitted.said == Said::Resign);
            let when = if resigned { "after the resignation" } else { "unasked" };
            return vec![Output::Fault(self.ours(), format!("`{}` came {when}", answer.said))];
        }
        match refusal(&state.position, &answer.said) {
            None => self.submit(answer),
            Some(reason) => self.give_up(format!("`{}`: {reason}; resigned instead", answer.said)),
        }
    }

    fn submit(&mut self, answer: Answer) -> Vec<Output> {
        self.submitted = Some(answer.clone());
        vec![Output::Tell(self.terms.server, Order::Submit(answer))]
    }

    /// The words of the server about the end, after the fault of our seat that we have resigned for.
    fn explained(&self, outcome: Outcome, words: String) -> String {
        let ours = self.ours();
        match &self.fault {
            Some(fault) if outcome == Outcome::loss(ours, WinBy::Resignation) => {
                format!("{ours}: {}\n{words}", fault.lines().next().unwrap_or_default())
            }
            _ => words,
        }
    }

    /// Resigns because of a fault of our seat.
    fn give_up(&mut self, fault: String) -> Vec<Output> {
        self.fault = Some(fault.clone());
        let mut outputs = vec![Output::Fault(self.ours(), fault)];
        outputs.extend(self.submit(without_thought(Said::Resign)));
        outputs
    }

    /// Resigns because the game is being stopped; the game ends when the server has ruled.
    fn leave(&mut self) -> Vec<Output> {
        self.leaving = true;
        self.submit(without_thought(Said::Resign))
    }

    /// Lets our seat begin anew after it was gone; the server's clock runs meanwhile.
    fn reseat(&mut self, state: &mut GameState, how: String) -> Vec<Output> {
        if self.terms.restarts == 0 {
            return match state.phase {
                Phase::Running => self.give_up(format!("{how}; it is not started again: resigned")),
                _ => state.end(Outcome::Aborted { by: AbortBy::NotStarted }, how),
            };
        }
        self.terms.restarts -= 1;
        self.reseating = state.phase == Phase::Running;
        let order = Order::NewGame { game: state.id, color: self.ours() };
        vec![Output::Fault(self.ours(), how), Output::Tell(self.ours(), order)]
    }

    fn reseated(&mut self, state: &GameState) -> Vec<Output> {
        let was_reseating = std::mem::replace(&mut self.reseating, false);
        let our_turn = state.turn() == self.ours();
        match was_reseating && our_turn && self.submitted.is_none() && !self.leaving {
            true => vec![Output::AskAgain(self.ours(), state.question(self.budget(state)))],
            false => vec![],
        }
    }

    /// Applies a move that the server accepted. A move that our referee cannot follow ends the game: the two boards
    /// would differ from then on.
    fn ruled(&mut self, state: &mut GameState, ruled: RuledMove) -> Vec<Output> {
        (self.terms.lag, self.passed) = (ruled.lag, ruled.passed);
        let submitted = if ruled.color == self.ours() { self.submitted.take() } else { None };
        let unasked =
            ruled.color == self.ours() && submitted.as_ref().map(|answer| &answer.said) != Some(&ruled.said);
        let wrong = match &ruled.said {
            _ if ruled.color != state.turn() => "it is not that side's turn",
            Said::Move(_) if unasked => "that was not submitted",
            Said::Move(mv) => match foul(&state.position, *mv) {
                None => return self.stands(state, *mv, &ruled, submitted),
                Some(foul) => WinBy::IllegalMove(foul).name(),
            },
            _ => WinBy::IllegalMove(Foul::Unreadable).name(),
        };
        let fault = format!("the server lets `{}` stand, but: {wrong}", ruled.raw);
        let mut outputs = vec![Output::Fault(self.terms.server, fault.clone())];
        outputs.extend(state.end(Outcome::Aborted { by: AbortBy::Server }, fault));
        outputs
    }

    fn stands(
        &mut self,
        state: &mut GameState,
        mv: Move,
        ruled: &RuledMove,
        submitted: Option<Answer>,
    ) -> Vec<Output> {
        let color = ruled.color;
        let elapsed = submitted.as_ref().map_or(ruled.elapsed, |answer| answer.elapsed);
        let charged = state.clocks[color.index()].settle(ruled.charged, ruled.elapsed).0;
        let ponders = submitted.as_ref().is_some_and(|answer| answer.ponders);
        let thought = submitted.and_then(|answer| answer.thought);
        state.apply(mv);
        let left = state.clocks[color.index()].left();
        let (game, ply) = (state.id, state.plies());
        let moved = Moved { game, ply, color, mv, charged, elapsed, left, thought };
        let mut outputs = vec![Output::Happened(Entry::Moved(moved))];
        outputs.extend(self.ask(state));
        if ponders && !self.reseating && !self.leaving {
            outputs.push(Output::Tell(color, Order::Ponder(self.budget(state))));
        }
        outputs
    }
}

/// Why our referee does not let an answer go to the server; `None` if it does.
fn refusal(position: &Position, said: &Said) -> Option<String> {
    match said {
        Said::Move(mv) => foul(position, *mv).map(|foul| WinBy::IllegalMove(foul).name().to_owned()),
        Said::Unreadable(_) => Some(WinBy::IllegalMove(Foul::Unreadable).name().to_owned()),
        Said::Win => {
            let judged = position.evaluate_declaration();
            let reason = || declaration_text(&judged.detail);
            (!judged.can_declare).then(|| format!("{}: {}", WinBy::IllegalDeclaration.name(), reason()))
        }
        Said::Resign => None,
    }
}

fn without_thought(said: Said) -> Answer {
    Answer { said, elapsed: Duration::ZERO, ponders: false, thought: None }
}

#[cfg(test)]
#[path = "server_ruled_tests.rs"]
mod tests;

//! A game that a server far away rules: our side's answers are submitted to it, its moves are applied with the time
//! it charges, and the game ends by its word. Our referee looks on: it lets no illegal move of ours out, and does not
//! play on where the server lets one stand.

use super::{
    Answer, Budget, Color, Event, Game, Input, Move, Moved, Order, Outcome, Output, Phase, Reply, RuledMove,
    Ruling, Said, Setup, SetupError, declaration_text, foul,
};
use crate::{AbortBy, WinBy, clock::Clock};
use std::time::Duration;

/// Who rules a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authority {
    /// The referee of this program.
    #[default]
    Here,
    /// A server, whose seat stands for the opponent's.
    Server(Away),
}

/// What a game on a server is played by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away {
    /// The side the server's seat stands for; the other is ours.
    pub server: Color,
    /// Main time left, black first: a game that goes on has used up some of it.
    pub left: [Duration; 2],
    /// What is kept back from our time at first for the way to the server; each ruling says it anew.
    pub lag: Duration,
    /// A win that can be declared is declared without asking our side's seat.
    pub declares: bool,
    /// How often our side's seat may begin anew after it was gone; then we resign.
    pub restarts: u32,
}

/// What such a game has to remember.
#[derive(Debug)]
pub(super) struct Abroad {
    terms: Away,
    /// Our answer that the server has not ruled on.
    submitted: Option<Answer>,
    /// Our seat is not ready, in the middle of the game.
    reseating: bool,
    /// We have resigned because somebody wants to leave.
    leaving: bool,
}

impl Game {
    /// Sets a game up under an authority and calls the players. Under a server's, its seat is called when ours is
    /// ready.
    ///
    /// # Errors
    /// As [`Game::start`].
    pub fn start_under(setup: Setup, authority: Authority) -> Result<(Self, Vec<Output>), SetupError> {
        let (mut game, mut calls) = Self::start(setup)?;
        if let Authority::Server(terms) = authority {
            for side in [0, 1] {
                game.clocks[side] = Clock::resumed(*game.clocks[side].control(), terms.left[side]);
            }
            calls.retain(|call| matches!(call, Output::Tell(color, _) if *color != terms.server));
            game.away = Some(Abroad { terms, submitted: None, reseating: false, leaving: false });
        }
        Ok((game, calls))
    }

    pub(super) fn handle_away(&mut self, input: Input) -> Vec<Output> {
        let Some(server) = self.away.as_ref().map(|away| away.terms.server) else { return vec![] };
        match (self.phase, input) {
            (Phase::Over(_), _) => vec![],
            (Phase::Preparing { .. }, Input::Stop) | (_, Input::FlagFell) => {
                self.end(Outcome::Aborted { by: AbortBy::Stopped }, String::new())
            }
            (Phase::Running, Input::Stop) => self.leave(),
            (_, Input::Reply(color, Reply::Gone(how))) if color == server => {
                self.end(Outcome::Aborted { by: AbortBy::Server }, how)
            }
            (_, Input::Reply(_, Reply::Gone(how))) => self.reseat(how),
            (_, Input::Reply(_, Reply::Ruled(Ruling::Rejected(by)))) => {
                self.end(Outcome::Aborted { by: AbortBy::NotStarted }, by)
            }
            (_, Input::Reply(_, Reply::Ruled(Ruling::Ended { outcome, words }))) => self.end(outcome, words),
            (Phase::Preparing { .. }, Input::Reply(color, Reply::Ready)) => self.ready_away(color),
            (Phase::Running, Input::Reply(color, Reply::Ready)) if color != server => self.reseated(),
            (Phase::Running, Input::Reply(color, Reply::Answer(answer))) if color != server => {
                self.answered(answer)
            }
            (Phase::Running, Input::Reply(_, Reply::Ruled(Ruling::Moved(ruled)))) => self.ruled(ruled),
            (_, Input::Reply(..)) => vec![],
        }
    }

    fn ready_away(&mut self, color: Color) -> Vec<Output> {
        let Some(away) = &self.away else { return vec![] };
        let server = away.terms.server;
        if color != server {
            return vec![Output::Tell(server, Order::NewGame { game: self.id, color: server })];
        }
        self.phase = Phase::Running;
        let mut outputs = vec![Output::Started];
        outputs.extend(self.ask());
        outputs
    }

    /// Asks our side if it is to move and can answer.
    fn ask(&mut self) -> Vec<Output> {
        match &self.away {
            Some(away) if away.terms.server != self.turn() && !away.leaving => {}
            _ => return vec![],
        }
        let declares = self.away.as_ref().is_some_and(|away| away.terms.declares);
        if declares && self.position.evaluate_declaration().can_declare {
            return self.submit(Answer {
                said: Said::Win,
                elapsed: Duration::ZERO,
                ponders: false,
                thought: None,
            });
        }
        match self.away.as_ref().is_some_and(|away| away.reseating) {
            true => vec![],
            false => vec![Output::Tell(self.turn(), self.question())],
        }
    }

    fn question(&self) -> Order {
        let color = self.turn();
        Order::Go { position: self.line.clone(), last: self.last, budget: self.told(color) }
    }

    /// What `color`, ours, is told of the clocks.
    fn told(&self, color: Color) -> Budget {
        let lag = self.away.as_ref().map_or(Duration::ZERO, |away| away.terms.lag);
        Budget::new(&self.clocks, color).without(lag, color)
    }

    /// Our side's answer: only what our referee would let stand leaves the house.
    fn answered(&mut self, answer: Answer) -> Vec<Output> {
        let Some(away) = &self.away else { return vec![] };
        let ours = !away.terms.server;
        if away.leaving || away.submitted.is_some() || self.turn() != ours {
            return vec![Output::Fault(ours, format!("`{}` came unasked", super::said_text(&answer.said)))];
        }
        let wrong = match &answer.said {
            Said::Move(mv) => foul(&self.position, *mv)
                .map(|foul| format!("`{}`: {}", mv.to_usi(), WinBy::IllegalMove(foul).name())),
            Said::Unreadable(text) => {
                Some(format!("`{text}`: {}", WinBy::IllegalMove(crate::Foul::Unreadable).name()))
            }
            Said::Win => {
                let judged = self.position.evaluate_declaration();
                (!judged.can_declare).then(|| {
                    format!(
                        "`win`: {}: {}",
                        WinBy::IllegalDeclaration.name(),
                        declaration_text(&judged.detail)
                    )
                })
            }
            Said::Resign => None,
        };
        match wrong {
            None => self.submit(answer),
            Some(wrong) => self.give_up(format!("{wrong}; resigned instead")),
        }
    }

    fn submit(&mut self, answer: Answer) -> Vec<Output> {
        let Some(away) = &mut self.away else { return vec![] };
        away.submitted = Some(answer.clone());
        vec![Output::Tell(away.terms.server, Order::Submit(answer))]
    }

    /// Resigns because of a fault of our side's.
    fn give_up(&mut self, fault: String) -> Vec<Output> {
        let Some(ours) = self.away.as_ref().map(|away| !away.terms.server) else { return vec![] };
        let mut outputs = vec![Output::Fault(ours, fault)];
        outputs.extend(self.submit(resignation()));
        outputs
    }

    /// Somebody wants to leave: the server hears it and rules.
    fn leave(&mut self) -> Vec<Output> {
        if let Some(away) = &mut self.away {
            away.leaving = true;
        }
        self.submit(resignation())
    }

    /// Our side's seat is gone: it may begin anew, while the clock runs.
    fn reseat(&mut self, how: String) -> Vec<Output> {
        let Some(away) = &mut self.away else { return vec![] };
        let ours = !away.terms.server;
        if away.terms.restarts == 0 {
            return match self.phase {
                Phase::Running => self.give_up(format!("{how}; it is not started again: resigned")),
                _ => self.end(Outcome::Aborted { by: AbortBy::NotStarted }, how),
            };
        }
        away.terms.restarts -= 1;
        away.reseating = self.phase == Phase::Running;
        let order = Order::NewGame { game: self.id, color: ours };
        vec![Output::Fault(ours, how), Output::Tell(ours, order)]
    }

    fn reseated(&mut self) -> Vec<Output> {
        let turn = self.turn();
        let Some(away) = &mut self.away else { return vec![] };
        let was = std::mem::replace(&mut away.reseating, false);
        let asked = was && turn != away.terms.server && away.submitted.is_none() && !away.leaving;
        if asked { vec![Output::AskAgain(turn, self.question())] } else { vec![] }
    }

    /// A move stands. What our referee does not understand ends the game: played on, it would be another game.
    fn ruled(&mut self, ruled: RuledMove) -> Vec<Output> {
        let turn = self.turn();
        let Some(away) = &mut self.away else { return vec![] };
        away.terms.lag = ruled.lag;
        let ours = !away.terms.server;
        let submitted = if ruled.color == ours { away.submitted.take() } else { None };
        let wrong = match &ruled.said {
            _ if ruled.color != turn => Some("it is not that side's turn"),
            Said::Move(_)
                if ruled.color == ours && submitted.as_ref().map(|a| &a.said) != Some(&ruled.said) =>
            {
                Some("that was not submitted")
            }
            Said::Move(mv) => foul(&self.position, *mv).map(|foul| WinBy::IllegalMove(foul).name()),
            _ => Some(WinBy::IllegalMove(crate::Foul::Unreadable).name()),
        };
        match (wrong, &ruled.said) {
            (None, Said::Move(mv)) => self.stands(*mv, &ruled, submitted),
            (wrong, _) => {
                let fault =
                    format!("the server lets `{}` stand, but: {}", ruled.raw, wrong.unwrap_or_default());
                let mut outputs = vec![Output::Fault(!ours, fault.clone())];
                outputs.extend(self.end(Outcome::Aborted { by: AbortBy::Server }, fault));
                outputs
            }
        }
    }

    fn stands(&mut self, mv: Move, ruled: &RuledMove, submitted: Option<Answer>) -> Vec<Output> {
        let color = ruled.color;
        let elapsed = submitted.as_ref().map_or(ruled.elapsed, |answer| answer.elapsed);
        let charged = self.clocks[color.index()].settle(ruled.charged, ruled.elapsed).0;
        let ponders = submitted.as_ref().is_some_and(|answer| answer.ponders);
        let thought = submitted.and_then(|answer| answer.thought);
        self.apply(mv);
        let left = self.clocks[color.index()].left();
        let (game, ply) = (self.id, self.plies());
        let moved = Moved { game, ply, color, mv, charged, elapsed, left, thought };
        let mut outputs = vec![Output::Happened(Event::Moved(moved))];
        outputs.extend(self.ask());
        let idle = self.away.as_ref().is_some_and(|away| !away.reseating && !away.leaving);
        if ponders && idle {
            outputs.push(Output::Tell(color, Order::Ponder(self.told(color))));
        }
        outputs
    }
}

fn resignation() -> Answer {
    Answer { said: Said::Resign, elapsed: Duration::ZERO, ponders: false, thought: None }
}

#[cfg(test)]
#[path = "away_tests.rs"]
mod tests;

//! One game under a referee: a synchronous function from inputs to outputs.
//!
//! # Precedence of rulings
//!
//! | conflict | ruling |
//! |---|---|
//! | a reply stamped after the flag fell, whether move, resignation, declaration or unreadable | time |
//! | a reply stamped in time but read after the alarm | the reply stands: the stamp decides |
//! | a reply in time, then the process ends | the reply stands; the end of the process costs the next turn |
//! | an illegal move that would repeat a position or reach the move limit | illegal move |
//! | a declaration without the right to it, even in a won position | illegal declaration |
//! | a legal move that completes a fourth occurrence at the move limit | sennichite, or perpetual check |
//! | mate by the last move of the limit | as [`AtLimit`] says; by default a draw |
//! | both processes ended | the side whose end is received first loses |
//! | a move or a declaration out of turn | illegal move (out of turn) |
//! | a resignation out of turn | resignation, at no cost of time |
//!
//! In short: the stamp of the reply decides first, then legality, then repetition, then the move limit, then mate,
//! then the scores.

mod reasons;
mod server_ruled;
mod setup;
mod state;
mod talk;

pub use reasons::{is_starved, lateness, starved_text};
pub use setup::{Authority, ServerRuled, Setup, SetupError};
pub use talk::{Answer, Heard, Input, Order, Output, Reply, RuledMove, Ruling, Said, Word};

use crate::{
    AbortBy, Color, DrawBy, Foul, Outcome, WinBy,
    adjudicate::{Adjudicator, Verdict},
    clock::Clock,
    entry::{Entry, Moved},
    history::Repetition,
    legality::foul,
    rules::{AtLimit, Declaration},
};
use reasons::{declaration_text, late_text};
use rsshogi::{
    board::{DeclarationDetail, Position},
    types::{Move, Move32},
};
use server_ruled::ServerGame;
use state::{GameState, Phase};
use std::time::Duration;

/// A game.
pub struct Game {
    state: GameState,
    adjudicator: Adjudicator,
    hears: [bool; 2],
    may_reject: bool,
    /// Present when a server rules the game instead of this referee.
    server: Option<ServerGame>,
}

impl Game {
    /// Sets a game up and calls the players.
    ///
    /// # Errors
    /// When the start position cannot be read or the opening is illegal.
    pub fn start(setup: Setup) -> Result<(Self, Vec<Output>), SetupError> {
        let mut adjudicator = Adjudicator::new(setup.adjudication, setup.scales);
        let silent = setup.opening.len().saturating_sub(setup.scores.len());
        let state = GameState::new(&setup, |state, at| {
            let score = at.checked_sub(silent).and_then(|at| setup.scores[at]);
            // The game went on after this move, whatever the verdict.
            adjudicator.moved(!state.turn(), state.plies(), score, state.position.key().low_u64());
        })?;
        let calls =
            Color::BOTH.map(|color| Output::Tell(color, Order::NewGame { game: setup.game, color })).to_vec();
        let (hears, may_reject) = (setup.hears, setup.may_reject);
        Ok((Self { state, adjudicator, hears, may_reject, server: None }, calls))
    }

    /// Sets a game up under an authority and calls the players. Under a server, the seat of the server is called when
    /// ours is ready.
    ///
    /// # Errors
    /// As [`Game::start`].
    pub fn start_under(setup: Setup, authority: Authority) -> Result<(Self, Vec<Output>), SetupError> {
        let (mut game, mut calls) = Self::start(setup)?;
        if let Authority::Server(terms) = authority {
            calls.retain(|call| matches!(call, Output::Tell(color, _) if *color != terms.server));
            game.server = Some(ServerGame::begin(terms, &mut game.state));
        }
        Ok((game, calls))
    }

    /// True if the game has ended.
    pub fn is_over(&self) -> bool {
        matches!(self.state.phase, Phase::Over(_))
    }

    /// The ending; `None` while the game runs.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.state.phase {
            Phase::Over(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.state.turn()
    }

    /// Plies on the board, including those of the opening and those before the start position.
    pub fn plies(&self) -> u32 {
        self.state.plies()
    }

    /// The hash of its start and of the moves so far ([`moves_hash`](crate::distinct::moves_hash)).
    pub fn moves_hash(&self) -> u64 {
        self.state.moves_hash()
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        &self.state.position
    }

    /// Latest time after the start of the turn at which a reply is in time; `None` while no clock runs. Under a server
    /// it is the time after which our own move is too late by any measure, and in the turn of the opponent the time after
    /// which the server will not rule any more.
    pub fn allowance(&self) -> Option<Duration> {
        let here = || self.state.clocks[self.turn().index()].allowance();
        let rule = |server: &ServerGame| server.allowance(&self.state);
        if self.state.phase == Phase::Running {
            self.server.as_ref().map_or_else(|| Some(here()), rule)
        } else {
            None
        }
    }

    /// Latest time after the start of its turn at which a reply of a side is in time by the clocks of this program; `None`
    /// for an untimed side.
    pub fn clock_allowance(&self, color: Color) -> Option<Duration> {
        Some(&self.state.clocks[color.index()])
            .filter(|clock| clock.control().is_timed())
            .map(Clock::allowance)
    }

    /// True if a foreign server rules the game.
    pub fn is_ruled_elsewhere(&self) -> bool {
        self.server.is_some()
    }

    /// Rules on an input. Inputs after the end have no effect.
    pub fn handle(&mut self, input: Input) -> Vec<Output> {
        if let Some(server) = &mut self.server {
            return server.handle(&mut self.state, input);
        }
        match (self.state.phase, input) {
            (Phase::Over(_), _) => vec![],
            (_, Input::Stop) => self.state.end(Outcome::Aborted { by: AbortBy::Stopped }, String::new()),
            (_, Input::Ruled(outcome, reason)) => self.state.end(outcome, reason),
            (_, Input::Reply(color, Reply::Gone(how))) => self.lose(color, WinBy::Disconnection, how),
            (_, Input::Reply(_, Reply::Unseated(why))) => {
                self.state.end(Outcome::Aborted { by: AbortBy::NotStarted }, why)
            }
            (Phase::Preparing { ready }, Input::Reply(color, Reply::Ready)) => self.ready(ready, color),
            (Phase::Preparing { .. }, Input::Reply(color, Reply::Rejected { expired })) => {
                self.rejected(color, expired)
            }
            (Phase::Preparing { .. }, _)
            | (Phase::Running, Input::Reply(_, Reply::Ready | Reply::Rejected { .. } | Reply::Ruled(_))) => {
                vec![]
            }
            (Phase::Running, Input::FlagFell) => self.flag_fell(),
            (Phase::Running, Input::Reply(color, Reply::Answer(answer))) => self.judge(color, answer),
        }
    }

    fn ready(&mut self, mut ready: [bool; 2], color: Color) -> Vec<Output> {
        ready[color.index()] = true;
        if ready != [true; 2] {
            self.state.phase = Phase::Preparing { ready };
            return vec![];
        }
        self.state.phase = Phase::Running;
        let mut outputs = vec![Output::Started];
        self.announce(self.turn(), Word::Start, Duration::ZERO, &mut outputs);
        match self.is_mated_by_rule() {
            true => outputs.extend(self.lose(self.turn(), WinBy::Mate, String::new())),
            false => outputs.push(self.go()),
        }
        outputs
    }

    /// Handles a player who turns the game down: the game is aborted if players may do so, and lost otherwise.
    fn rejected(&mut self, color: Color, expired: bool) -> Vec<Output> {
        let (word, why) =
            if expired { (Word::Expire, "did not agree in time") } else { (Word::Reject, "rejected it") };
        let mut outputs = vec![];
        self.announce(color, word, Duration::ZERO, &mut outputs);
        let outcome = match self.may_reject {
            true => Outcome::Aborted { by: AbortBy::NotStarted },
            false => Outcome::loss(color, WinBy::Default),
        };
        outputs.extend(self.state.end(outcome, format!("{color} {why}")));
        outputs
    }

    /// Announces a word to the sides that receive everything.
    fn announce(&self, color: Color, word: Word, charged: Duration, outputs: &mut Vec<Output>) {
        let heard = Heard { color, word, charged };
        let hears = Color::BOTH.into_iter().filter(|side| self.hears[side.index()]);
        outputs.extend(hears.map(|side| Output::Tell(side, Order::Heard(heard))));
    }

    fn flag_fell(&mut self) -> Vec<Output> {
        let allowance = self.state.clocks[self.turn().index()].allowance();
        let reason = format!("no reply within {} ms", allowance.as_millis());
        self.lose(self.turn(), WinBy::Time, reason)
    }

    fn judge(&mut self, color: Color, answer: Answer) -> Vec<Output> {
        if color != self.turn() {
            return self.out_of_turn(color, &answer.said);
        }
        let clock = &mut self.state.clocks[color.index()];
        let allowance = clock.allowance();
        let Ok(charged) = clock.charge(answer.elapsed) else {
            let reason = late_text(&answer, allowance);
            return self.lose(color, WinBy::Time, reason);
        };
        let mut outputs = vec![];
        let ruling = match answer.said {
            Said::Resign => self.resigned(color, charged.0),
            Said::Win => {
                self.announce(color, Word::Declare, charged.0, &mut outputs);
                self.declare(color)
            }
            Said::Unreadable(text) => self.lose(color, WinBy::IllegalMove(Foul::Unreadable), text),
            Said::Move(mv) => match foul(&self.state.position, mv) {
                Some(foul) => self.lose(color, WinBy::IllegalMove(foul), mv.to_usi()),
                None => self.play(color, mv, charged.0, answer),
            },
        };
        outputs.extend(ruling);
        outputs
    }

    /// A game may be given up at any time; everything else is for a player's own turn.
    fn out_of_turn(&mut self, color: Color, said: &Said) -> Vec<Output> {
        match said {
            Said::Resign => self.resigned(color, Duration::ZERO),
            other => self.lose(color, WinBy::IllegalMove(Foul::OutOfTurn), other.to_string()),
        }
    }

    fn resigned(&mut self, color: Color, charged: Duration) -> Vec<Output> {
        let mut outputs = vec![];
        self.announce(color, Word::Resign, charged, &mut outputs);
        outputs.extend(self.lose(color, WinBy::Resignation, String::new()));
        outputs
    }

    /// A declaration is judged by the rule in force; under the 24-point rule 24 to 30 points are a draw.
    fn declare(&mut self, color: Color) -> Vec<Output> {
        let judged = self.state.position.evaluate_declaration();
        let points = match judged.detail {
            DeclarationDetail::PointRule {
                not_in_check, king_in_enemy_camp, enough_pieces, points, ..
            } => (not_in_check && king_in_enemy_camp && enough_pieces).then_some(points),
            _ => None,
        };
        if judged.can_declare {
            self.state.end(Outcome::Win { winner: color, by: WinBy::Declaration }, String::new())
        } else if self.state.rules.declaration == Declaration::Csa24
            && points.is_some_and(|points| points >= 24)
        {
            self.state.end(Outcome::Draw { by: DrawBy::Impasse }, String::new())
        } else {
            self.lose(color, WinBy::IllegalDeclaration, declaration_text(&judged.detail))
        }
    }

    fn play(&mut self, color: Color, mv: Move, charged: Duration, answer: Answer) -> Vec<Output> {
        let piece = self.state.position.moved_piece_after_move(mv);
        let repetition = self.state.apply(mv);
        let score = answer.thought.as_ref().and_then(|thought| thought.score);
        let moved = Moved {
            game: self.state.id,
            ply: self.plies(),
            color,
            mv,
            charged,
            elapsed: answer.elapsed,
            left: self.state.clocks[color.index()].left(),
            thought: answer.thought,
        };
        let mut outputs = Vec::with_capacity(4);
        outputs.push(Output::Happened(Entry::Moved(moved)));
        self.announce(color, Word::Move(Move32::from_move_with_piece(mv, piece)), charged, &mut outputs);
        let adjudicated =
            self.adjudicator.moved(color, self.plies(), score, self.state.position.key().low_u64());
        match self.ruling(color, repetition).or(adjudicated.map(adjudication)) {
            Some(outcome) => outputs.extend(self.state.end(outcome, String::new())),
            None => {
                outputs.push(self.go());
                if answer.ponders {
                    outputs.push(Output::Tell(color, Order::Ponder(self.state.budget(color))));
                }
            }
        }
        outputs
    }

    /// The ruling on the position after a legal move of `mover`, before scores are looked at.
    fn ruling(&self, mover: Color, repetition: Option<Repetition>) -> Option<Outcome> {
        let mate = || Outcome::Win { winner: mover, by: WinBy::Mate };
        let limit = Outcome::Draw { by: DrawBy::MaxMoves };
        if self.tried(mover) {
            return Some(Outcome::Win { winner: mover, by: WinBy::Declaration });
        }
        match repetition {
            Some(Repetition::Sennichite) => return Some(Outcome::Draw { by: DrawBy::Sennichite }),
            Some(Repetition::PerpetualCheck(side)) => {
                return Some(Outcome::loss(side, WinBy::PerpetualCheck));
            }
            None => {}
        }
        if self.state.rules.max_moves.is_some_and(|max| self.plies() >= max) {
            return match self.state.rules.at_limit {
                AtLimit::Draw => Some(limit),
                AtLimit::MateWins => Some(if self.state.position.is_mated() { mate() } else { limit }),
                AtLimit::CheckExtends if self.state.position.is_mated() => Some(mate()),
                AtLimit::CheckExtends => self.state.position.checkers().is_empty().then_some(limit),
            };
        }
        self.is_mated_by_rule().then(mate)
    }

    fn is_mated_by_rule(&self) -> bool {
        self.state.rules.mate_ends_game && self.state.position.is_mated()
    }

    /// Under the try rule, whether the king of `mover` stands where the opponent's started.
    fn tried(&self, mover: Color) -> bool {
        let goal = match mover {
            Color::Black => rsshogi::types::SQ_51,
            Color::White => rsshogi::types::SQ_59,
        };
        self.state.rules.declaration == Declaration::Try
            && self.state.position.king_square(mover.into()) == goal
    }

    fn go(&self) -> Output {
        let color = self.turn();
        Output::Tell(color, self.state.question(self.state.budget(color)))
    }

    fn lose(&mut self, loser: Color, by: WinBy, reason: String) -> Vec<Output> {
        self.state.end(Outcome::loss(loser, by), reason)
    }
}

fn adjudication(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Lost(color) => Outcome::loss(color, WinBy::Adjudication),
        Verdict::Draw => Outcome::Draw { by: DrawBy::Adjudication },
    }
}

#[cfg(test)]
#[path = "game_tests.rs"]
mod tests;

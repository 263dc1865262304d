//! One game under a referee: inputs in, outputs out, nothing waits.
//!
//! # What wins over what
//!
//! | what meets | ruling |
//! |---|---|
//! | a reply stamped after the flag fell, whatever it says (move, resignation, declaration, nonsense) | time |
//! | a reply stamped in time but read after the alarm | the reply stands: the stamp decides |
//! | a reply in time, then the process ends | the reply stands; the end of the process costs the next turn |
//! | an illegal move that would repeat a position or reach the move limit | illegal move |
//! | a declaration without the right to it, even in a won position | illegal declaration |
//! | a legal move that completes a fourth occurrence at the move limit | sennichite, or perpetual check |
//! | mate by the last move of the limit | as [`AtLimit`] says; by default a draw |
//! | both processes ended | the one heard of first loses |
//! | a move out of turn | illegal move (out of turn) |
//!
//! In short: the stamp of the reply decides first, then legality, then repetition, then the move limit, then mate,
//! then the scores.

mod away;
mod talk;

pub use away::{Authority, Away};
pub use talk::{Answer, Heard, Order, Reply, RuledMove, Ruling, Said, Word};

use crate::{
    AbortBy, Color, DrawBy, Foul, Outcome, WinBy,
    adjudicate::{Adjudication, Adjudicator, Verdict},
    clock::{Budget, Clock, TimeControl},
    event::{Event, GameId, Moved},
    history::{History, Repetition, forget},
    legality::foul,
    rules::{AtLimit, Declaration, Rules},
};
use rsshogi::{
    board::{DeclarationDetail, Position, position_from_sfen},
    types::{EnteringKingRule, Move, Move32},
};
use std::time::Duration;

/// What a game starts from.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Which game it is.
    pub game: GameId,
    /// Its rules.
    pub rules: Rules,
    /// When scores end it.
    pub adjudication: Adjudication,
    /// Both players' time, black first.
    pub times: [TimeControl; 2],
    /// The start position as SFEN.
    pub start: String,
    /// Moves already on the board when the players begin.
    pub opening: Vec<Move>,
    /// The sides, black first, that are told all that is said with the time charged for it ([`Order::Heard`]).
    pub hears: [bool; 2],
    /// Whether a side may turn the game down; else it loses by default.
    pub may_reject: bool,
}

/// What happens to a game.
#[derive(Clone, Debug)]
pub enum Input {
    /// A seat spoke.
    Reply(Color, Reply),
    /// The alarm of the side to move went off.
    FlagFell,
    /// The event is being stopped.
    Stop,
}

/// What a game wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Tell a seat.
    Tell(Color, Order),
    /// Ask a seat that began anew in the middle of its turn: what has passed of the turn is gone from its time.
    AskAgain(Color, Order),
    /// A seat has a fault that does not end the game; the text says which.
    Fault(Color, String),
    /// Both players are ready: the game begins.
    Started,
    /// Something to be recorded.
    Happened(Event),
    /// The game ended; the text is the referee's reason where the ending does not explain itself.
    Ended(Outcome, String),
}

/// Why a game cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The start position is not SFEN.
    #[error("start position `{0}` cannot be read: {1}")]
    Start(String, String),
    /// The opening leaves the rules.
    #[error("move {0} of the opening, `{1}`, is illegal: {2}")]
    Opening(usize, String, &'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Preparing { ready: [bool; 2] },
    Running,
    Over(Outcome),
}

/// A game.
pub struct Game {
    id: GameId,
    rules: Rules,
    position: Position,
    history: History,
    adjudicator: Adjudicator,
    clocks: [Clock; 2],
    /// `position`'s argument, grown move by move.
    line: String,
    last: Option<Move>,
    phase: Phase,
    hears: [bool; 2],
    may_reject: bool,
    /// What there is besides when a server rules.
    away: Option<away::Abroad>,
}

impl Game {
    /// Sets a game up and calls the players.
    ///
    /// # Errors
    /// When the start position cannot be read or the opening is illegal.
    pub fn start(setup: Setup) -> Result<(Self, Vec<Output>), SetupError> {
        rsshogi::board::init();
        let mut position = position_from_sfen(&setup.start)
            .map_err(|e| SetupError::Start(setup.start.clone(), e.to_string()))?;
        position.init_stack();
        position.set_entering_king_rule(declaration_rule(&setup.rules));
        let mut game = Self {
            id: setup.game,
            rules: setup.rules,
            history: History::new(&position, setup.rules.count_start_position),
            adjudicator: Adjudicator::new(setup.adjudication),
            clocks: setup.times.map(Clock::new),
            line: position_argument(&setup.start, &position),
            position,
            last: None,
            hears: setup.hears,
            may_reject: setup.may_reject,
            phase: Phase::Preparing { ready: [false; 2] },
            away: None,
        };
        for (i, &mv) in setup.opening.iter().enumerate() {
            if let Some(foul) = foul(&game.position, mv) {
                return Err(SetupError::Opening(i + 1, mv.to_usi(), WinBy::IllegalMove(foul).name()));
            }
            game.apply(mv);
        }
        let calls = Color::BOTH.map(|color| Output::Tell(color, Order::NewGame { game: game.id, color }));
        Ok((game, calls.to_vec()))
    }

    /// Whether the game still wants inputs.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_))
    }

    /// How the game ended.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self.phase {
            Phase::Over(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        self.position.turn().into()
    }

    /// Plies on the board, the opening's and those before the start position included.
    #[must_use]
    pub fn plies(&self) -> u32 {
        u32::from(self.position.game_ply()).saturating_sub(1)
    }

    /// The position on the board.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// How long after the start of the turn a reply can still be in time; `None` while no clock runs, and where a
    /// server's clock rules.
    #[must_use]
    pub fn allowance(&self) -> Option<Duration> {
        (self.phase == Phase::Running && self.away.is_none())
            .then(|| self.clocks[self.turn().index()].allowance())
    }

    /// Decides what an input means. After the end nothing means anything.
    pub fn handle(&mut self, input: Input) -> Vec<Output> {
        if self.away.is_some() {
            return self.handle_away(input);
        }
        match (self.phase, input) {
            (Phase::Over(_), _) => vec![],
            (_, Input::Stop) => self.end(Outcome::Aborted { by: AbortBy::Stopped }, String::new()),
            (_, Input::Reply(color, Reply::Gone(how))) => self.lose(color, WinBy::Disconnection, how),
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
            self.phase = Phase::Preparing { ready };
            return vec![];
        }
        self.phase = Phase::Running;
        let mut outputs = vec![Output::Started];
        self.tell_all(self.turn(), Word::Start, Duration::ZERO, &mut outputs);
        match self.is_mated_by_rule() {
            true => outputs.extend(self.lose(self.turn(), WinBy::Mate, String::new())),
            false => outputs.push(self.go()),
        }
        outputs
    }

    /// The game is not played; where that is nobody's right, it is lost.
    fn rejected(&mut self, color: Color, expired: bool) -> Vec<Output> {
        let (word, why) =
            if expired { (Word::Expire, "did not agree in time") } else { (Word::Reject, "rejected it") };
        let mut outputs = vec![];
        self.tell_all(color, word, Duration::ZERO, &mut outputs);
        let outcome = match self.may_reject {
            true => Outcome::Aborted { by: AbortBy::NotStarted },
            false => Outcome::loss(color, WinBy::Default),
        };
        outputs.extend(self.end(outcome, format!("{color} {why}")));
        outputs
    }

    /// Tells the sides that hear everything.
    fn tell_all(&self, color: Color, word: Word, charged: Duration, outputs: &mut Vec<Output>) {
        let heard = Heard { color, word, charged };
        let hears = Color::BOTH.into_iter().filter(|side| self.hears[side.index()]);
        outputs.extend(hears.map(|side| Output::Tell(side, Order::Heard(heard))));
    }

    fn flag_fell(&mut self) -> Vec<Output> {
        let allowance = self.clocks[self.turn().index()].allowance();
        let reason = format!("no reply within {} ms", allowance.as_millis());
        self.lose(self.turn(), WinBy::Time, reason)
    }

    fn judge(&mut self, color: Color, answer: Answer) -> Vec<Output> {
        if color != self.turn() {
            return self.lose(color, WinBy::IllegalMove(Foul::OutOfTurn), said_text(&answer.said));
        }
        let clock = &mut self.clocks[color.index()];
        let allowance = clock.allowance();
        let Ok(charged) = clock.charge(answer.elapsed) else {
            let reason = late_text(&answer, allowance);
            return self.lose(color, WinBy::Time, reason);
        };
        let mut said = vec![];
        let ruling = match answer.said {
            Said::Resign => {
                self.tell_all(color, Word::Resign, charged.0, &mut said);
                self.lose(color, WinBy::Resignation, String::new())
            }
            Said::Win => {
                self.tell_all(color, Word::Declare, charged.0, &mut said);
                self.declare(color)
            }
            Said::Unreadable(text) => self.lose(color, WinBy::IllegalMove(Foul::Unreadable), text),
            Said::Move(mv) => match foul(&self.position, mv) {
                Some(foul) => self.lose(color, WinBy::IllegalMove(foul), mv.to_usi()),
                None => self.play(color, mv, charged.0, answer),
            },
        };
        said.extend(ruling);
        said
    }

    /// A declaration is judged by the rule in force; under the 24-point rule 24 to 30 points are a draw.
    fn declare(&mut self, color: Color) -> Vec<Output> {
        let judged = self.position.evaluate_declaration();
        let points = match judged.detail {
            DeclarationDetail::PointRule {
                not_in_check, king_in_enemy_camp, enough_pieces, points, ..
            } => (not_in_check && king_in_enemy_camp && enough_pieces).then_some(points),
            _ => None,
        };
        if judged.can_declare {
            self.end(Outcome::Win { winner: color, by: WinBy::Declaration }, String::new())
        } else if self.rules.declaration == Declaration::Csa24 && points.is_some_and(|points| points >= 24) {
            self.end(Outcome::Draw { by: DrawBy::Impasse }, String::new())
        } else {
            self.lose(color, WinBy::IllegalDeclaration, declaration_text(&judged.detail))
        }
    }

    fn play(&mut self, color: Color, mv: Move, charged: Duration, answer: Answer) -> Vec<Output> {
        let piece = self.position.moved_piece_after_move(mv);
        let repetition = self.apply(mv);
        let score = answer.thought.as_ref().and_then(|thought| thought.score);
        let moved = Moved {
            game: self.id,
            ply: self.plies(),
            color,
            mv,
            charged,
            elapsed: answer.elapsed,
            left: self.clocks[color.index()].left(),
            thought: answer.thought,
        };
        let mut outputs = Vec::with_capacity(4);
        outputs.push(Output::Happened(Event::Moved(moved)));
        self.tell_all(color, Word::Move(Move32::from_move_with_piece(mv, piece)), charged, &mut outputs);
        let adjudicated = self.adjudicator.moved(color, self.plies(), score);
        match self.ruling(color, repetition).or(adjudicated.map(adjudication)) {
            Some(outcome) => outputs.extend(self.end(outcome, String::new())),
            None => {
                outputs.push(self.go());
                if answer.ponders {
                    outputs.push(Output::Tell(color, Order::Ponder(Budget::new(&self.clocks, color))));
                }
            }
        }
        outputs
    }

    /// What the position after a legal move of `mover` means, scores aside.
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
        if self.rules.max_moves.is_some_and(|max| self.plies() >= max) {
            return match self.rules.at_limit {
                AtLimit::Draw => Some(limit),
                AtLimit::MateWins => Some(if self.position.is_mated() { mate() } else { limit }),
                AtLimit::CheckExtends if self.position.is_mated() => Some(mate()),
                AtLimit::CheckExtends => self.position.checkers().is_empty().then_some(limit),
            };
        }
        self.is_mated_by_rule().then(mate)
    }

    fn is_mated_by_rule(&self) -> bool {
        self.rules.mate_ends_game && self.position.is_mated()
    }

    /// Under the try rule, whether the king of `mover` stands where the opponent's started.
    fn tried(&self, mover: Color) -> bool {
        let goal = match mover {
            Color::Black => rsshogi::types::SQ_51,
            Color::White => rsshogi::types::SQ_59,
        };
        self.rules.declaration == Declaration::Try && self.position.king_square(mover.into()) == goal
    }

    /// Puts a legal move on the board.
    fn apply(&mut self, mv: Move) -> Option<Repetition> {
        let piece = self.position.moved_piece_after_move(mv);
        self.position.apply_move32(Move32::from_move_with_piece(mv, piece));
        forget(&mut self.position);
        if self.last.is_none() {
            self.line.push_str(" moves");
        }
        self.line.push(' ');
        push_usi(&mut self.line, mv);
        self.last = Some(mv);
        self.history.push(&self.position)
    }

    fn go(&self) -> Output {
        let color = self.turn();
        let budget = Budget::new(&self.clocks, color);
        Output::Tell(color, Order::Go { position: self.line.clone(), last: self.last, budget })
    }

    fn lose(&mut self, loser: Color, by: WinBy, reason: String) -> Vec<Output> {
        self.end(Outcome::loss(loser, by), reason)
    }

    fn end(&mut self, outcome: Outcome, reason: String) -> Vec<Output> {
        self.phase = Phase::Over(outcome);
        let told = Color::BOTH.map(|color| Output::Tell(color, Order::Over(outcome)));
        told.into_iter().chain([Output::Ended(outcome, reason)]).collect()
    }
}

fn adjudication(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Lost(color) => Outcome::loss(color, WinBy::Adjudication),
        Verdict::Draw => Outcome::Draw { by: DrawBy::Adjudication },
    }
}

fn declaration_rule(rules: &Rules) -> EnteringKingRule {
    match (rules.declaration, rules.handicap_credit) {
        (Declaration::None, _) => EnteringKingRule::None,
        (Declaration::Csa27, true) => EnteringKingRule::Point27Handicap,
        (Declaration::Csa27, false) => EnteringKingRule::Point27,
        (Declaration::Csa24, true) => EnteringKingRule::Point24Handicap,
        (Declaration::Csa24, false) => EnteringKingRule::Point24,
        (Declaration::Try, _) => EnteringKingRule::TryRule,
    }
}

/// `startpos` for the even start, as some engines know their opening book only by it.
fn position_argument(start: &str, position: &Position) -> String {
    const EVEN: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    if position.to_sfen(None) == EVEN { "startpos".to_owned() } else { format!("sfen {start}") }
}

/// Appends a move in USI without building a string for it: once per ply of every game.
fn push_usi(line: &mut String, mv: Move) {
    let square = |line: &mut String, sq: rsshogi::types::Square| {
        line.push(char::from(b'1' + sq.file().raw().unsigned_abs()));
        line.push(char::from(b'a' + sq.rank().raw().unsigned_abs()));
    };
    if mv.is_drop() {
        line.push_str(&mv.to_usi());
        return;
    }
    square(line, mv.from_sq());
    square(line, mv.to_sq());
    if mv.is_promotion() {
        line.push('+');
    }
}

fn said_text(said: &Said) -> String {
    match said {
        Said::Move(mv) => mv.to_usi(),
        Said::Resign => "resign".to_owned(),
        Said::Win => "win".to_owned(),
        Said::Unreadable(text) => text.clone(),
    }
}

fn late_text(answer: &Answer, allowance: Duration) -> String {
    let said = said_text(&answer.said);
    format!("`{said}` came after {} ms of {} ms", answer.elapsed.as_millis(), allowance.as_millis())
}

fn declaration_text(detail: &DeclarationDetail) -> String {
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
#[path = "game_tests.rs"]
mod tests;

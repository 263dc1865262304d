//! The seat of a foreign server, which stands for our opponent and rules the game: the conversation, without the socket.
//! As with [`super::csa_host`], lines come in with the instant they were read at, and orders from the game; bytes to
//! send go out into a buffer. The owner of the socket, in the client, carries them.
//!
//! Servers differ in how they end a game, and every way is understood: `%TORYO` with and without a time, `%KACHI` once
//! or twice, an illegal move with or without an echo before `#ILLEGAL_MOVE`, a result without a reason.
//! A reason alone ends nothing but for `#CHUDAN`, behind which other servers write why. Blank lines and `##` lines may
//! stand anywhere.
//!
//! # A lost connection
//! [`CsaClient::lost`] keeps the game, whose clocks go on, and [`CsaClient::resume`] takes it up where the server offers it
//! again: the moves made meanwhile come from the summary, and an answer without an echo is submitted once more.

mod comment;
mod ending;

use super::{ActorEnd, Seat, pair, reserve::Reserve, reserve::Sample};
use ending::Words;
use notation::csa::{
    move_from_csa, move_to_csa,
    wire::{ChargedTime, Ending, ServerLine},
};
use referee::{
    Color, Foul,
    entry::GameId,
    game::{Answer, Order, Reply, RuledMove, Ruling, Said},
    legality::foul,
};
use rsshogi::{
    board::{Position, position_from_sfen},
    types::{Move, Move32},
};
use std::{collections::VecDeque, io::Write, time::Duration};
use tokio::time::Instant;

/// Most time for a server to say that a move that it echoed was illegal.
const AFTERTHOUGHT: Duration = Duration::from_secs(3);
/// Most time from our agreement to the start or the rejection of the game (shogi-server rejects within three minutes).
const AGREEMENT: Duration = Duration::from_secs(300);

/// A game on a server, as the seat needs it.
#[derive(Clone, Debug)]
pub struct SeatTerms {
    /// The game.
    pub game: GameId,
    /// Its name on the server.
    pub game_id: Option<String>,
    /// Our side.
    pub color: Color,
    /// The start position as SFEN.
    pub start: String,
    /// Moves on the board already.
    pub opening: Vec<Move>,
    /// How the server counts time.
    pub count: Count,
    /// True if the evaluation of our engine is sent with its moves.
    pub comments: bool,
}

/// How a server counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The time of a `T1`. (`T1.0` is a second.)
    pub unit: Duration,
    /// Least charge of a move.
    pub least: Duration,
    /// Begun units are charged whole.
    pub roundup: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The summary was read.
    Offered,
    /// We have agreed.
    Agreed,
    /// The clocks run.
    Playing,
    /// The clocks run, but the connection was lost, or the server has not confirmed our return.
    Away,
    /// The server has ruled, or the line is dead.
    Over,
}

/// A move that is illegal by our rules; the next line of the server may say so too.
struct Held {
    ruled: RuledMove,
    foul: Foul,
    until: Instant,
}

/// An answer of ours on its way.
struct Submitted {
    at: Instant,
    answer: Answer,
}

/// The conversation.
pub struct CsaClient {
    end: ActorEnd,
    terms: SeatTerms,
    phase: Phase,
    /// True if the game at this end is over.
    done: bool,
    position: Position,
    reserve: Reserve,
    /// When the turn began, as it was read here.
    turn: Instant,
    agreed: Option<Instant>,
    /// Our answer, until its echo.
    submitted: Option<Submitted>,
    /// Moves on the board, with those of the opening.
    moves: Vec<Move>,
    /// True from a lost connection to the echo of our next move, which says nothing about the way to the server.
    was_away: bool,
    /// True if we have logged out in the midst of the game.
    logged_out: bool,
    /// The last move of the server, which may repeat it.
    last: String,
    held: Option<Held>,
    words: Words,
    replies: VecDeque<Reply>,
}

/// Seats a server: the game's end of the seat, and the conversation.
pub fn seat(terms: SeatTerms, reserve: Reserve, now: Instant) -> (Seat, CsaClient) {
    let (seat, end) = pair();
    rsshogi::board::init();
    let mut position = position_from_sfen(&terms.start).unwrap_or_default();
    position.init_stack();
    let words = Words::new(terms.color);
    let mut client = CsaClient {
        end,
        phase: Phase::Offered,
        done: false,
        position,
        reserve,
        turn: now,
        agreed: None,
        submitted: None,
        moves: vec![],
        was_away: false,
        logged_out: false,
        last: String::new(),
        held: None,
        words,
        replies: VecDeque::new(),
        terms,
    };
    for mv in client.terms.opening.clone() {
        client.apply(mv);
    }
    (seat, client)
}

impl CsaClient {
    /// The next order of the game; `None` when the game is gone.
    pub async fn order(&mut self) -> Option<Order> {
        self.end.inbox.recv().await
    }

    /// Sends the waiting replies to the game.
    pub async fn deliver(&mut self) {
        while let Some(reply) = self.replies.pop_front() {
            let _game_over = self.end.outbox.send((self.terms.game, reply)).await;
        }
    }

    /// True if the game has ended at this end: nothing more is to be sent or read.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// True if the server has ruled: its next lines are about another game.
    pub fn is_ruled(&self) -> bool {
        self.phase == Phase::Over
    }

    /// The reserve as learned so far.
    pub fn reserve(&self) -> &Reserve {
        &self.reserve
    }

    /// When [`CsaClient::expire`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        match (&self.held, self.phase) {
            (Some(held), _) => Some(held.until),
            (None, Phase::Agreed | Phase::Away) => self.agreed.map(|at| at + AGREEMENT),
            _ => None,
        }
    }

    /// The server has let the deadline pass.
    pub fn expire(&mut self) {
        match self.held.take() {
            Some(held) => self.tell(held.ruled),
            None => self.gone("it said neither START nor REJECT".to_owned()),
        }
    }

    /// The connection to the server is dead.
    pub fn gone(&mut self, how: String) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            self.replies.push_back(Reply::Gone(how));
        }
    }

    /// True if the game may go on over another connection: it runs, and we do not leave it.
    pub fn may_return(&self) -> bool {
        let resigned = |submitted: &Submitted| submitted.answer.said == Said::Resign;
        let leaves = self.logged_out || self.submitted.as_ref().is_some_and(resigned);
        matches!(self.phase, Phase::Playing | Phase::Away) && self.terms.game_id.is_some() && !leaves
    }

    /// The connection is lost; the game goes on without it.
    pub fn lost(&mut self) {
        self.release();
        (self.phase, self.agreed, self.was_away) = (Phase::Away, None, true);
    }

    /// Obeys the game while there is no connection, until it ends.
    pub async fn wait(&mut self) {
        while !self.is_done() {
            let Some(order) = self.order().await else { break };
            self.obey(order, Instant::now(), &mut vec![]);
        }
    }

    /// Goes on with the game that the server offers anew, with `moves` as the summary has them; false if it is another
    /// one, or another course of it.
    ///
    /// The server's clocks have not stopped. The times of the moves made meanwhile say when the turn began, as far as
    /// fractions are not dropped; what has passed since is no more ours.
    pub fn resume(
        &mut self,
        offered: &SeatTerms,
        moves: &[(String, Option<ChargedTime>)],
        now: Instant,
        out: &mut Vec<u8>,
    ) -> bool {
        let SeatTerms { game_id, color, start, opening, .. } = offered;
        let same = (game_id, color, start) == (&self.terms.game_id, &self.terms.color, &self.terms.start);
        if !same || game_id.is_none() || !opening.starts_with(&self.moves) {
            return false;
        }
        let known = self.moves.len();
        for (word, time) in moves.iter().skip(known) {
            let charged = time.map_or(Duration::ZERO, |time| time.with_unit(self.terms.count.unit));
            let at = now.min(self.turn + self.terms.count.measured(charged));
            self.played(word, *time, word.clone(), at);
        }
        if let Some(Reply::Ruled(Ruling::Moved(ruled))) =
            self.replies.back_mut().filter(|_| moves.len() > known)
        {
            ruled.passed = now.saturating_duration_since(self.turn);
        }
        self.agreed = Some(now);
        self.say_with_id("AGREE", out);
        true
    }

    /// Takes a line of the server that was read at that instant; what is to be sent goes into `out`.
    pub fn line(&mut self, line: &[u8], at: Instant, out: &mut Vec<u8>) {
        self.end.trace.received(line);
        let text = String::from_utf8_lossy(line);
        let raw = notation::printable(line);
        let read: ServerLine = text.parse().unwrap_or_else(|never| match never {});
        if self.phase == Phase::Over || matches!(read, ServerLine::Blank | ServerLine::Notice(_)) {
            return;
        }
        match read {
            ServerLine::Start(_) if self.phase == Phase::Away => self.go_on(at, out),
            ServerLine::Start(_) => self.begin(at),
            ServerLine::Rejected { by, .. } if self.phase == Phase::Away => {
                self.gone(format!("our return was rejected by {}", notation::printable(by.as_bytes())));
            }
            ServerLine::Rejected { by, .. } => {
                let by = notation::printable(by.as_bytes());
                self.rule(Ruling::Rejected(format!("rejected by {by}")));
            }
            ServerLine::Played { text, time } => {
                let word = text.split(',').next().unwrap_or_default();
                self.played(word, time.map(ChargedTime::Units), raw, at);
            }
            ServerLine::Ending(reason) => {
                self.words.reason(reason, raw);
                match (reason, self.held.take()) {
                    (Ending::IllegalMove, Some(held)) => self.words.foul(held.foul),
                    (_, Some(held)) => self.tell(held.ruled),
                    (_, None) => {}
                }
                if reason == Ending::Chudan {
                    self.ended();
                }
            }
            ServerLine::Result(result) => {
                self.words.result(result, raw);
                self.release();
                self.ended();
            }
            // shogi-server lets us go at once and rules when the side to move has moved: against the side that left.
            ServerLine::LoggedOut if self.logged_out => {
                self.words.let_go(raw);
                self.ended();
            }
            ServerLine::Text(text) if text.starts_with("#CHUDAN ") => {
                self.words.reason(Ending::Chudan, raw);
                self.release();
                self.ended();
            }
            // A line with decimals in the time, with comments or with other fields.
            ServerLine::Text(text) if text.starts_with(['+', '-', '%']) => {
                let mut fields = text.split(',');
                let word = fields.next().unwrap_or_default().to_owned();
                let time = fields.find_map(|field| field.strip_prefix('T')?.parse().ok());
                self.played(&word, time, raw, at);
            }
            _ => {}
        }
    }

    fn begin(&mut self, at: Instant) {
        if self.phase == Phase::Agreed {
            self.agreed.iter().for_each(|sent| self.reserve.greeted(at.saturating_duration_since(*sent)));
            self.phase = Phase::Playing;
            self.turn = at;
            self.replies.push_back(Reply::Ready);
        }
    }

    /// The server has taken us back.
    fn go_on(&mut self, now: Instant, out: &mut Vec<u8>) {
        self.phase = Phase::Playing;
        if let Some(Submitted { at, answer }) = self.submitted.take() {
            self.submit(answer, now, out);
            self.submitted.iter_mut().for_each(|submitted| submitted.at = at);
        }
    }

    /// A move or a special word, with the time charged.
    fn played(&mut self, word: &str, time: Option<ChargedTime>, raw: String, at: Instant) {
        if !matches!(self.phase, Phase::Playing | Phase::Away) || word.len() < 2 || word == self.last {
            return;
        }
        self.release();
        if word.starts_with('%') {
            return self.words.special(word, raw);
        }
        let charged = time.map(|time| time.with_unit(self.terms.count.unit));
        let color = if word.starts_with('+') { Color::Black } else { Color::White };
        let turn = Color::from(self.position.turn());
        let elapsed = self.measure(color, charged, at);
        let mv = move_from_csa(&self.position, word);
        let said = mv.map_or_else(|| Said::Unreadable(word.to_owned()), Said::Move);
        let foul = match mv {
            _ if color != turn => Some(Foul::OutOfTurn),
            Some(mv) => foul(&self.position, mv),
            None => Some(Foul::Unreadable),
        };
        word.clone_into(&mut self.last);
        let ruled =
            RuledMove { color, said, raw, charged, elapsed, lag: self.reserve.now(), passed: Duration::ZERO };
        match (foul, mv) {
            (None, Some(mv)) => {
                self.turn = at;
                self.apply(mv);
                self.tell(ruled);
            }
            (foul, _) => {
                let foul = foul.unwrap_or(Foul::Unreadable);
                self.held = Some(Held { ruled, foul, until: at + AFTERTHOUGHT });
            }
        }
    }

    /// The time of a move as measured here; a move of ours also teaches the reserve.
    fn measure(&mut self, color: Color, charged: Option<Duration>, at: Instant) -> Duration {
        let sent = self.submitted.take_if(|_| color == self.terms.color);
        let Some(Submitted { at: sent, .. }) = sent else { return at.saturating_duration_since(self.turn) };
        let own = sent.saturating_duration_since(self.turn);
        let charged = self.terms.count.measured(charged.unwrap_or_default());
        if !std::mem::take(&mut self.was_away) {
            self.reserve.observe(Sample { own, echo: at.saturating_duration_since(sent), charged });
        }
        own
    }

    fn apply(&mut self, mv: Move) {
        let piece = self.position.moved_piece_after_move(mv);
        // The referee has ruled on it; only a start that cannot be read would make it fail.
        let _legal = self.position.try_apply_move32(Move32::from_move_with_piece(mv, piece));
        self.moves.push(mv);
    }

    /// Passes a held move on: the server has gone on without an objection.
    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.tell(held.ruled);
        }
    }

    fn tell(&mut self, ruled: RuledMove) {
        self.replies.push_back(Reply::Ruled(Ruling::Moved(ruled)));
    }

    fn ended(&mut self) {
        let (outcome, words) = self.words.outcome();
        self.rule(Ruling::Ended { outcome, words });
    }

    fn rule(&mut self, ruling: Ruling) {
        self.phase = Phase::Over;
        self.replies.push_back(Reply::Ruled(ruling));
    }

    /// Carries out an order of the game; what is to be sent goes into `out`.
    pub fn obey(&mut self, order: Order, now: Instant, out: &mut Vec<u8>) {
        let begun = out.len();
        match order {
            Order::NewGame { .. } if self.phase == Phase::Offered => {
                self.phase = Phase::Agreed;
                self.agreed = Some(now);
                self.say_with_id("AGREE", out);
            }
            Order::Submit(answer) if self.phase == Phase::Playing => self.submit(answer, now, out),
            Order::Submit(answer) if self.phase == Phase::Away => {
                self.submitted = Some(Submitted { at: now, answer });
            }
            Order::Over(_) => {
                if matches!(self.phase, Phase::Offered | Phase::Agreed) {
                    self.say_with_id("REJECT", out);
                }
                self.phase = Phase::Over;
                self.done = true;
            }
            _ => {}
        }
        for line in out[begun..].split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            self.end.trace.sent(line);
        }
    }

    fn say_with_id(&self, word: &str, out: &mut Vec<u8>) {
        let _infallible = match &self.terms.game_id {
            Some(id) => writeln!(out, "{word} {id}"),
            None => writeln!(out, "{word}"),
        };
    }

    /// What leaves out of turn would wait at the server for the turn: who resigns then logs out, which is ruled at
    /// once (shogi-server; the protocol's text does not say).
    fn submit(&mut self, answer: Answer, now: Instant, out: &mut Vec<u8>) {
        let ours = Color::from(self.position.turn()) == self.terms.color && self.submitted.is_none();
        let line = match &answer.said {
            Said::Resign if !ours => "LOGOUT".to_owned(),
            Said::Resign => "%TORYO".to_owned(),
            Said::Win => "%KACHI".to_owned(),
            Said::Move(mv) => self.spell(*mv, &answer),
            Said::Unreadable(_) => return, // no game submits it
        };
        self.submitted = Some(Submitted { at: now, answer });
        self.logged_out |= line == "LOGOUT";
        let _infallible = writeln!(out, "{line}");
    }

    fn spell(&self, mv: Move, answer: &Answer) -> String {
        let mut line = move_to_csa(&self.position, mv).unwrap_or_default();
        let thought = answer.thought.as_deref().filter(|_| self.terms.comments);
        let comment = thought.and_then(|thought| comment::text(&self.position, mv, thought));
        if let Some(comment) = comment {
            line.push(',');
            line.push_str(&comment);
        }
        line
    }
}

impl Count {
    /// What the server is sure to have measured when it charged so much.
    fn measured(&self, charged: Duration) -> Duration {
        let added = if self.roundup { self.unit } else { Duration::ZERO };
        if charged <= self.least { Duration::ZERO } else { charged.saturating_sub(added) }
    }
}

#[cfg(test)]
#[path = "csa_client_tests.rs"]
mod tests;

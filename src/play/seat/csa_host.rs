//! A remote player in one game that is refereed here: the conversation, without the socket.
//!
//! Lines come in with the instant they arrived at, and orders from the game; bytes to send go out into a buffer. The
//! owner of the socket, in the host, carries them.

use super::{ActorEnd, Seat, pair};
use crate::transcript::{Transcript, Transcripts};
use notation::clipped;
use notation::csa::{
    move_from_csa,
    summary::{Summary, TimeUnit},
    wire::{ChargedTime, ClientLine, Ending, GameResult, Played, ServerLine},
};
use plan::serve::Compat;
use platform::limits::SharedBucket;
use referee::{
    AbortBy, Color, DrawBy, Outcome, WinBy,
    entry::GameId,
    game::{Answer, Heard, Order, Reply, Said, Word},
    history::forget,
    sink::Direction,
};
use rsshogi::{
    board::{Position, position_from_sfen},
    types::{Move, Move32},
};
use std::{collections::VecDeque, fmt, io::Write, time::Duration};
use tokio::time::Instant;

/// Bytes of a line that are always kept: more than any move, declaration or answer to an offer has. Lines that a game does
/// not expect, long lines and comments share an allowance of their player's address: a game alone is bounded too, but an
/// address may begin many.
const PLAIN: usize = 64;
/// Bytes kept of the comment of a move, escapes included. A row of the database that is a little longer takes a page of
/// 4 KB for itself.
const COMMENT: usize = 800;
/// Lines kept that came while the opponent was to move.
const EARLY: usize = 4;

/// Parts of a Game_ID between `+`: event, game, both players, date.
const PARTS: usize = 5;

/// What a player is seated with.
#[derive(Clone, Debug)]
pub struct SeatTerms {
    /// The game.
    pub game: GameId,
    /// The side.
    pub color: Color,
    /// The game as it is announced.
    pub summary: Summary,
    /// Moves on the board already.
    pub opening: Vec<Move>,
    /// The server whose habits are followed.
    pub compat: Compat,
    /// How long the player has to agree.
    pub agreement: Duration,
    /// Unit of the times charged.
    pub unit: TimeUnit,
    /// Bytes kept of the player's lines, and of its comments.
    pub game_bytes: usize,
    /// What all players of the address may have kept beside their moves.
    pub allowance: SharedBucket,
}

/// A player in a game.
pub struct CsaHost {
    end: ActorEnd,
    terms: SeatTerms,
    phase: Phase,
    position: Position,
    /// Since when the player is to move.
    asked: Option<Instant>,
    agree_by: Option<Instant>,
    early: VecDeque<(Played, Instant)>,
    /// The last line that was taken as a move of this player; a repetition of it is dropped.
    last_own: String,
    resigned: bool,
    left: bool,
    /// The transcript, if the host keeps one.
    transcript: Option<Transcript>,
    /// Lines for a player who comes back, to be sent once it agrees to go on.
    unsaid: Vec<u8>,
    /// Bytes of comments that may still be kept.
    comments_left: usize,
}

/// The stage of a game, as the player sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The summary was sent; the player has not answered.
    Offered,
    /// Agreed; the opponent has not yet.
    Agreed,
    /// The clocks run.
    Playing,
    /// The connection was lost; the summary was sent again with the moves so far, and the player has not answered.
    Returning,
    /// The end was sent.
    Over,
}

/// Seats a player: the game's end of the seat, and the conversation.
pub fn seat(terms: SeatTerms) -> (Seat, CsaHost) {
    let (mut seat, end) = pair();
    seat.timed_by_arrival = true;
    rsshogi::board::init();
    let mut position = position_from_sfen(&terms.summary.start).unwrap_or_default();
    position.init_stack();
    let mut host = CsaHost {
        end,
        phase: Phase::Offered,
        position,
        asked: None,
        agree_by: None,
        early: VecDeque::new(),
        last_own: String::new(),
        resigned: false,
        left: false,
        transcript: None,
        unsaid: vec![],
        comments_left: terms.game_bytes,
        terms,
    };
    for mv in host.terms.opening.clone() {
        let piece = host.position.moved_piece_after_move(mv);
        host.apply(Move32::from_move_with_piece(mv, piece));
    }
    (seat, host)
}

impl CsaHost {
    /// The next order of the game; `None` when the game is gone.
    pub async fn order(&mut self) -> Option<Order> {
        self.end.inbox.recv().await
    }

    /// The stage of the game.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The Game_ID, as it is announced.
    pub fn game_id(&self) -> &str {
        self.terms.summary.game_id.as_deref().unwrap_or_default()
    }

    /// True if an answer with this id is meant for the game. shogi-server does not read what stands behind `AGREE`, so
    /// there only the Game_ID of another game is taken for one.
    pub fn is_meant(&self, id: &str) -> bool {
        let is_id = self.terms.compat == Compat::Protocol || id.matches('+').count() >= PARTS - 1;
        id == self.game_id() || !is_id
    }

    /// When [`CsaHost::expire`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.agree_by.filter(|_| matches!(self.phase, Phase::Offered | Phase::Returning))
    }

    /// True if the clocks run and the player has not left, so that the game may be held for it.
    pub fn is_under_way(&self) -> bool {
        matches!(self.phase, Phase::Playing | Phase::Returning) && !self.left
    }

    /// Keeps every line of the game from now on.
    pub fn keep(&mut self, transcripts: &Transcripts) {
        let SeatTerms { game, color, game_bytes, .. } = self.terms;
        self.transcript = Some(transcripts.open_within(game, color, game_bytes));
    }

    /// Notes a line that was read, for the record of a dispute. Of lines that the game does not expect, less is kept.
    pub fn received(&mut self, bytes: &[u8], line: &ClientLine, at: Instant) {
        self.end.trace.received(bytes);
        let Some(expected) = self.transcript.is_some().then(|| self.expects(line)) else { return };
        let more = if expected { bytes.len().saturating_sub(PLAIN) } else { bytes.len() };
        let allowed = more == 0 || self.terms.allowance.take(more, at);
        self.transcript.iter_mut().for_each(|transcript| match (expected, allowed) {
            (true, true) => transcript.line(at, Direction::Received, bytes),
            (true, false) => transcript.cut_line(at, &bytes[..bytes.len().min(PLAIN)]),
            (false, true) => transcript.aside(at, bytes),
            (false, false) => transcript.end_asides(at),
        });
    }

    fn expects(&self, line: &ClientLine) -> bool {
        match line {
            ClientLine::Move(played) | ClientLine::Special(played) => {
                self.asked.is_some() || self.may_wait(played)
            }
            ClientLine::Agree(_) => matches!(self.phase, Phase::Offered | Phase::Returning),
            ClientLine::Reject(_) => !matches!(self.phase, Phase::Playing | Phase::Over),
            ClientLine::Logout => true,
            _ => false,
        }
    }

    /// True if a line out of turn is kept for the turn.
    fn may_wait(&self, played: &Played) -> bool {
        played.text != self.last_own && self.early.len() < EARLY
    }

    /// The player agrees; false if there was nothing to agree to.
    pub fn agree(&mut self) -> bool {
        let now = self.phase == Phase::Offered;
        if now {
            self.phase = Phase::Agreed;
            self.reply(Reply::Ready);
        }
        now
    }

    /// The player rejects the game; false if there was nothing to reject.
    pub fn reject(&mut self) -> bool {
        if self.phase == Phase::Returning {
            self.leave("rejected its game when it came back");
            return true;
        }
        let now = matches!(self.phase, Phase::Offered | Phase::Agreed);
        if now {
            self.reply(Reply::Rejected { expired: false });
        }
        now
    }

    /// The player has not answered the offer within [`SeatTerms::agreement`].
    pub fn expire(&mut self) {
        self.agree_by = None;
        match self.phase {
            Phase::Returning => self.leave("came back and did not agree to go on"),
            _ => self.reply(Reply::Rejected { expired: true }),
        }
    }

    /// Gives the player the whole time to agree anew.
    pub fn postpone(&mut self, now: Instant) {
        self.agree_by = Some(now + self.terms.agreement);
    }

    /// The player has left: before the start a rejection, later a loss.
    pub fn leave(&mut self, how: &str) {
        if !std::mem::replace(&mut self.left, true) {
            // The game may have begun without this side's knowledge: it takes the reply that fits.
            self.reject();
            self.reply(Reply::Gone(how.to_owned()));
        }
    }

    /// Takes a move or a special word that was read at that instant; true if it was an answer. Out of turn it waits for
    /// the turn, as with shogi-server; a line that repeats the last move is dropped.
    pub fn played(&mut self, played: Played, at: Instant) -> bool {
        if self.asked.is_none() {
            if self.may_wait(&played) {
                self.early.push_back((played, at));
            }
            return false;
        }
        self.answer(played, at);
        true
    }

    fn answer(&mut self, played: Played, at: Instant) {
        let Some(asked) = self.asked.take() else { return };
        let mut thought = played.thought(self.terms.color == Color::Black).map(Box::new);
        if let Some(thought) = &mut thought {
            // It will be read by people, in terminals and files.
            let pv = thought.pv.take().map(|pv| clipped(&pv, COMMENT));
            let allowance = &self.terms.allowance;
            thought.pv = pv.filter(|pv| pv.len() <= self.comments_left && allowance.take(pv.len(), at));
            self.comments_left -= thought.pv.as_ref().map_or(0, String::len);
        }
        let said = match played.text.as_str() {
            "%TORYO" => Said::Resign,
            "%KACHI" => Said::Win,
            text => match move_from_csa(&self.position, text) {
                Some(mv) => Said::Move(mv),
                None => Said::Unreadable(clipped(&played.to_string(), COMMENT)),
            },
        };
        self.last_own = played.text;
        let elapsed = at.saturating_duration_since(asked);
        self.reply(Reply::Answer(Answer { said, elapsed, ponders: false, thought }));
    }

    /// Replies to the game. There is at most one answer a turn, so the mailbox has room; a game that is over drops it.
    fn reply(&mut self, reply: Reply) {
        let _game_over = self.end.outbox.try_send((self.terms.game, reply));
    }

    /// Carries out an order of the game; what is to be sent goes into `out`.
    pub fn obey(&mut self, order: Order, now: Instant, out: &mut Vec<u8>) {
        let begun = out.len();
        let returning = self.phase == Phase::Returning;
        let mut unsaid = std::mem::take(&mut self.unsaid);
        self.carry_out(order, now, if returning { &mut unsaid } else { out });
        self.unsaid = unsaid;
        if returning && self.phase == Phase::Over {
            self.catch_up(out);
        }
        self.sent(&out[begun..], now);
    }

    fn carry_out(&mut self, order: Order, now: Instant, out: &mut Vec<u8>) {
        match order {
            Order::NewGame { .. } => self.offer(now, out),
            Order::Heard(heard) => self.hear(heard, out),
            Order::Go { .. } => self.go(now),
            Order::Options(_) | Order::Ponder(_) | Order::Submit(_) => {}
            Order::Over(outcome) => self.over(outcome, out),
        }
    }

    fn sent(&mut self, lines: &[u8], at: Instant) {
        for line in lines.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            self.end.trace.sent(line);
            self.transcript.iter_mut().for_each(|transcript| transcript.line(at, Direction::Sent, line));
        }
        if self.phase == Phase::Over {
            self.transcript = None;
        }
    }

    /// Offers the game as it stands to a player who is back on a new connection. The clocks have not stopped.
    pub fn come_back(&mut self, now: Instant, out: &mut Vec<u8>) {
        let begun = out.len();
        self.phase = Phase::Returning;
        self.unsaid.clear();
        if self.terms.compat == Compat::ShogiServer {
            self.terms.summary.to_move = Color::from(self.position.turn());
        }
        self.offer(now, out);
        self.sent(&out[begun..], now);
    }

    /// The player agrees to go on; false if it was not asked to.
    pub fn go_on(&mut self, at: Instant, out: &mut Vec<u8>) -> bool {
        let now = self.phase == Phase::Returning;
        if now {
            self.phase = Phase::Playing;
            let begun = out.len();
            self.catch_up(out);
            self.sent(&out[begun..], at);
        }
        now
    }

    fn catch_up(&mut self, out: &mut Vec<u8>) {
        say(out, &ServerLine::Start(self.terms.summary.game_id.clone().unwrap_or_default()));
        out.append(&mut self.unsaid);
    }

    fn offer(&mut self, now: Instant, out: &mut Vec<u8>) {
        self.agree_by = Some(now + self.terms.agreement);
        self.terms.summary.your_turn = Some(self.terms.color);
        let _infallible = write!(out, "{}", self.terms.summary);
    }

    fn go(&mut self, now: Instant) {
        self.asked = Some(now);
        if let Some((played, at)) = self.early.pop_front() {
            self.answer(played, at);
        }
    }

    fn hear(&mut self, Heard { color, word, charged }: Heard, out: &mut Vec<u8>) {
        let id = || self.terms.summary.game_id.clone().unwrap_or_default();
        let charged = self.terms.unit.count(charged);
        let timed = (self.terms.compat == Compat::Protocol).then_some(charged);
        match word {
            Word::Start => {
                self.phase = Phase::Playing;
                say(out, &ServerLine::Start(id()));
            }
            Word::Move(mv) => self.moved(color, mv, charged, out),
            Word::Resign => {
                self.resigned = true;
                self.special("%TORYO", timed, out);
            }
            Word::Declare => self.special("%KACHI", Some(charged), out),
            Word::Reject => {
                let by = self.terms.summary.names[color.index()].clone();
                self.rejected(by, out);
            }
            Word::Expire => self.rejected("the Server (timed out)".to_owned(), out),
        }
    }

    fn moved(&mut self, color: Color, mv: Move32, charged: u64, out: &mut Vec<u8>) {
        let text = mv.to_csa().unwrap_or_default();
        let _infallible = writeln!(out, "{text},T{charged}");
        if color == self.terms.color {
            self.last_own.clone_from(&text);
        }
        self.apply(mv);
        self.terms.summary.moves.push((text, Some(ChargedTime::Units(charged))));
    }

    fn apply(&mut self, mv: Move32) {
        // The referee has ruled on it; only a start that cannot be read would make it fail.
        let _legal = self.position.try_apply_move32(mv);
        forget(&mut self.position);
    }

    fn special(&mut self, word: &str, time: Option<u64>, out: &mut Vec<u8>) {
        say(out, &ServerLine::Played { text: word.to_owned(), time });
    }

    fn rejected(&mut self, by: String, out: &mut Vec<u8>) {
        let game = self.terms.summary.game_id.clone().unwrap_or_default();
        self.phase = Phase::Over;
        say(out, &ServerLine::Rejected { game, by });
    }

    fn over(&mut self, outcome: Outcome, out: &mut Vec<u8>) {
        if self.phase == Phase::Over {
            return;
        }
        if !matches!(self.phase, Phase::Playing | Phase::Returning) {
            return self.rejected("the Server".to_owned(), out);
        }
        self.phase = Phase::Over;
        let (ending, result) = ending(outcome, self.terms.color);
        if ending == Ending::Resign && !self.resigned {
            self.special("%TORYO", None, out);
        }
        if declared(outcome) && self.terms.compat == Compat::ShogiServer {
            self.special("%KACHI", None, out);
        }
        say(out, &ServerLine::Ending(ending));
        if let Some(result) = result {
            say(out, &ServerLine::Result(result));
        }
    }
}

impl fmt::Debug for CsaHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsaHost")
            .field("terms", &self.terms)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

/// Dropping an active seat counts as disconnecting.
impl Drop for CsaHost {
    fn drop(&mut self) {
        if self.phase != Phase::Over {
            self.leave("the connection ended");
        }
    }
}

fn say(out: &mut Vec<u8>, line: &ServerLine) {
    let _infallible = writeln!(out, "{line}");
}

fn declared(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Win { by: WinBy::Declaration | WinBy::IllegalDeclaration, .. })
}

/// The last two lines of a game for `side`.
pub fn ending(outcome: Outcome, side: Color) -> (Ending, Option<GameResult>) {
    match outcome {
        Outcome::Win { winner, by } => {
            let result = if winner == side { GameResult::Win } else { GameResult::Lose };
            (reason(by), Some(result))
        }
        Outcome::Draw { by: DrawBy::Sennichite } => (Ending::Sennichite, Some(GameResult::Draw)),
        Outcome::Draw { by: DrawBy::MaxMoves } => (Ending::MaxMoves, Some(GameResult::Censored)),
        Outcome::Draw { by: DrawBy::Impasse } => (Ending::Jishogi, Some(GameResult::Draw)),
        Outcome::Draw { by: DrawBy::Adjudication | DrawBy::Ruling }
        | Outcome::Aborted {
            by:
                AbortBy::Stopped
                | AbortBy::NotStarted
                | AbortBy::Server
                | AbortBy::Missing
                | AbortBy::Annulled
                | AbortBy::NoResult,
        } => (Ending::Chudan, None),
    }
}

/// The protocol has no word for a player who has left or for a ruling: the opponent hears a resignation, as on floodgate.
fn reason(by: WinBy) -> Ending {
    match by {
        WinBy::Mate
        | WinBy::Resignation
        | WinBy::Disconnection
        | WinBy::Adjudication
        | WinBy::Default
        | WinBy::Ruling => Ending::Resign,
        WinBy::Time => Ending::TimeUp,
        WinBy::IllegalMove(_) | WinBy::IllegalDeclaration => Ending::IllegalMove,
        WinBy::IllegalAction => Ending::IllegalAction,
        WinBy::Declaration => Ending::Jishogi,
        WinBy::PerpetualCheck => Ending::OuteSennichite,
    }
}

#[cfg(test)]
#[path = "csa_host_tests.rs"]
mod tests;

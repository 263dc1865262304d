//! The USI conversation with one engine, without the engine: lines, orders and times in, bytes and replies out.

use notation::usi::{BestMoveLine, EngineLine, EngineLineRef, Info, InfoLine, OptionDecl, OtherLine};
use plan::{EnginePlan, ScoreView};
use referee::{
    Color, Outcome,
    clock::Budget,
    entry::{GameId, Score, Thought},
    game::{Answer, Order, Reply, Said},
    sink::GameOptions,
};
use rsshogi::types::Move;
use std::{borrow::Cow, io::Write as _, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Options that an engine may declare; real ones have some sixty.
pub const OPTIONS: usize = 1000;
/// Bytes that their lines may have together.
const OPTION_BYTES: usize = 256 * 1024;

/// What an engine declared before `usiok`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handshake {
    /// `id name`.
    pub name: Option<String>,
    /// `id author`.
    pub author: Option<String>,
    /// Its options.
    pub options: Vec<OptionDecl>,
    /// Threads of its process after the handshake, if the actor has looked.
    pub threads: Option<u32>,
    /// The device that it computes on, as it said with `info string device ..` before `readyok`.
    pub device: Option<String>,
    /// Cores that it keeps busy while nothing is asked of it, if that is more than half of one.
    pub busy_at_rest: Option<f64>,
    /// True if it had to be killed after `quit`.
    pub stays: bool,
    /// Its evaluation of [`AHEAD`](crate::usi::AHEAD), if White is far behind by it.
    pub reversed: Option<Score>,
}

/// What the actor has to do after a step of the conversation.
#[derive(Debug, Default)]
pub struct Effects {
    /// Bytes to write, whole lines.
    pub write: Vec<u8>,
    /// True if the bytes may wait a moment for more, to be written with them.
    pub lazy: bool,
    /// Replies for the game.
    pub replies: Vec<(GameId, Reply)>,
    /// Fault with which the engine cannot go on.
    pub fault: Option<String>,
    /// True if the process has played its only game.
    pub retire: bool,
}

/// A game this seat is in.
#[derive(Clone, Copy, Debug)]
struct Seated {
    game: GameId,
    color: Color,
}

/// A turn of this seat.
#[derive(Clone, Debug)]
struct Turn {
    position: String,
    budget: Budget,
}

#[derive(Debug)]
enum State {
    /// `usi` was sent.
    Starting,
    /// No answer is due.
    Idle,
    /// `isready` was sent.
    Readying,
    /// In a game, not asked to move.
    Waiting,
    /// Asked to move; the time runs from `since`, which is set anew when the question is written. `stopping` was used before,
    /// to stop pondering.
    Thinking { since: Instant, written: bool, stopping: Duration },
    /// Pondering on the position expected; `early` is a `bestmove` that came before `ponderhit`.
    Pondering { expected: String, early: Option<Vec<u8>> },
    /// `stop` was sent: one `bestmove` is discarded, then `next` is asked, if there is one.
    Stopping { since: Instant, next: Option<Turn> },
}

/// How far the last `go` has come; a line that the engine began before is no answer to it.
#[derive(Debug, PartialEq)]
enum Question {
    Unwritten,
    /// Written while the engine was within a line, which has not ended yet.
    WithinLine,
    Written,
}

/// The conversation.
#[derive(Debug)]
pub struct Conversation {
    engine: Arc<EnginePlan>,
    state: State,
    question: Question,
    seated: Option<Seated>,
    /// Result for `gameover`, once the engine has answered `stop`.
    outcome: Option<(Color, Outcome)>,
    first_ready: bool,
    /// Options for the next games, beside those of the plan.
    game_options: GameOptions,
    handshake: Handshake,
    /// Bytes of the `option` lines so far.
    declared: usize,
    deadline: Option<Instant>,
    /// The last turn that was answered, the answer, and the reply that the engine expects.
    answered: Option<(Turn, Move, String)>,
    turn: Option<Turn>,
    /// True if it has moved in this game. Before, what it does for a new game is its own affair.
    has_moved: bool,
    /// Its last move in this game.
    last: Option<Move>,
    /// The last `info` with a score of the first line of play, as it was printed.
    info: Vec<u8>,
}

impl Conversation {
    /// A conversation to be begun by [`Conversation::begin`].
    pub fn new(engine: Arc<EnginePlan>) -> Self {
        Self {
            engine,
            state: State::Idle,
            question: Question::Written,
            seated: None,
            outcome: None,
            first_ready: true,
            game_options: GameOptions::default(),
            handshake: Handshake::default(),
            declared: 0,
            deadline: None,
            answered: None,
            turn: None,
            has_moved: false,
            last: None,
            info: Vec::new(),
        }
    }

    /// Deadline of an answer outside the engine's turns; within them, the time for `stop` if the plan wants one.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The game of the seat.
    pub fn game(&self) -> Option<GameId> {
        self.seated.map(|seated| seated.game)
    }

    /// The declarations of the engine.
    pub fn handshake(&self) -> &Handshake {
        &self.handshake
    }

    /// True if no answer is due outside of a turn.
    pub fn is_settled(&self) -> bool {
        matches!(self.state, State::Idle | State::Waiting)
    }

    /// True if `readyok` is due.
    pub fn is_readying(&self) -> bool {
        matches!(self.state, State::Readying)
    }

    /// True if the engine has moved, and nothing is asked of it before its next turn.
    pub fn rests(&self) -> bool {
        self.has_moved && matches!(self.state, State::Waiting)
    }

    /// True if it is the engine's turn.
    pub fn thinks(&self) -> bool {
        matches!(self.state, State::Thinking { .. })
    }

    /// True if this seat is in a game that has not begun for it.
    pub fn awaits_start(&self) -> bool {
        let begun = matches!(self.state, State::Waiting | State::Thinking { .. } | State::Pondering { .. });
        self.seated.is_some() && !begun
    }

    /// Begins the conversation with a new process.
    pub fn begin(&mut self, now: Instant, effects: &mut Effects) {
        self.state = State::Starting;
        self.question = Question::Written;
        self.first_ready = true;
        self.handshake = Handshake::default();
        self.declared = 0;
        self.deadline = Some(now + self.engine.limits.start);
        effects.write.extend_from_slice(b"usi\n");
    }

    /// Starts over after the process is gone, and returns the game that it was in.
    pub fn abandon(&mut self) -> Option<GameId> {
        self.state = State::Idle;
        self.deadline = None;
        self.outcome = None;
        self.seated.take().map(|seated| seated.game)
    }

    /// Notes the next game; the conversation goes on when the engine is ready for it.
    pub fn sit(&mut self, game: GameId, color: Color) {
        self.seated = Some(Seated { game, color });
    }

    /// Carries out an order of the game.
    pub fn order(&mut self, order: Order, now: Instant, effects: &mut Effects) {
        match order {
            Order::NewGame { game, color } => {
                self.sit(game, color);
                if matches!(self.state, State::Idle) {
                    self.call_ready(now, effects);
                }
            }
            Order::Go { position, budget, .. } => self.go(Turn { position, budget }, now, effects),
            Order::Ponder(budget) => self.ponder(budget, effects),
            Order::Options(options) => self.game_options = options,
            Order::Heard(_) | Order::Submit(_) => {}
            Order::Over(outcome) => self.over(outcome, now, effects),
        }
    }

    /// Takes a line of the engine that was read at `now`.
    pub fn line(&mut self, line: &[u8], now: Instant, effects: &mut Effects) {
        match self.question {
            Question::Unwritten => return,
            Question::WithinLine => return self.question = Question::Written,
            Question::Written => {}
        }
        match EngineLineRef::parse(line) {
            EngineLineRef::Info(info) if matches!(self.state, State::Readying) => {
                self.handshake.device = info.device().or_else(|| self.handshake.device.take());
            }
            EngineLineRef::Info(info) if self.searches() => self.keep_info(info),
            EngineLineRef::Info(_) => {}
            EngineLineRef::BestMove(best) => self.bestmove(&best, line, now, effects),
            EngineLineRef::Other(_) if line == b"bestmove" => self.bestmove(&NOTHING, line, now, effects),
            EngineLineRef::Other(other) => self.other_line(other, line.len(), now, effects),
        }
    }

    /// The deadline has passed: a thinking engine gets `stop`, any other has a fault.
    pub fn expired(&mut self, effects: &mut Effects) {
        self.deadline = None;
        match self.state {
            State::Thinking { .. } => effects.write.extend_from_slice(b"stop\n"),
            _ => effects.fault = Some(self.silence()),
        }
    }

    fn silence(&self) -> String {
        let limits = &self.engine.limits;
        let (asked, limit) = match self.state {
            State::Starting => ("no `usiok` within", limits.start),
            State::Readying if self.first_ready => ("no `readyok` within", limits.ready),
            State::Readying => ("no `readyok` between games within", limits.new_game),
            _ => ("no `bestmove` after `stop` within", limits.stop),
        };
        format!("{asked} {} ms", limit.as_millis())
    }

    fn call_ready(&mut self, now: Instant, effects: &mut Effects) {
        let limits = &self.engine.limits;
        self.state = State::Readying;
        self.deadline = Some(now + if self.first_ready { limits.ready } else { limits.new_game });
        effects.lazy = false;
        set_options(&mut effects.write, &self.game_options);
        effects.write.extend_from_slice(b"isready\n");
    }

    /// Keeps a declaration of an engine, within bounds: what an engine can make the manager hold is limited.
    fn declare(&mut self, option: OptionDecl, bytes: usize, effects: &mut Effects) {
        self.declared += bytes;
        if self.handshake.options.len() == OPTIONS {
            effects.fault = Some(format!("it declares more than {OPTIONS} options"));
        } else if self.declared > OPTION_BYTES {
            effects.fault = Some(format!("its `option` lines are longer than {} KiB", OPTION_BYTES / 1024));
        } else {
            self.handshake.options.push(option);
        }
    }

    /// Lines that mean nothing now, or nothing at all, are ignored, as USI has it; the trace keeps them.
    fn other_line(&mut self, line: OtherLine<'_>, bytes: usize, now: Instant, effects: &mut Effects) {
        if !matches!(self.state, State::Starting | State::Readying) {
            return;
        }
        match (&self.state, line.read()) {
            (State::Starting, EngineLine::IdName(name)) => self.handshake.name = Some(name),
            (State::Starting, EngineLine::IdAuthor(author)) => self.handshake.author = Some(author),
            (State::Starting, EngineLine::Option(option)) => self.declare(option, bytes, effects),
            (State::Starting, EngineLine::UsiOk) => self.usiok(now, effects),
            (State::Readying, EngineLine::ReadyOk) => self.readyok(effects),
            _ => {}
        }
    }

    fn usiok(&mut self, now: Instant, effects: &mut Effects) {
        if self.engine.ponder {
            effects.write.extend_from_slice(b"setoption name USI_Ponder value true\n");
        }
        set_options(&mut effects.write, &self.engine.options);
        self.state = State::Idle;
        self.deadline = None;
        if self.seated.is_some() {
            self.call_ready(now, effects);
        }
    }

    fn readyok(&mut self, effects: &mut Effects) {
        self.first_ready = false;
        self.deadline = None;
        self.answered = None;
        self.has_moved = false;
        self.last = None;
        let Some(seated) = self.seated else {
            self.state = State::Idle; // the game was cancelled meanwhile
            return;
        };
        effects.write.extend_from_slice(b"usinewgame\n");
        effects.lazy = true;
        self.state = State::Waiting;
        effects.replies.push((seated.game, Reply::Ready));
    }

    fn go(&mut self, turn: Turn, now: Instant, effects: &mut Effects) {
        match &mut self.state {
            State::Waiting => self.ask(turn, now, effects),
            State::Pondering { expected, early } if *expected == turn.position => {
                let early = early.take();
                self.think(turn, now);
                match early {
                    // A `bestmove` before `ponderhit`: the answer counts from now.
                    Some(line) => {
                        self.written(now, false);
                        self.line(&line, now, effects);
                    }
                    None => effects.write.extend_from_slice(b"ponderhit\n"),
                }
            }
            State::Pondering { early: Some(_), .. } => self.ask(turn, now, effects),
            State::Pondering { .. } => self.stop(Some(turn), now, effects),
            _ => {} // the fault of the engine reaches the game by itself
        }
    }

    fn ask(&mut self, turn: Turn, now: Instant, effects: &mut Effects) {
        self.begin_question(&turn.position, effects);
        go_line(&mut effects.write, &turn.budget, &self.engine, self.color(), false);
        self.think(turn, now);
    }

    /// Starts the time of a turn.
    fn think(&mut self, turn: Turn, now: Instant) {
        let all = turn.budget.all(self.color());
        self.deadline = self.engine.hurry.zip(all).map(|(hurry, all)| now + all - hurry.min(all / 4));
        self.turn = Some(turn);
        self.state = State::Thinking { since: now, written: false, stopping: Duration::ZERO };
    }

    fn begin_question(&mut self, position: &str, effects: &mut Effects) {
        self.info.clear();
        self.question = Question::Unwritten;
        let _in_memory = writeln!(effects.write, "position {position}");
    }

    /// True if `go` is about to be written to an engine that is told `stop` in games, and may answer that twice.
    pub fn may_have_more_to_say(&self) -> bool {
        self.question == Question::Unwritten && (self.engine.ponder || self.engine.hurry.is_some())
    }

    /// The effects have been written, while the engine was within a line or not: the time of a turn runs from now.
    pub fn written(&mut self, now: Instant, within_line: bool) {
        if self.question == Question::Unwritten {
            self.question = if within_line { Question::WithinLine } else { Question::Written };
        }
        if let State::Thinking { since, written: written @ false, .. } = &mut self.state {
            *since = now;
            *written = true;
        }
    }

    fn ponder(&mut self, budget: Budget, effects: &mut Effects) {
        let Some((turn, mv, expected)) = self.answered.take() else { return };
        if !matches!(self.state, State::Waiting) {
            return;
        }
        let joint = if turn.position.contains(" moves ") { " " } else { " moves " };
        let position = format!("{}{joint}{} {expected}", turn.position, mv.to_usi());
        self.begin_question(&position, effects);
        go_line(&mut effects.write, &budget, &self.engine, self.color(), true);
        self.state = State::Pondering { expected: position, early: None };
    }

    fn over(&mut self, outcome: Outcome, now: Instant, effects: &mut Effects) {
        let Some(seated) = self.seated.take() else { return };
        self.outcome = Some((seated.color, outcome));
        self.answered = None;
        match &mut self.state {
            State::Thinking { .. } | State::Pondering { early: None, .. } => self.stop(None, now, effects),
            State::Stopping { next, .. } => *next = None,
            State::Waiting | State::Pondering { .. } => self.gameover(now, effects),
            State::Starting | State::Idle | State::Readying => self.outcome = None,
        }
    }

    fn stop(&mut self, next: Option<Turn>, now: Instant, effects: &mut Effects) {
        effects.write.extend_from_slice(b"stop\n");
        self.state = State::Stopping { since: now, next };
        self.deadline = Some(now + self.engine.limits.stop);
    }

    /// Sends the result; the engine is free for the next game, which may have been announced already.
    fn gameover(&mut self, now: Instant, effects: &mut Effects) {
        if let Some((color, outcome)) = self.outcome.take() {
            let word = match outcome.half_points(color) {
                Some(2) => Some("win"),
                Some(0) => Some("lose"),
                Some(_) => Some("draw"),
                None => None,
            };
            if let Some(word) = word {
                let _in_memory = writeln!(effects.write, "gameover {word}");
            }
        }
        self.state = State::Idle;
        self.deadline = None;
        effects.lazy = true;
        if self.engine.restart == plan::Restart::EveryGame {
            effects.retire = true;
        } else if self.seated.is_some() {
            self.call_ready(now, effects);
        }
    }

    /// `best` is what `line` says.
    fn bestmove(&mut self, best: &BestMoveLine<'_>, line: &[u8], now: Instant, effects: &mut Effects) {
        match &mut self.state {
            State::Thinking { since, stopping, .. } => {
                let elapsed = now.saturating_duration_since(*since) + *stopping;
                self.state = State::Waiting;
                self.has_moved = true;
                self.deadline = None;
                self.answer(best, line, elapsed, effects);
            }
            State::Pondering { early, .. } => {
                early.get_or_insert_with(|| line.to_vec());
            }
            State::Stopping { since, next } => {
                let (since, next) = (*since, next.take());
                self.deadline = None;
                match next {
                    // The time it took to stop is charged to the engine.
                    Some(turn) => {
                        self.ask(turn, since, effects);
                        let stopping = now.saturating_duration_since(since);
                        self.state = State::Thinking { since: now, written: false, stopping };
                    }
                    None => self.gameover(now, effects),
                }
            }
            // An answer to no question: the referee rules on it.
            State::Waiting => self.answer(best, line, Duration::ZERO, effects),
            State::Starting | State::Idle | State::Readying => {}
        }
    }

    fn answer(&mut self, best: &BestMoveLine<'_>, line: &[u8], elapsed: Duration, effects: &mut Effects) {
        let Some(seated) = self.seated else { return };
        let (said, expected) = judged(best, line);
        self.answered = None;
        if let (true, Said::Move(mv), Some(expected)) = (self.engine.ponder, &said, expected) {
            self.answered = self.turn.take().map(|turn| (turn, *mv, expected));
        }
        let thought = (!self.info.is_empty()).then(|| thought(&self.info)).filter(|it| !self.is_stale(it));
        if let Said::Move(mv) = said {
            self.last = Some(mv);
        }
        let mut thought = thought.map(Box::new);
        if let Some(Thought { score: Some(score), .. }) = thought.as_deref_mut()
            && self.engine.scores == ScoreView::Black
            && seated.color == Color::White
        {
            *score = score.of_the_other_side();
        }
        let ponders = self.answered.is_some();
        effects.replies.push((seated.game, Reply::Answer(Answer { said, elapsed, ponders, thought })));
    }

    /// True if an `info` may be about a search that was asked for.
    fn searches(&self) -> bool {
        matches!(
            self.state,
            State::Thinking { .. } | State::Pondering { early: None, .. } | State::Stopping { .. }
        )
    }

    /// True for an `info` behind the last `bestmove` that was read after the next `go`: its line of play begins with the move
    /// that was played. No side plays one move in two turns running, as its piece is gone from there.
    fn is_stale(&self, thought: &Thought) -> bool {
        let first = thought.pv.as_deref().and_then(|pv| Move::from_usi(pv.split(' ').next()?));
        first.is_some() && first == self.last
    }

    /// Keeps the last line about the best line of play, unread: an engine may print thousands of them.
    fn keep_info(&mut self, info: InfoLine<'_>) {
        if info.scores_best_line() {
            self.info.clear();
            self.info.extend_from_slice(info.bytes());
        }
    }

    fn color(&self) -> Color {
        self.seated.map_or(Color::Black, |seated| seated.color)
    }
}

/// `bestmove` without a move: an answer, though none that can be played.
const NOTHING: BestMoveLine<'static> = BestMoveLine { mv: Cow::Borrowed(""), ponder: None };

/// What an answer says, and the reply that the engine expects to it; `line` is quoted if it is no move.
fn judged(best: &BestMoveLine<'_>, line: &[u8]) -> (Said, Option<String>) {
    let said = match &*best.mv {
        "resign" => Said::Resign,
        "win" => Said::Win,
        word => match Move::from_usi(word).filter(|mv| mv.is_normal()) {
            Some(mv) => Said::Move(mv),
            None => Said::Unreadable(notation::printable(line)),
        },
    };
    (said, best.ponder.as_deref().and_then(Move::from_usi).map(Move::to_usi))
}

/// What an `info` line says of a search.
pub fn thought(line: &[u8]) -> Thought {
    // The check for UTF-8 is much quicker than a lossy reading, which hardly any engine needs.
    let text = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    let info = Info::of(&text);
    Thought {
        depth: info.depth,
        seldepth: info.seldepth,
        score: info.score.map(|score| score.value.into()),
        nodes: info.nodes,
        nps: info.nps,
        time: info.time_ms,
        pv: (!info.pv.is_empty()).then_some(info.pv),
    }
}

fn set_options(write: &mut Vec<u8>, options: &[(String, String)]) {
    for (name, value) in options {
        let _in_memory = match value.is_empty() {
            true => writeln!(write, "setoption name {name}"),
            false => writeln!(write, "setoption name {name} value {value}"),
        };
    }
}

/// `go`, in the forms the engine understands.
fn go_line(to: &mut Vec<u8>, budget: &Budget, engine: &EnginePlan, color: Color, ponder: bool) {
    let told = |time: Duration| time.saturating_sub(engine.reserve).as_millis();
    to.extend_from_slice(if ponder { b"go ponder" } else { b"go" });
    let _in_memory = match *budget {
        Budget { nodes: Some(nodes), .. } => write!(to, " nodes {nodes}"),
        Budget { depth: Some(depth), .. } => write!(to, " depth {depth}"),
        Budget { fixed: Some(time), .. } if engine.go.movetime => write!(to, " movetime {}", told(time)),
        Budget { fixed: Some(time), .. } => write!(to, " btime 0 wtime 0 byoyomi {}", told(time)),
        _ => clock_words(to, budget, engine, color),
    };
    to.push(b'\n');
}

/// Main time with byoyomi or increment. USI does not combine the two: for both together the byoyomi is their sum, which
/// is what the engine may use for this move. `byoyomi` is that of the side to move.
fn clock_words(to: &mut Vec<u8>, budget: &Budget, engine: &EnginePlan, color: Color) -> std::io::Result<()> {
    let told = |time: Duration| time.saturating_sub(engine.reserve).as_millis();
    let own = color.index();
    let (byoyomi, increment) = (budget.byoyomi[own], budget.increment[own]);
    let mut left = if engine.go.own_time_only { [budget.left[own]; 2] } else { budget.left };
    if !increment.is_zero() && byoyomi.is_zero() && engine.go.increment {
        write!(to, " btime {} wtime {}", told(left[0]), told(left[1]))?;
        return write!(
            to,
            " binc {} winc {}",
            budget.increment[0].as_millis(),
            budget.increment[1].as_millis()
        );
    }
    let byoyomi = if byoyomi.is_zero() { byoyomi } else { byoyomi + increment };
    if byoyomi.is_zero() {
        left = [left[0] + budget.increment[0], left[1] + budget.increment[1]];
    }
    if engine.go.zero_time || !left[own].is_zero() {
        write!(to, " btime {} wtime {}", told(left[0]), told(left[1]))?;
    }
    write!(to, " byoyomi {}", told(byoyomi))
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;

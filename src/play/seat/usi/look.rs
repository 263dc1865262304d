//! A look at an engine before an event: everything that a game asks of it, once, in a process of its own.
//!
//! The engine sets its options, gets ready, is asked for a move in the start position, and is sent away. One that gives
//! evaluations is asked for that of a position that White wins, and every one is watched while nothing is asked of it. No
//! game ends, so that an engine that learns from games learns nothing.

mod speed;

pub use speed::speed;

use super::{Actor, Heard, Launcher, UsiPlayer};
use crate::{
    conversation::Handshake,
    pair,
    process::{Process, System},
};
use plan::{Sandbox, SeatLimits};
use referee::{
    Color, Foul, WinBy,
    clock::{Budget, TimeControl},
    entry::{GameId, Score},
    game::{Answer, Order, Reply, Said},
    legality,
};
use rsshogi::board::hirate_position;
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// The number of the game of a look. No game of an event has it.
const GAME: GameId = GameId(0);
/// Most of the main time that a look allows.
const MAIN: Duration = Duration::from_secs(1);
/// Most time for the move of a look beside the main time.
const MOVE: Duration = Duration::from_millis(200);
/// A position that White, who is to move, wins easily: Black has king and pawns, and White everything else.
pub const AHEAD: &str = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/9/4K4 w rb2g2s2n2l 1";
/// Centipawns by which a side is certainly ahead, or behind.
const FAR: i32 = 300;
/// Pauses after the last move, and for how long the engine is watched then; once more if it seems to compute, as it may
/// still have tidied up.
const RESTS: [(Duration, Duration); 2] = [
    (Duration::from_millis(50), Duration::from_millis(100)),
    (Duration::from_millis(300), Duration::from_millis(300)),
];
/// Cores that an engine at rest may use.
const IDLE: f64 = 0.5;
/// How long an engine may be late, or search by nodes or depth, before it gets `stop`.
const PATIENCE: Duration = Duration::from_secs(3);

/// How far a look goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// To `usiok`.
    Handshake,
    /// To a move, and to the end of the process.
    Move,
}

/// How far an engine has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step {
    /// It waits for others to start up.
    #[default]
    Queued,
    /// It was sent `usi`.
    Handshake,
    /// It was sent its options and `isready`.
    Ready,
    /// It was sent `usinewgame` and `go`.
    Move,
    /// It was sent `quit`.
    Quit,
}

impl Step {
    /// What the engine owes; `None` while it was not asked for anything.
    pub fn owed(self) -> Option<&'static str> {
        match self {
            Self::Queued => None,
            Self::Handshake => Some("`usiok`"),
            Self::Ready => Some("`readyok`"),
            Self::Move => Some("`bestmove`"),
            Self::Quit => Some("its end"),
        }
    }

    fn asked(self) -> &'static str {
        match self {
            Self::Queued => "its start",
            Self::Handshake => "`usi`",
            Self::Ready => "its options and `isready`",
            Self::Move => "`usinewgame` and `go`",
            Self::Quit => "`quit`",
        }
    }
}

/// Why an engine cannot play.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{how}, after {}\n{}", step.asked(), trace.trim_end())]
pub struct LookFault {
    /// The step at which it failed.
    pub step: Step,
    /// How it failed.
    pub how: Failing,
    /// Its last lines, of stdout and stderr.
    pub trace: String,
}

/// How an engine fails at a look.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failing {
    /// A fault that would end a game, in the words that a game stores.
    #[error("{0}")]
    Fault(String),
    /// A fault of this program, or what this machine lacks for a start.
    #[error("{0}")]
    Ours(String),
    /// A reply to another question.
    #[error("it answers what it was not asked: {0:?}")]
    Unasked(Box<Option<Reply>>),
    /// It was silent.
    #[error("no `bestmove` within {} ms, `stop` included{busy}", limit.as_millis())]
    Late {
        /// Its limit.
        limit: Duration,
        /// A clause where this machine has its share in it.
        busy: String,
    },
    /// A declaration without a cause.
    #[error("it declares a win in the start position")]
    Declares,
    /// A line that is no move.
    #[error("its answer is no move: {0}")]
    NoMove(String),
    /// A move that breaks a rule.
    #[error("its move {mv} in the start position is illegal ({rule})", rule = WinBy::IllegalMove(*foul).name().trim_start_matches("illegal-move:"))]
    Illegal {
        /// The move in USI.
        mv: String,
        /// The rule.
        foul: Foul,
    },
}

impl LookFault {
    /// A fault of this program.
    pub fn of_panic(how: &str) -> Self {
        Self { step: Step::Queued, how: Failing::Ours(how.to_owned()), trace: String::new() }
    }
}

/// Starts an engine, looks at it, and ends it; `progress` receives its steps.
///
/// # Errors
/// The fault, with the last lines of the engine.
pub async fn look(
    player: UsiPlayer,
    reach: Reach,
    progress: &watch::Sender<Step>,
) -> Result<Handshake, LookFault> {
    let (_seat, end) = pair();
    Actor::new(player, end, System).look(reach, progress).await
}

impl<L: Launcher> Actor<L> {
    pub(super) async fn look(
        mut self,
        reach: Reach,
        progress: &watch::Sender<Step>,
    ) -> Result<Handshake, LookFault> {
        let seen = self.try_out(reach, progress).await;
        let threads = self.process.as_ref().and_then(Process::threads);
        let (mut busy_at_rest, mut reversed) = (None, None);
        if let Ok(Some(answer)) = &seen {
            if answer.thought.as_ref().is_some_and(|thought| thought.score.is_some()) {
                reversed = self.reversed_score(progress).await;
            }
            self.permit = None; // others may start meanwhile
            busy_at_rest = self.load_at_rest().await;
        }
        let handshake = self.conversation.handshake().clone();
        let trace = self.end.trace.clone();
        if seen.is_ok() {
            progress.send_replace(Step::Quit);
        }
        let left = self.close_within(patient(self.player.engine.limits)).await;
        let stays = reach == Reach::Move && !left;
        seen.map(|_| Handshake { threads, busy_at_rest, reversed, stays, ..handshake })
            .map_err(|(step, how)| LookFault { step, how, trace: trace.report() })
    }

    /// Takes the engine through the steps of the look, up to its first move.
    async fn try_out(
        &mut self,
        reach: Reach,
        progress: &watch::Sender<Step>,
    ) -> Result<Option<Answer>, (Step, Failing)> {
        if reach == Reach::Move {
            self.conversation.sit(GAME, Color::Black);
        }
        self.start().await;
        progress.send_replace(Step::Handshake);
        let ready = self.next_reply(progress).await;
        let at = *progress.borrow();
        match ready.map_err(|how| (at, how))? {
            None => return Ok(None),
            Some(Reply::Ready) => {}
            Some(other) => return Err((at, Failing::Unasked(Box::new(Some(other))))),
        }
        progress.send_replace(Step::Move);
        let answer = self.move_in("startpos", MAIN, progress).await.map_err(|how| (Step::Move, how))?;
        judge(&answer).map_err(|how| (Step::Move, how))?;
        Ok(Some(answer))
    }

    /// The evaluation of a position that White wins, if White is far behind by it. To have none is no fault, as no game asks
    /// this.
    async fn reversed_score(&mut self, progress: &watch::Sender<Step>) -> Option<Score> {
        self.conversation.sit(GAME, Color::White);
        let answer = self.move_in(AHEAD, MOVE, progress).await.ok()?;
        is_behind(answer.thought?.score?)
    }

    /// Cores that the engine keeps busy, or would if it got them, while nothing is asked of it; `None` if it is at rest, or
    /// may compute, or nothing is known.
    async fn load_at_rest(&self) -> Option<f64> {
        let engine = &self.player.engine;
        if engine.ponder || engine.sandbox.kind == Sandbox::Strict {
            return None; // in its opponent's turn it ponders, or is stopped
        }
        let mut load = None;
        for (pause, window) in RESTS {
            sleep(pause).await;
            let (before, since) = (self.process.as_ref()?.wanted()?, Instant::now());
            sleep(window).await;
            let wanted = self.process.as_ref()?.wanted()?.saturating_sub(before);
            load = Some(wanted.as_secs_f64() / since.elapsed().as_secs_f64()).filter(|cores| *cores > IDLE);
            load?;
        }
        load
    }

    /// Asks for a move in a position. A slow search is stopped; only an engine that does not answer then, has a fault.
    async fn move_in(
        &mut self,
        position: &str,
        main: Duration,
        progress: &watch::Sender<Step>,
    ) -> Result<Answer, Failing> {
        let (time, limits) = (self.player.engine.time, self.player.engine.limits);
        let budget = brief(&time, self.player.engine.reserve, main);
        let order = Order::Go { position: position.to_owned(), last: None, budget };
        self.conversation.order(order, Instant::now(), &mut self.effects);
        let first = budget.all(Color::Black).unwrap_or_default() + PATIENCE;
        // An engine that searches by nodes or depth need not know `stop`, so it has the time of the event.
        let last = if is_counted(&budget) { limits.stop.max(time.patience) } else { limits.stop };
        let reply = self.reply_within(first, last, progress).await?;
        match reply {
            Some(Reply::Answer(answer)) => Ok(answer),
            other => Err(Failing::Unasked(Box::new(other))),
        }
    }

    /// The next reply of the engine within the first limit, or then within the last limit after `stop`.
    async fn reply_within(
        &mut self,
        first: Duration,
        last: Duration,
        progress: &watch::Sender<Step>,
    ) -> Result<Option<Reply>, Failing> {
        let trace = self.end.trace.clone();
        if let Some(reply) = trace.within(first, self.next_reply(progress)).await {
            return reply;
        }
        self.effects.write.extend_from_slice(b"stop\n");
        let asked = Instant::now();
        let reply = trace.within(last, self.next_reply(progress)).await;
        reply.unwrap_or_else(|| Err(Failing::Late { limit: first + last, busy: trace.excuse(asked) }))
    }

    /// The next reply of the engine; without a game `None`, once it has said `usiok`.
    async fn next_reply(&mut self, progress: &watch::Sender<Step>) -> Result<Option<Reply>, Failing> {
        loop {
            if !self.effects.write.is_empty() {
                self.write();
            }
            if let Some(fault) = self.effects.fault.take() {
                let fault = if fault.is_empty() { self.ending().await } else { fault };
                return Err(if self.lacks { Failing::Ours(fault) } else { Failing::Fault(fault) });
            }
            if !self.effects.replies.is_empty() {
                return Ok(Some(self.effects.replies.remove(0).1));
            }
            if self.process.is_some() && self.conversation.game().is_none() && self.conversation.is_settled()
            {
                return Ok(None);
            }
            if self.conversation.is_readying() {
                progress.send_if_modified(|step| std::mem::replace(step, Step::Ready) != Step::Ready);
            }
            match self.hear().await {
                Heard::Read(read) => self.read(read).await,
                Heard::Writable => self.flush(),
                Heard::Deadline => self.expired(),
                Heard::Exited => self.drain(),
                Heard::Order(_) | Heard::Due => {}
            }
        }
    }
}

/// Limits for the end of the process: at least the usual ones, so that no engine is blamed for a limit that is meant to
/// hurry it.
fn patient(limits: SeatLimits) -> SeatLimits {
    let usual = SeatLimits::default();
    let (quit, terminate) = (limits.quit.max(usual.quit), limits.terminate.max(usual.terminate));
    SeatLimits { quit, terminate, ..limits }
}

/// A score of the side to move by which it is far behind.
pub fn is_behind(score: Score) -> Option<Score> {
    let is_behind = match score {
        Score::Cp(cp) => cp <= -FAR,
        Score::Mate(plies) => plies <= 0,
    };
    is_behind.then_some(score)
}

/// The event's own kind of time, and little of it; at most `main` of main time.
fn brief(time: &TimeControl, reserve: Duration, main: Duration) -> Budget {
    let least = |time: Duration, most: Duration| time.min(most + reserve);
    let (main, fixed) = (least(time.main, main), time.fixed.map(|time| least(time, MOVE)));
    let mut byoyomi = least(time.byoyomi, MOVE);
    if !time.is_timed() {
        byoyomi = MOVE + reserve; // nodes and depth are told alone; the time of a server is not known yet
    }
    let increment = least(time.increment, MOVE / 2);
    Budget {
        left: [main; 2],
        byoyomi: [byoyomi; 2],
        increment: [increment; 2],
        fixed,
        nodes: time.nodes,
        depth: time.depth,
    }
}

fn is_counted(budget: &Budget) -> bool {
    budget.nodes.is_some() || budget.depth.is_some()
}

/// Whether the answer can be played from the start position. To resign is an answer, too.
fn judge(answer: &Answer) -> Result<(), Failing> {
    match &answer.said {
        Said::Resign => Ok(()),
        Said::Win => Err(Failing::Declares),
        Said::Unreadable(line) => Err(Failing::NoMove(line.clone())),
        Said::Move(mv) => match legality::foul(&hirate_position(), *mv) {
            None => Ok(()),
            Some(foul) => Err(Failing::Illegal { mv: mv.to_usi(), foul }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_has_the_kind_of_time_of_the_event_and_little_of_it() {
        let secs = Duration::from_secs;
        let of = |time: TimeControl| brief(&time, Duration::ZERO, MAIN);
        let byoyomi = of(TimeControl { main: secs(600), byoyomi: secs(10), ..TimeControl::default() });
        assert_eq!((byoyomi.left[0], byoyomi.byoyomi[0]), (MAIN, MOVE));
        let fischer = of(TimeControl { main: secs(300), increment: secs(10), ..TimeControl::default() });
        assert_eq!((fischer.byoyomi[0], fischer.increment[0]), (Duration::ZERO, MOVE / 2));
        let short = of(TimeControl { fixed: Some(Duration::from_millis(20)), ..TimeControl::default() });
        assert_eq!(short.fixed, Some(Duration::from_millis(20)));
        assert_eq!(of(TimeControl { nodes: Some(7), ..TimeControl::default() }).nodes, Some(7));
        assert_eq!(of(TimeControl::default()).byoyomi[0], MOVE);
    }

    #[test]
    fn a_look_has_the_reserve_of_the_event_beside_its_time_and_no_main_time_for_nodes() {
        let (secs, reserve) = (Duration::from_secs, Duration::from_millis(700));
        let all = TimeControl {
            main: secs(600),
            byoyomi: secs(10),
            increment: secs(5),
            fixed: Some(secs(3)),
            ..TimeControl::default()
        };
        let budget = brief(&all, reserve, MAIN);
        assert_eq!((budget.left, budget.byoyomi), ([MAIN + reserve; 2], [MOVE + reserve; 2]));
        assert_eq!((budget.increment, budget.fixed), ([MOVE / 2 + reserve; 2], Some(MOVE + reserve)));
        let nodes = brief(&TimeControl { nodes: Some(7), ..TimeControl::default() }, reserve, MAIN);
        assert_eq!((nodes.left, nodes.byoyomi), ([Duration::ZERO; 2], [MOVE + reserve; 2]));
        let depth = brief(&TimeControl { depth: Some(7), ..TimeControl::default() }, reserve, MAIN);
        assert_eq!([&budget, &nodes, &depth].map(is_counted), [false, true, true]);
    }

    #[test]
    fn a_side_is_far_behind_by_three_pawns_or_when_it_is_mated() {
        let scores = [
            Score::Cp(-300),
            Score::Cp(-299),
            Score::Cp(300),
            Score::Mate(-7),
            Score::Mate(0),
            Score::Mate(1),
        ];
        let behind = scores.map(|score| is_behind(score) == Some(score));
        assert_eq!(behind, [true, false, false, true, true, false]);
    }

    #[test]
    fn an_answer_has_to_be_a_move_of_the_start_position_or_a_resignation() {
        let judged = |said| {
            let answer = Answer { said, elapsed: Duration::ZERO, ponders: false, thought: None };
            judge(&answer).map_err(|how| how.to_string())
        };
        let mv = |text| Said::Move(rsshogi::types::Move::from_usi(text).unwrap());
        assert_eq!([judged(Said::Resign), judged(mv("7g7f"))], [Ok(()), Ok(())]);
        let faults = [Said::Win, Said::Unreadable("bestmove x".to_owned()), mv("7g7e")]
            .map(|said| judged(said).unwrap_err());
        assert_eq!(
            faults[..2],
            ["it declares a win in the start position", "its answer is no move: bestmove x"]
        );
        assert_eq!(faults[2], "its move 7g7e in the start position is illegal (unreachable)");
    }

    #[test]
    fn an_engine_has_the_usual_time_to_end_at_least_and_owes_what_it_was_asked_for() {
        let secs = Duration::from_secs;
        let limits = |quit, terminate| SeatLimits { quit, terminate, ..SeatLimits::default() };
        let usual = SeatLimits::default();
        assert_eq!(patient(limits(Duration::ZERO, secs(9999))), limits(usual.quit, secs(9999)));
        assert_eq!(patient(limits(secs(9999), Duration::ZERO)), limits(secs(9999), usual.terminate));
        let steps = [Step::Queued, Step::Handshake, Step::Ready, Step::Move, Step::Quit];
        let owed = [None, Some("`usiok`"), Some("`readyok`"), Some("`bestmove`"), Some("its end")];
        assert_eq!(steps.map(Step::owed), owed);
        let fault =
            LookFault { step: Step::Move, how: Failing::Declares, trace: "  < bestmove win\n".to_owned() };
        let told = "it declares a win in the start position, after `usinewgame` and `go`\n  < bestmove win";
        assert_eq!(fault.to_string(), told);
    }
}

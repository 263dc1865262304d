//! The only loop that plays a game, and the only caller of [`Game::handle`].

use crate::{
    Unplayed,
    lag::SchedulerLag,
    operations::{Intervention, Interventions, ordered},
    spectators::{Sight, Spectators},
};
use contest::schedule::{Pairing, ReplayDraws};
use referee::{
    AbortBy, Color, Outcome, WinBy,
    clock::Scale,
    entry::{Entry, GameEnded, GameId, GameStarted},
    game::{Authority, Game, Heard, Input, Order, Output, Reply, Setup, Word, starved_text},
    sink::{GameOptions, Sink},
};
use seat::{Seat, usi::Alarm};
use std::{pin::pin, time::Duration};
use tokio::{sync::oneshot, time::Instant};
use tokio_util::sync::CancellationToken;

/// Delay of the alarm after the last moment at which a reply is in time. The stamp of a reply decides, never the alarm,
/// which only ends the turn of a silent engine.
const ALARM_GRACE: Duration = Duration::from_millis(100);
/// Most time for a server to rule on a game that is left from here.
const FAREWELL: Duration = Duration::from_secs(5);

/// A game that is due to be played.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The game.
    pub setup: Setup,
    /// Its place in the schedule.
    pub pairing: Pairing,
    /// How often it was played to its end before without counting.
    pub draws: u32,
    /// Which of its endings will be played again and do not count.
    pub replay: ReplayDraws,
    /// Options of the engines for this game alone, black's first.
    pub options: [GameOptions; 2],
    /// True if its clocks are part of its first entry, because the plan of the event does not have them.
    pub tells_times: bool,
}

impl Fixture {
    /// A game that was not drawn before, with clocks and options that the plan of its event has.
    pub fn of(setup: Setup, pairing: Pairing) -> Self {
        let (replay, options) = (ReplayDraws::default(), Default::default());
        Self { setup, pairing, draws: 0, replay, options, tells_times: false }
    }

    /// True if a game that ends so, with this evidence, is played again, and does not count.
    pub fn replays(&self, outcome: Outcome, evidence: &str) -> bool {
        self.replay.replays(outcome, evidence, self.draws)
    }

    /// The same game with the clocks of a machine of another speed; then they are part of its first entry.
    #[must_use]
    pub fn scaled(mut self, scale: Scale) -> Self {
        self.setup.times = self.setup.times.map(|time| time.scaled(scale));
        self.tells_times |= scale != Scale::ONE;
        self
    }
}

/// What a game needs from the thread it runs on.
#[derive(Clone, Copy, Debug)]
pub struct GameContext<'a> {
    /// Where the game reports its entries.
    pub sink: &'a dyn Sink,
    /// The spectators, where the game can be watched.
    pub spectators: Option<&'a dyn Spectators>,
    /// The lag of this thread.
    pub lag: &'a SchedulerLag,
    /// Adjourns the game.
    pub stop: &'a CancellationToken,
    /// The operator's orders to games; `None` where a game takes none.
    pub interventions: Option<&'a Interventions>,
}

/// Plays a game to its end; its entries go to the sink.
///
/// # Errors
/// When the game cannot be set up, or this machine cannot seat a player; then nothing was played.
pub async fn play(
    fixture: Fixture,
    seats: &mut [Seat; 2],
    context: GameContext<'_>,
) -> Result<Outcome, Unplayed> {
    play_under(Authority::Here, fixture, seats, context).await
}

/// Plays a game under an authority to its end; its entries go to the sink.
///
/// # Errors
/// As [`play`].
pub async fn play_under(
    authority: Authority,
    fixture: Fixture,
    seats: &mut [Seat; 2],
    context: GameContext<'_>,
) -> Result<Outcome, Unplayed> {
    let (id, _measured) = (fixture.setup.game, context.lag.during_game());
    let (mut game, calls) = Game::start_under(fixture.setup.clone(), authority)?;
    let mut orders = context.interventions.map(|games| games.watch(id));
    let (turn, alarm) = (Instant::now(), Alarm::default());
    let (rung, leaving, outcome, unkept, mut lack) = (false, false, None, false, None);
    let mut running = PlayLoop { id, fixture, seats, context, turn, alarm, rung, leaving, outcome, unkept };
    running.deliver(calls, &game).await;
    // One registration for the whole game: the token is shared by all workers, and each registration takes its lock.
    let mut stopped = pin!(context.stop.cancelled());
    while !game.is_over() {
        let input = tokio::select! { biased; // a reply already in the mailbox beats the alarm
            (color, reply) = next_reply(running.seats, id) => {
                lack = if let Reply::Unseated(why) = &reply { Some(why.clone()) } else { lack };
                Input::Reply(color, running.fair(color, reply, &game))
            }
            () = running.alarm.rings() => match running.grace(&game) {
                None => Input::FlagFell,
                Some(later) => {
                    running.alarm.set(Some(later));
                    continue;
                }
            },
            () = stopped.as_mut(), if !running.leaving => {
                running.leaving = true;
                running.alarm.set(Some(Instant::now() + FAREWELL));
                Input::Stop
            }
            Intervention { outcome, text } = ordered(&mut orders) => Input::Ruled(outcome, text),
        };
        let outputs = game.handle(input);
        running.deliver(outputs, &game).await;
    }
    let outcome = running.outcome.unwrap_or(Outcome::Aborted { by: AbortBy::Stopped });
    let is_unplayed = outcome == Outcome::Aborted { by: AbortBy::NotStarted };
    lack.filter(|_| is_unplayed).map_or(Ok(outcome), |why| Err(Unplayed::Lack(why)))
}

/// True if a seat learns from it that the game is over.
fn tells_the_end(output: &Output) -> bool {
    use Word::{Expire, Reject};
    matches!(output, Output::Tell(_, Order::Over(_) | Order::Heard(Heard { word: Reject | Expire, .. })))
}

/// The next reply of either side in this game; replies in an earlier game are dropped.
async fn next_reply(seats: &mut [Seat; 2], game: GameId) -> (Color, Reply) {
    let [black, white] = seats;
    loop {
        let (color, heard) = tokio::select! { biased;
            heard = black.replies.recv() => (Color::Black, heard),
            heard = white.replies.recv() => (Color::White, heard),
        };
        match heard {
            Some((of, reply)) if of == game => return (color, reply),
            Some(_) => {}
            None => return (color, Reply::Gone("its seat was given up".to_owned())),
        }
    }
}

struct PlayLoop<'a> {
    id: GameId,
    fixture: Fixture,
    seats: &'a mut [Seat; 2],
    context: GameContext<'a>,
    /// When the turn began.
    turn: Instant,
    alarm: Alarm,
    /// True if the alarm of this turn has rung before.
    rung: bool,
    /// True if the game is to stop and waits for the ruling of a server.
    leaving: bool,
    outcome: Option<Outcome>,
    /// True if the end could not be kept.
    unkept: bool,
}

impl PlayLoop<'_> {
    async fn deliver(&mut self, outputs: Vec<Output>, game: &Game) {
        // The seats learn of the end last, after it was reported.
        let (over, outputs): (Vec<_>, Vec<_>) = outputs.into_iter().partition(tells_the_end);
        for output in outputs.into_iter().chain(over) {
            match output {
                Output::Tell(color, order) => self.tell(color, order, game).await,
                Output::AskAgain(color, order) => self.ask_again(color, order).await,
                Output::Fault(color, text) => self.fault(color, &text),
                Output::Started => {
                    self.turn = Instant::now();
                    let started = self.started();
                    self.show(|| Sight::Started(Box::new(started.clone())));
                    self.context.sink.happened(Entry::GameStarted(started));
                }
                Output::Happened(event) => {
                    self.turn = Instant::now();
                    if let Entry::Moved(moved) = &event {
                        let (game, mv, charged) = (moved.game, moved.mv, moved.charged);
                        self.show(|| Sight::Moved { game, mv, charged });
                    }
                    self.context.sink.happened(event);
                }
                Output::Ended(outcome, reason) => {
                    self.ended(outcome, &reason, game);
                    self.await_commit().await;
                    let outcome = self.announced(outcome);
                    self.show(|| Sight::Ended { game: self.id, outcome });
                }
            }
        }
        // A server's clock runs whether or not our seat could be asked.
        if game.is_ruled_elsewhere() && !self.leaving && !game.is_over() {
            self.alarm.set(game.allowance().map(|allowance| self.turn + allowance + ALARM_GRACE));
        }
    }

    fn show(&self, sight: impl FnOnce() -> Sight) {
        if let Some(spectators) = self.context.spectators {
            spectators.see(sight());
        }
    }

    async fn tell(&mut self, color: Color, order: Order, game: &Game) {
        let order =
            if let Order::Over(outcome) = order { Order::Over(self.announced(outcome)) } else { order };
        if matches!(order, Order::Go { .. }) {
            self.turn = Instant::now();
            self.rung = false;
            if game.clock_allowance(color).is_some() {
                self.seats[color.index()].trace.turn_begins();
            }
            self.alarm.set(game.allowance().map(|allowance| self.turn + allowance + ALARM_GRACE));
        }
        // A declaration is no entry of the event: the order to its own side is where it shows, once.
        if let Order::Heard(Heard { color: by, word: Word::Declare, charged }) = order
            && by == color
        {
            self.show(|| Sight::Declared { game: self.id, charged });
        }
        let _gone = self.seats[color.index()].orders.send(order).await; // a dead seat says so itself
    }

    /// Asks a seat that started over within its turn; its budget is what is left of the turn.
    async fn ask_again(&mut self, color: Color, mut order: Order) {
        if let Order::Go { budget, .. } = &mut order {
            *budget = budget.without(self.turn.elapsed(), color);
        }
        let _gone = self.seats[color.index()].orders.send(order).await;
    }

    /// Reports a fault that ends no game, for the author of the engine.
    fn fault(&self, color: Color, text: &str) {
        let Pairing { black, white, .. } = self.fixture.pairing;
        let player = Some([black, white][color.index()]);
        let trace = &self.seats[color.index()].trace;
        trace.failed();
        let trace = trace.report();
        let text = format!("game {}: {color}: {text}\n{trace}", self.id.0);
        self.context.sink.happened(Entry::Fault { player, text });
    }

    /// Takes the lag of this program off an answer that would lose on time. An answer that is timed by its arrival does
    /// not contain it, and whoever makes this machine late in their own turn gains nothing.
    fn fair(&self, color: Color, mut reply: Reply, game: &Game) -> Reply {
        if let (Reply::Answer(answer), Some(allowance)) = (&mut reply, game.allowance())
            && !self.seats[color.index()].timed_by_arrival
            && answer.elapsed >= allowance
        {
            let late = self.context.lag.late_since(self.turn);
            if !late.is_zero() {
                let text =
                    format!("game {}: this machine was {} ms late itself", self.id.0, late.as_millis());
                self.context.sink.happened(Entry::Fault { player: None, text });
                answer.elapsed = answer.elapsed.saturating_sub(late);
            }
        }
        reply
    }

    /// When the alarm rings again: if this program was so late that it may not have read yet what came in time, at most
    /// once a turn; and while the engine waits for a processor, so that its answer shows for how long.
    fn grace(&mut self, game: &Game) -> Option<Instant> {
        let late = self.context.lag.late_since(self.turn);
        if late > ALARM_GRACE && !std::mem::replace(&mut self.rung, true) {
            return Some(Instant::now() + late);
        }
        let allowed = game.clock_allowance(game.turn()).filter(|_| !game.is_ruled_elsewhere())?;
        let more = self.seats[game.turn().index()].trace.a_moment(self.turn, allowed)?;
        Some(Instant::now() + more)
    }

    fn started(&self) -> GameStarted {
        let Setup { game, start, opening, times, .. } = &self.fixture.setup;
        let opening = opening.iter().map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ");
        let times = self.fixture.tells_times.then(|| Box::new(*times));
        GameStarted { game: *game, pairing: self.fixture.pairing, start: start.clone(), opening, times }
    }

    fn ended(&mut self, outcome: Outcome, reason: &str, game: &Game) {
        self.alarm.set(None);
        self.outcome = Some(outcome);
        let evidence = self.evidence(outcome, reason, game);
        let replayed = self.fixture.replays(outcome, &evidence);
        let pairing = self.fixture.pairing;
        self.context.sink.happened(Entry::GameEnded(GameEnded {
            game: self.id,
            pairing,
            outcome,
            plies: game.plies(),
            evidence,
            replayed,
            moves_hash: Some(game.moves_hash()),
        }));
    }

    /// Where players or spectators are elsewhere, waits until the end is kept for good: what was announced must not be
    /// lost with this program.
    async fn await_commit(&mut self) {
        if self.context.spectators.is_some() {
            let (kept, answer) = oneshot::channel();
            self.context.sink.when_kept(Box::new(move || {
                let _game_gone = kept.send(());
            }));
            self.unkept = answer.await.is_err();
        }
    }

    /// The outcome to announce: `stopped` if the result could not be stored.
    fn announced(&self, outcome: Outcome) -> Outcome {
        if self.unkept { Outcome::Aborted { by: AbortBy::Stopped } } else { outcome }
    }

    /// For how long the loser of a game on time waited for a processor in its last turn, if it would have been in time
    /// without.
    fn starved(&self, loser: Color, by: WinBy, game: &Game) -> Option<Duration> {
        let allowed = game.clock_allowance(loser).filter(|_| by == WinBy::Time)?;
        let waited = self.seats[loser.index()].trace.waited_since(self.turn);
        (!waited.is_zero() && self.turn.elapsed().saturating_sub(waited) <= allowed).then_some(waited)
    }

    /// Evidence for a dispute about the ending; empty for endings that explain themselves.
    fn evidence(&self, outcome: Outcome, reason: &str, game: &Game) -> String {
        match outcome {
            Outcome::Win { winner, by } if by.is_fault() => {
                let loser = !winner;
                let starved =
                    self.starved(loser, by, game).map(|waited| format!("  {}\n", starved_text(waited)));
                let report = self.seats[loser.index()].trace.report();
                format!("{loser}: {reason}\n{}{report}", starved.unwrap_or_default())
            }
            Outcome::Aborted { by: AbortBy::Server } => {
                let [black, white] = [0, 1].map(|side| self.seats[side].trace.report());
                format!("{reason}\nblack:\n{black}white:\n{white}")
            }
            _ => reason.to_owned(),
        }
    }
}

#[cfg(test)]
#[path = "play_tests.rs"]
mod tests;

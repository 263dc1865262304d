//! What the operator of an event does while it is played: one handle behind every door, be it a socket or a page.
//!
//! Each action is an entry of the stream before anybody is told that it was done. What it means for logins and new games
//! is the fold of these entries ([`InForce`]), so that a restart knows the same. Orders about games go to the one who
//! keeps them ([`GamesDesk`]), those about players to the host ([`HostDesk`]). Nothing here is called on the thread of a
//! game, but the short looks of a connection at what is in force.

mod boards;
pub mod command;
mod interventions;
pub mod request;

pub(crate) use interventions::ordered;
pub use interventions::{Intervention, Interventions, Watched};

use crate::joining::{EventFile, Newcomer};
use boards::Boards;
use command::{Command, Decision};
use contest::schedule::Pairing;
use journal::{Reader, now};
use notation::printable;
use parking_lot::{Condvar, Mutex};
use referee::{
    Outcome,
    entry::{Entry, GameId, PlayerId, Stamped},
    operation::{Action, InForce, NamedGame, NoInverse, Operation, Whom},
    sink::Sink,
};
use request::{
    Answer, Listed, ListedAdjourned, ListedAppeal, ListedBan, ListedEntrant, ListedPlayer, Request,
};
use std::{
    convert::Infallible,
    fmt,
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    time::Duration,
};
use words::{Language, Message, Phrase, refuse};

/// Most characters of a reason or a name in a request.
const TEXT: usize = 500;
/// Appeals that may wait for a decision.
const APPEALS: usize = 200;
/// Most time until the games have carried out an order, and until it is on the disk.
const PATIENCE: Duration = Duration::from_secs(20);

/// An order on its way to who keeps the games.
#[derive(Debug)]
pub struct Asked {
    /// The person.
    pub by: String,
    /// The reason; may be empty.
    pub reason: String,
    /// The order.
    pub order: Command,
    /// The game that the order is about; 0 for an order about a machine or a player.
    pub game: GameId,
    /// The engines that join by the order.
    pub newcomers: Vec<Newcomer>,
    /// The way of the answer: what was done, or why not.
    pub answer: Sender<Result<Done, Message>>,
}

impl Asked {
    /// The person and the reason, as evidence of an ending.
    pub fn words(&self) -> String {
        match self.reason.as_str() {
            "" => self.by.clone(),
            reason => format!("{}: {reason}", self.by),
        }
    }

    /// The action by which the order changes the game, which is over, and the operation that it takes back.
    ///
    /// # Errors
    /// Why the order cannot be carried out.
    pub fn correction(
        &self,
        operations: &Operations,
        pairing: Pairing,
        was: Outcome,
    ) -> Result<(Option<u64>, Action), Message> {
        let id = self.game.0;
        let game = operations.named(self.game, &pairing);
        let action = match self.order {
            Command::Rule { result, .. } if result.outcome() == was => {
                return refuse(|words| words.same_result(id));
            }
            Command::Rule { result, .. } => {
                Action::Ruled { game, pairing, was: Some(was), outcome: result.outcome() }
            }
            Command::Replay { .. } => Action::Replayed { game, pairing, was },
            Command::Appeal { .. } => Action::Appealed { game, was },
            Command::Undo { number } => return Ok((Some(number), operations.inverse(number)?)),
            _ => return refuse(|words| words.game_over(id, &words.outcome(was))),
        };
        Ok((None, action))
    }

    /// Answers; whoever asked may be gone.
    pub fn answer(self, answer: Result<Done, Message>) {
        let _gone = self.answer.send(answer);
    }
}

/// An order that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The number of the operation.
    pub number: u64,
    /// What was done, and what follows from it.
    pub text: String,
}

/// Keeps the games of an event.
pub trait GamesDesk: Send + Sync {
    /// Carries an order out, and answers it.
    fn ask(&self, asked: Asked);

    /// Hears that the event was paused or resumed.
    fn changed(&self);
}

/// Keeps the players of the network.
pub trait HostDesk: Send + Sync {
    /// The players who are logged in.
    fn players(&self) -> Vec<ListedPlayer>;

    /// The entrants who are expected, and not logged in.
    fn absent(&self) -> Vec<String>;

    /// The names of the buoys.
    fn buoys(&self) -> Vec<String>;

    /// True if new players may come to the event at all.
    fn is_open(&self) -> bool;

    /// Ends the connections of everybody who is meant, with that line; returns how many there were, and how many of
    /// them are in a game.
    fn kick(&self, whom: &Whom, line: &str) -> (usize, usize);

    /// Deletes a buoy; false if there is none of that name.
    fn delete_buoy(&self, name: &str) -> bool;

    /// Gives the place of an entrant who has no game now to another name; returns the place, and the entry that renames
    /// the player.
    ///
    /// # Errors
    /// Why not.
    fn swap(&self, out: &str, substitute: &str) -> Result<(PlayerId, Entry), Message>;

    /// Begins a game between two players who wait for the same one; returns its name.
    ///
    /// # Errors
    /// Why not.
    fn pair(&self, black: &str, white: &str) -> Result<String, Message>;

    /// Shows a line to everybody in the extended mode, about a private game to its players alone.
    fn tell(&self, game: Option<GameId>, line: &str);

    /// Hears that the event was paused or resumed.
    fn changed(&self);
}

/// The handle for the operator's actions. All copies are one.
#[derive(Clone)]
pub struct Operations(Arc<Shared>);

struct Shared {
    sink: Arc<dyn Sink>,
    /// Held while an operation gets its number and goes to the journal, so that numbers are in the stream's order.
    order: Mutex<()>,
    /// Held while the file of the event is read again and its newcomers join.
    reloading: Mutex<()>,
    /// Held while an appeal is filed or decided on.
    appealing: Mutex<()>,
    state: Mutex<State>,
    committed: Condvar,
    interventions: Arc<Interventions>,
}

#[derive(Default)]
struct State {
    in_force: InForce,
    boards: Boards,
    /// The last operation that is on the disk.
    committed: u64,
    games: Option<Arc<dyn GamesDesk>>,
    /// True if there was ever somebody who keeps the games.
    begun: bool,
    host: Option<Arc<dyn HostDesk>>,
    file: Option<Arc<dyn EventFile>>,
    /// Reason for the missing file, if known.
    no_file: Option<Phrase>,
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operations").finish_non_exhaustive()
    }
}

impl Operations {
    /// The operations of an event with what earlier ones have left in force.
    pub fn new(in_force: InForce, sink: Arc<dyn Sink>) -> Self {
        // What earlier runs did was read from the disk.
        let committed = in_force.next().saturating_sub(1);
        let state = State { in_force, committed, ..State::default() };
        Self(Arc::new(Shared {
            sink,
            order: Mutex::default(),
            reloading: Mutex::default(),
            appealing: Mutex::default(),
            state: Mutex::new(state),
            committed: Condvar::new(),
            interventions: Arc::default(),
        }))
    }

    /// The way to the running games.
    pub fn interventions(&self) -> Arc<Interventions> {
        self.0.interventions.clone()
    }

    /// Sets who keeps the games; `None` when nobody does any more.
    pub fn set_games(&self, desk: Option<Arc<dyn GamesDesk>>) {
        let mut state = self.0.state.lock();
        state.begun |= desk.is_some();
        state.games = desk;
        drop(state);
        self.0.committed.notify_all();
    }

    /// The event is over before anybody keeps its games.
    pub fn set_over(&self) {
        self.0.state.lock().begun = true;
    }

    /// Who keeps the games. The operator may have ordered something before anybody does.
    fn games(&self) -> Result<Arc<dyn GamesDesk>, Message> {
        let mut state = self.0.state.lock();
        self.0.committed.wait_while_for(&mut state, |state| !state.begun, PATIENCE);
        let why = if state.begun { Language::event_over } else { Language::event_not_begun };
        state.games.clone().ok_or_else(|| Message::of(why))
    }

    /// Sets who keeps the players; `None` when nobody does any more.
    pub fn set_host(&self, desk: Option<Arc<dyn HostDesk>>) {
        self.0.state.lock().host = desk;
    }

    /// Sets the file that engines may be added to; an event without one takes none.
    pub fn set_file(&self, file: Arc<dyn EventFile>) {
        self.0.state.lock().file = Some(file);
    }

    /// Says why engines cannot be added while this event is played.
    pub fn set_no_file(&self, why: Phrase) {
        self.0.state.lock().no_file = Some(why);
    }

    /// True if no new game begins.
    pub fn is_paused(&self) -> bool {
        self.in_force(InForce::is_paused)
    }

    /// Reads what is in force, under a lock that is kept as long.
    pub fn in_force<T>(&self, read: impl FnOnce(&InForce) -> T) -> T {
        read(&self.0.state.lock().in_force)
    }

    /// A game with the names that its players have now.
    pub fn named(&self, game: GameId, pairing: &Pairing) -> NamedGame {
        let [black, white] = self.0.state.lock().boards.names(pairing);
        NamedGame { game, black, white, round: pairing.round }
    }

    /// Why an order about a game that is over was refused, with the players, the round and the result of the game.
    pub fn about(&self, why: &Message, game: GameId, pairing: &Pairing, outcome: Outcome) -> Message {
        let game = self.named(game, pairing);
        Message::of(|words| {
            words.about_game(why.text(words), &words.named_game(&game), &words.outcome(outcome))
        })
    }

    /// The adjourned game that waits for the operator before the game at this place of the schedule may begin.
    pub fn held_at(&self, pairing: &Pairing) -> Option<GameId> {
        let same = |held: &Pairing| (held.stage, held.index) == (pairing.stage, pairing.index);
        self.in_force(|in_force| in_force.held().find(|(_, held)| same(held)).map(|(game, _)| game))
    }

    /// True if an adjourned game waits for the operator.
    pub fn is_held(&self, game: GameId) -> bool {
        self.in_force(|in_force| in_force.held().any(|(held, _)| held == game))
    }

    /// The machines that get no more games, each with the reason.
    pub fn dropped_machines(&self) -> Vec<(String, String)> {
        let named = |(name, by): (&str, &Operation)| (name.to_owned(), by.reason.clone());
        self.in_force(|in_force| in_force.dropped_machines().map(named).collect())
    }

    /// The last operations, the newest first, each with the reason why it cannot be taken back.
    pub fn recent(&self, most: usize) -> Vec<(Operation, Option<NoInverse>)> {
        let in_force = &self.0.state.lock().in_force;
        let recent = in_force.operations().iter().rev().take(most);
        recent.map(|operation| (operation.clone(), in_force.inverse(operation.number).err())).collect()
    }

    /// A reader of committed entries, for the journal.
    pub fn reader(&self) -> Reader {
        let operations = self.clone();
        Reader::new("operations", move |batch| operations.take(batch))
    }

    /// Takes entries that are on the disk.
    pub(crate) fn take(&self, batch: &[Stamped]) {
        let mut state = self.0.state.lock();
        for stamped in batch {
            match &stamped.entry {
                Entry::Operator(operation) => state.committed = state.committed.max(operation.number),
                _ => state.boards.fold(stamped),
            }
        }
        drop(state);
        self.0.committed.notify_all();
    }

    /// Records an operation.
    pub fn record(&self, by: &str, reason: &str, undoes: Option<u64>, action: Action) -> Done {
        self.record_by(by, reason, undoes, action, |entry| self.0.sink.happened(entry))
    }

    /// Records an operation that somebody else has carried out, and waits until it is on the disk.
    ///
    /// # Errors
    /// When it is not after a while.
    pub fn note(&self, by: &str, reason: &str, action: Action) -> Result<(), Message> {
        self.await_commit(self.record(by, reason, None, action).number)
    }

    /// Records an operation by handing its entry to `happened`.
    pub fn record_by(
        &self,
        by: &str,
        reason: &str,
        undoes: Option<u64>,
        action: Action,
        happened: impl FnOnce(Entry),
    ) -> Done {
        let decide = |_: &InForce| Ok::<_, Infallible>(action);
        let Ok(done) = self.record_if((by, reason, undoes), decide, happened);
        done
    }

    /// Records what `decide` makes of what is in force, if it does not refuse: nothing is recorded in between, so that of
    /// equal orders at once the later ones hear that it is so already.
    fn record_if<E>(
        &self,
        (by, reason, undoes): (&str, &str, Option<u64>),
        decide: impl FnOnce(&InForce) -> Result<Action, E>,
        happened: impl FnOnce(Entry),
    ) -> Result<Done, E> {
        let order = self.0.order.lock();
        let operation = {
            let mut state = self.0.state.lock();
            let (action, number) = (decide(&state.in_force)?, state.in_force.next());
            let (by, reason) = (by.to_owned(), reason.to_owned());
            let operation = Operation { number, by, reason, undoes, action };
            state.in_force.fold(&operation);
            operation
        };
        let done = Done { number: operation.number, text: operation.action.to_string() };
        happened(Entry::Operator(Box::new(operation)));
        drop(order);
        Ok(done)
    }

    /// Carries a request out, for a person whom the system calls `user`, and answers when it is on the disk. Waits for
    /// the games where it is about them.
    ///
    /// # Errors
    /// The refusal.
    pub fn carry_out(&self, user: &str, request: &Request) -> Result<Answer, Message> {
        let reason = checked(Language::a_reason, request.reason.as_deref().unwrap_or_default())?;
        let by = match &request.named {
            None => user.to_owned(),
            Some(name) => format!("{user} as {}", checked(Language::a_name, name)?),
        };
        if request.command.needs_reason() && reason.is_empty() {
            return refuse(Language::needs_reason);
        }
        if request.command == Command::List {
            return Ok(Answer { ok: true, list: Some(Box::new(self.list())), ..Answer::default() });
        }
        let Done { number, mut text } = self.operate(&by, reason, &request.command)?;
        self.await_commit(number)?;
        if let Command::Undo { number } = request.command {
            text += &format!(", which takes back operation {number}");
        }
        Ok(Answer { ok: true, text, operation: Some(number), ..Answer::default() })
    }

    fn operate(&self, by: &str, reason: &str, command: &Command) -> Result<Done, Message> {
        let record = |action: Action| Ok(self.record(by, reason, None, action));
        match command {
            Command::List => refuse(|_| "nothing to record"),
            Command::Pause | Command::Resume | Command::Unban { .. } | Command::Unmute { .. } => {
                self.switch(by, reason, command)
            }
            Command::CloseRegistration | Command::OpenRegistration => match self.host() {
                Ok(host) if host.is_open() => self.switch(by, reason, command),
                _ => refuse(Language::no_registration),
            },
            Command::Kick { name } => self.kick(by, reason, name),
            Command::Ban { whom } => self.ban_whom(by, reason, whom),
            Command::Mute { name } => {
                self.host()?;
                let name = player_name(name)?;
                record(Action::Muted { name })
            }
            Command::DeleteBuoy { name } => {
                if !self.host()?.delete_buoy(name) {
                    return refuse(|words| words.no_buoy(&printable(name.as_bytes())));
                }
                record(Action::BuoyDeleted { name: name.clone() })
            }
            Command::Announce { text } => self.announce(by, reason, text),
            Command::Adjourn { game, .. }
            | Command::PlayOn { game }
            | Command::Clock { game, .. }
            | Command::Rule { game, .. }
            | Command::Replay { game } => self.ask_games(by, reason, GameId(*game), command.clone()),
            Command::Pair { black, white } => match self.host() {
                Ok(host) if host.is_open() => {
                    let (black, white) = (player_name(black)?, player_name(white)?);
                    let name = host.pair(&black, &white)?;
                    record(Action::Paired { black, white, name })
                }
                _ => self.ask_games(by, reason, GameId(0), command.clone()),
            },
            Command::Appeal { game } => self.appeal(by, reason, GameId(*game)),
            Command::Answer { appeal, decision } => self.answer(by, reason, *appeal, *decision),
            Command::Swap { out, substitute } => self.swap(by, reason, None, (out, substitute)),
            Command::DropMachine { machine } | Command::ReadmitMachine { machine } => {
                checked(Language::name_of_a_machine, machine)?;
                self.ask_games(by, reason, GameId(0), command.clone())
            }
            Command::Penalty { player, .. }
            | Command::Disqualify { player }
            | Command::Place { player, .. }
            | Command::Withdraw { player }
            | Command::Return { player }
            | Command::Bye { player, .. } => {
                checked(Language::a_name, player)?;
                self.ask_games(by, reason, GameId(0), command.clone())
            }
            Command::Reload => self.reload(by, reason),
            Command::Undo { number } => self.undo(by, reason, *number),
        }
    }

    fn host(&self) -> Result<Arc<dyn HostDesk>, Message> {
        self.0.state.lock().host.clone().ok_or_else(|| Message::of(Language::no_network))
    }

    /// Switches something on or off, and wakes those who begin games where it is a pause.
    fn switch(&self, by: &str, reason: &str, command: &Command) -> Result<Done, Message> {
        let undoes = if let Command::Undo { number } = command { Some(*number) } else { None };
        let mut is_pause = false;
        let decide = |in_force: &InForce| {
            let action = switched(in_force, command)?;
            is_pause = matches!(action, Action::Paused | Action::Resumed);
            Ok::<_, Message>(action)
        };
        let done = self.record_if((by, reason, undoes), decide, |entry| self.0.sink.happened(entry))?;
        let (games, host) = {
            let state = self.0.state.lock();
            (state.games.clone(), state.host.clone())
        };
        games.iter().filter(|_| is_pause).for_each(|desk| desk.changed());
        host.iter().filter(|_| is_pause).for_each(|desk| desk.changed());
        Ok(done)
    }

    /// Puts an announcement on record, where pages and reports show it, and tells it to who is connected in the extended
    /// mode.
    fn announce(&self, by: &str, reason: &str, text: &str) -> Result<Done, Message> {
        let text = checked(Language::an_announcement, text)?;
        if text.is_empty() {
            return refuse(Language::announcement_needs_words);
        }
        let done = self.record(by, reason, None, Action::Announced { text: text.to_owned() });
        self.tell(None, &format!("##[OPERATOR] {text}\n"));
        Ok(done)
    }

    fn kick(&self, by: &str, reason: &str, name: &str) -> Result<Done, Message> {
        let (host, name) = (self.host()?, player_name(name)?);
        let (kicked, playing) = host.kick(&Whom::Name(name.clone()), &sent_away(reason));
        if kicked == 0 {
            return refuse(|words| words.player_not_here(&name));
        }
        let Done { number, text } = self.record(by, reason, None, Action::Kicked { name });
        Ok(Done { number, text: text + of_games(playing) })
    }

    fn ban_whom(&self, by: &str, reason: &str, whom: &str) -> Result<Done, Message> {
        let (host, whom) = (self.host()?, meant(whom)?);
        if let Whom::Name(name) = &whom {
            player_name(name)?;
        }
        // On record first: whoever is sent away finds the door closed.
        let Done { number, text } = self.record(by, reason, None, Action::Banned { whom: whom.clone() });
        let (kicked, playing) = host.kick(&whom, &sent_away(reason));
        let here = if kicked == 0 { String::new() } else { format!("; {kicked} of them sent away") };
        Ok(Done { number, text: format!("{text}{here}{}", of_games(playing)) })
    }

    fn swap(
        &self,
        by: &str,
        reason: &str,
        undoes: Option<u64>,
        (out, substitute): (&str, &str),
    ) -> Result<Done, Message> {
        let (host, out, substitute) = (self.host()?, player_name(out)?, player_name(substitute)?);
        let (player, renamed) = host.swap(&out, &substitute)?;
        let action = Action::Swapped { player, out: out.clone(), substitute };
        let done = self.record(by, reason, undoes, action);
        self.0.sink.happened(renamed);
        host.kick(&Whom::Name(out), &sent_away(reason));
        host.tell(None, &format!("##[OPERATOR] {}\n", done.text));
        Ok(done)
    }

    /// Puts an appeal on record, if so many may wait. Who appeals has one for a game at a time.
    fn appeal(&self, by: &str, reason: &str, game: GameId) -> Result<Done, Message> {
        let _alone = self.0.appealing.lock();
        {
            let state = self.0.state.lock();
            if state.in_force.appeals().any(|(appeal, of)| of == game && appeal.by == by) {
                return refuse(|words| words.appeal_waits(game.0));
            }
            if state.in_force.appeals().count() >= APPEALS {
                return refuse(Language::appeals_full);
            }
        }
        self.ask_games(by, reason, game, Command::Appeal { game: game.0 })
    }

    /// Decides on an appeal: carries out what follows, and then puts the answer on record.
    fn answer(&self, by: &str, reason: &str, appeal: u64, decision: Decision) -> Result<Done, Message> {
        let _alone = self.0.appealing.lock();
        let waits = |in_force: &InForce| {
            let (waits, _) = in_force.appeals().find(|(waits, _)| waits.number == appeal)?;
            Some(waits.action.clone())
        };
        let Some(Action::Appealed { game: named, was }) = self.in_force(waits) else {
            return refuse(|words| words.no_waiting_appeal(appeal));
        };
        let game = named.game;
        let follows = match decision {
            Decision::Dismissed | Decision::Upheld => None,
            Decision::Replay => Some(Command::Replay { game: game.0 }),
            Decision::Ruled(result) => Some(Command::Rule { game: game.0, result }),
        };
        let follows = follows.map(|order| self.ask_games(by, reason, game, order)).transpose()?;
        let upheld = decision != Decision::Dismissed;
        let action = Action::AppealAnswered { appeal, game: named, was, upheld };
        let Done { number, mut text } = self.record(by, reason, None, action);
        follows.iter().for_each(|done| text += &format!("; {}", done.text));
        self.tell(Some(game), &format!("##[OPERATOR] {text}\n"));
        Ok(Done { number, text })
    }

    /// The names of those who play in the place of an entrant of the configuration.
    pub fn substitutes(&self) -> Vec<(PlayerId, String)> {
        self.0.state.lock().in_force.substitutes().map(|(player, name)| (player, name.to_owned())).collect()
    }

    fn undo(&self, by: &str, reason: &str, number: u64) -> Result<Done, Message> {
        match self.inverse(number)? {
            Action::Swapped { out, substitute, .. } => {
                self.swap(by, reason, Some(number), (&out, &substitute))
            }
            Action::Ruled { game, .. } => self.ask_games(by, reason, game.game, Command::Undo { number }),
            Action::Penalised { .. }
            | Action::Disqualified { .. }
            | Action::Placed { .. }
            | Action::Withdrawn { .. }
            | Action::PairingGiven { .. }
            | Action::ByeGiven { .. } => self.ask_games(by, reason, GameId(0), Command::Undo { number }),
            _ => self.switch(by, reason, &Command::Undo { number }),
        }
    }

    /// Has the engines join that the file of the event has got. Two who order it at once find each newcomer once.
    fn reload(&self, by: &str, reason: &str) -> Result<Done, Message> {
        let _games_are_kept = self.games()?;
        let (file, why) = {
            let state = self.0.state.lock();
            (state.file.clone(), state.no_file)
        };
        let Some(file) = file else { return refuse(why.unwrap_or(Language::event_has_no_file)) };
        let _alone = self.0.reloading.lock();
        let newcomers = file.newcomers()?;
        if newcomers.is_empty() {
            return refuse(Language::file_has_no_newcomer);
        }
        let done = self.ask_games_with(by, reason, GameId(0), Command::Reload, newcomers)?;
        self.await_commit(done.number)?;
        Ok(done)
    }

    /// The action that takes an operation back.
    ///
    /// # Errors
    /// Why nothing does.
    pub fn inverse(&self, number: u64) -> Result<Action, Message> {
        self.in_force(|in_force| inverse(in_force, number))
    }

    fn ask_games(&self, by: &str, reason: &str, game: GameId, order: Command) -> Result<Done, Message> {
        self.ask_games_with(by, reason, game, order, vec![])
    }

    fn ask_games_with(
        &self,
        by: &str,
        reason: &str,
        game: GameId,
        order: Command,
        newcomers: Vec<Newcomer>,
    ) -> Result<Done, Message> {
        let desk = self.games()?;
        let (answer, answered) = mpsc::channel();
        desk.ask(Asked { by: by.to_owned(), reason: reason.to_owned(), order, game, newcomers, answer });
        drop(desk);
        match answered.recv_timeout(PATIENCE) {
            Ok(done) => done,
            Err(mpsc::RecvTimeoutError::Timeout) => refuse(Language::no_answer_yet),
            Err(mpsc::RecvTimeoutError::Disconnected) => refuse(Language::event_ended_meanwhile),
        }
    }

    /// Waits until an operation is on the disk.
    fn await_commit(&self, number: u64) -> Result<(), Message> {
        let mut state = self.0.state.lock();
        let waits = |state: &mut State| state.committed < number;
        match self.0.committed.wait_while_for(&mut state, waits, PATIENCE).timed_out() {
            true => refuse(|words| words.not_on_disk(number, PATIENCE.as_secs())),
            false => Ok(()),
        }
    }

    fn list(&self) -> Listed {
        let host = self.0.state.lock().host.clone();
        let (players, absent, buoys) =
            host.map_or_else(Default::default, |host| (host.players(), host.absent(), host.buoys()));
        let state = self.0.state.lock();
        let in_force = &state.in_force;
        let appeals = in_force.appeals().map(|(appeal, game)| ListedAppeal {
            operation: appeal.number,
            game: game.0,
            by: appeal.by.clone(),
            reason: appeal.reason.clone(),
        });
        let ban = |whom: String, Operation { number, by, reason, .. }: &Operation| ListedBan {
            whom,
            operation: *number,
            by: by.clone(),
            reason: reason.clone(),
        };
        let bans = in_force.bans().map(|(whom, operation)| ban(whom.to_string(), operation));
        let adjourned = in_force.held().map(|(game, pairing)| {
            let [black, white] = state.boards.names(pairing);
            ListedAdjourned { game: game.0, black, white }
        });
        let entrants = state.boards.players().iter().enumerate().map(|(at, name)| ListedEntrant {
            name: name.clone(),
            withdrawn: in_force.has_withdrawn(PlayerId::at(at)),
        });
        let dropped = in_force.dropped_machines().map(|(name, operation)| ban(name.to_owned(), operation));
        Listed {
            paused: in_force.is_paused(),
            over: state.begun && state.games.is_none(),
            entrants: entrants.collect(),
            has_file: state.file.is_some(),
            registration_closed: in_force.registration_is_closed(),
            players,
            absent,
            games: state.boards.listed(now()),
            adjourned: adjourned.collect(),
            bans: bans.collect(),
            mutes: in_force.mutes().map(str::to_owned).collect(),
            buoys,
            appeals: appeals.collect(),
            dropped: dropped.collect(),
            // Whoever asks reads them from the database, where the desk writes them.
            machines: vec![],
        }
    }

    /// Shows a line to everybody in the extended mode, where there is a network; about a private game to its players alone.
    pub fn tell(&self, game: Option<GameId>, line: &str) {
        let host = self.0.state.lock().host.clone();
        host.iter().for_each(|host| host.tell(game, line));
    }
}

/// What an order to switch something comes to while this is in force.
fn switched(in_force: &InForce, command: &Command) -> Result<Action, Message> {
    let (is_paused, is_closed) = (in_force.is_paused(), in_force.registration_is_closed());
    Ok(match command {
        Command::Pause if is_paused => return refuse(Language::paused_already),
        Command::Pause => Action::Paused,
        Command::Resume if !is_paused => return refuse(Language::not_paused),
        Command::Resume => Action::Resumed,
        Command::CloseRegistration if is_closed => return refuse(Language::registration_closed_already),
        Command::CloseRegistration => Action::RegistrationClosed,
        Command::OpenRegistration if !is_closed => return refuse(Language::registration_open_already),
        Command::OpenRegistration => Action::RegistrationOpened,
        Command::Unban { whom } => {
            let whom = meant(whom)?;
            if !in_force.bans().any(|(banned, _)| *banned == whom) {
                return refuse(|words| words.not_banned(&whom.to_string()));
            }
            Action::Unbanned { whom }
        }
        Command::Unmute { name } if !in_force.is_muted(name) => {
            return refuse(|words| words.not_muted(&printable(name.as_bytes())));
        }
        Command::Unmute { name } => Action::Unmuted { name: name.clone() },
        Command::Undo { number } => inverse(in_force, *number)?,
        _ => return refuse(|_| "nothing to switch"),
    })
}

fn inverse(in_force: &InForce, number: u64) -> Result<Action, Message> {
    in_force.inverse(number).map_err(|why| Message::of(|words| words.no_inverse(&why)))
}

/// A text of a person, if it can be shown as it is.
fn checked(what: Phrase, text: &str) -> Result<&str, Message> {
    let text = text.trim();
    match text.chars().count() > TEXT || text.chars().any(char::is_control) {
        true => refuse(|words| words.text_too_long(what(words), TEXT)),
        false => Ok(text),
    }
}

fn player_name(name: &str) -> Result<String, Message> {
    match notation::csa::wire::is_player_name(name) {
        true => Ok(name.to_owned()),
        false => refuse(|words| words.not_a_player_name(&printable(name.as_bytes()))),
    }
}

/// The player or network that a ban is for.
fn meant(whom: &str) -> Result<Whom, Message> {
    whom.parse().or_else(|_| refuse(|words| words.not_a_ban(&printable(whom.as_bytes()))))
}

/// What a player is told who is sent away.
fn sent_away(reason: &str) -> String {
    match reason {
        "" => "the operator has ended your connection".to_owned(),
        reason => format!("the operator has ended your connection: {reason}"),
    }
}

fn of_games(playing: usize) -> &'static str {
    match playing {
        0 => "",
        _ => "; a game of theirs goes on as after a lost connection, by the grace time of the host",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::sink::SideRecord;
    use std::{sync::Barrier, thread};

    #[derive(Debug)]
    struct Nowhere;

    impl Sink for Nowhere {
        fn happened(&self, _: Entry) {}

        fn keep(&self, _: SideRecord) {}
    }

    #[test]
    fn of_equal_orders_at_once_one_is_done_and_the_others_hear_that_it_is_so_already() {
        let operations = Operations::new(InForce::default(), Arc::new(Nowhere));
        let order = |command: &Command, number: usize| {
            let barrier = Barrier::new(number);
            thread::scope(|scope| {
                let give = || {
                    barrier.wait();
                    operations.operate("kai", "", command).map_err(|why| why.to_string())
                };
                let orders: Vec<_> = (0..number).map(|_| scope.spawn(give)).collect();
                orders.into_iter().map(|order| order.join().unwrap()).collect::<Vec<_>>()
            })
        };
        for round in 0..200 {
            let command = if round % 2 == 0 { Command::Pause } else { Command::Resume };
            let answers = order(&command, 3);
            assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1, "{answers:?}");
        }
        let on_record = operations.in_force(|in_force| in_force.operations().len());
        assert_eq!(on_record, 200);
    }

    #[test]
    fn an_undo_says_what_it_took_back_and_a_stale_one_leaves_the_later_order() {
        let operations = Operations::new(InForce::default(), Arc::new(Nowhere));
        let order = |command| operations.operate("kai", "", &command).map_err(|why| why.to_string());
        for (command, number) in [(Command::Pause, 1), (Command::Resume, 2), (Command::Pause, 3)] {
            assert_eq!(order(command).unwrap().number, number);
        }
        let stale = order(Command::Undo { number: 1 }).unwrap_err();
        assert!(stale.starts_with("operation 1 is no longer in effect: operation 3 decided"), "{stale}");
        assert!(operations.is_paused());
        order(Command::Undo { number: 3 }).unwrap();
        assert!(!operations.is_paused());
        let again = order(Command::Undo { number: 4 }).unwrap_err();
        assert!(again.contains("operation 4 took back operation 3"), "{again}");
    }
}

#[cfg(test)]
#[path = "operations/desk_tests.rs"]
mod desk_tests;

//! Events whose games are played elsewhere, on machines that a test plays.

use super::*;
use crate::{
    agenda::LEAST_WINDOW,
    desk::RemoteDesk,
    note::{DeskNote, PlayedJob},
    operations::{
        command::{Command, RuledResult},
        request::{Answer, Request},
    },
    play::Fixture,
};
use contest::schedule::{Format, Stage};
use journal::{Store, now};
use plan::{EnginePlan, SprtModel, SprtPlan};
use referee::{
    WinBy,
    lease::{Lease, LeaseId},
};
use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread::{self, ScopedJoinHandle},
};

/// Longer than anything here takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pairs that each machine plays at once.
const SLOTS: usize = 2;

/// A pair that a machine has.
#[derive(Clone)]
struct Given {
    lease: LeaseId,
    machine: &'static str,
    games: Vec<Pairing>,
}

/// The machines of an event, as its desk and the test see them.
#[derive(Default)]
struct Yard {
    notes: Option<Sender<Note>>,
    /// Machines that get pairs.
    machines: Vec<&'static str>,
    given: Vec<Given>,
    leases: u64,
    said: Vec<String>,
}

#[derive(Clone, Default)]
struct Machines(Arc<(Mutex<Yard>, Condvar)>);

impl Machines {
    fn of(names: &[&'static str]) -> Self {
        let machines = Self::default();
        machines.yard().machines = names.to_vec();
        machines
    }

    fn yard(&self) -> MutexGuard<'_, Yard> {
        self.0.0.lock().unwrap()
    }

    /// Waits until something is so.
    fn until<T>(&self, what: &str, found: impl Fn(&Yard) -> Option<T>) -> T {
        let mut yard = self.yard();
        loop {
            if let Some(found) = found(&yard) {
                return found;
            }
            let (next, waited) = self.0.1.wait_timeout(yard, PATIENCE).unwrap();
            assert!(!waited.timed_out(), "waited in vain until {what}; it was reported: {:?}", next.said);
            yard = next;
        }
    }

    /// The oldest pair that one of these machines has.
    fn oldest(&self, machines: &[&str]) -> Given {
        self.until("a pair is handed out", |yard| {
            yard.given.iter().find(|given| machines.contains(&given.machine)).cloned()
        })
    }

    /// Brings a pair back, and waits until it is stored. The first player wins both games of every other pair, and loses
    /// the others.
    fn answer(&self, given: &Given) {
        let (kept, stored) = mpsc::channel();
        let mut yard = self.yard();
        yard.given.retain(|other| other.lease != given.lease);
        let games = given.games.iter().map(played).collect();
        let (lease, machine) = (given.lease, given.machine.to_owned());
        let job = PlayedJob {
            lease,
            machine,
            sha256: String::new(),
            games,
            kept: Box::new(move || _ = kept.send(())),
        };
        yard.note(DeskNote::Played(Box::new(job)));
        yard.note(DeskNote::Free);
        drop(yard);
        stored.recv_timeout(PATIENCE).expect("the pair is stored");
    }
}

impl Yard {
    fn note(&self, note: DeskNote) {
        let _over = self.notes.as_ref().unwrap().send(Note::Desk(note));
    }

    fn free(&self, machine: &str) -> usize {
        SLOTS - self.given.iter().filter(|given| given.machine == machine).count()
    }
}

/// A game that is over at once.
fn played(pairing: &Pairing) -> Vec<Stamped> {
    let (game, pairing) = (GameId(1), *pairing);
    let first = if pairing.black == PlayerId(0) { Color::Black } else { Color::White };
    let winner = if pairing.pair.is_multiple_of(2) { first } else { !first };
    let (start, opening) = (referee::opening::EVEN.to_owned(), String::new());
    let started = Entry::GameStarted(GameStarted { game, pairing, start, opening, times: None });
    let outcome = Outcome::Win { winner, by: WinBy::Resignation };
    let ended = Entry::GameEnded(GameEnded::new(game, pairing, outcome, 0));
    [started, ended].map(|entry| Stamped { at: now(), entry }).to_vec()
}

impl RemoteDesk for Machines {
    fn open(&mut self, notes: Sender<Note>, _: Arc<dyn Sink>) -> Result<Vec<Lease>, RunError> {
        self.yard().notes = Some(notes);
        Ok(vec![])
    }

    fn adopt(&mut self, _: Lease, _: Vec<Fixture>) {}

    fn begin(&mut self) -> Result<(), RunError> {
        Ok(())
    }

    fn places(&self) -> usize {
        let yard = self.yard();
        yard.machines.iter().map(|machine| yard.free(machine)).sum()
    }

    fn slots(&self) -> usize {
        self.yard().machines.len() * SLOTS
    }

    fn give(&mut self, games: Vec<Fixture>) -> Option<LeaseId> {
        let mut yard = self.yard();
        let machine = *yard.machines.iter().max_by_key(|machine| yard.free(machine))?;
        yard.leases += 1;
        let lease = LeaseId(yard.leases);
        let games = games.into_iter().map(|fixture| fixture.pairing).collect();
        yard.given.push(Given { lease, machine, games });
        self.0.1.notify_all();
        Some(lease)
    }

    fn holder(&self, lease: LeaseId) -> Option<String> {
        let yard = self.yard();
        let given = yard.given.iter().find(|given| given.lease == lease)?;
        Some(format!("machine `{}` has", given.machine))
    }

    fn others_wait(&mut self, _: Option<Duration>) {}

    fn knows(&self, machine: &str) -> bool {
        self.yard().machines.contains(&machine)
    }

    fn bar(&mut self, machine: &str, _: &str) {
        let mut yard = self.yard();
        yard.machines.retain(|other| *other != machine);
        let lost = yard.given.extract_if(.., |given| given.machine == machine).collect::<Vec<_>>();
        lost.iter().for_each(|given| yard.note(DeskNote::Lost(given.lease)));
    }

    fn readmit(&mut self, _: &str) {}

    fn stop(&mut self) {}

    fn close(&mut self, _: Closing) {}
}

/// A sequential test that is far from any verdict.
fn test_of(directory: &tempfile::TempDir, max_games: u64) -> Plan {
    let engine = |name: &str| EnginePlan { name: name.to_owned(), ..EnginePlan::default() };
    let engines = vec![engine("a"), engine("b")];
    let plan = Plan::of_engines("event", engines, directory.path().join("event.db"));
    let sprt = SprtPlan { model: SprtModel::Normalized, elo0: -1.0, elo1: 1.0, alpha: 0.05, beta: 0.05 };
    let stages = vec![Stage { format: Format::Sprt { max_games }, games: 2, ..Stage::default() }];
    Plan { concurrency: 0, stages, sprt: Some(sprt), ..plan }
}

/// Ends the event when a test fails, as it would wait for its machines for ever.
struct Ends<'a>(&'a Shutdown);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.adjourn();
    }
}

/// Plays an event while `meanwhile` plays its machines.
fn play(
    max_games: u64,
    machines: &Machines,
    meanwhile: impl FnOnce(&Operations, EventId, &Plan, ScopedJoinHandle<'_, Finished>) -> Finished,
) -> Finished {
    let directory = tempfile::tempdir().unwrap();
    let plan = test_of(&directory, max_games);
    let shutdown = Shutdown::default();
    let event = OpenEvent::open(&plan, vec![], None).unwrap();
    let (operations, id) = (event.operations(), event.event());
    let heard = machines.clone();
    let company = Company {
        openings: in_order(vec![], &plan),
        remote: None,
        machines: Some(Box::new(machines.clone())),
        readers: vec![],
        say: Arc::new(move |line: &str| {
            heard.yard().said.push(line.to_owned());
            heard.0.1.notify_all();
        }),
        disk: DiskWatch::default(),
    };
    thread::scope(|scope| {
        let playing = scope.spawn(|| event.play(company, &shutdown).unwrap());
        let _ends = Ends(&shutdown);
        meanwhile(&operations, id, &plan, playing)
    })
}

fn order(operations: &Operations, command: Command) -> Answer {
    let request = Request { named: None, reason: Some("its fan died".to_owned()), event: None, command };
    operations.carry_out("op", &request).unwrap_or_else(|why| Answer::refused(why.to_string()))
}

/// Drops a machine, and has its games played again, as `renmei admin drop` does; returns how many.
fn drop_machine(operations: &Operations, event: EventId, plan: &Plan, machine: &str) -> usize {
    let dropped = order(operations, Command::DropMachine { machine: machine.to_owned() });
    assert!(dropped.ok, "{}", dropped.text);
    let games = Store::read(&plan.database).unwrap().games_of_machine(event, machine).unwrap();
    for game in &games {
        let again = order(operations, Command::Replay { game: game.0 });
        assert!(again.ok, "{}", again.text);
    }
    games.len()
}

/// Machines play until the event is over.
fn finish(
    machines: &Machines,
    names: &[&str],
    playing: ScopedJoinHandle<'_, Finished>,
    left: u64,
) -> Finished {
    (0..left).for_each(|_| machines.answer(&machines.oldest(names)));
    playing.join().unwrap()
}

#[test]
fn a_sequential_test_goes_on_after_a_machine_was_dropped_that_had_played_more_than_it_may_be_ahead() {
    let machines = Machines::of(&["ann", "bob"]);
    let finished = play(200, &machines, |operations, event, plan, playing| {
        (0..80).for_each(|_| machines.answer(&machines.oldest(&["ann", "bob"])));
        let again = drop_machine(operations, event, plan, "ann") as u64 / 2;
        assert!(again > LEAST_WINDOW, "{again} pairs");
        finish(&machines, &["bob"], playing, 100 - (80 - again))
    });
    assert!(finished.is_complete());
    assert_eq!(finished.standings.finished(0).unwrap().len(), 200);
    assert_eq!(finished.standings.sequence().unwrap().in_order.pairs, 100);
}

#[test]
fn a_game_that_is_left_out_holds_up_no_sequential_test_on_machines() {
    let machines = Machines::of(&["ann", "bob"]);
    let finished = play(100, &machines, |operations, _, _, playing| {
        machines.answer(&machines.oldest(&["ann", "bob"]));
        let left_out = order(operations, Command::Rule { game: 1, result: RuledResult::Void });
        assert!(left_out.ok, "{}", left_out.text);
        finish(&machines, &["ann", "bob"], playing, 49)
    });
    assert!(finished.is_complete());
    assert_eq!(finished.standings.finished(0).unwrap().len(), 100);
}

#[test]
fn free_places_without_a_game_are_reported_with_the_pair_that_is_waited_for_and_who_has_it() {
    let machines = Machines::of(&["ann", "bob"]);
    play(100, &machines, |_, _, _, playing| {
        let first = machines.until("the first pair is handed out", |yard| {
            yard.given.iter().find(|given| given.games[0].index == 0).cloned()
        });
        let others = machines.until("all places are taken", |yard| {
            (yard.given.len() == 2 * SLOTS).then(|| yard.given.clone())
        });
        others.iter().filter(|given| given.lease != first.lease).for_each(|given| machines.answer(given));
        // Everything else within the window.
        (4..LEAST_WINDOW).for_each(|_| {
            let next = machines.until("a pair is handed out", |yard| {
                yard.given.iter().find(|given| given.lease != first.lease).cloned()
            });
            machines.answer(&next);
        });
        let said = machines.until("the stall is reported", |yard| {
            yard.said.iter().find(|line| line.starts_with("no game has begun")).cloned()
        });
        let machine = first.machine;
        let expected = format!("32 pairs ahead of pair 1, which machine `{machine}` has");
        assert!(said.ends_with(&expected), "{said}");
        machines.answer(&first);
        finish(&machines, &["ann", "bob"], playing, 50 - LEAST_WINDOW)
    });
}

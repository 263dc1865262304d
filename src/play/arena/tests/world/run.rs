//! A run of the program: the dispatcher and its workers on simulated time, with the thread of the journal on a rein.

use super::*;

/// Holds the thread of the journal between two commits: it works while [`Rein::commit`] waits for it.
pub(super) struct Rein {
    /// The thread waits until this is dropped.
    pub(super) held_by: Option<Sender<()>>,
}

/// The answer to a wish for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commit {
    /// Nothing was to be committed.
    Nothing,
    /// All that was given is committed.
    Done,
    /// The journal has failed.
    Failed,
}

impl Rein {
    /// Holds a thread that is not started yet; its first commit has no content. Who waits for the answer knows that it is held.
    pub(super) fn of(sink: &dyn Sink) -> (Self, Receiver<bool>) {
        sink.keep(SideRecord::OpeningTimes(GameId(0), vec![]));
        let (held_by, is_held) = hold(sink);
        (Self { held_by: Some(held_by) }, is_held)
    }

    pub(super) fn commit(&mut self, sink: &dyn Sink) -> Commit {
        let (held_by, is_held) = hold(sink);
        if is_held.try_recv() == Ok(false) {
            return Commit::Nothing;
        }
        self.held_by = Some(held_by);
        heard(&is_held)
    }
}

fn heard(is_held: &Receiver<bool>) -> Commit {
    match is_held.recv_timeout(testing::PATIENCE) {
        Ok(_) => Commit::Done,
        Err(RecvTimeoutError::Disconnected) => Commit::Failed,
        Err(RecvTimeoutError::Timeout) => panic!("the journal does not answer"),
    }
}

/// Has the thread of the journal wait after the next commit until the sender is dropped. The receiver hears of the commit,
/// with false if there was nothing to commit, so that nobody waits.
fn hold(sink: &dyn Sink) -> (Sender<()>, Receiver<bool>) {
    let here = thread::current().id();
    let (held_by, released) = mpsc::channel::<()>();
    let (tell, is_held) = mpsc::channel();
    sink.when_kept(Box::new(move || {
        let is_elsewhere = thread::current().id() != here;
        let _gone = tell.send(is_elsewhere);
        if is_elsewhere {
            let _dropped = released.recv();
        }
    }));
    (held_by, is_held)
}

/// What follows from a stream: the same live and after a restart.
pub(super) fn follows(standings: &Standings, operations: &Operations) -> String {
    let stage = |stage| standings.finished(stage).map(|finished| (finished, standings.ranking(stage)));
    let stages: Vec<_> = (0..).map_while(stage).collect();
    let orders = operations.in_force(|in_force| {
        let held: Vec<GameId> = in_force.held().map(|(game, _)| game).collect();
        (in_force.operations().len(), in_force.is_paused(), held)
    });
    format!("{stages:?} {:?} {:?} {orders:?}", standings.halts(), standings.verdict())
}

/// The players as a worker sees them that opens no seat itself.
fn seated_from_elsewhere(plan: &Plan) -> Field {
    let remote = |engine: &EnginePlan| Arc::new(EnginePlan { remote: true, ..engine.clone() });
    Field::new(plan.engines.iter().map(|engine| (remote(engine), None)))
}

/// How a run of the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Complete,
    /// By a fault of the disk, or by the operator.
    Stopped,
    /// Engines have reached their limit of faults.
    Halted,
    Died,
}

/// A run of the program.
pub(super) struct Run<'r> {
    /// Dropped first: the end of a journal waits for its thread.
    pub(super) rein: Rein,
    pub(super) dispatcher: Dispatcher<'r>,
    pub(super) runtime: Runtime,
    pub(super) shutdown: &'r Shutdown,
    pub(super) event: EventId,
    /// What a reader has heard of.
    pub(super) read: Arc<Mutex<Vec<Stamped>>>,
    pub(super) appended: Appended,
    /// Entries that are committed.
    pub(super) committed: u64,
    /// Entries that were on their way when the journal failed.
    pub(super) on_their_way: u64,
}

impl<'r> Run<'r> {
    pub(super) fn start(
        event: OpenEvent<'r>,
        plan: &Plan,
        guests: Arc<Guests>,
        shutdown: &'r Shutdown,
    ) -> Result<Self, RunError> {
        let (rein, is_held) = Rein::of(&*event.sink());
        let (id, resumed) = (event.event(), event.journal.opening.event().resumed);
        let read = Arc::<Mutex<Vec<Stamped>>>::default();
        let reads = read.clone();
        let reader = Reader::new("world", move |batch| reads.lock().unwrap().extend_from_slice(batch));
        let (wait, missing) = (testing::PATIENCE, Missing::Forfeit);
        let are_guests = plan.engines[0].remote;
        let company = Company {
            openings: in_order(vec![], plan),
            remote: are_guests.then(|| Remote { players: guests.clone(), wait, missing }),
            machines: None,
            readers: vec![reader],
            say: Arc::new(|_: &str| ()),
            disk: DiskWatch::default(),
        };
        let mut dispatcher = Dispatcher::start(event, company, shutdown)?;
        // Dropped before the dispatcher.
        let rein = rein;
        assert_eq!(heard(&is_held), Commit::Done, "nothing is written yet");
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let context = WorkerContext {
            sink: dispatcher.journal.sink(),
            notes: dispatcher.notes.clone(),
            field: seated_from_elsewhere(plan),
            remote: Some(guests),
            startups: Arc::new(Semaphore::new(1)),
            spare: Arc::new(Semaphore::new(0)),
            recorder: None,
            adjourn: shutdown.adjourning().clone(),
            interventions: dispatcher.operations.interventions(),
        };
        dispatcher.slots = Slots::of(Worker::on(&runtime, SLOTS, context), SLOTS);
        dispatcher.open(&[], resumed, vec![]);
        let appended = dispatcher.journal.appended();
        Ok(Self {
            rein,
            dispatcher,
            runtime,
            shutdown,
            event: id,
            read,
            appended,
            committed: 0,
            on_their_way: 0,
        })
    }

    /// Lets time pass for games and guests.
    pub(super) fn pass(&self, time: Duration) {
        self.runtime.block_on(async { sleep(time).await });
    }

    pub(super) fn commit(&mut self) -> Commit {
        let given = self.appended.count();
        let commit = self.rein.commit(&*self.dispatcher.journal.sink());
        match commit {
            Commit::Failed => self.on_their_way = given - self.committed,
            Commit::Done | Commit::Nothing => self.committed = given,
        }
        commit
    }

    /// Does what the dispatcher's thread does when it is awake.
    pub(super) fn dispatch(&mut self) -> Result<(), String> {
        while let Ok(note) = self.dispatcher.inbox.try_recv() {
            self.dispatcher.handle(note).map_err(|error| error.to_string())?;
        }
        self.dispatcher.fill();
        Ok(())
    }

    /// True if the dispatcher's thread would leave its loop.
    pub(super) fn is_over(&self) -> bool {
        let waits = self.dispatcher.goes_on() && self.dispatcher.is_waiting();
        self.dispatcher.failed || !self.dispatcher.plays_here() && !waits
    }

    /// Has the games of a journal that has failed end, as the threads of workers do.
    pub(super) fn break_off(&mut self) -> Result<(), String> {
        self.shutdown.adjourn();
        let mut running = self.dispatcher.agenda.running.len();
        for _ in 0..STEPS {
            if running == 0 {
                return Ok(());
            }
            self.pass(Duration::from_millis(100));
            while let Ok(note) = self.dispatcher.inbox.try_recv() {
                running -= usize::from(matches!(note, Note::Over(_)));
                self.dispatcher.late(note);
            }
        }
        Err(format!("{running} games do not end although the journal has failed"))
    }

    /// Ends the program as it ends by itself; returns how the event stands, and what a reader has heard.
    pub(super) fn close(self) -> (Result<Finished, RunError>, Heard) {
        let Self { dispatcher, runtime, rein, event, read, appended, committed, on_their_way, .. } = self;
        drop(rein);
        let finished = dispatcher.close(Ok(()), event);
        drop(runtime);
        let given = appended.count();
        // What is given after a failure was never on its way.
        let on_their_way = if on_their_way > 0 { on_their_way } else { given - committed };
        (finished, Heard { entries: mem::take(&mut *read.lock().unwrap()), on_their_way, given })
    }

    /// The program dies: nobody closes anything.
    pub(super) fn die(self) -> Heard {
        let Self { dispatcher, runtime, rein, read, appended, on_their_way, .. } = self;
        drop(runtime);
        drop(rein);
        drop(dispatcher);
        let given = appended.count();
        Heard { entries: mem::take(&mut *read.lock().unwrap()), on_their_way, given }
    }
}

/// What is known of a run that is over.
pub(super) struct Heard {
    /// What was committed and read.
    pub(super) entries: Vec<Stamped>,
    /// Entries of the commit that has failed.
    pub(super) on_their_way: u64,
    /// Entries that the run has given to the journal.
    pub(super) given: u64,
}

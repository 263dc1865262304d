//! An event of a hall, on its thread: from its plan to its end.

use super::{Cue, Hall, Now, State, score::Score};
use crate::{
    EventRun, Failure,
    gallery::Shown,
    league,
    play::{self, Network, Prepared},
    prepare,
    reread::{Around, Reread, RunningFile},
};
use arena::{
    Shutdown,
    cores::EngineFacts,
    dispatcher::{Company, Finished, OpenEvent, in_order},
    operations::Operations,
    preflight,
    remote::Remote,
    turnstile::{Lane, Permit, Turnstile},
};
use journal::{Reader, Store, now};
use laboratory::{Built, Cache, LabError, NotBuilt};
use plan::{EnginePlan, Plan, ServeConfig, hall::is_licence_of};
use referee::number::number;
use report::{Announcer, EventInfo, ReportText};
use std::{
    io::{self, Write},
    path::PathBuf,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};
use web::{Office, Registers, arbiter::Entrance};
use words::Language;

/// Time between two looks whether it is an event's turn to be prepared.
const GLANCE: Duration = Duration::from_millis(50);
/// Longest wait for the licences of an engine that is to join.
const LICENCE_PATIENCE: Duration = Duration::from_secs(60);
/// The share of each event: they differ by priority alone.
const SHARE: u32 = 100;

impl Hall<'_> {
    /// Plays an event of a plan to its end, or until a signal.
    pub(super) fn arranged(
        &self,
        cue: &Cue,
        mut plan: Plan,
        serve: Option<ServeConfig>,
    ) -> Result<State, Failure> {
        self.adapt(cue, &mut plan, serve.is_some())?;
        if self.is_over(cue, &plan)? {
            return Ok(State::Over);
        }
        let Some((_builds, prepared)) = self.prepare(cue, &mut plan)? else { return Ok(State::Stopped) };
        let places = self.turnstile.places();
        let weight = preflight::cores_of_a_game(&plan, &prepared.engines).min(places);
        // There may be as many games as there are places, so that their number can be changed while they are played;
        // games that take no place are bounded by their players.
        let wanted = plan.concurrency;
        plan.concurrency = places.checked_div(weight).unwrap_or(wanted.max(plan.engines.len())).max(1);
        let (lines, event) = play::open(&plan, false, prepared, &cue.say)?;
        let lane = self.lane(cue, &plan, weight);
        lane.set_most(wanted);
        let event = event.sharing(lane);
        *cue.score.lock() = Some(Score::new(&plan, event.standings()));
        let mut run = EventRun::plain(plan.clone(), cue.say.clone());
        run.readers.extend(self.readers(cue, &plan));
        let (remote, entrance) = self.network(cue, &plan, serve, &event, &mut run)?;
        self.publish(cue, &plan, &mut run, (event.operations(), entrance))?;
        self.reload(cue, &plan, remote.is_some(), weight, &event);
        run.admit(event.operations());
        let company = run.company(in_order(lines, &plan))?;
        self.running.set_operations(&cue.name, event.operations());
        let finished = event.play(Company { remote, ..company }, &cue.shutdown)?;
        self.finish(cue, &plan, run, &finished)
    }

    /// Changes what a hall decides for all its events.
    fn adapt(&self, cue: &Cue, plan: &mut Plan, serves: bool) -> Result<(), Failure> {
        if let Some(remote) = plan.engines.iter().find(|engine| engine.remote).filter(|_| !serves) {
            let name = &remote.name;
            return Err(Failure::Usage(format!(
                "`{name}` logs in over the network: add `[serve]` to the file"
            )));
        }
        refuse_endless(plan.openings.iter().flat_map(|openings| &openings.files))?;
        if plan.affinity == Some(true) {
            (cue.say)("`affinity` is left out: games of several events change places");
        }
        plan.affinity = Some(false);
        plan.oversubscribe |= self.config.oversubscribe;
        if plan.judge.take().is_some() {
            (cue.say)("`[judge]` is left out: the cores of a hall are those of its games");
        }
        if self.gallery.is_open() && !self.gallery.is_desk() && plan.http.is_wanted() {
            (cue.say)("its pages are those of the hall; the addresses of its `[http]` are not used");
        }
        Ok(())
    }

    /// Whether the event was played to its end before. Its pages are opened then, and its engines are not started.
    fn is_over(&self, cue: &Cue, plan: &Plan) -> Result<bool, Failure> {
        if !plan.database.exists() {
            return Ok(false);
        }
        let store = Store::read(&plan.database)?;
        let events = store.events()?;
        let Some(event) = events.iter().find(|event| event.name == plan.name && event.closed) else {
            return Ok(false);
        };
        let stored = report::plan(event)?;
        if stored.stages != plan.stages || stored.engines.len() < plan.engines.len() {
            return Ok(false);
        }
        let mut standings = EventInfo::of(plan).standings();
        store.replay(event.id, journal::Moves::Results, &mut |stamped| standings.fold(&stamped.entry))?;
        *cue.score.lock() = Some(Score::new(plan, &standings));
        (cue.say)("it is over; nothing is played");
        self.gallery.show(cue.shown_plan(plan), |_| (), None)?;
        Ok(true)
    }

    /// Builds the engines and has a look at them, in the place of a game; `None`: it is not wanted any more.
    fn prepare(&self, cue: &Cue, plan: &mut Plan) -> Result<Option<(Vec<Built>, Prepared)>, Failure> {
        let is_built = plan.engines.iter().any(|engine| engine.source.is_some());
        let builds = match is_built {
            true => self
                .in_turn(cue, vec![], || Ok(prepare::build(plan, &Cache::here()?, &cue.shutdown, &cue.say)?)),
            false => Ok(Some(vec![])),
        };
        let builds = match builds {
            Err(failure) if cue.shutdown.is_finishing() && is_interruption(&failure) => return Ok(None),
            builds => builds?,
        };
        let Some(builds) = builds else { return Ok(None) };
        refuse_hopeless(&self.config.licences, plan)?;
        let mut needed: Vec<_> = plan.engines.iter().flat_map(|engine| self.licences(engine)).collect();
        needed.sort_unstable();
        needed.dedup();
        // A look at all engines at once would take cores from the games of others, and licences twice.
        let prepared = self.in_turn(cue, needed, || {
            play::prepare(plan, &cue.say, |plan| {
                let one = Plan { concurrency: 1, ..plan.clone() };
                prepare::sound(preflight::look_in_turn(&one, &cue.say))
            })
        })?;
        Ok(prepared.map(|prepared| (builds, prepared)))
    }

    /// Works in the place of a game, with the licences that are needed, in the hours of the event; `None`: the event ends.
    fn in_turn<T>(
        &self,
        cue: &Cue,
        licences: Vec<Arc<str>>,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        const ALL: usize = 0;
        const NOBODY: usize = 1;
        let lane = self.turnstile.lane(SHARE).ranked(cue.terms.priority).licensed(vec![licences, vec![]]);
        loop {
            if cue.shutdown.is_finishing() {
                return Ok(None);
            }
            lane.set_open(cue.terms.window.is_open(now()));
            let permit = if lane.enter() { lane.license([ALL, NOBODY]) } else { None };
            if let Some(_permit) = permit {
                return work().map(Some);
            }
            thread::sleep(GLANCE);
        }
    }

    /// The licences that an engine needs.
    fn licences(&self, engine: &EnginePlan) -> Vec<Arc<str>> {
        licences_of(&self.config.licences, engine)
    }

    /// Has the file of an event read again where its arbiter orders it.
    fn reload(&self, cue: &Cue, plan: &Plan, has_network: bool, weight: usize, event: &OpenEvent<'_>) {
        let operations = event.operations();
        if has_network {
            return operations.set_no_file(Language::network_takes_no_newcomers);
        }
        let lane = cue.lane.lock().clone();
        let (path, oversubscribe) =
            (self.directory.join(format!("{}.toml", cue.name)), self.config.oversubscribe);
        let reread = Reread::new(move || {
            let read = plan::text_of(&path).and_then(|text| super::read(&path, &text));
            let mut plan = match read.map_err(|faults| Failure::Usage(faults.to_string()))? {
                plan::Event::Arranged { plan, .. } => *plan,
                other => return Err(Failure::Usage(other.refusal().to_owned())),
            };
            (plan.affinity, plan.concurrency) = (Some(false), 1);
            plan.oversubscribe |= oversubscribe;
            Ok(plan)
        });
        let (turnstile, licences) = (self.turnstile.clone(), self.config.licences.clone());
        let neighbours = Neighbours { turnstile, licences, lane, weight, shutdown: cue.shutdown.clone() };
        let file = RunningFile::new(reread, plan, cue.say.clone(), cue.shutdown.clone()).within(neighbours);
        operations.set_file(Arc::new(file));
    }

    /// The way of the event's games to the cores and licences.
    fn lane(&self, cue: &Cue, plan: &Plan, weight: usize) -> Arc<Lane> {
        let needs = plan.engines.iter().map(|engine| self.licences(engine)).collect();
        let lane = self.turnstile.lane(SHARE).ranked(cue.terms.priority).taking(weight).licensed(needs);
        let lane = Arc::new(lane);
        lane.set_open(cue.terms.window.is_open(now()));
        *cue.lane.lock() = Arc::downgrade(&lane);
        lane
    }

    /// Lines about the games, and the standings for the table.
    fn readers(&self, cue: &Cue, plan: &Plan) -> [Reader; 2] {
        let mut announcer = Announcer::new(EventInfo::of(plan));
        announcer.lines = Some(Box::new(Lines { cue: cue.clone(), line: vec![] }));
        announcer.quiet = self.options.quiet;
        let score = cue.score.clone();
        [
            Reader::new("announcer", move |batch| announcer.announce(batch)),
            Reader::new("score", move |batch| score.lock().iter_mut().for_each(|score| score.take(batch))),
        ]
    }

    /// Opens the network side of an event that has one.
    fn network(
        &self,
        cue: &Cue,
        plan: &Plan,
        serve: Option<ServeConfig>,
        event: &OpenEvent<'_>,
        run: &mut EventRun,
    ) -> Result<(Option<Remote>, Option<Entrance>), Failure> {
        let Some(mut serve) = serve else { return Ok((None, None)) };
        (self.options.fit)(&mut serve);
        let network =
            league::network(serve, plan, (event.sink(), event.operations()), self.port.as_ref(), &cue.say)?;
        let Network { remote, reader, entrance, visits, .. } = network;
        if !self.options.quiet {
            visits.write_to(run.note.clone());
        }
        run.readers.push(reader);
        Ok((Some(remote), Some(entrance)))
    }

    /// Shows the event on the pages of the hall; without such, on those that its file names.
    fn publish(
        &self,
        cue: &Cue,
        plan: &Plan,
        run: &mut EventRun,
        (operations, entrance): (Operations, Option<Entrance>),
    ) -> Result<(), Failure> {
        if self.gallery.is_open() {
            let open = |office: &Office| {
                office.open(operations);
                if let Some(entrance) = entrance.clone() {
                    self.running.set_now(&cue.name, Now::Host { office: office.clone(), entrance });
                }
            };
            // Its pages for others may have been ordered since its file was read.
            let path = self.directory.join(format!("{}.toml", cue.name));
            let read = plan::text_of(&path).and_then(|text| super::read(&path, &text));
            let http = read.ok().map_or_else(|| plan.http.clone(), |event| event.http().clone());
            let shown = Shown { http: &http, ..cue.shown_plan(plan) };
            run.readers.extend(self.gallery.show(shown, open, entrance.clone())?);
            return run.notify();
        }
        let office = Office::new(&plan.database, Registers::Configured);
        office.open(operations);
        run.publish(&[], Some((&office, entrance)), None)
    }

    /// Closes what surrounds an event, and prints its report.
    fn finish(
        &self,
        cue: &Cue,
        plan: &Plan,
        mut run: EventRun,
        finished: &Finished,
    ) -> Result<State, Failure> {
        if let Some(notifier) = run.notifier.as_ref().filter(|_| finished.halted) {
            play::tell_halt(notifier, plan, &finished.standings);
        }
        run.close();
        let report = play::reported(plan, finished)?;
        if !finished.interrupted {
            // The lines of a hall are in English.
            let text = ReportText(&report, Language::English).to_string();
            text.lines().for_each(|line| (cue.say)(line));
        }
        if finished.halted {
            let lines: Vec<String> = play::ways_on(&report).lines().map(str::to_owned).collect();
            lines.iter().for_each(|line| (cue.say)(line));
            self.gallery.tell_faulty(&cue.name, lines);
        }
        run.finish();
        Ok(match () {
            () if finished.interrupted => State::Stopped,
            () if finished.halted => State::Halted,
            () => State::Over,
        })
    }
}

/// Refuses openings that are no file with contents: reading a pipe or a device may never end, and the hall with it.
fn refuse_endless<'a>(mut files: impl Iterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    let is_endless =
        |file: &&PathBuf| std::fs::metadata(file).is_ok_and(|data| !data.is_file() || data.len() == 0);
    files.find(is_endless).map_or(Ok(()), |file| {
        let file = file.display();
        Err(Failure::Usage(format!(
            "`{file}` holds no opening: name a file with contents, not a pipe or a device"
        )))
    })
}

/// Licences by name, each with how many there are.
type Licences = Vec<(String, usize)>;

/// The licences that an engine needs.
fn licences_of(licences: &Licences, engine: &EnginePlan) -> Vec<Arc<str>> {
    let command = engine.command.to_string_lossy();
    let own = licences.iter().filter(|(name, _)| is_licence_of(name, &engine.name, &command));
    own.filter(|_| !engine.remote).map(|(name, _)| name.as_str().into()).collect()
}

/// Refuses an event two of whose engines can never play each other. One that was replaced plays no more.
fn refuse_hopeless(licences: &Licences, plan: &Plan) -> Result<(), Failure> {
    for (name, _) in licences.iter().filter(|(_, count)| *count < 2) {
        let needs = |engine: &&EnginePlan| {
            !plan.is_replaced(engine) && licences_of(licences, engine).iter().any(|needed| **needed == **name)
        };
        let users: Vec<&str> = plan.engines.iter().filter(needs).map(|engine| engine.name.as_str()).collect();
        if let [one, other, ..] = users[..] {
            return Err(Failure::Usage(format!(
                "`{one}` and `{other}` both need the licence `{name}`, and `hall.toml` has one: their game could never begin"
            )));
        }
    }
    Ok(())
}

/// What the other events of a hall have a right to when an engine joins one of them.
struct Neighbours {
    turnstile: Turnstile,
    licences: Licences,
    /// That of the event, which ends with it; pages know this file longer.
    lane: Weak<Lane>,
    /// Cores of a game.
    weight: usize,
    shutdown: Shutdown,
}

impl Around for Neighbours {
    fn licensed(&self, plan: &Plan, newcomers: &[EnginePlan]) -> Result<Option<Permit>, Failure> {
        const ALL: usize = 0;
        const NOBODY: usize = 1;
        refuse_hopeless(&self.licences, plan)?;
        let mut needed: Vec<_> =
            newcomers.iter().flat_map(|engine| licences_of(&self.licences, engine)).collect();
        needed.sort_unstable();
        needed.dedup();
        if needed.is_empty() {
            return Ok(None);
        }
        let names = needed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        // Its place is given back with it: a look takes licences, and no place of a game.
        let lane = self.turnstile.lane(SHARE).ranked(i64::MAX).licensed(vec![needed, vec![]]);
        let since = Instant::now();
        while !self.shutdown.is_finishing() && since.elapsed() < LICENCE_PATIENCE {
            let permit = if lane.enter() { lane.license([ALL, NOBODY]) } else { None };
            if permit.is_some() {
                return Ok(permit);
            }
            thread::sleep(GLANCE);
        }
        Err(Failure::Usage(format!(
            "games held the licence {names} for {} s, and the engine was not tried: `pause` their event, and order it again",
            LICENCE_PATIENCE.as_secs()
        )))
    }

    fn take_in(&self, plan: &Plan, newcomers: &[EnginePlan], facts: &[EngineFacts]) -> Result<(), Failure> {
        let heavy = newcomers.iter().zip(facts).find(|(_, facts)| facts.cores > self.weight as f64);
        if let Some((engine, _)) = heavy {
            return Err(Failure::Usage(format!(
                "each game of this event has {}, and `{}` needs more: start the hall again with the new file",
                number(self.weight, "core"),
                engine.name
            )));
        }
        let known = plan.engines.len() - newcomers.len();
        for (at, engine) in (known..).zip(newcomers) {
            let needed = licences_of(&self.licences, engine);
            self.lane.upgrade().iter().for_each(|lane| lane.license_player(at, needed.clone()));
        }
        Ok(())
    }
}

/// True if a build was given up because the hall ends.
fn is_interruption(failure: &Failure) -> bool {
    let is_own = |fault: &LabError| matches!(fault, LabError::Interrupted);
    match failure {
        Failure::NotBuilt(NotBuilt(faults)) => faults.iter().any(|(_, _, fault)| is_own(fault)),
        Failure::Lab(fault) => is_own(fault),
        _ => false,
    }
}

/// Says whole lines with the name of the event.
pub(super) struct Lines {
    pub cue: Cue,
    pub line: Vec<u8>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            (self.cue.say)(&String::from_utf8_lossy(&line[..end]));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_that_may_never_end_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let empty = dir.path().join("empty.sfen");
        std::fs::write(&empty, "").unwrap();
        let pipe = dir.path().join("pipe");
        let is_made =
            std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|made| made.success());
        let others = [pipe, "/dev/zero".into(), "/proc/kmsg".into()];
        let others = others.into_iter().filter(|other| other.exists());
        assert!(!cfg!(unix) || is_made);
        for endless in [empty].into_iter().chain(others) {
            let refused = refuse_endless([endless].iter());
            assert!(refused.is_err_and(|why| why.to_string().contains("holds no opening")));
        }
        assert!(refuse_endless([std::env::current_exe().unwrap(), "built-in".into()].iter()).is_ok());
    }

    #[test]
    fn the_cores_of_an_event_are_free_when_it_has_ended_although_its_pages_know_its_file() {
        let turnstile = Turnstile::new(1);
        let lane = Arc::new(turnstile.lane(SHARE));
        let neighbours = Neighbours {
            turnstile: turnstile.clone(),
            licences: vec![],
            lane: Arc::downgrade(&lane),
            weight: 1,
            shutdown: Shutdown::default(),
        };
        assert!(lane.enter() && turnstile.free() == 0);
        drop(lane);
        let other = turnstile.lane(SHARE);
        assert!(other.enter(), "nobody who has ended stands before it");
        drop(neighbours);
    }
}

//! An event of a hall, on its thread: from its file to its end.
//!
//! An open league and an engine with a seat on a server take no place of the turnstile, as others decide when their games
//! begin.

use super::{EventOfHall, Hall, Now, for_pages, score::Score, stored, without_places};
use crate::{
    Failure, Playing,
    catalogue::Reins,
    gallery::games_of,
    play, prepare,
    reread::{Neighbours, Reread},
    run::PagesAt,
    runner::{EventRunner, Played, Prepared, Venue},
};
use arena::{
    Say,
    cores::EngineFacts,
    dispatcher::Finished,
    operations::Operations,
    preflight,
    turnstile::{Lane, Permit, Turnstile},
};
use client::{Finish, KIND};
use contest::standings::Standings;
use journal::{Moves, Reader};
use laboratory::{Cache, LabError};
use plan::{EnginePlan, Event, Plan, hall::is_licence_of};
use referee::number::number;
use report::{EventInfo, ReportText};
use std::{
    cell::Cell,
    io::{self, Write},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use web::EventState;
use words::Language;

/// Time between two looks whether it is an event's turn to be prepared.
const GLANCE: Duration = Duration::from_millis(50);
/// Longest wait for the licences of an engine that is to join.
const LICENCE_PATIENCE: Duration = Duration::from_secs(60);
/// The share of each event: they differ by priority alone.
const SHARE: u32 = 100;

impl Hall<'_> {
    /// Plays an event to its end, or until it is stopped.
    pub(super) fn play(&self, own: &EventOfHall, mut event: Event) -> Result<EventState, Failure> {
        if let Event::Arranged { plan, serve } = &mut event {
            self.adapt(own, plan, serve.is_some())?;
        }
        if self.is_over(own, &event)? {
            (own.say)("it is over; nothing is played");
            self.gallery.show(own.listed(), &event, None)?;
            return match event {
                Event::Seat(_) => self.conclude_seat(own, Some(0), Finish::Complete),
                _ => Ok(EventState::Over),
            };
        }
        let (quiet, reread) = (self.options.quiet, Some(self.reread(&own.name)));
        let playing = Playing { quiet, reread, ..Playing::default() };
        let venue = InHall { hall: self, own, weight: Cell::new(1), total: games_of(&event) };
        let runner = EventRunner {
            venue: &venue,
            playing: &playing,
            shutdown: &own.reins.shutdown,
            say: own.say.clone(),
            screen: None,
            game_lines: Some(Box::new(Lines(own.say.clone()))),
            pages: PagesAt::Gallery(&self.gallery, own.listed()),
            port: self.port.as_ref(),
        };
        let left = left(&event)?;
        match event {
            Event::Arranged { plan, mut serve } => {
                serve.iter_mut().for_each(|serve| (self.options.fit)(serve));
                self.conclude_event(own, runner.arranged(*plan, serve.map(|serve| *serve))?)
            }
            Event::League(mut config) => {
                (self.options.fit)(&mut config);
                runner.league(*config)?;
                Ok(EventState::Stopped)
            }
            Event::Seat(mut config) => {
                config.games = left;
                let (run, finish) = runner.seat(*config)?;
                run.finish();
                self.conclude_seat(own, left, finish)
            }
        }
    }

    /// Where an engine on a server is after its games, of which so many were left.
    fn conclude_seat(
        &self,
        own: &EventOfHall,
        left: Option<u64>,
        finish: Finish,
    ) -> Result<EventState, Failure> {
        match finish {
            Finish::Complete if left.is_some() => {
                // No entry says so.
                self.gallery.tell(&own.name, EventState::Over);
                Ok(EventState::Over)
            }
            Finish::Complete | Finish::Short { .. } => Ok(EventState::Stopped),
            Finish::Engine { why, .. } => Err(Failure::Other(format!("the engine is given up: {why}"))),
        }
    }

    /// Changes what a hall decides for all its events.
    fn adapt(&self, own: &EventOfHall, plan: &mut Plan, serves: bool) -> Result<(), Failure> {
        if let Some(remote) = plan.engines.iter().find(|engine| engine.remote).filter(|_| !serves) {
            let name = &remote.name;
            return Err(Failure::Usage(format!(
                "`{name}` logs in over the network: add `[serve]` to the file"
            )));
        }
        if plan.affinity == Some(true) {
            (own.say)("`affinity` is left out: games of several events change places");
        }
        plan.affinity = Some(false);
        plan.oversubscribe |= self.config.oversubscribe;
        if plan.judge.take().is_some() {
            (own.say)("`[judge]` is left out: the cores of a hall are those of its games");
        }
        if self.gallery.is_open() && !self.gallery.is_desk() && plan.http.is_wanted() {
            (own.say)("its pages are those of the hall; the addresses of its `[http]` are not used");
        }
        Ok(())
    }

    /// Whether the event was played to its end before. Its pages are opened then, and its engines are not started.
    fn is_over(&self, own: &EventOfHall, event: &Event) -> Result<bool, Failure> {
        let Event::Arranged { plan, .. } = event else { return Ok(left(event)? == Some(0)) };
        let Some((store, known)) = stored(event)?.filter(|(_, known)| known.closed) else {
            return Ok(false);
        };
        let before = report::plan(&known)?;
        if before.stages != plan.stages || before.engines.len() < plan.engines.len() {
            return Ok(false);
        }
        let mut standings = EventInfo::of(plan).standings();
        store.replay(known.id, Moves::Results, &mut |stamped| standings.fold(&stamped.entry))?;
        *own.score.lock() = Some(Score::new(plan, &standings));
        Ok(true)
    }

    /// Works in the place of a game, with the licences that are needed, in the hours of the event.
    fn in_turn<T>(
        &self,
        own: &EventOfHall,
        licences: Vec<Arc<str>>,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let lane = self.turnstile.lane(SHARE).ranked(own.terms.priority);
        let may_wait = || {
            lane.set_open(own.is_open());
            !own.reins.shutdown.is_finishing()
        };
        let Some(_permit) = permit_of(&lane, licences, may_wait) else {
            return Err(LabError::Interrupted.into());
        };
        work()
    }

    /// Reads the file of an event again, for engines that are to join.
    fn reread(&self, name: &str) -> Reread {
        let (path, oversubscribe) = (self.file(name), self.config.oversubscribe);
        Reread::new(move || {
            let read = Event::load(&path).map_err(|faults| Failure::Usage(faults.to_string()));
            let mut plan = match read? {
                Event::Arranged { plan, .. } => *plan,
                other => return Err(Failure::Usage(other.refusal().to_owned())),
            };
            (plan.affinity, plan.concurrency) = (Some(false), 1);
            plan.oversubscribe |= oversubscribe;
            Ok(plan)
        })
    }

    /// Prints the report of an event that has ended.
    fn conclude_event(&self, own: &EventOfHall, played: Played) -> Result<EventState, Failure> {
        let report = played.report()?;
        let Finished { interrupted, halted, ref plan, .. } = played.finished;
        if !interrupted {
            // The lines of a hall are in English.
            let text = ReportText(&report, Language::English).to_string();
            text.lines().for_each(|line| (own.say)(line));
        }
        let ways = play::ways_on(&report, &plan.database);
        ways.lines().filter(|_| halted).for_each(|line| (own.say)(line));
        played.run.finish();
        Ok(match () {
            () if interrupted => EventState::Stopped,
            () if halted => EventState::Halted(for_pages(self.directory, &without_places(&ways))),
            () => EventState::Over,
        })
    }
}

/// The place of an event in a hall.
struct InHall<'a> {
    hall: &'a Hall<'a>,
    own: &'a EventOfHall,
    /// Cores of a game.
    weight: Cell<usize>,
    /// Games on a server, those of earlier runs included.
    total: Option<u64>,
}

impl Venue for InHall<'_> {
    /// Builds the engines and has a look at them, in the place of a game.
    fn prepare(&self, plan: &mut Plan) -> Result<Prepared, Failure> {
        let Self { hall, own, .. } = *self;
        let builds = match plan.engines.iter().any(|engine| engine.source.is_some()) {
            true => hall.in_turn(own, vec![], || {
                Ok(prepare::build(plan, &Cache::here()?, &own.reins.shutdown, &own.say)?)
            })?,
            false => vec![],
        };
        refuse_hopeless(&hall.config.licences, plan)?;
        let needed = licences_of_all(&hall.config.licences, &plan.engines);
        // A look at all engines at once would take cores from the games of others, and licences twice.
        let mut prepared = hall.in_turn(own, needed, || {
            Prepared::new(plan, builds, own.say.clone(), |plan| {
                let one = Plan { concurrency: 1, ..plan.clone() };
                prepare::sound(preflight::look_in_turn(&one, &own.say))
            })
        })?;
        // Its pages for others may have been ordered since its file was read.
        if let Ok(event) = Event::load(&hall.file(&own.name)) {
            plan.http = event.http().clone();
        }
        prepared.lane = Some(self.lane(plan, &prepared.engines));
        Ok(prepared)
    }

    /// Folds the standings for the table.
    fn follow(&self, plan: &Plan, before: &Standings) -> Option<Reader> {
        let score = self.own.score.clone();
        *score.lock() = Some(Score::new(plan, before));
        let read = move |batch: &Arc<[_]>| score.lock().iter_mut().for_each(|score| score.take(batch));
        Some(Reader::new("score", read))
    }

    fn neighbours(&self) -> Option<Box<dyn Neighbours>> {
        let Self { hall, own, .. } = *self;
        let (turnstile, licences) = (hall.turnstile.clone(), hall.config.licences.clone());
        let (reins, weight) = (own.reins.clone(), self.weight.get());
        Some(Box::new(OtherEvents { turnstile, licences, reins, weight }))
    }

    fn begun(&self, now: Option<Now>, operations: Option<Operations>) {
        let Self { hall, own, .. } = *self;
        if matches!(now, Some(Now::Seat { .. })) {
            hall.gallery.set_total(&own.name, self.total);
        }
        hall.events.change(&own.name, |event| (event.now, event.operations) = (now, operations));
        hall.set(&own.name, EventState::Plays);
    }
}

impl InHall<'_> {
    /// The way of the event's games to the cores and licences.
    fn lane(&self, plan: &mut Plan, engines: &[EngineFacts]) -> Arc<Lane> {
        let Self { hall, own, .. } = *self;
        let places = hall.turnstile.places();
        let weight = preflight::cores_of_a_game(plan, engines).min(places);
        self.weight.set(weight);
        let needs = plan.engines.iter().map(|engine| licences_of(&hall.config.licences, engine)).collect();
        let lane = hall.turnstile.lane(SHARE).ranked(own.terms.priority).taking(weight).licensed(needs);
        lane.set_open(own.is_open());
        lane.set_most(plan.concurrency);
        // There may be as many games as there are places, so that their number can be changed while they are played;
        // games that take no place are bounded by their players.
        let most = plan.concurrency.max(plan.engines.len());
        plan.concurrency = places.checked_div(weight).unwrap_or(most).max(1);
        own.reins.lead(lane)
    }
}

/// Games that an engine has left to play on a server; `None`: there is no end.
fn left(event: &Event) -> Result<Option<u64>, Failure> {
    let Event::Seat(config) = event else { return Ok(None) };
    let Some(games) = config.games else { return Ok(None) };
    let known = stored(event)?.filter(|(_, known)| known.kind == KIND);
    Ok(Some(games.saturating_sub(known.map_or(0, |(_, known)| known.counted))))
}

/// Waits for a place and for these licences, as long as `may_wait`.
fn permit_of(lane: &Lane, licences: Vec<Arc<str>>, mut may_wait: impl FnMut() -> bool) -> Option<Permit> {
    // One player needs all of them, and the other none.
    for (player, needed) in [licences, vec![]].into_iter().enumerate() {
        lane.license_player(player, needed);
    }
    while may_wait() {
        if let Some(permit) = lane.enter().then(|| lane.license([0, 1])).flatten() {
            return Some(permit);
        }
        thread::sleep(GLANCE);
    }
    None
}

/// Licences by name, each with how many there are.
type Licences = Vec<(String, usize)>;

/// The licences that an engine needs.
fn licences_of(licences: &Licences, engine: &EnginePlan) -> Vec<Arc<str>> {
    let command = engine.command.to_string_lossy();
    let own = licences.iter().filter(|(name, _)| is_licence_of(name, &engine.name, &command));
    own.filter(|_| !engine.remote).map(|(name, _)| name.as_str().into()).collect()
}

/// The licences of engines that are examined one after the other.
fn licences_of_all(licences: &Licences, engines: &[EnginePlan]) -> Vec<Arc<str>> {
    let mut needed: Vec<_> = engines.iter().flat_map(|engine| licences_of(licences, engine)).collect();
    needed.sort_unstable();
    needed.dedup();
    needed
}

/// Refuses an event two of whose engines can never play each other. One that was replaced or withdrawn plays no more.
fn refuse_hopeless(licences: &Licences, plan: &Plan) -> Result<(), Failure> {
    for (name, _) in licences.iter().filter(|(_, count)| *count < 2) {
        let needs = |engine: &&EnginePlan| {
            !plan.has_left(engine) && licences_of(licences, engine).iter().any(|needed| **needed == **name)
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
struct OtherEvents {
    turnstile: Turnstile,
    licences: Licences,
    /// Those of the event. Its lane ends with it; pages know this file longer.
    reins: Reins,
    /// Cores of a game.
    weight: usize,
}

impl Neighbours for OtherEvents {
    fn licensed(&self, plan: &Plan, newcomers: &[EnginePlan]) -> Result<Option<Permit>, Failure> {
        refuse_hopeless(&self.licences, plan)?;
        let needed = licences_of_all(&self.licences, newcomers);
        if needed.is_empty() {
            return Ok(None);
        }
        let names = needed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        // Its place is given back with it: a look takes licences, and no place of a game.
        let lane = self.turnstile.lane(SHARE).ranked(i64::MAX);
        let since = Instant::now();
        let may_wait = || !self.reins.shutdown.is_finishing() && since.elapsed() < LICENCE_PATIENCE;
        if let Some(permit) = permit_of(&lane, needed, may_wait) {
            return Ok(Some(permit));
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
            self.reins.lane().iter().for_each(|lane| lane.license_player(at, needed.clone()));
        }
        Ok(())
    }
}

/// Says each line that is written with the name of the event.
struct Lines(Say);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        (self.0)(String::from_utf8_lossy(line).trim_end_matches('\n'));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cores_of_an_event_are_free_when_it_has_ended_although_its_pages_know_its_file() {
        let turnstile = Turnstile::new(1);
        let reins = Reins::default();
        let lane = reins.lead(turnstile.lane(SHARE));
        let neighbours =
            OtherEvents { turnstile: turnstile.clone(), licences: vec![], reins: reins.clone(), weight: 1 };
        assert!(lane.enter() && turnstile.free() == 0);
        drop(lane);
        let other = turnstile.lane(SHARE);
        assert!(other.enter(), "nobody who has ended stands before it");
        drop(neighbours);
    }
}

//! Events of a hall without a plan of games: an open league, and an engine with a seat on a server. They take no place of
//! the turnstile, as others decide when their games begin.

use super::{Cue, Hall, State, playing::Lines};
use crate::{
    EventRun, Failure,
    floodgate::{Sitting, print_games},
    gallery::Shown,
    league::{Hosting, registers},
};
use arena::operations::Operations;
use client::{Finish, KIND, presence::Presence, ratings::Ratings};
use journal::Store;
use parking_lot::Mutex;
use plan::{ClientConfig, Event, Plan, ServeConfig};
use std::{collections::BTreeMap, sync::Arc};
use web::{Doing, Office, Registers, arbiter::Entrance};

/// What the running events of a hall do beside their entries, by their names in the hall. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Running(Arc<Mutex<BTreeMap<String, Asked>>>);

/// What is asked about an event, and its operations where its games are arranged here.
type Asked = (Option<Now>, Option<Operations>);

/// What is asked about a running event.
#[derive(Clone, Debug)]
pub enum Now {
    /// Players log in here.
    Host {
        /// Knows who is there.
        office: Office,
        /// Where they log in.
        entrance: Entrance,
    },
    /// An engine plays on a server.
    Seat {
        /// What it does.
        presence: Presence,
        /// The opponents' ratings.
        ratings: Ratings,
    },
}

impl Running {
    /// What is asked about an event; `None` while it does not run.
    pub fn of(&self, name: &str) -> Option<Now> {
        self.0.lock().get(name)?.0.clone()
    }

    /// The operations of an event whose games are arranged here.
    pub fn operations(&self, name: &str) -> Option<Operations> {
        self.0.lock().get(name)?.1.clone()
    }

    /// The operations of all events, with their names.
    pub fn all_operations(&self) -> Vec<(String, Operations)> {
        let running = self.0.lock();
        running
            .iter()
            .filter_map(|(name, (_, operations))| Some((name.clone(), operations.clone()?)))
            .collect()
    }

    pub(super) fn set_now(&self, name: &str, now: Now) {
        self.0.lock().entry(name.to_owned()).or_default().0 = Some(now);
    }

    pub(super) fn set_operations(&self, name: &str, operations: Operations) {
        self.0.lock().entry(name.to_owned()).or_default().1 = Some(operations);
    }

    pub(super) fn forget(&self, name: &str) {
        self.0.lock().remove(name);
    }
}

impl Cue {
    /// The event as the gallery shows it.
    pub(super) fn shown<'a>(&'a self, event: &'a Event) -> Shown<'a> {
        let (total, registers) = match event {
            Event::Arranged { plan, .. } => return self.shown_plan(plan),
            Event::League(config) => (None, Some(registers(config.login))),
            Event::Seat(config) => (config.games, None),
        };
        let (title, database, http) = (event.name(), event.database(), event.http());
        Shown {
            name: &self.name,
            title,
            note: &self.terms.note,
            event: title,
            database,
            http,
            total,
            registers,
        }
    }

    pub(super) fn shown_plan<'a>(&'a self, plan: &'a Plan) -> Shown<'a> {
        Shown::of(&self.name, &plan.name, &self.terms.note, plan)
    }
}

impl Hall<'_> {
    /// Plays an event to its end, or until it is stopped.
    pub(super) fn play(&self, cue: &Cue, event: Event) -> Result<State, Failure> {
        match event {
            Event::Arranged { plan, serve } => self.arranged(cue, *plan, serve.map(|serve| *serve)),
            Event::League(config) => self.league(cue, *config),
            Event::Seat(config) => self.seat(cue, *config),
        }
    }

    /// What surrounds an event, with lines about its games.
    fn surrounded(cue: &Cue, event: &Event) -> EventRun {
        let mut run = EventRun::plain(event.clone(), cue.say.clone());
        run.game_lines = Some(Box::new(Lines { cue: cue.clone(), line: vec![] }));
        run
    }

    /// Hosts an open league until it is stopped: it has no end.
    fn league(&self, cue: &Cue, mut config: ServeConfig) -> Result<State, Failure> {
        (self.options.fit)(&mut config);
        let event = Event::from(config.clone());
        let hosting = Hosting::open(config, self.options.quiet)?;
        let run = Self::surrounded(cue, &event);
        hosting.host(run, &cue.shutdown, |run, entrance| self.publish_league(cue, &event, run, entrance))?;
        Ok(State::Stopped)
    }

    /// Shows a league on the pages of the hall; without such, on those that its file names.
    fn publish_league(
        &self,
        cue: &Cue,
        event: &Event,
        run: &mut EventRun,
        entrance: Entrance,
    ) -> Result<Office, Failure> {
        let shown = cue.shown(event);
        let mut office = Office::new(shown.database, shown.registers.unwrap_or(Registers::Configured));
        if !self.gallery.is_open() {
            run.publish(&[], Some((&office, Some(entrance))), None)?;
            return Ok(office);
        }
        let open = |of_hall: &Office| office = of_hall.clone();
        run.readers.extend(self.gallery.show(shown, open, Some(entrance.clone()))?);
        self.running.set_now(&cue.name, Now::Host { office: office.clone(), entrance });
        run.notify()?;
        Ok(office)
    }

    /// Plays on a server until all games are played or the event is stopped.
    fn seat(&self, cue: &Cue, mut config: ClientConfig) -> Result<State, Failure> {
        let event = Event::from(config.clone());
        let left = left(&config)?;
        if left == Some(0) {
            (cue.say)("it is over; nothing is played");
            self.gallery.show(cue.shown(&event), |_| (), None)?;
            self.gallery.tell(&cue.name, Doing::Over);
            return Ok(State::Over);
        }
        config.games = left;
        let sitting = Sitting::prepare(config, &cue.say)?;
        let (presence, ratings) = (sitting.presence.clone(), sitting.ratings.clone());
        let mut run = Self::surrounded(cue, &event);
        run.game_lines.take_if(|_| self.options.quiet);
        print_games(&mut run, None);
        if self.gallery.is_open() {
            run.readers.extend(self.gallery.show(cue.shown(&event), |_| (), None)?);
            run.notify()?;
        } else {
            run.publish(&[], None, None)?;
        }
        self.running.set_now(&cue.name, Now::Seat { presence, ratings });
        let finish = sitting.play(&mut run, &cue.shutdown, |_| ())?;
        run.finish();
        match finish {
            Finish::Complete if left.is_some() => {
                self.gallery.tell(&cue.name, Doing::Over);
                Ok(State::Over)
            }
            Finish::Complete | Finish::Short { .. } => Ok(State::Stopped),
            Finish::Engine { why, .. } => Err(Failure::Other(format!("the engine is given up: {why}"))),
        }
    }
}

/// Games that are left to be played on the server; `None`: there is no end.
fn left(config: &ClientConfig) -> Result<Option<u64>, Failure> {
    let Some(games) = config.games.filter(|_| config.database.exists()) else { return Ok(config.games) };
    let events = Store::read(&config.database)?.events()?;
    let known = events.iter().find(|event| event.name == config.name && event.kind == KIND);
    Ok(Some(games.saturating_sub(known.map_or(0, |event| event.counted))))
}

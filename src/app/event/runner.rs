//! The way of every kind of event, from its checked configuration to its end.
//!
//! | event | its pairings come from | its seats are | its games are ruled by |
//! |---|---|---|---|
//! | arranged ([`EventRunner::arranged`]) | the schedule of a plan | engines of this program, and players who log in | this program |
//! | league ([`EventRunner::league`]) | the lobby | players who log in | this program |
//! | seat ([`EventRunner::seat`]) | a foreign server | one engine of this program | the server |
//!
//! A [`Venue`] is where the event takes place: a terminal ([`crate::play`]), a hall ([`crate::hall`]), or, as a function that
//! prepares its engines, a queue and a search for a commit.

use crate::{
    EventRun, Failure, OpenScreen, completed, machines,
    network::{SharedPort, network},
    notify::Notifier,
    playing::{Playing, recorded},
    prepare::{check_log, identify, openings, past_the_limit},
    reread::{Neighbours, RunningFile},
    run::PagesAt,
    tuning::{self, Tuner},
};
use arena::{
    Say, Shutdown,
    boards::LiveBoards,
    cores::EngineFacts,
    dispatcher::{self, Company, Finished, OpenEvent},
    identity::Engine,
    operations::Operations,
    preflight::Findings,
    resume,
    turnstile::Lane,
};
use client::{presence::Presence, ratings::Ratings};
use contest::{
    stage::{Format, Stage},
    standings::{LookUp, Standings},
};
use journal::Reader;
use laboratory::Built;
use plan::{EnginePlan, Event, NoticeKind, Plan, ServeConfig};
use referee::{clock::TimeControl, number::number, opening::Opening};
use report::{
    EventInfo, Report,
    progress::{Interval, Progress},
};
use std::{io::Write, mem, sync::Arc};
use web::{Office, arbiter::Entrance};
use words::Language;

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

/// Where an event takes place, with others or alone.
pub(crate) trait Venue {
    /// Builds and examines the engines of a plan, when it is their turn. The plan may be fitted to the place.
    fn prepare(&self, plan: &mut Plan) -> Result<Prepared, Failure>;

    /// Hears signals from now on, where nobody else does; `finishing` is said at the first SIGINT.
    fn listen(&self, _say: &Say, _finishing: Option<&'static str>) -> Result<(), Failure> {
        Ok(())
    }

    /// Follows an arranged event, of which this was played before.
    fn follow(&self, _plan: &Plan, _before: &Standings) -> Option<Reader> {
        None
    }

    /// What has a right to be asked when an engine joins the event.
    fn neighbours(&self) -> Option<Box<dyn Neighbours>> {
        None
    }

    /// Hears what can be asked about the event, and ordered of it, while it is played.
    fn begun(&self, _now: Option<Now>, _operations: Option<Operations>) {}
}

impl<F: Fn(&mut Plan) -> Result<Prepared, Failure>> Venue for F {
    fn prepare(&self, plan: &mut Plan) -> Result<Prepared, Failure> {
        self(plan)
    }
}

/// Plays an event at a venue.
pub(crate) struct EventRunner<'a> {
    pub venue: &'a dyn Venue,
    pub playing: &'a Playing,
    pub shutdown: &'a Shutdown,
    /// Destination of lines that are no entries, where there is no screen.
    pub say: Say,
    /// The terminal, if the event has one of its own.
    pub screen: Option<OpenScreen>,
    /// Destination of the lines about games, where there is no screen.
    pub game_lines: Option<Box<dyn Write + Send>>,
    pub pages: PagesAt<'a>,
    /// The address that its players share with those of other events.
    pub port: Option<&'a SharedPort>,
}

/// An event of a plan that was played, with what still surrounds it.
pub(crate) struct Played {
    pub run: EventRun,
    pub finished: Finished,
}

impl Played {
    /// The report of the event.
    pub fn report(&self) -> Result<Report, Failure> {
        let Finished { plan, store, standings, .. } = &self.finished;
        let events = store.events()?;
        let event = events.iter().find(|event| event.id == self.finished.event);
        let mut info = EventInfo::of(plan);
        // Who plays in another's place has its name in the database.
        let names = event.into_iter().flat_map(|event| &event.players);
        info.engines.iter_mut().zip(names).for_each(|(player, name)| player.rename(name));
        let mut report = Report::new(&info, standings, self.finished.is_complete());
        report.skipped = plan.skipped.iter().map(|skipped| skipped.name.clone()).collect();
        match event {
            Some(event) => completed(report, store, event),
            None => Ok(report),
        }
    }
}

impl EventRunner<'_> {
    /// Plays the event of a queue or a search, without a terminal.
    pub fn beside(
        venue: &dyn Venue,
        shutdown: &Shutdown,
        say: Say,
        pages: PagesAt<'_>,
        plan: Plan,
    ) -> Result<Finished, Failure> {
        let (playing, screen, game_lines, port) = (&Playing::default(), None, None, None);
        let runner = EventRunner { venue, playing, shutdown, say, screen, game_lines, pages, port };
        let Played { run, finished } = runner.arranged(plan, None)?;
        run.finish();
        Ok(finished)
    }

    /// Plays the event of a plan to its end, or until it is stopped.
    pub fn arranged(mut self, mut plan: Plan, serve: Option<ServeConfig>) -> Result<Played, Failure> {
        let prepared = self.venue.prepare(&mut plan)?;
        let (_in_use, lines, event) = prepared.open(&plan, self.playing)?;
        let (is_open, operations) = (!event.is_closed(), event.operations());
        let side = (event.sink(), operations.clone());
        let network = serve
            .filter(|_| is_open)
            .map(|serve| network(serve, &plan, side, self.port, &self.say))
            .transpose()?;
        let boards = self.playing.sharing.hub.map(|_| Arc::<LiveBoards>::default());
        let mut run = self.surround(plan.clone().into(), None, boards.clone())?;
        run.announce(EventInfo::of(&plan), self.playing, self.progress(&plan, event.standings()))?;
        if let Some(path) = &self.playing.records {
            run.readers.push(recorded(path, &plan, &run.say)?);
        }
        run.readers.extend(self.venue.follow(&plan, event.standings()));
        let (remote, entrance) =
            network.map(|network| run.admit_players(network, self.playing.quiet)).unzip();
        let office = run.publish(&self.pages, entrance.clone(), boards.clone())?;
        office.iter().for_each(|office| office.open(operations.clone()));
        self.venue.listen(&run.say, None)?;
        match is_open {
            true => self.admit_operator(&mut run, &plan, &event, remote.is_some()),
            false => operations.set_over(),
        }
        let sharing = &self.playing.sharing;
        let machines = machines::desk(&plan, &event, sharing, boards.unwrap_or_default(), &run.say)?;
        let host = office.zip(entrance).map(|(office, entrance)| Now::Host { office, entrance });
        self.venue.begun(host, Some(operations));
        let (disk, say) = (run.watch_disk()?, run.say.clone());
        let (openings, readers) = (dispatcher::in_order(lines, &plan), mem::take(&mut run.readers));
        let company = Company { openings, remote, machines, readers, say, disk };
        let finished = event.play(company, self.shutdown)?;
        run.notifier.iter().filter(|_| finished.halted).for_each(|notifier| tell_halt(notifier, &finished));
        run.close();
        Ok(Played { run, finished })
    }

    /// Surrounds an event with its screen, if it has one. `LookUp` is a source of ratings, if they do not follow from the
    /// games.
    pub fn surround(
        &mut self,
        event: Event,
        scale: Option<LookUp>,
        boards: Option<Arc<LiveBoards>>,
    ) -> Result<EventRun, Failure> {
        let Playing { no_dashboard, json, quiet, .. } = *self.playing;
        let screen = self.screen.filter(|_| !(no_dashboard || json || quiet));
        let mut run = EventRun::new(event, self.say.clone(), screen, scale, boards)?;
        if !run.has_screen() {
            run.game_lines = self.game_lines.take();
        }
        Ok(run)
    }

    /// Lines about how an event stands, for somebody at a terminal.
    fn progress(&self, plan: &Plan, before: &Standings) -> Option<Progress> {
        let interval = self.playing.rating_interval.map_or(Interval::Paced, Interval::Games);
        let progress =
            || Progress::new(EventInfo::of(plan), before.games_to_play(), before.clone(), interval);
        self.screen.map(|_| progress())
    }

    /// Seats the judge, opens the operator's door, and says whether engines may join the event by its file.
    fn admit_operator(&self, run: &mut EventRun, plan: &Plan, event: &OpenEvent<'_>, has_network: bool) {
        run.judge(plan, event.sink());
        let operations = event.operations();
        if has_network {
            operations.set_no_file(Language::network_takes_no_newcomers);
        } else if self.playing.sharing.hub.is_some() {
            operations.set_no_file(Language::machines_take_no_newcomers);
        } else if let Some(reread) = &self.playing.reread {
            let (say, shutdown) = (run.say.clone(), self.shutdown.clone());
            let file = RunningFile::new(reread.clone(), self.venue.neighbours(), plan, say, shutdown);
            operations.set_file(Arc::new(file));
        }
        run.admit(operations);
    }
}

/// Sends the notice that an event was halted. The number of games distinguishes this halt from a later one.
fn tell_halt(notifier: &Notifier, finished: &Finished) {
    let games = finished.standings.total().met.values().map(|met| met.games()).sum();
    let text = format!("halted after {games} games: {}", halts(finished));
    notifier.tell(NoticeKind::FaultLimit, games, &text);
}

/// Why the event cannot be played to its end, in words.
pub(crate) fn halts(finished: &Finished) -> String {
    let halts = finished.standings.halts().iter();
    halts.map(|halt| dispatcher::halt_words(&finished.plan, halt)).collect::<Vec<_>>().join("; ")
}

/// A plan that is ready to be opened as an event.
pub(crate) struct Prepared {
    /// Keeps the builds of its engines in the cache.
    builds: Vec<Built>,
    say: Say,
    lines: Vec<Opening>,
    /// What is known of the engines that are started here.
    pub engines: Vec<EngineFacts>,
    identities: Vec<Engine>,
    tuner: Option<Tuner>,
    /// The way of its games to the cores, where several events share them.
    pub lane: Option<Arc<Lane>>,
}

impl Prepared {
    /// Reads and examines everything that a plan names, before anything is written.
    pub fn new(
        plan: &mut Plan,
        builds: Vec<Built>,
        say: Say,
        look: impl FnOnce(&Plan) -> Result<Findings, Failure>,
    ) -> Result<Self, Failure> {
        check_log(&plan.log)?;
        let lines = openings(plan)?;
        warn_about(plan, &lines, &say);
        let Findings { shown, engines, .. } = look(plan)?;
        let tuner = tuning::begin(plan, &shown, &|line| say(line))?;
        let identities = identify(plan, &shown, &say)?;
        Ok(Self { builds, say, lines, engines, identities, tuner, lane: None })
    }

    /// Opens the event of the plan in its database.
    fn open<'a>(
        self,
        plan: &'a Plan,
        playing: &Playing,
    ) -> Result<(Vec<Built>, Vec<Opening>, OpenEvent<'a>), Failure> {
        let Self { builds, say, lines, engines, identities, tuner, lane } = self;
        if let Some(aside) = playing.fresh.then(|| resume::set_aside(plan)).transpose()?.flatten() {
            say(&format!("`{}` begins anew; what was played of it is `{aside}` now", plan.name));
        }
        let steering = tuner.map(|tuner| Box::new(tuner) as _);
        let mut event = OpenEvent::open(plan, identities, steering)?;
        (event.engines, event.lane, event.begins_paused) = (engines, lane, playing.paused);
        event.words.iter().for_each(|words| say(words));
        if event.is_closed() {
            say(&format!("`{}` is complete: nothing was played", plan.name));
        }
        Ok((builds, lines, event))
    }
}

/// Prints what a user may not expect of the plan.
fn warn_about(plan: &Plan, lines: &[Opening], say: &Say) {
    for skipped in &plan.skipped {
        say(&format!("skipping `{}`: {}", skipped.name, skipped.reason));
    }
    if plan.openings.as_ref().is_some_and(|openings| openings.by_default) {
        say(
            "games begin from the built-in openings, as none are named; `--openings none`: from the start position",
        );
    }
    let here = std::env::current_dir().unwrap_or_default();
    for line in plan.engines.iter().flat_map(|engine| engine.misplaced(&[&plan.base, &here])) {
        say(&line);
    }
    past_the_limit(lines, &plan.rules).iter().for_each(|(line, _)| say(line));
    repeats(plan, lines.len()).iter().for_each(|line| say(line));
}

/// A warning where two engines that always answer alike meet more often than there are opening lines: each line carries one
/// pair of different games. Without lines every game begins from the even position.
pub(crate) fn repeats(plan: &Plan, lines: usize) -> Option<String> {
    let lines = lines.max(1) as u64;
    let alike = |engine: &&EnginePlan| !engine.remote && engine.times().all(always_answers_alike);
    let pairs = plan.stages.iter().map(pairs_of_two_players).fold(0, u64::saturating_add);
    (pairs > lines && plan.engines.iter().filter(alike).count() > 1).then(|| {
        format!(
            "{} for up to {} of the same two players, limited by nodes or depth: once the lines are used up, games may \
             repeat move for move, and repeated games are no evidence; `jitter` varies the nodes (`nodes 4000 jitter 3%`)",
            number(lines, "opening line"),
            number(pairs, "pair")
        )
    })
}

/// True if the search ends by nodes or depth alone, so that an engine gives the same answer whenever it is asked the same.
fn always_answers_alike(time: &TimeControl) -> bool {
    (time.nodes.is_some() || time.depth.is_some()) && !time.is_timed() && !time.is_jittered()
}

/// Most pairs of games of two players in a stage.
fn pairs_of_two_players(stage: &Stage) -> u64 {
    let meetings = match stage.format {
        Format::RoundRobin { cycles } | Format::Gauntlet { cycles, .. } => cycles,
        _ => 1,
    };
    match stage.format.most_games() {
        Some(games) => games / 2,
        None => u64::from(meetings) * u64::from(stage.games.div_ceil(2)),
    }
}

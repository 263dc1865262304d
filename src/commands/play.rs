//! `renmei run`, and what `renmei match` shares with it: from a plan to standings.

use super::{Exit, Failure};
use crate::cli::{PlayingArgs, RunArgs};
use arena::Say;
use arena::run::{self, Finished, RunError, guests::Hosting, preflight};
use journal::Store;
use plan::{Document, EnginePlan, Plan, StoredPlan};
use records::openings;
use referee::{event::Stamped, opening::Openings, rating::LookUp, schedule::Schedule, sprt::Verdict};
use report::{Announcer, EventFile, Head, Report, verdict};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Plays the event of a configuration file.
///
/// # Errors
/// When the configuration is wrong or the event cannot be played.
pub fn run(args: &RunArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    match Document::load(&args.file).map_err(Failure::Config)? {
        Document::Event { plan, .. } => play(*plan, &args.playing, open_screen),
        Document::League(_) => Err(Failure::Usage(format!(
            "{}: this file describes an open league, not an event; host it with `renmei serve`",
            args.file.display()
        ))),
    }
}

/// Opens the screens for an event that is about to be played or gone on with; `None`: there is no terminal for them.
pub type OpenScreen = fn(Showing) -> Result<Option<Screen>, Failure>;

/// What screens have to know of an event.
pub struct Showing {
    /// Its name.
    pub name: String,
    /// The database.
    pub database: PathBuf,
    /// The plan, as the store keeps it.
    pub plan: StoredPlan,
    /// Where ratings are looked up, if not in the games themselves.
    pub scale: Option<LookUp>,
}

impl Showing {
    fn of(plan: &Plan) -> Self {
        let (name, database) = (plan.name.clone(), plan.database.clone());
        Self { name, database, plan: StoredPlan::of_event(plan), scale: None }
    }
}

/// Screens that follow an event. Dropping them gives the terminal back.
pub struct Screen {
    /// Takes what was committed; never makes the store wait.
    pub feed: Box<dyn FnMut(Vec<Stamped>) + Send>,
    /// Where lines about events go: nowhere while the screens are up, as they have them already.
    pub people: Box<dyn Write + Send>,
    /// Where other lines go: into the log, and on stderr once the screens are gone.
    pub say: Say,
    /// Lets somebody who looks at the end of the event look on.
    pub linger: Linger,
}

/// Returns when nobody looks any more; dropping it gives the terminal back at once.
pub type Linger = Box<dyn FnOnce()>;

/// Plays a plan to its end and reports.
///
/// # Errors
/// When it cannot be played.
pub fn play(plan: Plan, args: &PlayingArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    if let Some(engine) = plan.engines.iter().find(|engine| engine.remote) {
        let name = &engine.name;
        return Err(Failure::Usage(format!(
            "`{name}` logs in over the network: play this event with `renmei serve`"
        )));
    }
    host(plan, args, open_screen, |_| Ok(None))
}

/// Tells guests what was committed.
pub type TellGuests = Box<dyn FnMut(&[Stamped]) + Send>;

/// What lets players of the network in to an event.
pub struct Doors {
    /// Where the dispatcher finds its guests.
    pub hosting: Hosting,
    /// Tells the guests what was committed.
    pub tell_guests: TellGuests,
    /// Where it listens, in lines that were said already.
    pub listening: Vec<String>,
}

/// Plays a plan whose players may come over the network, to its end, and reports; `open_doors` is called when
/// everything else is ready.
///
/// # Errors
/// When it cannot be played.
pub fn host(
    mut plan: Plan,
    args: &PlayingArgs,
    open_screen: OpenScreen,
    open_doors: impl FnOnce(&Plan) -> Result<Option<Doors>, Failure>,
) -> Result<Exit, Failure> {
    overrule(&mut plan, args)?;
    let lines = match &plan.openings {
        Some(openings) => openings::load(openings).map_err(|faults| Failure::Usage(faults.to_string()))?,
        None => vec![],
    };
    for skipped in &plan.skipped {
        tell!("skipping `{}`: {}", skipped.name, skipped.reason);
    }
    if repeats(&plan) {
        tell!(
            "every game begins from the even position, and engines are limited by nodes or depth: without openings \
             they may play the same games again and again"
        );
    }
    let faults = preflight::faults(&plan).map_err(|e| Failure::Other(e.to_string()))?;
    if !faults.is_empty() {
        return Err(RunError::Engines(faults).into());
    }
    let openings = run::in_order(lines, &plan);
    let doors = open_doors(&plan)?;
    let (finished, linger) = follow(&plan, openings, doors, args, open_screen)?;
    if let Some(linger) = linger.filter(|_| !finished.interrupted) {
        linger();
    }
    let mut report = Report::new(&Head::of(&plan), &finished.standings, !finished.interrupted);
    report.skipped = plan.skipped.iter().map(|skipped| skipped.name.clone()).collect();
    if !args.json {
        say!("");
    }
    super::print(&report, args.json);
    Ok(match verdict(&report) {
        Some(Verdict::H1) => Exit::H1,
        Some(Verdict::H0) => Exit::H0,
        _ if finished.interrupted => Exit::Stopped,
        _ => Exit::Done,
    })
}

/// Whether two engines that calculate the same moves each time would meet more often than once with each colour.
fn repeats(plan: &Plan) -> bool {
    let counted = |engine: &&EnginePlan| engine.time.nodes.is_some() || engine.time.depth.is_some();
    plan.openings.is_none()
        && plan.stages.iter().any(|stage| stage.games > 2)
        && plan.engines.iter().filter(counted).count() > 1
}

/// Plays, and tells everybody who should hear of it.
fn follow(
    plan: &Plan,
    openings: Openings,
    doors: Option<Doors>,
    args: &PlayingArgs,
    open_screen: OpenScreen,
) -> Result<(Finished, Option<Linger>), Failure> {
    let wanted = !(args.no_dashboard || args.json || args.quiet);
    let screen = if wanted { open_screen(Showing::of(plan))? } else { None };
    let (people, mut feed, linger, say) = match screen {
        Some(Screen { feed, people, linger, say }) => (Some(people), Some(feed), Some(linger), Some(say)),
        None => (None, None, None, None),
    };
    let mut announcer = announcer(plan, args, people)?;
    let (hosting, mut tell_guests) = match doors {
        Some(Doors { hosting, tell_guests, listening }) => {
            // It was said on stderr before there were screens.
            if let Some(say) = say {
                listening.iter().for_each(|line| say(line));
            }
            (Some(hosting), Some(tell_guests))
        }
        None => (None, None),
    };
    let finished = run::run(plan, openings, hosting, move |batch| {
        if let Some(tell_guests) = &mut tell_guests {
            tell_guests(&batch);
        }
        announcer.tell(&batch);
        if let Some(feed) = &mut feed {
            feed(batch);
        }
    })?;
    Ok((finished, linger))
}

fn overrule(plan: &mut Plan, args: &PlayingArgs) -> Result<(), Failure> {
    if let Some(db) = &args.db {
        plan.database.clone_from(db);
    }
    if let Some(concurrency) = args.concurrency {
        plan.concurrency = concurrency;
    }
    plan.oversubscribe |= args.oversubscribe;
    plan.affinity |= args.affinity;
    if plan.affinity && plan.oversubscribe {
        let why = "--affinity and oversubscribing exclude each other: pinned games need cores of their own";
        return Err(Failure::Usage(why.to_owned()));
    }
    Ok(())
}

fn announcer(
    plan: &Plan,
    args: &PlayingArgs,
    curtain: Option<Box<dyn Write + Send>>,
) -> Result<Announcer, Failure> {
    let schedule = Schedule::new(&plan.stages, plan.engines.len(), plan.seed, plan.replay_draws, true);
    let mut announcer = Announcer::new(Head::of(plan), schedule.total(), played_before(plan));
    if !args.quiet {
        let plain = || -> Box<dyn Write + Send> {
            if args.json { Box::new(io::stderr()) } else { Box::new(io::stdout()) }
        };
        announcer = announcer.people(curtain.unwrap_or_else(plain));
    }
    if let Some(path) = &args.events {
        announcer = announcer.programs(event_file(path)?);
    }
    Ok(announcer)
}

/// The file of `--events`, where lines are added.
pub fn event_file(path: &Path) -> Result<EventFile, Failure> {
    EventFile::append(path).map_err(|e| Failure::Usage(format!("--events {}: {e}", path.display())))
}

/// Games of the event that count already; none when there is no such database or event yet.
fn played_before(plan: &Plan) -> u64 {
    let events = Store::read(&plan.database).and_then(|store| store.events()).unwrap_or_default();
    events.iter().find(|event| event.name == plan.name).map_or(0, |event| event.counted)
}

//! `renmei run`, and what `renmei match` shares with it: from a plan to standings.

use super::{Exit, Failure};
use crate::{
    cli::{PlayingArgs, RunArgs},
    signals,
};
use arena::{
    Say, Shutdown,
    dispatcher::{self, Company, Finished, OpenEvent, RunError},
    preflight,
    remote::Remote,
};
use journal::{Read, Reader, Store};
use plan::{Document, EnginePlan, Plan, StoredPlan};
use records::openings;
use referee::{opening::Opening, rating::LookUp, schedule::Schedule, sink::Sink, sprt::Verdict};
use report::{Announcer, EventFile, Head, Report, verdict};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
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
    /// Takes what was committed; never waits for the terminal.
    pub feed: Read,
    /// Where lines about entries go: nowhere while the screens are up, as they have them already.
    pub people: Box<dyn Write + Send>,
    /// Where other lines go: into the log, and on stderr once the screens are gone.
    pub say: Say,
    /// Keeps the screens up at the end of the event while somebody looks.
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
    host(plan, args, open_screen, |_, _| Ok(None))
}

/// The network side of an event.
pub struct Network {
    /// The source of remote players.
    pub remote: Remote,
    /// Shows the players and spectators what was committed.
    pub reader: Reader,
    /// Where it listens, in lines that were shown on stderr already.
    pub listening: Vec<String>,
}

/// Plays a plan whose players may be remote, to its end, and reports; `open_network` is called when everything else is
/// ready.
///
/// # Errors
/// When it cannot be played.
pub fn host(
    mut plan: Plan,
    args: &PlayingArgs,
    open_screen: OpenScreen,
    open_network: impl FnOnce(&Plan, Arc<dyn Sink>) -> Result<Option<Network>, Failure>,
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
    let found = preflight::look(&plan).map_err(|e| Failure::Other(e.to_string()))?;
    if !found.faults.is_empty() {
        return Err(RunError::Engines(found.faults).into());
    }
    let event = OpenEvent::open(&plan)?.with_engines(found.engines);
    let network = if event.is_closed() { None } else { open_network(&plan, event.sink())? };
    let (finished, linger) = follow(&plan, event, lines, network, args, open_screen)?;
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

/// Plays, with a reader of the journal for everybody who follows the event.
fn follow(
    plan: &Plan,
    event: OpenEvent<'_>,
    lines: Vec<Opening>,
    network: Option<Network>,
    args: &PlayingArgs,
    open_screen: OpenScreen,
) -> Result<(Finished, Option<Linger>), Failure> {
    let wanted = !(args.no_dashboard || args.json || args.quiet);
    let screen = if wanted { open_screen(Showing::of(plan))? } else { None };
    let (people, feed, linger, say) = match screen {
        Some(Screen { feed, people, linger, say }) => (Some(people), Some(feed), Some(linger), say),
        None => (None, None, None, Arc::new(|line: &str| tell!("{line}")) as Say),
    };
    let mut announcer = announcer(plan, args, people)?;
    let mut readers = vec![Reader::new("announcer", move |batch| announcer.tell(batch))];
    readers.extend(feed.map(|feed| Reader::new("dashboard", feed)));
    let mut remote = None;
    if let Some(Network { remote: players, reader, listening }) = network {
        if linger.is_some() {
            listening.iter().for_each(|line| say(line));
        }
        readers.push(reader);
        remote = Some(players);
    }
    let shutdown = Shutdown::default();
    signals::listen(shutdown.clone(), || ()).map_err(|e| Failure::Other(format!("signals: {e}")))?;
    let openings = dispatcher::in_order(lines, plan);
    let finished = event.play(Company { openings, remote, readers, say }, &shutdown)?;
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
    if args.affinity || args.no_affinity {
        plan.affinity = Some(args.affinity);
    }
    if plan.affinity == Some(true) && plan.oversubscribe {
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

//! `renmei run`, and the steps that `renmei match` and `renmei serve` share with it: from a plan to standings.

use super::{
    Exit, Failure, disk,
    operator_door::Door,
    pages,
    tuning::{self, Tuner},
};
use crate::{
    cli::{FaultLimitArg, PlayingArgs, RunArgs},
    output::{self, Printable},
    signals,
};
use arena::{
    Say, Shutdown,
    boards::LiveBoards,
    dispatcher::{self, Company, Finished, OpenEvent, RunError},
    identity::{Engine, Identifier},
    operations::Operations,
    preflight,
    remote::Remote,
    resume,
};
use host::visits::Visits;
use journal::{Read, Reader, Store};
use laboratory::{Built, Cache, Surroundings, build_engines};
use notation::printable;
use notify::{Notifier, Subject};
use plan::{Document, EnginePlan, LogPlan, NoticeKind, Plan, StoredPlan};
use records::{Recording, RecordsError, openings};
use referee::{
    opening::Opening,
    rating::LookUp,
    schedule::Schedule,
    sink::Sink,
    sprt::{BY_FAULTS, Verdict},
    standings::Standings,
};
use report::{
    Announcer, EventFile, EventInfo, Report, builds,
    progress::{Interval, Progress},
    verdict,
};
use seat::usi::Handshake;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};
use web::{Office, Registers, arbiter::Entrance};

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

/// Opens the dashboard for an event that is about to be played or resumed; `None`: there is no terminal for it.
pub type OpenScreen = fn(Showing) -> Result<Option<Screen>, Failure>;

/// What the dashboard needs to know about an event.
pub struct Showing {
    /// Name of the event.
    pub name: String,
    /// The database.
    pub database: PathBuf,
    /// The plan, as stored.
    pub plan: StoredPlan,
    /// Source of ratings, if they do not follow from the games.
    pub scale: Option<LookUp>,
    /// Games that other machines play now, where any may.
    pub boards: Option<Arc<LiveBoards>>,
}

impl Showing {
    fn of(plan: &Plan, boards: Option<Arc<LiveBoards>>) -> Self {
        let (name, database) = (plan.name.clone(), plan.database.clone());
        Self { name, database, plan: StoredPlan::of_event(plan), scale: None, boards }
    }
}

/// A dashboard that follows an event. Dropping it restores the terminal.
pub struct Screen {
    /// Takes committed entries; never blocks on the terminal.
    pub feed: Read,
    /// Destination of the lines about entries: discarded while the dashboard shows the entries itself.
    pub game_lines: Box<dyn Write + Send>,
    /// Destination of other lines: the dashboard's log, and stderr after its end.
    pub say: Say,
    /// The same, for lines that may be many: the dashboard shows them in its log alone.
    pub note: Say,
    /// Keeps the dashboard open at the end of the event until it is closed.
    pub linger: Linger,
}

/// Returns when the dashboard is closed; dropping it restores the terminal at once.
pub type Linger = Box<dyn FnOnce()>;

/// Plays a plan to its end and prints the report.
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
    host(plan, args, open_screen, |_, _, _| Ok(None))
}

/// The network side of an event.
pub struct Network {
    /// The source of remote players.
    pub remote: Remote,
    /// Shows committed entries to players and spectators.
    pub reader: Reader,
    /// Lines about listening addresses, already printed on stderr.
    pub listening: Vec<String>,
    /// The way in, as the pages show it.
    pub entrance: Entrance,
    /// Lines about who comes and goes.
    pub visits: Visits,
}

/// Plays a plan, with or without remote players, to its end and prints the report; `open_network` is called when
/// everything else is ready.
///
/// # Errors
/// When it cannot be played.
pub fn host(
    plan: Plan,
    args: &PlayingArgs,
    open_screen: OpenScreen,
    open_network: impl FnOnce(&Plan, Arc<dyn Sink>, Operations) -> Result<Option<Network>, Failure>,
) -> Result<Exit, Failure> {
    let show = |report: &Report| {
        if !args.json {
            out_line!("");
        }
        super::print(report, args.json);
    };
    host_and_show(plan, args, open_screen, open_network, show)
}

/// Plays a plan to its end, and leaves it to the caller to tell what came of it.
///
/// # Errors
/// When it cannot be played.
pub(super) fn played(plan: Plan, args: &PlayingArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    host_and_show(plan, args, open_screen, |_, _, _| Ok(None), |_| ())
}

fn host_and_show(
    mut plan: Plan,
    args: &PlayingArgs,
    open_screen: OpenScreen,
    open_network: impl FnOnce(&Plan, Arc<dyn Sink>, Operations) -> Result<Option<Network>, Failure>,
    show: impl FnOnce(&Report),
) -> Result<Exit, Failure> {
    override_plan(&mut plan, args)?;
    let shutdown = Shutdown::default();
    let _in_use = build(&mut plan, &shutdown)?;
    if let Some(begun) = begun(&plan)?.filter(|_| !args.fresh) {
        keep_defaults(&mut plan, &begun);
    }
    check_log(&plan.log)?;
    let lines = match &plan.openings {
        Some(openings) => openings::load(openings).map_err(|faults| Failure::Usage(faults.to_string()))?,
        None => vec![],
    };
    warn_about(&plan);
    let found = preflight::look(&plan, &(Arc::new(|line: &str| err_line!("{line}")) as Say))
        .map_err(|e| Failure::Other(e.to_string()))?;
    if !found.faults.is_empty() {
        return Err(RunError::Engines(found.faults).into());
    }
    let tuner = tuning::begin(&mut plan, &found.shown, &|line| err_line!("{line}"))?;
    let identities = identify(&plan, &found.shown)?;
    if let Some(aside) = args.fresh.then(|| resume::set_aside(&plan)).transpose()?.flatten() {
        err_line!("`{}` begins anew; what was played of it is `{aside}` now", plan.name);
    }
    let event = OpenEvent::open(&plan, identities)?.with_engines(found.engines);
    let event = match tuner {
        Some(tuner) => event.steered_by(Box::new(tuner))?,
        None => event,
    };
    event.words().iter().for_each(|words| err_line!("{words}"));
    if event.is_closed() {
        err_line!("`{}` is complete: nothing was played", plan.name);
    }
    let network =
        if event.is_closed() { None } else { open_network(&plan, event.sink(), event.operations())? };
    let Followed { finished, linger, notifier } =
        follow(&plan, event, lines, network, args, open_screen, &shutdown)?;
    if let Some(linger) = linger.filter(|_| !finished.interrupted) {
        linger();
    }
    let mut report = Report::new(&EventInfo::of(&plan), &finished.standings, finished.is_complete())
        .with_failures(&finished.store, finished.event)?;
    report.skipped = plan.skipped.iter().map(|skipped| skipped.name.clone()).collect();
    let events = finished.store.events()?;
    if let Some(event) = events.iter().find(|event| event.id == finished.event) {
        report.played_by = builds(&finished.store, event)?;
        report.tuning =
            Tuner::read(&finished.store, event, &report::plan(event)?)?.map(|tuner| tuner.report());
    }
    show(&report);
    if finished.interrupted {
        tell_how_to_resume(args.json);
    }
    if finished.halted {
        err_line!("{}", ways_on(&report));
    }
    if let Some(notifier) = notifier {
        notifier.finish();
    }
    Ok(exit(&report, &finished))
}

/// How an event ended, as an exit code.
fn exit(report: &Report, finished: &Finished) -> Exit {
    match (&report.sprt, verdict(report)) {
        (_, Some(Verdict::H1)) => Exit::H1,
        (_, Some(Verdict::H0)) => Exit::H0,
        _ if finished.interrupted => Exit::Stopped,
        (Some(test), _) if finished.halted || test.verdict.as_deref() == Some(BY_FAULTS) => Exit::ByFaults,
        _ if finished.halted => Exit::Halted,
        _ => Exit::Done,
    }
}

/// Why a halted event cannot be played to its end, and what to do about it.
fn ways_on(report: &Report) -> String {
    let mut lines = vec![format!("`{}` is halted and not complete:", printable(report.event.as_bytes()))];
    for halted in &report.halted {
        lines.push(format!("  engine `{}`: {}", printable(halted.name.as_bytes()), halted.reason));
    }
    lines.push(
        "  either mend the engine and begin anew with `--fresh`, or go on by the same command with a higher limit: \
         `--fault-limit 20`, `--fault-limit off`, or `fault_limit` in `[event]`"
            .to_owned(),
    );
    lines.join("\n")
}

/// What the engines are that play now.
pub(super) fn identify(plan: &Plan, shown: &[Handshake]) -> Result<Vec<Engine>, RunError> {
    let say = |line: &str| err_line!("{line}");
    let mut identifier = Identifier::new(&plan.database, &say);
    let found =
        preflight::started_here(plan).zip(shown).map(|(engine, shown)| identifier.identify(engine, shown));
    let (engines, faults): (Vec<_>, Vec<_>) = found.partition(Result::is_ok);
    match faults.is_empty() {
        true => Ok(engines.into_iter().flatten().collect()),
        false => Err(RunError::Engines(faults.into_iter().filter_map(Result::err).collect())),
    }
}

/// Prints the command that goes on with the event: the one that was typed.
pub(super) fn tell_how_to_resume(json: bool) {
    // Once more from the beginning is not what resumes.
    let words = std::env::args_os().filter(|word| word != "--fresh");
    let words = words.map(|word| output::quoted(&word.to_string_lossy())).collect::<Vec<_>>();
    let line = format!("to resume: {}", words.join(" "));
    match json {
        true => err_line!("{line}"),
        false => out_line!("\n{line}"),
    }
}

/// The plan that the event was begun with, if it goes on.
pub(super) fn begun(plan: &Plan) -> Result<Option<StoredPlan>, Failure> {
    let events = Store::read(&plan.database).and_then(|store| store.events()).unwrap_or_default();
    let event = events.iter().find(|event| event.name == plan.name);
    Ok(event.map(report::plan).transpose()?)
}

/// An event that was begun under other defaults keeps them.
fn keep_defaults(plan: &mut Plan, begun: &StoredPlan) {
    for kept in plan.keep_defaults_of(begun) {
        err_line!("`{}` was begun before there was another default: {kept}", plan.name);
    }
}

/// Prints what a user may not expect of the plan.
fn warn_about(plan: &Plan) {
    for skipped in &plan.skipped {
        err_line!("skipping `{}`: {}", skipped.name, skipped.reason);
    }
    if plan.openings.as_ref().is_some_and(|openings| openings.by_default) {
        err_line!(
            "games begin from the built-in openings, as none are named; `--openings none`: from the start position"
        );
    }
    let here = std::env::current_dir().unwrap_or_default();
    for line in plan.engines.iter().flat_map(|engine| engine.misplaced(&[&plan.base, &here])) {
        err_line!("{line}");
    }
    if repeats(plan) {
        err_line!(
            "every game begins from the even position, and engines are limited by nodes or depth: without openings \
             they may play the same games again and again"
        );
    }
}

/// Whether two deterministic engines would play more than one game with each colour from the initial position.
fn repeats(plan: &Plan) -> bool {
    let counted = |engine: &&EnginePlan| engine.time.nodes.is_some() || engine.time.depth.is_some();
    plan.openings.is_none()
        && plan.stages.iter().any(|stage| stage.games > 2)
        && plan.engines.iter().filter(counted).count() > 1
}

/// An event that was played before the eyes of its followers.
struct Followed {
    finished: Finished,
    linger: Option<Linger>,
    notifier: Option<Notifier>,
}

/// Plays the event with its journal's readers: announcer, dashboard, network, notices.
fn follow(
    plan: &Plan,
    event: OpenEvent<'_>,
    lines: Vec<Opening>,
    network: Option<Network>,
    args: &PlayingArgs,
    open_screen: OpenScreen,
    shutdown: &Shutdown,
) -> Result<Followed, Failure> {
    let wanted = !(args.no_dashboard || args.json || args.quiet);
    let boards = (args.hub.is_some() || args.workers.is_some()).then(Arc::<LiveBoards>::default);
    let screen = if wanted { open_screen(Showing::of(plan, boards.clone()))? } else { None };
    let plain = || Arc::new(|line: &str| err_line!("{line}")) as Say;
    let (game_lines, feed, linger, say, note) = match screen {
        Some(Screen { feed, game_lines, linger, say, note }) => {
            (Some(game_lines), Some(feed), Some(linger), say, note)
        }
        None => (None, None, None, plain(), plain()),
    };
    let mut announcer = announcer(plan, &event, args, game_lines)?;
    let mut readers = vec![Reader::new("announcer", move |batch| announcer.announce(batch))];
    readers.extend(args.records.as_deref().map(|path| recorded(path, plan, &say)).transpose()?);
    readers.extend(feed.map(|feed| Reader::new("dashboard", feed)));
    let (mut remote, mut way_in) = (None, None);
    if let Some(Network { remote: players, reader, listening, entrance, visits }) = network {
        if linger.is_some() {
            listening.iter().for_each(|line| say(line));
        }
        if !args.quiet {
            visits.write_to(note);
        }
        readers.push(reader);
        (remote, way_in) = (Some(players), Some(entrance));
    }
    let office = Office::new(&plan.database, Registers::Configured);
    if !event.is_closed() {
        office.open(event.operations());
    }
    let office = Some((&office, way_in));
    let pages = pages::open(&plan.http, &args.http, &plan.database, &plan.name, office, boards.clone())?;
    if let Some(pages) = &pages {
        pages::lines(pages).iter().for_each(|line| say(line));
        readers.push(pages.reader());
    }
    let notifier = Notifier::open(&plan.notify, subject(plan), say.clone())?;
    readers.extend(notifier.as_ref().map(Notifier::reader));
    if !plan.engines.iter().any(|engine| engine.source.is_some()) {
        listen(shutdown)?;
    }
    let openings = dispatcher::in_order(lines, plan);
    let (disk, _watching) = disk::watched(
        vec![plan.database.clone()].into_iter().chain(plan.log.directory().map(Path::to_owned)).collect(),
        plan.reserve_mb,
        &say,
        notifier.as_ref(),
    )?;
    let door = (!event.is_closed()).then(|| Door::open(&plan.database, event.operations())).transpose();
    let _door = door.unwrap_or_else(|why| {
        say(&why);
        None
    });
    let machines = super::machines::desk(plan, &event, args, boards.unwrap_or_default(), &say)?;
    let finished = event.play(Company { openings, remote, machines, readers, say, disk }, shutdown)?;
    if let Some(notifier) = notifier.as_ref().filter(|_| finished.halted) {
        tell_halt(notifier, plan, &finished.standings);
    }
    Ok(Followed { finished, linger, notifier })
}

/// Builds the engines that have a source; signals end a build, and are heard from then on.
pub(super) fn build(plan: &mut Plan, shutdown: &Shutdown) -> Result<Vec<Built>, Failure> {
    if plan.engines.iter().all(|engine| engine.source.is_none()) {
        return Ok(vec![]);
    }
    listen(shutdown)?;
    let (say, stopped) = (|line: &str| err_line!("{line}"), || shutdown.is_finishing());
    let around = Surroundings { say: &say, stopped: &stopped };
    Ok(build_engines(plan, &Cache::here()?, &around)?)
}

pub(super) fn listen(shutdown: &Shutdown) -> Result<(), Failure> {
    signals::listen(shutdown.clone(), || ()).map_err(|e| Failure::Other(format!("signals: {e}")))
}

/// The event of a plan, for notices.
fn subject(plan: &Plan) -> Subject {
    Subject {
        database: plan.database.clone(),
        name: plan.name.clone(),
        stages: plan.stages.clone(),
        fault_limits: plan.fault_limits().collect(),
    }
}

/// Tells that the event cannot be played to its end. The number of games distinguishes this from a later halt.
fn tell_halt(notifier: &Notifier, plan: &Plan, standings: &Standings) {
    let games: u64 = standings.total().met.values().map(|met| met.games()).sum();
    let halts: Vec<_> = standings.halts().iter().map(|halt| dispatcher::halt_words(plan, halt)).collect();
    let text = format!("halted after {games} games: {}", halts.join("; "));
    notifier.tell(NoticeKind::FaultLimit, games, &text);
}

pub(super) fn override_plan(plan: &mut Plan, args: &PlayingArgs) -> Result<(), Failure> {
    if let Some(db) = &args.db {
        plan.database.clone_from(db);
    }
    if let Some(name) = &args.name {
        if name.trim().is_empty() {
            return Err(Failure::Usage("--name: the name of an event is not empty".to_owned()));
        }
        plan.name.clone_from(name);
    }
    if let Some(concurrency) = args.slots.or(args.concurrency) {
        plan.concurrency = concurrency;
    }
    if let Some(log) = &args.log {
        plan.log.clone_from(log);
    }
    plan.reserve_mb = args.reserve_mb.unwrap_or(plan.reserve_mb);
    plan.oversubscribe |= args.oversubscribe;
    plan.look &= !args.no_look;
    if let Some(FaultLimitArg(limit)) = args.fault_limit {
        (plan.fault_limit, plan.fault_limit_given) = (limit, true);
    }
    if args.affinity || args.no_affinity {
        plan.affinity = Some(args.affinity);
    }
    if let Some(command) = &args.notify {
        plan.notify.command = Some(command.clone());
    }
    plan.notify.on_verdict.clone_from(&args.on_verdict);
    if args.on_verdict.is_some() && plan.sprt.is_none() {
        let why =
            "--on-verdict needs a sequential test (--sprt, or format \"sprt\"); --notify tells of every end";
        return Err(Failure::Usage(why.to_owned()));
    }
    if plan.affinity == Some(true) && plan.oversubscribe {
        let why = "--affinity and oversubscribing exclude each other: pinned games need cores of their own";
        return Err(Failure::Usage(why.to_owned()));
    }
    Ok(())
}

/// Makes the directory of the log, so that one that takes no files is told before anything is begun.
pub(super) fn check_log(log: &LogPlan) -> Result<(), Failure> {
    let Some(directory) = log.directory() else { return Ok(()) };
    let probe = directory.join(".renmei-log");
    let tried = fs::create_dir_all(directory)
        .and_then(|()| files::create(&probe).map(drop))
        .and_then(|()| fs::remove_file(&probe));
    tried.map_err(|error| {
        Failure::Usage(format!("--log {}: no file can be written there: {error}", directory.display()))
    })
}

fn announcer(
    plan: &Plan,
    event: &OpenEvent<'_>,
    args: &PlayingArgs,
    game_lines: Option<Box<dyn Write + Send>>,
) -> Result<Announcer, Failure> {
    let schedule = Schedule::new(&plan.stages, plan.engines.len(), plan.seed, plan.replay_draws, true);
    let (info, total) = (EventInfo::of(plan), schedule.total());
    let interval = args.rating_interval.map_or(Interval::Paced, Interval::Games);
    let progress = Progress::new(info.clone(), total, event.standings().clone(), interval);
    let plain = || -> Box<dyn Write + Send> {
        if args.json {
            Box::new(Printable::new(io::stderr()))
        } else {
            Box::new(Printable::new(io::stdout()))
        }
    };
    let mut announcer = Announcer::new(info, total, event.standings().total().games())
        .lines(game_lines.map_or_else(plain, |lines| Box::new(Printable::new(lines))))
        .progress(progress)
        .quiet(args.quiet);
    if let Some(path) = &args.events {
        announcer = announcer.json(event_file(path)?);
    }
    Ok(announcer)
}

/// Appends the records of games to the file of `--records`. Where that fails the event goes on without it.
fn recorded(path: &Path, plan: &Plan, say: &Say) -> Result<Reader, Failure> {
    let fault = |error: RecordsError| Failure::Usage(format!("--records {error}"));
    let mut recording = Some(Recording::append(path, &plan.database, &plan.name).map_err(fault)?);
    let say = say.clone();
    Ok(Reader::new("records", move |batch| {
        if let Some(Err(error)) = recording.as_mut().map(|recording| recording.write(batch)) {
            say(&format!("records are no longer written, `renmei export` writes all of them: {error}"));
            recording = None;
        }
    }))
}

/// Opens the file of `--events` for appending.
pub fn event_file(path: &Path) -> Result<EventFile, Failure> {
    EventFile::append(path).map_err(|e| Failure::Usage(format!("--events {}: {e}", path.display())))
}

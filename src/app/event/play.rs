//! An event of a plan: played to its end, with its report.

use crate::notify::Notifier;
use crate::{
    EventRun, Exit, Failure, OpenScreen, PagesStay, aloud, completed, machines,
    output::{Printable, Stream},
    prepare::{build, check_log, identify, listen, look, openings, past_the_limit},
    print,
    reread::{Reread, RunningFile},
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
    remote::Remote,
    resume,
};
use contest::{
    stage::{Format, Stage},
    standings::Standings,
};
use host::visits::Visits;
use journal::Reader;
use laboratory::Cache;
use notation::printable;
use plan::{EnginePlan, NoticeKind, Plan};
use platform::programs;
use records::{Recording, RecordsError};
use referee::{
    clock::TimeControl,
    number::number,
    opening::Opening,
    sink::Sink,
    sprt::{BY_FAULTS, Verdict},
};
use report::{
    Announcer, EventFile, EventInfo, Report,
    progress::{Interval, Progress},
    verdict,
};
use std::{
    fs::File,
    io::{self, Read, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};
use web::{Office, Registers, arbiter::Entrance};
use words::Language;

/// How an event is played and shown, beside its plan.
#[derive(Clone, Debug, Default)]
pub struct Playing {
    /// Begins the event anew; what was played of it stays in the database under another name.
    pub fresh: bool,
    /// Other machines that may play games of the event.
    pub sharing: Sharing,
    /// Addresses of the pages, in place of those of the plan.
    pub http: Vec<SocketAddr>,
    /// How long the pages stay after the event.
    pub http_linger: PagesStay,
    /// File that takes every entry as JSON.
    pub events: Option<PathBuf>,
    /// File that takes the record of every game.
    pub records: Option<PathBuf>,
    /// Begins a new event paused.
    pub paused: bool,
    /// Prints the report at the end.
    pub report: bool,
    /// Prints JSON on stdout, and everything else on stderr.
    pub json: bool,
    /// Prints no line per game.
    pub quiet: bool,
    /// Games between two lines about the score; `None`: paced by time.
    pub rating_interval: Option<u64>,
    /// Prints lines even where there is a terminal for the dashboard.
    pub no_dashboard: bool,
    /// Reads the plan again while it is played; `None`: it has no file.
    pub reread: Option<Reread>,
}

/// How other machines may play games of an event.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// Address for a server of the event's own.
    pub hub: Option<SocketAddr>,
    /// Gives every machine the clocks of the plan, whatever its speed.
    pub equal_clocks: bool,
    /// One pair in so many is played again by another machine; 0: none; `None`: the default.
    pub repeat: Option<u64>,
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

/// Opens the network side of an event when everything else is ready; `None`: every player is an engine.
pub type OpenNetwork<'a> =
    &'a mut dyn FnMut(&Plan, Arc<dyn Sink>, Operations) -> Result<Option<Network>, Failure>;

/// Plays a plan of local engines to its end.
///
/// # Errors
/// When it cannot be played.
pub fn play(plan: Plan, playing: &Playing, open_screen: OpenScreen) -> Result<Exit, Failure> {
    host(plan, playing, open_screen, &mut |_, _, _| Ok(None))
}

/// Plays a plan, with or without remote players, to its end.
///
/// # Errors
/// When it cannot be played.
pub fn host(
    mut plan: Plan,
    playing: &Playing,
    open_screen: OpenScreen,
    open_network: OpenNetwork<'_>,
) -> Result<Exit, Failure> {
    let shutdown = Shutdown::default();
    let is_built = plan.engines.iter().any(|engine| engine.source.is_some());
    let mut _in_use = vec![];
    if is_built {
        listen(&shutdown)?;
        _in_use = build(&mut plan, &Cache::here()?, &shutdown, &aloud())?;
    }
    let prepared = prepare(&mut plan, &aloud(), look)?;
    let (lines, event) = open(&plan, playing.fresh, prepared, &aloud())?;
    let network = match event.is_closed() {
        true => None,
        false => open_network(&plan, event.sink(), event.operations())?,
    };
    let event = if playing.paused { event.beginning_paused() } else { event };
    let boards = playing.sharing.hub.map(|_| Arc::<LiveBoards>::default());
    let views = Views { plan: &plan, playing, event: &event, boards: boards.clone() };
    let mut run = views.on_screen(open_screen)?;
    let remote = views.publish(&mut run, network)?;
    if !is_built {
        listen(&shutdown)?;
    }
    if event.is_closed() {
        event.operations().set_over();
    } else {
        run.judge(&plan, event.sink());
    }
    let company = run.company(dispatcher::in_order(lines, &plan))?;
    if !event.is_closed() {
        if remote.is_some() {
            event.operations().set_no_file(Language::network_takes_no_newcomers);
        } else if playing.sharing.hub.is_some() {
            event.operations().set_no_file(Language::machines_take_no_newcomers);
        } else if let Some(reread) = &playing.reread {
            let file = RunningFile::new(reread.clone(), &plan, run.say.clone(), shutdown.clone());
            event.operations().set_file(Arc::new(file));
        }
        run.admit(event.operations());
    }
    let machines = machines::desk(&plan, &event, &playing.sharing, boards.unwrap_or_default(), &run.say)?;
    let finished = event.play(Company { remote, machines, ..company }, &shutdown)?;
    conclude(playing, run, &finished, &shutdown, open_screen.language)
}

/// A plan that is ready to be opened as an event.
pub(crate) struct Prepared {
    lines: Vec<Opening>,
    /// What is known of the engines that are started here.
    pub engines: Vec<EngineFacts>,
    identities: Vec<Engine>,
    tuner: Option<Tuner>,
}

/// Reads and examines everything that a plan names, before anything is written.
pub(crate) fn prepare(
    plan: &mut Plan,
    say: &Say,
    look: impl FnOnce(&Plan) -> Result<Findings, Failure>,
) -> Result<Prepared, Failure> {
    check_log(&plan.log)?;
    let lines = openings(plan)?;
    warn_about(plan, &lines, say);
    let found = look(plan)?;
    let tuner = tuning::begin(plan, &found.shown, &|line| say(line))?;
    let identities = identify(plan, &found.shown, say)?;
    Ok(Prepared { lines, engines: found.engines, identities, tuner })
}

/// Opens the event of a plan in its database.
pub(crate) fn open<'a>(
    plan: &'a Plan,
    fresh: bool,
    prepared: Prepared,
    say: &Say,
) -> Result<(Vec<Opening>, OpenEvent<'a>), Failure> {
    let Prepared { lines, engines, identities, tuner } = prepared;
    if let Some(aside) = fresh.then(|| resume::set_aside(plan)).transpose()?.flatten() {
        say(&format!("`{}` begins anew; what was played of it is `{aside}` now", plan.name));
    }
    let mut event = OpenEvent::open(plan, identities)?.with_engines(engines);
    if let Some(tuner) = tuner {
        event = event.steered_by(Box::new(tuner))?;
    }
    event.words().iter().for_each(|words| say(words));
    if event.is_closed() {
        say(&format!("`{}` is complete: nothing was played", plan.name));
    }
    Ok((lines, event))
}

/// The views of an event that is about to be played.
struct Views<'a> {
    plan: &'a Plan,
    playing: &'a Playing,
    event: &'a OpenEvent<'a>,
    boards: Option<Arc<LiveBoards>>,
}

impl Views<'_> {
    /// Opens the dashboard or prints lines, and writes the files of the entries.
    fn on_screen(&self, open_screen: OpenScreen) -> Result<EventRun, Failure> {
        let Self { plan, playing, .. } = *self;
        let is_wanted = !(playing.no_dashboard || playing.json || playing.quiet);
        let open = is_wanted.then_some(open_screen);
        let mut run = EventRun::on_screen(plan.clone(), open, None, self.boards.clone())?;
        let mut announcer = self.announcer(run.game_lines.take())?;
        run.readers.push(Reader::new("announcer", move |batch| announcer.announce(batch)));
        if let Some(path) = &playing.records {
            run.readers.push(recorded(path, plan, &run.say)?);
        }
        Ok(run)
    }

    /// Shows the event to remote players, on pages and by notices; returns the source of remote players.
    fn publish(&self, run: &mut EventRun, network: Option<Network>) -> Result<Option<Remote>, Failure> {
        let (mut remote, mut way_in) = (None, None);
        if let Some(Network { remote: players, reader, listening, entrance, visits }) = network {
            if run.has_screen() {
                listening.iter().for_each(|line| (run.say)(line));
            }
            if !self.playing.quiet {
                visits.write_to(run.note.clone());
            }
            run.readers.push(reader);
            (remote, way_in) = (Some(players), Some(entrance));
        }
        let office = Office::new(&self.plan.database, Registers::Configured);
        office.open(self.event.operations());
        run.publish(&self.playing.http, Some((&office, way_in)), self.boards.clone())?;
        Ok(remote)
    }

    fn announcer(&self, game_lines: Option<Box<dyn Write + Send>>) -> Result<Announcer, Failure> {
        let Self { plan, playing, event, .. } = *self;
        let (info, total) = (EventInfo::of(plan), event.standings().games_to_play());
        let interval = playing.rating_interval.map_or(Interval::Paced, Interval::Games);
        let progress = Progress::new(info.clone(), total, event.standings().clone(), interval);
        let plain: fn() -> Box<dyn Write + Send> =
            if playing.json { || Box::new(Stream::Err) } else { || Box::new(Stream::Out) };
        let mut announcer = Announcer::new(info);
        announcer.lines = Some(Box::new(Printable::new(game_lines.unwrap_or_else(plain))));
        (announcer.progress, announcer.quiet) = (Some(progress), playing.quiet);
        announcer.json = playing.events.as_deref().map(event_file).transpose()?;
        Ok(announcer)
    }
}

/// Closes what surrounds an event that is over, and reports the event.
fn conclude(
    playing: &Playing,
    mut run: EventRun,
    finished: &Finished,
    shutdown: &Shutdown,
    words: Language,
) -> Result<Exit, Failure> {
    let plan = &*finished.plan;
    if let Some(notifier) = run.notifier.as_ref().filter(|_| finished.halted) {
        tell_halt(notifier, plan, &finished.standings);
    }
    run.close();
    run.linger(finished.interrupted);
    let report = reported(plan, finished)?;
    if playing.report && !playing.json {
        out_line!("");
    }
    if playing.report {
        print(&report, playing.json, words);
    }
    if finished.interrupted {
        print_how_to_resume(playing.json);
    }
    if finished.halted {
        err_line!("{}", ways_on(&report));
    }
    if !finished.interrupted {
        run.keep_pages(playing.http_linger, shutdown)?;
    }
    run.finish();
    Ok(exit(&report, finished))
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
pub(crate) fn ways_on(report: &Report) -> String {
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

/// Prints the command that resumes the event: the one that was typed.
pub(crate) fn print_how_to_resume(json: bool) {
    // Once more from the beginning is not what resumes.
    let words = std::env::args_os().filter(|word| word != "--fresh");
    let words = words.map(|word| programs::quoted(&word.to_string_lossy())).collect::<Vec<_>>();
    let line = format!("to resume: {}", words.join(" "));
    if json { err_line!("{line}") } else { out_line!("\n{line}") }
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

/// The report of an event that was played, with what only its database has.
pub(crate) fn reported(plan: &Plan, finished: &Finished) -> Result<Report, Failure> {
    let events = finished.store.events()?;
    let event = events.iter().find(|event| event.id == finished.event);
    let mut info = EventInfo::of(plan);
    // Who plays in another's place has its name in the database.
    let names = event.into_iter().flat_map(|event| &event.players);
    info.engines.iter_mut().zip(names).for_each(|(player, name)| player.rename(name));
    let mut report = Report::new(&info, &finished.standings, finished.is_complete());
    report.skipped = plan.skipped.iter().map(|skipped| skipped.name.clone()).collect();
    match event {
        Some(event) => completed(report, &finished.store, event),
        None => Ok(report),
    }
}

/// Tells that the event cannot be played to its end. The number of games distinguishes this from a later halt.
pub(crate) fn tell_halt(notifier: &Notifier, plan: &Plan, standings: &Standings) {
    let games: u64 = standings.total().met.values().map(|met| met.games()).sum();
    let halts: Vec<_> = standings.halts().iter().map(|halt| dispatcher::halt_words(plan, halt)).collect();
    let text = format!("halted after {games} games: {}", halts.join("; "));
    notifier.tell(NoticeKind::FaultLimit, games, &text);
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

/// Opens the file of `--events` for appending: a new one, or one of events.
pub(crate) fn event_file(path: &Path) -> Result<EventFile, Failure> {
    let of_events = || {
        let mut first = *b"{";
        let file = path.is_file().then(|| File::open(path)).transpose()?;
        file.map(|mut file| file.read(&mut first)).transpose()?;
        match &first {
            b"{" => Ok(()),
            _ => Err(io::Error::other("it holds something else than events; give the file another name")),
        }
    };
    platform::files::refuse_database(path)
        .and_then(|()| of_events())
        .and_then(|()| EventFile::append(path))
        .map_err(|e| Failure::Usage(format!("--events {}: {e}", path.display())))
}

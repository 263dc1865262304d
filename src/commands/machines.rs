//! Many machines: the manager's desk for `--hub` and `--workers`, and `renmei worker`.

use super::{Exit, Failure, play};
use crate::cli::{PlayingArgs, SandboxArg, WorkerArgs};
use arena::{
    Say, Shutdown, boards::LiveBoards, desk::RemoteDesk, dispatcher::OpenEvent, preflight::EngineFacts, speed,
};
use files::Access;
use hub::{EventId, ForeignOptions, Hub, ServerOptions};
use journal::Fleet;
use machines::{
    desk::{EventOfDesk, MachineDesk},
    messages::Terms,
    scaling::Scaling,
    work::{Ended, REMEMBERED, WorkerOptions, work},
};
use plan::{EnginePlan, Plan, Restart};
use referee::clock::{Scale, TimeControl};
use std::{
    env, fs,
    io::{self, BufRead},
    path::{Path, PathBuf},
    sync::Arc,
};

pub use hub::ForeignServer;
pub use machines::wire::Line;

/// One pair in so many is played again on another machine.
const REPEATED: u64 = 100;
/// The variable for the line to join with.
const VARIABLE: &str = "RENMEI_JOIN";
/// Longest line to join with, in bytes.
const LONGEST: u64 = 4096;

/// The desk for the machines that may join, if any may; says how they do.
pub(super) fn desk(
    plan: &Plan,
    event: &OpenEvent<'_>,
    args: &PlayingArgs,
    boards: Arc<LiveBoards>,
    say: &Say,
) -> Result<Option<Box<dyn RemoteDesk>>, Failure> {
    let Some(flag) = flag(args).filter(|_| !event.is_closed()) else { return Ok(None) };
    if let Some(engine) = plan.engines.iter().find(|engine| engine.remote) {
        let name = &engine.name;
        return Err(Failure::Usage(format!(
            "{flag}: `{name}` logs in over the network here, and no other machine can play its games"
        )));
    }
    let fleet = event.begin_fleet(&EventId::random().to_string())?;
    let failed = |why: String| Failure::Other(format!("{flag}: {why}"));
    let key = fleet.key.parse().map_err(|why: hub::HubError| failed(why.to_string()))?;
    let (scaling, scale_here) = scaling(plan, event, args, &fleet, say)?;
    let terms = Terms { scaled: scaling.is_on, ..EventOfDesk::terms(plan, &event.identities()) };
    let repeats = repeats(plan, event.engines(), args)?;
    let database = plan.database.clone();
    let of_desk = EventOfDesk {
        database,
        event: event.event(),
        fleet,
        terms,
        dropped: event.operations().dropped_machines(),
        repeats,
        scaling,
        scale_here,
        boards,
    };
    let mut line = String::new();
    let open = async {
        let hub = open(plan, key, args).await.map_err(|why| why.to_string())?;
        line = hub.token().line();
        Ok(hub)
    };
    let desk = MachineDesk::connect(of_desk, say.clone(), open).map_err(failed)?;
    // A secret: shown to whoever runs the event, and in the private directory of the hub, for `--join-file`: a screen may
    // break it.
    let directory = Hub::beside(&plan.database);
    let kept =
        files::write_below(&directory, Path::new("line"), format!("{line}\n").as_bytes(), Access::Private);
    kept.map_err(|why| failed(format!("`{}`: {why}", directory.display())))?;
    match is_journal() {
        // Many may read the journal of a unit.
        true => say(&format!(
            "other machines join with: renmei worker --join-file FILE; the line for FILE is in `{}`, and not in this journal",
            directory.join("line").display()
        )),
        false => say(&format!("other machines join with: renmei worker '{line}'")),
    }
    Ok(Some(Box::new(desk)))
}

/// One pair in how many is played again by another machine; `None`: none is.
fn repeats(plan: &Plan, facts: &[EngineFacts], args: &PlayingArgs) -> Result<Option<u64>, Failure> {
    match (args.repeat, always_the_same(plan, facts)) {
        (Some(0), _) | (None, false) => Ok(None),
        (share, true) => Ok(Some(share.unwrap_or(REPEATED))),
        (Some(_), false) => Err(Failure::Usage(
            "--repeat: the games of this event need not be the same when they are played again: limit every engine by \
             `nodes` or `depth`, on one core and without `ponder`, and set `restart = \"every-game\"`; or leave `--repeat` \
             out"
                .to_owned(),
        )),
    }
}

/// Whether the engines always play the same games: their nodes or their depth is limited, they think with one thread, and
/// start anew for every game.
fn always_the_same(plan: &Plan, facts: &[EngineFacts]) -> bool {
    let is_counted = |time: &TimeControl| !time.is_timed() && (time.nodes.is_some() || time.depth.is_some());
    let is_steady = |(engine, facts): (&EnginePlan, &EngineFacts)| {
        let alone = facts.cores <= 1.0 && !engine.ponder && engine.gpu == 0.0;
        alone && is_counted(&engine.time) && engine.restart == Restart::EveryGame
    };
    facts.len() == plan.engines.len() && plan.engines.iter().zip(facts).all(is_steady)
}

/// How the clocks of an event are scaled, and by how much those of games that are played here: this machine is measured,
/// and the first one that is has the speed that all are compared with.
fn scaling(
    plan: &Plan,
    event: &OpenEvent<'_>,
    args: &PlayingArgs,
    fleet: &Fleet,
    say: &Say,
) -> Result<(Scaling, Scale), Failure> {
    let is_timed = plan.engines.iter().any(|engine| engine.time.is_timed());
    if !is_timed || !plan.look || args.equal_clocks {
        if is_timed {
            say("every machine has the clocks of the plan, whatever its speed");
        }
        return Ok((Scaling::default(), Scale::ONE));
    }
    let unreadable = |why| Failure::Other(format!("the speed in the database cannot be read: {why}"));
    let reference = fleet.reference.as_deref().map(serde_json::from_str).transpose().map_err(unreadable)?;
    let mut scaling = Scaling { is_on: true, reference };
    if plan.concurrency == 0 {
        return Ok((scaling, Scale::ONE));
    }
    say("clocks are scaled by the speed of each machine: measuring this one");
    let speed = speed::measure(&plan.engines, plan.concurrency, plan.startups, say);
    let speed = speed.map_err(|why| Failure::Other(format!("the system has no event queue: {why}")))?;
    let judged = scaling.judge(Some(&speed)).map_err(|why| {
        Failure::Other(format!("this machine cannot play: {why}; or let it only manage (`--slots 0`)"))
    })?;
    if judged.is_reference {
        event.set_reference(&serde_json::to_string(&speed).unwrap_or_default())?;
    }
    judged.warning.iter().for_each(|warning| say(&format!("this machine: {warning}")));
    if judged.scale != Scale::ONE {
        say(&format!("the clocks of this machine are {} times those of the plan", judged.scale));
    }
    Ok((scaling, judged.scale))
}

/// The flag by which other machines may join.
pub(super) fn flag(args: &PlayingArgs) -> Option<&'static str> {
    args.hub.map(|_| "--hub").or(args.workers.as_ref().map(|_| "--workers"))
}

/// The hub of an event: a server of its own, or somebody else's.
async fn open(plan: &Plan, event: EventId, args: &PlayingArgs) -> Result<Hub, hub::HubError> {
    let directory = Hub::beside(&plan.database);
    match (args.hub, args.workers.clone()) {
        (None, Some(server)) => {
            let credentials = args.credentials.clone();
            Hub::connect(ForeignOptions { directory, server, credentials, event }).await
        }
        (listen, _) => {
            let listen = listen.unwrap_or(([0, 0, 0, 0], 4222).into());
            Hub::start(ServerOptions { directory, listen, event, host: None, program: None }).await
        }
    }
}

/// Whether stdout or stderr is the journal of a unit, which many may read (`JOURNAL_STREAM`, systemd.exec(5)).
fn is_journal() -> bool {
    let journal = std::env::var("JOURNAL_STREAM").unwrap_or_default();
    let is_it = |stream: nix::Result<nix::sys::stat::FileStat>| {
        stream.is_ok_and(|found| journal == format!("{}:{}", found.st_dev, found.st_ino))
    };
    is_it(nix::sys::stat::fstat(std::io::stdout())) || is_it(nix::sys::stat::fstat(std::io::stderr()))
}

/// Plays games of an event that another machine manages.
///
/// # Errors
/// When this machine cannot play them.
pub fn worker(args: &WorkerArgs) -> Result<Exit, Failure> {
    let name = args.name.clone().unwrap_or_else(host_name);
    let state = match &args.state {
        Some(state) => state.clone(),
        None => state_directory()?.join(format!("worker-{}", notation::file_name(&name))),
    };
    let options = WorkerOptions {
        line: line(args, &state)?,
        credentials: args.credentials.clone(),
        name,
        slots: args.slots,
        tags: args.tags.clone(),
        state,
        oversubscribe: args.oversubscribe,
        strict: args.sandbox == Some(SandboxArg::Strict),
        session: machines::new_session(),
    };
    let shutdown = Shutdown::default();
    play::listen(&shutdown)?;
    let say: Say = Arc::new(|line: &str| err_line!("{line}"));
    match work(&options, &shutdown, &say) {
        Ok(Ended::Over) => Ok(Exit::Done),
        Ok(Ended::Stopped) => Ok(Exit::Stopped),
        Ok(Ended::Refused(why)) => {
            err_line!("renmei: {why}");
            Ok(Exit::Refused)
        }
        Err(why) => Err(Failure::Other(why)),
    }
}

/// The line to join with: as it was typed, from a file, from the environment, or the one that was joined last.
fn line(args: &WorkerArgs, state: &Path) -> Result<Line, Failure> {
    if let Some(line) = &args.line {
        return Ok(line.clone());
    }
    let remembered = state.join(REMEMBERED);
    let (place, text) = match (&args.join_file, env::var(VARIABLE)) {
        (Some(file), _) if file.as_os_str() == "-" => ("standard input".to_owned(), read_line(io::stdin())),
        (Some(file), _) => (format!("`{}`", file.display()), fs::File::open(file).and_then(read_line)),
        (None, Ok(line)) => (VARIABLE.to_owned(), Ok(line)),
        (None, Err(_)) if !remembered.exists() => {
            return Err(Failure::Usage(format!(
                "say what to join, as the manager prints it: in `--join-file FILE` (`-`: standard input), in {VARIABLE}, or \
                 as an argument; `{}` knows of no event yet",
                state.display()
            )));
        }
        (None, Err(_)) => {
            (format!("`{}`", remembered.display()), fs::File::open(&remembered).and_then(read_line))
        }
    };
    let text = text.map_err(|why| Failure::Usage(format!("{place}: {why}")))?;
    text.trim().parse().map_err(|why| Failure::Usage(format!("{place}: {why}")))
}

/// The first line of a file, of which more than a line of ours is not read.
fn read_line(file: impl io::Read) -> io::Result<String> {
    let mut line = String::new();
    io::BufReader::new(file.take(LONGEST)).read_line(&mut line)?;
    Ok(line)
}

/// Whether a text begins with a line to join with.
///
/// # Errors
/// Why not, as a lowercase fragment.
pub(super) fn check_line(text: &str) -> Result<(), String> {
    let line = text.lines().next().unwrap_or_default();
    line.trim().parse::<Line>().map(drop).map_err(|why| why.to_string())
}

/// The name of the host, as Linux has it, in the letters that the name of a machine may have.
fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let name: String = name.trim().trim_start_matches(['.', '-']).chars().filter(plain).take(32).collect();
    if name.is_empty() { "machine".to_owned() } else { name }
}

/// The directory for the state of programs (XDG Base Directory Specification).
fn state_directory() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    state.map(|state| state.join("renmei")).ok_or_else(|| {
        Failure::Usage(
            "neither XDG_STATE_HOME nor HOME is set: say where answers are kept with `--state DIR`"
                .to_owned(),
        )
    })
}

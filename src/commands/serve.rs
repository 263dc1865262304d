//! `renmei serve`: hosts a league or an event over the network.

use super::{
    Exit, Failure, OpenScreen, Screen, Showing,
    operator_door::Door,
    pages,
    play::{Network, event_file, host},
};
use super::{descriptors, disk};
use crate::{
    cli::{PlayingArgs, ServeArgs},
    output::Printable,
    signals,
};
use arena::Say;
use arena::Shutdown;
use host::{Certificates, League, Port, RatingHistory, event::EventNetwork};
use journal::{Reader, Store};
use notify::{Notifier, Subject};
use plan::{Document, Plan, ServeConfig, StoredPlan, serve::Login};
use report::{Announcer, EventInfo};
use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
};
use web::{
    Office, Registers,
    arbiter::{Entrance, Games},
};

/// Serves until a signal: the first lets the running games end, the second breaks them off.
///
/// # Errors
/// When the configuration is wrong, an address is not available, or the database fails.
pub fn serve(args: &ServeArgs, open_screen: OpenScreen) -> Result<Exit, Failure> {
    match Document::load(&args.file).map_err(Failure::Config)? {
        Document::Event { plan, serve } => {
            let mut serve = serve.map_or_else(ServeConfig::default, |serve| *serve);
            descriptors::fit(&mut serve);
            event(args, *plan, serve, open_screen)
        }
        Document::League(mut config) => {
            descriptors::fit(&mut config);
            league(args, *config, open_screen)
        }
    }
}

/// Serves an open league.
fn league(args: &ServeArgs, mut config: ServeConfig, open_screen: OpenScreen) -> Result<Exit, Failure> {
    refuse_of_league(&args.playing)?;
    if !args.listen.is_empty() {
        config.listen.clone_from(&args.listen);
    }
    if let Some(db) = &args.playing.db {
        config.database.clone_from(db);
    }
    if let Some(command) = &args.playing.notify {
        config.notify.command = Some(command.clone());
    }
    config.reserve_mb = args.playing.reserve_mb.unwrap_or(config.reserve_mb);
    if let Some(name) = &args.playing.name {
        config.name.clone_from(name);
    }
    protect(&config.database)?;
    let events = args.playing.events.as_deref().map(event_file).transpose()?;
    let wanted = !(args.playing.no_dashboard || args.playing.quiet);
    let other = |e: io::Error| Failure::Other(e.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(other)?;
    let shutdown = Shutdown::default();
    runtime.block_on(async {
        let Bound { ports, lines: listening, plain, encrypted } = bind(&config)?;
        let history = RatingHistory::default();
        let screen = if wanted { open_screen(showing(&config, &history))? } else { None };
        let plain_lines = || Arc::new(|line: &str| err_line!("{line}")) as Say;
        let (say, note, feed, game_lines, _linger) = match screen {
            Some(Screen { say, note, feed, game_lines, linger }) => {
                (say, note, Some(feed), Some(game_lines), Some(linger))
            }
            None => (plain_lines(), plain_lines(), None, None, None),
        };
        let tell = say.clone();
        let finishing = move || {
            tell("no new games begin; running games are finished, and a second signal breaks them off")
        };
        signals::listen(shutdown.clone(), finishing).map_err(other)?;
        let mut announcer = announcer(&config, args.playing.quiet, game_lines);
        let mut readers = vec![Reader::new("announcer", move |batch| announcer.announce(batch))];
        readers.extend(feed.map(|feed| Reader::new("dashboard", feed)));
        readers.extend(events.map(|mut events| Reader::new("event file", move |batch| events.write(batch))));
        let registers = match config.login {
            Login::Accounts => Registers::Accounts,
            Login::Open => Registers::Anybody,
            Login::Invitation => Registers::Configured,
        };
        let office = Office::new(&config.database, registers);
        let http = &args.playing.http;
        let games = Games::League(config.rounds.iter().map(|rounds| rounds.game.clone()).collect());
        let office_and_way = Some((&office, Some(Entrance { plain, encrypted, games })));
        let pages = pages::open(&config.http, http, &config.database, &config.name, office_and_way, None)?;
        if let Some(pages) = &pages {
            pages::lines(pages).iter().for_each(|line| say(line));
            readers.push(pages.reader());
        }
        let notifier = Notifier::open(&config.notify, subject(&config), say.clone())?;
        readers.extend(notifier.as_ref().map(Notifier::reader));
        let places = [Some(config.database.clone()), config.records.clone()];
        let (places, reserve) = (places.into_iter().flatten().collect(), config.reserve_mb);
        let (database, name) = (config.database.clone(), config.name.clone());
        let league = League::open(config, history, &shutdown, readers)?;
        let (disk, _watching) = disk::watched(places, reserve, &say, notifier.as_ref())?;
        let league = league.watching(disk);
        let league = if args.playing.quiet { league } else { league.saying(note) };
        let operations = league.operations();
        office.open(operations.clone());
        if operations.is_paused() {
            let shown = database.display();
            say(&format!(
                "the operator has paused the league: no new game begins until `renmei admin {shown} resume`"
            ));
        }
        let door = Door::open(&database, operations).map_err(|why| say(&why)).ok();
        league.warnings().iter().for_each(|warning| say(warning));
        listening.iter().for_each(|line| say(line));
        let served = league.serve(ports, shutdown).await;
        drop(door);
        served?;
        if let Some(head) = head(&database, &name)? {
            say(&format!("head {head}"));
        }
        if let Some(notifier) = notifier {
            notifier.finish();
        }
        Ok(Exit::Done)
    })
}

/// Lines about the games of a league and what its operator does.
fn announcer(config: &ServeConfig, quiet: bool, game_lines: Option<Box<dyn Write + Send>>) -> Announcer {
    let info = EventInfo {
        name: config.name.clone(),
        stages: StoredPlan::of_league(config).stages,
        sprt: None,
        fault_limits: vec![],
        engines: vec![],
        format: String::new(),
        open: true,
        commits: None,
    };
    let lines = game_lines.unwrap_or_else(|| Box::new(io::stdout()));
    Announcer::new(info, None, 0).lines(Box::new(Printable::new(lines))).quiet(quiet)
}

/// The seal of the last entry of a league, to be compared by `renmei verify --head`.
fn head(database: &Path, name: &str) -> Result<Option<String>, Failure> {
    let store = Store::read(database)?;
    let events = store.events()?;
    let league = events.iter().find(|event| event.name == name);
    Ok(league.map(|league| store.head(league.id)).transpose()?.flatten())
}

/// Takes a database with hashes of passwords away from other users, and says so.
pub(super) fn protect(database: &Path) -> Result<(), Failure> {
    Store::protect(database)?.iter().for_each(|line| err_line!("{line}"));
    Ok(())
}

/// The league, for notices. Its players have no limit of faults.
fn subject(config: &ServeConfig) -> Subject {
    let stages = StoredPlan::of_league(config).stages;
    Subject { database: config.database.clone(), name: config.name.clone(), stages, fault_limits: vec![] }
}

/// Refuses flags that have no meaning in an open league.
fn refuse_of_league(args: &PlayingArgs) -> Result<(), Failure> {
    const STARTS_NONE: &str = "an open league starts no engines";
    let given = [
        (
            "--concurrency",
            args.concurrency.is_some(),
            "an open league plays every game that its players agree to",
        ),
        ("--hub", args.hub.is_some(), STARTS_NONE),
        ("--workers", args.workers.is_some(), STARTS_NONE),
        ("--fresh", args.fresh, "an open league has no beginning to go back to; `--name` begins another one"),
        ("--oversubscribe", args.oversubscribe, STARTS_NONE),
        ("--affinity", args.affinity, STARTS_NONE),
        ("--no-affinity", args.no_affinity, STARTS_NONE),
        ("--on-verdict", args.on_verdict.is_some(), "an open league has no sequential test"),
        ("--fault-limit", args.fault_limit.is_some(), STARTS_NONE),
        ("--no-look", args.no_look, STARTS_NONE),
        (
            "--log",
            args.log.is_some(),
            "an open league starts no engines; what its players send is always kept, see `renmei log`",
        ),
        (
            "--records",
            args.records.is_some(),
            "`records` of `[serve]` names the directory for the records of an open league",
        ),
        (
            "--rating-interval",
            args.rating_interval.is_some(),
            "an open league has no end; `renmei report DATABASE` prints the current standings",
        ),
        (
            "--json",
            args.json,
            "an open league has no final standings; `renmei report DATABASE --json` prints the current ones",
        ),
    ];
    let refused: Vec<_> = given
        .iter()
        .filter(|(_, given, _)| *given)
        .map(|(flag, _, why)| format!("{flag} does not apply: {why}"))
        .collect();
    if refused.is_empty() { Ok(()) } else { Err(Failure::Usage(refused.join("\n"))) }
}

/// What the dashboard needs to know about a league.
fn showing(config: &ServeConfig, history: &RatingHistory) -> Showing {
    let history = history.clone();
    Showing {
        name: config.name.clone(),
        database: config.database.clone(),
        plan: StoredPlan::of_league(config),
        scale: Some(Box::new(move |_, _| history.scale())),
        boards: None,
    }
}

/// The ports of a host, and what is said of them.
struct Bound {
    ports: Vec<Port>,
    lines: Vec<String>,
    plain: Vec<SocketAddr>,
    encrypted: Vec<SocketAddr>,
}

/// Listens on all addresses, plain and with TLS.
fn bind(config: &ServeConfig) -> Result<Bound, Failure> {
    let mut bound = Bound { ports: vec![], lines: vec![], plain: vec![], encrypted: vec![] };
    let listen = |address: &SocketAddr| {
        let listener = TcpListener::bind(address).and_then(|one| one.local_addr().map(|at| (one, at)));
        listener.map_err(|e| Failure::Other(format!("cannot listen on {address}: {e}")))
    };
    for address in &config.listen {
        let (listener, at) = listen(address)?;
        bound.lines.push(format!("listening on {at}"));
        bound.plain.push(at);
        bound.ports.push(Port::plain(listener));
    }
    if let Some(tls) = &config.tls {
        let certificates = Certificates::open(tls).map_err(|e| Failure::Other(e.to_string()))?;
        let certificates = Arc::new(certificates);
        bound.lines.extend(certificates.warning());
        for address in &tls.listen {
            let (listener, at) = listen(address)?;
            bound.lines.push(format!("listening with TLS on {at}"));
            bound.encrypted.push(at);
            bound.ports.push(Port::encrypted(listener, certificates.clone()));
        }
    }
    Ok(bound)
}

/// Plays an event with remote players.
fn event(
    args: &ServeArgs,
    plan: Plan,
    mut serve: ServeConfig,
    open_screen: OpenScreen,
) -> Result<Exit, Failure> {
    if !args.listen.is_empty() {
        serve.listen.clone_from(&args.listen);
    }
    host(plan, &args.playing, open_screen, |plan, sink, operations| {
        protect(&plan.database)?;
        let names: Vec<_> = plan.engines.iter().map(|engine| engine.name.clone()).collect();
        host::trip_warnings(&serve, &names).iter().for_each(|warning| err_line!("{warning}"));
        let Bound { ports, lines: listening, plain, encrypted } = bind(&serve)?;
        listening.iter().for_each(|line| err_line!("{line}"));
        let network = EventNetwork::open(serve, plan, ports, operations, sink)
            .map_err(|e| Failure::Other(e.to_string()))?;
        let entrance = Entrance { plain, encrypted, games: Games::Event(network.game_names()) };
        let (remote, visits, mut read) = (network.remote(), network.visits(), network.reader());
        let reader = Reader::new("network", move |batch| {
            // The network closes after the last entry.
            let _open = &network;
            read(batch);
        });
        Ok(Some(Network { remote, reader, listening, entrance, visits }))
    })
}

//! Workers that were let in and hinder the event: one that sends long lists without end, one that says that it has many
//! slots, takes pairs and plays none, and hosts at the end of `ssh` that say whatever a stranger could. Honest workers play
//! meanwhile, or the manager itself.

use crate::{
    machines::{
        blows::server_of,
        crowd::{Crowd, Habits, Phase},
        field::{COUNTED, Field, Players, until},
        goal::Goal,
        load::Look,
        script::{Length, now},
    },
    process::Process,
};
use anyhow::{Context, Result, ensure};
use hub::{JoinOptions, join};
use machines::{
    frame::{Frame, Kind},
    messages::{Beat, Holding},
    wire::Line,
};
use referee::lease::LeaseId;
use std::{
    path::Path,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// The attacks, by their names on the command line of `siege`.
pub const ATTACKS: [&str; 3] = ["beats", "hoard", "far"];
/// Leases in each sign of life of the flood, and messages a second at most.
const LISTED: u64 = 30_000;
const EACH_SECOND: u32 = 200;
/// Wanted: games a second under the flood, to those before it. Flood, server and manager share the cores of one machine.
const SHARE: f64 = 0.25;
/// Wanted: memory of the manager.
const MEMORY: u64 = 200 << 10;
/// Hosts that are strangers, by what they do; games at once on the manager's own machine; and most bytes that it prints a
/// second.
const STRANGERS: &str = "noise,lines,version,frames,pings,complaints,silence";
const OWN: &str = "2";
const PRINTED: u64 = 4096;
/// Games of the event that a hoarder joins, and its slots.
const GAMES: u64 = 400;
const SLOTS: usize = 1024;
/// Wanted: from the arrival of the hoarder until the event is over, which honest workers play in seconds.
const OVER: Duration = Duration::from_secs(150);

fn crowd(field: &Field, line: &Line, directory: &str, slots: usize) -> Result<Crowd> {
    let habits = Habits {
        line: line.clone(),
        directory: field.path(directory),
        workers: 1,
        slots,
        length: Length { plies: 12, loser: None },
    };
    let crowd = Crowd::start(&habits)?;
    crowd.gather(1)?;
    Ok(crowd)
}

fn event(directory: &Path, renmei: &Path, games: u64) -> Result<(Field, Process, Line)> {
    let players = Players { think_ms: 0, seed: 1, plies: 400, games, ..Players::default() };
    let field = Field::new(directory.to_owned(), renmei, players, "", "")?;
    let mut manager = field.manager(None, "127.0.0.1:0")?;
    let line = field.line(&mut manager)?.parse().context("the line of the manager")?;
    Ok((field, manager, line))
}

/// Floods the manager with signs of life of 600 kB while an honest worker plays.
pub fn beats(directory: &Path, renmei: &Path, lasts: Duration) -> Result<Vec<Goal>> {
    let (field, mut manager, line) = event(&directory.join("beats"), renmei, 1_000_000)?;
    let honest = crowd(&field, &line, "honest", 4)?;
    honest.turn_to(Phase::Play);
    thread::sleep(Duration::from_secs(2));
    let rate = || -> Result<f64> {
        let (before, begun) = (field.count("SELECT max(number) FROM games"), Instant::now());
        thread::sleep(lasts);
        Ok((field.count("SELECT max(number) FROM games") - before) as f64 / begun.elapsed().as_secs_f64())
    };
    let calm = rate()?;
    let flood = flood(&field, &line, lasts)?;
    let attacked = rate()?;
    let memory = Look::at(manager.pid())?.resident;
    let sent = flood.join().map_err(|_| anyhow::anyhow!("the flood has panicked"))??;
    let refused = honest.refused();
    honest.end()?;
    ensure!(manager.is_running()?, "the manager fell: {}", field.log("manager.log"));
    let is_dropped = field.count("SELECT count(*) FROM operations WHERE action = 'machine-dropped'") == 1;
    let _server = server_of(&field);
    manager.kill()?;
    field.remove()?;
    let (mb, most) = (memory >> 10, MEMORY >> 10);
    Ok(vec![
        Goal::measured(
            "a quarter of the games a second while a worker floods with lists",
            format!("{attacked:.0} games/s, {calm:.0} before; {sent} messages of {LISTED} leases"),
            attacked >= SHARE * calm,
        ),
        Goal::measured(
            &format!("and the manager stays below {most} MB"),
            format!("{mb} MB"),
            memory <= MEMORY,
        ),
        Goal::measured("no honest pair is refused", format!("{refused}"), refused == 0),
        Goal::measured("the worker is dropped, on record", format!("{is_dropped}"), is_dropped),
    ])
}

/// A worker that only sends signs of life with invented leases; returns how many the server took.
fn flood(field: &Field, line: &Line, lasts: Duration) -> Result<JoinHandle<Result<u64>>> {
    let (line, directory) = (line.clone(), field.path("flood"));
    let work = move || -> Result<u64> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let how = JoinOptions {
                directory,
                name: "evil".to_owned(),
                credentials: None,
                server: None,
                cache_bytes: 1 << 20,
            };
            let joined = join(&line.token, how).await?;
            let holding = Holding { now: now(), held: (1..=LISTED).map(LeaseId).collect(), outbox: vec![] };
            let beat = serde_json::to_vec(&Beat { epoch: 1, session: 1, lag: 0, holding })?;
            let subject = joined.subjects().request(joined.id(), "beat");
            let reply = format!("_INBOX_{}.flood", joined.id());
            let (begun, mut sent) = (Instant::now(), 0);
            while begun.elapsed() < lasts && *joined.connection().borrow() == hub::Connection::Up {
                joined
                    .client()
                    .publish_with_reply(subject.clone(), reply.clone(), beat.clone().into())
                    .await?;
                let taken = tokio::time::timeout(Duration::from_secs(1), joined.client().flush()).await;
                sent += u64::from(taken.is_ok());
                tokio::time::sleep(Duration::from_secs(1) / EACH_SECOND).await;
            }
            Ok(sent)
        })
    };
    Ok(thread::Builder::new().name("flood".to_owned()).spawn(work)?)
}

/// A worker joins with 1,024 slots and plays nothing, before an honest one comes.
pub fn hoard(directory: &Path, renmei: &Path) -> Result<Vec<Goal>> {
    let (field, mut manager, line) = event(&directory.join("hoard"), renmei, GAMES)?;
    let hoarder = crowd(&field, &line, "hoarder", SLOTS)?;
    let begun = Instant::now();
    let honest = crowd(&field, &line, "honest", 4)?;
    honest.turn_to(Phase::Play);
    thread::sleep(Duration::from_secs(10));
    let early = field.count(COUNTED);
    let over = until("the event is over", || Ok(!manager.is_running()? || begun.elapsed() > 2 * OVER));
    over?;
    let took = begun.elapsed();
    let (played, said) = (field.count(COUNTED), field.log("manager.log"));
    let refused = honest.refused();
    honest.end()?;
    hoarder.end()?;
    manager.kill()?;
    let is_reported = said.contains("taken back, which it has had for up to");
    let figure = format!("{played} of {GAMES} games after {:.0} s, {early} after 10 s", took.as_secs_f64());
    field.remove()?;
    Ok(vec![
        Goal::measured(
            "an event ends within 150 s although a worker of 1,024 slots plays nothing",
            figure,
            played == GAMES && took <= OVER,
        ),
        Goal::measured("the hoard is reported", format!("{is_reported}"), is_reported),
        Goal::measured("no pair of the honest worker is refused", format!("{refused}"), refused == 0),
    ])
}

/// What stands in place of `ssh`: its first argument is a host.
const SHELL: &str = "\
case $1 in
noise) exec tr '\\0' x < /dev/zero ;;
lines) exec yes hello ;;
version) echo renmei-ssh worker 99; exec cat > /dev/null ;;
frames) echo renmei-ssh worker 1; while cat frames; do :; done ;;
pings) echo renmei-ssh worker 1; while cat pings; do :; done ;;
complaints) echo renmei-ssh worker 1; exec yes complaint >&2 ;;
silence) exec sleep 3600 ;;
esac
";

/// The manager plays games itself, while all its hosts are strangers.
pub fn far(directory: &Path, renmei: &Path, lasts: Duration) -> Result<Vec<Goal>> {
    let calm = strangers(&directory.join("calm"), renmei, lasts, &["--concurrency", OWN])?;
    let far = ["--slots", OWN, "--ssh", STRANGERS];
    let attacked = strangers(&directory.join("far"), renmei, lasts, &far)?;
    let (mb, most) = (attacked.memory >> 10, MEMORY >> 10);
    let most_printed = PRINTED * lasts.as_secs();
    Ok(vec![
        Goal::measured(
            "a quarter of the games a second while seven hosts of ssh are strangers",
            format!("{:.0} games/s, {:.0} without them", attacked.rate, calm.rate),
            attacked.rate >= SHARE * calm.rate,
        ),
        Goal::measured(
            &format!("and the manager stays below {most} MB"),
            format!("{mb} MB"),
            attacked.memory <= MEMORY,
        ),
        Goal::measured(
            "what it prints of them is bounded",
            format!("{} kB in {} s", attacked.printed >> 10, lasts.as_secs()),
            attacked.printed <= most_printed,
        ),
        Goal::measured(
            "the host that floods is dropped, on record",
            format!("{}", attacked.dropped),
            attacked.dropped == 1,
        ),
    ])
}

/// A run of a manager.
struct Run {
    /// Games a second.
    rate: f64,
    /// Resident memory at the end, in KiB.
    memory: u64,
    /// Bytes that it has printed beside its games.
    printed: u64,
    /// Machines that were dropped.
    dropped: u64,
}

fn strangers(directory: &Path, renmei: &Path, lasts: Duration, flags: &[&str]) -> Result<Run> {
    let players = Players { think_ms: 0, seed: 1, plies: 400, games: 1_000_000, stays: true };
    let machines = "[machines]\nssh_command = [\"sh\", \"-c\", 'exec sh far.sh \"$1\"', \"ssh\"]\n";
    let field = Field::new(directory.to_owned(), renmei, players, "", machines)?;
    std::fs::write(field.path("far.sh"), SHELL)?;
    let holding = Holding { now: now(), held: (1..=LISTED).map(LeaseId).collect(), outbox: vec![] };
    let beat = Frame::json(Kind::Beat, 1, &Beat { epoch: 1, session: 1, lag: 0, holding });
    std::fs::write(field.path("frames"), beat.context("a frame that fits")?.bytes())?;
    std::fs::write(field.path("pings"), Frame::bare(Kind::Ping, 0).bytes().repeat(1000))?;
    let args = [&["run", "event.toml", "--no-dashboard", "--quiet"], flags].concat();
    let mut manager = field.start(None, "manager.log", &args)?;
    let played = || field.count("SELECT max(number) FROM games");
    until("games are played", || Ok(played() > 0 || !manager.is_running()?))?;
    thread::sleep(Duration::from_secs(2));
    let (before, begun) = (played(), Instant::now());
    thread::sleep(lasts);
    let rate = (played() - before) as f64 / begun.elapsed().as_secs_f64();
    ensure!(manager.is_running()?, "the manager fell: {}", field.log("manager.log"));
    let memory = Look::at(manager.pid())?.resident;
    let dropped = field.count("SELECT count(*) FROM operations WHERE action = 'machine-dropped'");
    manager.kill()?;
    let printed = field.log("manager.log").len() as u64;
    field.remove()?;
    Ok(Run { rate, memory, printed, dropped })
}

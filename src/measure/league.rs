//! A league in one command: a host, two clients that log in over the network, two local engines; afterwards the
//! databases of host and clients are compared.

use crate::database::{Database, RecordedGame};
use anyhow::{Context, Result, bail, ensure};
use std::{
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};
use xtask::{
    engines,
    workspace::{self, Scratch, release, root},
};

/// Remote players of `configs/league.toml`.
const CLIENTS: [&str; 2] = ["kawa", "mori"];
/// Address on which `configs/league.toml` listens.
const ADDRESS: &str = "127.0.0.1:4081";
/// Time for a client to end after SIGINT.
const FAREWELL: Duration = Duration::from_secs(20);

/// Plays `configs/league.toml` and compares the databases.
///
/// # Errors
/// When a program cannot be started, or two databases disagree about a game.
pub fn run() -> Result<ExitCode> {
    ensure!(engines::install_missing(), "the league is played by fairy-stockfish and gpsusi");
    workspace::build_release(false)?;
    let scratch = Scratch::new("league")?;
    let db = |name: &str| scratch.file(&format!("{name}.db"));
    let mut host =
        renmei("serve", "league", db("league")).spawn().context("the host could not be started")?;
    await_host(&mut host)?;
    let clients = CLIENTS.map(|name| {
        let mut client = renmei("floodgate", name, db(name));
        // The host prints the games; a client's stderr is enough to find faults.
        (name, client.stdout(Stdio::null()).spawn())
    });
    let finished = host.wait()?;
    for (name, client) in clients {
        dismiss(client.with_context(|| format!("{name} could not be started"))?)?;
    }
    ensure!(finished.success(), "the host ended with {finished}");
    for name in CLIENTS {
        agree(name, &Database::open(&db("league"))?, &Database::open(&db(name))?)?;
        workspace::run(Command::new(release("renmei")).arg("report").arg(db(name)))?;
    }
    println!("league: the host and both clients recorded the same games");
    Ok(ExitCode::SUCCESS)
}

fn renmei(command: &str, config: &str, db: PathBuf) -> Command {
    let mut renmei = Command::new(release("renmei"));
    renmei.args([command, &format!("configs/{config}.toml"), "--db"]).arg(db);
    renmei.current_dir(root()).stdin(Stdio::null());
    renmei
}

/// Waits until the host accepts connections: a client that comes too early would retry only later.
fn await_host(host: &mut Child) -> Result<()> {
    while TcpStream::connect(ADDRESS).is_err() {
        ensure!(host.try_wait()?.is_none(), "the host ended early");
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Asks a client to end, as Ctrl-C would.
fn dismiss(mut client: Child) -> Result<()> {
    let asked = Command::new("kill").args(["-INT", &client.id().to_string()]).status();
    ensure!(asked.is_ok_and(|status| status.success()), "a client ended before it was asked to");
    let patience = Instant::now() + FAREWELL;
    while client.try_wait()?.is_none() {
        if Instant::now() > patience {
            client.kill()?;
            bail!("a client did not end within {FAREWELL:?}");
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Checks that host and client recorded the same games of a player: opponents, winners, moves, charged and remaining
/// time.
fn agree(name: &str, host: &Database, client: &Database) -> Result<()> {
    let (theirs, ours) = (client.recorded_games(name)?, host.recorded_games(name)?);
    for (host, client) in ours.iter().zip(&theirs) {
        ensure!(host == client, "the host and {name} disagree:\n{host:?}\n{client:?}");
    }
    ensure!(ours.len() == theirs.len(), "{name} has {} games, the host {}", theirs.len(), ours.len());
    let plies: usize = ours.iter().map(RecordedGame::plies).sum();
    println!("{name}: {} games, {plies} plies with their times, equal in both databases", ours.len());
    Ok(())
}

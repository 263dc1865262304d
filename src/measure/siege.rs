//! Attacks a host of its own while paced games are played on it, and tells what the players of those games felt: in the
//! same run first without the attack, then with it. Everything is bounded and stays on loopback; the attackers come from
//! 127.0.0.2 and further, the players from 127.0.0.1, and a newcomer now and then from 127.1.0.1.

mod attacks;
mod client;
mod games;

use crate::{database::Database, table::table};
use anyhow::{Context, Result, ensure};
use attacks::{ATTACKS, Attack};
use games::{Felt, Phase, Players, felt};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
    time::Duration,
};
use xtask::{
    args::Flags,
    workspace::{self, Scratch, release},
};

/// Flags of the command.
pub const FLAGS: [&str; 4] = ["--seconds", "--games", "--attack", "--program"];

/// The password of every account.
const PASSWORD: &str = "secret";
/// How much slower the slowest moves may be under attack, in ms.
const SLOWER: f64 = 10.0;
/// How much more than it measured a client may be charged for a move, in ms.
const OVERCHARGED: f64 = 5.0;
/// Memory that a host under attack may have, in MB.
const MEMORY: u64 = 1024;

/// Attacks one host after the other and prints a table.
///
/// # Errors
/// When the host cannot be run, or a game ends otherwise than its players wanted.
pub fn run(flags: &Flags) -> Result<ExitCode> {
    let program = match flags.text("--program") {
        Some(program) => PathBuf::from(program),
        None => {
            workspace::build_release(false)?;
            release("renmei")
        }
    };
    let time = Duration::from_secs(flags.number("--seconds", 15)?);
    let games = flags.number("--games", 20)?;
    let wanted = flags.text("--attack");
    let mut rows = vec![];
    let mut holds = true;
    for attack in ATTACKS.iter().filter(|attack| wanted.is_none_or(|name| name == attack.name)) {
        eprintln!("{}: {}", attack.name, attack.about);
        let row = besiege(&program, attack, games, time).with_context(|| attack.name.to_owned())?;
        holds &= row.holds();
        rows.push(row.cells(attack.name));
    }
    ensure!(!rows.is_empty(), "there is no attack of that name");
    print!("{}", table(&HEADER, &rows));
    println!(
        "(times in ms; a move is timed from the sender to the opponent's end of the connection; overcharged: what the \
         host charged beyond what the client measured)"
    );
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const HEADER: [&str; 11] = [
    "attack",
    "sent",
    "moves",
    "p99 calm",
    "p99",
    "overcharged p99",
    "most",
    "lost",
    "login calm",
    "login",
    "MB",
];

/// What the players felt of an attack.
struct Row {
    sent: u64,
    calm: Felt,
    attacked: Felt,
    lost: u64,
    memory: u64,
}

impl Row {
    fn holds(&self) -> bool {
        let slower = self.attacked.latency_p99 - self.calm.latency_p99;
        let overcharged = self.attacked.overcharged_p99 <= OVERCHARGED;
        slower <= SLOWER && overcharged && self.lost == 0 && self.memory <= MEMORY && self.attacked.logins > 0
    }

    fn cells(&self, name: &str) -> Vec<String> {
        let ms = |ms: f64| format!("{ms:.1}");
        let Self { sent, calm, attacked, lost, memory } = self;
        let verdict = if self.holds() { name.to_owned() } else { format!("{name} (falls)") };
        vec![
            verdict,
            sent.to_string(),
            attacked.moves.to_string(),
            ms(calm.latency_p99),
            ms(attacked.latency_p99),
            ms(attacked.overcharged_p99),
            ms(attacked.overcharged_most),
            lost.to_string(),
            ms(calm.login_most),
            ms(attacked.login_most),
            memory.to_string(),
        ]
    }
}

/// Plays on a host for that time in peace and for that time under attack.
fn besiege(program: &Path, attack: &Attack, games: usize, time: Duration) -> Result<Row> {
    let scratch = Scratch::new("siege")?;
    let host = Host::start(program, &scratch, attack, games)?;
    let (stop, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let phase = Phase::default();
    let (noted, lost) = thread::scope(|scope| -> Result<_> {
        let players = Players::begin(scope, host.address, games, &phase)?;
        thread::sleep(time);
        let attackers = (attack.begin)(scope, host.address, &stop, &sent);
        phase.attack();
        thread::sleep(time);
        phase.end();
        let ended = players.end();
        stop.store(true, Ordering::Relaxed);
        attackers.into_iter().for_each(|attacker| drop(attacker.join()));
        ended
    })?;
    let memory = host.memory()?;
    host.stop()?;
    let database = Database::open(&scratch.file("siege.db"))?;
    ensure!(database.running()? == 0, "{} games never ended", database.running()?);
    let [calm, attacked] = felt(&noted);
    Ok(Row { sent: sent.into_inner(), calm, attacked, lost, memory })
}

/// A host of its own.
struct Host {
    child: Child,
    address: SocketAddr,
}

impl Host {
    fn start(program: &Path, scratch: &Scratch, attack: &Attack, games: usize) -> Result<Self> {
        let (file, db) = (scratch.file("serve.toml"), scratch.file("siege.db"));
        let login = if attack.accounts { "login = \"accounts\"\n" } else { "" };
        let text =
            format!("[serve]\nname = \"siege\"\ntime_unit = \"msec\"\nmax_moves = 0\n{login}{}", attack.keys);
        fs::write(&file, text)?;
        if attack.accounts {
            for name in games::names(games) {
                add_account(program, &db, &name)?;
            }
        }
        let mut serve = Command::new(program);
        serve.arg("serve").arg(&file).args(["--listen", "127.0.0.1:0", "--quiet", "--db"]).arg(&db);
        let mut child = serve.stderr(Stdio::piped()).spawn().context("the host could not be started")?;
        let mut log = BufReader::new(child.stderr.take().context("stderr is piped")?);
        let mut line = String::new();
        while !line.starts_with("listening on ") {
            line.clear();
            ensure!(log.read_line(&mut line)? > 0, "the host does not listen");
        }
        let address = line.trim().trim_start_matches("listening on ").parse()?;
        // What it says later must not block it.
        thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Ok(Self { child, address })
    }

    /// The most memory that it had, in MB.
    fn memory(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes: u64 = most.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        Ok(kilobytes / 1024)
    }

    fn stop(mut self) -> Result<()> {
        let asked = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        ensure!(asked.success() && self.child.wait()?.success(), "the host did not live to its end");
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _over_already = self.child.kill();
        let _over = self.child.wait();
    }
}

fn add_account(program: &Path, db: &Path, name: &str) -> Result<()> {
    let mut add = Command::new(program);
    add.args(["account", "add", name, "--db"]).arg(db).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut add = add.spawn()?;
    add.stdin.take().context("stdin is piped")?.write_all(format!("{PASSWORD}\n").as_bytes())?;
    ensure!(add.wait()?.success(), "the account of {name} could not be added");
    Ok(())
}

//! Programs at four sizes: an import, a crowd at a host, a hall of events that are over.

use super::slope;
use crate::{
    measure::{measured, own_time},
    siege::{Host, connect, now, receive},
};
use anyhow::{Context, Result, ensure};
use platform::{account, cores::usable, network::stamp_arrivals, usage::resident};
use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use xtask::{running::Running, workspace::Scratch};

/// What is measured of a program, and at which sizes.
struct Kind {
    /// A row for each figure.
    figures: &'static [&'static str],
    sizes: [usize; 4],
    run: fn(&Path, usize) -> Result<Vec<f64>>,
}

const ALL: [Kind; 3] = [
    Kind {
        figures: &["import of N games: ms", "  MiB of memory", "  KiB on disk a game"],
        sizes: [625, 2_500, 10_000, 40_000],
        run: import,
    },
    Kind {
        figures: &[
            "N first logins at once: ms until half are in",
            "  ms of the host",
            "  MiB of memory",
            "  wake-ups a second of the host afterwards",
            "N known players come back: ms until half are in",
        ],
        sizes: [125, 500, 2_000, 8_000],
        run: crowd,
    },
    Kind {
        figures: &[
            "hall of N events that are over: ms of the hall until all are listed",
            "  ms of the first page",
            "  ms of the first ledger",
            "  MiB of memory",
            "  wake-ups a second afterwards",
            "  ms of the hall in a minute afterwards",
        ],
        sizes: [6, 25, 100, 400],
        run: hall,
    },
];

/// Columns of the rows.
pub const HEADER: [&str; 7] = ["of a program", "sizes", "1/64", "1/16", "1/4", "all", "slope"];
/// How long a program without work is watched.
const IDLE: Duration = Duration::from_secs(5);
/// Descriptors of a program beside its connections.
const OTHER_FILES: usize = 1_000;

/// A row for each figure of the programs that are wanted.
pub fn rows(program: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Vec<String>>> {
    let mut rows = vec![];
    for kind in ALL.iter().filter(|kind| is_wanted(kind.figures[0])) {
        let runs = kind.sizes.map(|size| {
            let run = (kind.run)(program, size);
            eprintln!("{}, N = {size}: {run:.1?}", kind.figures[0]);
            run
        });
        let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;
        for (at, figure) in kind.figures.iter().enumerate() {
            let figures = [0, 1, 2, 3].map(|run: usize| runs[run][at]);
            let mut row = vec![(*figure).to_owned(), format!("{} to {}", kind.sizes[0], kind.sizes[3])];
            row.extend(figures.map(|figure| format!("{figure:.1}")));
            row.push(format!("{:.2}", slope(figures.map(|figure| figure.max(0.1)))));
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Imports a file of games.
fn import(program: &Path, games: usize) -> Result<Vec<f64>> {
    let scratch = Scratch::new("bench-scale")?;
    let [file, db] = ["games.csa", "games.db"].map(|name| scratch.file(name));
    let mut text = String::new();
    for game in 0..games {
        let (black, white, second) = (game % 500, game % 499, game % 60);
        text += &format!(
            "V2.2\nN+engine{black}\nN-engine{white}b\n$START_TIME:2026/11/21 09:36:{second:02}\nPI\n+\n"
        );
        for row in 0..10 {
            let shuffle =
                ["+2818HI", "-8292HI", "+1828HI", "-9282HI"].map(|mv| format!("{mv}\nT{}\n", game % 7 + row));
            text += &shuffle.concat();
        }
        text += "%TORYO\n/\n";
    }
    fs::write(&file, text)?;
    let mut import = Command::new(program);
    import.arg("import").arg(&file).arg("--db").arg(&db).stdout(Stdio::null()).stderr(Stdio::null());
    let usage = measured(&mut import, &usable())?;
    ensure!(usage.status.success(), "the import failed");
    let disk = fs::metadata(&db)?.len() as f64 / 1024.0;
    Ok(vec![ms(usage.cpu), usage.peak as f64 / 1024.0, disk / games as f64])
}

/// Players who log in all at once, wait, are cut off, and come back all at once.
fn crowd(program: &Path, players: usize) -> Result<Vec<f64>> {
    let files = (players + OTHER_FILES) as u64;
    ensure!(
        account::files(files).is_none_or(|there| there >= files),
        "{players} connections need {files} open files: `ulimit -n {files}`"
    );
    let limits = format!("[serve.limits]\nconnections = {players}\nidle_seconds = 0\n");
    let mut host = Host::start(program, &limits)?;
    let watched = Watched(host.process());
    let (first, connected) = log_in(host.address(), players)?;
    let (cpu, memory) = (watched.cpu()?, watched.memory()?);
    let (wakes, _) = watched.idle()?;
    drop(connected);
    let (back, connected) = log_in(host.address(), players)?;
    drop(connected);
    host.stop()?;
    Ok(vec![first, ms(cpu), memory, wakes, back])
}

/// Logs players in, each as soon as the one before has asked, from addresses of 50 each. Returns the median time until an
/// answer arrived, in ms.
fn log_in(host: SocketAddr, players: usize) -> Result<(f64, Vec<TcpStream>)> {
    let begin = |player: usize| {
        let [high, low] = [player / 50 / 250, player / 50 % 250 + 1].map(|part| part as u8);
        let mut stream = connect([127, 0, high, low], host)?;
        stream.set_read_timeout(Some(Duration::from_secs(300)))?;
        stamp_arrivals(&stream)?;
        stream.write_all(format!("LOGIN player{player} secret x1\n").as_bytes())?;
        Ok((stream, now()))
    };
    let begun = (0..players).map(begin).collect::<Result<Vec<_>>>()?;
    let (mut times, mut connected) = (vec![], vec![]);
    for (stream, sent) in begun {
        let mut chunk = [0; 512];
        let (bytes, at) = receive(&stream, &mut chunk)?;
        let answer = String::from_utf8_lossy(&chunk[..bytes]);
        ensure!(answer.contains(" OK"), "a login was answered by `{answer}`");
        times.push(at.saturating_sub(sent));
        connected.push(stream);
    }
    times.sort_unstable();
    Ok((ms(times[times.len() / 2]), connected))
}

/// A hall that finds events which are over.
fn hall(program: &Path, events: usize) -> Result<Vec<f64>> {
    let scratch = Scratch::new("bench-scale")?;
    let directory = scratch.file("hall");
    fs::create_dir(&directory)?;
    let engine = |name: &str| {
        let puppet = program.with_file_name("renmei-puppet");
        format!("[[engines]]\nname = {name:?}\ncommand = {puppet:?}\nargs = [\"--mode\", \"king\"]\n")
    };
    let engines = ["a", "b", "c", "d"].map(engine).concat();
    let cup = "[event]\nname = \"cup\"\nformat = \"round-robin\"\ngames = 4\n[time]\nbyoyomi = \"60s\"\n";
    let file = |event: usize, ending: &str| directory.join(format!("cup{event}.{ending}"));
    fs::write(file(0, "toml"), format!("{cup}{engines}"))?;
    let logs = ["out", "err"].map(|name| scratch.file(name));
    let played =
        Running::start(Command::new(program).arg("run").arg(file(0, "toml")), logs.clone())?.finish()?;
    ensure!(played.code == Some(0), "the event was not played:\n{}", played.stderr);
    for event in 1..events {
        ["toml", "db"]
            .into_iter()
            .try_for_each(|ending| fs::copy(file(0, ending), file(event, ending)).map(drop))?;
    }
    let mut hall = Command::new(program);
    hall.arg("hall").arg(&directory).args(["--http", "127.0.0.1:0", "--quiet"]);
    let mut hall = Running::start(&mut hall, logs)?;
    let line = hall.wait_for("pages on http://")?;
    let address = line.trim_start_matches("pages on http://").trim_end_matches('/').to_owned();
    let watched = Watched(hall.id());
    while get(&address, "/api/events")?.0.matches("\"state\":\"over\"").count() < events {
        thread::sleep(Duration::from_millis(500));
    }
    let listed = watched.cpu()?;
    let [page, ledger] = ["/", "/ledger"].map(|path| get(&address, path).map(|(_, took)| ms(took)));
    let (memory, (wakes, idle)) = (watched.memory()?, watched.idle()?);
    Ok(vec![ms(listed), page?, ledger?, memory, wakes, idle])
}

/// A page, and how long it took.
fn get(address: &str, path: &str) -> Result<(String, Duration)> {
    let (mut answer, begun) = (String::new(), Instant::now());
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    stream.read_to_string(&mut answer)?;
    ensure!(answer.starts_with("HTTP/1.1 200"), "`{path}`: {}", answer.lines().next().unwrap_or_default());
    Ok((answer, begun.elapsed()))
}

/// A process that is watched, by its number.
struct Watched(u32);

impl Watched {
    /// Its processor time.
    fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0))?;
        own_time(&stat).context("no times in /proc")
    }

    /// Its memory in MiB.
    fn memory(&self) -> Result<f64> {
        Ok(resident(self.0).context("no memory of the program")?.now as f64 / 1024.0)
    }

    /// Waits a while; returns how often its threads woke in a second, and their processor time in ms a minute.
    fn idle(&self) -> Result<(f64, f64)> {
        let ([switches, used], begun) = (self.threads()?, Instant::now());
        thread::sleep(IDLE);
        let ([later, more], seconds) = (self.threads()?, begun.elapsed().as_secs_f64());
        let used = more.saturating_sub(used) as f64 / 1e6;
        Ok((later.saturating_sub(switches) as f64 / seconds, used / seconds * 60.0))
    }

    /// Waits and processor time in ns of its threads.
    fn threads(&self) -> Result<[u64; 2]> {
        let mut sums = [0, 0];
        for thread in fs::read_dir(format!("/proc/{}/task", self.0))? {
            let path = thread?.path();
            // One that has ended meanwhile counts nothing.
            let [status, times] =
                ["status", "schedstat"].map(|name| fs::read_to_string(path.join(name)).unwrap_or_default());
            let waits = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            sums[0] += waits.and_then(|waits| waits.trim().parse().ok()).unwrap_or(0);
            sums[1] += times.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0);
        }
        Ok(sums)
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

//! Trials of events on one machine.

use super::place::{Desk, Place, interrupt, until};
use anyhow::{Context, Result, ensure};
use std::{fs, thread, time::Duration};
use xtask::workspace::root;

/// Games of the event that is killed.
const GAMES: usize = 300;
/// How often its manager is killed.
const KILLS: usize = 10;

/// Two instant engines, which finish many games a second.
const INSTANT: &str = "\
[time]
byoyomi = \"1s\"
[rules]
max_moves = 128
[[engines]]
name = \"uniform\"
command = \"renmei-random\"
options = { Style = \"uniform\", Seed = 1 }
[[engines]]
name = \"greedy\"
command = \"renmei-random\"
options = { Style = \"greedy\", Seed = 2 }
";

/// An event of two instant engines.
fn instant(name: &str, games: usize) -> String {
    format!(
        "[event]\nname = \"{name}\"\nformat = \"round-robin\"\ngames = {games}\ndatabase = \"{name}.db\"\n\
         concurrency = 2\n{INSTANT}"
    )
}

/// Games that count, by the report of an event.
fn counted(desk: &Desk<'_>, database: &str) -> Result<usize> {
    let report = desk.succeed(&["report", database, "--json"])?.stdout;
    let games = report.split_once("\"games\":").context("the report names no games")?.1.trim_start();
    let digits: String = games.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().with_context(|| format!("games: {}", games.chars().take(40).collect::<String>()))
}

/// The database is sealed as it was played.
fn verified(desk: &Desk<'_>, database: &str) -> Result<()> {
    desk.succeed(&["verify", database]).map(drop)
}

/// The first league, in a directory with blanks and Japanese letters, to its standings and its page.
pub fn league(place: &Place<'_>) -> Result<String> {
    let desk = place.desk("first league 将棋")?;
    let preset = fs::read_to_string(root().join("configs/quickstart.toml"))?;
    desk.write("quickstart.toml", &preset)?;
    let played = desk.succeed(&["run", "quickstart.toml"])?;
    let said = format!("{}{}", played.stdout, played.stderr);
    ensure!(said.contains("greedy") && said.contains("pairwise"), "no standings:\n{said}");
    desk.succeed(&["report", "quickstart.db", "--html", "report.html"])?;
    ensure!(desk.read("report.html")?.contains("greedy"), "the page names no player");
    verified(&desk, "quickstart.db")?;
    place.no_engine_is_left()?;
    Ok(format!("{} games, report, page, seals", counted(&desk, "quickstart.db")?))
}

/// An event whose manager is killed ten times, and that continues each time.
pub fn kills(place: &Place<'_>) -> Result<String> {
    let desk = place.desk("kills")?;
    desk.write("kills.toml", &instant("kills", GAMES))?;
    let command = ["run", "kills.toml", "--no-dashboard"];
    let mut played = 0;
    for kill in 1..=KILLS {
        let mut manager = desk.start(&command)?;
        let first = number(&manager.wait_for("game ")?)?;
        ensure!(first > played, "game {first} is played again after game {played}");
        // At another moment of its games each time.
        thread::sleep(Duration::from_millis(97 * kill as u64));
        ensure!(!place.engines().is_empty(), "no engine is found while games are played");
        manager.kill()?;
        place.no_engine_is_left()?;
        played = first;
    }
    desk.succeed(&command)?;
    verified(&desk, "kills.db")?;
    place.no_engine_is_left()?;
    let counted = counted(&desk, "kills.db")?;
    ensure!(counted == GAMES, "{counted} games count instead of {GAMES}");
    Ok(format!("{KILLS} kills, {counted} games"))
}

/// The number of a game in a line `game 3  uniform - greedy ...`.
fn number(line: &str) -> Result<usize> {
    let digits = line.split_whitespace().nth(1).unwrap_or_default();
    digits.parse().with_context(|| line.to_owned())
}

/// The operator's door, and Ctrl-C: the running games end, the event continues later.
pub fn operator(place: &Place<'_>) -> Result<String> {
    let desk = place.desk("operator")?;
    desk.write("operator.toml", &instant("operator", 100_000))?;
    let command = ["run", "operator.toml", "--no-dashboard"];
    let mut manager = desk.start(&command)?;
    manager.wait_for("/100000 ")?;
    let listed = desk.succeed(&["admin", "operator.db", "list"])?.stdout;
    ensure!(listed.contains("greedy"), "no running game is listed:\n{listed}");
    desk.succeed(&["admin", "operator.db", "pause", "--reason", "lunch"])?;
    desk.succeed(&["admin", "operator.db", "resume"])?;
    interrupt(&manager);
    let finished = manager.finish()?;
    ensure!(finished.code == Some(3), "exit code {:?} after Ctrl-C:\n{}", finished.code, finished.stderr);
    place.no_engine_is_left()?;
    verified(&desk, "operator.db")?;
    Ok("listed, paused, resumed, stopped by Ctrl-C".to_owned())
}

/// What engines of Windows are like: a batch file in a directory with blanks and Japanese letters, lines that end with
/// `\r\n`, a name in Shift_JIS, a configuration with a byte order mark and backslashes.
pub fn habits(place: &Place<'_>) -> Result<String> {
    let desk = place.desk("habits")?;
    let engines = "エンジン the first";
    fs::create_dir(desk.path.join(engines))?;
    // "id author" and the name 将棋 in Shift_JIS.
    let banner = b"id author \x8f\xab\x8a\xfb\r\ninfo string \x8f\xab\x8a\xfb\r\n";
    fs::write(desk.path.join(engines).join("banner.txt"), banner)?;
    let engine = "@echo off\r\ntype \"%~dp0banner.txt\"\r\n\"%~dp0..\\..\\renmei-random.exe\"\r\n";
    desk.write(&format!("{engines}/engine.bat"), engine)?;
    let event = instant("habits", 4).replace(
        "name = \"uniform\"\ncommand = \"renmei-random\"",
        &format!("name = \"uniform\"\ncommand = '{engines}\\engine.bat'"),
    );
    desk.write("habits.toml", &event.replace('\n', "\r\n"))?;
    desk.succeed(&["run", "habits.toml", "--no-dashboard", "--log", "log"])?;
    ensure!(counted(&desk, "habits.db")? == 4, "not all games count");
    place.no_engine_is_left()?;
    let checked = desk.run(&["check", "renmei-random"])?;
    ensure!(checked.code == Some(0), "check: {:?}\n{}{}", checked.code, checked.stdout, checked.stderr);
    ensure!(
        !checked.stdout.contains("memory 0 MiB"),
        "check reports a figure that nobody measured:\n{}",
        checked.stdout
    );
    Ok("batch file, Shift_JIS, blanks, Japanese names, \\r\\n, check".to_owned())
}

/// A host as a service of the system: installed, started, stopped, removed.
pub fn service(place: &Place<'_>) -> Result<String> {
    let desk = place.desk("service")?;
    // Of a trial that failed: Wine keeps its services.
    for name in ["renmei-service", "renmei-mute"] {
        desk.run(&["service", "remove", name])?;
    }
    desk.write("service.toml", &instant("service", 100_000))?;
    let printed = desk.succeed(&["service", "print", "run", "service.toml"])?.stdout;
    ensure!(printed.contains("sc.exe create renmei-service"), "{printed}");
    let installed = desk.run(&["service", "install", "run", "service.toml"])?;
    ensure!(installed.code == Some(0), "not installed:\n{}{}", installed.stdout, installed.stderr);
    let log = desk.path.join("renmei-service.log");
    let is_said = |text: &str| fs::read_to_string(&log).is_ok_and(|said| said.contains(text));
    until("the service plays games", || is_said("/100000 "))?;
    let stopped = desk.start_program(&["net", "stop", "renmei-service"].map(str::to_owned))?.finish()?.code;
    until("the service has stopped", || place.engines().is_empty())?;
    let removed = desk.run(&["service", "remove", "renmei-service"])?;
    ensure!(removed.code == Some(0), "not removed:\n{}{}", removed.stdout, removed.stderr);
    verified(&desk, "service.db")?;
    let typed = desk.run(&["service", "start", "renmei-service", "run", "service.toml"])?;
    let reason = "only the system starts a service";
    ensure!(
        typed.code != Some(0) && typed.stderr.contains(reason),
        "typed: {:?}\n{}",
        typed.code,
        typed.stderr
    );
    ensure!(is_said(reason), "the log lacks the reason:\n{}", fs::read_to_string(&log)?);
    service_without_log(&desk)?;
    let done =
        format!("installed, played, stopped ({stopped:?}), removed; refused when typed, and without a log");
    Ok(done)
}

/// A service whose log cannot be opened ends, and its installation says so.
fn service_without_log(desk: &Desk<'_>) -> Result<()> {
    desk.write("mute.toml", &instant("mute", 100_000))?;
    fs::create_dir(desk.path.join("renmei-mute.log"))?;
    let installed = desk.run(&["service", "install", "run", "mute.toml"])?;
    let said = &installed.stderr;
    ensure!(installed.code == Some(1), "installed: {:?}\n{said}", installed.code);
    ensure!(said.contains("ended at once") && said.contains("renmei-mute.log"), "no reason:\n{said}");
    let removed = desk.run(&["service", "remove", "renmei-mute"])?;
    ensure!(removed.code == Some(0), "not removed:\n{}{}", removed.stdout, removed.stderr);
    Ok(())
}
